"""Fisher's test of difference regions: random acceptance sets, one pair at a time with scipy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.arguments import applicable
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.rankings.candidates import Candidates
from tests.oracles import compared


def accepted(sets: list[list[int]], true: list[int], n: int = 8) -> Outputs:
    """Precision of systems that accept these items, of which some are true."""
    accepts = np.array([[item in one for item in range(n)] for one in sets])
    hits = accepts & np.isin(np.arange(n), true)
    return Outputs.from_statistics(
        np.stack([hits, accepts], -1).astype(int), METRICS["precision_of_accepted"], list("abcdef")[: len(sets)]
    )


@pytest.mark.parametrize("seed", range(2))
def test_every_pair_is_scipys_test_of_what_only_one_accepts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = rng.random(300) < 0.3
    accepts = rng.random((5, 300)) < (0.1 + 0.1 * np.arange(5)[:, None] + 0.2 * true)
    outputs = accepted([list(np.flatnonzero(row)) for row in accepts], list(np.flatnonzero(true)), 300)
    pairs = compared(outputs, test="fisher")
    assert len(pairs) == 10
    for row in pairs.itertuples():
        first, second = (accepts[outputs.names.index(name)] for name in (row.system_a, row.system_b))
        regions = first & ~second, second & ~first
        table = [
            [int((region & true).sum()) for region in regions],
            [int((region & ~true).sum()) for region in regions],
        ]
        assert row.p_value == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-9)
        assert row.statistic == pytest.approx(true[regions[0]].mean() - true[regions[1]].mean())
        assert row.gain == pytest.approx(true[first].mean() - true[second].mean())
        assert (row.exact, row.monte_carlo, row.alternative, row.n_resamples) == (True, False, "two-sided", 0)


def test_a_pair_by_hand() -> None:
    """Items 0 - 2 are a's alone, 5 - 7 b's alone: 3 of 3 and 0 of 3 are true, 2 of the 20 ways to have 3 hits in 6."""
    row = compared(accepted([[0, 1, 2, 3, 4], [3, 4, 5, 6, 7]], [0, 1, 2, 3]), test="fisher").iloc[0]
    assert (row.system_a, row.gain, row.statistic) == ("a", pytest.approx(4 / 5 - 1 / 5), 1.0)
    assert row.p_value == pytest.approx(2 / 20)


@pytest.mark.parametrize(
    ("sets", "statistic"),
    [
        ([[0, 1, 2], [0, 1, 2]], 0),
        ([[], []], 0),
        # One accepts all that the other does: one region is empty, and nothing can be said.
        ([[0, 1], [0, 1, 2, 3, 4]], -1 / 3),
        ([[0, 1], []], 1),
    ],
)
def test_without_a_second_region_p_is_1(sets: list[list[int]], statistic: float) -> None:
    row = compared(accepted(sets, [0, 1, 2]), test="fisher").iloc[0]
    assert (row.p_value, row.statistic) == (1.0, pytest.approx(statistic))


def test_n_best_lists_are_acceptance_sets() -> None:
    rng = np.random.default_rng(5)
    true = rng.random(200) < 0.2
    scores = pd.DataFrame(rng.normal(size=(200, 3)) + true[:, None] * [0, 1, 2], columns=["g1", "g2", "g3"])
    candidates = Candidates.from_scores(scores, true)
    outputs = candidates.outputs(50)
    assert "fisher" in applicable(outputs)
    for row in compared(outputs, test="fisher").itertuples():
        first, second = (candidates.n_best(name, 50) for name in (row.system_a, row.system_b))
        hits = [int(true[first & ~second].sum()), int(true[second & ~first].sum())]
        of = int((first & ~second).sum())
        assert row.p_value == pytest.approx(stats.fisher_exact([hits, [of - hit for hit in hits]]).pvalue, rel=1e-9)


def refused(outputs: Outputs, **options: str) -> None:
    with pytest.raises(ValueError, match="^test 'fisher' needs systems that accept or reject each item") as error:
        compared(outputs, test="fisher", **options)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_what_is_no_acceptance_set_is_refused() -> None:
    precision = METRICS["precision_of_accepted"]
    sets = accepted([[0, 1, 2, 3], [2, 3, 4, 5]], [0, 2, 4])
    assert compared(sets, test="fisher").p_value[0] <= 1
    # True for one system, false for the other.
    torn = sets.statistics.copy()
    torn[1, 2, 0] = 0
    refused(Outputs.from_statistics(torn, precision))
    # Decimals, and counts of more than one.
    refused(Outputs.from_statistics(sets.statistics * [0.5, 1], precision))
    refused(Outputs.from_statistics(sets.statistics * 2, precision))
    # Everybody accepts everything: right or wrong answers.
    right = np.array([[1, 0, 1, 1], [1, 1, 0, 1]])
    refused(Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy"))
    refused(Outputs.from_statistics(np.stack([right[[0, 0]], np.ones_like(right)], -1), "accuracy"))


def test_clusters_are_no_candidates() -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(rng.normal(size=(30, 2)), columns=["g1", "g2"])
    outputs = Candidates.from_scores(frame, rng.random(30) < 0.5).outputs(10)
    items = outputs.items.assign(cluster=[f"verb {k % 15}" for k in range(30)])
    clustered = Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.names, items)
    assert compared(clustered, test="fisher", unit="item").p_value[0] <= 1
    for unit in ("cluster", None):
        with pytest.raises(ValueError, match="test 'fisher' needs items one by one, and the unit is 'cluster'"):
            compared(clustered, test="fisher", unit=unit)


def test_whole_lists_do_not_differ() -> None:
    """Where everybody accepts everything: as an n-best list these are acceptance sets, as answers they are not."""
    frame = pd.DataFrame({"g1": [3.0, 2.0, 1.0], "g2": [1.0, 2.0, 3.0]})
    row = compared(Candidates.from_scores(frame, [1, 0, 1]).outputs(3), test="fisher").iloc[0]
    assert (row.gain, row.p_value) == (0, 1)


@pytest.mark.parametrize(
    ("metric", "of_chosen"), [("precision", True), ("precision_of_accepted", True), ("accuracy", False)]
)
def test_a_list_of_all_candidates_is_an_acceptance_set_of_precision_alone(metric: str, of_chosen: bool) -> None:
    """The same numbers are right and wrong answers where no system chooses what it answers."""
    true = np.tile(np.arange(30) % 3 == 0, (2, 1)).astype(int)
    parts = [true, np.ones_like(true), true][: len(METRICS[metric].statistics)]
    outputs = Outputs.from_statistics(np.stack(parts, axis=-1), metric)
    assert ({"fisher", "precision_score"} <= {*applicable(outputs)}) is of_chosen
