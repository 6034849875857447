"""Candidates: scores of n candidates by K scoring functions, and which candidates are true (Evert 2004, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_complex_dtype, is_numeric_dtype

from simstudy.metrics import get_metric
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs
from simstudy.outputs.statistics import read_only
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import (
    InputError,
    check_choice,
    check_number,
    check_seed,
    check_text,
    check_unique,
    check_unmasked,
    check_whole,
    nearest,
)

BoolArray = NDArray[np.bool_]

#: How candidates with equal scores are ranked.
TIES = ("jitter", "keep")


@dataclass(frozen=True, eq=False)
class Candidates(FieldsMixin):
    """Candidates ranked by scoring functions, each candidate true or false. Make one with `from_scores`.

    Attributes
    ----------
    scores
        (K scoring functions, n candidates), higher is better, read-only. Infinite scores rank first or last.
    true
        (n,) whether each candidate is a true positive, read-only.
    names
        Names of the K scoring functions.
    ids
        Names of the n candidates.
    ties
        "jitter": ties are broken at random, so that an n-best list has n candidates (footnotes 5 and 6). "keep": an
        n-best list has all candidates that tie with its last.
    seed
        Seed of the jitter.
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
            How candidates with equal scores are ranked: a name in `TIES`. The jitter of a candidate is a function of
            the seed and its id, the same for all scoring functions, so that two functions with the same scores give
            the same ranking.
        seed
            0 … 2^64 - 1.

        Raises
        ------
        ValueError
            For no candidate or no scoring function, names or ids that occur twice, scores that are missing or no
            numbers, and true or false that is neither; the message names the candidate.
        """
        if not isinstance(scores, pd.DataFrame):
            raise InputError("scores", "must be a pandas DataFrame (candidates x functions)", scores)
        if scores.empty:
            raise InputError("scores", "must have at least one candidate (row) and one scoring function (column)")
        check_choice("ties", ties, TIES)
        check_seed(seed)
        check_text("test_set", test_set)
        names, ids = [str(name) for name in scores.columns], [str(row) for row in scores.index]
        check_unique(pd.Series(names), "scoring functions")
        check_unique(pd.Series(ids), "candidates")
        for name, dtype in zip(names, scores.dtypes, strict=True):
            if not is_numeric_dtype(dtype) or is_complex_dtype(dtype):
                raise InputError("scores", f"must be numbers, unlike those of '{name}' ({dtype})")
        values = scores.to_numpy(dtype=np.float64, na_value=np.nan, copy=True).T
        for name, missing in zip(names, np.isnan(values), strict=True):
            if missing.any():
                rule = f"must not be missing, as that of candidate '{ids[missing.argmax()]}' by '{name}'"
                raise InputError("scores", rule)
        return cls(read_only(values), read_only(_labels(true, scores.index)), names, ids, ties, int(seed), test_set)

    @property
    def n_candidates(self) -> int:
        """The number of candidates n."""
        return int(self.scores.shape[1])

    @property
    def baseline(self) -> float:
        """The precision of a random selection: the share of true candidates, a fraction."""
        return float(self.true.mean())

    @cached_property
    def ranks(self) -> IntArray:
        """(K, n): the smallest n whose n-best list has the candidate; 1 is the best.

        With broken ties, the ranks of a function are a permutation of 1 … n. With kept ties, candidates that tie have
        the rank of the first of them: one more than the number of candidates above them.
        """
        if self.ties == "keep":
            return read_only(scipy.stats.rankdata(-self.scores, method="min", axis=1).astype(np.int64))
        key = self.seed.to_bytes(8, "little")
        digests = [blake2b(name.encode(), digest_size=8, key=key).digest() for name in self.ids]
        jitter = np.frombuffer(b"".join(digests), dtype="<u8")
        ranks = np.empty(self.scores.shape, dtype=np.int64)
        for k, scores in enumerate(self.scores):
            ranks[k, np.lexsort((jitter, -scores))] = np.arange(1, self.n_candidates + 1)
        return read_only(ranks)

    def n_best(self, name: str, n: int) -> BoolArray:
        """Which candidates (n,) are in a scoring function's n-best list.

        Raises
        ------
        ValueError
            For an unknown name, or n that is not between 1 and the number of candidates.
        """
        return np.asarray(self.ranks[self._function(name)] <= self._length(n))

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
        return float(np.sort(self.scores[self._function(name)])[self.n_candidates - self._length(n)])

    def outputs(self, n: int) -> Outputs:
        """The n-best lists as Outputs under "precision@n": each candidate is an item.

        Statistics are (true and accepted, accepted), so that precision is their ratio. Tests of these Outputs ask how
        much the precision of the *acceptance regions* varies: the regions stay the same if candidates are resampled,
        while the number of candidates in them may change (section 3.2, last paragraph).

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
        accepted = self.ranks <= self._length(n)
        return Outputs.from_statistics(
            np.stack([accepted & self.true, accepted], axis=-1).astype(np.int8),
            get_metric(f"precision@{n}"),
            self.names,
            pd.DataFrame({"id": self.ids, "true": self.true}),
            test_set=self.test_set,
        )

    def _length(self, n: int) -> int:
        check_whole("n", n, 1)
        if n > self.n_candidates:
            raise InputError("n", f"must be between 1 and {self.n_candidates}, the number of candidates", n)
        return int(n)

    def _function(self, name: str) -> int:
        check_text("name", name, "the name of a scoring function")
        if name not in self.names:
            raise InputError(f"no scoring function '{name}' among {', '.join(self.names)}{nearest(name, self.names)}")
        return self.names.index(name)


def _labels(true: ArrayLike, candidates: pd.Index[str]) -> BoolArray:
    """Which candidates (n,) are true; an InputError names the first that is neither true nor false."""
    check_unmasked("true", true)
    if isinstance(true, pd.Series) and not true.index.equals(candidates):
        raise InputError("true", "must have the index of the candidates, or be an array (.to_numpy())")
    values = np.array(true)
    if values.shape != candidates.shape:
        rule = f"must have one value for each of {len(candidates)} candidates, not the shape {values.shape}"
        raise InputError("true", rule)
    is_label = np.array([not pd.isna(value) and value in (0, 1) for value in values.tolist()])
    if not is_label.all():
        wrong = int(np.argmin(is_label))
        rule = f"must be true or false (1 or 0), unlike {values[wrong]} of candidate '{candidates[wrong]}'"
        raise InputError("true", rule)
    return values.astype(bool)
