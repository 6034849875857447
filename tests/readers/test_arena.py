from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.readers.load import load
from simstudy.statistics.bradley_terry import strengths
from tests.readers.line_files import input_error, texts_of

SMALL = pd.DataFrame(
    [["x", "y", "model_a"], ["y", "x", "tie"], ["x", "y", "y"], ["y", "z", "model_b"], ["z", "x", "model_b"],
     ["z", "y", "b"], ["x", "z", "tie"]],
    columns=["model_a", "model_b", "winner"],
)  # fmt: skip


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


def test_win_rates_by_hand(tmp_path: Path) -> None:
    """x: 1 + .5 + 0 + 1 + .5 of 5; y: 0 + .5 + 1 + 0 + 1 of 5; z: 1 + 0 + 0 + .5 of 4."""
    loaded = load(written(tmp_path, SMALL), "win_rate")
    assert loaded.outputs.names == ["x", "y", "z"]
    assert loaded.outputs.scores().tolist() == pytest.approx([60, 50, 37.5])
    rates = ss.comparisons.win_rates(loaded.outputs).set_index(["system", "opponent"])
    assert rates.loc[("x", "y"), ["battles", "wins", "losses", "ties", "win_rate"]].tolist() == [3, 1, 1, 1, 50]
    # Two files are one table.
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    for path, part in zip(paths, (SMALL[:3], SMALL[3:]), strict=True):
        part.to_csv(path, index=False)
    assert load(paths, "win_rate").outputs.scores().tolist() == pytest.approx([60, 50, 37.5])


def test_names_of_systems_are_no_sides(tmp_path: Path) -> None:
    """Systems called a and b: a winner "a" is the system a, and no side of a battle without it."""
    named = SMALL.replace({"x": "b", "y": "a"}).assign(winner=["model_a", "tie", "a", "model_b", "model_b", "a", "tie"])
    loaded = load(written(tmp_path, named), "win_rate")
    assert (loaded.outputs.names, loaded.outputs.scores().tolist()) == (["a", "b", "z"], pytest.approx([50, 60, 37.5]))
    assert "systems called like sides" in [note.kind for note in loaded.notes]
    path = written(tmp_path, named.assign(winner=named["winner"].where(named.index != 5, "b")))
    assert input_error(path, "win_rate").at == f"{path}, line 7"


def test_an_items_score_is_the_influence_of_its_battle(tmp_path: Path) -> None:
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


def test_prompts_are_clusters(tmp_path: Path) -> None:
    """Those of the first column whose values come again, unless a column is named."""
    frame = battles(60, np.zeros(3), 4).assign(question_id=np.arange(60) // 2)
    loaded = load(written(tmp_path, frame), "bradley_terry")
    assert loaded.outputs.items["cluster"].nunique() == 30
    assert [note.kind for note in loaded.notes] == ["read", "prompts of battles"]
    k = np.arange(60)
    frame = frame.assign(question_id=k, prompt=[f"p{i // 3}" for i in k], judge=[f"j{i % 4}" for i in k])
    path = written(tmp_path, frame)
    assert load(path, "win_rate").outputs.items["cluster"].tolist() == frame["prompt"].tolist()
    judges = load(path, "win_rate", columns={"cluster": "judge"}).outputs
    assert judges.items["cluster"].tolist() == frame["judge"].tolist()
    assert load(path, "win_rate", item_columns=["judge"]).outputs.items["judge"].tolist() == frame["judge"].tolist()
    alone = load(written(tmp_path, frame.drop(columns="prompt")), "win_rate").outputs
    assert alone.natural_unit == "item", "no prompt has two battles"


def test_both_bad_is_a_tie_and_columns_may_have_other_names(tmp_path: Path) -> None:
    for tie in ("both bad", "both_bad", "Both Bad", "tie (bothbad)"):
        path = written(tmp_path, SMALL.replace("tie", tie).set_axis(["left", "right", "vote"], axis=1))
        columns = {"model_a": "left", "model_b": "right", "winner": "vote"}
        assert load(path, "win_rate", columns=columns).outputs.scores().tolist() == pytest.approx([60, 50, 37.5])
    input_error(path, "win_rate", columns={"model_a": "left", "model_b": "right"}, match="no column 'winner'")


@pytest.mark.parametrize(
    ("rows", "at"),
    [
        ([["a", "b", "model_a"], ["a", "b", "c"]], ", line 3"),
        ([["a", "a", "tie"]], ", line 2"),
        ([["a", "b", ""]], ", line 2"),
        ([["a", "b", "a"], ["b", "c", "tie"]], None),
    ],
)
def test_what_is_refused(rows: list[list[str]], at: str | None, tmp_path: Path) -> None:
    path = written(tmp_path, pd.DataFrame(rows, columns=["model_a", "model_b", "winner"]))
    assert input_error(path, "bradley_terry").at == ("" if at is None else f"{path}{at}")


def test_a_system_that_won_all_battles_is_ranked_by_a_fit_with_a_penalty(tmp_path: Path) -> None:
    """x won all: at the maximum, its expected wins are its wins less 2 alpha times its strength."""
    path = written(tmp_path, SMALL.assign(winner=["x", "x", "x", "z", "x", "y", "x"]))
    error = input_error(path, "bradley_terry", match="1 system \\(x\\) won or lost all")
    outputs = load(path, error.remedy.fields["penalised"].value).outputs  # type: ignore[attr-defined]
    x, y, z = (outputs.scores() - 1000) * np.log(10) / 400
    assert (x > y, outputs.scores().mean()) == (True, pytest.approx(1000))
    assert 5 - 3 / (1 + np.exp(y - x)) - 2 / (1 + np.exp(z - x)) == pytest.approx(2 * 0.1 * x)


def test_draws_of_alpaca_eval_that_are_coded_as_zero(tmp_path: Path) -> None:
    """A note, and no other number; scores of another name may be 0, 1 and 2."""
    columns = {"item": "instruction", "system": "generator_2", "score": "preference"}
    rows = [
        {"instruction": "Write a poem\nabout cats", "generator_2": "a", "preference": 0},
        {"instruction": "Say hi", "generator_2": "a", "preference": 1.9},
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    loaded = load(tmp_path / "a.json", "mean", columns=columns)
    assert (loaded.outputs.scores().tolist(), [note.kind for note in loaded.notes[1:]]) == ([0.95], ["draws as zero"])
    (tmp_path / "a.json").write_text(json.dumps(rows).replace("preference", "grade"))
    assert len(load(tmp_path / "a.json", "mean", columns={**columns, "score": "grade"}).notes) == 1


def test_texts_of_battles(tmp_path: Path) -> None:
    rows = [["new", "old", "model_a", "Hi?", "new!", "old!"], ["old", "new", "model_a", "Hi?", "old!", "new!"]]
    columns = ["model_a", "model_b", "winner", "prompt", "response_a", "response_b"]
    texts = texts_of(load(written(tmp_path, pd.DataFrame(rows, columns=columns)), "win_rate"))
    assert texts.inputs_of(["1", "2"]) == ["Hi?", "Hi?"]
    assert texts.answers_of("old", ["2", "1"]) == ["old!", "old!"]
