"""What foretells p: pairs whose p-values follow the model exactly, and what is said where they are few."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analyses.confidence_model import FORMULA, confidence_models

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
    table = confidence_models(pairs, correlations).set_index("given")
    best = table.loc["gain, n, r12"]
    assert best["power_n"] == pytest.approx(-0.5, abs=1e-5)
    assert best["power_unlike"] == pytest.approx(0.5, abs=1e-5)
    assert best["r2"] == pytest.approx(1, abs=1e-8)
    assert table.loc[FORMULA, "r2"] == pytest.approx(1, abs=1e-12)
    assert table.loc[FORMULA, "factor_90"] == pytest.approx(1, abs=1e-9)
    # Of one class only, no model has the relation.
    assert "gain, n, relation" not in table.index
    assert table.loc["gain", "r2"] < table.loc["gain, n", "r2"] < 0.999


def test_two_sided_p_values_are_halved() -> None:
    pairs, correlations = exact()
    one = confidence_models(pairs, correlations)
    both = pairs.assign(p_value=2 * pairs["p_value"], alternative="two-sided")
    pd.testing.assert_frame_equal(one, confidence_models(both, correlations))


def test_the_relation_stands_for_r12_where_it_decides_it() -> None:
    pairs, correlations = exact()
    like = correlations["r12"] > 0.55
    correlations["r12"] = np.where(like, 0.8, 0.3)
    relation = {
        frozenset(names): "same family" if same else "different families"
        for names, same in zip(correlations[["system_a", "system_b"]].itertuples(index=False), like, strict=True)
    }
    pairs["relation"] = [relation[frozenset(names)] for names in zip(pairs["system_a"], pairs["system_b"], strict=True)]
    s = 3 * np.sqrt(2 * np.where(pairs["relation"] == "same family", 0.2, 0.7) / pairs["n_items"])
    pairs["p_value"] = stats.norm.sf(pairs["gain"] / s)
    table = confidence_models(pairs, correlations).set_index("given")
    assert table.loc["gain, n, relation", "r2"] == pytest.approx(1, abs=1e-8)
    assert table.loc["gain, n, r12", "r2"] == pytest.approx(1, abs=1e-8)


def test_few_pairs_have_no_numbers() -> None:
    table = confidence_models(*exact(8))
    assert table["r2"].isna().all()
    # Of 8 systems 4 are in a half: 6 pairs on 3 sizes.
    assert set(table["note"]) == {"too few pairs within half of the systems: 18, not 30"}


def test_systems_without_correlation_are_refused() -> None:
    pairs, correlations = exact()
    with pytest.raises(ValueError, match="correlations must have every system of pairs"):
        confidence_models(pairs.assign(system_a="nobody"), correlations)
    with pytest.raises(ValueError, match="no column r12"):
        confidence_models(pairs, correlations.drop(columns="r12"))
