"""The study planning_validation: its halves and tables, on simulated sets."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from tests.experiments.programs import program

halves, tables = (program("planning_validation", part) for part in ("halves", "tables"))


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    return ss.truth.clustered_accuracies([0.6 + k / 30 for k in range(8)], 60, 4, within=0.2, between=0.5)


Recorded = list[tuple[ss.Outputs, dict[str, tuple[int, Any]], int, int]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    """What is predicted from which outputs, in place of predictions; an outcome is its outputs and resamples."""
    seen: Recorded = []

    def beside(source: ss.Outputs, targets: Any, n_draws: int, seed: int) -> list[dict[str, Any]]:
        seen.append((source, targets, n_draws, seed))
        return [{"target": of} for of in targets]

    for module in (halves, program("planning_validation")):
        monkeypatch.setattr(module, "beside", beside)
        monkeypatch.setattr(module, "outcome", lambda outputs, n_resamples: (outputs, n_resamples))
    return seen


def test_a_split_predicts_one_half_and_a_half_of_it_from_the_other_one(outputs: ss.Outputs, asked: Recorded) -> None:
    """And from small parts of that one, which are at most half of it."""

    def clusters(part: ss.Outputs) -> frozenset[str]:
        return frozenset(part.items["cluster"])

    rows = halves.split(outputs, [0, 1], [10, 15, 16], 100, 200, 7)
    parts = {"half": 30, "10 units": 10, "15 units": 15}
    assert [[row[name] for name in ("draw", "source", "units_of_source", "target")] for row in rows] == [
        [draw, name, n, of]
        for draw in (0, 1)
        for name, n in parts.items()
        for of in (["half", "half of it"] if name == "half" else ["half"])
    ]
    for place, (source, targets, n_draws, seed) in enumerate(asked):
        first, second = clusters(asked[place // 3 * 3][0]), clusters(targets["half"][1][0])
        assert first == clusters(outputs) - second
        assert clusters(source) <= first
        assert len(clusters(source)) == [*parts.values()][place % 3]
        sizes = [(of, n, shown[1]) for of, (n, shown) in targets.items()]
        assert sizes == [("half", 30, 200), ("half of it", 15, 200)][: len(targets)]
        assert len(targets) == 1 or clusters(targets["half of it"][1][0]) < second
        assert (n_draws, seed) == (100, 7)
    halves.split(outputs, [0], [], 100, 200, 8)
    assert len({clusters(asked[place][0]) for place in (0, 3, 6)}) == 3, "each draw and seed has halves of its own"


def test_a_transfer_is_planned_for_as_many_items_as_the_target_has(outputs: ss.Outputs, asked: Recorded) -> None:
    """Documents of four items, and items without documents: 120 items are 30 documents, 60 documents 240 items."""
    items = ss.truth.correlated_accuracies([0.6 + k / 30 for k in range(8)], 120, test_set="items")
    transfer = program("planning_validation").transfer
    for target, source, n_units in ((items, outputs, 30), (outputs, items, 240)):
        (row,) = transfer(100, 99, 5, target, source)
        assert row == {"source": source.test_set, "metric": "accuracy", "target": target.test_set}
        assert asked.pop() == (source, {target.test_set: (n_units, (target, 99))}, 100, 5)


def test_predictions_are_of_all_pairs_and_of_the_targets_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval of a detectable gain joins the errors of both, which are ln 2 and ln 4 here."""
    ends = ("low80", "high80", "low95", "high95")
    names = [name for m in halves.MEASURES for name in (m, *(f"{m}_{end}" for end in ends))]
    frame = pd.DataFrame(np.arange(4.0 * len(names)).reshape(4, -1), columns=names)
    frame = frame.assign(relation=["x", "all pairs"] * 2, n_units=[8, 8, 4, 4])
    planned = {f"{halves.DETECTABLE}{end}": value for end, value in (("", 6.0), ("_low", 2.0), ("_high", 8.0))}
    wanted = (("source", [4, 8]), {"n_draws": 100, "seed": 5})
    monkeypatch.setattr(halves, "predict", lambda *given, **more: frame if (given, more) == wanted else None)
    monkeypatch.setattr(halves, "detectable", lambda source, n: {name: v * n for name, v in planned.items()})
    shown = dict(zip((*halves.MEASURES, *planned), (0.1, 0.2, 0.3, 0.4, 0.5, 3.0, 1.0, 16.0), strict=True))
    rows = pd.DataFrame(halves.beside("source", {"a": (4, shown), "b": (8, shown)}, 100, 5))
    assert rows["target"].tolist() == ["a"] * 6 + ["b"] * 6
    for row in rows.to_dict("records"):
        assert row["n_units"] == {"a": 4, "b": 8}[row["target"]]
        assert row["observed"] == shown[row["measure"]]
        found = [row[name] for name in ("predicted", *ends)]
        if row["measure"] == halves.DETECTABLE:
            middle, reach = 6.0 * row["n_units"], np.exp(np.hypot(np.log(2), np.log(4)))
            assert found == pytest.approx([middle, np.nan, np.nan, middle / reach, middle * reach], nan_ok=True)
        else:
            own = frame[(frame["relation"] == "all pairs") & (frame["n_units"] == row["n_units"])].iloc[0]
            assert found == [own[row["measure"]], *(own[f"{row['measure']}_{end}"] for end in ends)]


def test_a_detectable_gain_shrinks_with_the_root_of_the_units(outputs: ss.Outputs) -> None:
    """It is near 2.8 standard errors, which are those of clusters."""
    few, many = (halves.detectable(outputs, n) for n in (60, 960))
    ratios = [few[name] / many[name] for name in few]
    assert ratios == pytest.approx([4] * 3, rel=0.02)
    sums = outputs.sum_by("cluster").statistics[..., 0]
    errors = [100 * (sums[i] - sums[j]).std(ddof=1) / 4 / np.sqrt(60) for i in range(8) for j in range(i)]
    assert few[halves.DETECTABLE] == pytest.approx(2.8 * np.median(errors), rel=0.05)
    assert few[f"{halves.DETECTABLE}_low"] < few[halves.DETECTABLE] < few[f"{halves.DETECTABLE}_high"]


def test_errors_and_calibration_are_means_over_splits_and_sets(rng: np.random.Generator) -> None:
    """By a loop over random rows of three sets, two sources, two targets and two measures; some have no interval."""
    keys = ["test_set", "metric", "source", "target", "measure"]
    values = [["a", "b", "c"], ["accuracy"], ["half", "9 units"], ["half", "part"], ["ranks", "threshold"]]
    rows = pd.DataFrame([key for key in product(*values) for _ in range(3)], columns=keys)
    rows = rows.assign(**{name: rng.random(len(rows)) for name in ("predicted", "observed", "ratio")})
    for inside in ("inside80", "inside95"):
        rows[inside] = rng.choice([0.0, 1.0, np.nan], len(rows), p=[0.4, 0.4, 0.2])
    rows["n_units"] = np.arange(len(rows)) // 3
    found = tables.errors(rows)
    assert found[keys].to_numpy().tolist() == [list(key) for key in product(*values)]
    for k, row in found.iterrows():
        own = rows.iloc[3 * k : 3 * k + 3]
        assert (row["n_units"], row["n_splits"], row["ratio"]) == (k, 3, np.median(own["ratio"]))
        means = ["predicted", "observed", "inside80", "inside95"]
        assert row[means].tolist() == pytest.approx(own[means].mean().tolist(), nan_ok=True)
    calibration = tables.calibration(rows)
    assert calibration[keys[2:]].to_numpy().tolist() == [list(key) for key in product(*values[2:])]
    for row in calibration.to_dict("records"):
        own = rows[(rows[keys[2:]] == [row[key] for key in keys[2:]]).all(axis=1)]
        for level in (80, 95):
            known = own.dropna(subset=[f"inside{level}"])
            shares = [known[known["test_set"] == name][f"inside{level}"].mean() for name in set(known["test_set"])]
            mean, half = np.mean(shares), 1.96 * np.std(shares, ddof=1) / np.sqrt(len(shares))
            assert [row[f"share{level}{end}"] for end in ("", "_low", "_high")] == pytest.approx(
                [mean, max(0, mean - half), min(1, mean + half)]
            )
            assert row[f"worst{level}"] == min(shares)
        assert (row["n_sets"], row["n_outcomes"]) == (len(shares), len(known))


def test_what_is_inside_is_counted_and_what_is_unknown_is_not() -> None:
    rows = pd.DataFrame(
        {
            "test_set": ["a", "a", "b", "b", "b"], "metric": "accuracy", "source": "half", "target": "half",
            "measure": "ranks",
            "n_units": 9, "predicted": [2.0, 2.0, 2.0, np.nan, 2.0], "observed": [2.0, 5.0, 1.0, 1.0, np.nan],
            "low80": [1.0, 1.0, 1.0, np.nan, 1.0], "high80": [3.0, 3.0, 3.0, np.nan, 3.0],
            "low95": [0.0, 0.0, 0.0, np.nan, 0.0], "high95": [4.0, 5.0, 4.0, np.nan, 4.0],
        }
    )  # fmt: skip
    judged = tables.judged(rows)
    assert judged["inside80"].tolist()[:3] == [1.0, 0.0, 1.0]
    assert judged[["inside80", "inside95"]].iloc[3:].isna().all(axis=None), "no interval, or no outcome"
    assert judged["ratio"].tolist()[:3] == [1.0, 0.4, 2.0]
