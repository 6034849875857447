"""Fitted models beside held-out halves, by hand and on real test sets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.correlation import correlation
from simstudy.outputs import Outputs
from simstudy.truth import clustered_accuracies, correlated_accuracies, fit
from simstudy.truth.redrawn import halves
from tests.experiments.programs import program
from tests.oracles import compared

module, summary = program("fitted_truth", "held_out"), program("fitted_truth", "tables").summary

EIGHT = np.linspace(0.5, 0.75, 8).tolist()


def held_out(outputs: Outputs, n_draws: int, n_resamples: int = 2000, seed: int = 0) -> pd.DataFrame:
    """The tables of several splits."""
    splits = (module.held_out_split(outputs, draw, n_resamples=n_resamples, seed=seed) for draw in range(n_draws))
    return pd.concat([split.table for split in splits], ignore_index=True)


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
    table = module.held_out_split(outputs, 2, n_resamples=99, seed=5).table.set_index("measure")
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
    assert module.distance(real, real) == 0
    assert module.distance(real, higher) == pytest.approx(0.1)
    assert module.distance(real, lower) == pytest.approx(0.25)
    # Gains below 1 - 0.005 confidence are 0 … 9; the other curve is from 4.5 on, and from there on flat.
    flat = pd.DataFrame({"gain": [20.0, 4.5], "confidence": [0.2, 0.2]})
    places = np.linspace(0, 9, 25)
    assert module.distance(real, flat) == pytest.approx(np.abs(places[places >= 4.5] / 10 - 0.2).mean())
    short = pd.DataFrame({"gain": [-3.0, 5.2], "confidence": [0.2, 0.2]})
    assert module.distance(real, short) == pytest.approx(np.abs(places[places <= 5.2] / 10 - 0.2).mean())
    assert np.isnan(module.distance(real, pd.DataFrame({"gain": [12.0, 13], "confidence": [0.2, 0.2]})))
    assert np.isnan(module.distance(real, real.head(0)))
    assert np.isnan(module.distance(real.assign(confidence=1.0), real))


def test_each_split_is_told_its_draw_and_everything_that_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the distances of curves are those of the fitted half and of the training half."""
    outputs, asked = correlated_accuracies(EIGHT[:3], 40), []
    compare = ss.compare

    def recorded(half: Outputs, **options: Any) -> Any:
        asked.append(options)
        return compare(half, **options)

    monkeypatch.setattr(ss, "compare", recorded)
    monkeypatch.setattr(module, "distance", lambda real, other: float(other["gain"].sum() - real["gain"].sum()))
    lines = iter(pd.DataFrame({"gain": [g], "confidence": [0.5]}) for g in (1.0, 20.0, 300.0) * 2)
    monkeypatch.setattr(ss.comparisons, "curve", lambda pairs: next(lines))
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
    found = summary(table).set_index("measure")
    assert (found.loc[["r12", "curve"], "ratio"] < 2).all()
    assert abs(found.loc["r12", "bias"]) < 0.04
    assert abs(found.loc["significant", "bias"]) < 0.03


def test_held_out_halves_of_the_models_own_law_are_as_near_as_real_halves() -> None:
    true = np.linspace(0.6, 0.75, 14).tolist()
    table = held_out(correlated_accuracies(true, 800, between=0.5), n_draws=2, n_resamples=500)
    assert table["measure"].tolist() == [*module.COMPARED] * 2
    found = summary(table).set_index("measure")
    assert abs(found.loc["r12", "bias"]) < 0.08
    assert found.loc["curve", "fitted_error"] < 0.12


def test_the_model_is_fitted_to_one_half_and_each_seed_and_draw_has_a_fitted_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 41 items: 20 to fit, 21 that are drawn. The same law is drawn from every time: same answers are one draw."""
    outputs = correlated_accuracies([0.5, 0.6, 0.7], 41)
    law, seen, drawn = fit(outputs).model, [], []

    def draw(n_items: int, *, seed: int) -> Outputs:
        found = law.outputs(n_items, seed=seed)
        drawn.append((n_items, found.statistics.tobytes()))
        return found

    def fitting(half: Outputs) -> Any:
        seen.append(half.fingerprint())
        return SimpleNamespace(model=SimpleNamespace(outputs=draw))

    monkeypatch.setattr(module, "fit", fitting)
    for seed in (0, 0, 1):
        held_out(outputs, n_draws=2, n_resamples=9, seed=seed)
    assert seen == [halves(outputs, draw, seed=seed)[0].fingerprint() for seed in (0, 0, 1) for draw in (0, 1)]
    assert {n_items for n_items, _ in drawn} == {21}
    assert drawn[:2] == drawn[2:4], "the same seed draws the same"
    assert len(set(drawn)) == 4


def test_halves_that_agree_but_for_rounding_are_no_noise_to_measure_by() -> None:
    table = pd.DataFrame({"measure": ["threshold"] * 2 + ["curve"] * 2, "fitted_error": [0.4, 0.6, 0.02, 0.03]})
    table = table.assign(real=[8.4, 8.4, np.nan, np.nan], training=[8.4, 8.4, np.nan, np.nan], fitted=np.nan)
    found = summary(table.assign(halves_error=[0.0, 1e-14, 0.01, 0.02])).set_index("measure")
    assert np.isnan(found["ratio"]["threshold"])
    assert found["ratio"]["curve"] == pytest.approx(np.sqrt((0.02**2 + 0.03**2) / (0.01**2 + 0.02**2)))
    assert found["bias"].tolist() == pytest.approx([0.5, 0.025])
