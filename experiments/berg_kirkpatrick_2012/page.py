"""The page: figures 2 to 11 of the paper, its thresholds, its calibration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from . import drawing
from .comparing import Tables
from .published import SAME_DISTRIBUTION, TABLE_1

if TYPE_CHECKING:
    from .settings import Settings

# A prediction that is wrong by more is wrong.
_LARGE = 1000

THRESHOLDS: dict[str, str | Column] = {
    "the paper": "{theirs}",
    "sentences": "{n_theirs:,}",
    "relation": "{relation}",
    "their threshold": "{published:.2f}",
    "study": Column("{study:name}"),
    "our sentences": Column("{n_items:,.0f}"),
    "our pairs with p near 0.05": Column("{n_window:.0f}"),
    "our threshold": Column("{threshold:.2f}[ ({low:.2f}–{high:.2f})]", missing="{missing}"),
    "our threshold, scaled": Column("{scaled_threshold:.2f}[ ({scaled_low:.2f}–{scaled_high:.2f})]"),
}


def sections(study: Settings, parts: Mapping[str, Tables], tables: Tables) -> list[Section]:
    """All parts of the page."""
    synthetic = {part.study: parts[part.study] for part in study.synthetic}
    sized = {name: part for name, part in synthetic.items() if drawing.home(part["points"])["n_items"].nunique() > 2}
    abroad = {name: part for name, part in synthetic.items() if len(drawing.at_one_size(part))}
    laid_over = {name: part for name, part in synthetic.items() if "overlay_points" in part}
    figures = {part.study: part.figures for part in study.synthetic}
    return [
        Section(
            "Natural comparisons",
            "Pairs of systems that others made (section 3.1). Tests are two-sided here and one-sided in the paper: a p "
            "of the paper is 2 p here. The table of thresholds of such systems says which of the paper's test sets "
            "each one stands for.",
            figure=Figure("natural", partial(drawing.natural, study, parts)),
        ),
        Section(
            "Comparisons of resampled systems",
            "Pairs of variants of base models on the whole home test set (section 3.2, figures 5 to 8). Same family: "
            "the two systems are variants of one model, trained on different training sets. Lines are running medians. "
            "Bands hold 90 % of the pairs, from the 5th to the 95th percentile. Points are some of the pairs. A title "
            "names the figure of the paper that shows the same task. These studies correspond to figures of the paper: "
            + "; ".join(f"{part.study} to {part.like}" for part in study.synthetic if part.like)
            + ". The paper does not have the tasks of the others.",
            figure=Figure("synthetic", partial(drawing.synthetic, synthetic, figures)),
        ),
        Section(
            "Thresholds",
            "The paper's thresholds and ours: the 95th percentile of the gains of pairs with p near 0.05, which means "
            "0.04 <= p <= 0.06 (section 3.1.1). They are by sentence, one-sided, on whole test sets. Our 95 % "
            "intervals hold for other variants of these families. The last column extrapolates ours to the paper's "
            "number of sentences: ours times sqrt(our sentences / theirs). Test sets, languages and systems are not "
            "the paper's.",
            table=Table(tables["thresholds"], THRESHOLDS),
        ),
        Section(
            "Thresholds of systems that others made",
            "The paper has one threshold of natural comparisons (section 3.1.1). Ours are of all pairs of a test set "
            "with 0.04 <= p <= 0.06. Tests are two-sided here and one-sided in the paper. Fewer than 20 pairs in the "
            "window give no threshold.",
            table=Table(
                tables["natural_thresholds"],
                {
                    "the paper": "{like}",
                    "their threshold": Column("{published:.2f} ({n_published} pairs)"),
                    "study": Column("{study:name}"),
                    "test set": "{test_set:name}, {n_items:,} items, {metric:metric}",
                    "systems": "{n_systems:,}",
                    "pairs with p near 0.05": "{n_window:,.0f}",
                    "our threshold": Column("{threshold:.2f}[ ({low:.2f}–{high:.2f})]", missing="{note}"),
                },
            ),
        ),
        Section(
            "Pairs within a family and across families",
            "Thresholds of both classes at the largest size at which both have intervals, and their ratio. r12 is the "
            "correlation of two systems' item scores; the table has its median on the whole test set. By r12: the "
            "ratio of thresholds that this correlation predicts, sqrt((1 - r12 of the same family) / (1 - r12 of "
            "different families)). Unit: what the test resamples, an item or a cluster of items, such as a document.",
            table=Table(
                tables["families"],
                {
                    "study": "{study:name}",
                    "items": Column("{n_items:,.0f}", missing="too few pairs"),
                    "unit": "{unit}",
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
            "Initial segments of the home test sets, pairs of different families (section 4.1, figures 9 and 10). "
            "Lines, bands and points are as above.",
            figure=Figure("sizes", partial(drawing.sizes, sized, figures)),
        ),
        Section(
            "Domains",
            "Initial segments of equal size of different test sets, pairs of different families (section 4.1, figure "
            "11). Lines are as above. Bands and points are left out where there are many test sets.",
            figure=Figure("domains", partial(drawing.domains, abroad, figures)),
        ),
        Section(
            "Natural systems over resampled ones",
            "Test sets with both kinds of systems (figures 5 and 6). Difference: the confidence of natural pairs minus "
            "the running median of the resampled class at the same gain. Ratio: the gain of natural pairs divided by "
            "the equally significant gain of the class. Intervals (95 %) hold for other such natural systems and other "
            "variants of these families.",
            figure=Figure("overlay", partial(drawing.overlays, laid_over)),
            table=Table(
                tables["overlay"],
                {
                    "study": "{study:name}",
                    "natural systems": "{test_set:name}",
                    "resampled class": "{others_relation}",
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
            "Pairs with 0.04 <= p <= 0.06 on a redrawn test set: the share whose winner is better in the population. "
            f"The paper has {SAME_DISTRIBUTION:.0%} (942 pairs, section 4.2). In brackets: the expected share for "
            "valid tests and normal true gains. Intervals hold for other variants of these families.",
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
            "Other tests",
            "Share of all pairs on the home test set that are significant at 0.05 (two-sided), by the study's own "
            "units. In brackets: the number of pairs on which the test and randomization decide differently. The paper "
            "has the bootstrap only. The sign test looks at signs only, and the last test assumes that the systems are "
            "independent.",
            table=Table(
                tables["by_test"],
                {
                    "study": "{study:name}",
                    "items": "{n_items:,}",
                    "pairs": "{n_pairs:,}",
                    "randomization": "{randomization:.1%}",
                    **{
                        heading: Column(f"{{{test}:.1%}} ({{{test}_other:,.0f}})")
                        for heading, test in {
                            "bootstrap": "bootstrap",
                            "t": "t_paired",
                            "sign flips": "sign_flips",
                            "Wilcoxon": "wilcoxon",
                            "sign": "sign",
                            "z of independent systems": "z_independent",
                        }.items()
                    },
                },
            ),
        ),
        Section(
            "How p follows from gain, size and correlation",
            "How well simple predictors explain the one-sided p of a pair, over all sizes of the home test set: the "
            "gain, the number of items n, the relation of the two systems (same family or not), and their r12. A cell "
            "has the explained share of the variance of confidence (1 - p). After it comes a factor: 90 % of the pairs "
            "with 0.001 <= p <= 0.5 have a predicted p within this factor of their p. The model is fitted to pairs "
            "within one half of the variants and judged on pairs within the other half, on the same items. The last "
            "column fits nothing: it is a z test by items on the whole test set, with its standard error scaled by the "
            "square root of n (Yeh 2000, section 2.1).",
            table=Table(
                _readable(tables["confidence_models"]),
                {
                    "study": "{study:name}",
                    "pairs": "{n_pairs:,.0f}",
                    **{
                        given: Column(f"{{{given}:.1%}}, {{factor {given}}}")
                        for given in map(str, tables["confidence_models"])
                        if f"factor {given}" in tables["confidence_models"]
                    },
                },
            ),
        ),
        Section(
            "Training sets and test sets",
            "Pairs of systems that differ by their training set alone: one model, one size. Significant: the share of "
            "these pairs with p <= 0.05 (two-sided). Gain / error: the gain over its standard error on these items. "
            "The last two columns are about systems of two models. Their gain must be so many times larger to be "
            "significant for the models, not for these two systems alone: with a training set for each, or with one "
            "for both. Intervals (95 %) hold for other training sets, if there are five or more of a size. Reimers "
            "and Gurevych (2018) found up to 26 % significant pairs of runs with other seeds.",
            table=Table(
                tables["training"],
                {
                    "study": "{study:name}",
                    "training items": "{train_size:,}",
                    "pairs": "{n_pairs:,}",
                    "significant": Column("{share:.0%}[ ({share_low:.0%}–{share_high:.0%})]"),
                    "gain / error": Column("{ratio:.2f}[ ({ratio_low:.2f}–{ratio_high:.2f})]"),
                    "two models, own sets": Column("{ratio_own:.2f}[ ({ratio_own_low:.2f}–{ratio_own_high:.2f})]"),
                    "one set for both": Column("{ratio_shared:.2f}[ ({ratio_shared_low:.2f}–{ratio_shared_high:.2f})]"),
                },
            ),
        ),
        Section(
            "Table 1 of the paper",
            "Percent of pairs whose winner on section 23 also wins on other test sets, by p on section 23. For 0.04 <= "
            "p <= 0.06 (58 pairs), section 4.2 has 83, 71 and 48 %.",
            table=Table(
                TABLE_1,
                {"p": "{p_from:g} – {p_to:g}"}
                | {name: f"{{{name}}} %" for name in TABLE_1.columns if name not in ("p_from", "p_to")},
            ),
        ),
        Section(
            "Calibration across domains",
            "The same for our studies (section 4.2): of the pairs with 0.04 <= p <= 0.06 on the home test set, the "
            "share whose winner also wins elsewhere. Intervals (95 %) hold for other variants of these families. "
            "Baseline: that share between two halves of the home test set, with half as many items as there are "
            "elsewhere. If a half has fewer (marked *), the baseline is too low. Expected: the share for valid tests "
            "and normal true gains without an effect of the domain.",
            table=Table(
                _marked(tables["across_domains"]),
                {
                    "study": "{study:name}",
                    "home": "{test_set:name}",
                    "elsewhere": "{elsewhere:name}",
                    "pairs": "{n_pairs:,}",
                    "share": Column("{share:.0%}, {low:.0%}–{high:.0%}", missing="too few pairs"),
                    "baseline (halves at home)": Column("{baseline:.0%} ({n_items_baseline:,.0f} items){mark}"),
                    "expected": "{expected:.0%}",
                },
            ),
        ),
        Section(
            "How small must p be?",
            "The largest p below which at least 90 % of the winners at home also win elsewhere, in every bin of "
            "p-values. Never: the share is smaller even in the lowest bin, which ends at 0.00125, as in the paper. The "
            "last column has the share in the lowest bin with its 95 % interval. In brackets: the baseline, as above.",
            table=Table(
                _marked(tables["small_enough"]),
                {
                    "study": "{study:name}",
                    "home": "{test_set:name}",
                    "elsewhere": "{elsewhere:name}",
                    "p below": Column("{p:g}", missing="never"),
                    "lowest bin": "p < {lowest_to:g}, {n_pairs:,} pairs",
                    "share there": Column("{lowest:.1%}, {low:.0%}–{high:.0%}[ ({baseline:.0%}{mark})]"),
                },
            ),
        ),
    ]


def _marked(table: pd.DataFrame) -> pd.DataFrame:
    """The same rows; a CSV file has nothing where there is no mark, and a missing value would hide the baseline."""
    return table.assign(mark=table["mark"].astype(object).fillna(""))


def _readable(models: pd.DataFrame) -> pd.DataFrame:
    """The same rows, with factors as text: of a factor of millions, no more than its order matters."""
    shown = models.copy()
    for name in [name for name in map(str, models) if name.startswith("factor ")]:
        shown[name] = pd.Series([_factor(value) for value in models[name]], index=models.index, dtype=object)
    return shown


def _factor(value: float) -> str | None:
    """A factor with three digits; nothing where it is missing."""
    return None if pd.isna(value) else f"{value:.3g}" if value < _LARGE else f"over {_LARGE:,}"
