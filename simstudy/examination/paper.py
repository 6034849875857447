"""An examination as a paper shows it: tables of the leaderboard and of the pairs, and sentences for two sections."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simstudy.comparisons.leaderboard import score_interval
from simstudy.comparisons.paper import methods_of_two, of_pair
from simstudy.examination.printed import answer
from simstudy.examination.rows import signature
from simstudy.examination.samples import noise_lines
from simstudy.papers import basis, leaderboards, pairs
from simstudy.papers.document import BETTER_MARKS, Paper, PValue, Text, joined
from simstudy.suites.paper import paper as paper_of_tasks
from simstudy.text.numerals import number_text
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination


def paper(found: Examination, *, baseline: str | None = None, most: int | None = pairs.MOST_PAIRS) -> Paper:
    """What a paper shows of an examination.

    Marks of the leaderboard compare with the baseline, which was chosen before the results were seen, or with the
    system that has the best score. The table of pairs has `most` of them at most, or all.
    """
    if baseline is not None:
        leaderboards.check_baseline(baseline, found.outputs.names)
    if found.tasks is not None:
        return paper_of_tasks(found.tasks, baseline=baseline, notes=found.notes)
    frame, alpha = found.pairs.frame, found.alpha
    noises = [" ".join(noise_lines(found))]
    if len(frame) == 1:
        form = pairs.number_format(frame)
        results = joined(of_pair(frame, alpha=alpha, form=form, margin=found.margin), noises)
        table = pairs.of_two(frame, alpha=alpha, form=form)
        methods = methods_of_two(frame, signature(found))
        return Paper(tables=[table], results=results, methods=methods, notes=found.notes)
    board = leaderboards.leaderboard(found.leaderboard, frame, alpha=alpha, baseline=baseline)
    form = pairs.number_format(frame)
    if baseline is not None and most is not None and len(frame) > most:
        # Who names a baseline asks for the gains over it.
        _, own, family = leaderboards.against(frame, baseline)
        listed = pairs.of_pairs(own, alpha=alpha, form=form, most=None, family=family)
    else:
        listed = pairs.of_pairs(frame, alpha=alpha, form=form, most=most)
    best, lead, *rest = answer(found, form)
    results = joined([best], _with_p(lead), _lead(found), [" ".join(rest)], _against(found, baseline), noises)
    return Paper(tables=[board, listed], results=results, methods=_methods(found, baseline), notes=found.notes)


def _methods(found: Examination, baseline: str | None) -> Text:
    frame, board = found.pairs.frame, found.leaderboard
    return joined(
        basis.compared(frame),
        basis.corrected_for(f"all {len(frame):,} pairs"),
        basis.corrected_with(baseline, leaderboards.against(frame, baseline)[2]),
        basis.intervals(frame, of_scores=score_interval(found.outputs, found.test_set.unit)),
        basis.ranks(float(board["level"].iloc[0]), found.seed),
        basis.software(signature(found)),
    )


def _with_p(lead: str) -> Text:
    """The sentence on the first system, its p-value as those of a paper."""
    before, name, after = lead.rpartition("Holm-adjusted p ")
    number = re.match(r"[<=]+ [\d.]*\d", after)
    if number is None:
        return [lead]
    return [f"{before}{name.removesuffix('p ')}", PValue(number[0]), after[number.end() :]]


def _lead(found: Examination) -> Text:
    """The interval of the gain of the first system over the second, a sentence."""
    row = found.neighbours.iloc[0]
    if row["gain"] == 0 or row["gain_low"] != row["gain_low"]:
        return []
    form = pairs.number_format(found.pairs.frame)
    low, high = (number_text(row[f"gain_{end}"], form) for end in ("low", "high"))
    points = " points" if row["metric_unit"] == "percent" else ""
    return [f"The 95 % confidence interval of this gain is {low} to {high}{points}, not corrected for the other pairs."]


def _against(found: Examination, baseline: str | None) -> Text:
    """How many systems are significantly better than the baseline, and worse, in sentences."""
    if baseline is None:
        return []
    board, frame = found.leaderboard, found.pairs.frame
    said = [leaderboards.counted_against(frame, baseline, found.alpha)]
    marks = leaderboards.marks_against(board, frame, baseline, found.alpha)
    if board.loc[board["system"] == baseline, "may_be_best"].any() and {*marks.values()} & {*BETTER_MARKS}:
        said.append(
            f"{shown(baseline)} may be the best if all pairs are tested at once, as for the ranks; with its own pairs "
            "alone it is not."
        )
    return [" ".join(said)]
