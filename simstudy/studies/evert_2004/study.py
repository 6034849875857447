"""The study of Evert 2004: figures 1 - 3 and every claim on the paper's candidates, section 4 on parts of a corpus."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from simstudy.analyses.precision_curves import precision_curve
from simstudy.analyses.ranking_differences import ranking_differences
from simstudy.datasets import fetch_each, registry
from simstudy.loaders.tagged import read_tagged
from simstudy.rankings.candidates import Candidates
from simstudy.studies.evert_2004 import page
from simstudy.studies.evert_2004.claims import claims, up_to
from simstudy.studies.evert_2004.definition import PAIR, RANKINGS, Evert2004
from simstudy.studies.evert_2004.krenn import KRENN, krenn_candidates
from simstudy.studies.evert_2004.tests_by_length import agreement_by_length, check_tests, tests_by_length
from simstudy.studies.evert_2004.validation import parts_of_corpus, simulated_check
from simstudy.studies.findings import Findings, RunContext
from simstudy.studies.problems import Problems

BROWN = "nltk/brown.zip"

# Tables and figures have every so many lengths of n-best lists; claims look at all.
_STEP = 5


def run(study: Evert2004, context: RunContext) -> Findings:
    """Draw the paper's figures, check its sentences, and do its section 4 again."""
    with context.clock("data"):
        at = fetch_each((KRENN, BROWN), context.data_dir)
        candidates = krenn_candidates(context.data_dir, study.seed)
        documents = read_tagged(at[BROWN])
    longest = max(study.figures.n_to, *study.tests.lengths)
    problems = Problems(study.name)
    if longest > candidates.n_candidates:
        problems.add("figures.n_to, tests.lengths", f"must be at most {candidates.n_candidates}, not {longest}")
    else:
        check_tests(candidates, study.tests, problems)
    if max(study.parts.n_parts) > len(documents):
        most = f"must be at most {len(documents)}, the number of documents, not {max(study.parts.n_parts)}"
        problems.add("parts.n_parts", most)
    problems.raise_any()
    tables: dict[str, pd.DataFrame] = {}
    with context.clock("figures 1 - 3"):
        lengths = range(study.figures.n_from, study.figures.n_to + 1)
        curves = precision_curve(candidates, lengths)
        differences = ranking_differences(candidates, lengths, multiplicity=True)
        ties = _tie_seeds(candidates, study)
        shown = curves[curves["ranking"].isin(RANKINGS)]
        tables["claims"] = claims(shown, differences, ties, study)
        tables["curves"] = _every_so_many(curves)
        of_pair = differences[differences[["ranking_1", "ranking_2"]].isin(PAIR).all(axis=1)]
        tables["differences"] = _every_so_many(of_pair)
        tables["pairs"] = _pairs(differences, study.alpha)
        tables["ties"] = ties
    with context.clock("tests by length"):
        pairs = tests_by_length(candidates, study.tests, study.seed, context)
        tables["tests"] = agreement_by_length(pairs, study.alpha, study.seed)
        tables["tests_of_pair"] = _of_pair(pairs)
    with context.clock("parts of a corpus"):
        tables["repetitions"], tables["check"], tables["parts"] = parts_of_corpus(documents, study.parts, study.seed)
    with context.clock("simulated evaluations"):
        tables["simulated"] = simulated_check(study.simulated, study.alpha, study.seed, context)
    return Findings(
        tables,
        page.sections(tables, study),
        {
            "Candidates": f"{candidates.n_candidates:,} PP-verb pairs, {int(candidates.true.sum())} true, "
            f"{len(candidates.names)} rankings",
            "Parts": f"{sum(len(document.sentences) for document in documents):,} sentences of the Brown corpus, "
            f"{len(documents)} documents",
            "Ties": f"broken at random, seed {study.seed}",
            "Seed": str(study.seed),
        },
        page.CLOSING,
        {"What the paper says, and what comes out": page.claims(tables)},
        {"files": {name: registry()[name].sha256 for name in (KRENN, BROWN)}},
        comparisons=pairs,
    )


def _every_so_many(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["n"] % _STEP == 0].reset_index(drop=True)


def _tie_seeds(candidates: Candidates, study: Evert2004) -> pd.DataFrame:
    """Up to which n the pair of figure 3 differs significantly, for many ways to break ties and with ties kept."""
    pair = candidates.select(PAIR)
    lengths = range(study.figures.n_from, study.figures.n_to + 1)
    rows = []
    for ties, seed in [*(("jitter", study.seed + k) for k in range(study.figures.n_seeds)), ("keep", study.seed)]:
        table = ranking_differences(replace(pair, ties=ties, seed=seed), lengths).set_index("n")
        significant = table["p_value"] <= study.alpha
        rows.append({"ties": ties, "seed": seed, "significant_up_to": up_to(significant), "share": significant.mean()})
    return pd.DataFrame(rows)


def _pairs(differences: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """For each pair of rankings, for what share of the lengths it differs significantly, and which is better."""
    rows = []
    for (one, other), table in differences.groupby(["ranking_1", "ranking_2"], sort=False):
        row = {"ranking_1": one, "ranking_2": other, "share_1_better": (table["better"] == one).mean()}
        for name, column in (("share", "p_value"), ("share_holm", "p_holm"), ("share_bh", "p_bh")):
            row[name] = (table[column] <= alpha).mean()
        significant = table[table["p_value"] <= alpha]
        row["n_first"], row["n_last"] = significant["n"].min(), significant["n"].max()
        rows.append(row)
    return pd.DataFrame(rows).astype({"n_first": "Int64", "n_last": "Int64"})


def _of_pair(pairs: pd.DataFrame) -> pd.DataFrame:
    chosen = pairs[pairs[["system_a", "system_b"]].isin(PAIR).all(axis=1)]
    columns = ["n", "test", "system_a", "score_a", "score_b", "gain", "p_value", "p_low", "p_high", "exact"]
    return chosen[columns].sort_values(["n", "test"]).reset_index(drop=True)
