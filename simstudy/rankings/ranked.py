"""Scores of K functions for n candidates as rankings: ranks, n-best lists, acceptance sets and their thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs.answers import read_only
from simstudy.rankings.inputs import BoolArray, jitter, ranks_of
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import check_number, check_text, check_whole, nearest


@dataclass(frozen=True, eq=False)
class RankedCandidates(FieldsMixin):
    """Candidates ranked by scoring functions, each candidate true or false. Fields: `Candidates`."""

    scores: FloatArray
    true: BoolArray
    names: list[str]
    ids: list[str]
    ties: str = "jitter"
    seed: int = 0
    test_set: str = ""

    @property
    def n_candidates(self) -> int:
        """N."""
        return int(self.scores.shape[1])

    @property
    def baseline(self) -> float:
        """The precision of a random selection: the share of true candidates, a fraction."""
        return float(self.true.mean())

    @cached_property
    def ranks(self) -> IntArray:
        """(K, n): the smallest n whose n-best list has the candidate; 1 is the best.

        A permutation of 1 … n with ties broken; with ties kept, those that tie have the rank of their first and are
        one more than the candidates above them.
        """
        ties = any(np.unique(scores).size < scores.size for scores in self.scores)
        return read_only(ranks_of(self.scores, jitter(self.ids, self.seed) if ties and self.ties == "jitter" else None))

    def n_best(self, name: str, n: int) -> BoolArray:
        """Which candidates (n,) are in a scoring function's n-best list.

        Raises
        ------
        ValueError
            For an unknown name, or n that is not between 1 and the number of candidates.
        """
        return np.asarray(self.ranks[self._function(name)] <= self.check_n(n))

    def accepted(self, name: str, threshold: float) -> BoolArray:
        """Which candidates (n,) are in a scoring function's acceptance set: those with a score >= threshold (gamma).

        Raises
        ------
        ValueError
            For an unknown name, or a threshold that is no number.
        """
        check_number("threshold", threshold)
        return np.asarray(self.scores[self._function(name)] >= float(threshold))

    def threshold(self, name: str, n: int) -> float:
        """The score of the last candidate of a scoring function's n-best list (gamma_g(n)).

        Raises
        ------
        ValueError
            As `n_best`.
        """
        return float(np.sort(self.scores[self._function(name)])[self.n_candidates - self.check_n(n)])

    def check_n(self, n: int) -> int:
        """The length of an n-best list; ValueError where it is not between 1 and the number of candidates."""
        check_whole("n", n, 1)
        if n > self.n_candidates:
            raise ValueError(f"n must be between 1 and {self.n_candidates}, the number of candidates, not {n}")
        return int(n)

    def _function(self, name: str) -> int:
        check_text("name", name, "the name of a scoring function")
        if name not in self.names:
            raise ValueError(f"no scoring function '{name}' among {', '.join(self.names)}{nearest(name, self.names)}")
        return self.names.index(name)
