"""The page of the study of Evert 2004: which rows of its tables are printed, and what is said of them."""

from __future__ import annotations

import pandas as pd

from simstudy.figures.rankings import in_words
from simstudy.report import Section, Tables
from simstudy.studies.evert_2004.definition import PAIR, Evert2004

CLOSING = (
    "Precisions are fractions in the tables and percentages in figures. All p-values are two-sided. None is corrected "
    "for the number of pairs; p_holm and p_bh of differences.csv, and share_holm and share_bh of pairs.csv, are "
    "corrected for the number of lengths n of one pair. curves.csv and differences.csv have every fifth n."
)


def sections(tables: Tables, study: Evert2004) -> list[Section]:
    """The whole page, in the paper's order."""
    pair = " and ".join(map(in_words, PAIR))
    range_of_n = f"{study.figures.n_from} to {study.figures.n_to:,}"
    parts, simulated = study.parts, study.simulated
    return [
        Section(
            "What the paper says, and what comes out",
            "Each sentence about the figures, and each number of section 4 that follows from others.",
            table=claim_rows(tables["claims"]),
        ),
        Section(
            "Figure 1: precision of n-best lists",
            "Candidates ranked by four association measures; the baseline is a random selection.",
            "figure_1",
        ),
        Section(
            "Figure 2: binomial intervals",
            "95 % Clopper-Pearson intervals of the average precision (section 3.2), for each n by itself.",
            "figure_2",
        ),
        Section(
            "Figure 3: significant differences",
            f"Triangles: {pair} differ significantly by Fisher's exact test of the difference regions (section 3.3), "
            f"two-sided at {study.alpha:g}. The line: up to there for all n.",
            "figure_3",
        ),
        Section(
            "All pairs of rankings",
            f"For what share of the lengths from {range_of_n} a pair differs significantly: as it is, and corrected "
            "for the number of lengths (Holm; Benjamini and Hochberg).",
            table=_pair_rows(tables["pairs"]),
        ),
        Section(
            "The same precision by other tests",
            f"p-values of {pair}. Bootstrap and randomization ask how precision over all accepted candidates varies, "
            "Fisher's test looks at the candidates that only one of the two accepts. Chi-square takes the two lists to "
            "be independent samples, as Krenn (2000) did.",
            "tests",
        ),
        Section(
            "All pairs by all tests",
            f"How many of the {tables['tests']['n_pairs'].iloc[0]} pairs, over all lengths, each test tells apart at "
            f"{study.alpha:g}, and on how many it decides other than Fisher's test.",
            table=_test_rows(tables["tests"]),
        ),
        Section(
            "Section 4 on parts of a corpus",
            "Verb + particle or preposition pairs of disjoint parts of the Brown corpus, frequency at least "
            f"{parts.floor}; true where at least half of a pair's tokens are particles. Thresholds accept "
            f"{parts.share_accepted:.0%} of the candidates on average. Contiguous parts are of different genres; "
            "documents dealt out one by one give every part the same mixture. s is the observed standard deviation "
            "of precision, sigma the binomial's (equation 4). Histograms: the cut into fewest parts.",
            "figure_4",
            _check_rows(tables["check"]),
        ),
        Section(
            "Section 4 where truth is known",
            f"{simulated.n_experiments} experiments of {simulated.n_sets} evaluations each, about "
            f"{simulated.n_accepted} of {simulated.n_candidates:,} candidates accepted. Candidates come in clusters "
            "(of one verb, say) whose truth and scores correlate. With clusters of 1 the model of section 3.1 is "
            "true, at correlation 0 the binomial (equation 2). Shares with 95 % intervals.",
            table=_simulated_rows(tables["simulated"]),
        ),
    ]


def claim_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The claims, as text."""
    return table.rename(columns={"section": "§", "paper": "the paper", "holds": "holds?"})


def _pair_rows(table: pd.DataFrame) -> pd.DataFrame:
    better = table["ranking_1"].map(in_words).where(table["share_1_better"] >= 0.5, table["ranking_2"].map(in_words))
    ahead = table["share_1_better"].where(table["share_1_better"] >= 0.5, 1 - table["share_1_better"])
    return pd.DataFrame(
        {
            "pair": table["ranking_1"].map(in_words) + " / " + table["ranking_2"].map(in_words),
            "mostly better": better + " (" + ahead.map("{:.0%}".format) + ")",
            "p <= 0.05": table["share"].map("{:.0%}".format),
            "by Holm": table["share_holm"].map("{:.0%}".format),
            "by BH": table["share_bh"].map("{:.0%}".format),
            "from n": table["n_first"].map("{:,}".format, na_action="ignore").astype(object).fillna("–"),
            "to n": table["n_last"].map("{:,}".format, na_action="ignore").astype(object).fillna("–"),
        }
    )


def _test_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Over all lengths, and how that splits."""
    whole = table.groupby("test", sort=False)[["n_pairs", "n_rejected", "only_test", "only_reference"]].sum()
    ratio = table.groupby("test", sort=False)["median_ratio"].median()
    return pd.DataFrame(
        {
            "test": whole.index,
            "tells apart": whole["n_rejected"].map("{:,}".format) + " of " + whole["n_pairs"].map("{:,}".format),
            "rejects alone": whole["only_test"].map("{:,}".format),
            "only Fisher's rejects": whole["only_reference"].map("{:,}".format),
            "p / Fisher's p": ratio.map("{:.2f}".format),
        }
    )


def _check_rows(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "parts": table["n_parts"].astype(str) + " " + table["arrangement"],
            "ranking": table["ranking"].map(in_words),
            "accepted": table["mean_accepted"].map("{:.0f}".format),
            "precision": table["average_precision"].map("{:.1%}".format),
            "s": table["sd_observed"].map("{:.3f}".format),
            "sigma": table["sd_binomial"].map("{:.3f}".format),
            "s / sigma": _with_interval(table, "ratio"),
            "Kolmogorov p": table["ks_p"].map("{:.2g}".format),
            "dispersion p": table["dispersion_p"].map("{:.2g}".format),
            "intervals that miss": table["n_missed"].astype(str) + " of " + table["n_sets"].astype(str),
            "p of so many": table["missed_p"].map("{:.2g}".format),
        }
    )


def _simulated_rows(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "clusters of": table["cluster_size"].astype(str),
            "correlation": table["within"].map("{:g}".format),
            "s / sigma": table["ratio"].map("{:.2f}".format) + " +- " + table["ratio_sd"].map("{:.2f}".format),
            **{
                words: _with_interval(table, name)
                for name, words in (
                    ("missed", "95 % intervals that miss"),
                    ("dispersion", "dispersion test rejects"),
                    ("ks", "Kolmogorov rejects"),
                    ("missed_test", "test of misses rejects"),
                    ("fisher", "Fisher tells equals apart"),
                )
            },
        }
    )


def _with_interval(table: pd.DataFrame, name: str) -> pd.Series[str]:
    form = "{:.2f}".format if name == "ratio" else "{:.1%}".format
    return table[name].map(form) + " (" + table[f"{name}_low"].map(form) + " – " + table[f"{name}_high"].map(form) + ")"
