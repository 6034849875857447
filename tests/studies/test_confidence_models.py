"""What foretells p: pairs whose p-values follow the model exactly, and what is said where they are few."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from simstudy.studies.resampling.confidence_models import FORMULA, confidence_models

SIZES = (100, 400, 1600)


def exact(n_systems: int = 20, seed: int = 3) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs with p = 1 - Phi(gain / s), s = 3 sqrt(2 (1 - r12) / n); the winner of a pair changes from size to size."""
    rng = np.random.default_rng(seed)
    names = [f"s{k}" for k in range(n_systems)]
    known = pd.DataFrame(combinations(names, 2), columns=["system_a", "system_b"])
    r12 = rng.uniform(0.2, 0.9, len(known))
    paired = 3 * np.sqrt(2 * (1 - r12))
    correlations = known.assign(
        n_items=SIZES[-1], r12=r12, sd_independent=np.sqrt(18 / SIZES[-1]), sd_paired=paired / np.sqrt(SIZES[-1])
    )
    parts = []
    for n in SIZES:
        gain = rng.exponential(2 * paired / np.sqrt(n))
        swapped = rng.random(len(known)) < 0.5
        parts.append(
            pd.DataFrame(
                {
                    "task": "t", "test_set": "s", "n_items": n, "metric": "accuracy", "test": "z_paired",
                    "alternative": "greater", "convention": "", "unit": "item", "strata": "",
                    "relation": "different families",
                    "system_a": np.where(swapped, known["system_b"], known["system_a"]),
                    "system_b": np.where(swapped, known["system_a"], known["system_b"]),
                    "gain": gain, "p_value": stats.norm.sf(gain * np.sqrt(n) / paired),
                }
            )
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True), correlations


def test_pairs_that_follow_the_model_are_foretold_wholly() -> None:
    pairs, correlations = exact()
    table = confidence_models(pairs, correlations).set_index("predictors")
    best = table.loc["gain, n, r12"]
    assert best["exponent_n"] == pytest.approx(-0.5, abs=1e-5)
    assert best["exponent_r12"] == pytest.approx(0.5, abs=1e-5)
    assert best["r2"] == pytest.approx(1, abs=1e-8)
    assert table.loc[FORMULA, "r2"] == pytest.approx(1, abs=1e-12)
    assert table.loc[FORMULA, "factor_90"] == pytest.approx(1, abs=1e-9)
    # Of one class only, no model has the relation.
    assert "gain, n, relation" not in table.index
    assert table.loc["gain", "r2"] < table.loc["gain, n", "r2"] < 0.999


def noisy() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two-sided p-values beside the model, of families of unlike size, which tell something of p by themselves."""
    pairs, correlations = exact(24, seed=5)
    rng = np.random.default_rng(6)
    names = sorted({*pairs["system_a"], *pairs["system_b"]})
    family = dict(zip(names, rng.choice(["north", "south", "east"], 24, p=[0.5, 0.3, 0.2]), strict=True))
    pairs["family_a"], pairs["family_b"] = (pairs[side].map(family) for side in ("system_a", "system_b"))
    kin = pairs["family_a"] == pairs["family_b"]
    z = stats.norm.isf(pairs["p_value"]) * np.where(kin, 1.4, 0.9) + rng.normal(0, 0.3, len(pairs))
    pairs = pairs.assign(
        p_value=np.minimum(2 * stats.norm.sf(z), 1), alternative="two-sided",
        relation=np.where(kin, "same family", "different families"),
    )  # fmt: skip
    pairs.loc[::17, "gain"] = 0.0
    return pairs.sample(frac=1, random_state=3), correlations.iloc[::-1]


def by_hand(pairs: pd.DataFrame, correlations: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same table by loops, and fits by scipy's curve_fit."""
    known = {frozenset((row.system_a, row.system_b)): row for row in correlations.itertuples()}
    rows = [row for row in pairs.itertuples() if row.gain > 0]
    family = {row.system_a: row.family_a for row in rows} | {row.system_b: row.family_b for row in rows}
    names = list(dict.fromkeys([*(row.system_a for row in rows), *(row.system_b for row in rows)]))
    mixed = [names[k] for k in np.random.default_rng(seed).permutation(len(names))]
    by_family = sorted(mixed, key=lambda name: family[name])
    side = {name: k % 2 for k, name in enumerate(by_family)}
    half = np.array([side[row.system_a] if side[row.system_a] == side[row.system_b] else -1 for row in rows])
    gain, p = np.array([row.gain for row in rows]), np.array([row.p_value / 2 for row in rows])
    of = [known[frozenset((row.system_a, row.system_b))] for row in rows]
    columns = {
        "n": np.log([row.n_items for row in rows]),
        "r12": np.log([1 - pair.r12 for pair in of]) / 2,
        "relation": np.array([float(row.relation == "same family") for row in rows]),
    }
    found = []
    for given in ("gain", "gain, n", "gain, n, relation", "gain, n, r12", FORMULA):
        asked = given.split(", ")[1:] if given != FORMULA else []
        x = np.stack([np.ones(len(rows)), *(columns[name] for name in asked)])

        def model(x: np.ndarray, *beta: float) -> np.ndarray:
            return np.asarray(stats.norm.cdf(x[0] * np.exp(-np.array(beta) @ x[1:])))

        def fit(those: np.ndarray, x: np.ndarray = x) -> np.ndarray:
            start = [-1.5] if len(x) == 1 else [1.4, -0.5, 0.0][: len(x)]
            return np.asarray(curve_fit(model, np.vstack([gain, x])[:, those], 1 - p[those], start)[0])

        foretold = np.zeros(len(rows))
        for one in (0, 1):
            foretold[half == one] = model(np.vstack([gain, x])[:, half == one], *fit(half == 1 - one))
        powers = dict(zip(asked, fit(half > -2)[1:], strict=True))
        if given == FORMULA:
            paired = [pair.sd_paired * np.sqrt(SIZES[-1] / row.n_items) for pair, row in zip(of, rows, strict=True)]
            foretold = stats.norm.cdf(gain / paired)
        inside = half >= 0
        off, own = foretold[inside], p[inside]
        compared = (own >= 0.001) & (own <= 0.5)
        factors = np.exp(np.abs(np.log(np.maximum(1 - off[compared], 1e-16) / own[compared])))
        r2 = 1 - np.mean((1 - own - off) ** 2) / np.var(own)
        exponent_n, unlike = powers.get("n", np.nan), powers.get("r12", np.nan) / 2
        found.append((given, inside.sum(), r2, *np.percentile(factors, [50, 90]), exponent_n, unlike, ""))
    names = ["predictors", "n_pairs", "r2", "factor_50", "factor_90", "exponent_n", "exponent_r12", "note"]
    return pd.DataFrame(found, columns=names)


@pytest.mark.parametrize("seed", [0, 4])
def test_every_number_is_that_of_other_fits(seed: int) -> None:
    """Each half is foretold by a fit to the other; what is told of n and of r12 by a fit to all."""
    pairs, correlations = noisy()
    found = confidence_models(pairs, correlations, seed=seed)
    pd.testing.assert_frame_equal(found, by_hand(pairs, correlations, seed), rtol=2e-3)
    # Relations of groups say as much as those of families.
    groups = pairs.assign(relation=pairs["relation"].replace({"same family": "same group"}))
    pd.testing.assert_frame_equal(confidence_models(groups, correlations, seed=seed), found)
    # The first size of the table is not that of the correlations, and systems without a family are each their own.
    alone = pairs.drop(columns=["family_a", "family_b"])
    own = pairs.assign(family_a=pairs["system_a"], family_b=pairs["system_b"])
    pd.testing.assert_frame_equal(confidence_models(alone, correlations), confidence_models(own, correlations))


def test_thirty_pairs_within_each_half_are_enough() -> None:
    """Of 8 systems 4 are in a half, and of 16 pairs on 3 sizes 18 within it: five sizes have 30."""
    pairs, correlations = exact(8)
    more = pd.concat([pairs, *(pairs[pairs["n_items"] == 100].assign(n_items=n) for n in (200, 300))])
    assert confidence_models(more, correlations)["n_pairs"].tolist() == [60] * 4
    assert confidence_models(more.iloc[:-28], correlations)["note"].str.startswith("too few pairs within half").all()
