"""A comparison that is run twice, with other random numbers, and how far apart the two runs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.comparisons.comparing import compare
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.outputs import Outputs
from simstudy.validation import brief, check_choice


def run_twice(outputs: Outputs, *, seeds: tuple[int, int] = (0, 1), **options: Any) -> pd.DataFrame:
    """Run a comparison a second time with other random numbers, and say how far apart the two are.

    Yeh's first check of an approximate randomization (2000, section 3.3), for all pairs.

    Parameters
    ----------
    seeds
        Two different seeds.
    options
        As for `compare`; pairs are resampled, whatever could be computed.

    Returns
    -------
    pairs
        system_a, system_b, gain, p_value and n_extreme of both runs (``_1``, ``_2``), and ``z``: the difference of the
        two counts in standard errors, which is beyond 2 for one pair in twenty and beyond 4 hardly ever.

    Raises
    ------
    ValueError
        For two equal seeds, a test that does not resample, and as `compare`.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 38 + [[0, 1]] * 2], "accuracy", ["a", "b"])
    >>> row = run_twice(outputs, alternative="greater", n_resamples=1000).iloc[0]
    >>> bool(abs(row.z) < 5), bool(abs(row.p_value_1 - 0.25) < 0.1), bool(abs(row.p_value_2 - 0.25) < 0.1)
    (True, True, True)
    """
    if not isinstance(seeds, Sequence) or len(seeds) != 2 or seeds[0] == seeds[1] or "seed" in options:
        raise ValueError(f"seeds must be two different ones (and there is no other seed), not {brief(seeds)}")
    test = options.get("test", DEFAULT_TEST)
    check_choice("test", test, [name for name, known in TESTS.items() if known.n_resamples])
    first, second = (compare(outputs, seed=seed, **{**options, "monte_carlo": True}).frame for seed in seeds)
    count_1, count_2, drawn = first["n_extreme"], second["n_extreme"], first["n_resamples"]
    pooled = (count_1 + count_2) / (2 * drawn)
    spread = np.sqrt(2 * drawn * pooled * (1 - pooled))
    return pd.DataFrame(
        {
            **{name: first[name] for name in ("system_a", "system_b", "gain")},
            "p_value_1": first["p_value"],
            "p_value_2": second["p_value"],
            "n_extreme_1": count_1,
            "n_extreme_2": count_2,
            "z": (count_1 - count_2) / np.where(spread > 0, spread, 1.0),
        }
    )
