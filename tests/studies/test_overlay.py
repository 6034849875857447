"""Natural pairs on the curve of others: distances that are known, and how often their intervals hold the truth."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.studies.resampling.overlay import curve_distances
from tests.comparisons.collections import Population, pairs_of
from tests.comparisons.made_up import made_up

RESAMPLES = {"n_bootstrap": 37, "seed": 5}


def made(se: float, *, n_systems: int = 20, shift: float = 0.0, **columns: Any) -> pd.DataFrame:
    """Pairs of systems whose scores lie 0.1, 0.2, 0.3 … apart, all gains with one standard error."""
    names = [f"s{k:02}" for k in range(n_systems)]
    rows = [(a, b, 0.1 * (j - i)) for i, a in enumerate(names) for j, b in enumerate(names) if i < j]
    pairs = pd.DataFrame(rows, columns=["system_a", "system_b", "gain"])
    confidence = np.minimum(2 * stats.norm.cdf(pairs["gain"] / se) - 1 + shift, 1.0)
    given: dict[str, Any] = {
        "task": "t", "test_set": "s", "n_items": 100, "metric": "mean", "test": "sign_flips", "unit": "item",
        "alternative": "two-sided", "convention": "default", "relation": "all pairs", "gain_se": se,
    }  # fmt: skip
    return pairs.assign(**{"p_value": 1 - confidence, **given, **columns})


def test_gains_of_twice_the_standard_error_are_twice_as_large() -> None:
    row = curve_distances(made(1.0), made(0.5)).iloc[0]
    assert row["gain_ratio"] == pytest.approx(2)
    assert row["ratio_low"] == pytest.approx(2), "all standard errors are alike, whichever systems there are"
    assert row["ratio_high"] == pytest.approx(2)
    # At a gain of g the confidences are erf(g / sqrt 2) and erf(2 g / sqrt 2); their difference at the median gain.
    gains = made(1.0)["gain"]
    gains = gains[gains <= row["gain_to"]]
    off = (2 * stats.norm.cdf(gains) - 1) - (2 * stats.norm.cdf(2 * gains) - 1)
    assert row["difference"] == pytest.approx(np.median(off), abs=0.01)
    assert row["n_pairs"] == len(gains)


def test_nothing_is_compared_where_the_others_are_sure() -> None:
    """The others' confidence is 0.99 at 2.576 standard errors, by the normal distribution."""
    row = curve_distances(made(1.0, n_systems=40), made(1.0, n_systems=40)).iloc[0]
    assert row["gain_to"] == pytest.approx(2.576, abs=0.12)
    gains = made(1.0, n_systems=40)["gain"]
    assert row["n_pairs"] == (gains <= row["gain_to"]).sum() < len(gains)


@pytest.mark.slow
@pytest.mark.statistical
def test_intervals_hold_the_distance_of_very_many_systems() -> None:
    """Natural systems of families of their own, over variants of three base models, on the same 300 items.

    The truth is that of 400 natural systems and of 600 variants of the same three families.
    """
    rounds, asked = 120, {"test": "t_paired", "unit": "item", "convention": "default"}
    held = {"difference": [], "gain_ratio": []}  # type: ignore[var-annotated]
    for k in range(rounds):
        rng = np.random.default_rng([k, 14])
        population = Population(rng, 300, kin=True)
        three = population.families(3)

        def pairs(families: Any, codes: np.ndarray, population: Population = population) -> pd.DataFrame:
            found = pairs_of(*population.systems(families, codes), codes).assign(**asked)
            return found[found["relation"] == "different families"]

        many = pairs(population.families(400), np.arange(400)), pairs(three, np.repeat(np.arange(3), 200))
        some = pairs(population.families(26), np.arange(26)), pairs(three, np.repeat(np.arange(3), 25))
        truth, row = curve_distances(*many, n_bootstrap=1).iloc[0], curve_distances(*some, n_bootstrap=200).iloc[0]
        held["difference"].append(row["low"] <= truth["difference"] <= row["high"])
        held["gain_ratio"].append(row["ratio_low"] <= truth["gain_ratio"] <= row["ratio_high"])
    shares = {name: float(np.mean(values)) for name, values in held.items()}
    print(shares)
    assert all(share >= 0.90 for share in shares.values())


def test_who_is_held_against_whom() -> None:
    """Pairs up to the gain that is named, that one with them; what either interval speaks for; whose note it is."""
    ours = made(1.0, n_systems=12)
    row = curve_distances(ours, made(1.0, n_systems=30, p_value=0.4)).iloc[0]
    assert (row["n_pairs"], row["n_others"]) == (66, 435)
    # All others have one gain: pairs of that gain are held against them, larger ones are not.
    flat = made(1.0, n_systems=9).assign(gain=0.5)
    row = curve_distances(ours, flat).iloc[0]
    assert (row["n_pairs"], row["gain_to"], row["n_others"]) == (11 + 10 + 9 + 8 + 7, 0.5, 36)
    family = {f"s{k:02}": f"f{k % 2}" for k in range(40)}
    kin = made(1.0, n_systems=40).assign(family_a=lambda t: t["system_a"].map(family))
    kin = kin.assign(family_b=kin["system_b"].map(family))
    row = curve_distances(ours, kin).iloc[0]
    found = (row["interval_for"], row["others_interval_for"], row["note"])
    assert found == ("other systems", "other variants of these families", "")
    row = curve_distances(ours, made(1.0, n_systems=9).assign(family_a="x", family_b="x")).iloc[0]
    assert row[["interval_for", "others_interval_for"]].tolist() == ["other systems", ""]
    assert row["note"].startswith("too few systems for an interval: 9 of 1 ")
    assert row[["low", "high", "ratio_low", "ratio_high"]].isna().all()


@pytest.mark.parametrize("n", [19, 20])
def test_twenty_pairs_are_enough_on_either_side(n: int) -> None:
    row = curve_distances(made(1.0).head(n).assign(gain=0.1), made(1.0)).iloc[0]
    assert (row["n_pairs"], np.isnan(row["difference"])) == (n, n < 20)
    row = curve_distances(made(1.0), made(1.0).head(n)).iloc[0]
    assert (row["n_others"], np.isnan(row["difference"])) == (n, n < 20)
    unknown = made(1.0).assign(gain=0.1, gain_se=[1.0] * n + [0.0] * (190 - n))
    assert curve_distances(unknown, made(1.0)).iloc[0]["n_pairs"] == n, "pairs without a standard error are left out"


def test_what_prefers_the_other_system_is_no_confidence_on_either_side() -> None:
    """Of one table nine in ten tests speak for the system behind: their confidence is 0, and never sure."""
    pairs = made(1.0, p_value=0.003)
    whose = np.where(np.arange(len(pairs)) % 10, pairs["system_b"], pairs["system_a"])
    against, level = pairs.assign(better=whose), made(1.0, p_value=0.4)
    assert curve_distances(against, level).iloc[0]["difference"] == pytest.approx(-0.6)
    row = curve_distances(level, against).iloc[0]
    assert row["difference"] == pytest.approx(0.6)
    assert row["gain_to"] > curve_distances(level, pairs).iloc[0]["gain_to"]


def drawn(n: int, seed: int = 5) -> np.ndarray:
    """How often each of n is there."""
    return np.random.default_rng(seed).multinomial(n, [1 / n] * n, size=37)


def all_pairs(k: int, prefix: str = "s", **columns: object) -> pd.DataFrame:
    two = pd.DataFrame(list(combinations([f"{prefix}{n:02}" for n in range(k)], 2)), columns=["system_a", "system_b"])
    key = made_up(0).iloc[0][["task", "test_set", "n_items", "metric", "test", "alternative", "unit", "convention"]]
    return two.assign(**{**key.to_dict(), "relation": "all", "gain": 1.0, "gain_se": 1.0, "p_value": 0.5, **columns})


def weighted_medians(values: np.ndarray, k: int, seed: int) -> list[float]:
    i, j = np.triu_indices(k, 1)
    return [float(np.median(np.repeat(values, counts[i] * counts[j]))) for counts in drawn(k, seed)]


@pytest.mark.parametrize("k_others", [7, 25])
@pytest.mark.parametrize("which", ["pairs", "others"])
def test_distances_have_the_spread_of_either_collection(which: str, k_others: int) -> None:
    """Where those of one collection are all alike the spread is the other's, with the smaller one's degrees of freedom.

    All gains are equal: the running median is that of all pairs, which are all held against it.
    """
    rng = np.random.default_rng(7)
    k = 12
    n_pairs, n_others = k * (k - 1) // 2, k_others * (k_others - 1) // 2
    varied = {"gain_se": rng.uniform(0.5, 2, n_pairs), "p_value": rng.uniform(0.1, 0.9, n_pairs)}
    varied_others = {"gain_se": rng.uniform(0.5, 2, n_others), "p_value": rng.uniform(0.1, 0.9, n_others)}
    pairs = all_pairs(k, **(varied if which == "pairs" else {}))
    others = all_pairs(k_others, "o", n_items=77, test_set="there", **(varied_others if which == "others" else {}))
    row = curve_distances(pairs, others, **RESAMPLES).iloc[0]
    assert (row["n_pairs"], row["n_others"]) == (n_pairs, n_others)
    own, size, seed = (pairs, k, 5) if which == "pairs" else (others, k_others, 6)
    df = min(k, k_others) - 1
    for sign, values, names in (
        (1 if which == "pairs" else -1, np.log(own["gain_se"].to_numpy()), ("gain_ratio", "ratio_low", "ratio_high")),
        (-1 if which == "pairs" else 1, own["p_value"].to_numpy() - 0.5, ("difference", "low", "high")),
    ):
        middle, low, high = row[list(names)].astype(float)
        if names[0] == "gain_ratio":
            middle, low, high = np.log([middle, low, high])
        spread = np.std(weighted_medians(values, size, seed)) * np.sqrt(size / (size - 1))
        assert middle == pytest.approx(sign * np.median(values))
        assert [middle - low, high - middle] == pytest.approx([stats.t.ppf(0.975, df) * spread] * 2)
    assert (row["others_test_set"], row["others_n_items"], row["others_relation"]) == ("there", 77, "all")
    assert row[["task", "test_set", "n_items", "metric", "relation"]].tolist() == [
        *("tagging", "news", 300, "accuracy", "all")
    ]


def test_variants_of_two_families_are_drawn_within_these() -> None:
    """Twelve variants of two families have ten degrees of freedom, and vary by two less than they are."""
    rng = np.random.default_rng(7)
    pairs = all_pairs(12, gain_se=rng.uniform(0.5, 2, 66))
    family = {name: f"f{k % 2}" for k, name in enumerate(sorted({*pairs["system_a"], *pairs["system_b"]}))}
    pairs = pairs.assign(family_a=pairs["system_a"].map(family), family_b=pairs["system_b"].map(family))
    row = curve_distances(pairs, all_pairs(25, "o"), **RESAMPLES).iloc[0]
    assert row["interval_for"] == "other variants of these families"
    again, counts = np.random.default_rng(5), np.zeros((37, 12), dtype=int)
    for k in range(2):
        counts[:, k::2] = again.multinomial(6, [1 / 6] * 6, size=37)
    i, j = np.triu_indices(12, 1)
    medians = [np.median(np.repeat(np.log(pairs["gain_se"]), one[i] * one[j])) for one in counts]
    half = stats.t.ppf(0.975, 10) * np.std(medians) * np.sqrt(12 / 10)
    assert np.log(row["ratio_high"] / row["gain_ratio"]) == pytest.approx(half)
