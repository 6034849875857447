"""Candidates: what K scoring functions say of n candidates, each a true or a false positive (Evert 2004, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from simstudy.metrics import Metric, get_metric
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs
from simstudy.outputs.statistics import read_only
from simstudy.rankings.inputs import BoolArray, check_labels, jitter, ranks_of, score_matrix, scored, true_or_false
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import (
    InputError,
    check_choice,
    check_mapping,
    check_number,
    check_seed,
    check_text,
    check_texts,
    check_unique,
    check_whole,
    nearest,
)

#: How candidates with equal scores are ranked.
TIES = ("jitter", "keep")


def require_candidates(candidates: object, argument: str = "candidates") -> None:
    """Raise a ValueError where these are no Candidates."""
    if not isinstance(candidates, Candidates):
        raise InputError(argument, f"must be Candidates (see Candidates.from_scores), not {type(candidates).__name__}")


@dataclass(frozen=True, eq=False)
class Candidates(FieldsMixin):
    """Candidates ranked by scoring functions, each candidate true or false. Make one with `from_…`.

    Attributes
    ----------
    scores
        (K scoring functions, n candidates), higher is better, read-only. Infinite ones rank first or last.
    true
        (n,) whether each is a true positive, read-only.
    names
        Of the K scoring functions.
    ids
        Of the n candidates.
    ties
        "jitter": broken at random, so that an n-best list has n candidates (footnotes 5 and 6). "keep": an n-best list
        has all candidates that tie with its last.
    seed
        Of the jitter.
    test_set
        A name that appears in every table.

    Examples
    --------
    >>> frame = pd.DataFrame({"g1": [3, 2, 1, 0], "g2": [0, 1, 1, 2]}, index=["a", "b", "c", "d"])
    >>> candidates = Candidates.from_scores(frame, [True, True, False, False])
    >>> candidates.n_best("g1", 2).tolist(), candidates.threshold("g1", 2)
    ([True, True, False, False], 2.0)
    >>> candidates.baseline
    0.5
    """

    scores: FloatArray
    true: BoolArray
    names: list[str]
    ids: list[str]
    ties: str = "jitter"
    seed: int = 0
    test_set: str = ""

    @classmethod
    def from_scores(
        cls, scores: pd.DataFrame, true: ArrayLike, *, ties: str = "jitter", seed: int = 0, test_set: str = ""
    ) -> Candidates:
        """Candidates from a frame with a row for each candidate and a column for each scoring function.

        Parameters
        ----------
        scores
            (n candidates, K scoring functions), higher is better: negate p-values and distances. The index names the
            candidates, the columns name the scoring functions.
        true
            (n,) true or false, or 1 and 0, in the order of the rows; a Series must have their index.
        ties
            What becomes of candidates with equal scores: a name in `TIES`. The jitter of a candidate is a function of
            the seed and its id, the same for all scoring functions (it is the feature vector that is jittered), so
            that two functions with the same scores give the same ranking.
        seed
            0 … 2^64 - 1.

        Raises
        ------
        ValueError
            For no candidate or no scoring function, names or ids that occur twice, scores that are missing or no
            numbers, and true or false that is neither; the message names the candidate.
        """
        if not isinstance(scores, pd.DataFrame):
            raise InputError(
                "scores", f"must be a pandas DataFrame (candidates x functions), not {type(scores).__name__}"
            )
        if scores.empty:
            raise InputError("scores", "must have at least one candidate (row) and one scoring function (column)")
        check_choice("ties", ties, TIES)
        check_seed(seed)
        check_text("test_set", test_set)
        names, ids = [str(name) for name in scores.columns], [str(row) for row in scores.index]
        check_unique(pd.Series(names), "scoring functions")
        check_unique(pd.Series(ids), "candidates")
        values = score_matrix(scores, names, ids)
        check_labels("true", true, scores.index)
        return cls(read_only(values), read_only(true_or_false(true, ids)), names, ids, ties, int(seed), test_set)

    @classmethod
    def from_features(
        cls,
        features: pd.DataFrame,
        true: ArrayLike,
        functions: Mapping[str, Callable[[pd.DataFrame], ArrayLike]],
        *,
        ties: str = "jitter",
        seed: int = 0,
        test_set: str = "",
    ) -> Candidates:
        """Candidates from their feature vectors and scoring functions of them.

        Parameters
        ----------
        features
            A row for each candidate; the index names the candidates.
        true, ties, seed, test_set
            As for `from_scores`.
        functions
            Name -> what makes n scores of the whole frame. `simstudy.rankings.association.MEASURES` has such functions
            of contingency tables.

        Raises
        ------
        ValueError
            As `from_scores`, and for a function that does not return one score for each candidate.

        Examples
        --------
        >>> features = pd.DataFrame({"frequency": [30, 4, 12], "length": [2, 5, 3]})
        >>> functions = {"frequency": lambda f: f["frequency"], "density": lambda f: f["frequency"] / f["length"]}
        >>> Candidates.from_features(features, [1, 0, 1], functions).scores.tolist()
        [[30.0, 4.0, 12.0], [15.0, 0.8, 4.0]]
        """
        return cls.from_scores(scored(features, functions), true, ties=ties, seed=seed, test_set=test_set)

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
            raise InputError("n", f"must be between 1 and {self.n_candidates}, the number of candidates", n)
        return int(n)

    def take(self, positions: ArrayLike) -> Candidates:
        """The candidates at these positions, ranked among themselves: those of one domain, say.

        Raises
        ------
        ValueError
            For no position, one that is not there, or one that is given twice.
        """
        kept = np.asarray(positions)
        if kept.ndim != 1 or kept.size == 0 or kept.dtype.kind not in "iu" or np.unique(kept).size < kept.size:
            raise InputError("positions", "must be a non-empty list of integers, each once")
        if kept.min() < 0 or kept.max() >= self.n_candidates:
            raise InputError(
                "positions", f"must lie between 0 and {self.n_candidates - 1}, not {kept.min()} … {kept.max()}"
            )
        scores, true = read_only(self.scores[:, kept]), read_only(self.true[kept])
        return replace(self, scores=scores, true=true, ids=[self.ids[i] for i in kept])

    def select(self, names: Sequence[str]) -> Candidates:
        """These scoring functions, in this order.

        Raises
        ------
        ValueError
            For an unknown name, one that is given twice, or an empty list.
        """
        check_texts("names", names, "names of scoring functions")
        if not len(names) or len(set(names)) < len(names):
            raise InputError("names", f"must be of scoring functions, once each, not '{', '.join(names)}'")
        scores = read_only(self.scores[[self._function(name) for name in names]])
        return replace(self, scores=scores, names=list(names))

    def outputs(self, n: int) -> Outputs:
        """The n-best lists as Outputs under "precision@n": each candidate is an item.

        Statistics are (true and accepted, accepted), so that precision is their ratio. What every test of Outputs then
        asks is how much the precision of these *acceptance regions* varies: they stay where they are when candidates
        are resampled, while the number of candidates in them may change (section 3.2, last paragraph).

        Raises
        ------
        ValueError
            For n that is not between 1 and the number of candidates.

        Examples
        --------
        >>> frame = pd.DataFrame({"g1": [3, 2, 1, 0], "g2": [0, 1, 2, 3]})
        >>> Candidates.from_scores(frame, [True, True, False, False]).outputs(2).scores().tolist()
        [1.0, 0.0]
        """
        return self._outputs(self.ranks <= self.check_n(n), get_metric(f"precision@{n}"))

    def outputs_at(self, thresholds: Mapping[str, float]) -> Outputs:
        """The acceptance sets of these thresholds (scoring function -> gamma) as Outputs.

        Their metric "precision_of_accepted" is a fraction, as "precision@n" is. Acceptance sets of very different size
        should not be compared by precision alone: the smaller one has it easier (footnote 13).

        Raises
        ------
        ValueError
            As `accepted`, for no threshold, and for one that accepts no candidate: the precision of none is not known.
        """
        check_mapping("thresholds", thresholds, "scoring functions to thresholds")
        accepted = np.stack([self.accepted(name, gamma) for name, gamma in thresholds.items()])
        for (name, gamma), of_function in zip(thresholds.items(), accepted, strict=True):
            if not of_function.any():
                best = self.scores[self._function(name)].max()
                raise InputError(
                    "thresholds", f"must accept a candidate, unlike {gamma} for '{name}' (highest: {best})"
                )
        return self.select(list(thresholds))._outputs(accepted, get_metric("precision_of_accepted"))

    def _function(self, name: str) -> int:
        check_text("name", name, "the name of a scoring function")
        if name not in self.names:
            raise InputError(f"no scoring function '{name}' among {', '.join(self.names)}{nearest(name, self.names)}")
        return self.names.index(name)

    def _outputs(self, accepted: BoolArray, metric: Metric) -> Outputs:
        return Outputs.from_statistics(
            np.stack([accepted & self.true, accepted], axis=-1).astype(np.int8),
            metric,
            self.names,
            pd.DataFrame({"id": self.ids, "true": self.true}),
            test_set=self.test_set,
        )
