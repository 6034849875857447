"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .drawing import draw_families, draw_variants
from .families import ALL_PAIRS, BASELINE, BH, HOLM, NONE, ONE_SIDED, STEPDOWN, TWO_SIDED
from .settings import ALL_EQUAL, Settings

CLOSING = (
    "A claim says that one system of a pair is better. It is false if the two are equally good or the other one is "
    "better. Intervals are 95 % (Clopper-Pearson) and account for the number of test sets. Means over test sets "
    "(false discoveries, power, own ranks, reported gains) have a normal interval or a standard error (±). In one "
    "condition, with one truth and number of systems, all methods see the same test sets. Shares are fractions."
)
RATE = "{share:.3f} ({low:.3f} – {high:.3f})"
AT = {"condition": "{title}", "systems": "{n_systems}"}
# What the page calls corrections and sides.
WORDS = {NONE: "no correction", ONE_SIDED: "one-sided, better system"}


def titled(table: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """The table with its conditions' titles."""
    return table.assign(title=[study.conditions[name].title for name in table["condition"]])


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """What a terminal shows."""
    rows = tables["families"].query(
        "truth == @ALL_EQUAL and family == @ALL_PAIRS and alternative == @TWO_SIDED",
        local_dict={"ALL_EQUAL": ALL_EQUAL, "ALL_PAIRS": ALL_PAIRS, "TWO_SIDED": TWO_SIDED},
    )
    at = {"condition": "{condition}", "systems": "{n_systems}"}
    return {"Any false claim, all systems equal": Table(rows, at, across="method", cell="{share:.3f}")}


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Pairs, ranks, groups and looks."""
    return [
        *pair_sections(titled(tables["families"], study), study),
        *board_sections(titled(tables["rank_sets"], study), tables["tables"], study),
        *look_sections(tables, study),
        Section(
            "Conditions",
            "The conditions and their systems. Latent correlation: of two systems of different families, then of two "
            "within a family. True scores: of the worst system and, unless all are equal, of the best. Truths: which "
            "systems are equally good. If half of them are, these are the worse half.",
            table=Table(
                tables["conditions"],
                {
                    "condition": "{title}",
                    "metric": "{metric}",
                    "units": "{n_units:,}",
                    "latent correlation, across / within families": "{between:g} / {within:g}",
                    "true scores": "{least:g} … {best:g}",
                    "truths": "{truths}",
                },
            ),
        ),
    ]


def ways(rows: pd.DataFrame) -> pd.Series[str]:
    """The sides and the correction of each row."""
    return rows["alternative"].replace(WORDS) + ", " + rows["method"].replace(WORDS)


def pair_sections(rows: pd.DataFrame, study: Settings) -> list[Section]:
    """Claims about pairs."""
    alpha = study.alpha
    pairs, two_sided = rows["family"] == ALL_PAIRS, rows["alternative"] == TWO_SIDED
    equal = rows["truth"] == ALL_EQUAL
    others = rows[pairs & two_sided & ~equal]
    shown = others[others["n_systems"].isin([2, 10, 50]) & others["method"].isin([NONE, HOLM, BH, STEPDOWN])]
    shown = shown.assign(wrong_pairs=shown["n_wrong"] / shown["n_sets"])
    of_sides = rows[pairs & equal & rows["method"].isin([NONE, HOLM])]
    of_sides = of_sides.assign(way=ways(of_sides))
    baseline = rows[(rows["family"] == BASELINE) & two_sided & equal]
    return [
        Section(
            "Any false claim",
            "The family-wise error rate: the share of test sets in which any pair is significant, though all systems "
            f"are equally good. All pairs are tested two-sided at {alpha:g}, which is the dashed line. The last "
            "columns are corrections for the number of pairs, or none.",
            figure=Figure("family_wise_error", lambda: draw_families(rows[pairs & two_sided & equal])),
            table=Table(rows[pairs & two_sided & equal].replace({"method": WORDS}), AT, across="method", cell=RATE),
        ),
        Section(
            "If some systems differ",
            f"All pairs, two-sided at {alpha:g}, with half of the systems equally good or none. Any false claim: the "
            "share of test sets with any false claim. If all systems differ, only a claim for the worse system is "
            "false. False discoveries: the mean share of false claims among all claims of a test set (0 if there is "
            "no claim). Power: the mean share of true differences that are claimed. Wrong winners: the mean number of "
            "claims in a test set for the worse of two different systems.",
            table=Table(
                shown,
                {
                    "condition": "{title}",
                    "truth": "{truth}",
                    "systems": "{n_systems}",
                    "correction": "{method}",
                    "any false claim": RATE,
                    "false discoveries": "{false_discoveries:.4f} ± {false_discoveries_se:.4f}",
                    "power": Column("{power:.3f} ± {power_se:.3f}"),
                    "wrong winners": "{wrong_pairs:.4f}",
                },
            ),
        ),
        Section(
            "One-sided tests",
            f"The share of test sets with any false claim at {alpha:g} about a pair, though all systems are equally "
            "good. Better system: one-sided p-values for the system with the better score on the test set, as in a "
            "table of pairs. Named beforehand: one-sided p-values for a system of each pair that was named before.",
            table=Table(of_sides, AT, across="way", cell="{share:.3f}"),
        ),
        Section(
            "One baseline",
            "The share of test sets with any significant pair, though all systems are equally good. Only the K - 1 "
            f"pairs of K systems with one baseline are tested and corrected, two-sided at {alpha:g}.",
            table=Table(baseline.replace({"method": WORDS}), AT, across="method", cell=RATE),
        ),
    ]


def board_sections(places: pd.DataFrame, said: pd.DataFrame, study: Settings) -> list[Section]:
    """The guarantees of leaderboards and groups."""
    what = {
        "groups, p_value": "more than one group, no correction",
        "groups, p_holm": "more than one group, p_holm",
        "groups, p_bh": "more than one group, p_bh",
        "neighbours, p_value": "any neighbours significant, no correction",
        "neighbours, p_holm": "any neighbours significant, p_holm",
    }
    return [
        Section(
            "Ranks",
            f"How often the confidence sets for ranks of simstudy.leaderboard hold, at level {1 - study.alpha:g}. "
            "Equally good systems share their ranks, and a set must contain all of them. All ranks: the sets of all "
            "systems hold at once. Own rank: the own set of a system holds, on average over systems. The best: all "
            "truly best systems are among those that may be the best. After the semicolon: the mean number of ranks "
            "in a set, or of systems that may be the best.",
            table=Table(
                places,
                {"condition": "{title}", "truth": "{truth}", "systems": "{n_systems}"},
                across="guarantee",
                cell=RATE + "; {mean_size:.1f}",
            ),
        ),
        Section(
            "Groups and ranks",
            "The share of test sets in which Comparisons.groups has more than one group, and in which "
            "Comparisons.ranks finds any two neighbours significantly different. All systems are equally good: "
            f"{study.conditions[study.groups.condition].title}, two-sided at {study.alpha:g}. The columns are numbers "
            "of systems.",
            table=Table(said.assign(what=said["claim"].map(what)), {"claim": "{what}"}, across="n_systems", cell=RATE),
        ),
    ]


def look_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """False claims by trying variants, and by testing again."""
    rows = tables["variants"]
    rows = rows.assign(title=[study.variants[name].title for name in rows["variants"]])
    rows = rows.assign(way=ways(rows))
    plain = rows["method"] == NONE
    null = rows["true_gain"] == 0
    stopping = titled(tables["stopping"], study)
    return [
        Section(
            "Variants of a baseline",
            "The share of test sets in which the best of m variants is significantly better than the baseline (p ≤ "
            f"{study.alpha:g}), though none is better. In the table, r is the latent correlation of two systems, and "
            "the number in brackets that of two variants. The dashed curve is 1 - (1 - q)^m, the probability for "
            "independent test sets, and the dashed line is the level. Here q is the level (one-sided) or half of it "
            f"(two-sided). Romano-Wolf has {study.looks.corrected_sets:,} of the {study.looks.sets:,} test sets.",
            figure=Figure("repeated_looks", lambda: draw_variants(rows[plain & null])),
            table=Table(rows[null], {"variants": "{title}", "m": "{n_variants}"}, across="way", cell=RATE),
        ),
        Section(
            "Reported gains",
            "The mean gain of the best variant, on the metric's scale. Best: whether it is significant or not. The "
            "next columns are two-sided, without a correction and with Holm's. They have the share of test sets in "
            "which the best variant is significantly better, then its mean gain in these test sets ± its standard "
            "error.",
            table=Table(
                rows[(rows["alternative"] == TWO_SIDED) & (rows["method"] != STEPDOWN)].replace({"method": WORDS}),
                {"variants": "{title}", "m": "{n_variants}", "true gain": "{true_gain:g}", "best": "{mean_best:.2f}"},
                across="method",
                cell=Column("{share:.3f}: {mean_reported:.2f}[ ± {mean_reported_se:.2f}]", missing="{share:.3f}"),
            ),
        ),
        Section(
            "Testing again while items come in",
            f"The share of test sets with p ≤ {study.alpha:g} at any look so far, for two equally good systems. They "
            f"are tested two-sided after every {study.stopping.step:,} items, without correction. Published: the "
            "probability for normal observations (Armitage, McPherson and Rowe 1969).",
            table=Table(
                stopping, {"looks": "{n_looks}", "published": Column("{published:.3f}")}, across="title", cell=RATE
            ),
        ),
    ]
