"""Chunking by a hidden Markov model whose states know the part of speech, and of frequent words the word itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy.validation import check_whole
from simstudy_learners.sequences.hidden_markov import Emissions, count_transitions, decode


@dataclass(frozen=True)
class SpecialisedHMM:
    """A base system of `Rows` whose view has a word's and a part of speech's number for each token (tokens, 2).

    A state is a part of speech and a chunk tag; for words that are frequent with a part of speech, the word, the part
    of speech and the chunk tag (Molina and Pla 2002, "Shallow parsing using specialized HMMs"). Words otherwise do not
    count. What is observed is certain in each state, so that all the model's knowledge is in its trigrams of states.

    A part of speech that is not in the training set is taken for the most frequent one that is.

    Attributes
    ----------
    frequent
        How often a word must be in the training set, with the same part of speech, to have states of its own.
    view
        The rows' view of words and parts of speech.
    """

    frequent: int = 100
    view: str = "symbols"

    def __post_init__(self) -> None:
        check_whole("frequent", self.frequent, 1)

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], NDArray[Any]]:
        """Choose the words that have states of their own, and count the states' trigrams."""
        names, tags = np.unique(examples.gold, return_inverse=True)
        first, rows = examples.inputs.first_rows(), examples.inputs.features[self.view]
        often = np.repeat(weights, np.diff(first))
        seen = often > 0
        observed = _Observed.choose(rows[seen], often[seen], self.frequent)
        pairs = observed.symbols(rows) * len(names) + tags
        states, number = np.unique(pairs[seen], return_inverse=True)
        # States are numbered from 1 on; those of the sentences that are not there do not matter.
        numbers = np.ones(len(rows), np.int64)
        numbers[seen] = number + 1
        transitions = count_transitions(numbers, first, weights, len(states) + 1)
        bounds = np.searchsorted(states // len(names), np.arange(observed.n_symbols + 1)).astype(np.int64)
        emissions = Emissions(bounds, np.arange(1, len(states) + 1), np.zeros(len(states)))

        def chunk(other: Examples) -> NDArray[Any]:
            symbols = observed.symbols(other.inputs.features[self.view])
            found = decode(transitions, emissions, symbols, other.inputs.first_rows())
            labels: NDArray[Any] = names[states[found - 1] % len(names)]
            return labels

        return chunk


@dataclass(frozen=True)
class _Observed:
    """What the model tells apart: parts of speech that were seen, then frequent words with one."""

    parts: NDArray[np.int64]
    frequent: NDArray[np.int64]
    default: int

    @classmethod
    def choose(cls, rows: NDArray[Any], often: NDArray[np.int64], least: int) -> _Observed:
        both = _both(rows)
        words, where = np.unique(both, return_inverse=True)
        frequent = words[np.bincount(where, often) >= least]
        # A part of speech of which all words are frequent would have no state of its own: it is the default one's.
        rest = ~np.isin(both, frequent)
        if not rest.any():
            frequent, rest = frequent[:0], np.ones(len(rows), dtype=bool)
        parts, number = np.unique(rows[rest, 1].astype(np.int64), return_inverse=True)
        return cls(parts, frequent, int(np.argmax(np.bincount(number, often[rest]))))

    @property
    def n_symbols(self) -> int:
        return len(self.parts) + len(self.frequent)

    def symbols(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """The number of what is observed at each token."""
        plain = _places(self.parts, rows[:, 1])
        own = _places(self.frequent, _both(rows))
        numbers: NDArray[np.int64] = np.where(
            own >= 0, len(self.parts) + own, np.where(plain >= 0, plain, self.default)
        )
        return numbers


def _both(rows: NDArray[Any]) -> NDArray[np.int64]:
    """A number for word and part of speech."""
    numbers: NDArray[np.int64] = rows[:, 0].astype(np.int64) * 2**20 + rows[:, 1]
    return numbers


def _places(known: NDArray[np.int64], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """Where each is among known ones, which ascend; -1 where it is not."""
    if not len(known):
        return np.full(len(wanted), -1)
    place = np.searchsorted(known, wanted).clip(max=len(known) - 1)
    return np.where(known[place] == wanted, place, -1)
