"""What a calibration is held against: random halves of the home test set, with settings of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.calibration import calibration
from simstudy.outputs import Outputs, TestSet
from simstudy.running.fingerprints import derived_seed
from simstudy.studies import Comparison, RunContext, baselines
from simstudy.studies.baselines import at_least, baseline, compare_redrawn, n_units, with_baseline
from simstudy.truth import correlated_accuracies
from simstudy.truth.redrawn import halves as halved
from simstudy.truth.redrawn import redraw
from tests.oracles import compared


@pytest.fixture
def outputs(rng: np.random.Generator) -> Outputs:
    """Three systems on 21 items in seven clusters."""
    right = (rng.random((3, 21)) < np.array([0.4, 0.6, 0.8])[:, None]).astype(int)
    items = pd.DataFrame({"id": [f"i{k}" for k in range(21)], "cluster": [f"c{k // 3}" for k in range(21)]})
    return Outputs.from_statistics(np.stack([right, np.ones_like(right)], axis=-1), "accuracy", items=items)


Asked = list[tuple[str, list[TestSet]]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The comparisons that are asked for, made by a test that draws nothing."""
    found: Asked = []

    def compare(title: str, test_sets: list[TestSet], _: object) -> list[pd.DataFrame]:
        found.append((title, test_sets))
        return [compared(one.outputs, unit=one.unit, test="t_paired") for one in test_sets]

    monkeypatch.setattr(baselines, "run_comparisons", compare)
    return found


@pytest.mark.parametrize("unit", ["item", None])
def test_winners_of_one_half_are_followed_to_the_other(
    outputs: Outputs, asked: Asked, monkeypatch: pytest.MonkeyPatch, unit: str | None
) -> None:
    heard: dict[str, Any] = {}

    def calibration(pairs: pd.DataFrame, elsewhere: Any, **options: Any) -> pd.DataFrame:
        heard.update(pairs=pairs, elsewhere=elsewhere, options=options)
        return pairs

    monkeypatch.setattr(baselines, "calibration", calibration)
    home = Comparison(test="bootstrap", n_resamples=500_000, unit=unit, alternative="greater").on(outputs, 4)
    baseline(home, {"near": 9, "far": 1000}, n_splits=3, context=RunContext(Path(), 1), relation="one", min_pairs=2)
    ((title, halves),) = asked
    assert title == "halves of the home test set"
    assert len(halves) == 3
    for draw, half in enumerate(halves, start=1):
        assert half.unit == unit
        assert half.settings == {
            **home.settings, "n_resamples": 100_000, "seed": derived_seed(4, "halves", draw) % 2**64,
        }  # fmt: skip
        wanted, _ = halved(outputs, draw, unit=unit, seed=4)
        assert half.outputs.fingerprint() == wanted.fingerprint()
        mine = set(half.outputs.items["id"])
        # The other half, of which as many items stand for each test set as half of it: whole units, or all.
        near, far = (set(heard["elsewhere"][name][draw].items["id"]) for name in ("near", "far"))
        assert not mine & far
        assert mine | far == set(outputs.items["id"])
        assert near < far
        assert len(near) == (5 if unit == "item" else 6)
    pairs = heard["pairs"]
    assert pairs["draw"].tolist() == [1] * 3 + [2] * 3 + [3] * 3
    assert set(pairs["n_items"]) == {10}
    assert set(pairs["relation"]) == {"one"}
    assert heard["options"] == {"seed": 4, "min_pairs": 2}


@pytest.mark.parametrize(
    ("test", "given", "drawn"),
    [
        ("bootstrap", 500, 500), ("bootstrap", None, 100_000), ("bootstrap", 100_001, 100_000),
        ("t_paired", None, None),
    ],
)  # fmt: skip
def test_halves_are_not_compared_with_more_resamples_than_bins_need(
    outputs: Outputs, asked: Asked, test: str, given: int | None, drawn: int | None
) -> None:
    home = Comparison(test=test, n_resamples=given).on(outputs, 4)
    table = baseline(home, {"near": 9}, n_splits=2, context=RunContext(Path(), 1), min_pairs=1, bins=[0.0, 1.0])
    assert [one.settings["n_resamples"] for one in asked[0][1]] == [drawn] * 2
    assert set(table["elsewhere"]) == {"near"}


def test_a_test_set_of_too_few_units_has_no_halves(
    outputs: Outputs, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of four units it has; the table of fewer has the columns that are looked for, and no row."""
    monkeypatch.setattr(baselines, "calibration", lambda pairs, *_, **__: pairs)
    columns = {"relation", "elsewhere", "p_from", "p_to", "share", "low", "high", "n_items_elsewhere"}
    for n, unit, compares in ((3, "item", False), (4, "item", True), (9, None, False), (12, None, True)):
        home = Comparison(unit=unit).on(outputs.head(n), 0)
        assert n_units(home) == (n if unit else n // 3)
        asked.clear()
        table = baseline(home, {"near": 9}, n_splits=1, context=RunContext(Path(), 1))
        assert bool(asked) == bool(len(table)) == compares
        assert compares or set(table) == columns


def test_redrawn_test_sets_keep_all_settings_but_the_seed(outputs: Outputs, asked: Asked) -> None:
    population = Comparison(test="bootstrap", n_resamples=70, alternative="greater", unit="item").on(outputs, 4)
    table = compare_redrawn(population, 12, 2, RunContext(Path(), 1))
    ((title, drawn),) = asked
    assert title == "redrawn test sets"
    for draw, one in enumerate(drawn, start=1):
        assert one.options == {**population.options, "seed": derived_seed(4, "redrawn", draw) % 2**64}
        assert one.outputs.fingerprint() == redraw(outputs, 12, draw, unit="item", seed=4).fingerprint()
    assert table["draw"].tolist() == [1] * 3 + [2] * 3


def test_a_baseline_is_that_of_its_own_bin_class_and_test_set() -> None:
    """Rows of two classes, test sets and bins of one lower bound, in another order, and one that has no baseline."""
    keys = [(r, e, low, high) for r in "xy" for e in ("near", "far") for low, high in ((0, 0.1), (0, 0.2), (0.1, 0.2))]
    names = ["relation", "elsewhere", "p_from", "p_to"]
    numbers = np.random.default_rng(1).uniform(0, 1, (len(keys), 4))
    table = pd.DataFrame(keys, columns=names).assign(share=numbers[:, 0], low=0.1, high=0.9, n_items_elsewhere=5)
    own = pd.DataFrame(keys, columns=names).assign(
        share=numbers[:, 1], low=numbers[:, 2], high=numbers[:, 3], n_items_elsewhere=range(len(keys))
    )
    found = with_baseline(table, own.iloc[:0:-1])
    pd.testing.assert_frame_equal(found[table.columns], table)
    baseline = found[["baseline", "baseline_low", "baseline_high", "n_items_baseline"]]
    assert baseline.iloc[0].isna().all()
    np.testing.assert_array_equal(baseline.iloc[1:, :3], numbers[1:, 1:])
    assert baseline["n_items_baseline"].iloc[1:].tolist() == list(range(1, len(keys)))


def of_halves(outputs: Outputs, n_items: int, n_splits: int) -> pd.DataFrame:
    """Calibration on halves of a test set, winners followed on n_items of the other half."""
    parts = {draw: halved(outputs, draw, seed=3) for draw in range(n_splits)}
    pairs = pd.concat([compared(one).assign(draw=draw, relation="all pairs") for draw, (one, _) in parts.items()])
    there = {draw: at_least(other, n_items) for draw, (_, other) in parts.items()}
    return calibration(pairs, {"there": there}, bins=[0, 0.02, 0.2, 1])


@pytest.mark.slow
@pytest.mark.statistical
def test_where_no_domain_changes_the_baseline_is_the_share() -> None:
    """Home and elsewhere are samples of one population: what is lost, sampling error takes, and the baseline says so.

    The naive baseline, winners followed on the very items that made them winners, would claim a loss.
    """
    rng = np.random.default_rng(11)
    gaps = {"share": [], "expected": [], "naive": []}
    for k in range(12):
        true = list(0.7 + 0.02 * rng.standard_normal(20))
        home = correlated_accuracies(true, 1000, between=0.6, within=0.6, seed=2 * k)
        there = correlated_accuracies(true, 400, between=0.6, within=0.6, seed=2 * k + 1)
        pairs = compared(home).assign(relation="all pairs")
        found = calibration(pairs, {"there": there}, bins=[0, 0.02, 0.2, 1])
        table = with_baseline(found, of_halves(home, 200, 6)).set_index("p_to")
        naive = calibration(pairs, {"there": home.head(400)}, bins=[0, 0.02, 0.2, 1]).set_index("p_to")
        gaps["share"].append(table["share"] - table["baseline"])
        gaps["expected"].append(table["share"] - table["expected"])
        gaps["naive"].append(table["share"] - naive["share"])
    middle = {name: pd.concat(found, axis=1).loc[0.2] for name, found in gaps.items()}
    for name in ("share", "expected"):
        error = middle[name].std() / np.sqrt(12)
        assert abs(middle[name].mean()) < max(4 * error, 0.02), name
    assert middle["naive"].mean() < -0.05
