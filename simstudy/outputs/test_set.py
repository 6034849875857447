"""TestSet: outputs, how their systems are to be compared, and the texts of their items for people."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pandas as pd

from simstudy.outputs.outputs import Outputs, check_outputs
from simstudy.text.reprs import FieldsMixin, ReprMixin
from simstudy.validation import InputError, check_list, check_text, check_texts, check_whole

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


@dataclass(frozen=True, eq=False, repr=False)
class TestSet(ReprMixin):
    """Outputs of systems on one test set, and the settings of their comparison.

    Whether the outputs have the columns that are named is checked when they are compared.

    Attributes
    ----------
    outputs
        The systems' Outputs.
    by
        Columns of the systems table that relation classes come from, the main one first. A string is one column.
        Without a column all pairs are one class.
    unit
        What is resampled: "item", or a column of the items. None: clusters if the items have them, else items.
    settings
        Further options of `simstudy.compare` by name: test, n_resamples, alternative, seed, …
    sizes
        Numbers of items, ascending: initial segments that are compared beside the whole.
    duplicates
        How near-duplicate systems are treated: "keep" (no search), "note" (name them), or "drop" all but the
        first by name.
    notes
        What a reader should know about the data.
    texts
        What the items ask and what the systems answered, for people; no test reads it. None: not known.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1], [0, 1]], [[1, 1], [1, 1]]], "accuracy", ["a", "b"], test_set="quiz")
    >>> test_set = TestSet(outputs, by="group", unit="item", settings={"test": "sign"})
    >>> test_set.name, test_set.metric, test_set.by
    ('quiz', 'accuracy', ('group',))
    >>> test_set.options
    {'test': 'sign', 'unit': 'item'}
    """

    # Its name must not tell pytest that there are tests in it.
    __test__: ClassVar[bool] = False

    outputs: Outputs
    by: tuple[str, ...] | str = ()
    unit: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()
    duplicates: str = "keep"
    notes: tuple[str, ...] = ()
    texts: ItemTexts | None = None

    def __post_init__(self) -> None:
        check_outputs("outputs", self.outputs)
        by = (self.by,) if isinstance(self.by, str) else self.by
        check_texts("by", by, "names of columns of the systems table")
        object.__setattr__(self, "by", tuple(by))
        check_text("unit", self.unit, "the name of a column of the items", or_none=True)
        if not isinstance(self.settings, Mapping):
            raise InputError("settings", "must map options of simstudy.compare to values", self.settings)
        check_list("sizes", self.sizes, "numbers of items")
        for size in self.sizes:
            check_whole("sizes", size, 1)
        check_text("duplicates", self.duplicates)
        check_texts("notes", self.notes, "texts")
        if not isinstance(self.texts, ItemTexts | None):
            raise InputError("texts", "must be ItemTexts, as simstudy.load gives, or None", self.texts)

    @property
    def name(self) -> str:
        """The name of the test set in tables."""
        return self.outputs.test_set

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.outputs.metric.name

    @property
    def options(self) -> dict[str, Any]:
        """How pairs are tested, by the names of `simstudy.compare`."""
        return {**self.settings, "unit": self.unit}

    def with_settings(self, unit: str | None = None, **settings: Any) -> TestSet:
        """The same test set with these settings, unless it has its own."""
        return replace(self, unit=self.unit or unit, settings={**settings, **self.settings})

    def segments(self) -> list[TestSet]:
        """The initial segments of `sizes` that are smaller than the whole, and the whole."""
        sizes = [size for size in self.sizes if size < self.outputs.n_items]
        return [replace(self, outputs=self.outputs.head(size)) for size in [*sizes, self.outputs.n_items]]

    def _summary(self) -> tuple[str, str]:
        what, best = self.outputs._summary()
        return f"TestSet of {what}", best

    def _table(self) -> pd.DataFrame:
        return self.outputs._table()
