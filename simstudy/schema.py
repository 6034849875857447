"""The columns of Comparisons: name, type, unit and meaning of each, in one place."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from textwrap import fill
from typing import Literal

Kind = Literal["text", "number", "whole", "flag"]


@dataclass(frozen=True)
class Column:
    """A column of a table of pairs."""

    name: str
    #: What its cells are: text, numbers (may be missing), whole numbers from 0 on, or flags (true or false).
    kind: Kind
    #: "score" is the metric's scale; "fraction" is from 0 to 1; "items" and "units" are counts; "" for none.
    unit: str
    meaning: str
    #: Of the table, under which documentation lists it.
    part: str
    #: The method of `simstudy.Comparisons` that adds it; "" for what every comparison has.
    added_by: str = ""


_TEST_SET, _TEST, _SYSTEMS, _GAIN = "the test set", "the test", "the two systems", "the gain"
_UNITS, _FOOTING, _P = "the units behind the gain", "what the scores rest on", "the p-value"
_CORRECTED, _MARGIN = "after correction for all rows together", "a margin"

#: Every column that Comparisons may have, in order.
COLUMNS = (
    Column("task", "text", "", "name of the task", _TEST_SET),
    Column("test_set", "text", "", "name of the test set", _TEST_SET),
    Column("n_items", "whole", "items", "size of the test set", _TEST_SET),
    Column("metric", "text", "", "name of the metric", _TEST_SET),
    Column("metric_unit", "text", "", "what its scores are told in: percent, points, probability, …", _TEST_SET),
    Column("metric_signature", "text", "", "what counted its statistics of texts", _TEST_SET),
    Column("test", "text", "", "a name in `simstudy.TESTS`", _TEST),
    Column("alternative", "text", "", "two-sided, or greater (one-sided)", _TEST),
    Column("convention", "text", "", "how resamples are counted", _TEST),
    Column("unit", "text", "", "what is resampled or swapped: item, or a column of the items", _TEST),
    Column("strata", "text", "", "column of the items whose values keep their numbers of units", _TEST),
    Column("seed", "whole", "", "of the resamples", _TEST),
    Column("n_units", "whole", "units", "how many units there are", _TEST),
    Column("system_a", "text", "", "the system with the better score; of equal scores the first by name", _SYSTEMS),
    Column("system_b", "text", "", "the other system", _SYSTEMS),
    Column("family_a", "text", "", "base model of system_a", _SYSTEMS),
    Column("family_b", "text", "", "base model of system_b", _SYSTEMS),
    Column("relation", "text", "", "how the two are related: same family, different families, …", _SYSTEMS),
    Column("score_a", "number", "score", "of system_a", _SYSTEMS),
    Column("score_b", "number", "score", "of system_b", _SYSTEMS),
    Column("gain", "number", "score", "how much better system_a scores, never below 0", _GAIN),
    Column("gain_se", "number", "score", "standard error over units, by the jackknife or the bootstrap", _GAIN),
    Column("gain_low", "number", "score",
           "lower end of the 95 % interval of the true gain, always two-sided, within what gains can be", _GAIN),
    Column("gain_high", "number", "score", "upper end of this interval", _GAIN),
    Column("minimum_detectable_gain", "number", "score",
           "the least true gain that a pair with this standard error detects with power 0.8, two-sided at 0.05", _GAIN),
    Column("interval", "text", "",
           "score (Tango's, for right and wrong items), jackknife or bootstrap (t with df degrees)", _GAIN),
    Column("df", "number", "", "degrees of freedom", _GAIN),
    Column("skewness", "number", "", "of the units' contributions to the gain", _GAIN),
    Column("wins", "whole", "units",
           "on which system_a does better (an arena: its direct wins); 0 if no unit has a score (AUC)", _UNITS),
    Column("losses", "whole", "units", "on which system_a does worse (an arena: its direct losses)", _UNITS),
    Column("ties", "whole", "units",
           "on which neither does; or, if no unit has a score, on which nothing differs", _UNITS),
    Column("accepted_a", "number", "", "answers that system_a gave, for precision and F", _FOOTING),
    Column("wrong_a", "number", "", "wrong ones of these", _FOOTING),
    Column("accepted_b", "number", "", "answers that system_b gave, for precision and F", _FOOTING),
    Column("wrong_b", "number", "", "wrong ones of these", _FOOTING),
    Column("caution", "text", "",
           "few effective units or skewed differences: why the interval is approximate, and p_value too unless "
           "exact_level is true",
           _FOOTING),
    Column("p_value", "number", "fraction", "of the sides that column alternative names", _P),
    Column("p_low", "number", "fraction", "lower end of its 95 % Monte Carlo interval; p itself where it has none", _P),
    Column("p_high", "number", "fraction", "upper end of this interval", _P),
    Column("p_two_sided", "number", "fraction", "the two-sided p-value; missing where the convention has none", _P),
    Column("p_floor", "number", "fraction", "the least p-value that swapping the units that differ could give", _P),
    Column("better", "text", "", "the system that the test prefers; empty for neither", _P),
    Column("computation", "text", "", "how the p-value is computed: exact, approximated or resampled", _P),
    Column("exact_level", "flag", "",
           "whether the test holds its level exactly under its null hypothesis, but for the error of an approximated "
           "p-value", _P),
    Column("n_extreme", "whole", "", "resamples that were at least as extreme; 0 where none were drawn", _P),
    Column("n_resamples", "whole", "", "resamples drawn; 0 for none", _P),
    Column("statistic", "number", "", "t, z, chi-square, …; missing where it is the gain", _P),
    Column("p_holm", "number", "fraction", "p-value after Holm's correction", _CORRECTED, "corrected"),
    Column("p_bh", "number", "fraction",
           "p-value after the correction of Benjamini and Hochberg", _CORRECTED, "corrected"),
    Column("margin", "number", "score", "the smallest true gain that would matter", _MARGIN, "equivalence"),
    Column("p_noninferiority", "number", "fraction",
           "one-sided: that system_a is worse by the margin", _MARGIN, "equivalence"),
    Column("p_equivalence", "number", "fraction", "one-sided: that either is", _MARGIN, "equivalence"),
    Column("p_noninferiority_holm", "number", "fraction", "the same after Holm's correction", _MARGIN, "equivalence"),
    Column("p_equivalence_holm", "number", "fraction", "the same after Holm's correction", _MARGIN, "equivalence"),
    Column("conclusion", "text", "",
           "better, equivalent, better by less than the margin, not worse or undecided", _MARGIN, "equivalence"),
)  # fmt: skip

#: By name.
KNOWN = {column.name: column for column in COLUMNS}

#: The columns that every comparison has, in order, and those that methods add.
OWN = tuple(column.name for column in COLUMNS if not column.added_by)
ADDED = tuple(column.name for column in COLUMNS if column.added_by)


#: What the JSON of a comparison is called.
JSON_NAME = "simstudy-comparison"

#: The fingerprint of the columns in each version of that JSON: other columns need another version.
FINGERPRINTS = {1: "f46eab18a05e5d8ff6b6c4e20501c388cd672c22d978076458c614563be9d17f"}
JSON_VERSION = max(FINGERPRINTS)


def fingerprint() -> str:
    """A hash of the columns' names, types and units."""
    told = "\n".join(f"{one.name} {one.kind} {one.unit} {one.added_by}" for one in COLUMNS)
    return sha256(told.encode()).hexdigest()


def names_of(*kinds: Kind) -> set[str]:
    """The names of the columns of these types."""
    return {column.name for column in COLUMNS if column.kind in kinds}


def described(indent: str = "") -> str:
    """The columns in words, a paragraph for each part of the table: what docstrings and pages say of them."""
    parts = []
    for part, columns in groupby(COLUMNS, key=lambda column: column.part):
        known = list(columns)
        by = f" (added by `{known[0].added_by}`)" if known[0].added_by else ""
        said = "; ".join(f"``{one.name}``, {one.meaning}{_told_in(one)}" for one in known)
        parts.append(fill(f"- Of {part}{by}: {said}.", 118, initial_indent=indent, subsequent_indent=f"{indent}  "))
    return "\n".join(parts)


def _told_in(column: Column) -> str:
    units = {"score": " (metric's scale)", "fraction": " (fraction)"}
    return units.get(column.unit, "")
