"""Generation by retrieval: the most central text of the most similar meanings in the training set."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy.validation import check_whole
from simstudy_learners.generation.consensus import Consensus
from simstudy_learners.generation.meanings import OPEN_SLOTS, Meaning, Tokens, delexicalised, surface
from simstudy_learners.generation.training import seen_texts

#: What meanings are compared by: a slot that is there, or a slot with its value.
Feature = tuple[str, str]


def features(meaning: Meaning, open_slots: tuple[str, ...] = OPEN_SLOTS) -> frozenset[Feature]:
    """The slots of a meaning, and its values of slots that are not open.

    Examples
    --------
    >>> sorted(features((("name", "Cotto"), ("area", "riverside"))))
    [('area', ''), ('area', 'riverside'), ('name', '')]
    """
    slots = {(slot, "") for slot, _ in meaning}
    return frozenset(slots | {(slot, value) for slot, value in meaning if slot not in open_slots})


@dataclass(frozen=True)
class Retrieval:
    """The text of least Bayes risk among those of the nearest meanings, with the values of the meaning in question.

    Meanings are similar by the sum of the weights of the features that both have, over that of those that one of them
    has; a feature weighs log((1 + N) / (1 + n)) + 1, where n of N training texts have it. The nearest ones are added
    until they have enough texts; equally near ones are added together. Texts with a placeholder that the meaning
    cannot fill are left out, unless there are no others.

    Attributes
    ----------
    neighbours
        How many texts, counted as often as they are in the resampled training set, are compared with one another.
    order
        The longest n-grams that texts are compared by.
    open_slots
        Whose values are filled in.
    """

    neighbours: int = 40
    order: int = 4
    open_slots: tuple[str, ...] = OPEN_SLOTS

    def __post_init__(self) -> None:
        check_whole("neighbours", self.neighbours, 1)
        check_whole("order", self.order, 1)

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], list[str]]:
        """Count texts of meanings; nothing is random, so that the seed does not matter."""
        counts: dict[frozenset[Feature], Counter[Tokens]] = {}
        for meaning, text, weight in seen_texts(examples, weights):
            own = counts.setdefault(features(meaning, self.open_slots), Counter())
            own[delexicalised(text, meaning, self.open_slots)] += weight
        return _Neighbours(self, counts)


class _Neighbours:
    """Texts of a training set by their meanings' features."""

    def __init__(self, settings: Retrieval, counts: dict[frozenset[Feature], Counter[Tokens]]) -> None:
        self._settings = settings
        # Sorted, so that the order of the training set does not decide between equals.
        self._keys = sorted(counts, key=sorted)
        texts = [(key, text, n) for key in self._keys for text, n in sorted(counts[key].items())]
        self._texts = [text for _, text, _ in texts]
        self._counts = np.array([n for *_, n in texts], dtype=np.float64)
        self._consensus = Consensus(self._texts, settings.order)
        self._slots = [{token[1:-1] for token in text if token[0] == "{"} for text in self._texts]
        numbers = {key: number for number, key in enumerate(self._keys)}
        self._members: list[list[int]] = [[] for _ in self._keys]
        for member, (key, _, _) in enumerate(texts):
            self._members[numbers[key]].append(member)
        total, with_feature = 0, Counter[Feature]()
        for key in self._keys:
            n = counts[key].total()
            total += n
            for feature in key:
                with_feature[feature] += n
        self._weight = {f: math.log((1 + total) / (1 + n)) + 1 for f, n in with_feature.items()}
        self._unseen = math.log(1 + total) + 1

    def similarities(self, meaning: Meaning) -> NDArray[np.float64]:
        """The similarity of a meaning to every distinct one of the training set."""
        own = features(meaning, self._settings.open_slots)
        found = []
        for key in self._keys:
            both = math.fsum(self._weight[f] for f in own & key)
            either = math.fsum(self._weight.get(f, self._unseen) for f in own | key)
            found.append(round(both / either, 9))
        return np.array(found)

    def __call__(self, examples: Examples) -> list[str]:
        chosen: dict[tuple[frozenset[Feature], frozenset[str]], Tokens] = {}
        answers = []
        for meaning in examples.inputs:
            slots = frozenset(slot for slot, _ in meaning)
            kind = features(meaning, self._settings.open_slots), slots
            if kind not in chosen:
                chosen[kind] = self._best(meaning, slots)
            answers.append(surface(chosen[kind], dict(meaning)))
        return answers

    def _best(self, meaning: Meaning, slots: frozenset[str]) -> Tokens:
        similarity = self.similarities(meaning)
        for fillable in (True, False):
            near: list[int] = []
            heard, last = 0.0, math.inf
            for key in np.argsort(-similarity, kind="stable").tolist():
                if heard >= self._settings.neighbours and similarity[key] < last:
                    break
                last = similarity[key]
                members = [one for one in self._members[key] if not fillable or self._slots[one] <= slots]
                near += members
                heard += self._counts[members].sum()
            if near:
                return self._texts[self._consensus.most_central(near, self._counts[near])]
        raise AssertionError("a training set has texts")
