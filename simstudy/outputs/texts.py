"""ItemTexts: what items ask, what is right and what systems answered, as texts for people. No test reads them."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from simstudy.text.reprs import FieldsMixin

# The fastest: texts shrink to a third, at a hundredth of the time that it takes to read and count them.
_LEVEL = 1


class PackedTexts(FieldsMixin):
    """Texts by the ids of items, compressed: beside the numbers of a test set they take little memory."""

    def __init__(self, places: Mapping[str, int], texts: Iterable[str | None]) -> None:
        self._places = places
        self._packed = zlib.compress(json.dumps(list(texts)).encode(), _LEVEL)

    def of(self, ids: Iterable[str]) -> list[str | None]:
        """The texts of these items; None where there is none."""
        texts = json.loads(zlib.decompress(self._packed))
        return [None if (place := self._places.get(name)) is None else texts[place] for name in ids]

    def __repr__(self) -> str:
        return f"PackedTexts: {len(self._places):,} texts in {len(self._packed):,} bytes"


@dataclass(frozen=True, eq=False, repr=False)
class ItemTexts(FieldsMixin):
    """Texts of a test set's items: what they ask, what is right, and what each system answered.

    They are kept by id and by name, so that they outlast that items are dropped, shuffled or cut to a domain.

    Attributes
    ----------
    inputs, references
        What items ask, and what is right; None if the files do not say.
    answers
        System -> what it answered.
    samples
        Question -> the ids of its samples, if an item may also be a question with several of them.

    Examples
    --------
    >>> texts = ItemTexts(answers={"new": PackedTexts({"q1": 0, "q2": 1}, ["Oslo", "Rome"])})
    >>> texts.answers_of("new", ["q2", "q7"])
    ['Rome', None]
    """

    inputs: PackedTexts | None = None
    references: PackedTexts | None = None
    answers: Mapping[str, PackedTexts] = field(default_factory=dict)
    samples: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def inputs_of(self, ids: Sequence[str]) -> list[str | None]:
        """What these items ask; None where it is not known."""
        return self._of_questions(self.inputs, ids)

    def references_of(self, ids: Sequence[str]) -> list[str | None]:
        """What is right for these items; None where it is not known."""
        return self._of_questions(self.references, ids)

    def answers_of(self, system: str, ids: Sequence[str]) -> list[str | None]:
        """What a system answered to these items; None where it is not known.

        The answers of a question with several samples are listed, equal ones once with their number.
        """
        if system not in self.answers:
            return [None] * len(ids)
        groups = [self.samples.get(name, (name,)) for name in ids]
        texts = iter(self.answers[system].of([name for group in groups for name in group]))
        return [_listed([next(texts) for _ in group]) for group in groups]

    def _of_questions(self, packed: PackedTexts | None, ids: Sequence[str]) -> list[str | None]:
        """The texts of items; of a question, the text of its first sample."""
        if packed is None:
            return [None] * len(ids)
        texts = packed.of(ids)
        of_samples = packed.of([self.samples[name][0] if name in self.samples else name for name in ids])
        return [other if text is None else text for text, other in zip(texts, of_samples, strict=True)]


def _listed(texts: Sequence[str | None]) -> str | None:
    """The answers of several samples as one text."""
    counts = Counter(text for text in texts if text is not None)
    if len(texts) == 1 or not counts:
        return texts[0]
    if len(set(texts)) == 1:
        return f"{len(texts)} samples: {texts[0]}"
    return "\n".join(f"{number} of {len(texts)} samples: {text}" for text, number in counts.items())
