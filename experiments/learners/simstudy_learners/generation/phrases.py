"""Texts as words and phrases that say values; which phrase says which value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from simstudy_learners.generation.alignment import Alignment
from simstudy_learners.generation.meanings import OPEN_SLOTS, Meaning, Tokens, placeholder

# So many words that say nothing may stand within a phrase: "customer rating of 3".
_GAP = 2


#: A slot and its value, or "" for any value.
Value = tuple[str, str]


class Part(NamedTuple):
    """A word that says nothing of the meaning (slot ""), or a phrase that says a slot's value.

    The value "" is for any value, which stands in a placeholder.
    """

    slot: str
    value: str
    words: Tokens

    @property
    def says(self) -> Value:
        """Slot and value."""
        return self.slot, self.value


def word(text: str) -> Part:
    """A word that says nothing of the meaning."""
    return Part("", "", (text,))


def in_phrases(
    text: Tokens, meaning: Meaning, alignment: Alignment, open_slots: tuple[str, ...] = OPEN_SLOTS
) -> list[Part]:
    """A text in parts: neighbouring words that say one slot's value are a phrase.

    Up to two words that say nothing may stand within a phrase. The name is a phrase of its placeholder alone. Words
    that say a slot, but nothing of its value, are no phrase, unless they stand for the value of an open slot.

    Examples
    --------
    >>> learned = Alignment({None: {"the": 0.1}, ("area", "riverside"): {"by": 0.2, "riverside": 0.5}})
    >>> in_phrases(("{name}", "by", "the", "riverside"), (("area", "riverside"),), learned)
    [Part(slot='name', value='', words=('{name}',)), Part(slot='area', value='riverside', \
words=('by', 'the', 'riverside'))]
    """
    values = dict(meaning)
    said = [alignment.slot_of(token, meaning) for token in text]
    parts: list[Part] = []
    here = 0
    while here < len(text):
        slot = said[here]
        if slot is None:
            parts.append(word(text[here]))
            here += 1
            continue
        end = here + 1
        while slot != "name":
            following = next((k for k in range(end, min(end + _GAP + 1, len(text))) if said[k] is not None), None)
            if (
                following is None
                or said[following] != slot
                or any(not word[-1].isalnum() for word in text[end:following])
            ):
                break
            end = following + 1
        words = text[here:end]
        if slot in open_slots or any(alignment.tells(token, slot, values[slot]) for token in words):
            parts.append(Part(slot, "" if placeholder(slot) in words else values[slot], words))
        else:
            parts += [word(token) for token in words]
        here = end
    return parts


def spelt(parts: Iterable[Part]) -> Tokens:
    """The words of parts.

    Examples
    --------
    >>> spelt([word("it"), word("is"), Part("area", "riverside", ("by", "the", "river"))])
    ('it', 'is', 'by', 'the', 'river')
    """
    return tuple(token for part in parts for token in part.words)


def most_frequent(counts: Counter[Tokens]) -> Tokens:
    """The most frequent words, the first in alphabetical order of equals.

    Examples
    --------
    >>> most_frequent(Counter({("high",): 2, ("dear",): 2, ("rich",): 1}))
    ('dear',)
    """
    return min(counts, key=lambda words: (-counts[words], words))
