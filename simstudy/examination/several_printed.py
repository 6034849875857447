"""What the command prints of several comparisons: a table of them, what may be claimed, and what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from simstudy.analyses.signature import signatures
from simstudy.examination import printed
from simstudy.examination.rows import items_text
from simstudy.loaders.base import counted
from simstudy.metrics import label
from simstudy.papers.basis import described_test
from simstudy.text.numerals import at_floor, p_floor, p_text, score_format
from simstudy.text.plain_text import shown
from simstudy.text.printing import MOST_LINES, Printer
from simstudy.text.reprs import listed

if TYPE_CHECKING:
    from simstudy.examination.several import Several

#: The heading of the table of comparisons.
TABLE = "One comparison a row"

# What a screen has room for: rows of comparisons beside a leaderboard, notes, columns of scores, names in a cell.
_MOST_PARTS, _LEAST_SYSTEMS, _MOST_NOTES, _MOST_COLUMNS, _MOST_NAMED = 7, 3, 3, 6, 3


def show(found: Several, printer: Printer, *, verbose: bool = False, last: Sequence[str] = ()) -> None:
    """Print a row for each comparison, and of many systems a leaderboard; each comparison as a whole if `verbose`.

    The output ends with the lines `last`.
    """
    rows, notes = part_rows(found), _notes(found)
    facts = _facts(found)
    kept_notes = notes if verbose else notes[:_MOST_NOTES]
    # Title and header of a table, an empty line before it, the claims, and the line on what is left out.
    room = MOST_LINES - 3 - 1 - printer.facts_height(facts) - len(kept_notes) - 1 - len(last)
    most = len(rows) if verbose else room if found.of_pairs else _MOST_PARTS
    printer.table(TABLE, rows.head(most))
    systems = 0
    if not found.of_pairs:
        board = scores_by_part(found)
        systems = len(board) if verbose else max(room - min(most, len(rows)) - 3, _LEAST_SYSTEMS)
        printer.table(f"Scores (best first by {board.columns[1]})", board.head(systems))
        systems = max(0, len(board) - systems)
    printer.line("")
    printer.line(claims(found))
    printer.facts(facts)
    for note in kept_notes:
        printer.line(f"Note: {note}")
    if verbose:
        for part in found.parts:
            printer.line("")
            printer.line(part.title, "bold")
            printed.show(part, printer, verbose=True)
        printer.lines(last)
        return
    left = [counted(len(rows) - most, "comparison")] * (len(rows) > most) + [counted(systems, "system")] * (systems > 0)
    left += [counted(len(notes) - _MOST_NOTES, "note")] * (len(notes) > _MOST_NOTES)
    what = f"Not shown: {', '.join(left)}. " if left else ""
    printer.line(f"{what}--verbose prints each comparison as a whole, --out DIR writes it.")
    printer.lines(last)


def claims(found: Several) -> str:
    """What may be claimed of several tests: of one of them, of any, and of all."""
    n, alpha = len(found.parts), found.parts[0].alpha
    varies = varying(found)
    one, by = {"metric": ("metric", "by"), "test_set": ("domain", "on")}.get(" ".join(varies), ("row", "in"))
    if found.of_pairs:
        return (
            f"p is for one {one}. To claim that the systems differ {by} at least one {one}, use p (Holm), which is "
            f"corrected for the {n} tests. To claim that they differ {by} every {one}, each p must be at most "
            f"{alpha:g}."
        )
    return (
        f"Confidence and Holm's correction are for the systems of one {one}: nothing is corrected for the {n} {one}s."
    )


def answer(found: Several) -> str:
    """In how many comparisons two systems differ significantly, or which systems may be the best in all of them."""
    n, table = len(found.parts), found.table
    if found.of_pairs:
        differ = int((table["significant"] & (table["p_holm_parts"] <= found.parts[0].alpha)).sum())
        level = f"{found.parts[0].alpha:g}, Holm for the {n} tests"
        return f"The two systems differ significantly in {differ} of {n} comparisons (at {level})."
    boards = [part.leaderboard for part in found.parts]
    best = [set(board.loc[board["may_be_best"], "system"]) for board in boards]
    always = [shown(name) for name in boards[0]["system"] if all(name in names for names in best)]
    if not always:
        return f"No system may be the best in each of the {n} comparisons (95 % confidence in each)."
    return f"{listed(always, _MOST_NAMED)} may be the best in each of the {n} comparisons (95 % confidence in each)."


def part_rows(found: Several, forms: Sequence[str] | None = None) -> pd.DataFrame:
    """The table of comparisons, as text; numbers of two systems have these formats, a row each."""
    table = found.table
    columns: dict[str, list[str]] = {}
    if table["test_set"].nunique() > 1:
        columns["domain"] = [shown(name) for name in table["test_set"]]
    if table["metric"].nunique() > 1 or not columns:
        columns["metric"] = [label(name) for name in table["metric"]]
    if len({items_text(part) for part in found.parts}) > 1:
        columns["items"] = [f"{n:,}" for n in table["n_items"]]
        units = [int(part.pairs.frame["n_units"].iloc[0]) for part in found.parts]
        if units != table["n_items"].tolist():
            columns["clusters"] = [f"{n:,}" for n in units]
    more = _of_pairs(table, found.parts[0].alpha, forms) if found.of_pairs else _of_many(found)
    return pd.DataFrame({**columns, **more}, dtype=object)


def _of_pairs(table: pd.DataFrame, alpha: float, forms: Sequence[str] | None) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {}
    names = [shown(table[name].iloc[0]) for name in ("system_1", "system_2")]
    if names[0] == names[1]:
        names[1] = f"{names[1]} (2)"
    if forms is None:
        largest = table[["score_1", "score_2"]].abs().max(axis=1)
        forms = [score_format(score, gain) for score, gain in zip(largest, table["gain"], strict=True)]
    for name, score in zip(names, ("score_1", "score_2"), strict=True):
        columns[name] = [format(value, form) for value, form in zip(table[score], forms, strict=True)]
    called = dict(zip(table[["system_1", "system_2"]].iloc[0], names, strict=True))
    columns["better"] = ["none" if pd.isna(name) else called[name] for name in table["better"]]
    columns["gain"] = [format(gain, form) for gain, form in zip(table["gain"], forms, strict=True)]
    columns["95 %"] = [
        "no interval" if pd.isna(low) else f"{low:{form}} to {high:{form}}"
        for low, high, form in zip(table["gain_low"], table["gain_high"], forms, strict=True)
    ]
    floors = [p_floor(n) for n in table["n_resamples"]]
    columns["p"] = [p_text(p, alpha, floor) for p, floor in zip(table["p_value"], floors, strict=True)]
    columns["p (Holm)"] = [
        p_text(q, alpha, max(q, floor) if at_floor(p, floor) and q < 1 else 0)
        for p, q, floor in zip(table["p_value"], table["p_holm_parts"], floors, strict=True)
    ]
    columns[f"significant at {alpha:g}"] = ["yes" if said else "no" for said in table["significant"]]
    return columns


def _of_many(found: Several) -> dict[str, list[str]]:
    boards = [part.leaderboard for part in found.parts]
    best = [[shown(name) for name in board.loc[board["may_be_best"], "system"]] for board in boards]
    counts = zip(found.table["n_significant"], found.table["n_pairs"], strict=True)
    return {
        "may be the best (95 %)": [
            f"{len(names)} of {len(board)}: {listed(names, _MOST_NAMED)}"
            for names, board in zip(best, boards, strict=True)
        ],
        "significant pairs (Holm)": [f"{n:,} of {pairs:,}" for n, pairs in counts],
    }


def scores_by_part(found: Several) -> pd.DataFrame:
    """A row for each system with its score and rank in each comparison, best first by the first one; as text."""
    columns: dict[str, pd.Series[str]] = {}
    varies = varying(found)
    for part in found.parts[:_MOST_COLUMNS]:
        board = part.leaderboard.set_index("system")
        form = score_format(board["score"].abs().max())
        texts = [f"{score:{form}} ({rank})" for score, rank in zip(board["score"], board["rank"], strict=True)]
        names = {"metric": label(part.test_set.metric), "test_set": shown(part.test_set.name)}
        columns[f"{' '.join(names[name] for name in varies)} (rank)"] = pd.Series(texts, index=board.index)
    order = list(dict.fromkeys(name for part in found.parts for name in part.leaderboard["system"]))
    table = pd.DataFrame(columns).reindex(order).fillna("")
    return pd.concat([pd.Series(map(shown, order), index=order, name="system"), table], axis=1).reset_index(drop=True)


def varying(found: Several) -> list[str]:
    """What tells the comparisons apart: domains, metrics, or both."""
    table = found.table
    return [name for name in ("test_set", "metric") if table[name].nunique() > 1] or ["metric"]


def _facts(found: Several) -> dict[str, str]:
    """What the comparisons have in common."""
    tests = list(dict.fromkeys(described_test(part.pairs.frame) for part in found.parts))
    items = {items_text(part) for part in found.parts}
    common = {"Items": items.pop()} if len(items) == 1 else {}
    return {**common, "Test": tests[0] if len(tests) == 1 else f"{tests[0]} (first row)", **signed(found)}


def signed(found: Several) -> dict[str, str]:
    """The signature of each metric, of all its comparisons together."""
    by_metric: dict[str, list[pd.DataFrame]] = {}
    for part in found.parts:
        by_metric.setdefault(part.test_set.metric, []).append(part.pairs.frame)
    signed = {}
    for metric, frames in by_metric.items():
        name = "Signature" if len(by_metric) == 1 else f"Signature ({label(metric)})"
        own = signatures(pd.concat(frames, ignore_index=True))
        signed[name] = own[0] if len(own) == 1 else f"{own[0]} (first row)"
    return signed


def _notes(found: Several) -> list[str]:
    """The notes of all comparisons, each once; one that not all have says of which it is."""
    told: dict[str, list[str]] = {}
    varies = varying(found)
    for part in found.parts:
        names = {"metric": part.test_set.metric, "test_set": shown(part.test_set.name)}
        for note in part.notes:
            told.setdefault(note, []).append(" ".join(names[name] for name in varies))
    return [
        note if len(whose) == len(found.parts) else f"{listed(list(dict.fromkeys(whose)), 3)}: {note}"
        for note, whose in told.items()
    ]
