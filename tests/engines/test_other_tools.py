"""P-values of other people's tools on real systems: the golden ones of sacrebleu's own tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss

# What sacrebleu asks of its bootstrap; the shuffles that MultEval drew; ours.
TOLERANCE = 0.01
THEIRS, OURS = 10_000, 20_000


# Systems near the baseline and far from it.
SEVEN = (0, 1, 2, 3, 4, 6, 11)


@pytest.fixture(scope="module", params=[SEVEN, pytest.param(range(15), marks=pytest.mark.slow)], ids=["seven", "all"])
def golden(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """Other tools' p-values of translation systems against a baseline, with ours beside them."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "wmt17_en-de_sacrebleu"
    if not folder.is_dir():
        pytest.skip(f"needs the real data in {folder}")
    table = pd.read_csv(folder / "golden.csv")
    assert len(table) == 15
    table = table.iloc[list(request.param)].reset_index(drop=True)
    some = tmp_path_factory.mktemp("systems")
    for name in {*table["system"], *table["baseline"]}:
        (some / f"{name}.txt").symlink_to(folder / "sys" / f"{name}.txt")
    texts = ss.Texts(tokenize="none")
    outputs = ss.load(some, "bleu", references=folder / "ref.txt", texts=texts).outputs
    for column, test, alternative in (
        ("randomization", "randomization", "two-sided"),
        ("bootstrap", "bootstrap", "greater"),
        ("sign_flips", "sign_flips", "two-sided"),
    ):
        pairs = ss.compare(
            outputs, test=test, alternative=alternative, n_resamples=OURS, seed=1, against=sorted({*table["baseline"]})
        )
        p = {frozenset((row.system_a, row.system_b)): row.p_value for row in pairs.frame.itertuples()}
        asked = zip(table["system"], table["baseline"], strict=True)
        table[column] = np.array([p[frozenset(pair)] for pair in asked], dtype=float)
    return table


def test_randomization_agrees_with_multeval(golden: pd.DataFrame) -> None:
    """But for the noise of both; the default test asks nearly the same question."""
    p, theirs = golden["randomization"], golden["multeval_randomization"]
    noise = np.sqrt(p * (1 - p) * (1 / THEIRS + 1 / OURS))
    assert ((p - theirs).abs() < 4 * noise + 2 / THEIRS).all()
    np.testing.assert_allclose(golden["sign_flips"], theirs, atol=2 * TOLERANCE)


def test_one_sided_bootstrap_explains_what_moses_gives(golden: pd.DataFrame) -> None:
    """Moses counts resampled gains d with |d| - mean |d| > gain.

    Where the gain is large that is our one-sided p-value. Else it is less, by as much as the normal distribution says
    of a gain of z standard errors.
    """
    clear = golden[golden["bootstrap"] < TOLERANCE * 5]
    assert len(clear) > {7: 2, 15: 8}[len(golden)]
    np.testing.assert_allclose(clear["bootstrap"], clear["moses_bootstrap"], atol=TOLERANCE)
    steps = np.linspace(-8, 8, 20_001)
    weights = stats.norm.pdf(steps) / stats.norm.pdf(steps).sum()
    for ours, theirs in zip(golden["bootstrap"], golden["moses_bootstrap"], strict=True):
        z = float(stats.norm.isf(ours))
        size = np.abs(steps + z)
        assert weights @ (size - weights @ size > z) == pytest.approx(theirs, abs=TOLERANCE)
    assert golden["bootstrap"].max() - golden["moses_bootstrap"].max() > 8 * TOLERANCE, "the rules differ"
