"""The arguments of a comparison: its test, its units, its strata, and all that is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.arguments import applicable
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from tests.engines.pairs import scored
from tests.oracles import compared, shuffled_p


def with_items(outputs: Outputs, **columns: Any) -> Outputs:
    """The same results on items with other columns; None takes one away."""
    items = outputs.items.assign(**{name: column for name, column in columns.items() if column is not None})
    items = items.drop(columns=[name for name, column in columns.items() if column is None])
    return Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.systems, items)


@pytest.mark.parametrize("test", [name for name in TESTS if name not in ("mcnemar", "precision_score", "fisher")])
def test_units_are_documents_by_default(test: str, answered: Outputs) -> None:
    options: dict[str, Any] = {"test": test, "n_resamples": 300}
    by_default = compared(answered, **options)
    pd.testing.assert_frame_equal(by_default, compared(answered, unit="cluster", **options))
    assert by_default[["unit", "n_units", "n_items"]].drop_duplicates().to_numpy().tolist() == [["cluster", 15, 60]]
    by_item = compared(answered, unit="item", **options)
    assert (set(by_item["unit"]), set(by_item["n_units"])) == ({"item"}, {60})
    assert (by_item["gain"] == by_default["gain"]).all()
    # Tests of two tables of counts do not look at units at all.
    assert (by_item["p_value"] != by_default["p_value"]).any() == (test not in ("two_proportions", "chi_square"))
    assert (by_item["gain_se"] != by_default["gain_se"]).all()
    pd.testing.assert_frame_equal(compared(with_items(answered, cluster=None), **options), by_item)


def test_documents_are_swapped_as_wholes(answered: Outputs) -> None:
    """All 2^15 ways to swap the two systems' documents, of four answers each, in fractions."""
    for row in compared(answered).itertuples():
        pair = answered.select([row.system_a, row.system_b])
        sums = pair.statistics.reshape(2, 15, 4, 2).sum(axis=2)
        assert row.p_value == pytest.approx(shuffled_p(sums, pair.metric, two_sided=True), rel=1e-12, abs=0)


def test_strata_keep_what_differs_between_them_out_of_the_resamples() -> None:
    """a wins all of one stratum and loses all of the other: resampled within strata, the gain never varies."""
    right = np.array([[1] * 30 + [0] * 20, [0] * 30 + [1] * 20])
    mixed = np.random.default_rng(0).permutation(50)
    items = pd.DataFrame({"id": range(50), "domain": np.array(["x"] * 30 + ["y"] * 20)[mixed]})
    statistics = np.stack([right, np.ones_like(right)], axis=-1)[:, mixed]
    outputs = Outputs.from_statistics(statistics, "accuracy", ["a", "b"], items)
    options: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "n_resamples": 999}
    assert compared(outputs, strata="domain", **options).p_value[0] == 1 / 1000
    assert compared(outputs, **options).p_value[0] > 0.02


#: Options, and what is wrong with them.
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"n_resamples": 0}, r"n_resamples must be at least 1 and below 2\^53, not 0"),
    ({"n_resamples": 1e6}, "n_resamples must be a whole number"),
    ({"seed": -1}, r"seed must be at least 0 and below 2\^64, not -1"),
    ({"seed": 2**64}, r"seed must be at least 0 and below 2\^64"),
    ({"n_jobs": 0}, "n_jobs must be at least 1, or -1 for all cores, not 0"),
    ({"alternative": "less"}, "alternative must be one of two-sided, greater, not 'less'"),
    ({"test": "chi_square", "alternative": "greater"}, "alternative must be 'two-sided' for test 'chi_square'"),
    ({"convention": "bk"}, "convention must be one of default, noreen, chinchor1992, bk2012, .* not 'bk'"),
    ({"convention": "chinchor1992"}, "is a rule for randomization, not for 'bootstrap'"),
    ({"convention": "koehn2004", "alternative": "two-sided"}, "must be 'greater' for convention"),
    ({"monte_carlo": "auto"}, "monte_carlo must be True or False, not 'auto'"),
    ({"monte_carlo": None}, "monte_carlo must be True or False, not None"),
    ({"unit": "user"}, "unit must be a column of the items.*, not 'user'; they have id"),
    ({"strata": "user"}, "strata must be a column of the items.*, not 'user'"),
    ({"test": "t_paired", "strata": "domain"}, "strata must not be given for test 't_paired'"),
    ({"unit": "cluster", "strata": "domain"}, "strata must not split a resampling unit, but some cluster"),
    ({"strata": "id"}, r"at least 2 units each \(item\); id 's0' has 1"),
    ({"against": "s1"}, "against must be a system, not 's1'.*or 'neighbours'"),
    ({"against": []}, "against must name at least one system"),
    ({"against": 4}, "against must be a list of names of systems, not 4"),
    *(
        ({argument: value}, f"{argument} must be")
        for argument in ("test", "alternative", "convention", "unit", "strata", "n_resamples", "seed")
        for value in (["item"], 2.5, np.array([1, 2]))
    ),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_wrong_options_are_refused_in_one_line(options: dict[str, Any], message: str, tagged: Outputs) -> None:
    with pytest.raises(ValueError, match=f"^[^\n]*{message}[^\n]*$"):
        compared(tagged, **({"test": "bootstrap", "unit": "item"} | options))


def test_outputs_that_cannot_be_compared_are_refused_in_one_line(answered: Outputs) -> None:
    """One unit shows nothing of what another would bring. A column of nothing is no column."""
    exam = with_items(answered, cluster="exam")
    some = with_items(answered, cluster=answered.items["cluster"].where(np.arange(60) != 7))
    one_unit = (
        r"outputs must have at least 2 units to resample \(cluster\), not 1: all items have cluster 'exam'; "
        "unit='item' uses items"
    )
    for outputs, options, message in (
        (answered.select(["a"]), {}, "outputs must have at least 2 systems to compare, not 1"),
        (pd.DataFrame(), {}, "outputs must be Outputs .* not DataFrame"),
        (answered.head(1), {"unit": "item"}, r"at least 2 units to resample \(item\), not 1"),
        (exam, {}, one_unit),
        (exam, {"unit": "cluster"}, one_unit),
        (some, {}, "item 's7' has no cluster"),
        (answered, {"against": answered}, "systems must"),
    ):
        with pytest.raises(ValueError, match=f"^[^\n]*{message}[^\n]*$"):
            compared(outputs, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=one_unit):
        applicable(exam)
    for outputs in (exam, some):
        assert set(compared(outputs, unit="item")["n_units"]) == {60}
    assert set(compared(with_items(answered, cluster=np.nan))["unit"]) == {"item"}


OF_ARRAYS = {"bootstrap", "randomization"}
OF_SUMS = {*OF_ARRAYS, "sign_flips", "skew_corrected"}
OF_MEANS = {*OF_SUMS, "t_paired", "z_paired", "sign", "wilcoxon", "z_independent", "t_two_sample"}
OF_COUNTS = {"two_proportions", "chi_square"}
OF_ACCEPTANCE_SETS = {"precision_score", "fisher"}

#: Kind of outputs -> the tests that apply.
APPLIES = {
    "own denominators": OF_SUMS | OF_COUNTS,
    "f1": OF_SUMS,
    "decimals": OF_MEANS,
    "words": OF_MEANS | OF_COUNTS,
    "right or wrong": OF_MEANS | OF_COUNTS | {"mcnemar"},
    "lost, tied, won": OF_MEANS,
    "acceptance sets": OF_SUMS | OF_COUNTS | OF_ACCEPTANCE_SETS,
    "acceptance sets by cluster": OF_SUMS | OF_COUNTS,
    "candidates true for one system": OF_SUMS | OF_COUNTS,
    "half-true candidates": OF_SUMS,
    "candidates accepted twice": OF_SUMS | OF_COUNTS,
    # The same numbers are right and wrong answers where no system chooses what it answers.
    "precision of all candidates": OF_MEANS | OF_COUNTS | OF_ACCEPTANCE_SETS | {"mcnemar"},
    "accuracy of all candidates": OF_MEANS | OF_COUNTS | {"mcnemar"},
    "median": OF_ARRAYS,
}


@pytest.mark.parametrize("kind", APPLIES)
def test_a_test_that_does_not_apply_is_refused(
    kind: str, found: Outputs, tagged: Outputs, answered: Outputs, accepting: Outputs
) -> None:
    rng = np.random.default_rng(0)
    sets, torn = accepting.statistics, accepting.statistics.copy()
    torn[4, np.flatnonzero(sets[..., 0].sum(axis=0) > 1)[0], 0] ^= 1
    outputs = {
        "own denominators": found.with_metric("precision"),
        "f1": found,
        "decimals": scored(rng.random((3, 20))),
        "words": tagged,
        "right or wrong": answered,
        "lost, tied, won": scored(rng.integers(-1, 2, size=(3, 20))),
        "candidates true for one system": Outputs.from_statistics(torn, accepting.metric),
        "half-true candidates": Outputs.from_statistics(sets * [0.5, 1], accepting.metric),
        "candidates accepted twice": Outputs.from_statistics(sets * 2, accepting.metric),
        "precision of all candidates": scored(answered.statistics[[0, 0], :, 0], accepting.metric),
        "accuracy of all candidates": scored(answered.statistics[[0, 0], :, 0], "accuracy"),
        "median": Outputs.from_statistics(rng.random((3, 20, 1)), "median"),
    }.get(kind, accepting)
    unit = "cluster" if "cluster" in kind else "item"
    assert set(applicable(outputs, unit=unit)) == APPLIES[kind]
    assert set(applicable(outputs, unit=unit, of_scores=True)) == APPLIES[kind] - {"sign", "wilcoxon", "fisher"}
    for test in {*TESTS} - APPLIES[kind]:
        where = "unit is 'cluster'" if "cluster" in kind and test in OF_ACCEPTANCE_SETS else f"'{outputs.metric.name}'"
        remedy = "bootstrap or randomization" if kind == "median" else "sign_flips, bootstrap or randomization"
        with pytest.raises(ValueError, match=f"^test '{test}' needs [^\n]* {where}[^\n]*; use {remedy}$"):
            compared(outputs, test=test, unit=unit)
