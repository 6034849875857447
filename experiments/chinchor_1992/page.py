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
            'Section "Examples": A has 15 of 20 on each of 50 relevant messages, B the same but for one with 0, C 18. '
            "One differing message cannot be significant: every shuffle has the same difference.",
            table=Table(tables["worked"], PAIR | TESTED),
        ),
        Section(
            "A printed confidence level",
            "The certainty that the level is at or below alpha, given this number of shuffles.",
            table=Table(tables["readings"], reading),
        ),
        Section(
            "Constructed cases",
            "Message-level scores that show the published patterns: similar systems differ significantly by a smaller "
            "gain. Published levels are given if the paper prints them.",
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
        "largest gain that is not": "{largest_not_significant:.2f}",
        "pairs between the two": "{n_between}",
    } | {kind: f"{{{kind}}}" for kind in map(str, kinds)}
    return [
        Section(
            "A MUC-like set: how many pairs differ",
            f"Synthetic systems on messages of shared difficulty. Certain: pairs that differ at {rules['alpha']:g} "
            f"with certainty {rules['certainty']:g}. Uncertain: p is at or below alpha without that certainty; in "
            "brackets, how many of these differ by the exact p-value. The other columns count pairs by the exact "
            "p-value, and by p-values corrected for all pairs of the metric (Holm; Benjamini-Hochberg).",
            table=decision_rows(tables),
        ),
        Section(
            "Her warning: a gain range is not a test, and groups are not transitive",
            "A gain between the smallest significant and the largest not significant gain does not decide a pair. "
            "Triples are not transitive if A and B, and B and C, do not differ significantly, but A and C do. In "
            "other triples the wider gain is not significant, but a narrower gain within it is.",
            table=Table(tables["gain_ranges"].join(kinds, on="metric"), warning),
        ),
        Section(
            "Groups by three rules",
            "How many groups each rule makes: maximal sets of systems without a significant pair, clusters from the "
            "top, and runs of neighbours without a significant pair.",
            table=Table(n_groups, {"metric": "{metric:metric}", **{rule: f"{{{rule}}}" for rule in RULES}}),
        ),
    ]


def decision_rows(tables: Mapping[str, pd.DataFrame]) -> Table:
    """How many pairs differ, by metric and by way of deciding."""
    columns = {
        "metric": "{metric:metric}",
        "pairs": "{n_pairs}",
        "significant with certainty": "{certain}",
        "uncertain (differ exactly)": "{uncertain} ({uncertain_exact})",
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
            "Systems by score. Blue pairs differ with certainty.",
            figure=Figure(f"matrix_{name}", lambda: titled(ss.plot.matrix(pairs, **rules), title)),
        ),
        Section(
            f"{title}: groups",
            "The systems on a line do not differ with certainty. Lines are thin where other systems lie between.",
            figure=Figure(f"groups_{name}", lambda: titled(ss.plot.groups(maximal), title)),
        ),
    ]


def titled(ax: Any, title: str) -> Any:
    """The panel, with a title."""
    ax.set_title(title, loc="left", fontsize=10, fontweight="bold")
    return ax
