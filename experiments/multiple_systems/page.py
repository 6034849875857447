"""The page: false claims about pairs, confidence sets for ranks, and the conditions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import Shown, rates_figure

CLOSING = (
    "A claim says that one system of a pair is better. It is false if the two are equally good or the other one is "
    "better. Intervals are 95 % Monte Carlo intervals, for shares by Clopper and Pearson and for means by Student's t. "
    "In one condition, with one number of systems and one number of them equally good, all methods see the same test "
    "sets. Shares are fractions."
)
NUMBER = "[{share:.3f} ({low:.3f} – {high:.3f})][{mean:.3f} ({mean_low:.3f} – {mean_high:.3f})]"
AT = {"condition": "{title}", "systems": "{n_systems}"}
WHICH = {"condition": "{title}", "equally good": "{equality}", "systems": "{n_systems}"}


def show(study: Any, tables: Mapping[str, pd.DataFrame]) -> Shown:
    """The page of the tables, and what a terminal shows."""
    rows = pd.concat([tables["rates"], tables["means"]], ignore_index=True)
    rows["title"] = [study.title_of("condition", level) for level in rows["condition"]]
    rows[["pairs", "side", "correction"]] = rows["method"].str.split(", ", expand=True)
    rows["correction"] = rows["correction"].replace("none", "no correction")
    equal = rows[(rows["equality"] == "all equal") & (rows["quantity"] == "any false claim")]
    two_sided = equal[equal["side"] == "two-sided"]
    all_pairs = two_sided[two_sided["pairs"] == "all pairs"]
    brief = Table(all_pairs, AT | {"condition": "{condition}"}, across="correction", cell="{share:.3f}")
    return Shown(
        sections=[
            any_false_claim(study, all_pairs),
            some_differ(rows),
            one_sided(equal),
            *some_pairs(two_sided),
            ranks(study, rows),
            conditions(study),
        ],
        closing=CLOSING,
        summary={"Any false claim, all systems equal": brief},
    )


def any_false_claim(study: Any, rows: pd.DataFrame) -> Section:
    """The family-wise error rate, with a panel for each condition that has several numbers of systems."""
    several = rows[rows.groupby("condition")["n_systems"].transform("nunique") > 2]
    drawn = (several if len(several) else rows).assign(method=rows["correction"])
    return Section(
        "Any false claim",
        "The family-wise error rate: the share of test sets in which any pair is significant, though all systems are "
        "equally good. All pairs are tested two-sided at 0.05, which is the dashed line. The last columns are "
        "corrections for the number of pairs, or none. Groups of systems (Comparisons.groups) are more than one "
        "exactly if any pair is significant, so these are also the shares of tables with more than one group.",
        figure=Figure("family_wise_error", partial(rates_figure, drawn, study, "n_systems")),
        table=Table(rows, AT, across="correction", cell=NUMBER),
    )


def some_differ(rows: pd.DataFrame) -> Section:
    """Errors and power where half of the systems are equally good, or none."""
    differ = (rows["equality"] != "all equal") & rows["n_systems"].isin([2, 10, 50])
    shown = rows[differ & (rows["pairs"] == "all pairs") & (rows["side"] == "two-sided")]
    return Section(
        "If some systems differ",
        "All pairs, two-sided at 0.05, with half of the systems equally good or none. Any false claim: the share of "
        "test sets with any false claim. Any wrong winner: with a claim for the worse of two different systems. Wrong "
        "winners: the mean number of these claims. False discoveries: the mean share of false claims among all claims "
        "of a test set (0 if there is no claim). Power: the mean share of true differences that are claimed.",
        table=Table(shown, WHICH | {"correction": "{correction}"}, across="quantity", cell=NUMBER),
    )


def one_sided(equal: pd.DataFrame) -> Section:
    """Two-sided and one-sided p-values side by side."""
    shown = equal[(equal["pairs"] == "all pairs") & equal["correction"].isin(["no correction", "Holm"])]
    return Section(
        "One-sided tests",
        "The share of test sets with any false claim at 0.05 about a pair, though all systems are equally good. Better "
        "system: the one with the better score on the test set, as in a table of pairs. Named system: one system of "
        "each pair that was named before.",
        table=Table(shown.assign(way=shown["side"] + ", " + shown["correction"]), AT, across="way", cell="{share:.3f}"),
    )


def some_pairs(two_sided: pd.DataFrame) -> list[Section]:
    """False claims about pairs with a baseline, and about neighbours in the ranking."""
    texts = {
        "one baseline": "Only the K - 1 pairs of K systems with one baseline are tested and corrected.",
        "neighbours": "Only the K - 1 pairs of systems that follow each other in the ranking by score are tested and "
        "corrected, as in Comparisons.ranks. The test set chooses these pairs.",
    }
    always = "The share of test sets with any significant pair at 0.05, two-sided, though all systems are equally good."
    return [
        Section(
            pairs.capitalize(),
            f"{always} {text}",
            table=Table(two_sided[two_sided["pairs"] == pairs], AT, across="correction", cell=NUMBER),
        )
        for pairs, text in texts.items()
    ]


def ranks(study: Any, rows: pd.DataFrame) -> Section:
    """The guarantees of a leaderboard."""
    return Section(
        "Ranks",
        f"How often the confidence sets for ranks of simstudy.leaderboard hold, at level {1 - study.fixed['alpha']:g}. "
        "Equally good systems share their ranks, and a set must contain all of them. All ranks: the sets of all "
        "systems hold at once. Own rank: the own set of a system holds, on average over systems. The best: all truly "
        "best systems are among those that may be the best. Then the mean numbers of ranks in a set, of ranks in an "
        "own set, and of systems that may be the best.",
        table=Table(rows[rows["pairs"] == "confidence sets for ranks"], WHICH, across="quantity", cell=NUMBER),
    )


def conditions(study: Any) -> Section:
    """What is drawn."""
    rows = pd.DataFrame(study.factors["condition"].values())
    rows["best"] = rows["least"] + rows["spread"]
    return Section(
        "Conditions",
        "The conditions and their systems. Latent correlation: of two systems of different families, then of two "
        "within a family. True scores: of the worst system and, unless all are equal, of the best. If half of the "
        "systems are equally good, these are the worse half.",
        table=Table(
            rows,
            {
                "condition": "{title}",
                "units": "{n_units:,}",
                "test": "{test:words}",
                "latent correlation, across / within families": "{between:g} / {within:g}",
                "true scores": "{least:g} … {best:g}",
            },
        ),
    )
