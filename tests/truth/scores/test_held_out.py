"""Fitted models beside held-out halves, by hand and on real test sets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.correlation import correlation
from simstudy.outputs import Outputs
from simstudy.truth.redrawn import halves
from simstudy.truth.scores import held_out as module
from simstudy.truth.scores import held_out_split, held_out_summary
from simstudy.truth.synthetic import clustered_accuracies, correlated_accuracies
from tests.oracles import compared, held_out

EIGHT = np.linspace(0.5, 0.75, 8).tolist()


def by_hand(half: Outputs, n_resamples: int, seed: int) -> dict[str, float]:
    pairs = compared(half, n_resamples=n_resamples, monte_carlo=True, seed=seed)
    ahead = (pairs["gain"] > 0) & pairs["p_value"].between(0.04, 0.06)
    units = half if half.natural_unit == "item" else half.sum_by("cluster")
    gains = pairs["gain"][ahead]
    return {
        "r12": float(correlation(units)["r12"].median()),
        "significant": float((pairs["p_value"] <= 0.05).mean()),
        "threshold": float(np.percentile(gains, 95)) if len(gains) >= 20 else np.nan,
    }


@pytest.mark.parametrize(
    "outputs", [correlated_accuracies(EIGHT, 120, seed=2), clustered_accuracies(EIGHT[:5], 30, 5, within=0.4, seed=2)]
)
def test_each_half_is_measured_by_its_own_pairs_and_units(outputs: Outputs) -> None:
    table = held_out_split(outputs, 2, n_resamples=99, seed=5).table.set_index("measure")
    training, real = halves(outputs, 2, seed=5)
    for column, half in (("training", training), ("real", real)):
        expected = by_hand(half, 99, 5)
        assert table[column][list(expected)].to_dict() == pytest.approx(expected, nan_ok=True)
    assert table["real"]["r12"] != table["training"]["r12"] != table["fitted"]["r12"]
    numbers = table.drop("curve")
    for column, part in (("fitted_error", "fitted"), ("halves_error", "training")):
        assert numbers[column].to_numpy() == pytest.approx((numbers[part] - numbers["real"]).to_numpy(), nan_ok=True)


def test_thresholds_are_percentiles_of_twenty_gains_or_none() -> None:
    """Of 50 systems near each other many pairs have p near 0.05."""
    outputs = correlated_accuracies(np.linspace(0.6, 0.72, 50).tolist(), 300, between=0.2, seed=1)
    found = module._measured(outputs, 199, 3)[0]
    assert found == pytest.approx(by_hand(outputs, 199, 3))
    assert found["threshold"] > 0


def test_curves_are_apart_by_their_vertical_distance_where_both_are_and_the_real_one_rises() -> None:
    """Straight lines: one by one, a tenth higher; twice as steep; one that has come to its end."""
    gains = np.arange(0.0, 11)
    real = pd.DataFrame({"gain": gains, "confidence": np.minimum(gains / 10, 1.0)})
    higher = real.assign(confidence=real["confidence"] + 0.1)
    lower = real.assign(confidence=real["confidence"] - 0.25)
    assert module._apart(real, real) == 0
    assert module._apart(real, higher) == pytest.approx(0.1)
    assert module._apart(real, lower) == pytest.approx(0.25)
    # Gains below 1 - 0.005 confidence are 0 … 9; the other curve is from 4.5 on, and from there on flat.
    flat = pd.DataFrame({"gain": [20.0, 4.5], "confidence": [0.2, 0.2]})
    places = np.linspace(0, 9, 25)
    assert module._apart(real, flat) == pytest.approx(np.abs(places[places >= 4.5] / 10 - 0.2).mean())
    short = pd.DataFrame({"gain": [-3.0, 5.2], "confidence": [0.2, 0.2]})
    assert module._apart(real, short) == pytest.approx(np.abs(places[places <= 5.2] / 10 - 0.2).mean())
    assert np.isnan(module._apart(real, pd.DataFrame({"gain": [12.0, 13], "confidence": [0.2, 0.2]})))
    assert np.isnan(module._apart(real, real.head(0)))
    assert np.isnan(module._apart(real.assign(confidence=1.0), real))


def test_each_split_is_told_its_draw_and_everything_that_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the distances of curves are those of the fitted half and of the training half."""
    outputs, asked = correlated_accuracies(EIGHT[:3], 40), []
    compare = module.compare  # type: ignore[attr-defined]

    def recorded(half: Outputs, **options: Any) -> Any:
        asked.append(options)
        return compare(half, **options)

    monkeypatch.setattr(module, "compare", recorded)
    monkeypatch.setattr(module, "_apart", lambda real, other: float(other["gain"].sum() - real["gain"].sum()))
    lines = iter(pd.DataFrame({"gain": [g], "confidence": [0.5]}) for g in (1.0, 20.0, 300.0) * 2)
    monkeypatch.setattr(module, "curve", lambda pairs: next(lines))
    table = held_out(outputs, n_draws=2, n_resamples=19, seed=8)
    assert asked == [{"n_resamples": 19, "monte_carlo": True, "seed": 8}] * 6
    assert table["draw"].tolist() == [0] * 4 + [1] * 4
    curves = table[table["measure"] == "curve"]
    # Curves are drawn of the real half, the training half and the fitted one, in this order.
    assert curves["halves_error"].tolist() == [19.0, 19.0]
    assert curves["fitted_error"].tolist() == [299.0, 299.0]


def _swe_bench(folder: Path) -> Outputs:
    table = pd.read_csv(folder / "swebench" / "swebench_verified.csv.gz")
    return Outputs.from_scores(table.pivot(index="instance_id", columns="system", values="resolved"), "accuracy")


def _parsers(folder: Path) -> Outputs:
    table = pd.read_csv(folder / "conll2018_ud" / "en_pud.csv.gz")
    names = [name for name in (c[:-2] for c in table if c.endswith(":n")) if table[f"{name}:las"].sum() > 0]
    columns = [table[[f"{name}:las", f"{name}:n", "n_gold"]].to_numpy() for name in names]
    return Outputs.from_statistics(np.stack(columns), "las", names)


@pytest.mark.slow
@pytest.mark.parametrize("load", [_swe_bench, _parsers], ids=["accuracy", "las"])
def test_fitted_test_sets_are_nearly_as_near_as_real_halves(load: object, shared_data: Path) -> None:
    """Twice as far off at most: 1.22 is what noise makes of it, and three halves tell a ratio poorly."""
    table = held_out(load(shared_data), n_draws=3)  # type: ignore[operator]
    summary = held_out_summary(table).set_index("measure")
    assert (summary.loc[["r12", "curve"], "ratio"] < 2).all()
    assert abs(summary.loc["r12", "bias"]) < 0.04
    assert abs(summary.loc["significant", "bias"]) < 0.03
