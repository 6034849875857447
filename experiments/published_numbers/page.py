"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .claims import FORMS, RANK
from .drawing import CHOICES, INTERVALS, draw_coverage, draw_subsets
from .settings import Settings

CLOSING = (
    "Tests are two-sided at level 0.05, and p-values are not corrected, unless a row or paragraph says otherwise. "
    "Points are percent of right answers, or of the metric's scale. Each published number was read in the source "
    "that its row names."
)


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Published numbers and ours, by subject."""
    return [
        claims(tables["claims"]),
        neighbours(tables["neighbours"]),
        overcounts(tables["overcounts"], study),
        powers(tables["powers"], study),
        *few(tables, study),
        *subsets(tables["subsets"], study),
        Section(
            "Left out",
            "Published numbers that the tables above do not have, and the reason.",
            table=Table(tables["left_out"], {"source": "{source}", "number": "{claim}", "reason": "{reason}"}),
        ),
    ]


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """What a terminal shows: the claims."""
    table = _claims(tables["claims"])
    shown = {name: table.columns[name] for name in ("claim", "published", "ours")}
    return {"Published and ours": Table(table.rows, shown)}


def claims(rows: pd.DataFrame) -> Section:
    """Leaderboards and counts of data sets."""
    return Section(
        "Leaderboards, and counts of data sets",
        "Published counts and ours. Neighbours are systems of successive ranks. A pair is unresolved if the test set "
        "has fewer items than its observed gain needs for power 0.8. Shares of pairs are in percent, and gains in "
        "points. Recomputed: the published method on our data, if it is not our method.",
        table=_claims(rows),
    )


def _claims(rows: pd.DataFrame) -> Table:
    written = _written(rows, ["published", "recomputed", "ours"])
    written.loc[(rows["quantity"] == RANK) & rows["ours"].isna(), "ours_text"] = "none"
    for name in ("published", "ours"):
        of = [f" of {value:.0f}" if pd.notna(value) else "" for value in rows[f"{name}_of"]]
        written[f"{name}_text"] += of
    return Table(
        written,
        {
            "claim": "{claim}",
            "source": "{source}",
            "published": Column("{published_text}", source="published"),
            "recomputed": Column("{recomputed_text}", source="recomputed"),
            "ours": Column("{ours_text}", source="ours"),
            "what differs": "{note}",
            "what it means": "{means}",
        },
    )


def _written(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The rows with texts of these columns, each in the form of its quantity."""
    texts = {
        f"{name}_text": [
            FORMS[quantity].format(value) if pd.notna(value) else ""
            for quantity, value in zip(rows["quantity"], rows[name], strict=True)
        ]
        for name in columns
    }
    return rows.assign(**texts)


def neighbours(rows: pd.DataFrame) -> Section:
    """The pairs behind the counts of unresolved neighbours."""
    return Section(
        "Neighbours on MMLU-Pro",
        "A row has the neighbours of a rank and the next one, among the best systems. q is the number of items over "
        "the number that power 0.8 needs for the observed gain: a pair with q below 1 is unresolved. The first q "
        "takes items as independent. The second one divides it by the design effect of subjects (in brackets), as "
        "published. The third one uses the standard error over subjects, as if they were a sample of subjects. "
        "p-values are two-sided, of sign flips of items and of subjects. The gain is in points.",
        table=Table(
            rows,
            {
                "rank": "{rank}",
                "system": "{system_a:name}",
                "next system": "{system_b:name}",
                "gain": "{gain:gain}",
                "q, items": "{q:.2f}",
                "q, design effect": "{q_design:.2f} ({design_effect:.1f})",
                "q, subjects": "{q_subjects:.2f}",
                "p, items": "{p_items:p}",
                "p, subjects": "{p_subjects:p}",
            },
        ),
    )


def overcounts(rows: pd.DataFrame, study: Settings) -> Section:
    """How often the counts of data sets are too large."""
    return Section(
        "Counts of data sets that are too large",
        "Two methods count the data sets on which one system is better (Dror et al. 2017): partial conjunction by "
        f"Bonferroni and by Fisher. The table has the share of {rows['n_sets'].iloc[0]:,} simulated studies in which "
        "the count is larger than the number of data sets with an effect, with its 95 % interval (Clopper-Pearson). "
        f"Both methods promise at most 0.05. A study has {len(study.replicability.p_values)} data sets and one-sided "
        "p-values. The statistic of a data set "
        f"is normal with standard deviation 1, and an effect moves its mean from 0 to {study.replicability.shift:g}. "
        "Statistics of two data sets correlate if the same systems are compared on both, or if they share items.",
        table=Table(
            rows,
            {"correlation": "{correlation:.1f}", "data sets with an effect": "{n_effects}"},
            across="method",
            cell="{share:.4f} ({low:.4f} – {high:.4f})",
        ),
    )


def powers(rows: pd.DataFrame, study: Settings) -> Section:
    """Powers, sizes and gains."""
    return Section(
        "Powers and numbers of items",
        "Published powers, numbers of items and detectable gains, and ours. Recomputed: the published method again, "
        "if it is known. Ours is for McNemar's exact test if answers are right or wrong, and for the paired t test "
        "otherwise. The power column has two numbers: the power for which ours was planned, and the share of "
        f"{study.simulated:,} simulated test sets on which scipy's test is significant for the better system.",
        table=Table(
            _written(rows, ["published", "recomputed", "ours"]),
            {
                "case": "{case}",
                "source": "{source}",
                "settings": "{settings}",
                "quantity": "{quantity}",
                "published": "{published_text}",
                "recomputed": "{recomputed_text}",
                "ours": "{ours_text}",
                "power: planned, simulated": "{power:.3f}, {simulated:.3f}",
                "what differs": Column("{note}"),
            },
        ),
    )


def few(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Intervals and plans of few items."""
    one = tables["one_accuracy"]
    one = one.assign(title=one["interval"].map(INTERVALS))
    two = tables["two_systems"]
    two = two.assign(about=two["gain"].map("true gain {:g} points, ".format) + two["interval"])
    return [
        Section(
            "Intervals of one accuracy",
            "Coverage of 95 % intervals of one accuracy: the probability that the interval contains the true "
            "accuracy, on average over true accuracies between 0 and 1 (uniform). It is exact, by enumeration of all "
            "outcomes. The interval of the uniform prior has 0.95 by construction, because its prior is the "
            "distribution of the true accuracies. Brackets, and marks of the figure, have the published coverage. We "
            "read it from the vectors of figure exp4-1 in the repository of Bowyer, Aitchison and Ivanova (2025). It "
            "is an average over 100 true accuracies, drawn at random, with 200 test sets each.",
            figure=Figure("one_accuracy", lambda: draw_coverage(one)),
            table=Table(one, {"items": "{n_items}"}, across="title", cell="{coverage:.3f}[ ({published:.3f})]"),
        ),
        Section(
            "Intervals of a gain with few items",
            "Exact coverage of 95 % intervals of the gain of two systems. The systems agree on "
            f"{100 * study.agreement:g} % of the items, and the true gain is that of the column. Normal is the paired "
            "normal interval. Score is Tango's score interval, which simstudy uses.",
            table=Table(two, {"items": "{n_items}"}, across="about", cell="{coverage:.3f}"),
        ),
        Section(
            "Plans of few items",
            "The minimum detectable gain in points (power 0.8, two-sided, level 0.05), if two systems agree on "
            f"{100 * study.agreement:g} % of the items. The normal formula is 2.8 standard errors. Exact is the "
            "gain for McNemar's exact test. A gain cannot exceed the share of discordant items, which is the last "
            "column. If even this gain is detected less often, the cell has 'none'.",
            table=Table(
                tables["few_gains"],
                {
                    "items": "{n_items}",
                    "normal formula": "{normal:.1f}",
                    "exact": Column("{exact:.1f}", missing="none"),
                    "largest possible gain": "{largest:.0f}",
                },
            ),
        ),
    ]


def subsets(rows: pd.DataFrame, study: Settings) -> list[Section]:
    """Pairs that subsets of items rank right, and the items that such pairs need."""
    asked = study.subsets
    such = f"{asked.gain - asked.within:g} to {asked.gain + asked.within:g} points"
    return [
        Section(
            "Subsets of items",
            "Yauney, Warraich and Swayamdipta (2025, abstract) report two results on MMLU-Pro. With ten items, no "
            f"method consistently ranks pairs that are {asked.published_gain:g} points apart. From "
            f"{asked.published_items} items on, random items are competitive. In our study, systems are halved at "
            f"random, {asked.trials} times. Items are chosen by the answers of one half, in three ways. Random: at "
            "random. Anchors: one item for each cluster of items, weighted by the cluster's size. Most correlated: "
            "items whose answers correlate most with the systems' scores. These items rank the pairs of the other "
            f"half whose gain on all items is {such}. Ranked right: the share of these pairs. Ties: the share of "
            "pairs with equal scores, which do not count as right. Predicted: the share for random items, by the "
            "normal approximation. Least gain: from this gain on (in points, steps of 0.5), at least "
            f"{100 * asked.agreement:g} % of the pairs are ranked right. The dashed line of the figure is at "
            f"{100 * asked.agreement:g} %.",
            figure=Figure("subsets", lambda: draw_subsets(rows, asked.agreement)),
            table=Table(
                rows.assign(method=rows["method"].map(CHOICES)),
                {
                    "test set": "{test_set:name}",
                    "items": "{n_items:,}",
                    "chosen": "{method}",
                    "ranked right": "{right:.2f}",
                    "predicted": "[{predicted:.2f}]",
                    "ties": "{tied:.2f}",
                    "least gain": "[{least_gain:.1f}]",
                },
            ),
        ),
        Section(
            "Items that a pair needs",
            f"The pairs of the table above: those whose gain on all items is {such}. Items to rank: so many random "
            f"items rank such a pair right with probability {asked.agreement:g}. Items to test: so many make its gain "
            "significant with power 0.8. Both use the normal approximation and the median variance of these pairs' "
            "differences.",
            table=Table(
                rows.drop_duplicates("test_set"),
                {
                    "test set": "{test_set:name}",
                    "systems": "{n_systems}",
                    "such pairs": "{n_near}",
                    "items to rank": "{items_to_rank:,.0f}",
                    "items to test": "{items_to_test:,.0f}",
                },
            ),
        ),
    ]
