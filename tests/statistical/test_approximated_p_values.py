"""How far approximated p-values of real pairs are from those of an integral along the real line (Gil-Pelaez 1951)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.engines.arguments import make_question
from simstudy.engines.question import COMPUTATIONS
from simstudy.engines.sign_flips import FlippedContributions, sign_flips
from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs
from tests.engines.test_sign_flip_tails import gil_pelaez

pytestmark = [pytest.mark.slow, pytest.mark.statistical]

#: Pairs of each table, chosen at random among the approximated ones.
N_PAIRS = 100


def real_outputs(data: Path) -> dict[str, Outputs]:
    """Average precision and other measures of runs by topic, F1 of parsers and segmenters, preferences, and BLEU."""
    tables = {}
    for collection, measure in (
        ("adhoc8", "ap"), ("adhoc8", "rr"), ("robust2004", "ap"), ("robust2004", "ndcg"), ("web2010", "err20"),
        ("web2013", "ndcg20"),
    ):  # fmt: skip
        scores = pd.read_csv(data / "trec_urbano" / f"{collection}.csv.gz").query("measure == @measure")
        wide = scores.pivot(index="topic", columns="system", values="score").dropna().reset_index(drop=True)
        tables[f"{collection} {measure}"] = Outputs.from_scores(wide)
    columns = {"item": "sent", "correct": "las", "guessed": "n", "gold": "n_gold"}
    for treebank in ("en_pud", "kk_ktb"):
        path = data / "conll2018_ud" / f"{treebank}.csv.gz"
        tables[treebank] = ss.load(path, "las", columns=columns, missing="drop").outputs
    preferences = pd.read_csv(data / "alpaca_eval" / "alpaca_eval2_weighted_gpt4_turbo.csv.gz")
    tables["alpaca_eval"] = Outputs.from_scores(
        preferences.pivot(index="item", columns="system", values="preference").dropna().reset_index(drop=True)
    )
    folder = data / "wmt24_en-de"
    tables["wmt24 bleu"] = ss.load(
        folder / "sys", "bleu", references=folder / "ref.A.de", items=folder / "meta.tsv", columns={"cluster": "doc"}
    ).outputs
    return tables


def errors(outputs: Outputs, rng: np.random.Generator) -> pd.DataFrame:
    """The p-values of some approximated pairs, and their relative errors."""
    question = make_question(outputs.best_first(), test="sign_flips", alternative="greater")
    result, flips, (i, j), k = sign_flips(question), FlippedContributions(question), question.pairs, question.n_systems
    approximated = result.computation == COMPUTATIONS.index("approximated")
    chosen = np.flatnonzero(approximated & (result.p_value > 1e-7))
    chosen = rng.permutation(chosen)[:N_PAIRS]

    def integral(p: int) -> float:
        columns = flips.columns.reshape(-1, k, question.n_units).astype(np.float64)
        return gil_pelaez(flips.weights[p] @ (columns[:, i[p]] - columns[:, j[p]]), flips.least[p])

    exact: FloatArray = np.array([integral(p) for p in chosen])
    p_value = result.p_value[chosen]
    return pd.DataFrame(
        {"p": exact, "error": np.abs(p_value - exact) / exact, "moved": (p_value <= 0.025) != (exact <= 0.025)}
    )


def test_errors_on_real_pairs(shared_data: Path, rng: np.random.Generator) -> None:
    """The table of docs/validation.md."""
    tables = pd.concat({name: errors(outputs, rng) for name, outputs in real_outputs(shared_data).items()})
    bands = pd.cut(tables["p"], [0, 1e-4, 0.01, 1])
    measured = tables.groupby(bands, observed=True)["error"].agg(["size", "median", lambda e: e.quantile(0.99), "max"])
    print(measured.to_string(), tables.groupby(level=0)["error"].max().to_string(), sep="\n")
    assert (measured["median"] < 0.003).all()
    assert (measured["max"] < [0.15, 0.05, 0.03]).all()
    assert not tables["moved"].any()
