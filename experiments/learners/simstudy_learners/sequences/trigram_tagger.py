"""The trigram tagger of Brants (2000, "TnT: a statistical part-of-speech tagger"), trained on weighted sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from simstudy.training import Examples
from simstudy.validation import check_share, check_whole
from simstudy_learners.sequences.hidden_markov import Emissions, count_transitions, decode

#: The longest suffix that tells something of an unknown word.
LONGEST = 10


def spelling_view(types: Sequence[str], words: NDArray[np.int64]) -> NDArray[np.int32]:
    """What `TrigramTagger` reads of tokens (tokens, 2 + LONGEST): numbers of the word and of its suffixes, from '' on.

    Suffixes of words with a capital first letter are other ones than those of words without. A suffix that is longer
    than the word is -1.

    Examples
    --------
    >>> spelling_view(["a", "ba"], np.array([1, 0]))[:, :5].tolist()
    [[1, 0, 1, 2, -1], [0, 0, 1, -1, -1]]
    """
    numbers: dict[tuple[bool, str], int] = {}
    suffixes = np.full((len(types), 1 + LONGEST), -1, np.int32)
    for i, word in enumerate(types):
        capital = word[:1].isupper()
        for k in range(min(LONGEST, len(word)) + 1):
            suffixes[i, k] = numbers.setdefault((capital, word[len(word) - k :]), len(numbers))
    return np.hstack([words[:, None].astype(np.int32), suffixes[words]])


@dataclass(frozen=True)
class TrigramTagger:
    """A base system of `Rows` that are words: a second-order hidden Markov model with TnT's model of unknown words.

    Attributes
    ----------
    rare
        The suffix model is that of the words which are at most so frequent in the training set.
    ratio
        An unknown word's tags are those whose probability is at least this share of the most probable one's.
    view
        The view of the rows that `spelling_view` has made.
    """

    rare: int = 10
    ratio: float = 1e-3
    view: str = "spelling"

    def __post_init__(self) -> None:
        check_whole("rare", self.rare, 1)
        check_share("ratio", self.ratio)

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], NDArray[Any]]:
        """Count tags and words."""
        names, tags = np.unique(examples.gold, return_inverse=True)
        first, spelling = examples.inputs.first_rows(), examples.inputs.features[self.view]
        # Tags are the states from 1 on; 0 is the boundary.
        transitions = count_transitions(tags + 1, first, weights, len(names) + 1)
        often = np.repeat(weights, np.diff(first))
        seen = often > 0
        lexicon = Lexicon.count(
            spelling[seen], tags[seen], often[seen], n_tags=len(names), rare=self.rare, ratio=self.ratio
        )

        def tag(other: Examples) -> NDArray[Any]:
            rows = other.inputs.features[self.view]
            emissions, symbols = lexicon.emissions(rows)
            found: NDArray[Any] = names[decode(transitions, emissions, symbols, other.inputs.first_rows()) - 1]
            return found

        return tag


@dataclass(frozen=True)
class Lexicon:
    """How often words, and suffixes of rare words, have which tag: (words, tags) and (suffixes, tags)."""

    words: sparse.csr_array
    suffixes: sparse.csr_array
    ratio: float

    @classmethod
    def count(
        cls, spelling: NDArray[Any], tags: NDArray[Any], often: NDArray[Any], *, n_tags: int, rare: int, ratio: float
    ) -> Lexicon:
        words = spelling[:, 0]
        is_rare = np.bincount(words, often)[words] <= rare
        suffixes = spelling[is_rare, 1:]
        present = suffixes >= 0
        repeated = present.sum(axis=1)
        return cls(
            _counted(words, tags, often, n_tags),
            _counted(
                suffixes[present], np.repeat(tags[is_rare], repeated), np.repeat(often[is_rare], repeated), n_tags
            ),
            ratio,
        )

    def emissions(self, spelling: NDArray[Any]) -> tuple[Emissions, NDArray[np.int64]]:
        """Emissions of the words of these tokens, and each token's number among them."""
        words, at, symbols = np.unique(spelling[:, 0], return_index=True, return_inverse=True)
        of_tag = np.asarray(self.words.sum(axis=0), float)
        known = _rows(self.words, words)
        unknown = np.diff(known.indptr) == 0
        guessed = sparse.csr_array((len(words), len(of_tag)))
        if unknown.any():
            guesses = self._guesses(spelling[at[unknown], 1:], of_tag)
            place = sparse.csr_array(
                (np.ones(len(guesses)), (np.flatnonzero(unknown), np.arange(len(guesses)))), (len(words), len(guesses))
            )
            guessed = place @ sparse.csr_array(guesses)
        # P(word | tag) of a known word; P(tag | suffixes) / P(tag) of an unknown one, by Bayes' rule.
        table = sparse.csr_array(known + guessed)
        table.sort_indices()
        log_probabilities = np.log(table.data / of_tag[table.indices])
        return Emissions(table.indptr.astype(np.int64), table.indices.astype(np.int64) + 1, log_probabilities), symbols

    def _guesses(self, suffixes: NDArray[Any], of_tag: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(tag | suffixes) (unknown words, tags), by successive abstraction (Brants 2000, section 2.3)."""
        share = of_tag / of_tag.sum()
        # The standard deviation, as the text of Brants (2000) says; his formula has its square.
        theta = share[of_tag > 0].std(ddof=1) if (of_tag > 0).sum() > 1 else 1.0
        guesses = np.tile(share, (len(suffixes), 1))
        for column in suffixes.T:
            counts = _rows(self.suffixes, column)
            totals = counts.sum(axis=1)
            found = totals > 0
            guesses[found] = (counts[found].toarray() / totals[found, None] + theta * guesses[found]) / (1 + theta)
        guesses[guesses < self.ratio * guesses.max(axis=1, keepdims=True)] = 0
        return guesses


def _counted(rows: NDArray[Any], tags: NDArray[Any], often: NDArray[Any], n_tags: int) -> sparse.csr_array:
    """Counts (rows, tags), with an empty row after the last."""
    height = int(rows.max()) + 2 if len(rows) else 1
    return sparse.csr_array((often.astype(float), (rows, tags)), (height, n_tags))


def _rows(counts: sparse.csr_array, rows: NDArray[Any]) -> sparse.csr_array:
    """The rows of these numbers; an empty one for -1 and for what is beyond the last."""
    last = counts.shape[0] - 1
    return sparse.csr_array(counts[np.where((rows < 0) | (rows > last), last, rows)])
