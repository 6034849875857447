"""What a reader should know of an examination: near-duplicates, mixed domains, few units, missing intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from simstudy.comparisons.verdict import FEW_UNITS
from simstudy.engines.flip_tails import NOT_KNOWN
from simstudy.engines.registry import OF_FLIPS, TESTS
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.statistics.decisions import Decision
from simstudy.text.numerals import counted, units_text
from simstudy.text.plain_text import shown

# Systems that a note names.
_MOST_NAMED = 20


def note_duplicates(every: Outputs, kept: Outputs, alike: pd.DataFrame) -> None:
    """Say which near-duplicates were dropped, or how many there are; ValueError where one system is left."""
    if kept is every:
        if len(alike):
            note(f"{counted(len(alike), 'pair')} of near-duplicates, first {_first(alike)}")
        return
    if kept.n_systems < 2:
        raise ValueError(f"duplicates must be 'keep': all {every.n_systems} systems are near-duplicates")
    staying = set(kept.names)
    dropped = [shown(name) for name in every.names if name not in staying]
    more = f" and {len(dropped) - _MOST_NAMED} more" if len(dropped) > _MOST_NAMED else ""
    note(f"near-duplicates dropped: {', '.join(dropped[:_MOST_NAMED])}{more}")


def note_domains(outputs: Outputs, strata: str | None) -> None:
    """Say where items of several domains are tested together: they are never mixed silently."""
    if "domain" not in outputs.items or strata == "domain" or outputs.items["domain"].nunique() < 2:
        return
    note(domains(outputs))


def domains(outputs: Outputs) -> str:
    """What a note says of items of several domains."""
    if "domain" not in outputs.items:
        return ""
    counts = outputs.items["domain"].value_counts()
    listed = ", ".join(f"{shown(name)} {count:,}" for name, count in counts.head(6).items())
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    return f"items of {len(counts)} domains are tested together: {listed}{more}"


def note_margin(margin: float, outputs: Outputs) -> None:
    """Say that a margin is less than one item is worth: it may be meant as a fraction."""
    if outputs.metric.unit == "percent" and margin < (least := 100 / outputs.n_items):
        note(
            f"margin {margin:g} is in points of 100, less than one item of {outputs.n_items:,} is worth ({least:.2g}); "
            f"write {100 * margin:g} if you mean the fraction {margin:g}"
        )


def note_pairs(pairs: pd.DataFrame, board: pd.DataFrame, alpha: float) -> None:
    """Say what a table of all pairs is worth: few units, one side, tests that ask something else, no intervals."""
    n, unit = int(pairs["n_units"].iloc[0]), pairs["unit"].iloc[0]
    if n < FEW_UNITS:
        rough = "intervals" if pairs["exact"].all() else "tests and intervals"
        note(f"only {units_text(n, unit)}: {rough} are rough with fewer than {FEW_UNITS}")
    if pairs["alternative"].iloc[0] != "two-sided":
        note(
            "p-values are one-sided, as you asked: if the better system was not predicted, two equally good systems "
            "have p <= 0.05 one time in ten; corrected p-values and groups are affected too"
        )
    against = pairs[Decision(alpha).prefers_worse(pairs)]
    if len(against):
        test = TESTS[against["test"].iloc[0]]
        note(
            f"the {test.title} prefers the system with the worse score in {counted(len(against), 'pair')}, first "
            f"{_first(against)}: its null hypothesis is that {test.null}; these pairs do not count as significant"
        )
    _note_no_interval(pairs[pairs["gain_low"].isna()], board)


def note_resamples(pairs: pd.DataFrame, options: Mapping[str, Any]) -> None:
    """Say where resamples were asked for and none was needed; and where flips were drawn that nobody asked for."""
    drawn = pairs[pairs["monte_carlo"]]
    if drawn.empty:
        if options.get("n_resamples") is not None:
            note("the number of resamples is not used: this test computes these p-values without resampling")
        return
    auto = options.get("monte_carlo", "auto") == "auto" and options.get("convention", "default") == "default"
    if auto and drawn["test"].iloc[0] in OF_FLIPS:
        note(f"p-values of {counted(len(drawn), 'pair')} are from random flips, first {_first(drawn)}: {NOT_KNOWN}")


def _note_no_interval(none: pd.DataFrame, board: pd.DataFrame) -> None:
    """Say how many pairs have no interval, and why."""
    undefined = board.loc[board["n_undefined"] > 0, "system"]
    spread_unknown = none["system_a"].isin(undefined) | none["system_b"].isin(undefined)
    alike = ~spread_unknown & (none["ties"] == none["n_units"])
    reasons = {
        "the two systems do equally well on every unit": alike,
        "the difference is the same on every unit": ~spread_unknown & ~alike,
        "without one of the units a score is undefined (0 / 0), so its spread is not known": spread_unknown,
    }
    for reason, those in reasons.items():
        if those.any():
            note(f"no interval for {counted(int(those.sum()), 'pair')}: {reason}")


def _first(pairs: pd.DataFrame) -> str:
    return " / ".join(shown(pairs[name].iloc[0]) for name in ("system_a", "system_b"))
