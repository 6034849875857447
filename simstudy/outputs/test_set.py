"""TestSet: outputs, how their systems are to be compared, and the texts of their items for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pandas as pd

from simstudy.outputs.outputs import Outputs, check_outputs
from simstudy.text.reprs import FieldsMixin, ReprMixin
from simstudy.validation import InputError, check_list, check_text, check_texts, check_whole


@dataclass(frozen=True, eq=False, repr=False)
class ItemTexts(FieldsMixin):
    """Texts of a test set's items: what they ask, what is right, and what each system answered.

    They are kept by id and by name, so that they outlast that items are dropped, shuffled or cut to a domain.

    Attributes
    ----------
    inputs, references
        Item -> what it asks, and what is right.
    answers
        System -> item -> the system's answer.
    samples
        Question -> the ids of its samples, if an item may also be a question with several of them.

    Examples
    --------
    >>> texts = ItemTexts(answers={"new": {"q1": "Oslo", "q2": "Rome"}})
    >>> texts.answers_of("new", ["q2", "q7"])
    ['Rome', None]
    """

    inputs: Mapping[str, str | None] = field(default_factory=dict)
    references: Mapping[str, str | None] = field(default_factory=dict)
    answers: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    samples: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def inputs_of(self, ids: Iterable[str]) -> list[str | None]:
        """What these items ask (a question as its first sample does); None where it is not known."""
        return [self.inputs.get(name, self.inputs.get(self._samples(name)[0])) for name in ids]

    def references_of(self, ids: Iterable[str]) -> list[str | None]:
        """What is right for these items; None where it is not known."""
        return [self.references.get(name, self.references.get(self._samples(name)[0])) for name in ids]

    def answers_of(self, system: str, ids: Iterable[str]) -> list[str | None]:
        """What a system answered to these items; None where it is not known.

        The answers of a question with several samples are listed, equal ones once with their number.
        """
        answers = self.answers.get(system, {})
        return [_listed([answers.get(sample) for sample in self._samples(name)]) for name in ids]

    def _samples(self, name: str) -> Sequence[str]:
        """The samples of a question; an item by itself."""
        return self.samples.get(name, (name,))


def _listed(texts: Sequence[str | None]) -> str | None:
    """The answers of several samples as one text."""
    counts = Counter(text for text in texts if text is not None)
    if len(texts) == 1 or not counts:
        return texts[0]
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
