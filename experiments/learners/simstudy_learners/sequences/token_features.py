"""Features of words in context, made once for all sentences of a task: sparse views, a dense one and a numbered one.

A word type is hashed once; a token's row is put together from the rows of its own type and its neighbours'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction import FeatureHasher
from sklearn.preprocessing import normalize

# Contexts counted for the embeddings: the most frequent words of the training text, and one for all others.
_N_CONTEXTS = 1500


@dataclass(frozen=True)
class Tokens:
    """Word types, and the type of each token and its neighbours; type 0, the empty string, is the sentence boundary."""

    types: list[str]
    current: NDArray[np.int64]
    previous: NDArray[np.int64]
    following: NDArray[np.int64]

    @classmethod
    def index(cls, sentences: Sequence[Sequence[str]]) -> Tokens:
        """Number the types in order of first appearance."""
        ids = {"": 0}
        current: list[int] = []
        previous: list[int] = []
        following: list[int] = []
        for words in sentences:
            types = [ids.setdefault(word, len(ids)) for word in words]
            current += types
            previous += [0, *types[:-1]]
            following += [*types[1:], 0]
        return cls(list(ids), np.array(current), np.array(previous), np.array(following))


def linear_view(tokens: Tokens) -> sparse.csr_matrix:
    """Hashed word, suffix, shape and context features of a linear model.

    It sees only the form of the next word, not which it is; without that handicap its weakest variant would be better
    than most of the others' best.
    """
    word, suffix, shape, context = _spelled(tokens)
    form = _hashed([[f"s={w.lower()[-2:]}", f"sh={_shape(w)}"] for w in tokens.types], 14)
    here, before, after = tokens.current, tokens.previous, tokens.following
    blocks = [word[here], suffix[here], shape[here], context[before], form[after]]
    return sparse.csr_matrix(sparse.hstack(blocks, "csr"))


def bayes_view(tokens: Tokens) -> sparse.csr_matrix:
    """The same of naive Bayes, which sees the words on both sides."""
    word, suffix, shape, context = _spelled(tokens)
    exact = _hashed([[f"f={w}"] for w in tokens.types], 17)
    here, before, after = tokens.current, tokens.previous, tokens.following
    # Nested suffixes repeat one another, which naive Bayes would count as independent evidence: half weight.
    halved = np.float32(0.5) * suffix[here]
    blocks = [word[here], exact[here], halved, shape[here], context[before], context[after]]
    return sparse.csr_matrix(sparse.hstack(blocks, "csr"))


def _spelled(tokens: Tokens) -> tuple[sparse.csr_matrix, ...]:
    """For each type: the word itself, its suffixes, its shape, and the word as another's neighbour."""
    lowered = [word.lower() for word in tokens.types]
    return (
        _hashed([[f"w={w}"] for w in lowered], 16),
        _hashed([_suffixes(w, 3) for w in lowered], 15),
        _hashed([[f"sh={_shape(w)}"] for w in tokens.types], 10),
        _hashed([[f"c={w}"] for w in lowered], 15),
    )


def dense_view(tokens: Tokens, n_train: int, *, width: int = 20, context_width: int = 8) -> NDArray[np.float32]:
    """Embeddings of a word and its neighbours, from the text (not the tags) of the first n_train tokens.

    A word's vector is the truncated SVD of the logarithms of how often each frequent word stands to its left and
    right. Its spelling gets the mean vector of the words that share its affixes, so that unknown words have one too.
    """
    lower_ids: dict[str, int] = {}
    lowered = np.array([lower_ids.setdefault(word.lower(), len(lower_ids)) for word in tokens.types])
    here, before, after = (lowered[types] for types in (tokens.current, tokens.previous, tokens.following))
    frequency = np.bincount(here[:n_train], minlength=len(lower_ids))
    context = np.full(len(lower_ids), _N_CONTEXTS)
    context[np.argsort(-frequency, kind="stable")[: _N_CONTEXTS - 1]] = np.arange(1, _N_CONTEXTS)
    context[0] = 0  # the sentence boundary
    shape = (len(lower_ids), _N_CONTEXTS + 1)
    ones = np.ones(n_train)
    beside = [
        sparse.csr_matrix((ones, (here[:n_train], context[side[:n_train]])), shape=shape) for side in (before, after)
    ]
    counts = sparse.hstack(beside, "csr")
    counts.data = np.log1p(counts.data)
    known = frequency > 0
    meaning = np.zeros((len(lower_ids), width))
    meaning[known] = TruncatedSVD(width, random_state=0).fit_transform(normalize(counts[known]))
    # Rounded to far above double precision's noise: the same vectors, and so the same forests, whatever BLAS computes.
    meaning = meaning.round(4)
    weight = np.log1p(frequency)[:, None]
    affixes = _hashed([[*_suffixes(w, 4), f"p2={w[:2]}", f"p3={w[:3]}"] for w in lower_ids], 15)
    by_affix = (affixes.T @ (meaning * weight)) / (affixes.T @ weight + 0.5)
    spelling = (affixes @ by_affix) / np.maximum(np.asarray(affixes.sum(1)).reshape(-1, 1), 1)
    flags = np.array([_flags(word) for word in tokens.types], np.float32)
    blocks: list[Any] = [meaning[here], weight[here], spelling[here, :context_width], flags[tokens.current]]
    for side, types in ((before, tokens.previous), (after, tokens.following)):
        blocks += [meaning[side, :context_width], weight[side], flags[types, :1], (types == 0)[:, None]]
    return np.hstack(blocks).astype(np.float32)


def numbered_view(tokens: Tokens, n_train: int) -> NDArray[np.int32]:
    """The numbers of each token's features (tokens, 17): its word, affixes and shape, and the words around it."""
    lowered = [word.lower() for word in tokens.types]
    lower, shape = _codes(lowered), _codes([_shape(word) for word in tokens.types])
    suffixes = [_codes([word[-k:] for word in lowered]) for k in (1, 2, 3, 4)]
    prefixes = [_codes([word[:1] for word in tokens.types]), _codes([word[:3] for word in lowered])]
    here, before, after = tokens.current, tokens.previous, tokens.following
    # A neighbour's neighbour, where it is in the sentence: 0 is the boundary's type.
    two_before = np.where(before == 0, 0, np.roll(before, 1))
    two_after = np.where(after == 0, 0, np.roll(after, -1))
    columns = [here, *(codes[here] for codes in (lower, *suffixes, *prefixes, shape))]
    columns += [codes[beside] for codes in (lower, suffixes[2], shape) for beside in (before, after)]
    columns += [lower[two_before], lower[two_after]]
    return numbered(columns, n_train)


def numbered(columns: Sequence[NDArray[np.int64]], n_train: int) -> NDArray[np.int32]:
    """Number the features that are seen in the first n_train tokens, from 1 on, all columns' apart; 0 for the others.

    Examples
    --------
    >>> numbered([np.array([7, 5, 7, 6]), np.array([5, 5, 5, 5])], 3).tolist()
    [[2, 3], [1, 3], [2, 3], [0, 3]]
    """
    numbers = np.zeros((len(columns[0]), len(columns)), np.int32)
    first = 1
    for column, codes in enumerate(columns):
        known = np.unique(codes[:n_train])
        place = np.searchsorted(known, codes).clip(max=len(known) - 1)
        numbers[:, column] = np.where(known[place] == codes, first + place, 0)
        first += len(known)
    return numbers


def one_hot(numbers: NDArray[np.int32]) -> sparse.csr_matrix:
    """A matrix with a column for each numbered feature: 1 where a token has it.

    Examples
    --------
    >>> one_hot(np.array([[2, 3], [0, 3]])).toarray().tolist()
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]
    """
    present = numbers > 0
    bounds = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    columns = numbers[present].astype(np.int32)
    shape = (len(numbers), int(numbers.max()) + 1)
    return sparse.csr_matrix((np.ones(len(columns), np.float32), columns, bounds), shape=shape)


def _codes(strings: Sequence[str]) -> NDArray[np.int64]:
    """A number for each string, in order of first appearance."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(string, len(numbers)) for string in strings])


def _hashed(strings: list[list[str]], bits: int) -> sparse.csr_matrix:
    hasher = FeatureHasher(2**bits, input_type="string", alternate_sign=False, dtype=np.float32)
    hashed: sparse.csr_matrix = hasher.transform(strings).tocsr()
    return hashed


def _suffixes(word: str, longest: int) -> list[str]:
    return [f"s{k}={word[-k:]}" for k in range(1, longest + 1) if k <= len(word)]


def _shape(word: str) -> str:
    """Character classes with runs collapsed: 'McDonald-3rd' -> 'XxXx-dx'."""
    shape = ""
    for character in word:
        if character.isupper():
            kind = "X"
        elif character.isalpha():
            kind = "x"
        elif character.isdigit():
            kind = "d"
        else:
            kind = character if character in "-'.@#$/:" else "_"
        if shape[-1:] != kind:
            shape += kind
    return shape[:8]


def _flags(word: str) -> list[float]:
    return [
        word[:1].isupper(),
        len(word) > 1 and word.isupper(),
        word.islower(),
        word.isdigit(),
        any(character.isdigit() for character in word),
        "-" in word,
        "." in word or "@" in word,
        not any(character.isalnum() for character in word),
        min(len(word), 15),
        word.endswith("s"),
        word.endswith("ed"),
        word.endswith("ing"),
        word.endswith("ly"),
        word.endswith(("er", "or")),
    ]
