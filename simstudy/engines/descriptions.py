"""A test that was made, in words: one formulation for pages, terminals and papers."""

from __future__ import annotations

import pandas as pd

from simstudy.engines.registry import TESTS

#: What the values of column alternative are called.
SIDES = {"two-sided": "two-sided", "greater": "one-sided"}


def described_test(pairs: pd.DataFrame) -> str:
    """Test, sides, how p-values are computed, and convention of Comparisons."""
    first = pairs.iloc[0]
    convention = "" if first.convention == "default" else f", convention {first.convention}"
    title = f"{TESTS[first.test].title} ({first.test}), {SIDES[first.alternative]}"
    return f"{title}, {described_computation(pairs)}{convention}"


def described_computation(pairs: pd.DataFrame) -> str:
    """How p-values are computed: exact, approximated or resampled, with shares if they are not all alike."""
    names = {"exact": "exact", "approximated": "approximated", "resampled": f"{pairs['n_resamples'].max():,} resamples"}
    shares = pairs["computation"].value_counts(normalize=True)
    if len(shares) == 1:
        name = str(shares.index[0])
        return f"p-values from {names[name]}" if name == "resampled" else f"{name} p-values"
    parts = [f"{text} ({shares[name]:.0%})" for name, text in names.items() if name in shares]
    return f"p-values: {', '.join(parts)}"


def described_level(pairs: pd.DataFrame) -> str:
    """Whether the test holds its level exactly."""
    exact = pairs["exact_level"]
    return "exact" if exact.all() else "partly exact" if exact.any() else "approximate"


def approximate_parts(pairs: pd.DataFrame) -> str:
    """Which numbers of pairs with a caution are approximate, as "p-value and interval are approximate"; "" for neither.

    The p-values of a test that holds its level exactly are not approximate.
    """
    parts = [] if pairs["exact_level"].all() else ["p-value"]
    parts += [] if pairs["gain_low"].isna().all() else ["interval"]
    return f"{' and '.join(parts)} {'are' if len(parts) > 1 else 'is'} approximate" if parts else ""
