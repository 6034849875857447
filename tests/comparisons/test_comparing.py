"""The table of `compare`, cell by cell."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons import compare
from simstudy.outputs import Outputs

NAMES, FAMILY = list("dbca"), dict(zip("dbca", "xyxz", strict=True))
RIGHT = (np.random.default_rng(4).random((4, 60)) < [[0.5], [0.9], [0.65], [0.8]]).astype(int)
ASKED = {"test": "randomization", "monte_carlo": True, "n_resamples": 199, "seed": 7}


@pytest.fixture(scope="module")
def outputs() -> Outputs:
    """Four systems of three families on 60 items of 20 documents."""
    items = pd.DataFrame({"id": range(60), "cluster": [f"c{i // 3}" for i in range(60)], "genre": ["n", "m"] * 30})
    systems = pd.DataFrame({"name": NAMES, "family": list(FAMILY.values())})
    statistics = np.stack([RIGHT, np.ones_like(RIGHT)], axis=-1)
    return Outputs.from_statistics(statistics, "accuracy", systems, items, task="tagging", test_set="news")


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_every_pair_by_hand(outputs: Outputs, alternative: str) -> None:
    table = compare(outputs, alternative=alternative, **ASKED).frame  # type: ignore[arg-type]
    score = {name: 100 * row.mean() for name, row in zip(NAMES, RIGHT, strict=True)}
    order = sorted(NAMES, key=lambda name: -score[name])
    sides = 2 if alternative == "two-sided" else 1
    for row, (a, b) in zip(table.itertuples(), combinations(order, 2), strict=True):
        assert (row.system_a, row.system_b, row.family_a, row.family_b) == (a, b, FAMILY[a], FAMILY[b])
        assert row.relation == ("same family" if FAMILY[a] == FAMILY[b] else "different families")
        assert (row.score_a, row.score_b, row.gain) == pytest.approx((score[a], score[b], score[a] - score[b]))
        first, second = (RIGHT[NAMES.index(name)].reshape(20, 3).sum(axis=1) for name in (a, b))
        better, worse = int((first > second).sum()), int((first < second).sum())
        assert (row.wins, row.losses, row.ties, row.n_units) == (better, worse, 20 - better - worse, 20)
        assert row.p_floor == pytest.approx(min(1, sides * 2.0 ** -(better + worse)))
        assert row.p_value == (row.n_extreme + 1) / 200
        bounds = stats.binomtest(row.n_extreme, 199).proportion_ci(0.95, method="exact")
        assert (row.p_low, row.p_high) == pytest.approx((bounds.low, bounds.high))
        assert row.better == a
        assert (row.task, row.test_set, row.n_items, row.metric) == ("tagging", "news", 60, "accuracy")
        assert (row.test, row.alternative, row.convention) == ("randomization", alternative, "default")
        assert (row.unit, row.strata, row.seed, row.n_resamples) == ("cluster", "", 7, 199)
        assert row.computation == "resampled"


def test_the_two_sided_p_value_beside_a_one_sided_one_is_of_the_same_resamples(outputs: Outputs) -> None:
    one_sided, two_sided = (compare(outputs, alternative=sides, **ASKED) for sides in ("greater", "two-sided"))  # type: ignore[arg-type]
    assert one_sided["p_two_sided"].tolist() == two_sided["p_value"].tolist() == two_sided["p_two_sided"].tolist()
    assert (one_sided["p_value"] < two_sided["p_value"]).any()
    assert one_sided.systems is outputs.systems


@pytest.mark.parametrize("columns", [["p_bh", "p_holm"], ["caution"], ["ties", "p_floor"], ["gain_low", "better"]])
def test_columns_that_are_asked_for_are_those_of_the_table(outputs: Outputs, columns: list[str]) -> None:
    expected = compare(outputs).corrected().frame[columns]
    pd.testing.assert_frame_equal(compare(outputs, columns=columns), expected, check_exact=True)


@pytest.mark.parametrize(("columns", "message"), [(["p"], "one of .*, not 'p'"), ("gain", "a list of names")])
def test_columns_that_are_not_there_are_refused(outputs: Outputs, columns: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=f"columns must be {message}"):
        compare(outputs, columns=columns)


def test_units_strata_and_other_options_are_those_that_were_asked_for(outputs: Outputs) -> None:
    by_item = compare(outputs, unit="item", **ASKED)  # type: ignore[arg-type]
    assert (set(by_item["unit"]), set(by_item["n_units"])) == ({"item"}, {60})
    computed = compare(outputs, test="randomization")
    assert set(computed["computation"]) == {"exact"}
    assert computed["p_low"].tolist() == computed["p_value"].tolist() == computed["p_high"].tolist()
    drawn = {"test": "bootstrap", "unit": "item", "n_resamples": 99, "monte_carlo": True}
    plain, strata = compare(outputs, **drawn), compare(outputs, strata="genre", **drawn)  # type: ignore[arg-type]
    assert set(strata["strata"]) == {"genre"}
    assert strata["n_extreme"].tolist() != plain["n_extreme"].tolist()
    published = compare(outputs, convention="bk2012", **drawn)  # type: ignore[arg-type]
    assert set(published["convention"]) == {"bk2012"}
    assert published["p_value"].tolist() == (published["n_extreme"] / 99).tolist()


def test_a_test_of_scores_prefers_nobody_where_they_are_equal_and_others_may() -> None:
    """Nine items won by 1 and one lost by 9; a one-sided test does not speak for the system behind."""
    frame = pd.DataFrame({"b": [1.0] * 9 + [0], "a": [0.0] * 9 + [9]})
    equal, ahead = Outputs.from_scores(frame), Outputs.from_scores(frame.replace({"a": {9.0: 10.0}}))
    assert [compare(equal, test=test)["better"].item() for test in ("sign", "sign_flips")] == ["b", ""]
    sides = ("two-sided", "greater")
    assert [compare(ahead, test="sign", alternative=side)["better"].item() for side in sides] == ["b", ""]


def test_a_table_may_have_computed_and_resampled_pairs(rng: np.random.Generator) -> None:
    """Two systems that differ on five items have 2^5 shuffles; those of a third are drawn, with an interval."""
    gold = rng.integers(5, 60, 400)
    rows = [np.stack([hit := rng.binomial(gold, share), hit + 5, gold], axis=1) for share in (0.6, 0.58)]
    near = rows[0].copy()
    near[:5, 0] -= 1
    outputs = Outputs.from_statistics(np.stack([rows[0], near, rows[1]]), "f1", ["first", "near", "other"])
    pairs = compare(outputs, test="randomization", n_resamples=999)
    assert pairs.pair("first", "near").row[["p_value", "p_low", "p_high"]].tolist() == [2 / 2**5] * 3
    drawn = pairs[pairs["system_a"] + pairs["system_b"] != "firstnear"].frame
    assert drawn["computation"].tolist() == ["resampled", "resampled"]
    for row in drawn.itertuples():
        bounds = stats.binomtest(row.n_extreme, 999).proportion_ci(0.95, method="exact")
        assert (row.p_low, row.p_high) == pytest.approx((bounds.low, bounds.high), rel=1e-7)


def test_a_system_without_a_family_is_one_of_its_own() -> None:
    """Constructors fill families in; Outputs that are put together by hand may have none."""
    systems = pd.DataFrame({"name": ["x", "y", "z"], "family": [None, "f", "f"]})
    outputs = Outputs.from_statistics(
        np.stack([RIGHT[[0, 0, 1]], np.ones((3, 60), dtype=int)], axis=-1), "accuracy", list("xyz")
    )
    pairs = compare(dataclasses.replace(outputs, systems=systems))
    columns = ["family_a", "family_b", "relation"]
    assert {*pairs.pair("y", "z").row[columns]} == {"f", "same family"}
    assert {*pairs.pair("x", "y").row[columns]} == {"x", "f", "different families"}
    assert pairs.pair("x", "y").row[["p_value", "p_floor", "ties"]].tolist() == [1, 1, 60], "identical systems"
