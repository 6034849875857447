"""TestSet: outputs, and how their systems are to be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pandas as pd

from simstudy.outputs.outputs import Outputs, check_outputs
from simstudy.outputs.texts import ItemTexts
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, check_list, check_text, check_texts, check_whole


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
