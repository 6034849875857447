"""The folder of one comparison for people: tables, figures, and a page that begins with what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy import plot
from simstudy.analyses.win_rates import win_rates
from simstudy.comparisons.verdict import cautioned
from simstudy.examination import charts, samples
from simstudy.examination.limits import limits
from simstudy.examination.printed import answer, neighbours_text
from simstudy.examination.rows import (
    facts,
    gains_text,
    pair_rows,
    ranking,
    sides,
    signature,
    systems,
    threshold_rows,
)  # fmt: skip
from simstudy.examination.widgets.items import item_sections, item_tables
from simstudy.examination.widgets.sizes import size_sections, size_tables
from simstudy.loaders.base import counted
from simstudy.metrics import label
from simstudy.outputs.meetings import meetings
from simstudy.pages.report import Page, write_results
from simstudy.pages.sections import Chart, Figure, Section, Table
from simstudy.pages.tables import InOrder
from simstudy.papers.basis import counted_units
from simstudy.papers.pairs import most_significant_first
from simstudy.papers.written import files
from simstudy.running.manifest import manifest_of
from simstudy.running.results_folder import results_folder
from simstudy.suites.page import task_sections
from simstudy.text.plain_text import line, shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# More systems make no figure of rows or of a matrix, no chart of a matrix, and no matrix in a column of a paper.
_MOST_SYSTEMS, _MOST_CHARTED, _MOST_IN_PAPERS = 200, 60, 24
# Pairs of a class from which on a window of its running median is at most a tenth of them.
_LEAST_LINED = 150
# Rows of a table that a page shows; the CSV has all. The most significant pairs of an HTML page that has not all.
_MOST_ROWS, _ALSO_SIGNIFICANT = 50, 2000

# Lines of a verdict that answer the question: decision, scores, interval and p.
_ANSWER_LINES = 3

_TWO_SIDED = "p-values are two-sided."
_ONE_SIDED = (
    "p-values are one-sided, which is valid only if the better system of a pair was predicted. Where the data tell "
    "which one it is, as in a table of all pairs, two equally good systems have p <= 0.05 one time in ten."
)

_MARGIN = (
    " p_noninferiority and p_equivalence are p-values for the margin, of one and of two one-sided tests; columns that "
    "end in _holm, and the conclusion, are corrected for all pairs of this table."
)


def closing(found: Examination) -> str:
    """How the numbers of a page are to be read."""
    warning = _TWO_SIDED if sides(found) == "two-sided" else _ONE_SIDED
    return (
        f"{warning} Column p (p_value) is not corrected for the number of pairs; p (Holm) and p (BH) are, for all "
        "pairs (p_holm, p_bh; Holm, Benjamini and Hochberg). The 95 % interval is of one gain (gain_low, gain_high), "
        "not corrected either. Gains are on the metric's scale."
    )


def of_files(found: Examination) -> str:
    """How further columns of the CSV files are to be read."""
    return (
        "In pairs.csv p_low and p_high are the 95 % interval for the Monte Carlo error of p_value, and exact says "
        "whether the test holds its level exactly under its null hypothesis."
        f"{_MARGIN if found.margin is not None else ''}"
    )


#: What a comparison's folder of results is of.
RESULTS_OF = "a comparison"


def write(
    found: Examination, out: Path, *, command: str, settings: Mapping[str, Any], figures: str | None = None,
    baseline: str | None = None,
) -> None:  # fmt: skip
    """Write tables, figures, page and manifest of one comparison to a folder of its own."""
    with results_folder(out, RESULTS_OF) as results:
        page = replace(page_of(found, command), paper=files(found.paper(baseline=baseline)), paper_figures=figures)
        write_results(results, page, manifest_of({"comparison": dict(settings)}, {"files": dict(found.files)}), {})


def page_of(found: Examination, command: str) -> Page:
    """What the page of a comparison shows."""
    first, *more = _answer(found)
    return Page(
        title=found.title,
        question="Which of these systems are better than others, and how large must a gain be here to tell?",
        command=command,
        facts=facts(found) | {"Signature": [signature(found)]},
        sections=_sections(found),
        tables=_tables(found),
        closing=closing(found) + cautioned(found.pairs.frame),
        headline=first,
        answer=more,
        limits=limits(found),
        notes=[line(note) for note in found.notes],
        of_files=of_files(found),
        data=_data(found),
    )


def _data(found: Examination) -> str:
    """The data of the figures: the test set, the metric and the number of items."""
    name = [shown(found.test_set.name)] if found.test_set.name else []
    return ", ".join([*name, label(found.test_set.metric), counted_units(found.pairs.frame.iloc[0], of=False)])


def _answer(found: Examination) -> list[str]:
    if found.tasks is not None:
        return found.tasks.sentences
    return answer(found) if found.verdict is None else found.verdict.splitlines()[:_ANSWER_LINES]


def _tables(found: Examination) -> dict[str, pd.DataFrame | InOrder]:
    return {
        "pairs": InOrder(found.pairs.frame, most_significant_first(found.pairs.frame)),
        "systems": systems(found),
        "groups": found.groups,
        "curve": found.curve,
        "thresholds": found.thresholds,
        "significant_gains": found.gains,
        "duplicates": found.duplicates,
        **({"win_rates": win_rates(found.outputs)} if meetings(found.outputs) else {}),
        **({} if found.tasks is None else found.tasks.tables()),
        **({"noises": found.noises, "score_noises": found.score_noises} if len(found.noises) else {}),
        **item_tables(found),
        **size_tables(found, found.by_size),
    }


def _sections(found: Examination) -> list[Section]:
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
            gains_text(sides(found), found.alpha),
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
    rest = said if found.tasks is not None else "\n".join(said.splitlines()[_ANSWER_LINES:])
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
        f"confidence (Mogstad, Romano, Shaikh and Wilhelm 2024): {best} may be the best. Systems of one group do not "
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
            f"95 % confidence. Systems that share a group do not differ significantly.{which}",
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

    def on_screen() -> tuple[str, Table]:
        title, rows = pair_rows(found, charts.MOST_POINTS, also_significant=_ALSO_SIGNIFICANT)
        return f"{title}.{corrected}", rows

    figure = Figure(
        "matrix",
        lambda: plot.matrix(found.pairs, alpha=found.alpha),
        in_papers=found.outputs.n_systems <= _MOST_IN_PAPERS,
        chart=_charted(found, lambda: charts.matrix(found)),
        alt=f"p-values of {len(found.pairs):,} pairs of systems as a matrix; the table of pairs has the numbers.",
    )
    return Section(
        "Pairs",
        f"{title}. All are in pairs.csv.{corrected}",
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
    text = (
        " The figure shows p, which is not corrected for the number of pairs. Its groups are corrected."
        if drawn
        else ""
    )
    if "conclusion" not in found.pairs.frame:
        return text
    margin = found.pairs["margin"].iloc[0]
    half = f"{found.alpha / 2:g}"
    return (
        f"{text} Column margin {margin:g} is corrected for all pairs. Better: the gain is significant at "
        f"{found.alpha:g}. Equivalent: two one-sided tests at {half} reject that either system is better by {margin:g} "
        "or more. Not worse: one such test rejects that the other system is better by so much."
    )
