"""The noun Comparisons: all pairs of systems on a test set, ordered so that gains are at least 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype

from simstudy.comparisons.curves import curve
from simstudy.comparisons.equivalence import equivalence
from simstudy.comparisons.groups import groups
from simstudy.comparisons.pair import Pair, no_pair
from simstudy.comparisons.paper import paper
from simstudy.comparisons.printed import at_prompt, first_rows, summary
from simstudy.comparisons.ranks import ranks
from simstudy.comparisons.relation_classes import related
from simstudy.comparisons.signature import signature
from simstudy.comparisons.significant_gains import significant_gains
from simstudy.comparisons.thresholds import thresholds
from simstudy.papers.document import Paper
from simstudy.papers.written import in_latex, in_markdown
from simstudy.schema import KNOWN, OWN, described, names_of
from simstudy.statistics.decisions import Decision, two_sided
from simstudy.statistics.multiplicity import corrected
from simstudy.tables import COMPARISONS, check_columns, check_table, require_one_table
from simstudy.text.formulas import with_formulas, without_formulas
from simstudy.text.plain_text import line
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, brief, check_choice, check_fraction, nearest


@dataclass(frozen=True, repr=False, eq=False)
class Comparisons(ReprMixin):  # noqa: D101 (the docstring has the columns of the schema)
    __doc__ = f"""All pairs of systems that were compared, each with its gain, interval and p-value.

    `simstudy.compare` makes it. It has one row a pair, ordered so that the gain is at least 0, the pairs of the best
    system first. Functions of the package that take pairs take it, or its table; what is asked most often is a method.
    Of pairs that share a system neither gains nor p-values are independent.

    ``pairs["gain"]`` and ``pairs[["gain", "p_value"]]`` are columns of the table, and ``pairs[pairs["gain"] > 1]`` are
    the Comparisons of these pairs. Two Comparisons are equal only if they are one object; compare their tables.

    Parameters
    ----------
    frame
        The table; it must not be changed. Its columns are:

{described("        ")}
    systems
        The systems' table, for `related`; None where it is not known.
    selected
        Whether there were more pairs, of which `significant` or a mask selected these. What corrects for the number of
        pairs refuses such Comparisons: correct before you select. A table that was cut by other means (with pandas, or
        in a file) does not tell; cut it only by what was known before the results were seen.

    Examples
    --------
    >>> import simstudy as ss
    >>> pairs = ss.compare(ss.truth.correlated_accuracies([0.7, 0.72, 0.8], 400, seed=4))
    >>> pairs.significant().frame[["system_a", "system_b"]].values.tolist()
    [['system-3', 'system-2'], ['system-3', 'system-1']]
    >>> pairs.pair("system-3", "system-1").p_value < 0.01
    True
    """

    frame: pd.DataFrame
    systems: pd.DataFrame | None = None
    selected: bool = field(default=False, kw_only=True)

    # Functions of pairs take Comparisons: as methods they take these.
    groups = groups
    thresholds = thresholds
    significant_gains = significant_gains
    curve = curve
    ranks = ranks
    signature = signature

    def __post_init__(self) -> None:
        # What is in the columns is looked at where it is used: there may be millions of rows.
        check_table("frame", self.frame, (), COMPARISONS, empty=True)
        check_columns("frame", self.frame, OWN, COMPARISONS)

    def significant(self, alpha: float = 0.05, *, corrected: str | None = None, certainty: float | None = None) -> Self:
        """The pairs whose gain is significant.

        Parameters
        ----------
        alpha
            The level, a fraction.
        corrected
            "holm" or "bh": by the p-value that is corrected for all rows of this table, or was before pairs were
            selected; None: each pair by itself.
        certainty
            As for `simstudy.statistics.decisions.Decision`, the one rule that decides.
        """
        if corrected is not None:
            check_choice("corrected", corrected, ("holm", "bh"))
        decision = Decision(alpha, certainty, "p_value" if corrected is None else f"p_{corrected}")
        found = self if decision.p in self.frame else self.corrected()
        return found[decision.significant(found.frame)]

    def two_sided(self) -> Self:
        """The same pairs with their two-sided p-values.

        What `corrected` and `equivalence` added to one-sided Comparisons is dropped; call them afterwards.
        """
        return replace(self, frame=two_sided(self.frame))

    def related(self, by: str = "family", systems: pd.DataFrame | None = None) -> Self:
        """The pairs with relation classes from a column of the systems' table (Berg-Kirkpatrick 2012, section 3.1).

        Relations are known before the results are seen, so a class is a family that may be corrected by itself:
        ``Comparisons(pairs.frame[pairs["relation"] == "same group"]).corrected()``.

        Parameters
        ----------
        by
            The column: "family", "group", or what else is known of the systems.
        systems
            Another table with a row for each system, with a column name.
        """
        table = self.systems if systems is None else systems
        if table is None:
            raise InputError("systems", "must be given: these Comparisons came without a table of their systems")
        return replace(self, frame=related(self.frame, table, by), systems=table)

    def corrected(self) -> Self:
        """The same pairs with p_holm and p_bh: all rows are one family (`simstudy.comparisons.corrected`)."""
        return replace(self, frame=corrected(self))

    def equivalence(self, margin: float, *, alpha: float = 0.05) -> Self:
        """The same pairs with a conclusion about a margin (`Comparisons.equivalence`)."""
        return replace(self, frame=equivalence(self, margin, alpha=alpha))

    def pair(self, first: str, second: str) -> Pair:
        """The pair of two systems, named in any order.

        Raises
        ------
        ValueError
            For a name that is not there, and where the table has the two not at all, or more than once (several test
            sets).
        """
        a, b = self.frame["system_a"], self.frame["system_b"]
        found = self.frame[((a == first) & (b == second)) | ((a == second) & (b == first))]
        if len(found) != 1:
            raise no_pair(first, second, len(found), self.names)
        return Pair.of_row(found.iloc[0])

    def verdict(
        self, first: str | None = None, second: str | None = None, *, alpha: float = 0.05, margin: float | None = None
    ) -> str:
        """The verdict on a pair (`simstudy.verdict`). With two systems, no names are needed."""
        if first is not None and second is not None:
            return self.pair(first, second).verdict(alpha=alpha, margin=margin)
        if first is not None or second is not None:
            named = second if first is None else first
            raise InputError("first and second", f"must both be named, or neither, not only {brief(named)}")
        if len(self) != 1:
            there = f"there are {len(self):,} pairs" if len(self) else "there are no pairs"
            raise InputError("first and second", f"must name two systems: {there}")
        return next(iter(self)).verdict(alpha=alpha, margin=margin)

    @property
    def names(self) -> list[str]:
        """The systems, in the order in which the table has them."""
        return [str(name) for name in pd.unique(pd.concat([self.frame["system_a"], self.frame["system_b"]]))]

    def to_csv(self, path: str | Path) -> None:
        """Write the table, unrounded, to a file that `read_csv` reads.

        As in results folders, an apostrophe goes before text that a spreadsheet would take for a formula.
        """
        without_formulas(self.frame).to_csv(path, index=False)

    @classmethod
    def read_csv(cls, path: str | Path, systems: pd.DataFrame | None = None) -> Self:
        """Read a table that `to_csv` wrote, or the pairs.csv of a results folder.

        Raises
        ------
        ValueError
            Where the file is no table, or has not the columns of Comparisons, or other things in them.
        """
        argument = f"path '{path}'"
        text, missing = dict.fromkeys(names_of("text"), str), dict.fromkeys(names_of("number"), [""])
        try:
            read = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=missing)
        except ValueError as error:
            raise InputError(argument, f"must be a CSV file of {COMPARISONS}: {line(error)}") from None
        frame = with_formulas(read)
        check_table(argument, frame, OWN, COMPARISONS, empty=True)
        return cls(frame, systems)

    def to_latex(self, table: str | None = None, *, alpha: float = 0.05) -> str:
        r"""The table of pairs in LaTeX, and sentences for the sections of results and methods with what they cite.

        The table needs the package booktabs. Its caption says what is tested, corrected and marked.

        Parameters
        ----------
        table
            "pairs": only the table. None: everything.
        alpha
            The level; a second mark is at a fifth of it.

        Raises
        ------
        ValueError
            If there are no pairs or another table is asked for, for pairs of several test sets or tests, and for pairs
            that were selected by their results before they were corrected.

        Examples
        --------
        >>> import simstudy as ss
        >>> outputs = ss.Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["a", "b"])
        >>> print(ss.compare(outputs).to_latex("pairs").splitlines()[8])
        \textbf{a} & \textbf{100.0}$^{\ddagger}$ & 25.0 & [14.0, 40.2] & 0.00195 \\
        """
        return in_latex(self._paper(alpha), table)

    def to_markdown(self, table: str | None = None, *, alpha: float = 0.05) -> str:
        """The same in Markdown (`to_latex`)."""
        return in_markdown(self._paper(alpha), table)

    def _paper(self, alpha: float) -> Paper:
        check_fraction("alpha", alpha)
        if self.frame.empty:
            raise InputError("there must be pairs for a table of them")
        require_one_table(self.frame)
        found = self if "p_holm" in self.frame else self.corrected()
        family = "all pairs that were compared" if self.selected else ""
        return paper(found.frame, self.signature(), alpha=alpha, family=family)

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[Pair]:
        return (Pair.of_row(row) for _, row in self.frame.iterrows())

    @overload
    def __getitem__(self, columns: str) -> pd.Series[Any]: ...

    @overload
    def __getitem__(self, columns: list[str]) -> pd.DataFrame: ...

    @overload
    def __getitem__(self, columns: pd.Series[bool] | NDArray[np.bool_]) -> Self: ...

    def __getitem__(
        self, columns: str | list[str] | pd.Series[bool] | NDArray[np.bool_]
    ) -> pd.Series[Any] | pd.DataFrame | Self:
        if isinstance(columns, pd.Series | np.ndarray) and is_bool_dtype(columns):
            return self._those(columns)
        for column in columns if isinstance(columns, list) else [columns]:
            if not isinstance(column, str):
                raise KeyError(f"no column {brief(column)}; select rows by a mask, or from .frame")
            if column not in self.frame:
                known = KNOWN.get(column)
                hint = f": {known.added_by}() adds it" if known and known.added_by else nearest(column, KNOWN)
                raise KeyError(f"no column '{column}'{hint}")
        return self.frame[columns]

    def _those(self, mask: pd.Series[bool] | NDArray[np.bool_]) -> Self:
        if not (mask.index.equals(self.frame.index) if isinstance(mask, pd.Series) else mask.shape == (len(self),)):
            raise InputError(
                f"a mask must have one value for each of the {len(self):,} pairs (a Series, with the index of .frame)"
            )
        found = self.frame[mask]
        return replace(self, frame=found, selected=self.selected or len(found) < len(self))

    def __getattr__(self, name: str) -> Any:
        hint = "; the pandas table is .frame" if hasattr(pd.DataFrame, name) else ""
        if name in KNOWN:
            by = KNOWN[name].added_by
            hint = f'; it is a column, pairs["{name}"]' + (f", which {by}() adds" if by else "")
        raise AttributeError(f"Comparisons has no attribute '{name}'{hint}")

    def _summary(self) -> tuple[str, str]:
        return summary(self.frame, len(self.names)), ""

    def _table(self) -> pd.DataFrame:
        return first_rows(self.frame)

    def _n_rows(self) -> int:
        return len(self)

    def __repr__(self) -> str:
        return at_prompt(super().__repr__(), self.frame)
