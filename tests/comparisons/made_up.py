"""Comparisons that are made up: every number is another one, so that none can stand for another."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats


def made_up(seed: int, k: int = 14, n_families: int = 7, **given: Any) -> pd.DataFrame:
    """All pairs of k systems, the best first, of families of two or more, with p-values of all sizes.

    Some tests speak for the other system, or for none, and some pairs differ on too few units.
    """
    rng = np.random.default_rng(seed)
    names = [f"{'zyxwvutsrqponmlkjihg'[place]}{place}" for place in range(k)]
    score = np.sort(rng.uniform(60, 66, k))[::-1]
    i, j = (np.array(side) for side in zip(*combinations(range(k), 2), strict=True))
    family = rng.permutation(np.arange(k) % n_families)
    gain, se = score[i] - score[j], rng.uniform(0.7, 1.9, len(i))
    columns: dict[str, Any] = {
        "task": "tagging", "test_set": "news", "n_items": 300, "metric": "accuracy", "test": "t_paired",
        "alternative": "two-sided", "convention": "default", "unit": "item", "strata": "", "seed": 0,
    }  # fmt: skip
    pairs = pd.DataFrame(
        {
            "system_a": np.array(names, dtype=object)[i], "system_b": np.array(names, dtype=object)[j],
            "family_a": np.array([f"f{f}" for f in family[i]], dtype=object),
            "family_b": np.array([f"f{f}" for f in family[j]], dtype=object),
            "relation": np.where(rng.random(len(i)) < 0.5, "same group", "different groups"),
            "score_a": score[i], "score_b": score[j], "gain": gain, "gain_se": se,
            "df": rng.choice([9.0, 30.0, 299.0], len(i)), "p_floor": rng.choice([0.001, 0.07], len(i), p=[0.9, 0.1]),
            "n_extreme": 0, "n_resamples": 0,
        }
    )  # fmt: skip
    whose = rng.choice(3, len(i), p=[0.86, 0.07, 0.07])
    pairs["better"] = np.select([whose == 0, whose == 1], [pairs["system_a"], pairs["system_b"]], "")
    sides = 1 if given.get("alternative") == "greater" else 2
    return pairs.assign(p_value=sides * stats.norm.sf(gain / se), **{**columns, **given})


def several() -> list[pd.DataFrame]:
    """Test sets that differ from some other in nothing but the task, the name, the size, or the metric, or in all."""
    return [
        made_up(1),
        made_up(2, n_items=150, alternative="greater"),
        made_up(3, test_set="mail", k=12, alternative="greater"),
        made_up(4, task="parsing", n_families=5),
        made_up(5, metric="f1", alternative="greater", k=16, n_families=16),
    ]
