"""Many test sets, each with K systems of known true scores: what the tests and the places of a leaderboard say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from simstudy.comparisons.stepdown import Places, gain_parts, places
from simstudy.engines.drawn_pairs import p_values
from simstudy.engines.question import Question
from simstudy.engines.registry import TESTS
from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import n_undefined
from simstudy.truth import KnownTruth
from simstudy.truth.models import Drawn
from simstudy.validation import InputError, check_choice, check_whole

#: Scores of one system on one item that are in memory together.
SCORES = 2_000_000


@dataclass(frozen=True, eq=False)
class DrawnBoards:
    """M test sets of K systems.

    Parameters
    ----------
    statistics
        (M, K, n units, S).
    metric
        A name of `simstudy.metrics.METRICS`, of which more is better.

    Raises
    ------
    ValueError
        For an unknown metric, and an array of another shape or of fewer than two systems.

    Examples
    --------
    >>> from simstudy.truth import Bernoulli, GaussianCopula, ScoreModel
    >>> model = ScoreModel([Bernoulli(0.7)] * 3, GaussianCopula(0.5), metric="accuracy")
    >>> (drawn,) = DrawnBoards.of(model, 40, 100, np.random.default_rng(0))
    >>> p = drawn.p_values("sign_flips")
    >>> p.shape, drawn.ahead().shape, bool((p <= 0.05).mean() < 0.15)
    ((40, 3), (40, 3), True)
    """

    statistics: Array
    metric: str

    def __post_init__(self) -> None:
        check_choice("metric", self.metric, METRICS)
        if np.ndim(self.statistics) != 4 or self.statistics.shape[1] < 2:
            raise InputError(
                "statistics", f"must be an array (M, K > 1, n, S), not of shape {np.shape(self.statistics)}"
            )

    @classmethod
    def of(cls, model: KnownTruth, n_sets: int, n_units: int, rng: np.random.Generator) -> Iterator[Self]:
        """Test sets of so many items, or clusters, some at a time; how many that are is part of what a seed means."""
        check_whole("n_sets", n_sets, 1)
        check_whole("n_units", n_units, 2)
        for drawn in some_at_a_time(model, n_sets, n_units, rng, SCORES):
            yield cls(drawn.by(model.units[0]), model.metric.name)

    @property
    def n_systems(self) -> int:
        """K."""
        return int(self.statistics.shape[1])

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """The first and the second system of all P pairs, as positions."""
        first, second = np.triu_indices(self.n_systems, k=1)
        return first, second

    def scores(self) -> FloatArray:
        """(M, K), on the metric's scale."""
        return np.asarray(METRICS[self.metric].score(self.statistics.sum(axis=2, dtype=np.float64)))

    def ahead(self, pairs: tuple[IntArray, IntArray] | None = None) -> IntArray:
        """(M, P) 1 where the first system of a pair has the better score, -1 where the second has, else 0."""
        first, second = self.pairs if pairs is None else pairs
        scores = self.scores()
        gain = scores[:, first] - scores[:, second]
        return np.where(np.abs(gain) <= 1e-9 * np.abs(scores).max(), 0, np.sign(gain)).astype(np.int64)

    def p_values(
        self, test: str, *, pairs: tuple[IntArray, IntArray] | None = None, alternative: str = "two-sided"
    ) -> FloatArray:
        """What a test that draws nothing here says of pairs, (M, P); of all, where none are named.

        One-sided they are of the system with the better score, as `simstudy.compare` has them.

        Raises
        ------
        ValueError
            For an unknown test, and one that has to draw resamples or does not apply to such statistics.
        """
        check_choice("test", test, TESTS)
        first, second = self.pairs if pairs is None else pairs
        behind = self.ahead((first, second)) < 0
        better, worse = np.where(behind, second, first), np.where(behind, first, second)
        n_sets, k, n, s = self.statistics.shape
        if len(first) > k:
            # All pairs of a test set are products of one matrix with itself.
            asked = [self._question(self.statistics[m], better[m], worse[m], alternative) for m in range(n_sets)]
        else:
            of_set = k * np.arange(n_sets)[:, None]
            systems = self.statistics.reshape(n_sets * k, n, s)
            asked = [self._question(systems, (better + of_set).ravel(), (worse + of_set).ravel(), alternative)]
        if TESTS[test].n_resamples is not None and not asked[0].right_or_wrong:
            raise InputError("test", f"must draw no resamples of '{self.metric}' here, unlike '{test}'")
        found = [p_values(question, test) for question in asked]
        if any(p is None for p in found):
            raise InputError(TESTS[test].refusal(asked[0]), at="test")
        return np.concatenate([p for p in found if p is not None]).reshape(n_sets, len(first))

    def places(self, *, level: float, n_draws: int, seed: int) -> list[Places]:
        """The places of each test set's systems, as `simstudy.leaderboard` finds them with so many draws of signs."""
        metric, found = METRICS[self.metric], []
        for statistics in self.statistics:
            gains = gain_parts(statistics, metric, n_undefined(statistics, metric) > 0)
            found.append(places(gains, level=level, n_bootstrap=n_draws, seed=seed))
        return found

    def of_systems(self, systems: Sequence[int]) -> DrawnBoards:
        """The same test sets with some of the systems."""
        return DrawnBoards(self.statistics[:, list(systems)], self.metric)

    def _question(self, statistics: Array, better: IntArray, worse: IntArray, alternative: str) -> Question:
        names = [f"system {k % self.n_systems + 1}" for k in range(len(statistics))]
        n_units = statistics.shape[1]
        return Question(
            statistics, METRICS[self.metric], names, "item", np.array([0, n_units]), alternative, asked=(better, worse)
        )


def some_at_a_time(
    model: KnownTruth, n_sets: int, n_units: int, rng: np.random.Generator, most: int
) -> Iterator[Drawn]:
    """Test sets of so many units, in parts of about `most` scores or fewer, but of one test set at least.

    How many test sets a part has is part of what a seed means.
    """
    size = 1.0 if model.clusters is None else model.clusters.mean_size
    at_once = max(1, int(most / (model.n_systems * n_units * size)))
    for first in range(0, n_sets, at_once):
        yield model.draw(min(at_once, n_sets - first), n_units, rng)
