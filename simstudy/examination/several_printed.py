"""What the command prints of several comparisons: a table of them, what may be claimed, and what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from simstudy.comparisons.signature import signatures
from simstudy.engines.descriptions import described_test
from simstudy.examination import printed
from simstudy.examination.rows import items_text
from simstudy.metrics import label
from simstudy.papers.basis import asked_instead
from simstudy.text.headings import apart
from simstudy.text.numerals import p_adjusted, p_floor, p_text, score_format
from simstudy.text.plain_text import shown
from simstudy.text.printing import LEFT_OUT, MOST_LINES, Printer, not_shown, noted
from simstudy.text.reprs import listed

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination
    from simstudy.examination.several import Several

# The last line of advice.
_ALWAYS = "--verbose prints each comparison as a whole, --out DIR writes it."

#: The heading of the table of comparisons.
TABLE = "One comparison a row"

#: The column that says which comparisons are significant after Holm's correction for all of them.
SIGNIFICANT = "significant (Holm)"

# What a screen has room for: rows of comparisons beside a leaderboard, notes, columns of scores; names in a cell, and
# their characters.
_MOST_PARTS, _LEAST_ROWS, _MOST_NOTES, _MOST_COLUMNS, _MOST_NAMED, _NAMES = 7, 3, 3, 6, 3, 60
# Columns that a narrow terminal is without first.
_SPARE = ("clusters", "items", "p")


def show(found: Several, printer: Printer, *, verbose: bool = False, last: Sequence[str] = ()) -> None:
    """Print the answer and a row for each comparison, and of many systems a leaderboard; each as a whole if `verbose`.

    Without `verbose` it is at most `MOST_LINES` lines, the lines `last` among them, with which it ends.
    """
    rows, facts, every = part_rows(found), _facts(found), noted(_notes(found))
    board = pd.DataFrame() if found.of_pairs else scores_by_part(found, None if verbose else _MOST_COLUMNS)
    scores = "" if found.of_pairs else f"Scores (best first by {board.columns[1]})"
    first, claimed = answer(found), claims(found)
    notes, n_rows, n_systems, n_facts = every, len(rows), len(board), len(facts)
    plain, (printer, which) = printer, printed.lettered(found.parts[0], printer, verbose=verbose)
    if not verbose:
        room = MOST_LINES - plain.height(*which)
        room -= printer.height(first, "", claimed, f"{LEFT_OUT}. {_ALWAYS}", *last)
        tables = [printer.table_height(TABLE, rows.head(n), _SPARE) for n in (_LEAST_ROWS, 1)]
        # Lines of the table of comparisons, with those of the scores if there is room for both.
        besides = dict.fromkeys(tables, 0)
        if not board.empty:
            boards = [printer.table_height(scores, board.head(n)) for n in (_LEAST_ROWS, 1)]
            besides = {one + other: other for one, other in zip(tables, boards, strict=True)} | besides
        signed_as = [name for name in facts if name.startswith("Signature")]
        spare = ["Items", *signed_as[:0:-1], "Test", *signed_as[:1]]
        facts, least = printer.facts_beside(facts, spare, room, [*besides])
        beside = besides.get(least, 0)
        room -= printer.facts_height(facts)
        notes = printer.fitting(map(printer.shortened, every[:_MOST_NOTES]), room - least)
        room -= printer.height(*notes)
        some = rows if board.empty else rows.head(_MOST_PARTS)
        n_rows = max(1, printer.rows_fitting(TABLE, some, room - beside, _SPARE))
        room -= printer.table_height(TABLE, rows.head(n_rows), _SPARE)
        n_systems = printer.rows_fitting(scores, board.head(MOST_LINES), room) if beside else 0
    plain.lines(which)
    printer.line(first)
    printer.table(TABLE, rows.head(n_rows), _SPARE, verbose=verbose)
    if n_systems:
        printer.table(scores, board.head(n_systems), verbose=verbose)
    printer.line("")
    printer.line(claimed)
    printer.facts(facts)
    printer.lines(notes)
    if verbose:
        for part in found.parts:
            printer.line("")
            printer.line(part.title, "bold")
            printed.show(part, printer, verbose=True)
        printer.lines(last)
        return
    hidden = {
        "comparison": len(rows) - n_rows,
        "system": len(board) - n_systems,
        "score column": 0 if board.empty else len(found.parts) - len(board.columns) + 1,
        "fact": n_facts - len(facts),
        "note": len(every) - len(notes),
    }
    said = not_shown(hidden)
    printer.line(f"{said}{'. ' * bool(said)}{_ALWAYS}")
    printer.lines(last)


def claims(found: Several) -> str:
    """What may be claimed of several tests: of one of them, of any, and of all."""
    n, alpha = len(found.parts), found.parts[0].alpha
    one, by = _one_by(found)
    if found.of_pairs:
        return (
            f"p is for one {one}. To claim that the systems differ {by} at least one {one}, use p (Holm), which is "
            f"corrected for the {n} tests. To claim that they differ {by} every {one}, each p must be at most "
            f"{alpha:g}."
        )
    return (
        f"Confidence and Holm's correction are for the systems of one {one}: nothing is corrected for the {n} {one}s."
    )


def _one_by(found: Several) -> tuple[str, str]:
    """The word for one comparison, and the one before it."""
    return {"metric": ("metric", "by"), "test_set": ("domain", "on")}.get(" ".join(varying(found)), ("row", "in"))


def answer(found: Several) -> str:
    """In how many comparisons two systems differ significantly, or which systems may be the best in all of them.

    A system that is significantly better in all is better in each: that claim needs no correction, as all must hold.
    """
    n, table = len(found.parts), found.table
    if found.of_pairs:
        differ = int((table["significant"] & (table["p_holm_parts"] <= found.parts[0].alpha)).sum())
        level = f"{found.parts[0].alpha:g}, Holm for the {n} tests"
        asked = next(filter(None, (asked_instead(part.pairs.frame) for part in found.parts)), "")
        two_sided = found.parts[0].pairs["alternative"].iloc[0] == "two-sided"
        if two_sided and not asked and table["significant"].all() and table["better"].nunique() == 1:
            better = table["better"].iloc[0]
            (other,) = {*table[["system_1", "system_2"]].iloc[0]} - {better}
            one, by = _one_by(found)
            said = f"{shown(better)} is better than {shown(other)} {by} every {one}: each p is at most "
            said += f"{found.parts[0].alpha:g}, and a claim about all of them needs no correction."
            verb = "is" if differ == 1 else "are"
            single = f" For claims about single {one}s, {differ} of {n} {verb} significant (at {level})."
            return said + single * (differ < n)
        return f"The two systems differ significantly in {differ} of {n} comparisons (at {level}).{asked}"
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
    # Columns of the table of comparisons, those before the scores too.
    taken = ("domain", "metric", "items", "clusters", "better", "gain", "95 %", "p", "p (Holm)", SIGNIFICANT)
    names = apart([shown(table[name].iloc[0]) for name in ("system_1", "system_2")], taken)
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
        p_adjusted(q, p, alpha, floor)
        for p, q, floor in zip(table["p_value"], table["p_holm_parts"], floors, strict=True)
    ]
    # As the sentence above the table counts them.
    sure = table["significant"] & (table["p_holm_parts"] <= alpha)
    columns[SIGNIFICANT] = ["yes" if said else "no" for said in sure]
    return columns


def _of_many(found: Several) -> dict[str, list[str]]:
    boards = [part.leaderboard for part in found.parts]
    best = [[shown(name) for name in board.loc[board["may_be_best"], "system"]] for board in boards]
    counts = zip(found.table["n_significant"], found.table["n_pairs"], strict=True)
    return {
        "may be the best (95 %)": [
            f"{len(names)} of {len(board)}: {listed(names, _MOST_NAMED, _NAMES)}"
            for names, board in zip(best, boards, strict=True)
        ],
        "significant pairs (Holm)": [f"{n:,} of {pairs:,}" for n, pairs in counts],
    }


def scores_by_part(found: Several, most: int | None = None) -> pd.DataFrame:
    """A row for each system with its score and rank in each of the first comparisons, or in all; as text.

    The best by the first comparison come first.
    """
    columns: dict[str, pd.Series[str]] = {}
    for part in found.parts[:most]:
        board = part.leaderboard.set_index("system")
        form = score_format(board["score"].abs().max())
        texts = [f"{score:{form}} ({rank})" for score, rank in zip(board["score"], board["rank"], strict=True)]
        columns[f"{called(found, part)} (rank)"] = pd.Series(texts, index=board.index)
    order = list(dict.fromkeys(name for part in found.parts for name in part.leaderboard["system"]))
    table = pd.DataFrame(columns).reindex(order).fillna("")
    return pd.concat([pd.Series(map(shown, order), index=order, name="system"), table], axis=1).reset_index(drop=True)


def varying(found: Several) -> list[str]:
    """What tells the comparisons apart: domains, metrics, or both."""
    table = found.table
    return [name for name in ("test_set", "metric") if table[name].nunique() > 1] or ["metric"]


def called(found: Several, one: Examination) -> str:
    """A comparison by what tells it apart."""
    names = {"metric": label(one.test_set.metric), "test_set": shown(one.test_set.name)}
    return " ".join(names[name] for name in varying(found))


def _facts(found: Several) -> dict[str, str]:
    """What the comparisons have in common."""
    tests: dict[str, list[str]] = {}
    for part in found.parts:
        tests.setdefault(described_test(part.pairs.frame), []).append(called(found, part))
    each = "; ".join(f"{test} ({listed(names, _MOST_NAMED)})" for test, names in tests.items())
    items = {items_text(part) for part in found.parts}
    common = {"Items": items.pop()} if len(items) == 1 else {}
    return {**common, "Test": each if len(tests) > 1 else next(iter(tests)), **signed(found)}


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
