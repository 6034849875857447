"""A test that was made, in words: one formulation for pages, terminals and papers."""

from __future__ import annotations

import pandas as pd

from simstudy.engines.registry import TESTS

#: What the values of column alternative are called.
SIDES = {"two-sided": "two-sided", "greater": "one-sided"}


def described_test(pairs: pd.DataFrame) -> str:
    """Test, sides, exactness, resamples and convention of Comparisons."""
    one, drawn, share = pairs.iloc[0], pairs.loc[pairs["monte_carlo"], "n_resamples"], pairs["monte_carlo"].mean()
    part = "" if share == 1 else f" for {share:.0%} of the p-values"
    how = "no Monte Carlo error" if drawn.empty else f"{drawn.max():,} resamples{part}"
    convention = "" if one.convention == "default" else f", convention {one.convention}"
    return f"{TESTS[one.test].title} ({one.test}), {SIDES[one.alternative]}, {exactness(pairs)}, {how}{convention}"


def exactness(pairs: pd.DataFrame) -> str:
    """Whether the test holds its level exactly."""
    return "exact" if pairs["exact"].all() else "partly exact" if pairs["exact"].any() else "approximate"
