"""Tables of leaderboards: scores with intervals and confidence sets of ranks, and marks against one system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from simstudy.engines.descriptions import SIDES
from simstudy.engines.registry import TESTS
from simstudy.metrics import label
from simstudy.papers.basis import asked_instead
from simstudy.papers.document import BETTER_MARKS, WORSE_MARKS, Cell, Cite, Table
from simstudy.papers.pairs import heading, interval, marks, meaning, number_format, on
from simstudy.papers.references import RANKS
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import corrected
from simstudy.text.numerals import number_text
from simstudy.text.plain_text import shown
from simstudy.text.reprs import listed
from simstudy.validation import InputError, brief, nearest


def check_baseline(baseline: str, names: Sequence[str]) -> None:
    """Raise a ValueError where the baseline is no system, or there are only two."""
    if baseline not in names:
        some = listed([*names], 8)
        raise InputError(
            "baseline", f"must be a system, not {brief(baseline)}{nearest(baseline, names)}: one of {some}"
        )
    if len(names) == 2:
        raise InputError("baseline", "must not be given with two systems: the table compares them with each other")


def against(pairs: pd.DataFrame, baseline: str | None) -> tuple[str, pd.DataFrame, str]:
    """The system that marks compare with, its pairs with p_holm, and the family that this is corrected for.

    That is a baseline, which was named beforehand: its pairs are a family. Without one it is the system with the best
    score. Which one that is the data say, so that all pairs are the family.
    """
    reference = str(pairs["system_a"].iloc[0]) if baseline is None else baseline
    own = pairs[(pairs["system_a"] == reference) | (pairs["system_b"] == reference)]
    if baseline is None:
        return reference, own, f"all {len(pairs):,} pairs"
    return reference, corrected(own), f"the {len(own):,} pairs with {shown(baseline)}"


def marks_against(board: pd.DataFrame, pairs: pd.DataFrame, baseline: str | None, alpha: float) -> dict[str, str]:
    """The mark of each system, "" for none: `BETTER_MARKS` of those that are better than the baseline, `WORSE_MARKS`.

    Without a baseline systems are compared with the best, and nothing is better: the first marks are of worse ones.
    """
    if baseline is not None and baseline not in set(board["system"]):
        return {}
    reference, own, _ = against(pairs, baseline)
    ahead = (own["system_b"] == reference).to_numpy()
    found: dict[str, str] = {}
    worse = BETTER_MARKS if baseline is None else WORSE_MARKS
    for those, system, signs in ((ahead, "system_a", BETTER_MARKS), (~ahead, "system_b", worse)):
        rows = own[those]
        found |= dict(zip(rows[system], marks(rows, alpha, "p_holm", signs), strict=True))
    return found


def claims(used: set[str], reference: str, how: str, alpha: float, *, named: bool) -> str:
    """What the marks of `marks_against` claim, in sentences; `how` are test and correction.

    A reference that is `named` was a baseline.
    """
    if not named:
        return meaning(used, BETTER_MARKS, f"significantly worse than {reference}", how, alpha)
    said = meaning(used, BETTER_MARKS, f"significantly better than {reference}", how, alpha)
    said += meaning(used, WORSE_MARKS, f"significantly worse than {reference}", how, alpha)
    return said or f" No system differs significantly from {reference} at {alpha:g} ({how})."


def counted_against(pairs: pd.DataFrame, baseline: str, alpha: float) -> str:
    """How many systems are significantly better than the baseline, and how many worse, a sentence."""
    reference, own, family = against(pairs, baseline)
    significant = Decision(alpha, p="p_holm").significant(own)
    better, worse = (int((significant & (own[side] != reference)).sum()) for side in ("system_a", "system_b"))
    sides = SIDES[own["alternative"].iloc[0]]
    return (
        f"Of the {len(own):,} other systems, {better:,} {'is' if better == 1 else 'are'} significantly better than "
        f"{shown(reference)} and {worse:,} significantly worse, at {alpha:g} ({sides}, Holm's correction for {family})."
        f"{asked_instead(own)}"
    )


def leaderboard(board: pd.DataFrame, pairs: pd.DataFrame, *, alpha: float, baseline: str | None = None) -> Table:
    """A row for each system, best first: score with its interval, rank, and confidence set of the rank."""
    halves = ((board["score_high"] - board["score_low"]) / 2).tolist()
    form = number_format(pairs, halves)
    found = marks_against(board, pairs, baseline, alpha)
    reference, _, family = against(pairs, baseline)
    one = pairs.iloc[0]
    how = f"{SIDES[one['alternative']]} {TESTS[one['test']].title}, Holm's correction for {family}"
    named = shown(reference) if baseline else f"{shown(reference)}, the best score,"
    said = claims({*found.values()}, named, how, alpha, named=baseline is not None)
    percent = f"{100 * board['level'].iloc[0]:g} %"
    columns: Any = [
        ("System", "left"), (heading(one["metric"], one["metric_unit"]), "right"), (f"{percent} CI", "middle"),
        ("Rank", "middle"),
    ]  # fmt: skip
    rows = [_row(row, form, found) for row in board.to_dict("records")]
    caption = (
        f"{len(board):,} systems by {label(str(one['metric']))} on {on(pairs)}. Bold: the best score. {percent} CI: "
        f"the interval of each score by itself. Rank: in brackets its {percent} confidence set, for all systems at once"
    )
    return Table("leaderboard", columns, rows, [caption, Cite((RANKS,)), f".{said}"])


def _row(row: dict[Any, Any], form: str, found: dict[str, str]) -> list[Cell | str]:
    best, name = row["rank"] == 1, str(row["system"])
    low, high = int(row["rank_low"]), int(row["rank_high"])
    return [
        Cell(shown(name), best), Cell(number_text(row["score"], form), best, found.get(name, "")),
        interval(row["score_low"], row["score_high"], form),
        f"{row['rank']} ({low if low == high else f'{low}–{high}'})",
    ]  # fmt: skip
