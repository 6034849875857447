"""Conclusions about a margin at the limits: p-values of exactly the level, and families of pairs of unlike size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.analyses.equivalence import equivalence
from tests.analyses.made_up import made_up


def test_each_pair_has_its_own_degrees_of_freedom_and_one_family_corrects_all() -> None:
    """Two one-sided t tests of each pair; conclusions from p-values that Holm corrects, and not from each by itself."""
    pairs = made_up(6, k=8).assign(interval="t", gain_high=np.nan, n_better=0, n_worse=0, n_units=300)
    pairs["favours"], pairs["p_floor"] = pairs["system_a"], 0.001
    table = equivalence(pairs, 4.0, alpha=0.2)
    worse, other = (
        stats.t.sf((sign * pairs["gain"] + 4.0) / pairs["gain_se"], pairs["df"]).tolist() for sign in (1, -1)
    )
    assert table["p_noninferiority"].tolist() == pytest.approx(worse)
    assert table["p_equivalence"].tolist() == pytest.approx(np.maximum(worse, other).tolist())
    m = len(pairs)
    by_size = np.argsort(pairs["p_value"], kind="stable").to_numpy()
    steps = np.maximum.accumulate((m - np.arange(m)) * pairs["p_value"].to_numpy()[by_size])
    better = np.zeros(m, dtype=bool)
    better[by_size] = steps <= 0.2
    assert 0 < better.sum() < (pairs["p_value"] <= 0.2).sum()
    same = table["p_equivalence_holm"].to_numpy() <= 0.1
    least = table["p_noninferiority_holm"].to_numpy() <= 0.1
    expected = [
        ("better by less than the margin" if b else "equivalent") if e else "better" if b else "not worse" if n else
        "undecided" for b, e, n in zip(better, same, least, strict=True)
    ]  # fmt: skip
    assert table["conclusion"].tolist() == expected
    assert (table["p_equivalence_holm"] >= table["p_equivalence"]).all()
    assert (table["p_noninferiority_holm"] <= table["p_equivalence_holm"]).all()


@pytest.mark.parametrize(("column", "conclusion"), [
    ("p_noninferiority_holm", "not worse"), ("p_equivalence_holm", "equivalent"),
])  # fmt: skip
def test_a_p_value_of_half_the_level_is_enough(column: str, conclusion: str) -> None:
    pair = made_up(6, k=2).assign(interval="t", gain_high=np.nan, n_better=0, n_worse=0, n_units=300)
    pair = pair.assign(gain=1.0, gain_se=1.0, p_value=0.99, p_floor=0.001, favours=pair["system_a"])
    p = float(equivalence(pair, 3.0)[column].iloc[0])
    assert p < 0.2
    assert equivalence(pair, 3.0, alpha=2 * p)["conclusion"].tolist() == [conclusion]
    assert equivalence(pair, 3.0, alpha=2 * p * (1 - 1e-9))["conclusion"].iloc[0] != conclusion
