"""The study of Urbano, Lima and Hanjalic 2019, small, on made-up runs: its pairs, tests and tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Results, RunContext, load_study
from simstudy.studies.simulation.study import draws_of, with_files
from tests.conftest import SHARED
from tests.experiments.programs import program, shipped, small

STUDY = program("urbano_2019")
PAIRS, RUNS, TABLES = (program("urbano_2019", part) for part in ("pairs", "runs", "tables"))
FIXED = {"tie": 0.01, "dropped": 0.1, "neighbours": 3, "profile": 400}
NULLS = ("fitted", "symmetric", "refitted", "equal means", "real topics")
CONTROLS = ("equal means, nothing to find", "real topics, nothing to find")
SMALL: dict[str, Any] = {
    "factors": {
        "measure": {
            "ap": {"title": "AP", "files": ["trec_urbano/one.csv.gz"]},
            "p10": {"title": "P@10", "files": ["trec_urbano/one.csv.gz"], "lattice": "tenths"},
        },
        "condition": [*NULLS, *CONTROLS, "gain"],
        "n_topics": [25, 50],
        "gain": [0.0, 0.05],
    },
    "rules": [
        {"where": {"condition": ["gain"], "gain": [0.0]}, "skip": True},
        {"where": {"condition": [*NULLS, *CONTROLS], "gain": [0.05]}, "skip": True},
    ],
    "replicates": {"most": 12, "block": 12, "within": 4},
    "fixed": FIXED,
    "n_resamples": 99,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of runs that find topics hard together; the last is the first one again."""
    rng = np.random.default_rng(0)
    hardness, quality = rng.normal(size=50), np.linspace(-1.2, -0.6, 11)
    scores = 1 / (1 + np.exp(-(quality[:, None] + hardness + 0.7 * rng.normal(size=(11, 50)))))
    rows = [
        (measure, f"run{k}", topic, round(value, 4) if measure == "ap" else np.rint(10 * value) / 10)
        for measure in ("ap", "p10")
        for k, run in enumerate([*scores, scores[0]])
        for topic, value in enumerate(run)
    ]
    path = tmp_path_factory.mktemp("data") / "trec_urbano" / "one.csv.gz"
    path.parent.mkdir()
    pd.DataFrame(rows, columns=["measure", "system", "topic", "score"]).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    out = tmp_path_factory.mktemp("urbano")
    return ss.run_study(small("urbano_2019", **SMALL), out=out, n_jobs=1, data_dir=data.parents[1])


@pytest.fixture(scope="module")
def collection(data: Path) -> Any:
    return RUNS.Collections("ap", (str(data),), None, 0.1, 3)


def test_runs_are_those_of_the_measure_in_proportion_to_their_collections(tmp_path: Path) -> None:
    """Three and six runs, the worst third of which is left out: two and four. The first collection has lower scores."""
    paths = [tmp_path / "few.csv", tmp_path / "many.csv"]
    for path, n_runs, low in zip(paths, (3, 6), (0, 3), strict=True):
        rows = [(m, k, t, (low + k + t % 3) / 10) for m in ("ap", "p10") for k in range(n_runs) for t in range(9)]
        table = pd.DataFrame(rows, columns=["measure", "system", "topic", "score"])
        table.loc[table["measure"] == "ap", "score"] += 0.05
        table.to_csv(path, index=False)
    of = RUNS.Collections("p10", tuple(map(str, paths)), "tenths", 0.34, 3)
    np.testing.assert_allclose(of.scores(str(paths[0]))[:, :3], [[0.1, 0.2, 0.3], [0.2, 0.3, 0.4]])
    np.testing.assert_allclose(of.scores(str(paths[1]))[:, 0], [0.5, 0.6, 0.7, 0.8])
    rng = np.random.default_rng(0)
    for draw in (of.any_two, lambda rng: of.like_two(0.0, rng)):
        drawn = [draw(rng) for _ in range(500)]
        assert 280 < sum(two.scores.min() > 0.4 for two in drawn) < 390
        for scores, margin in zip(drawn[0].scores, drawn[0].margins, strict=True):
            values = margin.quantile(rng.random(500))
            np.testing.assert_allclose(np.rint(10 * values), 10 * values, atol=1e-9)
            assert abs(values.mean() - scores.mean()) < 0.05
    paths[0].write_text("measure,system,topic,score\nap,a,1,0.5\nap,a,2,0.5\nap,b,1,0.5\n")
    with pytest.raises(ValueError, match="few.csv must have a score of every run on every topic by 'ap'"):
        RUNS.read_runs(str(paths[0]), "ap", 0.2)


@pytest.mark.parametrize("gain", [0.0, 0.05])
def test_like_runs_are_two_whose_means_are_nearest_to_a_gain_apart(gain: float, collection: Any) -> None:
    """Of 12 runs one is there twice, and one of 11 is below the tenth percentile: ten are left.

    The first is none of the best two or three, the second one of the three others that are nearest.
    """
    scores, rng, seen = collection.scores(*collection.paths), np.random.default_rng(7), set()
    assert np.unique(scores, axis=0).shape == (10, 50)
    means = scores.mean(axis=1)
    for _ in range(300):
        runs = collection.like_two(gain, rng).scores
        first, second = (int((scores == run).all(axis=1).argmax()) for run in runs)
        others = sorted(set(range(10)) - {first}, key=lambda k: abs(means[k] - (means[first] + gain)))
        assert (means > means[first]).sum() >= 2
        assert second in others[:3]
        seen.add((first, others.index(second)))
    assert len(seen) == len({first for first, _ in seen}) * 3 >= 7 * 3
    pairs = {tuple(collection.any_two(rng).scores[:, 0]) for _ in range(1500)}
    assert len(pairs) == 90


@pytest.mark.parametrize("name", [*NULLS, *CONTROLS, "gain"])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_have_the_margins_the_dependence_and_the_gain_that_their_names_say(
    name: str, seed: int, collection: Any
) -> None:
    """The runs are known: they are the first that the same random numbers draw."""
    gain, n, rng = 0.05 * (name == "gain"), 20_000, np.random.default_rng(seed)
    any_two = name in ("fitted", "symmetric", "refitted")
    runs = collection.any_two(rng) if any_two else collection.like_two(gain, rng)
    pair = PAIRS.pair_of(name, gain, collection, seed)
    first, second = pair.draw(n, np.random.default_rng(99))
    difference = first - second
    assert difference.mean() == pytest.approx(gain, abs=5 * difference.std() / np.sqrt(n)), "the better is first"
    both = {name: (first, second) for name in ("fitted", "symmetric", "refitted")}
    for scores in (both | {"equal means": (first,), "gain": (second,)}).get(name, ()):
        assert stats.ks_2samp(scores, runs.margins[0].quantile(rng.random(n))).pvalue > 1e-4
    # 50 topics know Kendall's tau to about 0.07 (standard error), and it is fitted.
    drawn, known = (stats.kendalltau(*scores).statistic for scores in ((first, second), runs.scores))
    assert drawn == pytest.approx(known, abs=0.3 if name in ("refitted", *CONTROLS) else 0.1)
    assert (pair.family == "") == ("topics" in name)
    if name == "symmetric":
        assert abs((difference > 0).mean() - (difference < 0).mean()) < 5 / np.sqrt(n)
    if "topics" in name:
        # Not the first system's own scores, which are moved.
        assert set(second) <= set(runs.scores.ravel())
        assert len(np.unique(difference.round(9))) <= 50
    if name == "real topics":
        gains = runs.scores[0] - runs.scores[1]
        np.testing.assert_allclose(np.unique(difference.round(6)), np.unique((gains - gains.mean()).round(6)))


@pytest.mark.parametrize("name", [name for name in (*NULLS, *CONTROLS, "gain") if "topics" not in name])
def test_families_are_chosen_among_all_or_symmetric_ones(name: str, collection: Any) -> None:
    chosen = [PAIRS.pair_of(name, 0.05 * (name == "gain"), collection, k).family for k in range(40)]
    is_tawn = sum("tawn" in family for family in chosen)
    assert is_tawn > 2 if name in ("fitted", "refitted", "gain") else is_tawn == 0


def test_signs_of_real_differences_are_drawn(collection: Any) -> None:
    """Each difference keeps its size, the gain is nearly what it was, and over many draws each has either sign."""
    rng = np.random.default_rng(3)
    scores = collection.like_two(0.0, rng).scores
    difference = scores[0] - scores[1]
    drawn = np.stack([PAIRS.exchanged(scores, rng) for _ in range(200)])
    drawn = drawn[:, 0] - drawn[:, 1]
    np.testing.assert_allclose(np.abs(drawn), np.tile(np.abs(difference), (200, 1)), atol=1e-12)
    error = difference.std() / np.sqrt(difference.size)
    assert np.abs(drawn.mean(axis=1) - difference.mean()).max() < error / 10
    # Given the mean the signs are no fair coins, but none is fixed.
    assert (((drawn > 0).mean(axis=0) > 0.1) & ((drawn > 0).mean(axis=0) < 0.9)).all()


def block_of(*pairs: Any, scores: Any, **values: Any) -> Any:
    data = [STUDY.TestSet(*set_and_pair) for set_and_pair in zip(scores, pairs, strict=True)]
    return SimpleNamespace(data=data, scores=scores, condition={**FIXED, **values}, seed=lambda purpose: 1)


def test_the_papers_sign_test_is_scipys_without_small_differences() -> None:
    rng = np.random.default_rng(3)
    scores = np.round(rng.random((40, 2, 30)) / 5 + [[[0.02], [0.0]]], 2)
    tested = STUDY.sign_with_ties(block_of(*[None] * 40, scores=scores, tie=0.02))[STUDY.SIGN_WITH_TIES]
    steps = np.rint(100 * (scores[:, 0] - scores[:, 1]))
    for quantity, side in (("p_value", "two-sided"), ("p_value, greater", "greater")):
        signs = [stats.binomtest(int((d > 2).sum()), int((abs(d) > 2).sum()), alternative=side).pvalue for d in steps]
        np.testing.assert_allclose(tested[quantity], signs)
    np.testing.assert_allclose(tested["estimate"], steps.mean(axis=1) / 100, atol=1e-12)


def test_differences_are_those_of_each_pair() -> None:
    d = np.array([0.3, 0.2, 0.1, 0.05, 0.0, 0.0, -0.1, -0.4])
    varied = PAIRS.Pair(lambda n, rng: np.stack([0.5 + d, np.full(n, 0.5)]), "survival tawn 1")
    level = PAIRS.Pair(lambda n, rng: np.full((2, n), 0.5))
    block = block_of(varied, varied, level, scores=np.zeros((3, 2, 50)), tie=0.1, profile=8, n_topics=50)
    values = STUDY.differences(block)
    wanted = {
        "balance_square": 1 / 16 - (6 / 8 - 1 / 16) / 8, "balance_square_beyond_ties": 1 / 64 - (3 / 8 - 1 / 64) / 8,
        "unequal": 6 / 8, "unequal_beyond_ties": 3 / 8, "skewness": abs(stats.skew(d)), "asymmetric": True,
        "family survival tawn 1": True, "family tawn 1": False,
    }  # fmt: skip
    for quantity, number in wanted.items():
        assert values[quantity][:2] == pytest.approx([number] * 2), quantity
    # 50 topics have 19 differences, of which a win has probability 2 / 3.
    rejected = [k for k in range(20) if stats.binomtest(k, 19).pvalue <= 0.05]
    assert values["predicted"][0] == pytest.approx(stats.binom.pmf(rejected, 19, 2 / 3).sum())
    assert np.isnan(values["skewness"][2])
    assert not any(numbers[2] for name, numbers in values.items() if name.startswith(("family", "asym", "bal")))


def test_published_rates_are_those_that_the_paper_prints() -> None:
    table = program("urbano_2019", "published").published()
    at = table.query("measure == 'ap' and n_topics == 50 and gain == 0 and alternative == 'two-sided'")
    assert at["published"].tolist() == [0.0512, 0.0722, 0.0779, 0.0597, 0.0522]


def test_the_shipped_published_table_follows_from_the_shipped_rates() -> None:
    tables = shipped("urbano_2019")
    rates, wanted = tables["rates"].assign(gain=0.0), tables["published"].drop(columns="wrong")
    table = TABLES.beside_published(pd.concat([rates, tables["gains"].assign(condition="gain")]))
    keys = ["measure", "n_topics", "gain", "alternative", "test"]
    both = (rows[list(wanted)].sort_values(keys, ignore_index=True) for rows in (table, wanted))
    pd.testing.assert_frame_equal(*both, check_dtype=False)


def test_rejections_for_the_worse_system_are_counted_with_and_without_a_gain() -> None:
    row = dict.fromkeys(("measure", "n_topics", "alpha", "share", "low", "high"), 0) | {"method": "sign", "n_sets": 40}
    rows = [
        row | {"condition": "fitted", "gain": 0.0, "quantity": "p_value", "count": 10, "n_first": 7},
        row | {"condition": "gain", "gain": 0.1, "quantity": "p_value, greater", "count": 20, "n_wrong": 4},
    ]
    rates = TABLES.error_rates(pd.DataFrame(rows), 4)[["alternative", "n_pairs", "n_wrong", "wrong"]]
    assert rates.to_numpy().tolist() == [["two-sided", 10, 3, 3 / 40], ["greater", 10, 4, 0.1]]


def test_tables_count_what_was_drawn(done: Results, data: Path) -> None:
    """Rates, families and the profiles of one condition, from its test sets by scipy."""
    study = small("urbano_2019", **SMALL)
    conditions, _ = with_files(study.conditions(), RunContext(Path("unused"), 1, data.parents[1]))
    for name, gain in (("gain", 0.05), ("fitted", 0.0)):
        levels = {"measure": "p10", "condition": name, "n_topics": 50, "gain": gain}
        (condition,) = (condition for condition in conditions if condition.levels == levels)
        (block,) = draws_of(study).blocks(condition, 0)
        assert [len({test_set.pair for test_set in block.data[k : k + 4]}) for k in (0, 4, 8)] == [1] * 3
        first, second = block.scores.swapaxes(0, 1)
        table = done.tables["gains"].assign(condition=name) if gain else done.tables["rates"]
        table = table.query("measure == 'p10' and condition == @name and n_topics == 50 and alpha == 0.05")
        rows = table[table["test"] == "t_paired"].set_index("alternative")
        for side in ("greater", "two-sided"):
            rejected = stats.ttest_rel(first, second, axis=1, alternative=side).pvalue <= 0.05
            assert rows.loc[side, ["n_pairs", "n_sets", "n_rejected"]].tolist() == [3, 12, rejected.sum()]
    at = f"measure == 'p10' and condition == '{name}'"
    families, shapes = (done.tables[title].query(at) for title in ("families", "shapes"))
    assert families.set_index("family")["n_pairs"].to_dict() == Counter(block.data[k].pair.family for k in (0, 4, 8))
    shape, profiles = shapes.iloc[0], STUDY.differences(block)
    assert shape["balance"] ** 2 == pytest.approx(max(profiles["balance_square"].mean(), 0))
    for column, name in (("predicted_50", "predicted"), ("skewness", "skewness"), ("asymmetric", "asymmetric")):
        assert shape[column] == pytest.approx(profiles[name].mean())
    assert shape["sign_50"] == (STUDY.sign_with_ties(block)[STUDY.SIGN_WITH_TIES]["p_value"] <= 0.05).mean()


def test_tables_have_all_conditions_and_the_page_has_its_figures(done: Results) -> None:
    assert len(done.tables["rates"]) == 2 * (5 + 2) * 2 * 6 * 2 * 5
    assert len(done.tables["gains"]) == 2 * 2 * 6 * 2
    for name in ("published", "rates", "shapes", "families"):
        columns = [column for column in shipped("urbano_2019")[name] if not column.endswith("_100")]
        assert [*done.tables[name]] == columns, name
    page = (done.folder / "README.md").read_text()
    assert all(f"(figures/{name}.png)" in page for name in ("type_1_errors", "gains"))
    assert "nan" not in page.lower()


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTROLS)
def test_where_there_is_nothing_to_find_means_are_tested_rightly_and_signs_are_not(name: str) -> None:
    """Controls on the real runs, 100 topics of AP, 250 pairs; signs of 50 fair coins have a balance of 1 / sqrt(50)."""
    if not (SHARED / "trec_urbano").is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    study = load_study("urbano_2019")
    conditions, _ = with_files(study.conditions(), RunContext(Path("unused"), 1, SHARED))
    of = next(condition for condition in conditions if [*condition.levels.values()] == ["ap", name, 100, 0.0])
    data = [test_set for k in range(250) for test_set in STUDY.generate(of, 20, np.random.default_rng(k))]
    first, second = np.array([test_set.scores for test_set in data]).swapaxes(0, 1)
    assert 0.035 < (stats.ttest_rel(first, second, axis=1).pvalue <= 0.05).mean() < 0.065
    if "topics" in name:
        block = SimpleNamespace(data=data, condition=of, seed=lambda purpose: 1)
        assert np.sqrt(STUDY.differences(block)["balance_square"].mean()) == pytest.approx(1 / np.sqrt(50), abs=0.05)
        assert (stats.wilcoxon(first, second, axis=1).pvalue <= 0.05).mean() > 0.1
