"""What an average of tasks says about systems, in words: both hypotheses by name, and what each of them supposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy.statistics.decisions import Decision, one_row
from simstudy.suites.averages import LIKE_THESE, THESE
from simstudy.text.numerals import p_floor, p_text, score_format, units_text
from simstudy.text.plain_text import shown
from simstudy.text.reprs import listed

if TYPE_CHECKING:
    from simstudy.suites.comparing import AcrossTasks

# Characters of the names of the systems that may be the best.
_NAMES = 150


def answer(found: AcrossTasks) -> list[str]:
    """Of two systems the gain under both hypotheses; of more, which systems may be the best under each."""
    if found.outputs.n_systems == 2:
        return _two_systems(found)
    return [*filter(None, (_best(found, hypothesis) for hypothesis in (THESE, LIKE_THESE))), *_limits(found)]


def _two_systems(found: AcrossTasks) -> list[str]:
    rows = found.averages[found.averages["average"] == found.average]
    these, *others = (row for _, row in rows.iterrows())
    a, b, form = shown(these["system_a"]), shown(these["system_b"]), digits(found)
    scores = f"{a} {these['score_a']:{form}}, {b} {these['score_b']:{form}}"
    units = units_text(int(these["n_units"]), str(these["unit"]))
    told = [
        f"{found.main.title()} of {found.n_tasks} tasks: {scores}, gain {these['gain']:{form}}.",
        f"These tasks (new items, the same {found.n_tasks} tasks; {units}): {_said(found, these)}",
    ]
    for like in others:
        told.append(f"Tasks like these (other tasks; {found.n_tasks} tasks are {found.n_tasks} units): "
                    f"{_said(found, like)}")  # fmt: skip
        told += _limits(found)
    return [*told, *_won(these, a, b), *_driven(found, form)]


def _said(found: AcrossTasks, row: pd.Series[Any]) -> str:
    """Interval, p-value and decision of one row."""
    form, level = digits(found), f"{100 * (1 - found.alpha):g} %"
    interval = "no interval" if np.isnan(row["gain_low"]) else (
        f"{level} interval {row['gain_low']:{form}} to {row['gain_high']:{form}}"
    )  # fmt: skip
    p = p_text(row["p_value"], found.alpha, floor=p_floor(row["n_resamples"]))
    beside = (
        "" if np.isnan(row["p_t"]) or row["hypothesis"] == THESE else f" (t test {p_text(row['p_t'], found.alpha)})"
    )
    better = "significantly better" if Decision(found.alpha).is_significant(row) else "not significantly better"
    said = f"{interval}, p {p if p.startswith('<') else f'= {p}'}{beside}: {shown(row['system_a'])} is {better}."
    return f"{said}{_disagreement(found, row)}"


def _disagreement(found: AcrossTasks, row: pd.Series[Any]) -> str:
    """Why interval and p-value say different things about a gain of 0; empty where they do not."""
    outside = row["gain_low"] > 0 or row["gain_high"] < 0
    if np.isnan(row["gain_low"]) or outside == Decision(found.alpha).rejects(one_row(row))[0]:
        return ""
    if outside and row["p_floor"] > found.alpha:
        # Another sentence says that no p-value of so few tasks is small enough.
        return ""
    zero = "excludes" if outside else "includes"
    return (
        f" The interval {zero} 0, but the p-value is {'above' if outside else 'at most'} {found.alpha:g}: the interval "
        "is by the standard error, the p-value by sign flips, and both are approximate near 0."
    )


def _limits(found: AcrossTasks) -> list[str]:
    """What sign flips of so few tasks can not find."""
    rows = found.of_main(found.averages, LIKE_THESE)
    least = 2.0 ** (1 - found.n_tasks)
    if rows.empty or least <= found.alpha:
        return []
    return [
        f"{found.n_tasks} tasks are too few for a claim about tasks like these: the smallest p is {least:g}, so no "
        f"gain can be significant at {found.alpha:g}."
    ]


def _won(row: pd.Series[Any], a: str, b: str) -> list[str]:
    won, lost, tied = (int(row[f"tasks_{what}"]) for what in ("won", "lost", "tied"))
    ties = f" and ties on {tied}" if tied else ""
    return [f"{a} wins {won} of {won + lost + tied} tasks, {b} wins {lost}{ties}."]


def _driven(found: AcrossTasks, form: str) -> list[str]:
    """Which task the gain depends on most, if there is one."""
    if found.without.empty or not found.without["drives"].any():
        return []
    row = found.without[found.without["drives"]].iloc[0]
    # Two tasks may change the gain equally, up to rounding.
    if (found.without["change"].abs() >= abs(row["change"]) * (1 - 1e-9)).sum() > 1:
        return []
    end = ""
    if row["sign_changes"]:
        end = ", and the other system is ahead" if row["gain"] < 0 else ", and neither is ahead"
    elif row["significance_changes"]:
        now = "significant" if row["gain_low"] > 0 or row["gain_high"] < 0 else "not significant"
        end = f", and {now} for the remaining tasks"
    task = shown(row["task"])
    return [f"Leaving out task {task} changes the gain most: without it the gain is {row['gain']:{form}}{end}."]


def _best(found: AcrossTasks, hypothesis: str) -> str:
    board, rows = (found.of_main(table, hypothesis) for table in (found.leaderboard, found.averages))
    if board.empty:
        return ""
    best = board.loc[board["may_be_best"], "system"].map(shown).tolist()
    sure = f"{100 * (1 - found.alpha):g} % confidence"
    first = (
        f"{best[0]} is the best of {len(board):,} systems ({sure})"
        if len(best) == 1
        else f"{len(best):,} of {len(board):,} systems may be the best ({sure}): {listed(best, characters=_NAMES)}"
    )
    significant = int(Decision(found.alpha, p="p_holm").significant(rows).sum())
    what = (
        f"{found.main.title()}, these tasks (new items, the same {found.n_tasks} tasks)"
        if hypothesis == THESE
        else f"Tasks like these (other tasks; {found.n_tasks} tasks are {found.n_tasks} units)"
    )
    return f"{what}: {first}. {significant:,} of {len(rows):,} pairs differ significantly (Holm)."


def digits(found: AcrossTasks) -> str:
    """The format of scores and gains."""
    return score_format(float(found.scores["score"].abs().max()))
