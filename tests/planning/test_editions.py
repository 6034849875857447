"""The next edition of a benchmark: the shipped factors, made again from the data, and what plans say of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.loaders.formats import load
from simstudy.planning.benchmarks import EDITIONS, next_edition

MEASURES = {"AP": ("ap", "ap"), "P@10": ("p10", "ap"), "nDCG@20": ("ndcg20", "ap"), "accuracy": ("score", "accuracy")}


def wide(scores: pd.DataFrame, item: str, score: str, metric: str) -> ss.Outputs:
    frame = scores.pivot_table(index=item, columns="system", values=score, aggfunc="first").dropna(axis="columns")
    return ss.Outputs.from_scores(frame.reset_index(drop=True), metric)


def edition(data: Path, benchmark: str, name: str, measure: str) -> ss.Outputs:
    """The outputs of one edition, as the files have them."""
    if benchmark == "WMT general task":
        folder = data / {"21": "wmt21_de-en", "22": "wmt22_ja-en", "24": "wmt24_en-de"}[name[:2]]
        items = folder / "meta.tsv"
        documents: dict[str, Any] = {"items": items, "columns": {"cluster": "doc"}} if items.exists() else {}
        systems = sorted(path for path in (folder / "sys").iterdir() if path.stem != "AIST")
        references = sorted(folder.glob("ref.*")) if name[:2] == "21" else [next(iter(sorted(folder.glob("ref.A*"))))]
        return load(systems, "bleu", references=references, format="text", **documents).outputs
    column, metric = MEASURES[measure]
    if benchmark == "LiveCodeBench":
        scores = {v: pd.read_csv(data / "eval_arena" / "main" / f"lcb_codegen_{v}.csv.gz") for v in ("v5", "v6")}
        new = ~scores["v6"]["item"].isin(scores["v5"]["item"])
        return wide(scores["v5"] if name == "v5" else scores["v6"][new], "item", column, metric)
    if benchmark == "AIME":
        scores_of = pd.read_csv(data / "eval_arena" / "highk_temp0.7" / f"aime{name}_cot.csv.gz")
        return wide(scores_of, "item", column, metric)
    if benchmark == "TREC-COVID":
        return wide(pd.read_csv(data / "trec_covid" / f"round{name}.csv.gz"), "topic", column, metric)
    file = f"adhoc{name}" if benchmark == "TREC ad hoc" else f"web{name}"
    scores_of = pd.read_csv(data / "trec_urbano" / f"{file}.csv.gz")
    return wide(scores_of[scores_of["measure"] == column], "topic", "score", metric)


def detectable(outputs: ss.Outputs, n_items: int) -> float:
    plan = ss.plan(ss.Pilot(outputs, n_sets=0, n_draws=0), n_items=n_items, sizes=[])
    return float(plan.answers.set_index("relation")["detectable_gain"]["all pairs"])


@pytest.mark.slow
@pytest.mark.parametrize("row", EDITIONS, ids=lambda row: " ".join(row[:4]))
def test_a_factor_is_the_later_editions_gain_over_the_planned_one(
    row: tuple[str, str, str, str, float], shared_data: Path
) -> None:
    benchmark, earlier, later, measure, factor = row
    source, target = (edition(shared_data, benchmark, name, measure) for name in (earlier, later))
    n = target.n_items
    found = detectable(target, n) / detectable(source, n)
    print(f"    {(benchmark, earlier, later, measure, round(found, 3))},")
    assert found == pytest.approx(factor, abs=0.002)


def test_the_range_is_that_of_the_factors() -> None:
    """By sorting: of 26 numbers the tenth and ninetieth percentile lie half way beyond the third and the 23rd."""
    factors = sorted(row[4] for row in EDITIONS)
    low, middle, high = next_edition()
    assert len(factors) == 26
    assert low == pytest.approx((factors[2] + factors[3]) / 2)
    assert middle == pytest.approx((factors[12] + factors[13]) / 2)
    assert high == pytest.approx((factors[22] + factors[23]) / 2)
    assert low < 0.9 < 1.1 < high


def test_a_plan_of_a_leaderboard_says_what_holds_for_the_next_edition() -> None:
    """Gains times the factor; items times its square."""
    board = ss.truth.correlated_accuracies([0.6 + k / 100 for k in range(12)], 300, seed=3)
    low, _, high = next_edition()
    plan = ss.plan(ss.Pilot(board, n_sets=0, n_draws=0), gain=4.0, sizes=[])
    n = plan.answers["n_items"].iloc[0]
    assert f"{low**2 * n:,.0f} to {high**2 * n:,.0f} items" in plan.text
    assert "for other systems and items of the same time" in plan.text
    # Several measures of one pair are plans for one next edition.
    assert "26 plans for 15 next editions" in plan.text
    gain = (sized := ss.plan(ss.Pilot(board, n_sets=0, n_draws=0), sizes=[])).answers["detectable_gain"].iloc[0]
    told = re.findall(r"next edition of the benchmark a gain from ([\d.]+) to ([\d.]+) is found", sized.text)[0]
    assert [float(end) for end in told] == pytest.approx([low * gain, high * gain], rel=1e-3)
    guessed = ss.plan(metric="accuracy", gain=1, guess=ss.Guess(score=80))
    assert "next edition" not in guessed.text
    assert np.isfinite(n)
