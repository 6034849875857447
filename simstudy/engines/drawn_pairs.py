"""What tests and the interval of the gain say of many test sets, each with one pair of systems of known true gain."""

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
from simstudy.engines.question import MonteCarlo, Question
from simstudy.engines.registry import ALTERNATIVES, TESTS
from simstudy.engines.rounded_fractions import as_fractions
from simstudy.engines.wins import win_counts
from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.scaling import rescaled
from simstudy.validation import InputError, check_choice, check_fraction, check_seed, check_whole

# Up to so many units all shuffles of ratios and other functions of sums are looked at, where that is cheap.
_COMPUTED_UNITS = 30


class DrawnPairs:
    """M test sets, each with the statistics of a first and a second system, that share their resamples.

    Parameters
    ----------
    statistics
        (M, 2, n units, S), as a model of `simstudy.truth.PAIR_MODELS` draws them.
    metric
        A name of `simstudy.metrics.METRICS`.
    n_resamples, seed
        Of the tests that draw any.

    Raises
    ------
    ValueError
        For an unknown metric, an array of another shape, no resamples, and what is no seed.

    Examples
    --------
    >>> from simstudy.truth import PAIR_MODELS
    >>> model = PAIR_MODELS["RightOrWrong"]((0.8, 0.8), between=0.5)
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
        # On which test sets both systems have a score, rather than a 0 for 0 / 0.
        self._defined = np.asarray(METRICS[metric].defined(sums).reshape(-1, 2).all(axis=1))
        # System 2 m is the first of test set m.
        higher = self._scores if METRICS[metric].higher_is_better else -self._scores
        first, swap = 2 * np.arange(n_sets), higher[1::2] > higher[::2]
        #: On which test sets (M,) the first system has the better score, or both have the same.
        self.first_is_better: NDArray[np.bool_] = ~swap
        # As `ask` does it: what is whole in other units is tested as such.
        fractions, fraction = as_fractions(systems, METRICS[metric])
        whole, factor = rescaled(fractions, METRICS[metric])
        self.question = Question(
            whole,
            METRICS[metric],
            [f"system {k % 2 + 1} of test set {k // 2 + 1}" for k in range(2 * n_sets)],
            "item",
            np.array([0, n_units]),
            n_resamples=n_resamples,
            seed=seed,
            factor=fraction * factor,
            asked=(first + swap, first + 1 - swap),
        )

    def decisions(
        self, tests: Sequence[str], alphas: Sequence[float] = (0.05,), alternatives: Sequence[str] = ALTERNATIVES
    ) -> list[dict[str, Any]]:
        """What each test that applies decides, for each of these alternatives that it has, at each level.

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
        found = self.p_values(tests, alternatives)
        return [
            {"test": test, "alternative": alternative, "alpha": alpha, **self._counts(p_value <= alpha)}
            for (test, alternative), p_value in found.items()
            for alpha in alphas
        ]

    def p_values(
        self, tests: Sequence[str], alternatives: Sequence[str] = ALTERNATIVES, *, named: bool = False
    ) -> dict[tuple[str, str], FloatArray]:
        """The p-values (M,) of each test that applies, by its name and alternative.

        Where `named`, one-sided tests ask if the *first* system is better, as one does who said so before anything was
        drawn; else they ask it of the one with the better score.
        """
        for test in tests:
            check_choice("tests", test, TESTS)
        for alternative in alternatives:
            check_choice("alternatives", alternative, ALTERNATIVES)
        # What a question has worked out about its statistics serves all tests that are asked in the same way.
        asked: dict[tuple[str, MonteCarlo], Question] = {}
        found: dict[tuple[str, str], FloatArray] = {}
        for test in tests:
            for alternative in [name for name in TESTS[test].alternatives if name in alternatives]:
                way = (alternative, self.way(test))
                if way not in asked:
                    first = 2 * np.arange(self.question.n_pairs)
                    pairs = (first, first + 1) if named and alternative == "greater" else self.question.pairs
                    asked[way] = replace(self.question, alternative=alternative, monte_carlo=way[1], asked=pairs)
                p_value = p_values(asked[way], test)
                if p_value is not None:
                    found[test, alternative] = p_value
        return found

    def shown_within(self, margin: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """What the 95 % interval of the first system's gain shows about a margin on each test set (M,).

        Returns
        -------
        not_worse, equivalent
            Whether the interval lies above minus the margin, and whether it lies between minus the margin and the
            margin; False where there is no interval.
        """
        first, known = self.first_is_better, self._known
        low = np.where(first, known["gain_low"], -known["gain_high"])
        high = np.where(first, known["gain_high"], -known["gain_low"])
        return low > -margin, (low > -margin) & (high < margin)

    def coverage(self, true_gain: float) -> dict[str, str | int | float]:
        """How many 95 % intervals of the gain hold the first system's true gain over the second.

        Returns
        -------
        row
            interval ("score" or "jackknife"); n_sets that have one, n_covered, sum_width; n_undefined that have none;
            n_cautioned, of all of them those with a caution (`simstudy.engines.cautions`).
        """
        # The interval is of the better system's gain.
        true = np.where(self.first_is_better, true_gain, -true_gain)
        low, high = self._known["gain_low"], self._known["gain_high"]
        known = ~np.isnan(low)
        covered = (low <= true) & (true <= high)
        return {
            "interval": self._known["interval"],
            "n_sets": int(known.sum()),
            "n_covered": int(covered[known].sum()),
            "sum_width": float((high - low)[known].sum()),
            "n_undefined": int((~known).sum()),
            "n_cautioned": int((self._cautions != "").sum()),
        }

    def way(self, test: str) -> MonteCarlo:
        """Sign flips and randomization of means are computed, as `compare` does; others only if units are few.

        A set takes up to 0.4 ms (50 to 2,000 units; F1, BLEU, decimals, ratings), and 0.6 ms where its clusters have
        sizes of their own. Shared resamples are up to 13 times as fast on 50 units, and about as slow on 2,000. But 999
        of them say nothing about levels below 0.001, which plans for many comparisons have. The bootstrap is drawn: its
        limit is not what resampling few units shows.
        """
        if TESTS[test].n_resamples is None or self.question.right_or_wrong:
            return "auto"
        means = self.question.unit_scores is not None or _denominators_of_sets(self.question)
        if test in ("sign_flips", "skew_corrected") or (test == "randomization" and means):
            return "auto"
        return "auto" if self.question.n_units <= _COMPUTED_UNITS and test != "bootstrap" else True

    @property
    def gains(self) -> FloatArray:
        """The observed gain of the better system on each test set (M,)."""
        better, worse = self.question.pairs
        return np.abs(self._scores[better] - self._scores[worse])

    @cached_property
    def _known(self) -> dict[str, Any]:
        wins, losses, _ = win_counts(self.question)
        return intervals(self.question, self.gains, wins, losses)

    @property
    def _cautions(self) -> NDArray[np.object_]:
        known = self._known
        return np.asarray(cautions(self.question, known["skewness"], known["gain_se"])["caution"])

    def _counts(self, rejected: NDArray[np.bool_]) -> dict[str, int | float]:
        defined = self._defined
        gains = self.gains[rejected & defined]
        return {
            "n_sets": int(defined.sum()),
            "n_rejected": int((rejected & defined).sum()),
            "n_rejected_first": int((rejected & defined & self.first_is_better).sum()),
            "sum_gain": float(gains.sum()),
            "sum_square": float((gains**2).sum()),
            "n_undefined": int((~defined).sum()),
            "n_rejected_undefined": int((rejected & ~defined).sum()),
        }


def p_values(question: Question, test: str) -> FloatArray | None:
    """A p-value for each test set (M,); None where the test does not apply."""
    chosen = TESTS[test]
    if ACCEPTANCE_SETS in chosen.needs or _denominators_of_sets(question):
        # Whether a candidate is true, and the size of a cluster, is the same for two systems, not on another test set.
        parts = [_one_set(question, m) for m in range(question.n_pairs)]
        if any(chosen.refusal(part) for part in parts):
            return None
        return np.concatenate([chosen.run(part).p_value for part in parts])
    return None if chosen.refusal(question) else chosen.run(question).p_value


def _denominators_of_sets(question: Question) -> bool:
    """Whether denominators are the same for the two systems of each test set, and others on other test sets."""
    if question.ratio is None or question.unit_scores is not None:
        return False
    of_sets = question.ratio[1].reshape(-1, 2, question.n_units)
    return bool((of_sets[:, 0] == of_sets[:, 1]).all())


def _one_set(question: Question, m: int) -> Any:
    better, worse = (side[m : m + 1] - 2 * m for side in question.pairs)
    statistics = question.statistics[2 * m : 2 * m + 2]
    return replace(question, statistics=statistics, names=question.names[2 * m : 2 * m + 2], asked=(better, worse))
