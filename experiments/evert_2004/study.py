"""Evert 2004: figures 1 - 3 and every sentence about them, and section 4 on parts of a corpus and simulated candidates.

Stefan Evert, "Significance tests for the evaluation of ranking methods", COLING 2004.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import simstudy as ss
from simstudy.files import datasets
from simstudy.pages.sections import Table
from simstudy.studies import (
    Comparison,
    Findings,
    Problems,
    RunContext,
    ShippedTables,
    Shown,
    StudyError,
    check_comparison,
    run_comparisons,
)
from simstudy_learners.tagged import read_tagged

from .claims import PAIR, RANKINGS, claims, up_to
from .n_best_lists import precision_curve, ranking_differences
from .page import CLAIMED, CLOSING, sections
from .section_4 import parts_of_corpus, simulated_check
from .settings import Beside, Settings

KRENN, BROWN = "colloc_krenn/KrennPPV.rda", "nltk/brown.zip"

# The columns of Krenn's data -> our names of the same association measures.
COLUMNS = {
    **{"log.like": "log_likelihood", "chisq": "chi_squared", "chisq.corr": "chi_squared_yates", "t.score": "t_score"},
    **{"z.score": "z_score", "MI": "mi", "Dice": "dice", "Fisher": "fisher", "freq": "frequency"},
}

# Tables and figures have every so many lengths of n-best lists; claims look at all.
STEP = 5


def run(study: Settings, context: RunContext) -> Findings:
    """Draw the paper's figures, check its sentences, and do its section 4 again."""
    with context.clock("data"):
        at = datasets.fetch_each((KRENN, BROWN), context.data_dir)
        candidates = krenn_candidates(at[KRENN], study.seed)
        documents = read_tagged(at[BROWN])
    check(study, candidates, len(documents))
    with context.clock("figures 1 - 3"):
        lengths = range(study.figures.n_from, study.figures.n_to + 1)
        curves = precision_curve(candidates, lengths)
        differences = ranking_differences(candidates, lengths)
        ties = tie_seeds(candidates, study)
        tables = {
            "claims": claims(curves[curves["ranking"].isin(RANKINGS)], differences, ties, study.alpha),
            "curves": every_so_many(curves),
            "differences": every_so_many(of_pair(differences, "ranking_1", "ranking_2")),
            "pairs": shares(differences, study.alpha),
            "ties": ties,
        }
    with context.clock("tests by length"):
        pairs = tests_by_length(candidates, study, context)
        tables["tests"] = beside_fisher(pairs, study)
        columns = ["n", "test", "system_a", "score_a", "score_b", "gain", "p_value", "p_low", "p_high", "computation"]
        chosen = of_pair(pairs, "system_a", "system_b")[columns]
        tables["tests_of_pair"] = chosen.sort_values(["n", "test"]).reset_index(drop=True)
    with context.clock("parts of a corpus"):
        tables |= parts_of_corpus(documents, study.parts, study.seed)
    with context.clock("simulated evaluations"):
        tables["simulated"] = simulated_check(study.simulated, study.alpha, study.seed, context)
    return Findings(
        tables=tables,
        facts={
            "Candidates": f"{candidates.n_candidates:,} PP-verb pairs, {int(candidates.true.sum())} true, "
            f"{len(candidates.names)} rankings",
            "Parts": f"{sum(len(document.sentences) for document in documents):,} sentences of the Brown corpus, "
            f"{len(documents)} documents",
            "Ties": f"broken at random, seed {study.seed}",
            "Seed": str(study.seed),
        },
        data={"files": {name: datasets.registry()[name].sha256 for name in (KRENN, BROWN)}},
        comparisons=pairs,
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(
        sections=sections(tables, study),
        closing=CLOSING,
        summary={"What the paper says, and what comes out": Table(tables["claims"], CLAIMED)},
    )


def check(study: Settings, candidates: ss.rankings.Candidates, n_documents: int) -> None:
    """Raise a StudyError that says all that cannot be done with these candidates and documents."""
    problems = Problems(study.name)
    longest = max(study.figures.n_to, *study.tests.lengths)
    if longest > candidates.n_candidates:
        problems.add("figures.n_to, tests.lengths", f"must be at most {candidates.n_candidates}, not {longest}")
    else:
        for n in study.tests.lengths:
            for test in study.tests.tests:
                with problems.at(f"tests.tests (n = {n})"):
                    check_comparison(comparison(test, study.tests).on(candidates.outputs(n), study.seed))
    if (most := max(study.parts.n_parts)) > n_documents:
        problems.add("parts.n_parts", f"must be at most {n_documents}, the number of documents, not {most}")
    problems.raise_any()


# Figures 1 - 3


def krenn_candidates(path: Path, seed: int = 0) -> ss.rankings.Candidates:
    """The candidates of section 1: PP-verb pairs with f >= 30 in the Frankfurter Rundschau Corpus.

    Krenn (2000) says which of them are collocations. The scores are those that Evert stored with the candidates (his R
    package corpora), rounded: chi-squared to whole numbers, so that candidates tie which did not tie in the paper.
    Log-likelihood and the chi-squareds are negative where a pair is rarer than by chance, mi and fisher are base-10
    logarithms, fisher of 1 / p: of every measure higher is better. Ids are such as "in:Jahr abbauen".
    """
    try:
        import pyreadr
    except ImportError:
        raise StudyError("the study of Evert 2004 needs pyreadr to read R's data: pip install 'simstudy[r]'") from None
    frame = pyreadr.read_r(str(path))["KrennPPV"]
    scores = frame[list(COLUMNS)].rename(columns=COLUMNS)
    scores.index = frame["PP"].astype(str) + " " + frame["verb"].astype(str)
    return ss.rankings.Candidates.from_scores(
        scores, frame["is.colloc"].to_numpy(), seed=seed, test_set="PP-verb pairs"
    )


def every_so_many(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that tables and figures have."""
    return table[table["n"] % STEP == 0].reset_index(drop=True)


def of_pair(table: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """The rows of the pair of figures 2 and 3, whose names are in these two columns."""
    return table[table[[one, other]].isin(PAIR).all(axis=1)]


def tie_seeds(candidates: ss.rankings.Candidates, study: Settings) -> pd.DataFrame:
    """Up to which n the pair of figure 3 differs significantly, for many ways to break ties and with ties kept."""
    scores = pd.DataFrame(candidates.scores.T, candidates.ids, candidates.names)[list(PAIR)]
    lengths = range(study.figures.n_from, study.figures.n_to + 1)
    rows = []
    for ties, seed in [*(("jitter", study.seed + k) for k in range(study.figures.n_seeds)), ("keep", study.seed)]:
        pair = ss.rankings.Candidates.from_scores(scores, candidates.true, ties=ties, seed=seed)
        table = ranking_differences(pair, lengths).set_index("n")
        significant = table["p_value"] <= study.alpha
        rows.append({"ties": ties, "seed": seed, "significant_up_to": up_to(significant), "share": significant.mean()})
    return pd.DataFrame(rows)


def shares(differences: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """For each pair of rankings, for what share of the lengths it differs significantly, and which is better."""
    rows = []
    for (one, other), table in differences.groupby(["ranking_1", "ranking_2"], sort=False):
        significant = table[["p_value", "p_holm", "p_bh"]] <= alpha
        share, share_holm, share_bh = significant.mean()
        lengths = table.loc[significant["p_value"], "n"]
        rows.append(
            {
                "ranking_1": one,
                "ranking_2": other,
                "share_1_better": (table["better"] == one).mean(),
                "share": share,
                "share_holm": share_holm,
                "share_bh": share_bh,
                "n_first": lengths.min(),
                "n_last": lengths.max(),
            }
        )
    return pd.DataFrame(rows).astype({"n_first": "Int64", "n_last": "Int64"})


# Tests by length


def tests_by_length(candidates: ss.rankings.Candidates, study: Settings, context: RunContext) -> pd.DataFrame:
    """Comparisons of all rankings by every test at every length, which is column ``n``."""
    asked = [(n, test) for n in study.tests.lengths for test in study.tests.tests]
    compared = run_comparisons(
        "tests by length",
        [comparison(test, study.tests).on(candidates.outputs(n), study.seed) for n, test in asked],
        context,
    )
    return pd.concat([t.assign(n=n) for t, (n, _) in zip(compared, asked, strict=True)], ignore_index=True)


def comparison(test: str, settings: Beside) -> Comparison:
    """How pairs are tested: two-sided, for nobody said beforehand which ranking should be better (section 3.3)."""
    drawn = settings.n_resamples if ss.TESTS[test].n_resamples else None
    return Comparison(test=test, alternative="two-sided", n_resamples=drawn, monte_carlo=test == "bootstrap")


def beside_fisher(pairs: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """How each test decides beside Fisher's, over all pairs, for each length."""
    kept = ["test", "n_pairs", "n_rejected", "only_test", "only_reference", "median_ratio"]
    tables = {
        n: ss.comparisons.agreement(of_length, alpha=study.alpha, reference="fisher", seed=study.seed)[kept]
        for n, of_length in pairs.groupby("n", sort=True)
    }
    return pd.concat(tables, names=["n"]).reset_index("n").reset_index(drop=True)
