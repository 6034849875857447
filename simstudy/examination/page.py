"""The folder of one comparison for people: tables, figures, and a page that begins with what came out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy import plot
from simstudy.analyses.win_rates import win_rates
from simstudy.comparisons.verdict import cautioned
from simstudy.examination import samples
from simstudy.examination.printed import neighbours_text
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
from simstudy.loaders.base import counted
from simstudy.metrics import label
from simstudy.outputs.meetings import meetings
from simstudy.pages.report import InOrder, Page, write_results
from simstudy.pages.sections import Figure, Section, Table
from simstudy.papers.basis import counted_units
from simstudy.papers.pairs import most_significant_first
from simstudy.papers.written import files
from simstudy.running.results_folder import manifest_of, results_folder
from simstudy.suites.page import task_sections
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# More systems make no figure of rows or of a matrix; a column of a paper has room for a smaller matrix.
_MOST_SYSTEMS, _MOST_IN_PAPERS = 200, 24
# Rows of a table that a page shows; the CSV has all.
_MOST_ROWS = 50

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
        f"{warning} p_value is not corrected for the number of pairs; p_holm and p_bh are, for all pairs of this table "
        "(Holm; Benjamini and Hochberg). p_low and p_high are the 95 % interval for the Monte Carlo error of p_value; "
        "exact says whether the test holds its level exactly under its null hypothesis. gain_low and gain_high are the "
        "95 % interval of one gain, not corrected either. Gains are on the metric's scale."
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
        page = Page(
            title=found.title,
            question="Which of these systems are better than others, and how large must a gain be here to tell?",
            command=command,
            facts=facts(found) | {"Signature": [signature(found)]},
            sections=_sections(found),
            tables=_tables(found),
            closing=closing(found) + cautioned(found.pairs.frame),
            paper=files(found.paper(baseline=baseline)),
            paper_figures=figures,
            data=_data(found),
        )
        write_results(results, page, manifest_of({"comparison": dict(settings)}, {"files": dict(found.files)}, {}))


def _data(found: Examination) -> str:
    """What figures are of: the test set, the metric and the number of items."""
    name = [shown(found.test_set.name)] if found.test_set.name else []
    return ", ".join([*name, label(found.test_set.metric), counted_units(found.pairs.frame.iloc[0], of=False)])


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
    }


def _sections(found: Examination) -> list[Section]:
    return [*([] if found.tasks is None else task_sections(found.tasks)), *_pooled_sections(found)]


def _pooled_sections(found: Examination) -> list[Section]:
    if found.verdict is not None:
        heading = "Verdict" if found.tasks is None else "All items together"
        return [Section(heading, found.verdict, table=pair_rows(found, 1)[1]), *samples.sections(found)]
    small = found.outputs.n_systems <= _MOST_SYSTEMS
    curve = found.curve[found.curve["relation"].isin(found.pairs["relation"].unique())]
    leaderboard = Section(
        "Leaderboard",
        "Scores with their 95 % intervals, and each system's confidence set for its rank.",
        figure=Figure("leaderboard", lambda: plot.leaderboard(found.leaderboard)),
    )
    neighbours = Section(
        "Gains of neighbours",
        "Each system's gain over the next one by score, with its 95 % interval; neither is corrected.",
        figure=Figure("gains", lambda: plot.gain_intervals(found.neighbours, alpha=found.alpha)),
    )
    return [
        _systems(found, drawn=small),
        *([leaderboard] if small else []),
        Section(
            "Gain against confidence",
            "Each point is a pair of systems; lines are running medians, bands hold 5-95 % of the pairs.",
            figure=Figure("gain_confidence", lambda: plot.curve(found.pairs, curve)),
        ),
        Section(
            "The gain that is significant on this test set",
            gains_text(sides(found), found.alpha),
            table=threshold_rows(found),
        ),
        *([neighbours] if small and found.neighbours["gain_low"].notna().any() else []),
        _pairs(found, drawn=small),
        *samples.sections(found),
        *([_duplicates(found)] if len(found.duplicates) else []),
    ]


def _systems(found: Examination, *, drawn: bool) -> Section:
    rule = found.groups["rule"].iloc[0]
    best = counted(int(found.leaderboard["may_be_best"].sum()), "system")
    lines = " The figure shows the scores, and a line for each group with a dot at every member."
    if not drawn:
        lines = (
            f" With more than {_MOST_SYSTEMS} systems nobody can read figures of the leaderboard, the groups, gains "
            "of neighbours and the matrix of p-values. They are left out; the tables have all systems."
        )
    return Section(
        "Systems",
        "The table has the scores with their 95 % intervals. The confidence sets for ranks hold for all systems at "
        f"once with 95 % confidence (Mogstad, Romano, Shaikh and Wilhelm 2024): {best} may be the best. Systems of one "
        f"group do not differ significantly at {found.alpha:g} after Holm's correction for all pairs ({sides(found)}, "
        f"{rule} groups). Groups are not transitive.{lines} Neighbours by score: {neighbours_text(found)}.",
        figure=Figure("groups", lambda: plot.groups(found.groups)) if drawn else None,
        table=ranking(found),
    )


def _pairs(found: Examination, *, drawn: bool) -> Section:
    title, rows = pair_rows(found, _MOST_ROWS)
    few = found.outputs.n_systems <= _MOST_IN_PAPERS
    return Section(
        "Pairs",
        f"{title}. All are in pairs.csv.{_what_is_corrected(found, drawn)}",
        figure=Figure("matrix", lambda: plot.matrix(found.pairs, alpha=found.alpha), few) if drawn else None,
        table=rows,
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
    text = " The figure shows p, which is not corrected for the number of pairs. The groups are." if drawn else ""
    if "conclusion" not in found.pairs.frame:
        return text
    margin = found.pairs["margin"].iloc[0]
    half = f"{found.alpha / 2:g}"
    return (
        f"{text} Column margin {margin:g} is corrected for all pairs. Better: the gain is significant at "
        f"{found.alpha:g}. Equivalent: two one-sided tests at {half} reject that either system is better by {margin:g} "
        "or more. Not worse: one such test rejects that the other system is better by so much."
    )
