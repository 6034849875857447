"""Repeated evaluations of the study: experiments and their counts, and tables of the right parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Cell, derived_seed
from simstudy_learners.tagged import TaggedDocument
from tests.experiments.programs import Answered, program, small

EVERT = program("evert_2004", "section_4")
SIMULATED = {
    "n_experiments": 27, "n_sets": 12, "n_candidates": 60, "share_true": 0.3, "separation": 1.0, "correlation": 0.5,
    "clusters": [(1, 0.0), (5, 0.6)], "n_accepted": 40,
}  # fmt: skip


def test_experiments_are_counted_for_each_dependence() -> None:
    """Two cells of each: two of 25 and 2 experiments; every setting is in the description of a cell."""
    settings: Any = small("evert_2004", simulated=SIMULATED).simulated
    names = {"missed": 12, "fisher": 12, "ks": 1, "dispersion": 1, "missed_test": 1}

    def made(cell: Cell) -> pd.DataFrame:
        _, size, within, *_, numbers = cell.arguments
        k = np.array(numbers)
        counts = {name: (k * (3 + j) + size) % (of + 1) for j, (name, of) in enumerate(names.items())}
        return pd.DataFrame({"cluster_size": size, "within": within, "ratio": (k - 9.0) ** 2 / size, **counts})

    run = Answered(made)
    found = EVERT.simulated_check(settings, 0.07, 3, run)
    function, cells = run.parts["simulated evaluations"]
    assert function is EVERT.experiments
    evaluations = settings.only(*(name for name in SIMULATED if name not in ("n_experiments", "clusters")))
    assert [cell.arguments for cell in cells] == [
        (evaluations, size, within, 0.07, 3, numbers)
        for size, within in ((1, 0.0), (5, 0.6))
        for numbers in (range(25), range(25, 27))
    ]
    for row, parts in zip(found.to_dict("records"), (cells[:2], cells[2:]), strict=True):
        rows = pd.concat([made(cell) for cell in parts])
        size, within = parts[0].arguments[1:3]
        wanted = {"cluster_size": size, "within": within, "n_experiments": 27}
        wanted |= {"ratio": rows["ratio"].mean(), "ratio_sd": np.sqrt(rows["ratio"].var())}
        for name, of in names.items():
            interval = stats.binomtest(int(rows[name].sum()), 27 * of).proportion_ci(method="exact")
            wanted |= {name: rows[name].mean() / of, f"{name}_low": interval.low, f"{name}_high": interval.high}
        assert row == pytest.approx(wanted)


def test_an_experiment_is_many_evaluations_of_two_equal_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last two of 27; the least sets have fewer candidates than are to be accepted."""
    settings: Any = small("evert_2004", simulated=SIMULATED).simulated
    drawn, draw = [], EVERT.simulated_candidates

    def drawing(n_sets: int, **options: Any) -> list[ss.rankings.Candidates]:
        drawn.append((n_sets, options))
        return draw(n_sets, **options)

    monkeypatch.setattr(EVERT, "simulated_candidates", drawing)
    found = EVERT.experiments(settings, 5, 0.6, 0.3, 3, range(25, 27))
    assert len(found) == len(drawn) == 2
    assert len({options.pop("seed") for _, options in drawn}) == 2
    asked = {"n_candidates": 60, "share_true": 0.3, "separations": {"g1": 1.0, "g2": 1.0}, "correlation": 0.5}
    assert drawn == [(12, {**asked, "cluster_size": 5, "within": 0.6})] * 2
    monkeypatch.undo()
    for row, seed in zip(found.to_dict("records"), (25, 26), strict=True):
        sets = draw(12, **drawn[0][1], seed=derived_seed(3, "simulated", 5, 0.6, seed) % 2**64)
        g1 = np.sort(np.concatenate([each.scores[each.names.index("g1")] for each in sets]))
        repeated = EVERT.repetitions(sets, {"g1": g1[-40 * 12]})
        check = EVERT.binomial_check(repeated).iloc[0]
        lengths = [min(40, each.n_candidates) for each in sets]
        p_values = [EVERT.ranking_differences(each, [n])["p_value"][0] for each, n in zip(sets, lengths, strict=True)]
        tests = {"ks": "ks_p", "dispersion": "dispersion_p", "missed_test": "missed_p"}
        told = {name: check[key] <= 0.3 for name, key in tests.items()}
        assert min(lengths) < 40
        wanted = {"cluster_size": 5, "within": 0.6, "ratio": check["ratio"], "missed": 12 - repeated["covered"].sum()}
        assert row == {**wanted, "fisher": sum(p <= 0.3 for p in p_values), **told}


def document(k: int) -> TaggedDocument:
    """Every document says "give up" three times and "look at" four times; odd ones "think of" and "hold on", too."""
    pairs = [("give", "up", "rp")] * 3 + [("look", "at", "in")] * 4
    if k % 2:
        pairs += [("think", "of", "in")] * 3 + [("hold", "on", "rp")] * 2
    return TaggedDocument(f"d{k}", "news", [[(verb, "vb"), (word, tag)] for verb, word, tag in pairs])


def test_parts_have_a_row_for_each_way_to_cut() -> None:
    settings = EVERT.Parts(
        n_parts=[2, 4],
        arrangements=["dealt", "contiguous"],
        floor=3,
        rankings=["frequency", "t_score"],
        share_accepted=0.75,
    )
    repeated, check, parts = EVERT.parts_of_corpus([document(k) for k in range(8)], settings, 0).values()
    # Even documents have two candidates and odd ones four, of which one is rarer than the floor in two documents.
    sizes = {("dealt", 2): [2, 4], ("dealt", 4): [2, 4, 2, 4], ("contiguous", 2): [4, 4], ("contiguous", 4): [3] * 4}
    rows = [
        [*way, f"part {k}", size, 1 / 3 if size == 3 else 0.5]
        for way, of in sizes.items()
        for k, size in enumerate(of, start=1)
    ]
    assert list(parts) == ["arrangement", "n_parts", "test_set", "n_candidates", "baseline"]
    assert parts.to_numpy().tolist() == rows
    assert repeated.groupby(["arrangement", "n_parts", "ranking"], sort=False)["n_candidates"].agg(list).to_dict() == {
        (*way, name): of for way, of in sizes.items() for name in settings.rankings
    }
    assert [*zip(check["arrangement"], check["n_parts"], check["ranking"], strict=True)] == [
        (*way, name) for way in sizes for name in settings.rankings
    ]
    # Three quarters of all candidates: the most frequent ones, and those that tie with the last of them.
    frequent = repeated[repeated["ranking"] == "frequency"]
    assert frequent["n_accepted"].tolist() == [2, 3, 2, 3, 2, 3, 3, 3, 3, 3, 3, 3]
