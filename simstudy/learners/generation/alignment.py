"""Which words say which value: word alignment of texts with meanings (IBM model 1, Brown et al. 1993)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy.learners.generation.meanings import OPEN_SLOTS, Meaning, Tokens

#: A slot and a value of it, or "" for whatever value it has.
Source = tuple[str, str]


@dataclass(frozen=True)
class Alignment:
    """Probabilities of words, given what they say.

    Attributes
    ----------
    said
        (slot, value) or (slot, "") -> word -> probability; None instead of a slot is for words that say nothing of the
        meaning.
    """

    said: dict[Source | None, dict[str, float]]

    def tells(self, token: str, slot: str, value: str) -> bool:
        """Whether a word is more probable for a value than for its slot or nothing: "moderate", unlike "price"."""
        others = max(self.said.get(source, {}).get(token, 0.0) for source in ((slot, ""), None))
        return self.said.get((slot, value), {}).get(token, 0.0) > others

    def slot_of(self, word: str, meaning: Meaning) -> str | None:
        """The slot of a meaning whose value a word most probably says; None where that is less than even odds.

        A placeholder says its slot's value; punctuation says nothing.
        """
        if word[0] == "{":
            return word[1:-1]
        if not word[-1].isalnum():
            return None
        likely = {
            slot: sum(self.said.get(source, {}).get(word, 0.0) for source in ((slot, ""), (slot, value)))
            for slot, value in meaning
            if slot != "name"
        }
        nothing = self.said[None].get(word, 0.0)
        best = max(likely, key=lambda slot: round(likely[slot], 12), default=None)
        if best is None or likely[best] <= 0 or likely[best] < 0.5 * (sum(likely.values()) + nothing):
            return None
        return best


def learn_alignment(
    meanings: Sequence[Meaning],
    texts: Sequence[Tokens],
    weights: NDArray[np.int64],
    open_slots: Sequence[str] = OPEN_SLOTS,
    iterations: int = 10,
) -> Alignment:
    """IBM model 1 of words given slots and values, after some iterations of expectation maximisation.

    A word may come of a slot, whatever its value, of a slot with one value, or of nothing. Of open slots there is no
    second source, since their values are placeholders in texts, and of the name, which all meanings have, none. Each
    text is there as often as its weight says. All sources are equally probable for all words at first, so that
    nothing is random.

    Examples
    --------
    >>> meanings = [(("area", "riverside"),), (("area", "city centre"),)]
    >>> texts = [("by", "the", "river"), ("in", "the", "centre")]
    >>> learned = learn_alignment(meanings, texts, np.array([1, 1]))
    >>> learned.slot_of("river", meanings[0])
    'area'
    """
    words: dict[str, int] = {}
    sources: dict[Source | None, int] = {None: 0}
    kinds_said: list[tuple[int, int, int]] = []
    heavy: list[int] = []
    for meaning, text, weight in zip(meanings, texts, weights.tolist(), strict=True):
        if not weight:
            continue
        own = [0]
        for slot, value in meaning:
            if slot != "name":
                own.append(sources.setdefault((slot, ""), len(sources)))
                if slot not in open_slots:
                    own.append(sources.setdefault((slot, value), len(sources)))
        for token in text:
            if token[-1].isalnum():
                word = words.setdefault(token, len(words))
                kinds_said += [(word, source, len(heavy)) for source in own]
                heavy.append(weight)
    if not heavy:
        return Alignment({None: {}})
    word, source, rows = np.array(kinds_said).T
    mass = np.array(heavy, dtype=np.float64)
    kinds, kind_of = np.unique(word * len(sources) + source, return_inverse=True)
    source_of_kind = kinds % len(sources)
    chance = np.ones(len(kinds))
    for _ in range(iterations):
        share = chance[kind_of]
        share = share * (mass / np.bincount(rows, share))[rows]
        counts = np.bincount(kind_of, share)
        chance = counts / np.bincount(source_of_kind, counts)[source_of_kind]
    said: dict[Source | None, dict[str, float]] = {one: {} for one in sources}
    named, spelt = list(sources), list(words)
    for kind, probability in zip(kinds.tolist(), chance.tolist(), strict=True):
        said[named[kind % len(sources)]][spelt[kind // len(sources)]] = probability
    return Alignment(said)
