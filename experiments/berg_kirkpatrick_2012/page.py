"""The page: figures 2 to 11 of the paper, its thresholds, its calibration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

import simstudy as ss
from simstudy.sections import Column, Figure, Section, Table

from .comparing import Tables
from .published import SAME_DISTRIBUTION, TABLE_1

if TYPE_CHECKING:
    from .study import Settings

_UNLIKE = "different families"

THRESHOLDS: dict[str, str | Column] = {
    "the paper": "{theirs}",
    "sentences": "{n_theirs:,}",
    "relation": "{relation}",
    "theirs": "{published:.2f}",
    "study": Column("{study:name}"),
    "ours at": Column("{n_items:,.0f}"),
    "pairs near p = 0.05": Column("{n_window:.0f}"),
    "ours": Column("{threshold:.2f}[ ({low:.2f}–{high:.2f})]", missing="{missing}"),
    "ours, scaled": Column("{scaled_threshold:.2f}[ ({scaled_low:.2f}–{scaled_high:.2f})]"),
}


def sections(study: Settings, parts: Mapping[str, Tables], tables: Tables) -> list[Section]:
    """All parts of the page."""
    synthetic = {part.study: parts[part.study] for part in study.synthetic}
    sized = {name: part for name, part in synthetic.items() if _home(part["points"])["n_items"].nunique() > 2}
    abroad = {name: part for name, part in synthetic.items() if len(_at_one_size(part))}
    return [
        Section(
            "Natural comparisons",
            "Pairs of systems that others made (section 3.1). Tests are two-sided here, one-sided in the paper: what "
            "is p there is 2 p here. "
            + "; ".join(f"{part.study}, {part.test_set}, stands beside {part.like}" for part in study.natural)
            + ".",
            figure=Figure("natural", partial(_natural, study, parts)),
        ),
        Section(
            "Comparisons of resampled systems",
            "Pairs of variants of base models on the whole home test set, one-sided; lines are running medians "
            "(section 3.2, figures 5, 7 and 8). "
            + "; ".join(f"{part.study} stands beside {part.like}" for part in study.synthetic if part.like)
            + ". The others are tasks that the paper does not have.",
            figure=Figure("synthetic", partial(_synthetic, synthetic)),
        ),
        Section(
            "Thresholds",
            "The paper's thresholds beside ours (section 3.1.1): by sentence, one-sided, on whole test sets, with "
            "95 % intervals for other variants of these families. The last column is ours times the square root of "
            "our number of sentences over theirs: an extrapolation, not a measurement. Test sets, languages and "
            "systems are others.",
            table=Table(tables["thresholds"], THRESHOLDS),
        ),
        Section(
            "Variants of one system and unlike systems",
            "Thresholds of both classes where both have intervals, their ratio, and the ratio that correlation "
            "explains: sqrt((1 - r12) of the same family / (1 - r12) of different families), from median r12 of the "
            "whole test set.",
            table=Table(
                tables["families"],
                {
                    "study": "{study:name}",
                    "items": Column("{n_items:,.0f}", missing="too few pairs"),
                    "same family": Column("{threshold_same:.2f} ({low_same:.2f}–{high_same:.2f})"),
                    "different families": Column(
                        "{threshold_different:.2f} ({low_different:.2f}–{high_different:.2f})"
                    ),
                    "ratio": Column("{ratio:.2f}"),
                    "by r12": "{expected:.2f}",
                    "r12, same": "{r12_same:.2f}",
                    "r12, different": "{r12_different:.2f}",
                },
            ),
        ),
        Section(
            "Test sizes",
            "Initial segments of the home test sets, pairs of different families (section 4.1, figures 9 and 10).",
            figure=Figure("sizes", partial(_sizes, sized)),
        ),
        Section(
            "Domains",
            "Initial segments of equal size of different test sets, pairs of different families (section 4.1, figure "
            "11).",
            figure=Figure("domains", partial(_domains, abroad)),
        ),
        Section(
            "Natural systems over resampled ones",
            "Where both are there on one test set (figures 5 and 6): by how much the natural pairs' confidence differs "
            "at equal gain from the class's running median, and how many times larger a natural gain is that is as "
            "significant; 95 % intervals for other such natural systems and other variants of these families.",
            table=Table(
                tables["overlay"],
                {
                    "study": "{study:name}",
                    "natural systems": "{test_set:name}",
                    "over": "{others_relation}",
                    "natural pairs": "{n_pairs:,}",
                    "difference in confidence": Column(
                        "{difference:+.3f} ({low:+.3f} to {high:+.3f})", missing="{note}"
                    ),
                    "ratio of gains": Column("{gain_ratio:.2f} ({ratio_low:.2f}–{ratio_high:.2f})"),
                },
            ),
        ),
        Section(
            "Calibration under identical distribution",
            "Pairs with 0.04 <= p <= 0.06 on a redrawn test set: share whose winner is the population's. The paper has "
            f"{SAME_DISTRIBUTION:.0%} (942 pairs, section 4.2). In brackets what valid tests give where true gains are "
            "normal; intervals are for other variants of these families.",
            table=Table(
                tables["same_distribution"],
                {
                    "study": "{study:name}",
                    "redrawn": "{test_set:name}, {n_items:,} items",
                    "pairs": "{n_pairs:,}",
                    "share": Column("{share:.0%}, {low:.0%}–{high:.0%} ({expected:.0%})", missing="too few pairs"),
                },
            ),
        ),
        Section(
            "Table 1 of the paper",
            "Percent of pairs whose winner on section 23 also wins elsewhere, by p there.",
            table=Table(
                TABLE_1,
                {"p": "{p_from:g} – {p_to:g}"}
                | {name: f"{{{name}}} %" for name in TABLE_1.columns if name not in ("p_from", "p_to")},
            ),
        ),
        Section(
            "Calibration across domains",
            "The same of our studies: pairs with 0.04 <= p <= 0.06 at home, share whose winner also wins elsewhere "
            "(section 4.2). In brackets the share on as many items of the home population: what is lost to the domain "
            "is the difference.",
            table=Table(
                tables["across_domains"],
                {
                    "study": "{study:name}",
                    "home": "{test_set:name}",
                    "elsewhere": "{elsewhere:name}",
                    "pairs": "{n_pairs:,}",
                    "share": Column("{share:.0%}, {low:.0%}–{high:.0%} ({baseline:.0%})", missing="too few pairs"),
                },
            ),
        ),
        Section(
            "How small must p be?",
            "The upper end of the last bin of p-values such that in this bin and all below it the home winner wins "
            "elsewhere nine times in ten; and the share in the lowest bin, with its interval and, in brackets, the "
            "share on as many items of the home population.",
            table=Table(
                tables["small_enough"],
                {
                    "study": "{study:name}",
                    "home": "{test_set:name}",
                    "elsewhere": "{elsewhere:name}",
                    "p below": Column("{p:g}", missing="never"),
                    "lowest bin": "p < {lowest_to:g}, {n_pairs:,} pairs",
                    "share there": Column("{lowest:.0%}, {low:.0%}–{high:.0%}[ ({baseline:.0%})]"),
                },
            ),
        ),
    ]


def _home(points: pd.DataFrame) -> pd.DataFrame:
    """The rows of the home test set, which come first."""
    home: pd.DataFrame = points[points["test_set"] == points["test_set"].iloc[0]]
    return home


def _natural(study: Settings, parts: Mapping[str, Tables]) -> Any:
    titles = [f"{part.test_set} (their {part.like.partition(':')[0]})" for part in study.natural]
    figure, axes = ss.plot.panels(titles, width=4.2, shared=False)
    for part, ax in zip(study.natural, axes, strict=True):
        points = parts[part.study]["points"]
        chosen = points[(points["test_set"] == part.test_set) & (points["metric"] == part.metric)]
        ss.plot.curve(chosen[chosen["n_items"] == chosen["n_items"].max()], ax=ax)
    return figure


def _synthetic(parts: Mapping[str, Tables]) -> Any:
    figure, axes = ss.plot.panels([*parts], per_row=3, width=2.9, height=2.4, shared=False)
    for tables, ax in zip(parts.values(), axes, strict=True):
        whole = _some(_whole(tables["points"]))
        curves = tables["curves"]
        same = (curves["test_set"] == whole["test_set"].iloc[0]) & (curves["n_items"] == whole["n_items"].iloc[0])
        ss.plot.curve(whole, curves[same], ax=ax)
    return figure


def _some(points: pd.DataFrame, by: str = "relation", most: int = 100) -> pd.DataFrame:
    """At most so many points of a class, evenly over the gains."""
    classes = [rows.sort_values("gain") for _, rows in points.groupby(by, sort=False)]
    return pd.concat([rows.iloc[:: -(-len(rows) // most)] for rows in classes])


def _whole(points: pd.DataFrame) -> pd.DataFrame:
    home = _home(points)
    whole: pd.DataFrame = home[home["n_items"] == home["n_items"].max()]
    return whole


def _sizes(parts: Mapping[str, Tables]) -> Any:
    figure, axes = ss.plot.panels([*parts], per_row=3, width=2.9, height=2.4, shared=False)
    for tables, ax in zip(parts.values(), axes, strict=True):
        points, curves = _home(tables["points"]), tables["curves"]
        at_home = curves["test_set"] == points["test_set"].iloc[0]
        shown = _some(points[points["relation"] == _UNLIKE], "n_items", 15)
        ss.plot.curve(shown, curves[at_home & (curves["relation"] == _UNLIKE)], by="n_items", ax=ax)
        # Nine sizes have no room for a legend as large as elsewhere.
        ax.legend(loc="lower right", fontsize=6, labelspacing=0.2, handlelength=1.2)
    return figure


def _at_one_size(tables: Tables) -> pd.DataFrame:
    """The points of a study's test sets at the size that most of them have; none where there is one test set only."""
    points = tables["points"][tables["points"]["relation"] == _UNLIKE]
    several = points.groupby("n_items")["test_set"].nunique()
    same: pd.DataFrame = points[points["n_items"] == several.idxmax()]
    return same if several.max() > 1 else same.iloc[:0]


def _domains(parts: Mapping[str, Tables]) -> Any:
    shown = {name: _some(_at_one_size(tables), "test_set", 40) for name, tables in parts.items()}
    titles = [f"{name}, {points['n_items'].iloc[0]:,} items" for name, points in shown.items()]
    figure, axes = ss.plot.panels(titles, per_row=2, width=3.8, height=2.8, shared=False)
    for points, tables, ax in zip(shown.values(), parts.values(), axes, strict=True):
        curves = tables["curves"]
        same = (curves["n_items"] == points["n_items"].iloc[0]) & (curves["relation"] == _UNLIKE)
        ss.plot.curve(points, curves[same], by="test_set", ax=ax)
    return figure
