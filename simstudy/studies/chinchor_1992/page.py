"""The page of the study of Chinchor 1992: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.analyses.groups import RULES
from simstudy.sections import Section, Table

CLOSING = (
    "p-values are two-sided and, but for the columns holm and bh, not corrected for the number of pairs. Scores and "
    "gains are in percent and points; p-values and certainties are fractions."
)

_PAIR = {
    "pair": "{system_a} / {system_b}",
    "scores": "{score_a:.2f} / {score_b:.2f}",
    "gain": "{gain:.2f}",
}
_TESTED = {"p, 9,999 shuffles": "{p_value:.4f}", "certainty": "{certainty:.3f}", "exact p": "{exact_p:.3g}"}


def example_sections(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """Worked examples, a printed confidence level, constructed cases."""
    return [
        Section(
            "Worked examples",
            'Section "Examples": A has 15 of 20 on each of 50 relevant messages, B the same but for one with 0, C 18. '
            "One message that differs can not be significant: every shuffle has the same difference.",
            table=Table(tables["worked"], _PAIR | _TESTED),
        ),
        Section(
            "A printed confidence level",
            "The certainty that the level is at or below the cutoff, given so many shuffles.",
            table=Table(
                tables["readings"],
                {
                    "pair": "{pair}",
                    "cutoff, shuffles": "{cutoff:g}, {n_shuffles:,}",
                    "printed level": "{level:.4f}",
                    "printed confidence": "{confidence:.3f}",
                    "certainty of the printed level": "{computed:.3f}",
                    "level with the printed confidence": "{level_of_printed:.4f}",
                },
            ),
        ),
        Section(
            "Constructed cases",
            "Message-level scores built so that the published patterns appear: systems that resemble each other differ "
            "significantly by a smaller gain. Published levels where the paper prints them.",
            table=Table(tables["constructed"], {**_PAIR, "published p": "{published:.4f}", **_TESTED}),
        ),
    ]


def set_sections(test_set: str, rules: Mapping[str, float], tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """The MUC-like set: decisions by metric, what must not be concluded, groups by rule."""
    groups, triples = (tables[name][tables[name]["test_set"] == test_set] for name in ("groups", "intransitive"))
    n_groups = groups.groupby(["metric", "rule"], sort=False)["group"].nunique().unstack()[list(RULES)].reset_index()
    kinds = triples.groupby(["metric", "kind"]).size().unstack(fill_value=0)
    ranges = (
        tables["gain_ranges"].join(kinds, on="metric").fillna(dict.fromkeys(kinds, 0)).astype(dict.fromkeys(kinds, int))
    )
    return [
        Section(
            "A MUC-like set: how many pairs differ",
            f"Synthetic systems on messages of shared difficulty: pairs that differ at {rules['cutoff']:g} with "
            f"certainty {rules['certainty']:g}; those at or below it but in doubt (and how many of these the exact "
            "p-value calls different); by the exact p-value; and by p-values corrected for all pairs of the metric "
            "(Holm; Benjamini-Hochberg).",
            table=decisions(tables),
        ),
        Section(
            "Her warning: a gain range is not a test, and groups are not transitive",
            "Pairs whose gain lies between the smallest significant and the largest not significant gain can not be "
            "told by their gain; triples of systems in which A and B, B and C do not differ but A and C do (not "
            "transitive), and in which the wider gain is not significant but a narrower one within it is.",
            table=Table(
                ranges,
                {
                    "metric": "{metric}",
                    "smallest significant gain": "{smallest_significant:.2f}",
                    "largest gain that is not": "{largest_not_significant:.2f}",
                    "pairs between the two": "{n_between}",
                    **{kind: f"{{{kind}}}" for kind in map(str, kinds)},
                },
            ),
        ),
        Section(
            "Groups by three rules",
            "How many groups each rule makes of the systems: the maximal sets of systems no two of which differ, "
            "clusters from the top, and runs of neighbours that do not differ.",
            table=Table(n_groups, {name: f"{{{name}}}" for name in ("metric", *RULES)}),
        ),
    ]


def decisions(tables: Mapping[str, pd.DataFrame]) -> Table:
    """How many pairs differ, by metric and by way of deciding."""
    return Table(
        tables["decisions"],
        {
            "metric": "{metric}",
            "pairs": "{n_pairs}",
            "certainly differ": "{certain}",
            "in doubt (differ exactly)": "{in_doubt} ({in_doubt_exact})",
            "exact p": "{exact}",
            "Holm": "{holm}",
            "Benjamini-Hochberg": "{bh}",
        },
    )
