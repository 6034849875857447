"""What a reader should know of an examination: near-duplicates, mixed domains, few units, missing intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.comparisons.verdict import FEW_UNITS
from simstudy.engines.registry import TESTS
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.statistics.decisions import Decision
from simstudy.text.numerals import counted, units_text
from simstudy.text.plain_text import shown
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Systems that a note names.
_MOST_NAMED = 20


def note_duplicates(every: Outputs, kept: Outputs, alike: pd.DataFrame) -> None:
    """Say which near-duplicates were dropped, or how many there are; ValueError where one system is left."""
    if kept is every:
        if len(alike):
            note("near-duplicates", pairs=counted(len(alike), "pair"), first=_first(alike))
        return
    if kept.n_systems < 2:
        raise InputError("duplicates", f"must be 'keep': all {every.n_systems} systems are near-duplicates")
    staying = set(kept.names)
    dropped = [shown(name) for name in every.names if name not in staying]
    more = f" and {len(dropped) - _MOST_NAMED} more" if len(dropped) > _MOST_NAMED else ""
    note("near-duplicates dropped", systems=", ".join(dropped[:_MOST_NAMED]), more=more)


def note_domains(outputs: Outputs, strata: str | None) -> None:
    """Say where items of several domains are tested together: they are never mixed silently."""
    if "domain" not in outputs.items or strata == "domain" or outputs.items["domain"].nunique() < 2:
        return
    counts = outputs.items["domain"].value_counts()
    listed = ", ".join(f"{shown(name)} {count:,}" for name, count in counts.head(6).items())
    more = f" and {len(counts) - 6} more" if len(counts) > 6 else ""
    note("domains tested together", n=len(counts), counts=listed, more=more)


def note_margin(margin: float, outputs: Outputs) -> None:
    """Say that a margin is less than one item is worth: it may be meant as a fraction."""
    if outputs.metric.unit == "percent" and margin < (least := 100 / outputs.n_items):
        note("small margin", margin=margin, n_items=outputs.n_items, least=least, percent=100 * margin)


def note_pairs(found: Examination) -> None:
    """Say what a table of all pairs is worth: few units, one side, tests that ask something else, no intervals."""
    pairs = found.pairs.frame
    n, unit = int(pairs["n_units"].iloc[0]), pairs["unit"].iloc[0]
    if n < FEW_UNITS:
        rough = "intervals" if pairs["exact_level"].all() else "tests and intervals"
        note("few units", units=units_text(n, unit), rough=rough, least=FEW_UNITS)
    if pairs["alternative"].iloc[0] != "two-sided":
        note("one-sided p-values")
    against = pairs[Decision(found.alpha).prefers_worse(pairs)]
    if len(against):
        test = TESTS[against["test"].iloc[0]]
        pairs_text = counted(len(against), "pair")
        note("worse system preferred", test=test.title, pairs=pairs_text, first=_first(against), null=test.null)
    without = pairs[pairs["gain_low"].isna()]
    if len(without):
        _note_no_interval(without, found.leaderboard)


def note_resamples(pairs: pd.DataFrame, options: Mapping[str, Any]) -> None:
    """Say where resamples were asked for and none was needed."""
    if options.get("n_resamples") is not None and not (pairs["computation"] == "resampled").any():
        note("resamples not used")


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
            note("no interval", pairs=counted(int(those.sum()), "pair"), why=reason)


def _first(pairs: pd.DataFrame) -> str:
    return " / ".join(shown(pairs[name].iloc[0]) for name in ("system_a", "system_b"))
