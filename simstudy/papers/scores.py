"""A table of scores with a column for each metric, domain or task, and marks in each column by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from simstudy.engines.descriptions import SIDES
from simstudy.engines.registry import TESTS
from simstudy.papers.document import Cell, Table
from simstudy.papers.leaderboards import claims, marks_against
from simstudy.papers.pairs import interval, number_format
from simstudy.text.numerals import number_text
from simstudy.text.plain_text import shown

#: So many comparisons have room for intervals beside their scores, and so many columns have room on a page.
WITH_INTERVALS, _MOST_COLUMNS = 3, 8


@dataclass(frozen=True)
class Column:
    """One comparison: its heading, its leaderboard, and its pairs, the better system first, with p_holm."""

    heading: str
    board: pd.DataFrame
    pairs: pd.DataFrame


def by_system(
    columns: Sequence[Column],
    what: str,
    *,
    alpha: float,
    baseline: str | None = None,
    name: str = "scores",
    ruled: tuple[int, ...] = (),
) -> list[Table]:
    """Scores of each system by each comparison; `what` begins the caption and says what is compared.

    It is a table with a row for each system, best first by the first column, and a column for each comparison. If
    there are many comparisons and few systems, it is turned, with rules above the rows `ruled`; if there are many of
    both, it is several tables.
    """
    systems = list(dict.fromkeys(name for one in columns for name in one.board["system"]))
    names = [shown(name) for name in systems]
    marks = [marks_against(one.board, one.pairs, baseline, alpha) for one in columns]
    scores, intervals = zip(
        *(_cells(one, found, systems) for one, found in zip(columns, marks, strict=True)), strict=True
    )
    used = {sign for found in marks for sign in found.values()} - {""}
    across = "row" if len(columns) > _MOST_COLUMNS >= len(systems) else "column"
    beside = len(columns) <= WITH_INTERVALS and any(map(any, intervals))
    caption = [f"{what} {_caption(columns, used, baseline, alpha, across)}"]
    # All leaderboards have one level; those of single tasks have no intervals.
    level = next((f"{100 * one.board['level'].iloc[0]:g} %" for one in columns if "level" in one.board), "")
    if beside:
        caption.append(f" {level} CI: the interval of each score by itself.")
    if across == "row":
        head: list[tuple[str, Any]] = [("", "left"), *((name, "right") for name in names)]
        rows = [[one.heading, *cells] for one, cells in zip(columns, scores, strict=True)]
        return [Table(name, head, rows, caption, ruled=ruled)]
    tables = []
    for start in range(0, len(columns), _MOST_COLUMNS):
        head, written = [("System", "left")], [names]
        for k in range(start, min(start + _MOST_COLUMNS, len(columns))):
            head.append((columns[k].heading, "right"))
            written.append(scores[k])
            if beside and any(intervals[k]):
                head.append((f"{level} CI", "middle"))
                written.append(intervals[k])
        tables.append(Table(f"{name}{start // _MOST_COLUMNS + 1}" if start else name, head,
                            [*zip(*written, strict=True)], caption))  # fmt: skip
    return tables


def _cells(one: Column, marks: dict[str, str], systems: Sequence[str]) -> tuple[list[Any], list[Any]]:
    """Cells of a comparison, its scores and their intervals, in the order of these systems."""
    halves = ((one.board["score_high"] - one.board["score_low"]) / 2).tolist() if "score_low" in one.board else []
    form, tied = number_format(one.pairs, halves), bool((one.board["rank"] == 1).all())
    known: dict[str, dict[Any, Any]] = {str(row["system"]): row for row in one.board.to_dict("records")}
    scores: list[Cell | str] = []
    intervals: list[str] = []
    for name in systems:
        if (row := known.get(name)) is None:
            scores.append("")
            intervals.append("")
            continue
        scores.append(Cell(number_text(row["score"], form), row["rank"] == 1 and not tied, marks.get(name, "")))
        intervals.append(interval(row["score_low"], row["score_high"], form) if "score_low" in row else "")
    return scores, intervals


def _caption(columns: Sequence[Column], used: set[str], baseline: str | None, alpha: float, across: str) -> str:
    """What is bold, and what marks claim: in each column, or row, by itself."""
    tests = list(dict.fromkeys(f"{SIDES[one.pairs['alternative'].iloc[0]]} {TESTS[one.pairs['test'].iloc[0]].title}"
                               for one in columns))  # fmt: skip
    family = "all pairs" if baseline is None else f"the pairs with {shown(baseline)}"
    how = f"{', '.join(tests)}, Holm's correction for {family} of one {across}, not for the {len(columns):,} {across}s"
    reference = f"the best score of the {across}" if baseline is None else shown(baseline)
    return f"Bold: the best score of a {across}.{claims(used, reference, how, alpha, named=baseline is not None)}"
