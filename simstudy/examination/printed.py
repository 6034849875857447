"""What the command prints of an examination: the answer, the systems, and what both rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from simstudy.comparisons.equivalence import BOTH, EQUIVALENT
from simstudy.comparisons.paper import counted_significant
from simstudy.comparisons.significant_gains import CLOSE_PAIRS
from simstudy.examination.limits import one_by_one
from simstudy.examination.rows import facts, may_be_best, pair_rows, ranking, signature, threshold_rows
from simstudy.examination.samples import in_points, noise_lines
from simstudy.metrics import label
from simstudy.notes import kind_of
from simstudy.pairs import ALL_PAIRS, order_of
from simstudy.papers.basis import differing_intervals
from simstudy.papers.pairs import p_texts
from simstudy.statistics.decisions import REASONS, Decision
from simstudy.suites.printed import show as show_tasks
from simstudy.text.numerals import counted, gain_text, number_text, score_format
from simstudy.text.plain_text import shown
from simstudy.text.printing import LEFT_OUT, MOST_LINES, Printer, left_out, noted

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Systems for which facts are left out, most first; notes that a screen holds whatever is left out, and at most.
_FIRST_SYSTEMS, _FIRST_NOTES, _MOST_NOTES = (8, 3, 1), 1, 3
# Columns that a narrow terminal is without first: of the systems, and of the gains.
_SPARE_OF_SYSTEMS = ("within", "se", "rank", "groups")
#: The same of the pairs.
SPARE_OF_PAIRS = ("p (BH)", "wins/losses", "relation", "p", "caution")
_SPARE_OF_GAINS = (
    "pairs with p ≈ 0.05",
    "observed, 95 % of the pairs",
    "minimum detectable gain, close pairs",
    "threshold",
)
# Facts that are left out first if there are too few lines.
_SPARE = (
    "Null hypothesis",
    "Correction",
    "Neighbours by score",
    "Metric",
    "Minimum detectable gain",
    "Just significant gain",
    "Items",
    "Test",
)
_SYSTEMS = "Systems (ranks: simultaneous 95 % confidence; systems that share a group do not differ significantly)"
_GAINS = "Gains that are significant on this test set (95 % intervals)"


def show(found: Examination, printer: Printer, *, verbose: bool = False, last: Sequence[str] = ()) -> None:
    """Print the verdict on two systems, or the answer about many and their leaderboard; all of it if `verbose`.

    Without `verbose` it is at most `MOST_LINES` lines, the lines `last` among them, with which it ends.
    """
    if found.tasks is not None:
        told = [note for note in found.notes if kind_of(note) != "domains tested together"]
        below = {"Metric": label(found.test_set.metric), "Test": found.tasks.test(), "Signature": signature(found)}
        show_tasks(found.tasks, printer, told, below, verbose=verbose, last=last)
        return
    if found.verdict is not None:
        _show_pair(found, [*found.verdict.splitlines(), *noise_lines(found)], printer, verbose=verbose, last=last)
        return
    said = [*answer(found), *noise_lines(found)]
    known = {"Neighbours by score": neighbours_text(found), **significant_gain(found), **facts(found)}
    known = {name: value for name, value in known.items() if name not in ("Note", "Systems")}
    rows = ranking(found).text()
    every = noted([*found.notes, *one_by_one(found.outputs, found.test_set.unit)])
    notes, n, n_facts = every, len(rows), len(known)
    plain, (printer, which) = printer, lettered(found, printer, verbose=verbose)
    if not verbose:
        notes = [printer.shortened(note) for note in every[:_MOST_NOTES]]
        whole = MOST_LINES - plain.height(*which) - printer.height(*said, LEFT_OUT, *last)
        first = printer.height(*notes[:_FIRST_NOTES])
        tables = [printer.table_height(_SYSTEMS, rows.head(n), _SPARE_OF_SYSTEMS) for n in _FIRST_SYSTEMS]
        known, least = printer.facts_beside(known, _SPARE, whole - first, tables)
        room = whole - printer.facts_height(known)
        notes = printer.fitting(notes, max(room - least, 0))
        room -= printer.height(*notes)
        n = printer.rows_fitting(_SYSTEMS, rows.head(MOST_LINES), room, _SPARE_OF_SYSTEMS) if least else 0
    plain.lines(which)
    printer.lines(said)
    if n:
        printer.table(_SYSTEMS, rows.head(n), _SPARE_OF_SYSTEMS, verbose=verbose)
    if verbose:
        title, pairs = pair_rows(found, len(found.pairs))
        printer.table(title, pairs.text(), SPARE_OF_PAIRS, verbose=True)
        printer.lines(filter(None, [differing_intervals(pairs.rows).strip()]))
        printer.table(_GAINS, threshold_rows(found).text(), _SPARE_OF_GAINS, verbose=True)
        printer.line("")
    printer.facts(known)
    printer.lines(notes)
    hidden = {} if verbose else {"system": len(rows) - n, "pair": len(found.pairs), "fact": n_facts - len(known)}
    printer.lines([*left_out(hidden, every, notes, last), *last])


def _show_pair(found: Examination, said: list[str], printer: Printer, *, verbose: bool, last: Sequence[str]) -> None:
    known = {"Signature": signature(found)}
    plain, (printer, which) = printer, lettered(found, printer, verbose=verbose)
    room = MOST_LINES - plain.height(*which) - printer.height(*said, LEFT_OUT, *last) - printer.facts_height(known)
    every = noted([*found.notes, *one_by_one(found.outputs, found.test_set.unit)])
    notes = every if verbose else printer.fitting(map(printer.shortened, every), room)
    plain.lines(which)
    printer.lines([*said, *notes])
    printer.facts(known)
    printer.lines([*left_out({}, every, notes, last), *last])


def lettered(found: Examination, printer: Printer, *, verbose: bool) -> tuple[Printer, list[str]]:
    """Letters for the two best systems if their names are long, unless everything is printed."""
    names = [shown(name) for name in found.outputs.best_first().names]
    return printer.lettered([] if verbose else names[:2], names)


def answer(found: Examination, form: str | None = None) -> list[str]:
    """Which systems may be the best, whether the first leads significantly, and how many pairs differ significantly.

    With a margin also how many are equivalent. The gain of the first has the format `form`, or its usual one.
    """
    said = [may_be_best(found.leaderboard), _lead(found, form), counted_significant(found.pairs.frame, found.alpha)]
    return [*said, *_about_margin(found)]


def _about_margin(found: Examination) -> list[str]:
    """How many pairs are equivalent, in a sentence; none without a margin."""
    if found.margin is None:
        return []
    conclusion = found.pairs.frame["conclusion"]
    equivalent = int(conclusion.isin([EQUIVALENT, BOTH]).sum())
    points = in_points(found).removesuffix("s" if found.margin == 1 else "")
    return [
        f"With a margin of {found.margin:g}{points}, {equivalent:,} of {counted(len(conclusion), 'pair')} "
        f"{'is' if equivalent == 1 else 'are'} equivalent (Holm)."
    ]


def neighbours_text(found: Examination) -> str:
    """How many neighbours by score differ significantly, after Holm's correction for all pairs."""
    differ = int(Decision(found.alpha, p="p_holm").significant(found.neighbours).sum())
    return f"{differ:,} of {len(found.neighbours):,} differ significantly at {found.alpha:g} (Holm, for all pairs)"


def _lead(found: Examination, form: str | None = None) -> str:
    """Whether the first system's gain over the second is significant, corrected for all pairs."""
    frame = found.pairs.frame
    order = order_of(frame)
    pair = frame[(order.better == 0) & (order.worse == 1)]
    row = pair.iloc[0]
    a, b = shown(row["system_a"]), shown(row["system_b"])
    if row["gain"] == 0:
        return f"{a} and {b} have the same score."
    usual = score_format(max(abs(row["score_a"]), abs(row["score_b"])), row["gain"])
    gain = number_text(row["gain"], form) if form else format(row["gain"], usual)
    p = p_texts(pair, found.alpha)["holm"][0]
    p = p if p.startswith("<") else f"= {p}"
    why_not = Decision(found.alpha, p="p_holm").why_not(pair)[0]
    significant = "not significant" if why_not else "significant"
    reason = f"; {why_not}" if why_not not in ("", REASONS[1]) else ""
    # Whether any system is better than the first is one question; Holm's correction answers one for each pair.
    stricter = " if all pairs are tested" if why_not and found.leaderboard["may_be_best"].sum() == 1 else ""
    return f"{a} leads {b} by {gain}{in_points(found)}: {significant}{stricter} (Holm-adjusted p {p}{reason})."


def significant_gain(found: Examination) -> Mapping[str, str]:
    """Which gains are significant on this test set; nothing if too few pairs tell."""
    rows = found.gains[found.gains["pairs"] != CLOSE_PAIRS]
    rows = rows[rows["relation"] == ALL_PAIRS] if (rows["relation"] == ALL_PAIRS).any() else rows
    observed, true = rows["observed_50"].iloc[0], rows["true_80"].iloc[0]
    if np.isnan(observed) or np.isnan(true):
        return {}
    points = in_points(found)
    return {
        "Just significant gain": (
            f"{gain_text(observed)}{points} (half of the pairs with this gain have p <= {found.alpha:g} before "
            "correction)"
        ),
        "Minimum detectable gain": (
            f"{gain_text(true)}{points} with power 0.8 before correction, on average over the pairs"
        ),
    }
