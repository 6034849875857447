"""Tests and intervals on many test sets, each with one pair of systems of known true gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.engines.cautions import cautions
from simstudy.engines.intervals import intervals
from simstudy.engines.needs import ACCEPTANCE_SETS
from simstudy.engines.question import Question
from simstudy.engines.registry import ALTERNATIVES, TESTS
from simstudy.engines.wins import win_counts
from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.scaling import rescaled
from simstudy.validation import InputError, check_choice, check_fraction, check_seed, check_whole

# Up to so many units all shuffles of ratios and other functions of sums are enumerated.
_COMPUTED_UNITS = 30


class DrawnPairs:
    """M test sets, each with the statistics of a first and a second system, that share their resamples.

    Parameters
    ----------
    statistics
        (M, 2, n units, S), as a model of `simstudy.truth` draws them.
    metric
        A name of `simstudy.metrics.METRICS`.
    n_resamples, seed
        As for `compare`.

    Raises
    ------
    ValueError
        For an unknown metric, an array of another shape, and wrong n_resamples or seed.

    Examples
    --------
    >>> from simstudy.truth import MODELS
    >>> model = MODELS["RightOrWrong"]((0.8, 0.8), between=0.5)
    >>> drawn = DrawnPairs(model.draw(200, 60, np.random.default_rng(0)).by("item"), "accuracy")
    >>> two_sided, one_sided = (row["n_rejected"] for row in drawn.decisions(["sign_flips"]))
    >>> 0 < two_sided < one_sided < 40, drawn.coverage(model.true_gain)["n_covered"] > 180
    (True, True)
    """

    def __init__(self, statistics: Array, metric: str, *, n_resamples: int = 999, seed: int = 0) -> None:
        check_choice("metric", metric, METRICS)
        check_whole("n_resamples", n_resamples, 1, 2**53)
        check_seed(seed)
        if np.ndim(statistics) != 4 or statistics.shape[1] != 2:
            raise InputError("statistics", f"must be an array (M, 2, n, S), not of shape {np.shape(statistics)}")
        n_sets, _, n_units, n_statistics = statistics.shape
        systems = statistics.reshape(2 * n_sets, n_units, n_statistics)
        sums = systems.sum(axis=1, dtype=np.float64)
        self._scores: FloatArray = METRICS[metric].score(sums)
        #: On which test sets (M,) both systems have a score, not a 0 for 0 / 0.
        self.defined: NDArray[np.bool_] = np.asarray(METRICS[metric].defined(sums).reshape(-1, 2).all(axis=1))
        # System 2 m is the first of test set m.
        higher = self._scores if METRICS[metric].higher_is_better else -self._scores
        first, swap = 2 * np.arange(n_sets), higher[1::2] > higher[::2]
        #: On which test sets (M,) the first system has the better score, or both have the same.
        self.first_is_better: NDArray[np.bool_] = ~swap
        # As in `make_question`: scores that are whole numbers in other units are tested as whole numbers.
        whole, factor = rescaled(systems, METRICS[metric])
        self.question = Question(
            whole,
            METRICS[metric],
            ["first", "second"] * n_sets,
            "item",
            np.array([0, n_units]),
            n_resamples=n_resamples,
            seed=seed,
            factor=factor,
            asked=(first + swap, first + 1 - swap),
        )

    def decisions(
        self, tests: Sequence[str], alphas: Sequence[float] = (0.05,), alternatives: Sequence[str] = ALTERNATIVES
    ) -> list[dict[str, Any]]:
        """Numbers of significant results of each test that applies, by alternative and level.

        Returns
        -------
        rows
            test, alternative, alpha; of the test sets on which both scores are defined: n_sets, n_rejected
            (p <= alpha), n_rejected_first (those where the first system has the better score); of the rejected ones
            sum_gain and sum_square (of the observed gains and their squares, on the metric's scale); n_undefined and
            n_rejected_undefined of the others.
        """
        for alpha in alphas:
            check_fraction("alphas", alpha)
        return [
            {"test": test, "alternative": alternative, "alpha": alpha, **self._counts(p_value <= alpha)}
            for (test, alternative), p_value in self.p_values(tests, alternatives).items()
            for alpha in alphas
        ]

    def p_values(
        self, tests: Sequence[str], alternatives: Sequence[str] = ALTERNATIVES, *, named: bool = False
    ) -> dict[tuple[str, str], FloatArray]:
        """The p-values (M,) of each test that applies, by its name and alternative.

        If `named`, one-sided tests ask whether the *first* system is better, as a user does who names it before the
        test sets are drawn. Otherwise they ask it of the system with the better score.
        """
        for test in tests:
            check_choice("tests", test, TESTS)
        for alternative in alternatives:
            check_choice("alternatives", alternative, ALTERNATIVES)
        # Tests that are asked in the same way share what a question computes from its statistics.
        questions: dict[tuple[str, bool], Question] = {}
        by_test: dict[tuple[str, str], FloatArray] = {}
        for test in tests:
            for alternative in [name for name in TESTS[test].alternatives if name in alternatives]:
                way = (alternative, self.is_resampled(test))
                if way not in questions:
                    first = 2 * np.arange(self.question.n_pairs)
                    pairs = (first, first + 1) if named and alternative == "greater" else self.question.pairs
                    questions[way] = replace(self.question, alternative=alternative, monte_carlo=way[1], asked=pairs)
                p_value = p_values(questions[way], test)
                if p_value is not None:
                    by_test[test, alternative] = p_value
        return by_test

    def shown_within(self, margin: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether the first system is shown to be not worse, and equivalent, by its gain's 95 % interval, (M,) each.

        Not worse: the interval lies above minus the margin. Equivalent: it lies between minus the margin and the
        margin. Both are False without an interval.
        """
        low, high = self.first_interval()
        return low > -margin, (low > -margin) & (high < margin)

    def first_interval(self) -> tuple[FloatArray, FloatArray]:
        """The ends (M,) of the 95 % intervals of the first system's gain over the second, which may be negative."""
        first, low, high = self.first_is_better, self.intervals["gain_low"], self.intervals["gain_high"]
        return np.where(first, low, -high), np.where(first, high, -low)

    def coverage(self, true_gain: float) -> dict[str, str | int | float]:
        """Coverage of the first system's true gain over the second by the 95 % intervals.

        Returns
        -------
        row
            interval ("score" or "jackknife"); n_sets with an interval, n_covered, sum_width; n_undefined without one;
            n_cautioned of all sets, those with a caution (`simstudy.engines.cautions`).
        """
        low, high = self.first_interval()
        return {
            "interval": self.intervals["interval"],
            "n_sets": int((~np.isnan(low)).sum()),
            "n_covered": int(((low <= true_gain) & (true_gain <= high)).sum()),
            "sum_width": float(np.nansum(high - low)),
            "n_undefined": int(np.isnan(low).sum()),
            "n_cautioned": int(self.cautioned.sum()),
        }

    def is_resampled(self, test: str) -> bool:
        """Whether a test counts the shared resamples, although `compare` may compute its p-values.

        Sign flips and randomization of means are computed; other shuffles only if units are few. The bootstrap counts:
        its limit is not what resampling few units shows.
        """
        if TESTS[test].n_resamples is None or self.question.right_or_wrong:
            return False
        means = self.question.unit_scores is not None or _denominators_of_sets(self.question)
        if test in ("sign_flips", "skew_corrected") or (test == "randomization" and means):
            return False
        return self.question.n_units > _COMPUTED_UNITS or test == "bootstrap"

    @property
    def gains(self) -> FloatArray:
        """The observed gain of the better system on each test set (M,)."""
        better, worse = self.question.pairs
        return np.abs(self._scores[better] - self._scores[worse])

    @cached_property
    def cautioned(self) -> NDArray[np.bool_]:
        """On which test sets (M,) the pair has a caution (`simstudy.engines.cautions`)."""
        columns = cautions(self.question, self.intervals["skewness"], self.intervals["gain_se"])
        return np.asarray(columns["caution"] != "")

    @cached_property
    def intervals(self) -> dict[str, Any]:
        """Standard errors and 95 % intervals of the better system's gain on each test set.

        Returns
        -------
        columns
            gain_se, gain_low, gain_high and skewness, (M,) each, with NaN on test sets without an interval; interval,
            which is "score" or "jackknife". The other columns are those of `Comparisons`.
        """
        wins, losses, _ = win_counts(self.question)
        return intervals(self.question, self.gains, wins, losses)

    def _counts(self, rejected: NDArray[np.bool_]) -> dict[str, int | float]:
        counted = rejected & self.defined
        return {
            "n_sets": int(self.defined.sum()),
            "n_rejected": int(counted.sum()),
            "n_rejected_first": int((counted & self.first_is_better).sum()),
            "sum_gain": float(self.gains[counted].sum()),
            "sum_square": float((self.gains[counted] ** 2).sum()),
            "n_undefined": int((~self.defined).sum()),
            "n_rejected_undefined": int((rejected & ~self.defined).sum()),
        }


def p_values(question: Question, test: str) -> FloatArray | None:
    """A p-value for each test set (M,); None where the test does not apply."""
    chosen = TESTS[test]
    if ACCEPTANCE_SETS not in chosen.needs and not _denominators_of_sets(question):
        return None if chosen.refusal(question) else chosen.run(question).p_value
    # True candidates, and sizes of clusters, are the same for the two systems of a test set, and differ between sets.
    parts = [_test_set(question, m) for m in range(question.n_pairs)]
    if any(chosen.refusal(part) for part in parts):
        return None
    return np.concatenate([chosen.run(part).p_value for part in parts])


def _denominators_of_sets(question: Question) -> bool:
    """Whether the two systems of each test set have the same denominators, which differ between test sets."""
    if question.ratio is None or question.unit_scores is not None:
        return False
    denominators = question.ratio[1].reshape(-1, 2, question.n_units)
    return bool((denominators[:, 0] == denominators[:, 1]).all())


def _test_set(question: Question, m: int) -> Question:
    """The question about one test set alone."""
    systems = slice(2 * m, 2 * m + 2)
    better, worse = (side[m : m + 1] - 2 * m for side in question.pairs)
    return replace(
        question, statistics=question.statistics[systems], names=question.names[systems], asked=(better, worse)
    )
