from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.loaders.door import load
from simstudy.statistics.bradley_terry import strengths


def battles(n: int, beta: np.ndarray, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    k = len(beta)
    first = rng.integers(0, k, n)
    second = (first + rng.integers(1, k, n)) % k
    won = rng.random(n) < 1 / (1 + np.exp(beta[second] - beta[first]))
    winner = np.where(rng.random(n) < 0.2, "tie (bothbad)", np.where(won, "model_a", "model_b"))
    names = np.array([f"m{i}" for i in range(k)])
    return pd.DataFrame({"model_a": names[first], "model_b": names[second], "winner": winner})


def written(folder: Path, frame: pd.DataFrame) -> Path:
    frame.to_csv(folder / "battles.csv", index=False)
    return folder / "battles.csv"


SMALL = pd.DataFrame(
    [["x", "y", "model_a"], ["y", "x", "tie"], ["x", "y", "y"], ["y", "z", "model_b"], ["z", "x", "model_b"],
     ["z", "y", "b"], ["x", "z", "tie"]],
    columns=["model_a", "model_b", "winner"],
)  # fmt: skip


def test_win_rates_by_hand(tmp_path: Path) -> None:
    """x: 1 + .5 + 0 + 1 + .5 of 5; y: 0 + .5 + 1 + 0 + 1 of 5; z: 1 + 0 + 0 + .5 of 4."""
    loaded = load(written(tmp_path, SMALL), "win_rate")
    assert loaded.outputs.names == ["x", "y", "z"]
    assert loaded.outputs.scores().tolist() == pytest.approx([60, 50, 37.5])
    rates = ss.analyses.win_rates(loaded.outputs).set_index(["system", "opponent"])
    assert rates.loc[("x", "y"), ["battles", "wins", "losses", "ties", "win_rate"]].tolist() == [3, 1, 1, 1, 50]
    assert rates.loc[("z", "y"), ["battles", "wins", "losses", "ties", "win_rate"]].tolist() == [2, 1, 1, 0, 50]
    assert rates.loc[("x", "z"), ["battles", "wins", "losses", "ties", "win_rate"]].tolist() == [2, 1, 0, 1, 75]
    assert len(rates) == 6
    # Two files are one table, and what is called as a system is means the system.
    named = SMALL.replace({"x": "b", "y": "a"})
    named["winner"] = ["model_a", "tie", "a", "model_b", "model_b", "b", "tie"]
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    for path, part in zip(paths, (named[:3], named[3:]), strict=True):
        part.to_csv(path, index=False)
    found = load(paths, "win_rate").outputs
    assert (found.names, found.scores().tolist()) == (["a", "b", "z"], pytest.approx([50, 60, 37.5]))


def test_strengths_are_in_elo_points_round_1000(tmp_path: Path) -> None:
    outputs = load(written(tmp_path, SMALL), "bradley_terry").outputs
    names = {"x": 0, "y": 1, "z": 2}
    first, second = SMALL["model_a"].map(names).to_numpy(), SMALL["model_b"].map(names).to_numpy()
    beta = strengths(first, second, np.array([1, 0.5, 0, 0, 0, 0, 0.5]), 3)
    assert outputs.scores().mean() == pytest.approx(1000)
    # 400 points are odds of ten to one.
    np.testing.assert_allclose(10 ** ((outputs.scores() - 1000) / 400), np.exp(beta), rtol=1e-9)


def test_an_items_score_is_what_the_strengths_owe_to_its_battle(tmp_path: Path) -> None:
    """Without a battle, the strengths of all others move by a share of its item's distance from the mean."""
    frame, n = battles(800, np.linspace(0, 1, 4), 3), 800
    scores = load(written(tmp_path, frame), "bradley_terry").outputs.statistics[..., 0]
    first, second = (frame[name].str[1:].astype(int).to_numpy() for name in ("model_a", "model_b"))
    points = frame["winner"].map({"model_a": 1.0, "model_b": 0.0, "tie (bothbad)": 0.5}).to_numpy()
    whole = strengths(first, second, points, 4)
    for k in range(0, n, 160):
        left = np.arange(n) != k
        moved = (n - 1) * (whole - strengths(first[left], second[left], points[left], 4))
        own = (scores[:, k] - scores.mean(axis=1)) * np.log(10) / 400
        np.testing.assert_allclose(moved, own, rtol=0.02, atol=0.02)


def test_wins_are_those_of_direct_battles(tmp_path: Path) -> None:
    found = ss.examine(written(tmp_path, battles(400, np.linspace(0, 1, 4), 3)), "bradley_terry")
    frame = pd.read_csv(tmp_path / "battles.csv")
    pair = found.pairs.pair("m3", "m0")
    direct = frame[frame["model_a"].isin(["m0", "m3"]) & frame["model_b"].isin(["m0", "m3"])]
    won = np.where(direct["winner"] == "model_a", direct["model_a"], direct["model_b"])
    ties = (direct["winner"] == "tie (bothbad)").to_numpy()
    expected = [int(((won == name) & ~ties).sum()) for name in ("m3", "m0")]
    assert pair.row[["wins", "losses", "ties"]].tolist() == [*expected, int(ties.sum())]
    assert f"of {len(direct)} battles with m0" in pair.verdict()
    found.write(tmp_path / "report")
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "report" / "win_rates.csv"), ss.analyses.win_rates(found.outputs)
    )


def test_prompts_are_clusters(tmp_path: Path) -> None:
    """Those of the first column whose values come again, unless a column is named."""
    frame = battles(60, np.zeros(3), 4).assign(question_id=np.arange(60) // 2)
    loaded = load(written(tmp_path, frame), "bradley_terry")
    assert loaded.outputs.items["cluster"].nunique() == 30
    told = int((frame["winner"] == "tie (bothbad)").sum())
    assert loaded.notes == (
        f"{told} battles in which both answers were called bad are ties",
        "battles with the same 'question_id' form a cluster (30 clusters)",
    )
    k = np.arange(60)
    frame = frame.assign(question_id=k, prompt=[f"p{i // 3}" for i in k], judge=[f"j{i % 4}" for i in k])
    path = written(tmp_path, frame)
    for columns, of, says in (({}, "prompt", True), ({"cluster": "judge"}, "judge", False)):
        loaded = load(path, "win_rate", columns=columns)
        assert loaded.outputs.items["cluster"].tolist() == frame[of].tolist()
        assert ("battles with the same 'prompt' form a cluster (20 clusters)" in loaded.notes) == says
    alone = load(written(tmp_path, frame.drop(columns="prompt")), "win_rate").outputs
    assert alone.natural_unit == "item", "no prompt has two battles"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["a", "b", "model_a"], ["a", "b", "c"]], r"line 3: winner must be .*, tie, both_bad or .*, not 'c'"),
        ([["a", "a", "tie"]], r"line 2: model_a and model_b are both 'a'"),
        ([["a", "b", ""]], r"line 2: no winner"),
        ([["a", "b", "a"], ["b", "c", "tie"]], r"1 system \('a'\) won or lost all battles with the other systems"),
    ],
)
def test_what_is_refused(rows: list[list[str]], said: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=said):
        load(written(tmp_path, pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])), "bradley_terry")


def test_columns_that_name_the_two_and_the_winner_make_battles(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL.set_axis(["left", "right", "vote"], axis=1))
    columns = {"model_a": "left", "model_b": "right", "winner": "vote"}
    expected = load(written(tmp_path, SMALL), "win_rate").outputs.scores().tolist()
    path = written(tmp_path, SMALL.set_axis(["left", "right", "vote"], axis=1))
    assert load(path, "win_rate", columns=columns).outputs.scores().tolist() == expected
    with pytest.raises(ValueError, match="no column 'winner' .*columns={'winner': 'NAME'}"):
        load(path, "win_rate", columns={"model_a": "left", "model_b": "right"})
    # A table of scores may call another of its columns the winner.
    (tmp_path / "x.csv").write_text("item,a,b,best\n1,1,0,a\n2,0,1,b\n")
    assert load(tmp_path / "x.csv", "accuracy", columns={"winner": "best"}).outputs.names == ["a", "b"]


@pytest.mark.parametrize("said", ["both bad", "both_bad", "Both Bad", "tie (bothbad)"])
def test_both_bad_is_a_tie(said: str, tmp_path: Path) -> None:
    loaded = load(written(tmp_path, SMALL.replace("tie", said)), "win_rate")
    assert loaded.outputs.scores().tolist() == pytest.approx([60, 50, 37.5])
    assert "2 battles in which both answers were called bad are ties" in loaded.notes


def test_other_files_have_no_strengths(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("item,a,b\n1,2,3\n2,3,4\n")
    with pytest.raises(ValueError, match="metric 'bradley_terry' is for preferences"):
        load(tmp_path / "x.csv", "bradley_terry")
    with pytest.raises(ValueError, match="metric of preferences must be one of bradley_terry, win_rate, not 'mean'"):
        load(written(tmp_path, SMALL), "mean")


@pytest.mark.slow
def test_standard_errors_are_those_of_refitted_bootstrap_samples(tmp_path: Path) -> None:
    frame = battles(1200, np.linspace(0, 1, 6), 5)
    board = ss.leaderboard(load(written(tmp_path, frame), "bradley_terry").outputs).set_index("system")
    names = {name: i for i, name in enumerate(sorted(board.index))}
    first, second = frame["model_a"].map(names).to_numpy(), frame["model_b"].map(names).to_numpy()
    points = frame["winner"].map({"model_a": 1.0, "model_b": 0.0, "tie (bothbad)": 0.5}).to_numpy()
    rng = np.random.default_rng(0)
    refitted = []
    for _ in range(2000):
        drawn = rng.integers(0, 1200, 1200)
        refitted.append(strengths(first[drawn], second[drawn], points[drawn], 6))
    expected = np.std(refitted, axis=0) * 400 / np.log(10)
    np.testing.assert_allclose(board["score_se"].sort_index().to_numpy(), expected, rtol=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
def test_level_and_coverage(n: int, tmp_path: Path) -> None:
    """Eight systems, two of which are equal: 50 or 250 battles a system.

    A tie says nothing of the strengths, so what is estimated is not `beta`, but what very many battles give.
    """
    beta = np.array([0, 0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2])
    many = battles(2_000_000, beta, 10**6)
    points = many["winner"].map({"model_a": 1.0, "model_b": 0.0, "tie (bothbad)": 0.5}).to_numpy()
    met = [many[name].str[1:].astype(int).to_numpy() for name in ("model_a", "model_b")]
    limit = strengths(*met, points, 8)
    true = (limit[7] - limit[2]) * 400 / np.log(10)
    rejected = covered = total = 0
    for seed in range(500):
        try:
            outputs = load(written(tmp_path, battles(n, beta, seed)), "bradley_terry").outputs
        except ValueError:
            continue
        pairs = ss.compare(outputs.select(["m0", "m1", "m2", "m7"]), n_resamples=4_095)
        null, gain = pairs.pair("m0", "m1").row, pairs.pair("m7", "m2").row
        sign = 1 if gain["system_a"] == "m7" else -1
        total += 1
        rejected += null["p_value"] <= 0.05
        covered += gain["gain_low"] <= sign * true <= gain["gain_high"]
    print(n, total, rejected / total, covered / total)
    assert total > 450
    assert abs(rejected / total - 0.05) < 0.025
    assert abs(covered / total - 0.95) < 0.025
