"""What the page shows: its figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .claims import PAIR, RANKINGS
from .drawing import by_length, by_ranking, spread

if TYPE_CHECKING:
    from .settings import Settings

CLOSING = (
    "Precisions are fractions in the CSV files. p-values of pairs of rankings are two-sided. No p-value is corrected "
    "for the number of pairs. p_holm and p_bh of differences.csv, and share_holm and share_bh of pairs.csv, are "
    "corrected for the number of lengths n of one pair. curves.csv and differences.csv have every fifth n."
)
INTERVAL_CELL = "{{{0}:{1}}} ({{{0}_low:{1}}} – {{{0}_high:{1}}})"
SHARES = {
    "missed": "95 % intervals that miss",
    "dispersion": "dispersion test significant",
    "ks": "Kolmogorov's test significant",
    "missed_test": "test of misses significant",
    "fisher": "Fisher's test significant",
}
CLAIMED = {"section": "{section}", "claim": "{claim}", "the paper": "{paper}", "here": "{here}", "holds?": "{holds}"}
COMPARED: dict[str, str | Column] = {
    "pair": "{ranking_1:words} / {ranking_2:words}",
    "better for more n": "{better:words} ({ahead:.0%})",
    "p <= 0.05": "{share:.0%}",
    "Holm": "{share_holm:.0%}",
    "Benjamini-Hochberg": "{share_bh:.0%}",
    "first n": Column("{n_first:,}", missing="–"),
    "last n": Column("{n_last:,}", missing="–"),
}
TESTED = {
    "test": "{test:words}",
    "significant": "{n_rejected:,} of {n_pairs:,}",
    "significant, not by Fisher's": "{only_test:,}",
    "significant only by Fisher's": "{only_reference:,}",
    "p / Fisher's p": "{median_ratio:.2f}",
}
CHECKED = {
    "parts": "{n_parts} {arrangement}",
    "ranking": "{ranking:words}",
    "accepted": "{mean_accepted:.0f}",
    "precision": "{average_precision:.1%}",
    "s": "{sd_observed:.3f}",
    "sigma": "{sd_binomial:.3f}",
    "s / sigma": INTERVAL_CELL.format("ratio", ".2f"),
    "Kolmogorov p": "{ks_p:.2g}",
    "dispersion p": "{dispersion_p:.2g}",
    "intervals that miss": "{n_missed} of {n_sets}",
    "p of misses": "{missed_p:.2g}",
}
SIMULATED = {
    "clusters of": "{cluster_size}",
    "correlation": "{within:g}",
    "s / sigma": "{ratio:.2f} ± {ratio_sd:.2f}",
    **{words: INTERVAL_CELL.format(name, ".1%") for name, words in SHARES.items()},
}


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """The whole page, in the paper's order."""
    pair = " and ".join(PAIR).replace("_", " ")
    parts, simulated, range_of_n = study.parts, study.simulated, f"{study.figures.n_from} to {study.figures.n_to:,}"

    def curves(rankings: Sequence[str], differences: pd.DataFrame | None = None, *, intervals: bool = False) -> Any:
        rows = tables["curves"][tables["curves"]["ranking"].isin(rankings)]
        return by_ranking(rows, differences, intervals=intervals, alpha=study.alpha)

    # Of each pair, the ranking that is the better for more lengths.
    compared = tables["pairs"]
    mostly_1 = compared["share_1_better"] >= 0.5
    better = compared["ranking_1"].where(mostly_1, compared["ranking_2"])
    ahead = compared["share_1_better"].where(mostly_1, 1 - compared["share_1_better"])
    # Over all lengths.
    by_test = tables["tests"].groupby("test", sort=False)
    tested = by_test[["n_pairs", "n_rejected", "only_test", "only_reference"]].sum()
    tested["median_ratio"] = by_test["median_ratio"].median()
    return [
        Section(
            "The paper's claims and our numbers",
            "The paper's sentences about its figures, and the numbers of section 4 that follow from other printed "
            "numbers. Here: the results from our tables, or from the printed numbers. Holds: yes, no, or in part. In "
            "part means for some lengths n only, or less clearly than the paper says. Nothing claimed means that the "
            "paper says too little to be right or wrong. G2 is log likelihood, X2 is "
            "chi squared, t is the t score and f the frequency. s is an observed standard deviation of precision. "
            "Percentages in brackets are shares of the lengths n.",
            table=Table(tables["claims"], CLAIMED),
        ),
        Section(
            "Figure 1: precision of n-best lists",
            "The precision of the n best candidates by four association measures. The baseline is the precision of a "
            "random selection.",
            figure=Figure("figure_1", lambda: curves(RANKINGS)),
        ),
        Section(
            "Figure 2: binomial intervals",
            "Bands are 95 % Clopper-Pearson intervals of the average precision (section 3.2), for each n by itself. "
            "They assume that candidates are independent.",
            figure=Figure("figure_2", lambda: curves(PAIR, intervals=True)),
        ),
        Section(
            "Figure 3: significant differences",
            f"Triangles mark lengths n at which {pair} differ significantly at {study.alpha:g} (two-sided, not "
            "corrected). Only an even choice of lengths is marked. Left of the vertical line they differ at all n. The "
            "test is Fisher's exact test (section 3.3). Its null hypothesis: candidates that only one ranking accepts "
            "are true as often as those that only the other accepts.",
            figure=Figure("figure_3", lambda: curves(PAIR, tables["differences"])),
        ),
        Section(
            "All pairs of rankings",
            "How often two rankings differ significantly by Fisher's test: shares of the lengths n from "
            f"{range_of_n}. The level is {study.alpha:g}, two-sided. The first share is not corrected. The next two "
            "are corrected for the number of lengths. First n and last n: the range of lengths that are significant "
            "without a correction. Better for more n: the ranking with the higher precision at more lengths, and its "
            "share of the lengths. This share contains equal precisions if the ranking is the second of the pair. "
            "Rankings are association measures: mi is mutual information, dice the Dice coefficient, and fisher orders "
            "by the p-value of Fisher's test of association.",
            table=Table(compared.assign(better=better, ahead=ahead), COMPARED),
        ),
        Section(
            "The same precision by other tests",
            f"p-values of {pair} by length n (two-sided, not corrected). The broken line is the level. Bootstrap and "
            "randomization test the precision of all accepted candidates. Fisher's test uses only the candidates "
            "that one of the two rankings accepts. Chi-square assumes that the two lists are independent samples, as "
            "Krenn (2000) did.",
            figure=Figure("tests", lambda: by_length(tables["tests_of_pair"], pair, study.alpha)),
        ),
        Section(
            "All pairs by all tests",
            f"Counts of comparisons: {tables['tests']['n_pairs'].iloc[0]} pairs of rankings at "
            f"{len(study.tests.lengths)} lengths. Significant: p <= {study.alpha:g} (two-sided, not corrected). The "
            "next two columns count the comparisons on which a test and Fisher's test decide differently. The last "
            "column is the ratio of the two p-values: the median over pairs with 0.001 <= p <= 0.5 by Fisher's test, "
            "then over lengths.",
            table=Table(tested.reset_index(), TESTED),
        ),
        Section(
            "Section 4 on parts of a corpus",
            "An evaluation repeated on disjoint parts of the Brown corpus. Candidates are pairs of a verb and a "
            f"particle or preposition, with frequency at least {parts.floor}. A candidate is true if at least half of "
            f"its tokens are particles. Thresholds accept {parts.share_accepted:.0%} of the candidates on average. "
            "Contiguous parts have different genres. Dealt: documents are dealt to the parts in turn, so that all "
            "parts have the same mixture of genres. s is the observed standard deviation of precision, and sigma "
            "that of the binomial model (equation 4). The null hypothesis of all tests is the binomial model. The "
            "dispersion test (Pearson's chi-square) and the p of misses are one-sided: a small p means more "
            "variation than the model has. Kolmogorov's test is two-sided. Intervals that miss: 95 % intervals "
            "without the average precision. The 95 % interval of s / sigma holds for normal precisions. The figure "
            "has the division into fewest parts.",
            figure=Figure("figure_4", lambda: spread(tables, parts)),
            table=Table(tables["check"], CHECKED),
        ),
        Section(
            "Section 4 where truth is known",
            f"{simulated.n_experiments} simulated experiments of {simulated.n_sets} evaluations each. An evaluation "
            f"accepts about {simulated.n_accepted} of {simulated.n_candidates:,} candidates. Candidates come in "
            "clusters, such as those of one verb. Within a cluster, truth and scores have the latent correlation of "
            "the second column. At correlation 0 the binomial model (equation 2) is true. With clusters of 1 the "
            "model of section 3.1 is true, too. s / sigma: mean ± standard deviation over the experiments. Shares "
            "have 95 % intervals. Two are shares of evaluations: intervals that miss the average precision, and "
            "Fisher's test of two equally good rankings. The other shares are of experiments, by tests of the "
            f"binomial model. All tests are at level {study.alpha:g}.",
            table=Table(tables["simulated"], SIMULATED),
        ),
    ]
