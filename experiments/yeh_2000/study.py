"""Yeh 2000: the modifier example, what assuming independence costs, all tests side by side, dependent items.

Alexander Yeh, "More accurate tests for the statistical significance of result differences", COLING 2000.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import (
    Findings,
    Problems,
    RunContext,
    ShippedTables,
    Shown,
    all_alike,
    check_systems,
    side_by_side,
    side_by_side_sections,
    train,
)

from .dependence import dependence
from .example import RELATIONS, example, example_tests, independence, randomization
from .settings import Dependence, Settings

# Correlations of five coins (section 4).
FLIPS = (0.0, 0.1, 0.2, 0.4, 0.8)


def run(study: Settings, context: RunContext) -> Findings:
    """Compute every figure that the paper prints, and do its experiments on systems of our own."""
    with context.clock("data"):
        task = ss.training.load_task(study.systems.task, context.data_dir)
    problems = Problems(study.name)
    check_systems(task, study.systems.test_set, study.systems.training, problems)
    problems.raise_any()
    with context.clock("the example"):
        tables = {
            "example": example(),
            "randomization": randomization(study.n_shuffles, study.seed, context.n_jobs),
            "example_tests": example_tests(context),
            "independence": independence(),
            "five_flips": pd.DataFrame({"correlation": FLIPS, "all_alike": [all_alike(5, r) for r in FLIPS]}),
        }
    with context.clock("dependent items"):
        tables["dependence"] = dependence(study.dependence, study.seed, context)
    with context.clock("training"):
        outputs = train(task, study.systems.training, study.seed, context)[study.systems.test_set]
    with context.clock("tests side by side"):
        tables |= side_by_side(outputs, study.tests, study.seed, context)
    return Findings(
        tables=tables,
        facts={
            "Shuffles": f"{study.n_shuffles:,}",
            "Systems": f"{outputs.n_systems} of task {task.name} on {outputs.n_items:,} items",
            "Seed": str(study.seed),
        },
        data={"task": task.fingerprint, "files": dict(task.files)},
    )


# What the page shows


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The paper's example, then its experiments on systems of our own."""
    own = [*side_by_side_sections(tables), *dependence_sections(tables, study.dependence)]
    return Shown(
        sections=[*example_sections(tables), *own],
        closing="No p-value here is corrected for the number of pairs. Percentages are percentages; p-values, shares "
        "and correlations are fractions.",
        summary={
            "Significance levels that the paper prints, exact, and by our shuffles": Table(
                tables["randomization"],
                {name: LEVELS[name] for name in ("metric", "alternative", "paper", "exact p (103)", "our shuffles")},
            )
        },
    )


LEVELS = {
    "metric": "{metric}",
    "alternative": "{alternative}",
    "paper": "{printed_p}",
    "its count": "{printed_n_extreme:,}",
    **{f"exact p ({relations})": f"{{exact_p_{relations}:.6f}}" for relations in RELATIONS},
    "our shuffles": "{p_value:.5f}",
    "95 %": "{p_low:.5f} – {p_high:.5f}",
    "z, paper": "{z_printed:+.1f}",
    "z, ours": "{z_ours:+.1f}",
    "z, two runs": "{z_of_two_runs:+.1f}",
}

TESTED = {
    "metric": "{metric}",
    "test": "{test}",
    "p, one-sided": "{p_one_sided:.3g}",
    "p, two-sided": "{p_two_sided:.3g}",
    "exact": "{exact:yes}",
}


def example_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """The modifier example, and what assuming independence costs."""
    readings = {f"of {relations} relations": f"{{of {relations} relations:.3f}}" for relations in RELATIONS}
    return [
        Section(
            "The modifier example",
            "What the paper prints (sections 2.2 and 3.3) and what its counts give, for each reading of the number of "
            "relations.",
            table=Table(tables["example"], {"quantity": "{quantity}", "the paper prints": "{printed}", **readings}),
        ),
        Section(
            "Randomization of the example's responses",
            "The paper's counts of extreme shuffles against the exact share of all shuffles (a grid of "
            "binomial weights; the number of relations that neither method finds hardly matters) and against our own "
            "shuffles, with 95 % intervals. z is the distance from the exact value in standard errors; the last column "
            "compares a second run with other random numbers (section 3.3).",
            table=Table(tables["randomization"], LEVELS),
        ),
        Section(
            "All tests on the example",
            "Recall relation by relation, precision and F of responses. Fisher's test asks of precision whether what "
            "only one method finds is true more often than what only the other finds (Evert 2004, section 3.3). A "
            "method that finds far less, as II here, may have the better precision and yet be no better where the two "
            "differ (footnote 13 there).",
            table=Table(tables["example_tests"], TESTED),
        ),
        Section(
            "What assuming independence costs",
            "How many times larger the standard deviation of a gain is taken to be (section 2.1).",
            table=Table(
                tables["independence"],
                {"r12": "{r12:.2f}", "the paper prints": "{printed:.2f}", "1 / sqrt(1 - r12)": "{computed:.3f}"},
            ),
        ),
    ]


def dependence_sections(tables: Mapping[str, pd.DataFrame], settings: Dependence) -> list[Section]:
    """Items that depend on each other."""
    clusters = f"{settings.n_clusters} clusters of {settings.cluster_size} items"
    drawn = Figure(
        "dependence", lambda: ss.plot.single(ss.plot.type_1_errors, tables["dependence"], title=clusters, width=5.2)
    )
    flips = tables["five_flips"].assign(one_in=1 / tables["five_flips"]["all_alike"])
    return [
        Section(
            "Items that depend on each other",
            f"Two systems of accuracy {settings.accuracy:g} on {clusters}, {settings.n_data:,} test sets, for each "
            "correlation of the items of a cluster (on the latent scale): the share on which randomization rejects, "
            "swapping items and swapping clusters (section 4). 95 % intervals.",
            figure=drawn,
        ),
        Section(
            "Five flips",
            "The paper's example: 1/32 for independent coins, more for positively correlated ones.",
            table=Table(
                flips,
                {
                    "correlation of the coins": "{correlation:g}",
                    "P(all five land on one given side)": "{all_alike:.4f} (1/{one_in:.1f})",
                },
            ),
        ),
    ]
