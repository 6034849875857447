"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .drawing import draw_families, draw_variants
from .families import ALL_PAIRS, BASELINE, BH, HOLM, NONE, STEPDOWN, TWO_SIDED
from .settings import ALL_EQUAL, Settings

CLOSING = (
    "A claim is that one system is better than another; it is false where they are equally good or the other one is "
    "better. Intervals are 95 % (Clopper-Pearson) for the number of test sets; those of means over test sets (false "
    "discoveries, power, own ranks, reported gains) are normal, or a standard error. Of one condition, truth and "
    "number of systems all methods see the same test sets. Shares are fractions."
)
RATE = "{share:.3f} ({low:.3f} – {high:.3f})"
AT = {"condition": "{title}", "systems": "{n_systems}"}


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
    return {"Any false claim where all are equal": Table(rows, at, across="method", cell="{share:.3f}")}


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """Pairs, places, groups and looks."""
    return [
        *pair_sections(titled(tables["families"], study), study),
        *board_sections(titled(tables["rank_sets"], study), tables["tables"], study),
        *look_sections(tables, study),
        Section(
            "Conditions",
            "Latent scores of two systems correlate by the first number between families and by the second within one; "
            "true scores are those of the worst and, where not all are equal, of the best system.",
            table=Table(
                tables["conditions"],
                {
                    "condition": "{title}",
                    "metric": "{metric}",
                    "units": "{n_units:,}",
                    "latent correlation": "{between:g} / {within:g}",
                    "true scores": "{least:g} … {best:g}",
                    "truths": "{truths}",
                },
            ),
        ),
    ]


def pair_sections(rows: pd.DataFrame, study: Settings) -> list[Section]:
    """Claims about pairs."""
    alpha = study.alpha
    pairs, two_sided = rows["family"] == ALL_PAIRS, rows["alternative"] == TWO_SIDED
    equal = rows["truth"] == ALL_EQUAL
    others = rows[pairs & two_sided & ~equal]
    shown = others[others["n_systems"].isin([2, 10, 50]) & others["method"].isin([NONE, HOLM, BH, STEPDOWN])]
    shown = shown.assign(wrong_pairs=shown["n_wrong"] / shown["n_sets"])
    of_sides = rows[pairs & equal & rows["method"].isin([NONE, HOLM])]
    of_sides = of_sides.assign(way=of_sides["alternative"] + ", " + of_sides["method"])
    baseline = rows[(rows["family"] == BASELINE) & two_sided & equal]
    return [
        Section(
            "Any false claim",
            f"All systems are equally good, all pairs are tested two-sided at {alpha:g}: the share of test sets in "
            "which any pair is said to differ (family-wise error).",
            figure=Figure("family_wise_error", lambda: draw_families(rows[pairs & two_sided & equal])),
            table=Table(rows[pairs & two_sided & equal], AT, across="method", cell=RATE),
        ),
        Section(
            "Where some differ",
            f"All pairs, two-sided at {alpha:g}. Any false: the share of test sets with any false claim (where all "
            "systems differ, only a wrong sign is one). False discoveries: the mean share of false claims among all "
            "(0 where there is none). Power: the mean share of true differences that are claimed. Wrong signs: claims "
            "for the worse of two different systems, a test set.",
            table=Table(
                shown,
                {
                    "condition": "{title}",
                    "truth": "{truth}",
                    "systems": "{n_systems}",
                    "correction": "{method}",
                    "any false": RATE,
                    "false discoveries": "{false_discoveries:.4f} ± {false_discoveries_se:.4f}",
                    "power": Column("{power:.3f} ± {power_se:.3f}"),
                    "wrong signs": "{wrong_pairs:.4f}",
                },
            ),
        ),
        Section(
            "One-sided",
            "All systems are equally good: any false claim by two-sided p-values, by one-sided ones for the system "
            "that the data say is the better, as in a table of pairs, and by one-sided ones for systems named "
            "beforehand.",
            table=Table(of_sides, AT, across="way", cell="{share:.3f}"),
        ),
        Section(
            "One baseline",
            "All systems are equally good, and only the K - 1 pairs with one of them are tested, two-sided: these are "
            "the family.",
            table=Table(baseline, AT, across="method", cell=RATE),
        ),
    ]


def board_sections(places: pd.DataFrame, said: pd.DataFrame, study: Settings) -> list[Section]:
    """What leaderboards and groups promise."""
    what = {
        "groups, p_value": "groups: more than one",
        "groups, p_holm": "groups by p_holm",
        "groups, p_bh": "groups by p_bh",
        "neighbours, p_value": "ranks: any neighbours significant",
        "neighbours, p_holm": "any neighbours significant, Holm",
    }
    return [
        Section(
            "Ranks",
            f"How often the confidence sets of `simstudy.leaderboard` hold at level {1 - study.alpha:g}: the "
            "ranks of all systems at once; each system's own rank in its own set, on average over systems; and every "
            "truly best system among those that may be the best. In brackets: the mean number of ranks in a set, or "
            "of systems that may be the best.",
            table=Table(
                places,
                {"condition": "{title}", "truth": "{truth}", "systems": "{n_systems}"},
                across="guarantee",
                cell=RATE + "; {mean_size:.1f}",
            ),
        ),
        Section(
            "Groups and ranks",
            f"{study.conditions[study.groups.condition].title.capitalize()}, all systems equally good: the share of "
            "test sets in which `simstudy.groups` has more than one group, and in which `simstudy.ranks` separates any "
            "two neighbours.",
            table=Table(said.assign(what=said["claim"].map(what)), {"claim": "{what}"}, across="n_systems", cell=RATE),
        ),
    ]


def look_sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What is found by trying, and by looking again."""
    rows = tables["variants"]
    rows = rows.assign(title=[study.variants[name].title for name in rows["variants"]])
    rows = rows.assign(way=rows["alternative"] + ", " + rows["method"])
    plain = rows["method"] == NONE
    null = rows["true_gain"] == 0
    stopping = titled(tables["stopping"], study)
    return [
        Section(
            "Variants of a baseline",
            f"None of m variants is better than the baseline. The best of them is reported if p ≤ {study.alpha:g}. "
            "Dashed: 1 - (1 - q)^m, the probability for independent test sets. Here q is the level (one-sided) or half "
            "of it (two-sided).",
            figure=Figure("repeated_looks", lambda: draw_variants(rows[plain & null])),
            table=Table(
                rows[null],
                {"variants": "{title}", "m": "{n_variants}"},
                across="way",
                cell="{share:.3f} ({low:.3f} – {high:.3f})",
            ),
        ),
        Section(
            "What is reported",
            "Best: the mean gain of the best variant (on the metric's scale), significant or not. The next columns are "
            "without a correction and with Holm's, two-sided: the share of runs in which the best variant is "
            "significant, then its mean gain in these runs ± its standard error.",
            table=Table(
                rows[(rows["alternative"] == TWO_SIDED) & (rows["method"] != STEPDOWN)],
                {
                    "variants": "{title}",
                    "m": "{n_variants}",
                    "true gain": "{true_gain:g}",
                    "best": "{mean_best:.2f}",
                },
                across="method",
                cell=Column("{share:.3f}: {mean_reported:.2f}[ ± {mean_reported_se:.2f}]", missing="{share:.3f}"),
            ),
        ),
        Section(
            "Looking again while items come in",
            f"Two equally good systems, tested two-sided after every {study.stopping.step:,} items: the share of test "
            f"sets with p ≤ {study.alpha:g} at any look so far. Published: of normal observations (Armitage, McPherson "
            "and Rowe 1969).",
            table=Table(
                stopping,
                {"looks": "{n_looks}", "published": Column("{published:.3f}")},
                across="title",
                cell=RATE,
            ),
        ),
    ]
