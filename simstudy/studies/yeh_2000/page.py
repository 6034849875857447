"""The page of the study of Yeh 2000: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

import pandas as pd

from simstudy.report import Section, Tables

CLOSING = (
    "No p-value here is corrected for the number of pairs. Percentages are percentages; p-values, shares and "
    "correlations are fractions."
)


def example_sections(tables: Tables) -> list[Section]:
    """The modifier example, and what assuming independence costs."""
    example = tables["example"]
    rows = pd.DataFrame({"quantity": example["quantity"]})
    rows["the paper prints"] = example["printed"]
    for column in example.columns[2:]:
        rows[column] = example[column].map("{:.3f}".format)
    tests = tables["example_tests"]
    test_rows = pd.DataFrame(
        {
            "metric": tests["metric"],
            "test": tests["test"],
            "p, one-sided": tests["p_one_sided"].map("{:.3g}".format).where(tests["p_one_sided"].notna(), ""),
            "p, two-sided": tests["p_two_sided"].map("{:.3g}".format),
            "exact": tests["exact"].map({True: "yes", False: ""}),
        }
    )
    independence = tables["independence"]
    cost = pd.DataFrame(
        {
            "r12": independence["r12"].map("{:.2f}".format),
            "the paper prints": independence["printed"].map("{:.2f}".format),
            "1 / sqrt(1 - r12)": independence["computed"].map("{:.3f}".format),
        }
    )
    return [
        Section(
            "The modifier example",
            "What the paper prints (sections 2.2 and 3.3) and what its counts give, for each reading of the number of "
            "relations.",
            table=rows,
        ),
        Section(
            "Randomization of the example's responses",
            "The paper's counts of extreme shuffles against the exact share of all shuffles (a grid of "
            "binomial weights; the number of relations that neither method finds hardly matters) and against our own "
            "shuffles, with 95 % intervals. z is the distance from the exact value in standard errors; the last column "
            "compares a second run with other random numbers (section 3.3).",
            table=randomization_rows(tables["randomization"]),
        ),
        Section(
            "All tests on the example",
            "Recall relation by relation, precision and F of responses. Fisher's test asks of precision whether what "
            "only one method finds is true more often than what only the other finds (Evert 2004, section 3.3). A "
            "method that finds far less, as II here, may have the better precision and yet be no better where the two "
            "differ (footnote 13 there).",
            table=test_rows,
        ),
        Section(
            "What assuming independence costs",
            "How many times larger the standard deviation of a gain is taken to be (section 2.1).",
            table=cost,
        ),
    ]


def randomization_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's counts, the exact p-values and ours, as text."""
    counted = table["printed_n_extreme"].notna()
    return pd.DataFrame(
        {
            "metric": table["metric"],
            "alternative": table["alternative"],
            "paper": table["printed_p"],
            "its count": table["printed_n_extreme"].map("{:,}".format, na_action="ignore").astype(object).fillna(""),
            **{
                f"exact p ({name.removeprefix('exact_p_')})": table[name].map("{:.6f}".format)
                for name in map(str, table.columns)
                if name.startswith("exact_p_")
            },
            "our shuffles": table["p_value"].map("{:.5f}".format),
            "95 %": table["p_low"].map("{:.5f}".format) + " – " + table["p_high"].map("{:.5f}".format),
            "z, paper": table["z_printed"].map("{:+.1f}".format).where(counted, ""),
            "z, ours": table["z_ours"].map("{:+.1f}".format),
            "z, two runs": table["z_of_two_runs"].map("{:+.1f}".format),
        }
    )


def dependence_sections(tables: Tables, setting: str) -> list[Section]:
    """Dependent items; `setting` says which systems and clusters."""
    flips = tables["five_flips"]
    rows = pd.DataFrame(
        {
            "correlation of the coins": flips["correlation"].map("{:g}".format),
            "P(all five land on one given side)": flips["all_alike"].map("{:.4f}".format)
            + " (1/"
            + (1 / flips["all_alike"]).map("{:.1f}".format)
            + ")",
        }
    )
    return [
        Section(
            "Items that depend on each other",
            f"{setting}, for each correlation of the items of a cluster (on the latent scale): the share on which "
            "randomization rejects, swapping items and swapping clusters (section 4). 95 % intervals.",
            "dependence",
        ),
        Section(
            "Five flips",
            "The paper's example: 1/32 for independent coins, more for positively correlated ones.",
            table=rows,
        ),
    ]
