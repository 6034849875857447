"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .claims import FORMS
from .drawing import INTERVALS, draw_coverage, draw_subsets
from .settings import Settings

CLOSING = (
    "Tests are two-sided at level 0.05, and p-values are not corrected, unless a row says otherwise. Points are "
    "percent of right answers, or of the metric's scale. A published number was read in the source that its row names."
)


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Published numbers beside ours, by what they are about."""
    return [
        claims(tables["claims"]),
        neighbours(tables["neighbours"]),
        overcounts(tables["overcounts"]),
        powers(tables["powers"], study),
        *few(tables, study),
        subsets(tables["subsets"], study),
        Section(
            "Left out",
            "Published numbers that have no row, and why.",
            table=Table(tables["left_out"], {"source": "{source}", "about": "{claim}", "why": "{reason}"}),
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
        "Neighbours are systems of successive ranks. A pair is unresolved if the test set has fewer items than its "
        "observed gain needs for power 0.8. Done again: in the published way, if that is another one than ours.",
        table=_claims(rows),
    )


def _claims(rows: pd.DataFrame) -> Table:
    written = _written(rows, ["published", "recomputed", "ours"])
    for name in ("published", "ours"):
        of = [f" of {value:.0f}" if pd.notna(value) else "" for value in rows[f"{name}_of"]]
        written[f"{name}_text"] += of
    return Table(
        written,
        {
            "claim": "{claim}",
            "source": "{source}",
            "published": Column("{published_text}", source="published"),
            "done again": Column("{recomputed_text}", source="recomputed"),
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
        "q is the number of items at hand over the number that power 0.8 needs for the observed gain: by item; with "
        "the design effect of subjects, as published; and by the standard error of subjects, as if the subjects were a "
        "sample of subjects. p-values are those of sign flips of items and of subjects.",
        table=Table(
            rows,
            {
                "ranks": "{rank}",
                "better system": "{system_a:name}",
                "next": "{system_b:name}",
                "gain": "{gain:gain}",
                "q": "{q:.2f}",
                "q, design effect": "{q_design:.2f} ({design_effect:.1f})",
                "q, subjects": "{q_subjects:.2f}",
                "p, items": "{p_items:p}",
                "p, subjects": "{p_subjects:p}",
            },
        ),
    )


def overcounts(rows: pd.DataFrame) -> Section:
    """How often the counts of data sets are too large."""
    return Section(
        "Counts of data sets that are too large",
        f"The share of {rows['n_sets'].iloc[0]:,} simulated studies in which the count is larger than the number of "
        "data sets with an effect (95 % intervals). The promise is 0.05 at the most. Statistics are normal, and those "
        "of two data sets have the given correlation: the same systems meet again, or data sets share items.",
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
        "The published number; the same computed again in the published way, if it is known; and ours: McNemar's exact "
        "test for right and wrong answers, the paired t test for other scores. Simulated: the share of "
        f"{study.simulated:,} simulated test sets on which scipy's test detects the better system with our number. The "
        "column before it has the planned power.",
        table=Table(
            _written(rows, ["published", "recomputed", "ours"]),
            {
                "case": "{case}",
                "source": "{source}",
                "settings": "{settings}",
                "asked": "{quantity}",
                "published": "{published_text}",
                "done again": "{recomputed_text}",
                "ours": "{ours_text}",
                "power, simulated": "{power:.3f}, {simulated:.3f}",
                "difference": Column("{note}"),
            },
        ),
    )


def few(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Intervals and plans of few items."""
    one = tables["one_accuracy"]
    one = one.assign(title=one["interval"].map(INTERVALS))
    two = tables["two_systems"]
    two = two.assign(about=two["gain"].map("truly {:g} points, ".format) + two["interval"])
    return [
        Section(
            "Intervals of one accuracy",
            "Coverage of 95 % intervals by all outcomes (no simulation). True accuracies are even between 0 and 1, and "
            "the uniform prior is the one that they are drawn from: its coverage is 0.95 by construction. Brackets "
            "and, in the figure, marks have the published coverage. It was read from the vectors of figure exp4-1 in "
            "the repository of Bowyer, Aitchison and Ivanova (2025), and is of 100 true accuracies, drawn at random, "
            "with 200 test sets each.",
            figure=Figure("one_accuracy", lambda: draw_coverage(one)),
            table=Table(one, {"items": "{n_items}"}, across="title", cell="{coverage:.3f}[ ({published:.3f})]"),
        ),
        Section(
            "Intervals of a gain with few items",
            f"The same for the gain of two systems that agree on {100 * study.agreement:g} % of items: normal "
            "(paired), and Tango's score interval, which is ours.",
            table=Table(two, {"items": "{n_items}"}, across="about", cell="{coverage:.3f}"),
        ),
        Section(
            "Plans of few items",
            f"The gain that is detected with power 0.8 where {100 * study.agreement:g} % of items agree, in points: "
            "2.8 standard errors, as in normal formulas, and by McNemar's exact test. A gain cannot exceed the share "
            "of discordant items. If that is too small, no gain has this power ('none').",
            table=Table(
                tables["few_gains"],
                {
                    "items": "{n_items}",
                    "normal formula": "{normal:.1f}",
                    "exact": Column("{exact:.1f}", missing="none"),
                    "largest possible": "{largest:.0f}",
                },
            ),
        ),
    ]


def subsets(rows: pd.DataFrame, study: Settings) -> Section:
    """Pairs that subsets of items rank right."""
    asked = study.subsets
    return Section(
        "Subsets of items",
        f"Yauney, Warraich and Swayamdipta (2025, abstract): with ten items no method consistently ranks pairs "
        f"{asked.published_gain:g} points apart on MMLU-Pro, and from {asked.published_items} items on random ones are "
        f"competitive. Ours: {asked.trials} halvings of the systems. Items are chosen by the answers of one half: at "
        "random; anchors, one item for each cluster of items, weighted by the cluster's size; or the telling ones, "
        "whose answers are the most correlated with the systems' scores. They rank the pairs of the other half whose "
        f"gain on all items is {asked.gain - asked.within:g} to {asked.gain + asked.within:g} points. The table has "
        "the share that is ranked right, and in brackets the share of ties, which are not right. Predicted: by the "
        "normal approximation, from the pairs' differences. Least gain: from this gain on, pairs are ranked right in "
        f"{100 * asked.agreement:g} % of the cases (half points; each with those within half a point). To rank: the "
        "items at which random ones rank such a pair right so often. To test: the items for a significant difference "
        "with power 0.8.",
        figure=Figure("subsets", lambda: draw_subsets(rows, asked.agreement)),
        table=Table(
            rows,
            {
                "test set": "{test_set:name}",
                "systems": "{n_systems}",
                "pairs": "{n_near}",
                "items to rank": "{items_to_rank:,.0f}",
                "items to test": "{items_to_test:,.0f}",
                "subset": "{n_items:,}",
            },
            across="method",
            cell="{right:.2f} ({tied:.2f})[, predicted {predicted:.2f}]; least gain [{least_gain:.1f}]",
        ),
    )
