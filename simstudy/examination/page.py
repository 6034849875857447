"""The folder of one comparison for people: tables, figures, and a page that begins with what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.comparisons.verdict import cautioned
from simstudy.comparisons.win_rates import win_rates
from simstudy.examination.limits import limits
from simstudy.examination.printed import answer
from simstudy.examination.rows import facts, sides, signature, systems
from simstudy.examination.sections import ANSWER_LINES, sections
from simstudy.examination.widgets.items import item_tables
from simstudy.examination.widgets.sizes import size_tables
from simstudy.metrics import label
from simstudy.outputs.units import meetings
from simstudy.pages.report import Page, write_results
from simstudy.pages.tables import InOrder
from simstudy.papers.basis import counted_units
from simstudy.papers.pairs import most_significant_first
from simstudy.papers.written import files
from simstudy.running.folders import results_folder
from simstudy.text.plain_text import line, shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

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
        write_results(results, page, {"comparison": dict(settings), "data": {"files": dict(found.files)}}, {})


def page_of(found: Examination, command: str) -> Page:
    """What the page of a comparison shows."""
    first, *more = _answer(found)
    return Page(
        title=found.title,
        question="Which of these systems are better than others, and how large must a gain be here to tell?",
        command=command,
        facts=facts(found) | {"Signature": [signature(found)]},
        sections=sections(found),
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
    return answer(found) if found.verdict is None else found.verdict.splitlines()[:ANSWER_LINES]


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
