"""What the page shows: its figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Figure, Section, Table

MUC_LIKE = "MUC-like"
RULES = ("maximal", "greedy", "adjacent")

PAIR = {"pair": "{system_a} / {system_b}", "scores": "{score_a:.2f} / {score_b:.2f}", "gain": "{gain:.2f}"}
TESTED = {"p, 9,999 shuffles": "{p_value:.4f}", "certainty": "{certainty:.3f}", "exact p": "{exact_p:.3g}"}
CERTAINTY = (
    "Certainty: the probability that the p-value of all possible shuffles is at or below the cutoff, given the number "
    "of extreme ones among 9,999."
)


def example_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """Worked examples, a printed confidence level, constructed cases."""
    reading = {
        "pair": "{pair}",
        "alpha, shuffles": "{alpha:g}, {n_shuffles:,}",
        "printed level": "{level:.4f}",
        "printed confidence": "{confidence:.3f}",
        "certainty of the printed level": "{computed:.3f}",
        "level with the printed confidence": "{level_of_printed:.4f}",
    }
    return [
        Section(
            "Worked examples",
            'The examples of the section "Examples". 50 of 100 messages are relevant, with 20 slots each. On each of '
            "these messages system A fills 15 slots correctly, and C fills 18. B differs from A on one message: it "
            "has 0 there. This one message cannot make a significant difference, because every shuffle has the same "
            f"absolute difference. Scores are precision. p-values are two-sided and not corrected. {CERTAINTY}",
            table=Table(tables["worked"], PAIR | TESTED),
        ),
        Section(
            "A printed confidence level",
            "The paper prints a significance level and its confidence for the pair GE / UMASS. The confidence is the "
            "certainty of the section above. The table has the certainty that the printed level gives, and the level "
            "that gives the printed confidence. The two printed numbers do not fit each other.",
            table=Table(tables["readings"], reading),
        ),
        Section(
            "Constructed cases",
            "Message-level scores that we chose to show a pattern of the paper. In each triple, two similar systems "
            "differ significantly, and two less similar systems with a larger gain do not. Published p: the "
            "significance level, if the paper prints one. p-values are two-sided and not corrected. Certainty is as "
            "in the worked examples.",
            table=Table(tables["constructed"], {**PAIR, "published p": "{published:.4f}", **TESTED}),
        ),
    ]


def set_sections(tables: Mapping[str, pd.DataFrame], rules: dict[str, Any]) -> list[Section]:
    """The MUC-like set: decisions by metric, what must not be concluded, groups by rule."""
    groups, triples = (tables[name][tables[name]["test_set"] == MUC_LIKE] for name in ("groups", "intransitive"))
    n_groups = groups.groupby(["metric", "rule"], sort=False)["group"].nunique().unstack().reset_index()
    kinds = pd.crosstab(triples["metric"], triples["kind"]).reindex(tables["gain_ranges"]["metric"], fill_value=0)
    warning = {
        "metric": "{metric:metric}",
        "smallest significant gain": "{smallest_significant:.2f}",
        "largest not significant gain": "{largest_not_significant:.2f}",
        "pairs between the two": "{n_between}",
    } | {f"triples: {kind}": f"{{{kind}}}" for kind in map(str, kinds)}
    return [
        Section(
            "A MUC-like set: how many pairs are significant",
            "Simulated systems. Their messages are easy or hard for all systems. The metrics are recall, precision and "
            "F in three weightings: P&R weights both equally, 2P&R has precision twice as important, and P&2R recall. "
            "A cell counts pairs. Significant with certainty: the certainty is at least "
            f"{rules['certainty']:g} that the exact p-value is at or below {rules['alpha']:g}. Uncertain: the p-value "
            f"of 9,999 shuffles is at or below {rules['alpha']:g}, but without that certainty. In brackets: the "
            f"uncertain pairs whose exact p-value is at or below {rules['alpha']:g}. Exact p: all pairs with such an "
            "exact p-value. The last two columns count pairs after a correction for all pairs of the metric. They "
            "correct the p-values of the shuffles. All tests are two-sided.",
            table=decision_rows(tables),
        ),
        Section(
            "The paper's warning: a range of gains is not a test, and groups are not transitive",
            "The gain alone does not decide a pair if its gain is between the smallest significant gain and the "
            "largest gain that is not significant. The table counts these pairs. The last columns count triples of "
            "systems A > B > C. Not transitive: A and B are tied, B and C are tied, but A and C differ significantly. "
            "Wider gain, not significant: A and C are tied, but A and B or B and C differ significantly, with a "
            f"smaller gain. Significant means at {rules['alpha']:g} with certainty {rules['certainty']:g}, two-sided "
            "and not corrected.",
            table=Table(tables["gain_ranges"].join(kinds, on="metric"), warning),
        ),
        Section(
            "Groups by three rules",
            "The number of groups by each rule. Maximal (the paper's rule): the largest sets of systems without a "
            "significant pair. They can overlap. Greedy: from the top, a group takes the systems after its leader up "
            "to the first that differs significantly from the leader. Adjacent: a group ends at a system that differs "
            "significantly from the next one. Its first and last system often differ significantly. Significant means "
            f"at {rules['alpha']:g} with certainty {rules['certainty']:g}, two-sided and not corrected.",
            table=Table(n_groups, {"metric": "{metric:metric}", **{rule: f"{{{rule}}}" for rule in RULES}}),
        ),
    ]


def decision_rows(tables: Mapping[str, pd.DataFrame]) -> Table:
    """How many pairs differ, by metric and by way of deciding."""
    columns = {
        "metric": "{metric:metric}",
        "pairs": "{n_pairs}",
        "significant with certainty": "{certain}",
        "uncertain (exact p significant)": "{uncertain} ({uncertain_exact})",
        "exact p": "{exact}",
        "Holm": "{holm}",
        "Benjamini-Hochberg": "{bh}",
    }
    return Table(tables["decisions"], columns)


def drawn_pairs(pairs: pd.DataFrame, maximal: pd.DataFrame, name: str, title: str, rules: Any) -> list[Section]:
    """The matrix and the groups of one table, in the manner of her figures 3-6 and 7-11."""
    return [
        Section(
            f"{title}: significance levels",
            "A cell has the p-value of a pair (two-sided, 9,999 shuffles, not corrected). Systems are in the order of "
            f"their scores, which stand beside their names. Blue: significant at {rules['alpha']:g} with certainty "
            f"{rules['certainty']:g}. Grey: not significant. The darker a cell, the smaller its p-value. Orange frame: "
            f"p is at or below {rules['alpha']:g}, but without that certainty.",
            figure=Figure(f"matrix_{name}", lambda: titled(ss.plot.matrix(pairs, **rules), title)),
        ),
        Section(
            f"{title}: groups",
            f"Systems on one vertical line are a group: no two of them differ significantly at {rules['alpha']:g} "
            f"with certainty {rules['certainty']:g}. A dot without a line is a group of one system. A line is thin and "
            "broken where it passes systems that are not in the group. Colours only keep neighbouring lines apart.",
            figure=Figure(f"groups_{name}", lambda: titled(ss.plot.groups(maximal), title)),
        ),
    ]


def titled(ax: Any, title: str) -> Any:
    """The panel, with a title."""
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold")
    return ax
