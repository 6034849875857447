"""A natural study's tables: what is drawn of many test sets, by which unit, from how many sides, at which level."""

from __future__ import annotations

from functools import partialmethod
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.ranks import ranks as analysed
from simstudy.comparisons.thresholds import thresholds
from simstudy.studies import Findings, make_study
from simstudy.studies.natural import study as module
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.facts import answers
from tests.studies.natural.test_options import TABLE, data, natural
from tests.studies.test_cells import Heard

__all__ = ["data"]

NAMES = [f"t {k}" for k in range(1, 8)]


def found(folder: Path, numbers: str = "1234567", **keys: Any) -> Findings:
    """What is found on seven test sets, which are one, whose items lie in clusters."""
    test_set = {**TABLE, "name": "t {}", "each": list(numbers), "items": "items.csv"}
    content = {
        "name": "n", "kind": "natural", "title": "T", "question": "Q?", "seed": 3, "alpha": 0.2,
        "test_sets": [test_set], "comparison": {"test": "t_paired", "alternative": "greater"}, **keys,
    }  # fmt: skip
    made = make_study(content, "here")
    assert isinstance(made, NaturalStudy)
    return module.run(made, Heard(data_dir=folder))


@pytest.fixture(scope="module")
def usual(data: Path) -> tuple[Findings, list[tuple[pd.DataFrame, dict[str, Any]]]]:
    """The study, and what its ranks are made from."""
    asked: list[tuple[pd.DataFrame, dict[str, Any]]] = []

    def ranks(pairs: pd.DataFrame, **options: Any) -> pd.DataFrame:
        asked.append((pairs, options))
        return analysed(pairs, **options)

    def with_seed(pairs: Comparisons, *, seed: int) -> pd.DataFrame:
        return thresholds(pairs.frame, seed=seed).assign(told=seed)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "ranks", ranks)
        patched.setattr(Comparisons, "thresholds", partialmethod(with_seed))
        return found(data), asked


Usual = tuple[Findings, list[tuple[pd.DataFrame, dict[str, Any]]]]


def test_curves_are_of_the_first_six_test_sets_or_of_those_that_are_named(usual: Usual, data: Path) -> None:
    """Whole ones, by their own unit."""
    tables = usual[0].tables
    assert tables["points"]["test_set"].unique().tolist() == NAMES[:6]
    assert set(tables["points"]["n_items"]) == {36}
    assert len(tables["points"]) == 6 * 10
    assert set(tables["leaderboard"]["test_set"]) == set(NAMES)
    named = found(data, "12", shown=["t 2"]).tables["points"]
    assert set(named["test_set"]) == {"t 2"}


def test_numbers_are_there_by_the_studys_unit_and_by_items(usual: Usual) -> None:
    for name in ("thresholds", "significant_gains"):
        table = usual[0].tables[name]
        rows = table.groupby(["n_items", "unit"])["test_set"].unique().map(list).to_dict()
        assert rows == dict.fromkeys([(36, "cluster"), (36, "item")], NAMES)
        assert set(table["alternative"]) == {"greater"}
    assert set(usual[0].tables["thresholds"]["told"]) == {3}
    assert {"c", "fit", "exponent"} <= {*usual[0].tables["thresholds"]}
    assert set(usual[0].tables["significant_gains"]["alpha"]) == {0.2}
    assert set(usual[0].comparisons["unit"]) == {"cluster"}
    assert usual[0].comparisons.groupby("n_items")["test_set"].nunique().to_dict() == {36: 7}
    assert set(usual[0].comparisons["seed"]) <= {3}
    assert set(usual[0].data["files"]) == {"scores.csv", "items.csv"}
    assert usual[0].facts["Seed"] == "3"


def test_ranks_are_two_sided_though_the_study_is_not(usual: Usual) -> None:
    findings, ((pairs, options),) = usual
    assert (set(pairs["alternative"]), set(pairs["n_items"]), set(pairs["unit"])) == ({"two-sided"}, {36}, {"cluster"})
    one_sided = findings.comparisons["p_value"]
    pd.testing.assert_series_equal(pairs["p_value"], (2 * one_sided).clip(upper=1), check_exact=False)
    assert options["alpha"] == 0.2


@pytest.mark.parametrize("n", [199, 200])
def test_points_are_all_pairs_or_two_hundred_that_are_not_decided(n: int) -> None:
    """Beside them one pair that is decided; a pair's confidence is 1 - p, or 0 against the better score."""
    pairs = pd.DataFrame({"system_a": [f"a{k:03}" for k in range(n + 1)], "system_b": "b", "p_value": 0.25})
    pairs = pairs.assign(gain=pairs.index, better=pairs["system_a"].where(pairs.index > 0, "b"))
    pairs.loc[n, "p_value"] = 0.0
    drawn = module._drawn(pairs)
    assert drawn["gain"].tolist() == [*range(200)]
    assert drawn["confidence"].tolist() == [0.0, *[0.75] * 198, 1.0 if n == 199 else 0.75]


def test_answers_are_of_what_is_shown_by_each_metric_at_the_studys_level(usual: Usual) -> None:
    """Eight of them, and how many more there are; pairs are counted after Holm's correction."""
    pairs, boards = (pd.concat([one, one.assign(metric="ap")], ignore_index=True)
                     for one in (usual[1][0][0], usual[0].tables["leaderboard"]))  # fmt: skip
    pairs["p_value"] = [0.002 * (k % 10) ** 2 + 0.5 * (metric == "ap") for k, metric in enumerate(pairs["metric"])]
    study = natural(alpha=0.2, test_sets=[{**TABLE, "name": name, "metric": ["mean", "ap"]} for name in NAMES])
    said = answers(study, boards, pairs)
    differ = next(k for k in range(10) if 0.002 * k**2 * (10 - k) > 0.2)
    assert said[8] == "And 6 more: leaderboard.csv and ranks.csv have all."
    ends = {"mean": f" {differ} of 10 pairs", "average precision": " 0 of 10 pairs"}
    told = [(f"{name} ({metric}): ", f"{end} differ significantly at 0.2 (two-sided, Holm).")
            for metric, end in ends.items() for name in NAMES]  # fmt: skip
    assert all(one.startswith(begin) and one.endswith(end) for one, (begin, end) in zip(said[:8], told, strict=False))
    shown = answers(study.model_copy(update={"shown": ["t 2"]}), boards, pairs)
    assert [one.partition(":")[0] for one in shown] == ["t 2 (mean)", "t 2 (average precision)"]
