"""The page: type I error rates and power, coverage, and real suites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import Shown, lines_figure

CLOSING = (
    "The true gain is that of the macro average, the mean over tasks: on these tasks if items are redrawn, and over "
    "the population of tasks if tasks are redrawn too. All methods see the same suites. Intervals of shares are 95 % "
    "(Clopper-Pearson). Shares are fractions."
)
_RATE = "{share:.3f} ({low:.3f} – {high:.3f})"
_AT = {"hypothesis: truth": "{question}", "sizes": "{size}", "pair": "{pair}", "tasks": "{n_tasks}"}

# The hypotheses, by what is redrawn.
_HYPOTHESES = {"items": "these tasks", "tasks and items": "tasks like these"}


def show(study: Any, tables: Mapping[str, pd.DataFrame]) -> Shown:
    """Type I error, coverage, power, and the real suites."""
    alpha, factors = study.alphas[0], study.factors
    rates, coverage = (titled(tables[name], study) for name in ("rates", "coverage"))
    is_null = rates["gains"] != "a true gain"
    null, power = rates[is_null], rates[~is_null].merge(tables["conditions"], on=list(factors))
    pairs = " or ".join(f"{pair['correlation']:g} ({pair['title']})" for pair in factors["agreement"].values())
    *_, sizes = factors["sizes"]
    agreement, *_ = factors["agreement"]
    methods = list(dict.fromkeys(tables["rates"]["method"]))
    size, pair = study.title_of("sizes", sizes), study.title_of("agreement", agreement)

    def figure(rows: pd.DataFrame, label: str, level: float) -> Any:
        shown = rows[(rows["sizes"] == sizes) & (rows["agreement"] == agreement)]
        shown = shown.rename(columns={"n_tasks": "number of tasks"})
        return lines_figure(
            shown, "number of tasks", "method", "question", label=label, among=methods, level=level, per_row=2
        )

    sections = [
        Section(
            "Type I error rate",
            "A suite is the simulated answers of two systems to the items of some tasks. The macro average is the mean "
            "of a system's accuracies on the tasks. The table has the share of suites in which a method is significant "
            f"at {alpha:g} (two-sided), although the macro averages are equal in truth. For the hypothesis of "
            "these tasks, they are equal on these tasks, and only items are redrawn. For tasks like these, they are "
            "equal over a population of tasks, and tasks and items are redrawn. Good at different tasks: each system "
            "is better on some tasks. Much better on few tasks: one system is far better on one task in ten and a "
            "little worse on the others. The correlation of the two systems' answers to an item of a task is "
            f"{pairs}. Methods are: sign flips of items, for these tasks; sign flips and Student's t test of the "
            "tasks' gains, for tasks like these; McNemar's exact test of all items pooled; and the sign test of tasks "
            f"won. The figure has tasks with {size.replace(' a task', '')} and the {pair}. Titles of panels are "
            "hypothesis and truth, and bars are 95 % intervals. A method is valid for a hypothesis if its rate is not "
            f"above {alpha:g}, the dashed line.",
            figure=Figure("type_1_errors", lambda: figure(null, "significant suites", alpha)),
            table=Table(null, _AT, across="method", cell=_RATE),
        ),
        Section(
            "Coverage",
            f"The share of suites in which the {100 * (1 - study.fixed['alpha']):g} % interval of a method contains "
            "the true macro gain. Both tests of tasks like these have the same interval, by Student's t. Pooled items "
            "estimate the micro average (all items have one weight), which is not the macro average if sizes are "
            "unequal. Counting the tasks won gives no interval.",
            figure=Figure("coverage", lambda: figure(coverage, "coverage", 1 - study.fixed["alpha"])),
            table=Table(coverage, _AT, across="method", cell=_RATE),
        ),
        Section(
            "Power",
            f"The share of suites in which a method is significant at {alpha:g} (two-sided, in either direction), if "
            "the macro averages differ. Gain is the true macro gain in points. Compare only methods that are valid "
            "for the hypothesis: others also reject if there is no gain.",
            table=Table(power, {**_AT, "gain, points": "{truth:.2f}"}, across="method", cell=_RATE),
        ),
        real_suites(tables["suites"], alpha),
    ]
    at = {"sizes": "{sizes}", "pair": "{agreement}", "tasks": "{n_tasks}", "truth": "{gains}", "redrawn": "{redrawn}"}
    summary = Table(null, at, across="method", cell="{share:.3f}")
    return Shown(sections=sections, closing=CLOSING, summary={"Rejections of true null hypotheses": summary})


def titled(table: pd.DataFrame, study: Any) -> pd.DataFrame:
    """The table with names of its hypotheses and conditions."""
    questions = zip(table["redrawn"], table["gains"], strict=True)
    return table.assign(
        question=[f"{_HYPOTHESES[redrawn]}: {gains}" for redrawn, gains in questions],
        size=[study.title_of("sizes", sizes) for sizes in table["sizes"]],
        pair=[study.title_of("agreement", agreement) for agreement in table["agreement"]],
    )


def real_suites(suites: pd.DataFrame, alpha: float) -> Section:
    """Claims about pairs of real systems."""
    return Section(
        "Real suites",
        f"Numbers of pairs of real systems. The first four columns after the pairs count significant pairs ({alpha:g}, "
        "two-sided, not corrected). These tasks: sign flips of items, for the macro average. Tasks "
        "like these: sign flips of the tasks' gains, and Student's t test of them. Pooled: all items as one test "
        "set, for the micro average. The next three columns count pairs that are significant by one way and not by "
        "the other. Opposite better system: the macro and the micro average prefer different systems. One task "
        "decides: without the task that drives the gain most, significance for the remaining tasks changes (by the "
        "interval for these tasks).",
        table=Table(
            suites,
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
