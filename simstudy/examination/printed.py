"""What the command prints of an examination: the answer, the systems, and what both rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simstudy.analyses.relation_classes import ALL_PAIRS
from simstudy.analyses.significant_gains import CLOSE_PAIRS
from simstudy.examination.rows import facts, pair_rows, ranking, sides, threshold_rows
from simstudy.examination.samples import noise_lines
from simstudy.loaders.base import counted
from simstudy.statistics.decisions import Decision
from simstudy.text.numerals import gain_text
from simstudy.text.printing import Printer
from simstudy.text.reprs import listed

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

#: Lines of a screen; more are printed if they are asked for.
MOST_LINES = 25

# Rows that a terminal shows of a table of pairs; `pairs` has all. Systems that are always shown, and notes.
_MOST_PAIRS, _LEAST_SYSTEMS, _MOST_NOTES = 40, 5, 3

_SYSTEMS = "Systems (ranks: 95 % confidence for all at once; systems of one group do not differ significantly, Holm)"


def show(found: Examination, printer: Printer, *, verbose: bool = False) -> None:
    """Print the verdict on two systems, or the answer about many and their leaderboard; everything if `verbose`."""
    if found.verdict is not None:
        _lines(printer, [*found.verdict.splitlines(), *noise_lines(found)])
        _lines(printer, [f"Note: {note}" for note in found.notes])
        printer.facts({"Signature": found.pairs.signature()})
        return
    told = [*answer(found), *significant_gain(found), *noise_lines(found)]
    _lines(printer, told)
    known = {name: value for name, value in facts(found).items() if name not in ("Note", "Systems")}
    notes = found.notes if verbose else found.notes[:_MOST_NOTES]
    n = len(found.leaderboard)
    # Title and header of the table, an empty line before it, and the line on what is left out.
    room = MOST_LINES - len(told) - len(known) - len(notes) - 4
    systems = n if verbose else min(n, max(room, _LEAST_SYSTEMS))
    printer.table(_SYSTEMS, ranking(found).text().head(systems))
    if verbose:
        title, pairs = pair_rows(found, _MOST_PAIRS)
        printer.table(title, pairs.text())
        printer.table("Gain that is significant on this test set (95 % interval)", threshold_rows(found).text())
        printer.line("")
    printer.facts(known)
    _lines(printer, [f"Note: {note}" for note in notes])
    if not verbose:
        printer.line(_left_out(n - systems, len(found.pairs), len(found.notes) - len(notes)))


def answer(found: Examination) -> list[str]:
    """Which systems may be the best, and how many pairs differ significantly."""
    board = found.leaderboard
    best = board.loc[board["may_be_best"], "system"].tolist()
    sure = f"({100 * board['level'].iloc[0]:g} % confidence)"
    rejected = int(Decision(found.alpha, p="p_holm").significant(found.pairs.frame).sum())
    first = (
        f"{best[0]} is the best of {len(board):,} systems {sure}."
        if len(best) == 1
        else f"{len(best):,} of {len(board):,} systems may be the best {sure}: {listed(best)}."
    )
    pairs = counted(len(found.pairs), "pair")
    return [first, f"{rejected:,} of {pairs} differ significantly at {found.alpha:g} ({sides(found)}, Holm)."]


def significant_gain(found: Examination) -> list[str]:
    """Which gain is usually significant on this test set; nothing where too few pairs tell."""
    rows = found.gains[found.gains["pairs"] != CLOSE_PAIRS]
    rows = rows[rows["relation"] == ALL_PAIRS] if (rows["relation"] == ALL_PAIRS).any() else rows
    observed, true = rows["observed_50"].iloc[0], rows["true_80"].iloc[0]
    if np.isnan(observed) or np.isnan(true):
        return []
    points = " points" if found.outputs.metric.unit in ("percent", "points") else ""
    seen, wanted = f"{gain_text(observed)}{points}", f"{gain_text(true)}{points}"
    return [f"A gain of {seen} is significant for half of the pairs. Power 0.8 needs a true gain of {wanted}."]


def _lines(printer: Printer, texts: list[str]) -> None:
    for text in texts:
        printer.line(text)


def _left_out(systems: int, pairs: int, notes: int) -> str:
    parts = [counted(systems, "system")] * (systems > 0) + [counted(pairs, "pair")]
    parts += [counted(notes, "note")] * (notes > 0)
    return f"Not shown: {', '.join(parts)}. --verbose prints them, --out DIR writes them."
