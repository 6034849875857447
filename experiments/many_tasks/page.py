"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .drawing import draw_coverage, draw_rates
from .methods import METHODS, WON
from .settings import DRAWN, FIXED, Settings

CLOSING = (
    "The true gain is that of the macro average, the mean over tasks: on these tasks if items are redrawn, and over "
    "the population of tasks if tasks are redrawn too. All methods see the same suites. Intervals of shares are 95 % "
    "(Clopper-Pearson). Shares are fractions."
)
_RATE = "{share:.3f} ({low:.3f} – {high:.3f})"
_COVER = Column("{coverage:.3f} ({coverage_low:.3f} – {coverage_high:.3f})")

# The hypotheses, by what is redrawn.
_HYPOTHESES = {FIXED: "these tasks", DRAWN: "tasks like these"}


def titled(rates: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """The table with names of its hypotheses and conditions."""
    keys = zip(rates["redrawn"], rates["truth"], strict=True)
    questions = [f"{_HYPOTHESES[redrawn]}: {truth}" for redrawn, truth in keys]
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
    at = {"hypothesis: truth": "{question}", "sizes": "{size}", "pair": "{pair}", "tasks": "{n_tasks}"}
    null = rows[rows["null"]]
    pairs = " or ".join(f"{one.correlation:g} ({one.title})" for one in study.agreement.values())
    first_sizes, first_pair = list(study.sizes)[-1], next(iter(study.agreement))
    drawn = rows[(rows["sizes"] == first_sizes) & (rows["agreement"] == first_pair)].assign(
        view=lambda of: of["question"]
    )
    with_interval = [method for method in METHODS if method != WON]
    of_intervals = rows[rows["method"].isin(with_interval) & (rows["method"] != METHODS[1])]
    parts = [
        Section(
            "Type I error rate",
            "A suite is the simulated answers of two systems to the items of some tasks. The macro average is the mean "
            "of a system's accuracies on the tasks. The table has the share of suites in which a method is significant "
            f"at {study.alpha:g} (two-sided), although the macro averages are equal in truth. For the hypothesis of "
            "these tasks, they are equal on these tasks, and only items are redrawn. For tasks like these, they are "
            "equal over a population of tasks, and tasks and items are redrawn. Good at different tasks: each system "
            "is better on some tasks. Much better on few tasks: one system is far better on one task in ten and a "
            "little worse on the others. The correlation of the two systems' answers to an item of a task is "
            f"{pairs}. Methods are: sign flips of items, for these "
            "tasks; sign flips and Student's t test of the tasks' gains, for tasks like these; McNemar's exact test "
            "of all items pooled; and the sign test of tasks won. The figure has tasks with "
            f"{study.sizes[first_sizes].title.replace(' a task', '')} and the {study.agreement[first_pair].title}. "
            "Titles of panels are hypothesis and truth, and bars are 95 % intervals. A method is valid for a "
            f"hypothesis if its rate is not above {study.alpha:g}, the dashed line.",
            figure=Figure("type_1_errors", lambda: draw_rates(drawn[drawn["null"]], list(METHODS), study.alpha)),
            table=Table(null, at, across="method", cell=_RATE),
        ),
        Section(
            "Coverage",
            f"The share of suites in which the {100 * (1 - study.alpha):g} % interval of a method contains the true "
            "macro gain. Both tests of tasks like these have the same interval, by Student's t. Pooled items "
            "estimate the micro average (all items have one weight), which is not the macro average if sizes are "
            "unequal. Counting the tasks won gives no interval.",
            figure=Figure(
                "coverage", lambda: draw_coverage(drawn, [with_interval[0], *with_interval[2:]], study.alpha)
            ),
            table=Table(of_intervals, at, across="method", cell=_COVER),
        ),
        Section(
            "Power",
            f"The share of suites in which a method is significant at {study.alpha:g} (two-sided, in either "
            "direction), if the macro averages differ. Gain is the mean true macro gain in points. Compare only "
            "methods that are valid for the hypothesis: others also reject if there is no gain.",
            table=Table(rows[~rows["null"]], {**at, "gain, points": "{true_gain:.2f}"}, across="method", cell=_RATE),
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
        "Numbers of pairs of real systems. The first four columns after the pairs count significant pairs "
        f"({study.alpha:g}, two-sided, not corrected). These tasks: sign flips of items, for the macro average. Tasks "
        "like these: sign flips of the tasks' gains, and Student's t test of them. Pooled: all items as one test "
        "set, for the micro average. The next three columns count pairs that are significant by one way and not by "
        "the other. Opposite better system: the macro and the micro average prefer different systems. One task "
        "decides: without the task that drives the gain most, significance for the remaining tasks changes (by the "
        "interval for these tasks).",
        table=Table(
            real,
            {
                "suite": "{suite}",
                "systems": "{n_systems}",
                "tasks": "{n_tasks}",
                "pairs": "{n_pairs:,}",
                "these tasks": "{n_these:,}",
                "tasks like these, sign flips": "{n_like_flips:,}",
                "tasks like these, t test": "{n_like_t:,}",
                "pooled": "{n_pooled:,}",
                "these tasks, not tasks like these (flips)": "{n_these_not_like:,}",
                "these tasks, not pooled": "{n_these_not_pooled:,}",
                "pooled, not these tasks": "{n_pooled_not_these:,}",
                "opposite better system": "{n_other_order:,}",
                "one task decides": "{n_significance_by_one:,}",
            },
        ),
    )
