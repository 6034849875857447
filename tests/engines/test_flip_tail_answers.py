"""The default test on outputs: random flips come near, and neither order, threads nor scale matters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy
from simstudy.engines.asking import ask
from simstudy.engines.sign_flips import FlippedContributions, sign_flips
from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs
from tests.engines.flipped import other_line
from tests.oracles import compared


def answers(kind: str, rng: np.random.Generator) -> Outputs:
    if kind == "decimals":
        scores = rng.beta(2, 1, size=(120, 1)) + 0.1 * rng.normal(size=(120, 5)) + np.arange(5) * 0.01
        return Outputs.from_scores(pd.DataFrame(scores, columns=list("abcde")), "mean")
    if kind == "large whole numbers":
        return Outputs.from_scores(pd.DataFrame(rng.integers(0, 10**6, size=(120, 5)), columns=list("abcde")), "mean")
    gold = rng.integers(3, 9, size=120)
    guessed = gold + rng.integers(-2, 3, size=(5, 120))
    correct = np.minimum(rng.integers(0, 9, size=(5, 120)), np.minimum(gold, guessed))
    counts = np.stack([correct, guessed, np.broadcast_to(gold, (5, 120))], axis=-1)
    return Outputs.from_statistics(counts, "f1", list("abcde"))


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
@pytest.mark.parametrize(
    ("kind", "test"),
    [
        ("decimals", "sign_flips"),
        ("decimals", "randomization"),
        ("large whole numbers", "sign_flips"),
        ("large whole numbers", "randomization"),
        ("f1", "sign_flips"),
    ],
)
def test_random_flips_come_near_and_nothing_else_matters(
    kind: str, test: str, alternative: str, rng: np.random.Generator
) -> None:
    """65,536 flips of 10 pairs: none is further off than five standard errors, once in 100,000 seeds."""
    outputs = answers(kind, rng)
    options = {"test": test, "alternative": alternative, "monte_carlo": False}
    found = compared(outputs, **options)
    assert not found["monte_carlo"].any()
    drawn = compared(outputs, **options | {"monte_carlo": True}, n_resamples=2**16)
    assert (drawn["n_resamples"] == 2**16).all()
    error = np.sqrt(found["p_value"] * (1 - found["p_value"]) / 2**16)
    assert (np.abs(drawn["p_value"] - found["p_value"]) <= 5 * error + 2.0**-16).all()
    pd.testing.assert_frame_equal(compared(outputs, **options, n_jobs=3), found)
    pd.testing.assert_frame_equal(compared(outputs.select(list("dbeca")), **options), found)
    shuffled = outputs.take(rng.permutation(outputs.n_items))
    np.testing.assert_array_equal(compared(shuffled, **options)["p_value"], found["p_value"])


def flipped_share(parts: FloatArray, least: float, rng: np.random.Generator, n_blocks: int = 256) -> float:
    """The share of n_blocks * 2^16 random flips that reach `least`: sums of 16 numbers at a time are looked up."""
    parts = np.pad(parts, (0, -len(parts) % 16)).reshape(-1, 16)
    signs = 1.0 - 2.0 * (np.arange(2**16)[:, None] >> np.arange(16) & 1)
    sums, n_extreme = parts @ signs.T, 0
    for _ in range(n_blocks):
        flips = rng.integers(0, 2**16, (len(parts), 2**16), dtype=np.uint16)
        total = np.zeros(2**16)
        for one, chosen in zip(sums, flips, strict=True):
            total += one[chosen]
        n_extreme += int((total >= least).sum())
    return n_extreme / (n_blocks * 2**16)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["bleu", "span_f1"])
def test_real_pairs_agree_with_many_flips_and_many_nodes(
    metric: str, shared_data: Path, rng: np.random.Generator
) -> None:
    """2^24 flips of four pairs of WMT24 or WNUT17, and the other line of integration with 65,536 nodes of six."""
    if metric == "bleu":
        files, reference = "wmt24_en-de/sys", "wmt24_en-de/ref.A.de"
    else:
        files, reference = "ner_wnut17/submissions", "ner_wnut17/emerging.test.annotated"
    loaded = simstudy.load(shared_data / files, metric=metric, references=shared_data / reference)
    question = ask(loaded.outputs.best_first(), test="sign_flips", alternative="greater")
    parts, (i, j), k = FlippedContributions(question), question.pairs, question.n_systems
    p_value = sign_flips(question).p_value
    contributions = parts.columns[:k][i] - parts.columns[:k][j]
    if len(parts.columns) > k:
        contributions -= parts.sums.pooled[:, None] * (parts.columns[k:][i] - parts.columns[k:][j])
    for of, least, p in list(zip(contributions, parts.sums.least, p_value, strict=True))[:6]:
        assert p == pytest.approx(other_line(of, least, 2**16), rel=1e-8, abs=1e-12)
    for wanted in (0.4, 0.05, 0.005, 0.0001):
        near = int(np.abs(np.log(p_value / wanted)).argmin())
        p = p_value[near]
        z = (flipped_share(contributions[near], parts.sums.least[near], rng) - p) / np.sqrt(p * (1 - p) / 2**24)
        assert abs(z) < 4.5, (metric, near, p, z)


@pytest.mark.parametrize("kind", ["decimals", "right or wrong"])
def test_p_is_never_0(kind: str, rng: np.random.Generator) -> None:
    """One of 2^1200 ways to flip is as extreme, fewer than double precision holds."""
    gains = rng.uniform(1, 2, 1200) if kind == "decimals" else np.ones(1200)
    for test in ("sign_flips", "randomization"):
        row = compared(Outputs.from_scores(pd.DataFrame({"a": gains, "b": 0.0 * gains})), test=test).iloc[0]
        assert (row["p_value"], row["monte_carlo"]) == (1e-300, False)


def test_numbers_that_are_nearly_multiples_of_each_other_are_refused_in_one_line(rng: np.random.Generator) -> None:
    """Which of many sums that differ in the eighth digit reach the gain, no integral can tell."""
    scores = pd.DataFrame({"a": rng.integers(0, 4, 300) + 1e-7 * rng.normal(size=300), "b": rng.integers(0, 4, 300)})
    outputs = Outputs.from_scores(scores, "mean")
    with pytest.raises(ValueError, match="nearly multiples of one another") as error:
        compared(outputs, monte_carlo=False)
    assert "\n" not in str(error.value)
    found = simstudy.examine(outputs, n_resamples=1000)
    assert found.pairs.frame["monte_carlo"].all()
    assert "p-values of 1 pair are from random flips" in str(found.test_set.notes)
