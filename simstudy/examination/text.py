"""An examination in words and tables, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.examination.rows import facts, pair_rows, ranking, threshold_rows
from simstudy.text.printing import Printer

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Rows that are shown of a table of pairs; `pairs` has all.
_MOST_ROWS = 40


def show(found: Examination, printer: Printer) -> None:
    """Print the verdict on two systems, or the tables of many."""
    if found.verdict is not None:
        for line in found.verdict.splitlines():
            printer.line(line)
    else:
        printer.facts({name: value for name, value in facts(found).items() if name != "Note"})
    for note in found.notes:
        printer.line(f"Note: {note}")
    if found.verdict is not None:
        printer.facts({"Signature": found.pairs.signature()})
        return
    printer.table(
        "Systems; their places hold for all at once; those of one group do not differ significantly (Holm)",
        ranking(found).text(),
    )
    title, rows = pair_rows(found, _MOST_ROWS)
    printer.table(title, rows.text())
    printer.table("Gain that is significant on this test set (95 % interval)", threshold_rows(found).text())
