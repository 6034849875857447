"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .drawing import draw_coverage, draw_rates
from .methods import METHODS, WON
from .settings import DIFFERENT, FIXED, GAIN, NO_GAIN, SKEWED, Settings

CLOSING = (
    "The true gain is that of the macro average: of these tasks if items are redrawn, of the population of tasks if "
    "tasks are redrawn too. All methods see the same suites. Intervals of shares are 95 % (Clopper-Pearson). Shares "
    "are fractions."
)
_RATE = "{share:.3f} ({low:.3f} – {high:.3f})"
_COVER = Column("{coverage:.3f} ({coverage_low:.3f} – {coverage_high:.3f})")

# What the questions are called where there is no room for more.
_QUESTIONS = {
    (NO_GAIN, FIXED): "these tasks: no gain on any",
    (DIFFERENT, FIXED): "these tasks: good at different ones",
    (GAIN, FIXED): "these tasks: a true gain",
}
_OF_POPULATION = {
    DIFFERENT: "tasks like these: good at different",
    SKEWED: "tasks like these: much better on few",
    GAIN: "tasks like these: a true gain",
}


def titled(rates: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """The table with names of its questions and conditions."""
    keys = zip(rates["truth"], rates["redrawn"], strict=True)
    questions = [_QUESTIONS[key] if key in _QUESTIONS else _OF_POPULATION[key[0]] for key in keys]
    sizes = [study.sizes[name].title for name in rates["sizes"]]
    pairs = [study.agreement[name].title for name in rates["agreement"]]
    return rates.assign(question=questions, size=sizes, pair=pairs)


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """What a terminal shows."""
    rows = tables["rates"][tables["rates"]["null"]]
    at = {"sizes": "{sizes}", "pair": "{agreement}", "tasks": "{n_tasks}", "truth": "{truth}", "redrawn": "{redrawn}"}
    return {"Rejections of true null hypotheses": Table(rows, at, across="method", cell="{share:.3f}")}


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Type I error, coverage, power, and the real suites."""
    rows = titled(tables["rates"], study)
    at = {"question": "{question}", "sizes": "{size}", "pair": "{pair}", "tasks": "{n_tasks}"}
    null = rows[rows["null"]]
    first_sizes, first_pair = list(study.sizes)[-1], next(iter(study.agreement))
    drawn = rows[(rows["sizes"] == first_sizes) & (rows["agreement"] == first_pair)].assign(
        view=lambda of: of["question"]
    )
    with_interval = [method for method in METHODS if method != WON]
    of_intervals = rows[rows["method"].isin(with_interval) & (rows["method"] != METHODS[1])]
    parts = [
        Section(
            "Type I error rate",
            f"The macro averages are equal in truth: the share of suites in which each method finds a gain at "
            f"{study.alpha:g}. The figure is of tasks with {study.sizes[first_sizes].title.replace(' a task', '')}, "
            f"{study.agreement[first_pair].title}. A method is right for a question if it stays at the dashed line or "
            "below.",
            figure=Figure("type_1_errors", lambda: draw_rates(drawn[drawn["null"]], list(METHODS), study.alpha)),
            table=Table(null, at, across="method", cell=_RATE),
        ),
        Section(
            "Coverage",
            f"The share of suites in which each {100 * (1 - study.alpha):g} % interval holds the true macro gain. Both "
            "tests of tasks like these have one interval.",
            figure=Figure(
                "coverage", lambda: draw_coverage(drawn, [with_interval[0], *with_interval[2:]], study.alpha)
            ),
            table=Table(of_intervals, at, across="method", cell=_COVER),
        ),
        Section(
            "Power",
            "The share of suites in which each method finds a true gain, and the mean true gain in points.",
            table=Table(rows[~rows["null"]], {**at, "gain": "{true_gain:.2f}"}, across="method", cell=_RATE),
        ),
    ]
    real = tables["suites"]
    if len(real):
        parts.append(_real(real, study))
    return parts


def _real(real: pd.DataFrame, study: Settings) -> Section:
    """Claims about pairs of real systems."""
    return Section(
        "Real suites",
        f"Pairs of systems with a significant gain of the average ({study.alpha:g}, two-sided, not corrected), by "
        "hypothesis, and pairs on which two ways disagree. Other order: the macro and the micro average prefer "
        "different systems. One task decides: without the task that drives the gain, significance for the remaining "
        "tasks changes.",
        table=Table(
            real,
            {
                "suite": "{suite}",
                "systems": "{n_systems}",
                "tasks": "{n_tasks}",
                "pairs": "{n_pairs:,}",
                "these tasks": "{n_these:,}",
                "tasks like these": "{n_like_flips:,}",
                "the same, t test": "{n_like_t:,}",
                "pooled": "{n_pooled:,}",
                "these, not like these": "{n_these_not_like:,}",
                "these, not pooled": "{n_these_not_pooled:,}",
                "pooled, not these": "{n_pooled_not_these:,}",
                "other order": "{n_other_order:,}",
                "one task decides": "{n_significance_by_one:,}",
            },
        ),
    )
