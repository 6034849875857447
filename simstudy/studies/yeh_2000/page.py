"""The page of the study of Yeh 2000: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy import figures
from simstudy.sections import Figure, Section, Table
from simstudy.studies.yeh_2000.definition import Dependence

CLOSING = (
    "No p-value here is corrected for the number of pairs. Percentages are percentages; p-values, shares and "
    "correlations are fractions."
)


def example_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """The modifier example, and what assuming independence costs."""
    readings = tables["example"].columns[2:]
    exact = [name for name in map(str, tables["randomization"]) if name.startswith("exact_p_")]
    return [
        Section(
            "The modifier example",
            "What the paper prints (sections 2.2 and 3.3) and what its counts give, for each reading of the number of "
            "relations.",
            table=Table(
                tables["example"],
                {
                    "quantity": "{quantity}",
                    "the paper prints": "{printed}",
                    **{name: f"{{{name}:.3f}}" for name in readings},
                },
            ),
        ),
        Section(
            "Randomization of the example's responses",
            "The paper's counts of extreme shuffles against the exact share of all shuffles (a grid of "
            "binomial weights; the number of relations that neither method finds hardly matters) and against our own "
            "shuffles, with 95 % intervals. z is the distance from the exact value in standard errors; the last column "
            "compares a second run with other random numbers (section 3.3).",
            table=Table(
                tables["randomization"],
                {
                    "metric": "{metric}",
                    "alternative": "{alternative}",
                    "paper": "{printed_p}",
                    "its count": "{printed_n_extreme:,}",
                    **{f"exact p ({name.removeprefix('exact_p_')})": f"{{{name}:.6f}}" for name in exact},
                    "our shuffles": "{p_value:.5f}",
                    "95 %": "{p_low:.5f} – {p_high:.5f}",
                    "z, paper": "{z_printed:+.1f}",
                    "z, ours": "{z_ours:+.1f}",
                    "z, two runs": "{z_of_two_runs:+.1f}",
                },
            ),
        ),
        Section(
            "All tests on the example",
            "Recall relation by relation, precision and F of responses. Fisher's test asks of precision whether what "
            "only one method finds is true more often than what only the other finds (Evert 2004, section 3.3). A "
            "method that finds far less, as II here, may have the better precision and yet be no better where the two "
            "differ (footnote 13 there).",
            table=Table(
                tables["example_tests"],
                {
                    "metric": "{metric}",
                    "test": "{test}",
                    "p, one-sided": "{p_one_sided:.3g}",
                    "p, two-sided": "{p_two_sided:.3g}",
                    "exact": "{exact:yes}",
                },
            ),
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


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """What a terminal shows."""
    exact = next(name for name in map(str, tables["randomization"]) if name.startswith("exact_p_"))
    columns = {
        "metric": "{metric}",
        "alternative": "{alternative}",
        "paper": "{printed_p}",
        f"exact p ({exact.removeprefix('exact_p_')})": f"{{{exact}:.6f}}",
        "our shuffles": "{p_value:.5f}",
    }
    title = "Significance levels that the paper prints, exact, and by our shuffles"
    return {title: Table(tables["randomization"], columns)}


def dependence_sections(tables: Mapping[str, pd.DataFrame], settings: Dependence) -> list[Section]:
    """Dependent items."""
    clusters = f"{settings.n_clusters} clusters of {settings.cluster_size} items"
    flips = tables["five_flips"]
    return [
        Section(
            "Items that depend on each other",
            f"Two systems of accuracy {settings.accuracy:g} on {clusters}, {settings.n_data:,} test sets, for each "
            "correlation of the items of a cluster (on the latent scale): the share on which randomization rejects, "
            "swapping items and swapping clusters (section 4). 95 % intervals.",
            figure=Figure(
                "dependence",
                lambda: figures.single(figures.type_1_errors, tables["dependence"], title=clusters, width=5.2),
            ),
        ),
        Section(
            "Five flips",
            "The paper's example: 1/32 for independent coins, more for positively correlated ones.",
            table=Table(
                flips.assign(one_in=1 / flips["all_alike"]),
                {
                    "correlation of the coins": "{correlation:g}",
                    "P(all five land on one given side)": "{all_alike:.4f} (1/{one_in:.1f})",
                },
            ),
        ),
    ]
