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
    check_systems,
    side_by_side,
    side_by_side_sections,
    train,
)

from .dependence import all_alike, dependence
from .example import PRINTED_SHUFFLES, RELATIONS, example, example_tests, independence, randomization
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
        closing="No p-value here is corrected for the number of pairs. Scores are in percent. p-values and "
        "correlations are fractions, and so are shares in the CSV files.",
        summary={
            "Significance levels that the paper prints, exact, and by our shuffles": Table(
                tables["randomization"],
                {
                    name: LEVELS[name]
                    for name in ("metric", "alternative", "paper's p", "exact p (103)", "our shuffles")
                },
            )
        },
    )


LEVELS = {
    "metric": "{metric:metric}",
    "alternative": "{alternative}",
    "paper's p": "{printed_p}",
    "paper's count": "{printed_n_extreme:,}",
    **{f"exact p ({relations})": f"{{exact_p_{relations}:.6f}}" for relations in RELATIONS},
    "our shuffles": "{p_value:.5f}",
    "95 %": "{p_low:.5f} – {p_high:.5f}",
    "z, paper's count": "{z_printed:+.1f}",
    "z, our count": "{z_ours:+.1f}",
    "z, our two runs": "{z_of_two_runs:+.1f}",
}

TESTED = {
    "metric": "{metric:metric}",
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
            "Two methods, I and II, find modifier relations. The table has the numbers that the paper prints "
            "(sections 2.2 and 3.3) and the same numbers computed from its counts. The scan of the paper has 104 "
            "relations to find, but the printed recalls and F need 103.",
            table=Table(tables["example"], {"quantity": "{quantity}", "the paper prints": "{printed}", **readings}),
        ),
        Section(
            "Randomization of the example's responses",
            f"p-values of the gain by randomization. The paper counts extreme shuffles among {PRINTED_SHUFFLES:,}. "
            "The exact p-value is the share of all possible shuffles. The number of relations in brackets hardly "
            "matters. Our shuffles have 95 % intervals for the exact p-value. z: the distance of a count from the "
            "exact p-value, in standard errors. The last column compares the counts of two runs with different "
            "random numbers (section 3.3). Alternative greater means one-sided: the better method was predicted.",
            table=Table(tables["randomization"], LEVELS),
        ),
        Section(
            "All tests on the example",
            "p-values of every test that applies, for each metric. Recall is tested on the relations, which a method "
            "finds or not. Precision and F are tested on the responses. Fisher's test has another null hypothesis: "
            "responses of only one method are true as often as responses of only the other (Evert 2004, section "
            "3.3). A method with far fewer responses, such as II, can have the higher precision without being better "
            "on the responses on which the two methods differ (footnote 13 of Evert 2004).",
            table=Table(tables["example_tests"], TESTED),
        ),
        Section(
            "The cost of assuming independence",
            "A test that assumes independent systems overestimates the standard deviation of a gain if the item "
            "scores of the two systems have a positive correlation r12. The table has the factor (section 2.1). It "
            "holds for systems whose item scores have equal standard deviations.",
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
            "The type I error rate of randomization that swaps items, and of randomization that swaps clusters "
            f"(section 4). The null hypothesis is true: two systems have a true accuracy of {settings.accuracy:g} on "
            f"{clusters}. A point is the share of {settings.n_data:,} simulated test sets with p <= "
            f"{settings.alpha:g} (two-sided), with its 95 % interval (Clopper-Pearson). The horizontal axis is the "
            "correlation of the latent normal scores of one system on two items of a cluster.",
            figure=drawn,
        ),
        Section(
            "Five flips",
            "The paper's example (section 4): the probability that five fair coins all land on one given side. It is "
            "1/32 for independent coins and larger for positively correlated coins. The correlation of each two "
            "coins is equal. The model is the beta-binomial.",
            table=Table(
                flips,
                {
                    "correlation of the coins": "{correlation:g}",
                    "P(all five land on one given side)": "{all_alike:.4f} (1/{one_in:.1f})",
                },
            ),
        ),
    ]
