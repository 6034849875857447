"""The noun Comparisons: all pairs of systems on a test set, ordered so that gains are at least 0."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
import pandas as pd

from simstudy.analyses.curves import curve
from simstudy.analyses.equivalence import equivalence
from simstudy.analyses.groups import groups
from simstudy.analyses.ranks import ranks
from simstudy.analyses.relations import related
from simstudy.analyses.signature import signature
from simstudy.analyses.significant_gains import significant_gains
from simstudy.analyses.thresholds import thresholds
from simstudy.comparisons.pair import Pair
from simstudy.decisions import P_COLUMNS, Decision, two_sided
from simstudy.engines.registry import TESTS
from simstudy.metrics import label
from simstudy.multiplicity import corrected
from simstudy.numerals import p_floor, p_text, score_format
from simstudy.plain_text import shown
from simstudy.reprs import ReprMixin
from simstudy.schema import KNOWN, OWN, described, names_of
from simstudy.tables import COMPARISONS, TEST_SET, check_table
from simstudy.validation import brief, check_choice, nearest

# Rows that a prompt shows.
_MOST_ROWS = 10


@dataclass(frozen=True, repr=False, eq=False)
class Comparisons(ReprMixin):  # noqa: D101 (the docstring has the columns of the schema)
    __doc__ = f"""All pairs of systems that were compared, each with its gain, interval and p-value.

    `simstudy.compare` makes it. It has one row a pair, ordered so that the gain is at least 0, the pairs of the best
    system first. Functions of the package that take pairs take it, or its table; what is asked most often is a method.
    Of pairs that share a system neither gains nor p-values are independent.

    Parameters
    ----------
    frame
        The table; it must not be changed. Its columns are:

{described("        ")}
    systems
        The systems' table, for `related`; None where it is not known.

    Examples
    --------
    >>> import simstudy as ss
    >>> pairs = ss.compare(ss.truth.correlated_accuracies([0.7, 0.72, 0.8], 400))
    >>> pairs.significant().frame[["system_a", "system_b"]].values.tolist()
    [['system-3', 'system-2'], ['system-3', 'system-1']]
    >>> pairs.pair("system-3", "system-1").p_value < 0.01
    True
    """

    frame: pd.DataFrame
    systems: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        # What is in the columns is looked at where it is used: there may be millions of rows.
        check_table("frame", self.frame, (), COMPARISONS, empty=True)
        if missing := [name for name in OWN if name not in self.frame]:
            raise ValueError(f"frame must be {COMPARISONS}; no column {', '.join(missing)}")

    def significant(self, alpha: float = 0.05, *, corrected: str | None = None, certainty: float | None = None) -> Self:
        """The pairs whose gain is significant.

        Parameters
        ----------
        alpha
            The level, a fraction.
        corrected
            "holm" or "bh": by the p-value that is corrected for all rows of this table; None: each pair by itself.
        certainty
            As for `simstudy.decisions.Decision`, the one rule that decides.
        """
        if corrected is not None:
            check_choice("corrected", corrected, ("holm", "bh"))
        decision = Decision(alpha, certainty, "p_value" if corrected is None else f"p_{corrected}")
        found = self._with(decision.p)
        return replace(found, frame=found.frame[decision.significant(found.frame)])

    def two_sided(self) -> Self:
        """By their two-sided p-values, which one-sided ones have beside theirs."""
        return replace(self, frame=two_sided(self.frame))

    def related(self, by: str = "family", systems: pd.DataFrame | None = None) -> Self:
        """With relation classes from a column of the systems' table (Berg-Kirkpatrick et al. 2012, section 3.1).

        Parameters
        ----------
        by
            The column: "family", "group", or what else is known of the systems.
        systems
            Another table with a row for each system, with a column name.
        """
        table = self.systems if systems is None else systems
        if table is None:
            raise ValueError("systems must be given: these Comparisons came without a table of their systems")
        return replace(self, frame=related(self.frame, table, by), systems=table)

    def corrected(self) -> Self:
        """With p_holm and p_bh, all rows together being one family (`simstudy.analyses.corrected`)."""
        return replace(self, frame=corrected(self.frame))

    def equivalence(self, margin: float, *, alpha: float = 0.05) -> Self:
        """With what each pair says about a margin (`simstudy.equivalence`)."""
        return replace(self, frame=equivalence(self.frame, margin, alpha=alpha))

    def groups(self, *, alpha: float = 0.05, p: str = "p_holm", **options: Any) -> pd.DataFrame:
        """Groups of systems that do not differ significantly (`simstudy.groups`), here after Holm's correction."""
        check_choice("p", p, P_COLUMNS)
        return groups(self._with(p).frame, alpha=alpha, p=p, **options)

    def thresholds(self, **options: Any) -> pd.DataFrame:
        """The gain of pairs that are just significant (`simstudy.thresholds`)."""
        return thresholds(self.frame, **options)

    def significant_gains(self, **options: Any) -> pd.DataFrame:
        """By how much a system must be ahead until that is significant (`simstudy.significant_gains`)."""
        return significant_gains(self.frame, **options)

    def curve(self, *, n_points: int = 50) -> pd.DataFrame:
        """Gain against confidence (`simstudy.curve`)."""
        return curve(self.frame, n_points=n_points)

    def ranks(self, **options: Any) -> pd.DataFrame:
        """How much of the leaderboard's order is significant (`simstudy.ranks`)."""
        return ranks(self.frame, **options)

    def signature(self) -> str:
        """All that somebody needs who wants the same p-values again, in a line (`simstudy.analyses.signature`)."""
        return signature(self.frame)

    def pair(self, first: str, second: str) -> Pair:
        """What is known of two systems, in whichever order they are named.

        Raises
        ------
        ValueError
            For a name that is not there, and where the table has the two more than once (several test sets).
        """
        names = self.names
        for name in (first, second):
            if name not in names:
                raise ValueError(f"there must be a system '{name}'{nearest(name, names)}, unlike {brief(names)}")
        a, b = self.frame["system_a"], self.frame["system_b"]
        found = self.frame[((a == first) & (b == second)) | ((a == second) & (b == first))]
        if len(found) != 1:
            raise ValueError(f"'{first}' and '{second}' must be there once, not {len(found)} times")
        return Pair.of_row(found.iloc[0])

    def verdict(self, first: str | None = None, second: str | None = None, **options: Any) -> str:
        """What a pair says in words (`simstudy.verdict`); of two systems they need not be named."""
        if first is not None and second is not None:
            return self.pair(first, second).verdict(**options)
        if first is not None or second is not None or len(self) != 1:
            raise ValueError(f"first and second must name two systems, where there are {len(self):,} pairs")
        return Pair.of_row(self.frame.iloc[0]).verdict(**options)

    @property
    def names(self) -> list[str]:
        """The systems, in the order in which the table has them."""
        return [str(name) for name in pd.unique(pd.concat([self.frame["system_a"], self.frame["system_b"]]))]

    def to_csv(self, path: str | Path) -> None:
        """Write the table, unrounded, to a file that `read_csv` reads."""
        self.frame.to_csv(path, index=False)

    @classmethod
    def read_csv(cls, path: str | Path, systems: pd.DataFrame | None = None) -> Self:
        """Read a table that `to_csv` wrote, or a study's pairs.csv.

        Raises
        ------
        ValueError
            Where the file has not the columns of Comparisons, or other things in them.
        """
        text = dict.fromkeys(names_of("text"), str)
        missing = dict.fromkeys(names_of("number"), [""])
        frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values=missing)
        check_table("path", frame, OWN, COMPARISONS, empty=True)
        return cls(frame, systems)

    def __len__(self) -> int:
        return len(self.frame)

    def __iter__(self) -> Iterator[Pair]:
        return (Pair.of_row(row) for _, row in self.frame.iterrows())

    @overload
    def __getitem__(self, columns: str) -> pd.Series[Any]: ...

    @overload
    def __getitem__(self, columns: list[str]) -> pd.DataFrame: ...

    def __getitem__(self, columns: str | list[str]) -> pd.Series[Any] | pd.DataFrame:
        for column in columns if isinstance(columns, list) else [columns]:
            if not isinstance(column, str) or column not in self.frame:
                hint = nearest(column, KNOWN) if isinstance(column, str) else ""
                raise KeyError(f"no column {brief(column)}{hint}; rows are taken from .frame")
        return self.frame[columns]

    def __getattr__(self, name: str) -> Any:
        hint = "; the pandas table is .frame" if hasattr(pd.DataFrame, name) or name in KNOWN else ""
        raise AttributeError(f"Comparisons has no attribute '{name}'{hint}")

    def _with(self, p: str) -> Self:
        return self if p in self.frame else self.corrected()

    def _summary(self) -> tuple[str, str]:
        if self.frame.empty:
            return "Comparisons: no pairs", ""
        row = self.frame.iloc[0]
        sets = len(self.frame[TEST_SET].drop_duplicates())
        on = f"{row['n_items']:,} items" if sets == 1 else f"{sets} test sets"
        pairs = "1 pair" if len(self) == 1 else f"{len(self):,} pairs"
        sides = "two-sided" if row["alternative"] == "two-sided" else "one-sided"
        what = f"{label(str(row['metric']))}, {TESTS[row['test']].title}, {sides}"
        return f"Comparisons: {pairs} of {len(self.names):,} systems on {on} ({what})", ""

    def _table(self) -> pd.DataFrame:
        found = self.frame.head(_MOST_ROWS)
        numbers = found[["score_a", "gain", "gain_low", "gain_high"]].to_numpy(dtype=np.float64)
        digits = score_format(np.nanmax(np.abs(numbers), initial=0))
        low, high = (found[name].map(lambda bound: format(bound, digits)) for name in ("gain_low", "gain_high"))
        known = found["gain_low"].notna()
        return pd.DataFrame(
            {
                "system_a": found["system_a"].map(shown),
                "system_b": found["system_b"].map(shown),
                "gain": found["gain"].map(lambda gain: format(gain, digits)),
                "95 % interval": (low + " to " + high).where(known, "none"),
                "p": [p_text(p, None, p_floor(n)) for p, n in zip(found["p_value"], found["n_resamples"], strict=True)],
                "significant at 0.05": np.where(Decision().significant(found), "yes", "no"),
            }
        )

    def __repr__(self) -> str:
        if self.frame.empty:
            return self._summary()[0]
        left = len(self) - _MOST_ROWS
        more = f"\n… and {left:,} more" if left > 0 else ""
        return f"{self._summary()[0]}\n{self._table().to_string(index=False)}{more}"
