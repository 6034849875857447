"""The page: figures 2 to 11 of the paper, its thresholds, its calibration."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from simstudy.pages.sections import Column, Figure, Section, Table

from . import drawing
from .comparing import Tables
from .published import SAME_DISTRIBUTION, TABLE_1

if TYPE_CHECKING:
    from .settings import Settings

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
    sized = {name: part for name, part in synthetic.items() if drawing.home(part["points"])["n_items"].nunique() > 2}
    abroad = {name: part for name, part in synthetic.items() if len(drawing.at_one_size(part))}
    laid_over = {name: part for name, part in synthetic.items() if "overlay_points" in part}
    figures = {part.study: part.figures for part in study.synthetic}
    return [
        Section(
            "Natural comparisons",
            "Pairs of systems that others made (section 3.1). Tests are two-sided here and one-sided in the paper: its "
            "p is 2 p here. "
            + "; ".join(f"{part.study}, {part.test_set}, stands beside {part.like}" for part in study.natural)
            + ".",
            figure=Figure("natural", partial(drawing.natural, study, parts)),
        ),
        Section(
            "Comparisons of resampled systems",
            "Pairs of variants of base models on the whole home test set, one-sided; lines are running medians "
            "(section 3.2, figures 5 to 8; a title names the figure of the paper that shows the same task). "
            + "; ".join(f"{part.study} stands beside {part.like}" for part in study.synthetic if part.like)
            + ". The others are tasks that the paper does not have.",
            figure=Figure("synthetic", partial(drawing.synthetic, synthetic, figures)),
        ),
        Section(
            "Thresholds",
            "The paper's thresholds and ours (section 3.1.1): by sentence, one-sided, on whole test sets, with "
            "95 % intervals for other variants of these families. The last column extrapolates ours to the paper's "
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
                    "theirs": Column("{published:.2f} ({n_published} pairs)"),
                    "study": Column("{study:name}"),
                    "test set": "{test_set:name}, {n_items:,} items, {metric:metric}",
                    "systems": "{n_systems:,}",
                    "pairs near p = 0.05": "{n_window:,.0f}",
                    "ours": Column("{threshold:.2f}[ ({low:.2f}–{high:.2f})]", missing="{note}"),
                },
            ),
        ),
        Section(
            "Pairs within a family and across families",
            "Thresholds of both classes at the largest size at which both have intervals, and their ratio. By r12: the "
            "ratio that correlation predicts, sqrt((1 - r12) of the same family / (1 - r12) of different families), "
            "with the median r12 on the whole test set.",
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
            "Initial segments of the home test sets, pairs of different families (section 4.1, figures 9 and 10).",
            figure=Figure("sizes", partial(drawing.sizes, sized, figures)),
        ),
        Section(
            "Domains",
            "Initial segments of equal size of different test sets, pairs of different families (section 4.1, figure "
            "11).",
            figure=Figure("domains", partial(drawing.domains, abroad, figures)),
        ),
        Section(
            "Natural systems over resampled ones",
            "Test sets with both kinds of systems (figures 5 and 6). Difference: the confidence of natural pairs minus "
            "the running median of the resampled class at the same gain. Ratio: the gain of natural pairs over the "
            "equally significant gain of the class. Intervals (95 %) hold for other such natural systems and other "
            "variants of these families.",
            figure=Figure("overlay", partial(drawing.overlays, laid_over)),
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
            "gain, the number of items n, the relation of the two systems, and their r12. A cell has the explained "
            "share of the variance of confidence. After it comes the factor within which 90 % of the pairs with "
            "0.001 <= p <= 0.5 are predicted. The model is fitted to pairs within one half of the variants and judged "
            "on pairs within the other half, on the same items. The last column fits nothing: it is a z test by items "
            "on the whole test set, with its standard error scaled by the square root of n (Yeh 2000, section 2.1).",
            table=Table(
                tables["confidence_models"],
                {
                    "study": "{study:name}",
                    "pairs": "{n_pairs:,.0f}",
                    **{
                        given: Column(f"{{{given}:.1%}}, {{factor {given}:.3g}}")
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
            "Percent of pairs whose winner on section 23 also wins on other test sets, by p on section 23.",
            table=Table(
                TABLE_1,
                {"p": "{p_from:g} – {p_to:g}"}
                | {name: f"{{{name}}} %" for name in TABLE_1.columns if name not in ("p_from", "p_to")},
            ),
        ),
        Section(
            "Calibration across domains",
            "The same for our studies (section 4.2): of the pairs with 0.04 <= p <= 0.06 on the home test set, the "
            "share whose winner also wins elsewhere. By halves: that share between two halves of the home population, "
            "with half as many items as there are elsewhere. If the home population has fewer (marked *), this share "
            "is too low. Expected: the share for normal true gains without an effect of the domain.",
            table=Table(
                tables["across_domains"],
                {
                    "study": "{study:name}",
                    "home": "{test_set:name}",
                    "elsewhere": "{elsewhere:name}",
                    "pairs": "{n_pairs:,}",
                    "share": Column("{share:.0%}, {low:.0%}–{high:.0%}", missing="too few pairs"),
                    "at home, by halves": Column("{baseline:.0%} ({n_items_baseline:,.0f} items){mark}"),
                    "expected": "{expected:.0%}",
                },
            ),
        ),
        Section(
            "How small must p be?",
            "The largest p below which at least 90 % of the winners at home also win elsewhere, in every bin of "
            "p-values. The last column has the share in the lowest bin with its interval. In brackets: the share "
            "between halves of the home population, as above. The lowest bin ends at 0.00125, as in the paper.",
            table=Table(
                tables["small_enough"],
                {
                    "study": "{study:name}",
                    "home": "{test_set:name}",
                    "elsewhere": "{elsewhere:name}",
                    "p below": Column("{p:g}", missing="never"),
                    "lowest bin": "p < {lowest_to:g}, {n_pairs:,} pairs",
                    "share there": Column("{lowest:.0%}, {low:.0%}–{high:.0%}[ ({baseline:.0%}{mark})]"),
                },
            ),
        ),
    ]
