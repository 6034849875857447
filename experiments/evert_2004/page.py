"""What the page shows: its figures, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

import simstudy as ss
from simstudy.pages.sections import Column, Figure, Section, Table

from .claims import PAIR, RANKINGS
from .drawing import by_length, spread

if TYPE_CHECKING:
    from .settings import Settings

CLOSING = (
    "Precisions are fractions in the tables and percentages in figures. All p-values are two-sided. None is corrected "
    "for the number of pairs; p_holm and p_bh of differences.csv, and share_holm and share_bh of pairs.csv, are "
    "corrected for the number of lengths n of one pair. curves.csv and differences.csv have every fifth n."
)
INTERVAL_CELL = "{{{0}:{1}}} ({{{0}_low:{1}}} – {{{0}_high:{1}}})"
SHARES = {
    "missed": "95 % intervals that miss",
    "dispersion": "dispersion test rejects",
    "ks": "Kolmogorov rejects",
    "missed_test": "test of misses rejects",
    "fisher": "Fisher rejects equal rankings",
}
CLAIMED = {"§": "{section}", "claim": "{claim}", "the paper": "{paper}", "here": "{here}", "holds?": "{holds}"}
COMPARED: dict[str, str | Column] = {
    "pair": "{ranking_1:words} / {ranking_2:words}",
    "mostly better": "{better:words} ({ahead:.0%})",
    "p <= 0.05": "{share:.0%}",
    "by Holm": "{share_holm:.0%}",
    "by BH": "{share_bh:.0%}",
    "from n": Column("{n_first:,}", missing="–"),
    "to n": Column("{n_last:,}", missing="–"),
}
TESTED = {
    "test": "{test}",
    "significant": "{n_rejected:,} of {n_pairs:,}",
    "rejects alone": "{only_test:,}",
    "only Fisher's rejects": "{only_reference:,}",
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
    "p of so many": "{missed_p:.2g}",
}
SIMULATED = {
    "clusters of": "{cluster_size}",
    "correlation": "{within:g}",
    "s / sigma": "{ratio:.2f} +- {ratio_sd:.2f}",
    **{words: INTERVAL_CELL.format(name, ".1%") for name, words in SHARES.items()},
}


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """The whole page, in the paper's order."""
    pair = " and ".join(PAIR).replace("_", " ")
    parts, simulated, range_of_n = study.parts, study.simulated, f"{study.figures.n_from} to {study.figures.n_to:,}"

    def curves(rankings: Sequence[str], differences: pd.DataFrame | None = None, *, intervals: bool = False) -> Any:
        rows = tables["curves"][tables["curves"]["ranking"].isin(rankings)]
        drawn: dict[str, Any] = {"intervals": intervals, "alpha": study.alpha, "among": list(RANKINGS)}
        return ss.plot.single(ss.plot.precision_curve, rows, differences, width=5.8, height=3.7, **drawn)

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
            "Each sentence about the figures, and each number of section 4 that follows from others.",
            table=Table(tables["claims"], CLAIMED),
        ),
        Section(
            "Figure 1: precision of n-best lists",
            "Candidates ranked by four association measures; the baseline is a random selection.",
            figure=Figure("figure_1", lambda: curves(RANKINGS)),
        ),
        Section(
            "Figure 2: binomial intervals",
            "95 % Clopper-Pearson intervals of the average precision (section 3.2), for each n by itself.",
            figure=Figure("figure_2", lambda: curves(PAIR, intervals=True)),
        ),
        Section(
            "Figure 3: significant differences",
            f"Triangles: {pair} differ significantly by Fisher's exact test of the difference regions (section 3.3), "
            f"two-sided at {study.alpha:g}. The line: up to there for all n.",
            figure=Figure("figure_3", lambda: curves(PAIR, tables["differences"])),
        ),
        Section(
            "All pairs of rankings",
            f"The share of the lengths from {range_of_n} at which a pair differs significantly: uncorrected, and "
            "corrected for the number of lengths (Holm; Benjamini and Hochberg).",
            table=Table(compared.assign(better=better, ahead=ahead), COMPARED),
        ),
        Section(
            "The same precision by other tests",
            f"p-values of {pair}. Bootstrap and randomization vary the precision over all accepted candidates. "
            "Fisher's test looks at the candidates that only one of the two accepts. Chi-square takes the two lists "
            "as independent samples, as Krenn (2000) did.",
            figure=Figure("tests", lambda: by_length(tables["tests_of_pair"], pair, study.alpha)),
        ),
        Section(
            "All pairs by all tests",
            f"How many of the {tables['tests']['n_pairs'].iloc[0]} pairs, over all lengths, are significant by each "
            f"test at {study.alpha:g}, and on how many the test decides differently from Fisher's test.",
            table=Table(tested.reset_index(), TESTED),
        ),
        Section(
            "Section 4 on parts of a corpus",
            "Verb + particle or preposition pairs of disjoint parts of the Brown corpus, frequency at least "
            f"{parts.floor}; true where at least half of a pair's tokens are particles. Thresholds accept "
            f"{parts.share_accepted:.0%} of the candidates on average. Contiguous parts are of different genres; "
            "documents dealt out one by one give every part the same mixture. s is the observed standard deviation "
            "of precision, sigma the binomial's (equation 4). Histograms: the cut into fewest parts.",
            figure=Figure("figure_4", lambda: spread(tables, parts)),
            table=Table(tables["check"], CHECKED),
        ),
        Section(
            "Section 4 where truth is known",
            f"{simulated.n_experiments} experiments of {simulated.n_sets} evaluations each, about "
            f"{simulated.n_accepted} of {simulated.n_candidates:,} candidates accepted. Candidates come in clusters "
            "(of one verb, say) whose truth and scores correlate. With clusters of 1 the model of section 3.1 is "
            "true, at correlation 0 the binomial (equation 2). Shares with 95 % intervals.",
            table=Table(tables["simulated"], SIMULATED),
        ),
    ]
