"""The page of the study of Evert 2004: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from simstudy import figures
from simstudy.plain_text import in_words
from simstudy.sections import Column, Figure, Section, Table
from simstudy.studies.evert_2004.definition import PAIR, RANKINGS, Evert2004

CLOSING = (
    "Precisions are fractions in the tables and percentages in figures. All p-values are two-sided. None is corrected "
    "for the number of pairs; p_holm and p_bh of differences.csv, and share_holm and share_bh of pairs.csv, are "
    "corrected for the number of lengths n of one pair. curves.csv and differences.csv have every fifth n."
)


def sections(tables: Mapping[str, pd.DataFrame], study: Evert2004) -> list[Section]:
    """The whole page, in the paper's order."""
    pair = " and ".join(map(in_words, PAIR))
    range_of_n = f"{study.figures.n_from} to {study.figures.n_to:,}"
    parts, simulated = study.parts, study.simulated
    return [
        Section(
            "What the paper says, and what comes out",
            "Each sentence about the figures, and each number of section 4 that follows from others.",
            table=claims(tables),
        ),
        Section(
            "Figure 1: precision of n-best lists",
            "Candidates ranked by four association measures; the baseline is a random selection.",
            figure=Figure("figure_1", lambda: _curves(tables, RANKINGS, intervals=False)),
        ),
        Section(
            "Figure 2: binomial intervals",
            "95 % Clopper-Pearson intervals of the average precision (section 3.2), for each n by itself.",
            figure=Figure("figure_2", lambda: _curves(tables, PAIR)),
        ),
        Section(
            "Figure 3: significant differences",
            f"Triangles: {pair} differ significantly by Fisher's exact test of the difference regions (section 3.3), "
            f"two-sided at {study.alpha:g}. The line: up to there for all n.",
            figure=Figure(
                "figure_3",
                lambda: _curves(tables, PAIR, tables["differences"], intervals=False, alpha=study.alpha),
            ),
        ),
        Section(
            "All pairs of rankings",
            f"For what share of the lengths from {range_of_n} a pair differs significantly: as it is, and corrected "
            "for the number of lengths (Holm; Benjamini and Hochberg).",
            table=_pairs(tables["pairs"]),
        ),
        Section(
            "The same precision by other tests",
            f"p-values of {pair}. Bootstrap and randomization ask how precision over all accepted candidates varies, "
            "Fisher's test looks at the candidates that only one of the two accepts. Chi-square takes the two lists to "
            "be independent samples, as Krenn (2000) did.",
            figure=Figure(
                "tests",
                lambda: figures.single(
                    figures.p_values_by_length, tables["tests_of_pair"], title=pair, width=5.6, alpha=study.alpha
                ),
            ),
        ),
        Section(
            "All pairs by all tests",
            f"How many of the {tables['tests']['n_pairs'].iloc[0]} pairs, over all lengths, each test tells apart at "
            f"{study.alpha:g}, and on how many it decides other than Fisher's test.",
            table=_tests(tables["tests"]),
        ),
        Section(
            "Section 4 on parts of a corpus",
            "Verb + particle or preposition pairs of disjoint parts of the Brown corpus, frequency at least "
            f"{parts.floor}; true where at least half of a pair's tokens are particles. Thresholds accept "
            f"{parts.share_accepted:.0%} of the candidates on average. Contiguous parts are of different genres; "
            "documents dealt out one by one give every part the same mixture. s is the observed standard deviation "
            "of precision, sigma the binomial's (equation 4). Histograms: the cut into fewest parts.",
            figure=Figure("figure_4", lambda: _spread(tables, study)),
            table=Table(tables["check"], _CHECK),
        ),
        Section(
            "Section 4 where truth is known",
            f"{simulated.n_experiments} experiments of {simulated.n_sets} evaluations each, about "
            f"{simulated.n_accepted} of {simulated.n_candidates:,} candidates accepted. Candidates come in clusters "
            "(of one verb, say) whose truth and scores correlate. With clusters of 1 the model of section 3.1 is "
            "true, at correlation 0 the binomial (equation 2). Shares with 95 % intervals.",
            table=Table(tables["simulated"], _SIMULATED),
        ),
    ]


def claims(tables: Mapping[str, pd.DataFrame]) -> Table:
    """What the paper says, and what comes out."""
    return Table(
        tables["claims"],
        {"§": "{section}", "claim": "{claim}", "the paper": "{paper}", "here": "{here}", "holds?": "{holds}"},
    )


def _pairs(table: pd.DataFrame) -> Table:
    mostly_1 = table["share_1_better"] >= 0.5
    rows = table.assign(
        better=table["ranking_1"].where(mostly_1, table["ranking_2"]),
        ahead=table["share_1_better"].where(mostly_1, 1 - table["share_1_better"]),
    )
    return Table(
        rows,
        {
            "pair": "{ranking_1:words} / {ranking_2:words}",
            "mostly better": "{better:words} ({ahead:.0%})",
            "p <= 0.05": "{share:.0%}",
            "by Holm": "{share_holm:.0%}",
            "by BH": "{share_bh:.0%}",
            "from n": Column("{n_first:,}", missing="–"),
            "to n": Column("{n_last:,}", missing="–"),
        },
    )


def _tests(table: pd.DataFrame) -> Table:
    """Over all lengths, and how that splits."""
    by_test = table.groupby("test", sort=False)
    counts = by_test[["n_pairs", "n_rejected", "only_test", "only_reference"]].sum()
    return Table(
        counts.assign(ratio=by_test["median_ratio"].median()).reset_index(),
        {
            "test": "{test}",
            "tells apart": "{n_rejected:,} of {n_pairs:,}",
            "rejects alone": "{only_test:,}",
            "only Fisher's rejects": "{only_reference:,}",
            "p / Fisher's p": "{ratio:.2f}",
        },
    )


_CHECK = {
    "parts": "{n_parts} {arrangement}",
    "ranking": "{ranking:words}",
    "accepted": "{mean_accepted:.0f}",
    "precision": "{average_precision:.1%}",
    "s": "{sd_observed:.3f}",
    "sigma": "{sd_binomial:.3f}",
    "s / sigma": "{ratio:.2f} ({ratio_low:.2f} – {ratio_high:.2f})",
    "Kolmogorov p": "{ks_p:.2g}",
    "dispersion p": "{dispersion_p:.2g}",
    "intervals that miss": "{n_missed} of {n_sets}",
    "p of so many": "{missed_p:.2g}",
}

_SIMULATED = {
    "clusters of": "{cluster_size}",
    "correlation": "{within:g}",
    "s / sigma": "{ratio:.2f} +- {ratio_sd:.2f}",
    "95 % intervals that miss": "{missed:.1%} ({missed_low:.1%} – {missed_high:.1%})",
    "dispersion test rejects": "{dispersion:.1%} ({dispersion_low:.1%} – {dispersion_high:.1%})",
    "Kolmogorov rejects": "{ks:.1%} ({ks_low:.1%} – {ks_high:.1%})",
    "test of misses rejects": "{missed_test:.1%} ({missed_test_low:.1%} – {missed_test_high:.1%})",
    "Fisher tells equals apart": "{fisher:.1%} ({fisher_low:.1%} – {fisher_high:.1%})",
}


def _curves(
    tables: Mapping[str, pd.DataFrame],
    rankings: tuple[str, ...],
    differences: pd.DataFrame | None = None,
    **options: Any,
) -> Any:
    rows = tables["curves"][tables["curves"]["ranking"].isin(rankings)]
    return figures.single(
        figures.precision_curve, rows, differences, width=5.8, height=3.7, among=list(RANKINGS), **options
    )


def _spread(tables: Mapping[str, pd.DataFrame], study: Evert2004) -> Any:
    """Histograms as in figure 4, for the coarsest cut: a row for each arrangement, a panel for each ranking."""
    rankings, n_parts = study.parts.rankings, min(study.parts.n_parts)
    panels = [(way, name) for way in study.parts.arrangements for name in rankings]
    titles = [f"{in_words(name)}, {way}" for way, name in panels]
    figure, axes = figures.panels(titles, columns=len(rankings), width=3.4, height=2.7, shared=False)
    for (way, name), ax in zip(panels, axes, strict=True):
        repeated, check = (
            table[(table["arrangement"] == way) & (table["n_parts"] == n_parts)]
            for table in (tables["repetitions"], tables["check"])
        )
        figures.precision_spread(repeated, check, name, ax=ax)
    return figure
