"""Which words say which value: word alignment of texts with meanings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from simstudy_learners.alignment.bitexts import numbered_bitexts
from simstudy_learners.alignment.models import Model1, Stage, train_both
from simstudy_learners.generation.meanings import OPEN_SLOTS, Meaning, Tokens
from simstudy_learners.segments import bounds_of

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
    """IBM model 1 (Brown et al. 1993) of words given slots and values, after some iterations.

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
    sources: dict[Source, int] = {}
    given, said = [], []
    chosen = np.flatnonzero(weights)
    for k in chosen.tolist():
        own = [(slot, "") for slot, _ in meanings[k] if slot != "name"]
        own += [(slot, value) for slot, value in meanings[k] if slot not in ("name", *open_slots)]
        given.append([sources.setdefault(source, len(sources)) for source in own])
        said.append([words.setdefault(token, len(words)) for token in texts[k] if token[-1].isalnum()])
    if not words:
        return Alignment({None: {}})
    sides = [(np.array([*chain(*side)], np.int64), bounds_of([*map(len, side)])) for side in (given, said)]
    # No source is spelt as a word is.
    (bitext,) = numbered_bitexts([(*sides[0], *sides[1])], np.full(len(sources), -1), len(words))
    lexical = train_both(bitext, weights[chosen], (Stage(Model1(), iterations),), floor=0.0).lexicals[0]
    spelt = [*words]
    found: dict[Source | None, dict[str, float]] = {source: {} for source in sources}
    found[None] = dict(zip(spelt, lexical.of_null.tolist(), strict=True))
    named = [*sources]
    pairs = bitext.lexicon
    for source, word, chance in zip(pairs.source.tolist(), pairs.target.tolist(), lexical.table.tolist(), strict=True):
        found[named[source]][spelt[word]] = chance
    return Alignment(found)
