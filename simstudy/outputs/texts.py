"""ItemTexts: what items ask, what is right and what systems answered, as texts for people. No test reads them."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from simstudy.text.reprs import ReprMixin

# The fastest: texts shrink to a third, at a hundredth of the time that it takes to read and count them.
_LEVEL = 1


class PackedTexts(ReprMixin):
    """Texts by the ids of items, compressed: beside the numbers of a test set they take little memory."""

    def __init__(self, places: Mapping[str, int], texts: Iterable[str | None]) -> None:
        self._places = places
        listed = json.dumps(list(texts), ensure_ascii=False).encode("utf-8", "surrogatepass")
        self._packed = zlib.compress(listed, _LEVEL)

    def of(self, ids: Iterable[str]) -> list[str | None]:
        """The texts of these items; None where there is none."""
        known = json.loads(zlib.decompress(self._packed).decode("utf-8", "surrogatepass"))
        places = map(self._places.get, ids)
        return [None if place is None else known[place] for place in places]

    def _summary(self) -> tuple[str, str]:
        return f"PackedTexts: {len(self._places):,} texts in {self.n_bytes:,} bytes", ""

    def _table(self) -> pd.DataFrame:
        return pd.DataFrame({"texts": [len(self._places)], "bytes": [self.n_bytes]})

    @property
    def n_bytes(self) -> int:
        """How much memory the texts take."""
        return len(self._packed)


@dataclass(frozen=True, eq=False, repr=False)
class ItemTexts(ReprMixin):
    """Texts of a test set's items: what they ask, what is right, and what each system answered.

    They are kept by id and by name. Items may be dropped, shuffled or cut to a domain in the meantime: what is asked
    for is found as long as it has its id.

    Attributes
    ----------
    inputs, references
        What items ask, and what is right; None where the files do not say.
    answers
        System -> what it answered.
    samples
        Question -> the ids of its samples, where an item may also be a question with several of them.

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

        Of a question with several samples the answers are listed, equal ones once with their number.
        """
        texts = self.answers.get(system)
        if texts is None:
            return [None] * len(ids)
        groups = [self.samples.get(name, (name,)) for name in ids]
        flat = iter(texts.of([name for group in groups for name in group]))
        return [_together([next(flat) for _ in group]) for group in groups]

    def _of_questions(self, texts: PackedTexts | None, ids: Sequence[str]) -> list[str | None]:
        """The texts of items; of a question, those of its first sample."""
        if texts is None:
            return [None] * len(ids)
        own = texts.of(ids)
        first = texts.of([self.samples[name][0] if name in self.samples else name for name in ids])
        return [other if text is None else text for text, other in zip(own, first, strict=True)]

    def _summary(self) -> tuple[str, str]:
        kinds = {"what items ask": self.inputs, "what is right": self.references}
        known = [what for what, texts in kinds.items() if texts is not None]
        return f"ItemTexts of {len(self.answers)} systems", f"also: {', '.join(known) or 'nothing'}"

    def _table(self) -> pd.DataFrame:
        return pd.DataFrame({"system": list(self.answers), "bytes": [one.n_bytes for one in self.answers.values()]})


def _together(texts: Sequence[str | None]) -> str | None:
    """The answers of several samples as one text."""
    known = Counter(text for text in texts if text is not None)
    if len(texts) == 1 or not known:
        return texts[0]
    if len(known) == 1 and len(set(texts)) == 1:
        return f"{len(texts)} samples: {texts[0]}"
    return "\n".join(f"{number} of {len(texts)} samples: {text}" for text, number in known.items())
