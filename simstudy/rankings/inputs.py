"""What Candidates are made from: scores, labels and who is true, checked, and ranks (Evert 2004, footnotes 5 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_complex_dtype, is_numeric_dtype

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.validation import InputError, brief, check_mapping, check_unmasked

BoolArray = NDArray[np.bool_]


def score_column(scores: pd.Series[Any], name: str) -> FloatArray:
    """A scoring function's scores as floats, NaN where they are missing; ValueError where they are no numbers."""
    plain = is_numeric_dtype(scores) and not is_complex_dtype(scores)
    if not plain and scores.dtype != object:
        raise InputError("scores", f"must be numbers, unlike those of '{name}' ({scores.dtype})")
    try:
        return scores.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError("scores", f"must be numbers, unlike those of '{name}'") from None


def check_labels(argument: str, values: object, index: pd.Index[Any]) -> None:
    """Raise a ValueError where a Series has other labels than the candidates, and where values are masked.

    Whose the values of such a Series are is not known.
    """
    check_unmasked(argument, values)
    if isinstance(values, pd.Series) and not values.index.equals(index):
        raise InputError(
            argument,
            "must have the index of the candidates; values in the order of the rows can be given as an array "
            "(.to_numpy())",
        )


def scored(features: pd.DataFrame, functions: Mapping[str, Callable[[pd.DataFrame], ArrayLike]]) -> pd.DataFrame:
    """A column of scores by each function of the features; ValueError where one does not return n scores."""
    if not isinstance(features, pd.DataFrame):
        raise InputError(
            "features", f"must be a pandas DataFrame (candidates x features), not {type(features).__name__}"
        )
    check_mapping("functions", functions, "names to scoring functions")
    for name, function in functions.items():
        if not callable(function):
            raise InputError("functions", f"must map names to scoring functions, not '{name}' to {brief(function)}")
    scores = {}
    for name, function in functions.items():
        returned = function(features)
        check_labels(f"scores by '{name}'", returned, features.index)
        scores[name] = np.asarray(returned)
        if scores[name].shape != (len(features),):
            raise InputError(
                "functions",
                f"must return one score for each of {len(features)} candidates, unlike '{name}', which returns an "
                f"array of shape {scores[name].shape}",
            )
    return pd.DataFrame(scores, index=features.index)


def score_matrix(scores: pd.DataFrame, names: Sequence[str], ids: Sequence[str]) -> FloatArray:
    """Scores (K, n) from a frame with a column for each of K functions; ValueError where one is missing."""
    values = np.empty((len(names), len(ids)))
    for k, name in enumerate(names):
        values[k] = score_column(scores.iloc[:, k], name)
        if (missing := np.isnan(values[k])).any():
            raise InputError(
                "scores", f"must not be missing, as that of candidate '{ids[missing.argmax()]}' by '{name}'"
            )
    # -0 and 0 are one score.
    return values + 0.0


def true_or_false(true: ArrayLike, ids: Sequence[str]) -> BoolArray:
    """Which of n candidates are true; ValueError for another number of them, and what is neither true nor false."""
    values = np.array(true)
    if values.shape != (len(ids),):
        raise InputError("true", f"must have one value for each of {len(ids)} candidates, not the shape {values.shape}")
    known = np.array([not pd.isna(value) and value in (0, 1) for value in values.tolist()], dtype=bool)
    if not known.all():
        wrong = int(np.argmin(known))
        raise InputError("true", f"must be true or false (1 or 0), unlike {values[wrong]} of candidate '{ids[wrong]}'")
    return values.astype(bool)


def jitter(ids: Iterable[str], seed: int) -> NDArray[np.uint64]:
    """As good as a random number for each candidate: a function of the seed and its id alone, wherever it stands."""
    key = seed.to_bytes(8, "little")
    digests = b"".join(blake2b(name.encode(), digest_size=8, key=key).digest() for name in ids)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def ranks_of(scores: FloatArray, jitter: NDArray[np.uint64] | None) -> IntArray:
    """Ranks (K, n), 1 for the highest score; the jitter (n,) decides between equal ones, which else share a rank."""
    if jitter is None:
        return np.asarray(scipy.stats.rankdata(-scores, method="min", axis=1), dtype=np.int64)
    ranks = np.empty(scores.shape, dtype=np.int64)
    for own, of_function in zip(ranks, scores, strict=True):
        own[np.lexsort((jitter, -of_function))] = np.arange(1, own.size + 1)
    return ranks
