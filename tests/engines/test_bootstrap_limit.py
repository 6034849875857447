"""The bootstrap's limit for infinitely many resamples: enumeration, whole-number polynomials, a trinomial."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from simstudy.metrics import METRICS, Metric
from simstudy.outputs import Outputs
from tests.oracles import ERROR_RATE, ascending, compared, could_be, drawn_tail, exact_bootstrap_p

BOOTSTRAP: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "unit": "item"}

RULES = [
    ("default", "greater"),
    ("default", "two-sided"),
    ("bk2012", "greater"),
    ("bk2012", "two-sided"),
    ("koehn2004", "greater"),
]


def ask(scores: np.ndarray, metric: Metric | str = "mean", total: int = 1, **options: Any) -> Any:
    statistics = np.stack([scores, np.full_like(scores, total)], axis=-1)
    outputs = Outputs.from_statistics(statistics, metric, ["a", "b"])
    return compared(outputs, **(BOOTSTRAP | {"monte_carlo": False} | options)).iloc[0]


def differences(scores: np.ndarray, row: Any) -> np.ndarray:
    return (scores[0] - scores[1]) * (1 if row.system_a == "a" else -1)


def limit(difference: np.ndarray, convention: str, alternative: str) -> float:
    """The share of all n^n resamples that a rule counts, by exact tails of the sum of n draws."""
    gain, strict = int(difference.sum()), int(convention == "bk2012")
    if convention == "koehn2004":
        return float(drawn_tail(-difference, 0))
    p = drawn_tail(difference, 2 * gain + strict)
    if alternative == "two-sided":
        p += drawn_tail(-difference, strict)
    return float(min(p, 1))


@pytest.mark.parametrize(("convention", "alternative"), RULES)
@pytest.mark.parametrize("kind", ["one decision", "seven decisions", "error rate", "ratings"])
def test_p_is_the_share_of_all_resamples(kind: str, convention: str, alternative: str) -> None:
    """Gains of all n^n resamples by the metric itself."""
    rng = np.random.default_rng([len(kind), len(convention), len(alternative)])
    metric = {"error rate": ERROR_RATE, "ratings": METRICS["mean"]}.get(kind, METRICS["accuracy"])
    total = 7 if kind == "seven decisions" else 1
    for n in (2, 3, 4, 4, 5):
        scores = rng.integers(-2, 6, (2, n)) if kind == "ratings" else rng.integers(0, total + 1, (2, n))
        row = ask(scores, metric, total, convention=convention, alternative=alternative)
        won = differences(scores, row) * (1 if metric.higher_is_better else -1)
        gain, gains = won.sum(), np.array([won[list(draw)].sum() for draw in product(range(n), repeat=n)])
        assert row.gain == pytest.approx(abs(np.diff(metric.score(np.stack([scores.sum(1), [n * total] * 2], -1))))[0])
        if convention == "koehn2004":
            extreme = gains <= 0
        elif convention == "bk2012":
            extreme = (gains > 2 * gain) | ((alternative == "two-sided") & (gains < 0))
        else:
            extreme = (gains >= 2 * gain) | ((alternative == "two-sided") & (gains <= 0))
        assert (row.exact, row.monte_carlo, row.n_resamples, row.n_extreme) == (False, False, 0, 0)
        assert row.p_low == row.p_value == row.p_high == pytest.approx(extreme.mean(), rel=1e-12, abs=0)


@pytest.mark.parametrize(("convention", "alternative"), RULES)
@pytest.mark.parametrize("kind", ["accuracy", "ratings", "ratings with an outlier", "wide scores"])
def test_p_is_that_of_whole_number_polynomials(kind: str, convention: str, alternative: str) -> None:
    """n = 20 … 100, among them p-values far below what any number of resamples could show."""
    rng = np.random.default_rng([len(kind), len(convention), len(alternative)])
    smallest = 1.0
    for n, shift in ((20, 0.1), (100 if kind == "ratings with an outlier" else 60, 1.0)):
        if kind == "accuracy":
            scores = (rng.random((2, n)) < [[0.55 + shift / 2], [0.5 - shift / 2]]).astype(np.int64)
        else:
            most = 5 if kind.startswith("ratings") else 40
            scores = np.clip(np.rint(rng.normal([[most * (0.5 + shift / 2)], [most * 0.5]], most / 4, (2, n))), 1, most)
            scores = scores.astype(np.int64)
        if kind == "ratings with an outlier":
            scores[0, 0] = 60
        row = ask(scores, "mean", convention=convention, alternative=alternative)
        expected = limit(differences(scores, row), convention, alternative)
        assert row.p_value == pytest.approx(expected, rel=1e-9, abs=0)
        smallest = min(smallest, expected)
    assert smallest < (1e-3 if kind == "ratings with an outlier" else 1e-8)


def test_tiny_accuracy_tails_agree_with_the_trinomial_to_nine_digits() -> None:
    smallest = 1.0
    for n, only_a, only_b in ((400, 30, 20), (2000, 300, 150), (2000, 700, 10), (3000, 1500, 300), (20_000, 900, 700)):
        scores = np.zeros((2, n), np.int64)
        scores[0, :only_a] = 1
        scores[1, only_a : only_a + only_b] = 1
        expected = exact_bootstrap_p(*scores)
        assert ask(scores, "accuracy").p_value == pytest.approx(expected, rel=1e-9, abs=0)
        smallest = min(smallest, expected)
    assert 0 < smallest < 1e-200


def test_tiny_tails_of_ratings_keep_nine_digits() -> None:
    """Items that are mostly a little better, some far better, some worse: sums far from their mean."""
    smallest = 1.0
    for n, far, worse in ((60, 10, 10), (120, 10, 5), (150, 8, 0), (150, 140, 10)):
        scores = np.ones((2, n), np.int64)
        scores[0] += 1
        scores[0, :far] = 5
        scores[:, far : far + worse] = [[1], [3]]
        for alternative in ("greater", "two-sided"):
            expected = limit(scores[0] - scores[1], "default", alternative)
            assert ask(scores, alternative=alternative).p_value == pytest.approx(expected, rel=1e-9, abs=0)
            smallest = min(smallest, expected) if expected else smallest
    assert smallest < 1e-60


def test_all_pairs_at_once_are_each_pair_alone(rng: np.random.Generator) -> None:
    """Right and wrong, ratings, and pairs with equal counts of wins and losses, in threads or not."""
    for most in (1, 4):
        scores = rng.integers(0, most + 1, size=(8, 40))
        scores[1] = np.roll(scores[0], 1)
        outputs = Outputs.from_statistics(np.stack([scores, np.ones_like(scores)], -1), "mean", list("abcdefgh"))
        pairs = compared(outputs, **BOOTSTRAP, monte_carlo=False, n_jobs=3)
        assert len(pairs) == 28
        for row in pairs.itertuples():
            i, j = (outputs.names.index(name) for name in (row.system_a, row.system_b))
            assert row.p_value == pytest.approx(limit(scores[i] - scores[j], "default", "greater"), rel=1e-9, abs=0)


def test_pairs_of_wide_scores_are_resampled_unless_none_may_be() -> None:
    """a and b differ by little, c by thousands: which pairs are resampled does not depend on the others."""
    rng = np.random.default_rng(5)
    scores = rng.integers(0, 5, size=(3, 100)) + np.array([[0], [0], [1]]) * rng.integers(0, 4000, size=100)
    outputs = Outputs.from_statistics(np.stack([scores, np.ones_like(scores)], -1), "mean", list("abc"))
    pairs = compared(outputs, **BOOTSTRAP, n_resamples=1000)
    assert {row.system_a + row.system_b for row in pairs.itertuples() if not row.monte_carlo} & {"ab", "ba"}
    assert (pairs["n_resamples"] == np.where(pairs["monte_carlo"], 1000, 0)).all()
    assert pairs["monte_carlo"].sum() == 2
    every = compared(outputs, **BOOTSTRAP, monte_carlo=False)
    assert not every["monte_carlo"].any()
    computed = pairs.loc[~pairs["monte_carlo"], "p_value"].item()
    assert every.loc[~pairs["monte_carlo"], "p_value"].item() == computed
    assert compared(outputs.select(["a", "b"]), **BOOTSTRAP).p_value[0] == computed


@pytest.mark.statistical
@pytest.mark.parametrize(("convention", "alternative"), RULES)
def test_resampling_agrees_with_its_limit(convention: str, alternative: str) -> None:
    rng = np.random.default_rng(4)
    options = {"convention": convention, "alternative": alternative, "n_resamples": 20_000, "monte_carlo": True}
    for most, total in ((1, 1), (5, 1), (7, 7)):
        scores = rng.integers(0, most + 1, size=(2, 70))
        scores[0, :9] = most
        row = ask(scores, "mean" if total == 1 else "accuracy", total, **options)
        assert (row.exact, row.monte_carlo) == (False, True)
        assert could_be(row.n_extreme, row.n_resamples, limit(differences(scores, row), convention, alternative))


def test_a_limit_where_there_is_none_is_refused_in_one_line(tagged: Outputs) -> None:
    counts = ascending(np.random.default_rng(0).integers(0, 5, size=(2, 30, 3)))
    right = Outputs.from_statistics(
        np.stack([counts[..., 0] > 0, np.ones((2, 30), int)], -1), "accuracy",
        items=tagged.items.iloc[:30].reset_index(drop=True),
    )  # fmt: skip
    decimals = Outputs.from_statistics(np.stack([np.sqrt(counts[..., 0]), np.ones((2, 30))], -1), "mean")
    wide = Outputs.from_statistics(
        np.stack([counts[..., 0] * (10**7 + counts[..., 1]), np.ones((2, 30), int)], -1), "mean"
    )
    for outputs, options, message in (
        (tagged, {}, r"units \(item\) have different denominators"),
        (Outputs.from_statistics(counts, "f1"), {}, "metric 'f1' is no mean of whole-number item scores"),
        (decimals, {}, "metric 'mean' is no mean of whole-number item scores"),
        (right, {"strata": "domain"}, "strata are resampled each on its own"),
        (right, {"convention": "sacrebleu", "alternative": "two-sided"}, "convention 'sacrebleu' has no limit"),
        (wide, {}, r"would need [0-9,]+ cells, more than 8,388,608 \(512 MiB\)"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            compared(outputs, monte_carlo=False, **(BOOTSTRAP | options))
        assert "\n" not in str(error.value)
        row = compared(outputs, n_resamples=100, **(BOOTSTRAP | options)).iloc[0]
        assert (row.monte_carlo, row.n_resamples) == (True, 100)
    # Clusters of equal size have one denominator.
    assert not compared(right, **(BOOTSTRAP | {"unit": "domain"}), monte_carlo=False)["monte_carlo"].any()
