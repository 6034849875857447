"""`compare`, whatever the test: invariances, oracles from outside, and bad input."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info

from simstudy.engines.arguments import applicable
from simstudy.engines.needs import ACCEPTANCE_SETS, RIGHT_OR_WRONG
from simstudy.engines.registry import TESTS
from simstudy.metrics.base import Metric
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import clopper_pearson
from tests.engines.pairs import ASKED, RESAMPLED, scored
from tests.oracles import ERROR_RATE, GEOMETRIC, compared


@pytest.mark.parametrize(("test", "monte_carlo"), ASKED)
class TestEveryTest:
    """The contract of every engine behind `compare`."""

    @pytest.fixture
    def outputs(self, test: str, tagged: Outputs, answered: Outputs, accepting: Outputs) -> Outputs:
        needs = TESTS[test].needs
        return answered if RIGHT_OR_WRONG in needs else accepting if ACCEPTANCE_SETS in needs else tagged

    def test_seed_0_is_a_seed_and_seeds_differ_where_there_is_chance(
        self, test: str, monte_carlo: bool, outputs: Outputs
    ) -> None:
        first, again, other = (
            compared(outputs, test=test, monte_carlo=monte_carlo, unit="item", n_resamples=500, seed=s)
            for s in (0, 0, 1)
        )
        pd.testing.assert_frame_equal(first, again)
        assert (first["p_value"] != other["p_value"]).any() == (first["computation"] == "resampled").any()

    def test_rows(self, test: str, monte_carlo: bool, outputs: Outputs) -> None:
        pairs = compared(outputs, test=test, monte_carlo=monte_carlo, unit="item", n_resamples=200)
        assert len(pairs) == 10
        assert (pairs["gain"] >= 0).all()
        assert (pairs["score_a"] - pairs["score_b"] == pairs["gain"]).all()
        same_family = pairs.loc[pairs["relation"] == "same family", ["system_a", "system_b"]].to_numpy().tolist()
        assert sorted(map(sorted, same_family)) == [["a", "b"], ["c", "d"]]
        assert (pairs[["task", "test_set", "n_items", "test"]].nunique() == 1).all()
        assert (pairs["alternative"] == TESTS[test].alternatives[0]).all()
        # The bootstrap is computed for right and wrong answers only.
        resampled = test in RESAMPLED and (monte_carlo or test == "bootstrap")
        assert ((pairs["computation"] == "resampled") == resampled).all()
        assert (pairs["n_resamples"] == (200 if resampled else 0)).all()
        if resampled:
            assert (pairs["p_value"] == (pairs["n_extreme"] + 1) / 201).all()
            np.testing.assert_array_equal(pairs[["p_low", "p_high"]].T, clopper_pearson(pairs["n_extreme"], 200, 0.95))
        else:
            assert (pairs["n_extreme"] == 0).all()
            assert (pairs[["p_low", "p_high"]].to_numpy() == pairs[["p_value"]].to_numpy()).all()
            assert pairs["p_value"].between(0, 1, inclusive="right").all()
        assert (pairs["statistic"].isna() == (test in RESAMPLED)).all()

    def test_identical_systems(self, test: str, monte_carlo: bool, outputs: Outputs) -> None:
        twin = outputs.select(["c"])
        twins = outputs.join_systems(Outputs.from_statistics(twin.statistics, twin.metric, ["twin"], outputs.items))
        for alternative in TESTS[test].alternatives:
            options: dict[str, Any] = {"monte_carlo": monte_carlo, "unit": "item", "n_resamples": 300}
            options["alternative"] = alternative
            row = compared(twins, test=test, **options).set_index(["system_a", "system_b"]).loc[("c", "twin")]
            assert row[["gain", "p_value", "wins", "losses", "ties"]].tolist() == [0, 1, 0, 0, 60]
            assert row[["better", "p_floor"]].tolist() == ["", 1.0]
            assert np.isnan(row["gain_se"])
        assert compared(twins.select(["c", "twin"]), test=test, **options).p_value[0] == 1


@pytest.mark.parametrize(
    ("kind", "test", "convention", "n_resamples"),
    [
        ("right or wrong", "sign_flips", "default", 2**18),
        ("right or wrong", "bootstrap", "default", 2**18),
        ("right or wrong", "bootstrap", "bk2012", 1_000_000),
        ("right or wrong", "bootstrap", "koehn2004", 1_000),
        ("right or wrong", "bootstrap", "sacrebleu", 1_000),
        ("right or wrong", "randomization", "chinchor1992", 9_999),
        ("precision", "randomization", "default", 2**20),
        ("geometric", "randomization", "default", 2**17),
        ("geometric", "bootstrap", "default", 2**18),
        ("geometric", "randomization", "sacrebleu", 10_000),
    ],
)
def test_resamples_and_alternative_by_default(
    kind: str, test: str, convention: str, n_resamples: int, answered: Outputs, accepting: Outputs
) -> None:
    """2^18 flips or test sets, 2^20 shuffles of ratios and 2^17 of other metrics, or what a convention prescribes."""
    geometric = Outputs.from_statistics(np.sort(np.random.default_rng(4).integers(0, 9, size=(2, 30, 4))), GEOMETRIC)
    outputs = {"right or wrong": answered, "precision": accepting, "geometric": geometric}[kind].head(5)
    progress: list[int] = []
    options: dict[str, Any] = {"monte_carlo": True, "unit": "item", "progress": progress.append}
    row = compared(outputs.select(outputs.names[:2]), test=test, convention=convention, **options).iloc[0]
    assert (row["n_resamples"], row["alternative"]) == (
        n_resamples,
        "greater" if convention == "koehn2004" else "two-sided",
    )
    # sacrebleu's bootstrap draws all its resamples twice.
    assert sum(progress) == n_resamples * (2 if (test, convention) == ("bootstrap", "sacrebleu") else 1)


def test_comparisons_side_by_side_leave_blas_as_it_was(tagged: Outputs) -> None:
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda b: compared(tagged, test="bootstrap", n_resamples=b), [20_000, 1000, 5000]))
    assert threads() == before


RIGHT = np.random.default_rng(0).binomial(1, [[0.8], [0.7], [0.6]], size=(3, 60))
SECONDS = np.random.default_rng(1).lognormal(np.array([[0.8], [0.95], [1.1]]), 0.5, size=(3, 60))


@pytest.mark.parametrize(
    ("worse", "better"),
    [((1 - RIGHT, ERROR_RATE), (RIGHT, "accuracy")), ((SECONDS, "mean (lower is better)"), (-SECONDS, "mean"))],
    ids=["right or wrong", "decimals"],
)
def test_lower_is_better(worse: tuple[np.ndarray, Metric], better: tuple[np.ndarray, str]) -> None:
    """Errors rank and test the systems as the right answers of the same decisions do, and seconds as negative ones."""
    errors, answers = scored(*worse), scored(*better)
    able = applicable(answers)
    shared = ["system_a", "system_b", "n_extreme", "p_value", "statistic", "better", "wins", "losses", "gain_se"]
    for test, monte_carlo in ASKED:
        if ACCEPTANCE_SETS in TESTS[test].needs or test not in able:
            continue  # what is accepted has no error rate
        by_error, by_accuracy = (
            compared(outputs, test=test, monte_carlo=monte_carlo, n_resamples=500) for outputs in (errors, answers)
        )
        pd.testing.assert_frame_equal(by_error[shared], by_accuracy[shared])
        assert (by_error["score_a"] < by_error["score_b"]).all()
        for column in ("gain_low", "gain_high", "minimum_detectable_gain"):
            np.testing.assert_allclose(by_error[column], by_accuracy[column], rtol=1e-12)


def test_progress_counts_every_resample_of_the_test(tagged: Outputs) -> None:
    """And none of the two-sided p-value beside a one-sided one."""
    done: list[int] = []
    how: dict[str, Any] = {"tile_size": 1000, "n_jobs": 2, "monte_carlo": True, "alternative": "greater"}
    compared(tagged, test="bootstrap", n_resamples=2_500, progress=done.append, **how)
    assert sorted(done) == [500, 1000, 1000]


def test_an_error_in_a_thread_stops_the_others(tagged: Outputs) -> None:
    done: list[int] = []

    def fail(width: int) -> None:
        done.append(width)
        raise RuntimeError("stop here")

    how: dict[str, Any] = {"monte_carlo": True, "n_resamples": 50_000, "tile_size": 100, "n_jobs": 2}
    with pytest.raises(RuntimeError, match="stop here"):
        compared(tagged, test="bootstrap", progress=fail, **how)
    assert len(done) <= 4
