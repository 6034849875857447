"""What a plan says, against what its tables have: no sentence has a number of another column, unit or case."""

from __future__ import annotations

import re
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss

CLUSTERS = ss.Clusters(size=10, icc=0.1)
GUESSES: dict[str, dict[str, Any]] = {
    "a range": {"metric": "accuracy", "gain": 2, "guess": ss.Guess(score=80, agreement=(0.85, 0.95))},
    "clusters": {
        "metric": "mean", "gain": 0.1, "guess": ss.Guess(sd=1.2, r12=(0.5, 0.7)), "clusters": ss.Clusters(10, 0.1, 0.5),
    },
    "clusters of any sizes": {
        "metric": "mean", "gain": 0.1, "guess": ss.Guess(sd=1.2, r12=0.6), "clusters": CLUSTERS,
    },
    "known test sets": {"metric": "bleu", "gain": 1, "guess": ss.Guess(relation="variants")},
    "a margin": {"metric": "accuracy", "margin": 2, "guess": ss.Guess(score=80, agreement=(0.85, 0.95))},
}  # fmt: skip


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


@pytest.mark.parametrize("name", GUESSES)
def test_the_items_of_a_sentence_and_their_range_are_the_tables(name: str) -> None:
    plan = ss.plan(**GUESSES[name])
    said = [one for one in plan.sentences if one.startswith(("To find", "To show"))]
    assert len(said) == len(plan.answers)
    for sentence, (_, row) in zip(said, plan.answers.iterrows(), strict=True):
        ends = re.search(r"\(([\d,]+) to ([\d,]+)\)\.$", sentence)
        assert ends is not None or (name == "a margin" and "agreement" not in sentence)
        if ends is not None:
            assert numbers(ends[0]) == [row["n_items_low"], row["n_items_high"]]
        assert row["n_items"] in numbers(sentence)
        if row["n_items"] != row["n_units"]:
            assert row["n_units"] in numbers(sentence)
            assert row["n_items_low"] > 2 * row["n_units_low"], "this plan tells items from clusters"


def majority_errs(error: float, judgements: int) -> float:
    """The share of wrong majorities of independent verdicts, counted."""
    wrong = range(judgements // 2 + 1, judgements + 1)
    return sum(comb(judgements, k) * error**k * (1 - error) ** (judgements - k) for k in wrong)


@pytest.mark.parametrize("judgements", [1, 3, 5])
@pytest.mark.parametrize("metric", ["accuracy", "win_rate"])
def test_gains_look_as_much_smaller_as_the_majority_makes_them(metric: str, judgements: int) -> None:
    guess = ss.Guess(score=70) if metric == "accuracy" else ss.Guess()
    judge = ss.Judge(error=0.15, judgements=judgements)
    plan = ss.plan(metric=metric, gain=3, guess=guess, judge=judge)
    seen = 1 - 2 * majority_errs(0.15, judgements)
    told = [part for part in (*plan.assumptions, *plan.sentences) if "times as large as they are" in part]
    assert told
    for part in told:
        (times,) = re.findall(r"look ([\d.]+) times", part)
        assert float(times) == pytest.approx(seen, rel=0.006)
    margin = ss.plan(metric=metric, margin=3, guess=guess, judge=judge).answers["margin_seen"]
    np.testing.assert_allclose(margin, 3 * seen)


def test_every_number_of_the_sentences_is_in_a_table_or_was_asked() -> None:
    """As the sentence writes it: items whole, powers and probabilities with two decimals, percentages rounded."""
    for name, asked in GUESSES.items():
        plan = ss.plan(**asked)
        cells: set[float] = set()
        for table in (plan.answers, plan.sizes, plan.designs):
            values = pd.DataFrame(table).select_dtypes("number").to_numpy().ravel()
            values = values[np.isfinite(values)]
            for digits in range(6):
                cells |= {float(value) for value in np.round(values, digits)}
                cells |= {float(value) for value in np.round(100 * values, digits)}
            # Significant digits.
            cells |= {float(f"{value:.{k}g}") for value in values for k in (2, 3, 4)}
        assumed = {number for part in plan.assumptions for number in numbers(part)}
        asked_for = {number for value in asked.values() for number in numbers(str(value))}
        # The level, the power, and the share of systems or editions that a range holds.
        fixed = {0.05, 0.025, 0.8, 80.0, 95.0, 12.0, 1.0, 2.0}
        for sentence in plan.sentences:
            for number in numbers(sentence):
                near = number in cells | assumed | asked_for | fixed
                assert near, f"{name}: {number} of “{sentence}”"


def test_what_a_pilot_in_clusters_leaves_open_is_told_in_items() -> None:
    plan = ss.plan(
        metric="accuracy", gain=3, pilot=ss.truth.clustered_accuracies([0.7, 0.75], 40, 5, within=0.3, seed=3)
    )
    high = plan.answers[["n_items_high", "n_units_high"]].iloc[0]
    assert high["n_items_high"] == 5 * high["n_units_high"]
    (told,) = [re.findall(r"([\d,]+) items have power", part) for part in plan.sentences if "items have power" in part]
    assert [int(number.replace(",", "")) for number in told] == [high["n_items_high"]]
