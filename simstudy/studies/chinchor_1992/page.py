"""The page of the study of Chinchor 1992: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.analyses.groups import RULES
from simstudy.report import Section, Tables

CLOSING = (
    "p-values are two-sided and, but for the columns holm and bh, not corrected for the number of pairs. Scores and "
    "gains are in percent and points; p-values and certainties are fractions."
)


def example_sections(tables: Tables) -> list[Section]:
    """Worked examples, a printed confidence level, constructed cases."""
    readings = tables["readings"]
    rows = pd.DataFrame(
        {
            "pair": readings["pair"],
            "cutoff, shuffles": readings["cutoff"].map("{:g}".format)
            + ", "
            + readings["n_shuffles"].map("{:,}".format),
            "printed level": readings["level"].map("{:.4f}".format),
            "printed confidence": readings["confidence"].map("{:.3f}".format),
            "certainty of the printed level": readings["computed"].map("{:.3f}".format),
            "level with the printed confidence": readings["level_of_printed"].map("{:.4f}".format),
        }
    )
    return [
        Section(
            "Worked examples",
            'Section "Examples": A has 15 of 20 on each of 50 relevant messages, B the same but for one with 0, C 18. '
            "One message that differs can not be significant: every shuffle has the same difference.",
            table=_pair_rows(tables["worked"]),
        ),
        Section(
            "A printed confidence level",
            "The certainty that the level is at or below the cutoff, given so many shuffles.",
            table=rows,
        ),
        Section(
            "Constructed cases",
            "Message-level scores built so that the published patterns appear: systems that resemble each other differ "
            "significantly by a smaller gain. Published levels where the paper prints them.",
            table=_pair_rows(tables["constructed"]),
        ),
    ]


def _pair_rows(table: pd.DataFrame) -> pd.DataFrame:
    rows = pd.DataFrame(
        {
            "pair": table["system_a"] + " / " + table["system_b"],
            "scores": table["score_a"].map("{:.2f}".format) + " / " + table["score_b"].map("{:.2f}".format),
            "gain": table["gain"].map("{:.2f}".format),
            "p, 9,999 shuffles": table["p_value"].map("{:.4f}".format),
            "certainty": table["certainty"].map("{:.3f}".format),
            "exact p": table["exact_p"].map("{:.3g}".format),
        }
    )
    if "published" in table:
        rows.insert(3, "published p", table["published"].map("{:.4f}".format).where(table["published"].notna(), ""))
    return rows


def set_sections(test_set: str, rules: Mapping[str, float], tables: Tables) -> list[Section]:
    """The MUC-like set: decisions by metric, what must not be concluded, groups by rule."""
    found, ranges = tables["groups"], tables["gain_ranges"]
    found = found[found["test_set"] == test_set]
    sizes = found.groupby(["metric", "rule"], sort=False)["group"].nunique().unstack()
    n_groups = sizes[list(RULES)].reset_index()
    kinds = tables["intransitive"].groupby(["metric", "test_set", "kind"]).size().unstack(fill_value=0)
    warned = pd.DataFrame(
        {
            "metric": ranges["metric"],
            "smallest significant gain": ranges["smallest_significant"].map("{:.2f}".format),
            "largest gain that is not": ranges["largest_not_significant"].map("{:.2f}".format),
            "pairs between the two": ranges["n_between"],
            **{kind: [int(kinds[kind].get((metric, test_set), 0)) for metric in ranges["metric"]] for kind in kinds},
        }
    )
    return [
        Section(
            "A MUC-like set: how many pairs differ",
            f"Synthetic systems on messages of shared difficulty: pairs that differ at {rules['cutoff']:g} with "
            f"certainty {rules['certainty']:g}; those at or below it but in doubt (and how many of these the exact "
            "p-value calls different); by the exact p-value; and by p-values corrected for all pairs of the metric "
            "(Holm; Benjamini-Hochberg).",
            table=decision_rows(tables["decisions"]),
        ),
        Section(
            "Her warning: a gain range is not a test, and groups are not transitive",
            "Pairs whose gain lies between the smallest significant and the largest not significant gain can not be "
            "told by their gain; triples of systems in which A and B, B and C do not differ but A and C do (not "
            "transitive), and in which the wider gain is not significant but a narrower one within it is.",
            table=warned,
        ),
        Section(
            "Groups by three rules",
            "How many groups each rule makes of the systems: the maximal sets of systems no two of which differ, "
            "clusters from the top, and runs of neighbours that do not differ.",
            table=n_groups,
        ),
    ]


def decision_rows(table: pd.DataFrame) -> pd.DataFrame:
    """How many pairs differ, by metric and by way of deciding, as text."""
    return pd.DataFrame(
        {
            "metric": table["metric"],
            "pairs": table["n_pairs"],
            "certainly differ": table["certain"],
            "in doubt (differ exactly)": table["in_doubt"].astype(str)
            + " ("
            + table["in_doubt_exact"].astype(str)
            + ")",
            "exact p": table["exact"],
            "Holm": table["holm"],
            "Benjamini-Hochberg": table["bh"],
        }
    )
