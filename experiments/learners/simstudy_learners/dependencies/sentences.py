"""Sentences as the compiled parsers read them: numbers of words, tags and suffixes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Sentences(NamedTuple):
    """Many sentences; each begins with the root and ends with an entry for no word.

    Attributes
    ----------
    bounds
        (n + 1,): sentence i is entries bounds[i] … bounds[i + 1] - 1.
    forms, tags, suffixes
        (entries,), see `simstudy_learners.dependencies.trees.Words`.
    """

    bounds: Integers
    forms: Integers
    tags: Integers
    suffixes: Integers


class Sentence(NamedTuple):
    """One sentence of n words, (n + 2,): entry 0 is the root, entry n + 1 stands for no word."""

    form: Integers
    tag: Integers
    suffix: Integers


@njit(cache=True, nogil=True)
def sentence_of(sentences: Sentences, item: int) -> Any:
    """One of many sentences."""
    first, last = sentences.bounds[item], sentences.bounds[item + 1]
    return Sentence(sentences.forms[first:last], sentences.tags[first:last], sentences.suffixes[first:last])
