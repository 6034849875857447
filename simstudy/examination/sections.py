"""The sections of the page of one comparison: systems, groups, pairs, and what is drawn of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from simstudy import plot
from simstudy.examination import charts, samples
from simstudy.examination.printed import neighbours_text
from simstudy.examination.rows import gains_text, intervals_for, pair_rows, ranking, sides, threshold_rows
from simstudy.examination.widgets.items import item_sections
from simstudy.examination.widgets.sizes import size_sections
from simstudy.pages.sections import Chart, Figure, Section, Table
from simstudy.papers.basis import differing_intervals, ranks_drawn
from simstudy.suites.page import task_sections
from simstudy.text.numerals import counted

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# More systems make no figure of rows or of a matrix, no chart of a matrix, and no matrix in a column of a paper.
_MOST_SYSTEMS, _MOST_CHARTED, _MOST_IN_PAPERS = 200, 60, 24
# Pairs of a class from which on a window of its running median is at most a tenth of them.
_LEAST_LINED = 150
# Rows of a table that a page shows; the CSV has all. The most significant pairs of an HTML page that has not all.
_MOST_ROWS, _ALSO_SIGNIFICANT = 50, 2000

#: Lines of a verdict that answer the question: decision, scores, interval and p.
ANSWER_LINES = 3


def sections(found: Examination) -> list[Section]:
    """All sections: averages of tasks first, where there are several, then those of all items together."""
    if found.tasks is None:
        return _pooled_sections(found)
    pooled = [replace(section, heading=_pooled(section.heading)) for section in _pooled_sections(found)]
    return [*task_sections(found.tasks), *pooled]


def _pooled(heading: str) -> str:
    """A heading beside averages of tasks: the section is of all items, whatever their tasks."""
    return "All items together" if heading == "Verdict" else f"All items together: {heading[0].lower()}{heading[1:]}"


def _pooled_sections(found: Examination) -> list[Section]:
    if found.verdict is not None:
        return [_verdict(found, found.verdict), *samples.sections(found), *_tried(found)]
    n = found.outputs.n_systems
    small = n <= _MOST_SYSTEMS
    curve = found.curve[found.curve["relation"].isin(found.pairs["relation"].unique())]
    curve = curve[curve["n_pairs"] >= _LEAST_LINED]
    lines = " Lines are running medians, bands hold 5-95 % of the pairs." if len(curve) else ""
    return [
        _systems(found),
        Section(
            "Gain against confidence",
            f"Each point is a pair of systems.{lines} Pairs with larger gains than the figure shows have p <= 0.005.",
            figure=_gain_confidence(found, curve),
        ),
        *([_groups(found)] if small else []),
        _pairs(found, drawn=small),
        *([_neighbours(found)] if small and found.neighbours["gain_low"].notna().any() else []),
        Section(
            "The gain that is significant on this test set",
            gains_text(sides(found), found.alpha, intervals_for(found.gains)),
            table=threshold_rows(found),
        ),
        *_tried(found),
        *samples.sections(found),
        *([_duplicates(found)] if len(found.duplicates) else []),
    ]


def _tried(found: Examination) -> list[Section]:
    """What a reader of an HTML page can try."""
    return [*item_sections(found), *size_sections(found, found.by_size)]


def _verdict(found: Examination, said: str) -> Section:
    """The verdict on two systems; on a screen its first lines are above as the answer."""
    table = pair_rows(found, 1)[1]
    rest = said if found.tasks is not None else "\n".join(said.splitlines()[ANSWER_LINES:])
    figure = Figure(
        "gain",
        lambda: plot.gain_intervals(found.pairs, alpha=found.alpha),
        chart=lambda: charts.pair(found),
        alt="The gain with its 95 % interval.",
    )
    drawn = figure if found.pairs["gain_low"].notna().all() else None
    return Section("Verdict", said, figure=drawn, table=table, on_screen=lambda: (rest, table))


def _gain_confidence(found: Examination, curve: pd.DataFrame) -> Figure:
    return Figure(
        "gain_confidence",
        lambda: plot.curve(found.pairs, curve),
        chart=(lambda: charts.gain_confidence(found, curve)) if len(found.pairs) <= charts.MOST_POINTS else None,
        alt=f"Gain against confidence of {len(found.pairs):,} pairs of systems; the table of pairs has the numbers.",
    )


def _systems(found: Examination) -> Section:
    rule = found.groups["rule"].iloc[0]
    n, drawn = found.outputs.n_systems, min(found.outputs.n_systems, _MOST_SYSTEMS)
    best = counted(int(found.leaderboard["may_be_best"].sum()), "system")
    which = ""
    if drawn < n:
        which = (
            f" The figure has the first {drawn} of {n:,} systems. Nobody can read figures of the groups, of gains of "
            "neighbours and of all p-values with more: they are left out, and the tables have all systems."
        )
    return Section(
        "Systems",
        "Scores have their 95 % intervals. The confidence sets for ranks hold for all systems at once with 95 % "
        f"confidence (Mogstad, Romano, Shaikh and Wilhelm 2024): {best} may be the best. "
        f"{ranks_drawn(found.seed)} Systems of one group do not "
        f"differ significantly at {found.alpha:g} after Holm's correction for all pairs ({sides(found)}, {rule} "
        f"groups). Groups are not transitive.{which} Neighbours by score: {neighbours_text(found)}.",
        figure=Figure(
            "leaderboard",
            lambda: plot.leaderboard(found.leaderboard.head(drawn)),
            chart=lambda: charts.leaderboard(found, drawn),
            alt=f"Scores of {drawn} systems with intervals, and their confidence sets for ranks; the table has them.",
        ),
        table=ranking(found),
        on_screen=lambda: (
            "Scores with their 95 % intervals, and confidence sets for ranks, which hold for all systems at once with "
            f"95 % confidence. {ranks_drawn(found.seed)} "
            f"Systems that share a group do not differ significantly.{which}",
            ranking(found),
        ),
    )


def _charted(found: Examination, chart: Callable[[], Chart]) -> Callable[[], Chart] | None:
    """The chart of all pairs in a browser, unless there are too many systems for it: then a page has the picture."""
    return chart if found.outputs.n_systems <= _MOST_CHARTED else None


def _groups(found: Examination) -> Section:
    return Section(
        "Groups",
        f"Systems that do not differ significantly at {found.alpha:g} after Holm's correction for all pairs "
        f"({sides(found)}). Groups are not transitive. The figure shows the scores, and a line for each group "
        "with a dot at every member.",
        figure=Figure("groups", lambda: plot.groups(found.groups), chart=_charted(found, lambda: charts.groups(found))),
    )


def _neighbours(found: Examination) -> Section:
    return Section(
        "Gains of neighbours",
        "Each system's gain over the next one by score, with its 95 % interval; neither is corrected.",
        figure=Figure(
            "gains",
            lambda: plot.gain_intervals(found.neighbours, alpha=found.alpha),
            chart=lambda: charts.neighbours(found),
        ),
    )


def _pairs(found: Examination, *, drawn: bool) -> Section:
    title, rows = pair_rows(found, _MOST_ROWS)
    corrected = _what_is_corrected(found, drawn)
    differing = differing_intervals(rows.rows)

    def on_screen() -> tuple[str, Table]:
        title, rows = pair_rows(found, charts.MOST_POINTS, also_significant=_ALSO_SIGNIFICANT)
        return f"{title}.{corrected}{differing_intervals(rows.rows)}", rows

    figure = Figure(
        "matrix",
        lambda: plot.matrix(found.pairs, alpha=found.alpha),
        in_papers=found.outputs.n_systems <= _MOST_IN_PAPERS,
        chart=_charted(found, lambda: charts.matrix(found)),
        alt=f"p-values of {len(found.pairs):,} pairs of systems as a matrix; the table of pairs has the numbers.",
    )
    return Section(
        "Pairs",
        f"{title}. All are in pairs.csv.{corrected}{differing}",
        figure=figure if drawn else None,
        table=rows,
        on_screen=on_screen,
    )


def _duplicates(found: Examination) -> Section:
    columns = {"system_a": "{system_a:name}", "system_b": "{system_b:name}", "compared": "{compared}"}
    return Section(
        "Near-duplicates",
        "Systems with more than 90 % identical answers. Files of scores count only items on which systems differ.",
        table=Table(found.duplicates.head(_MOST_ROWS), columns | {"identical": "{share:.1%}"}),
    )


def _what_is_corrected(found: Examination, drawn: bool) -> str:
    """Which columns of the section on pairs are corrected for the number of pairs."""
    text = " The figure shows p, which is not corrected for the number of pairs." if drawn else ""
    if "conclusion" not in found.pairs.frame:
        return text
    margin = found.pairs["margin"].iloc[0]
    half = f"{found.alpha / 2:g}"
    return (
        f"{text} Column margin {margin:g} is corrected for all pairs. Better: the gain is significant at "
        f"{found.alpha:g}. Equivalent: two one-sided tests at {half} reject that either system is better by {margin:g} "
        "or more. Not worse: one such test rejects that the other system is better by so much."
    )
