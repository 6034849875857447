"""The MUC-like test set of Chinchor 1992: its truth, its latent correlations, its streams."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.outputs import Outputs
from tests.experiments.programs import assert_shipped, program

MODULE = program("chinchor_1992", "muc_like")
muc_like = MODULE.muc_like


@pytest.fixture(scope="module")
def large() -> Outputs:
    outputs: Outputs = muc_like(4, 60_000, 3)
    return outputs


def relevant_fills(outputs: Outputs) -> np.ndarray:
    """Possible, actual, correct and partial fills (4, K, messages) of the relevant messages."""
    return np.moveaxis(outputs.statistics[:, outputs.items["relevant"].to_numpy()], -1, 0)


def test_as_at_muc_4() -> None:
    outputs = muc_like(17, 100)
    true = outputs.systems
    # Chinchor (1992) reports a lowest recall of 2.5 (with precision 20.8), and an F of 56.01 for GE.
    assert true["true_recall"].agg(["min", "max"]).tolist() == pytest.approx([2.5, 56])
    assert 18 < true["true_precision"].min() < 22 < 55 < true["true_precision"].max() < 60
    assert 4 < true["true_score"].min() < 6 < 55 < true["true_score"].max() < 58
    # Neither metric orders the systems as the other does.
    orders = [np.argsort(outputs.with_metric(name).scores()).tolist() for name in ("muc_recall", "muc_precision")]
    assert orders[0] != orders[1]
    metrics = ("muc_recall", "muc_precision", "muc_f", "muc_f_2p", "muc_f_2r")
    scores = {metric: outputs.with_metric(metric).scores() for metric in metrics}
    assert_shipped("chinchor_1992", "scores", pd.DataFrame({"system": outputs.names, **scores}))


def test_rules_hold(large: Outputs) -> None:
    possible, actual, correct, partial = np.moveaxis(large.statistics, -1, 0)
    assert (correct + partial <= np.minimum(possible, actual)).all()
    relevant = large.items["relevant"].to_numpy()
    assert ((possible > 0) == relevant).all()
    assert (possible == possible[0]).all()
    assert actual[:, ~relevant].any(axis=1).all()


def test_truth_is_what_large_test_sets_come_to(large: Outputs) -> None:
    true = large.systems
    for metric, column in (("muc_recall", "true_recall"), ("muc_precision", "true_precision"), ("muc_f", "true_score")):
        scores, expected = large.with_metric(metric).scores(), true[column].to_numpy()
        # Standard errors, from 60 parts of 1000 messages, are 0.1 to 0.4 points.
        parts = [
            large.take(np.arange(start, start + 1000)).with_metric(metric).scores() for start in range(0, 60_000, 1000)
        ]
        error = np.std(parts, axis=0) / np.sqrt(60)
        assert (error < 0.5).all()
        assert (np.abs(scores - expected) < 5.5 * error).all()
    assert true["true_score"].to_numpy() == pytest.approx(stats.hmean(true[["true_recall", "true_precision"]], axis=1))
    assert large.items["relevant"].mean() == pytest.approx(0.5, abs=0.011)  # 5.5 standard errors
    _, _, correct, partial = relevant_fills(large)
    assert partial.sum() / (correct + partial).sum() == pytest.approx(0.1, abs=0.002)


def test_sizes_of_messages(large: Outputs) -> None:
    possible = relevant_fills(large)[0, 0]
    assert possible.min() == 1
    expected = stats.nbinom(19 / 7, 1 / 8, loc=1)
    assert (expected.mean(), expected.var()) == pytest.approx((20, 8 * 19))
    edges = expected.ppf([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) + 0.5
    counts = np.histogram(possible, edges)[0]
    shares = np.diff(expected.cdf(edges))
    assert stats.chisquare(counts, shares / shares.sum() * counts.sum()).pvalue > 1e-6


def test_latent_correlations(large: Outputs) -> None:
    """Two fills are both found with the chance that two normal numbers of this correlation are both below bounds."""
    possible, _, correct, partial = relevant_fills(large)[:, :2]
    filled = correct + partial
    both_systems = filled[0] * filled[1] / possible[0] ** 2
    several = possible[0] > 1
    both_fills = (filled[0] * (filled[0] - 1))[several] / (possible[0] * (possible[0] - 1))[several]
    # A partial match is half a fill.
    first, second = stats.norm.ppf(large.systems["true_recall"][:2] / 100 / 0.95)
    for pairs, bounds, latent in ((both_systems, [first, second], 0.3), (both_fills, [first, first], 0.5)):
        expected = stats.multivariate_normal([0, 0], [[1, latent], [latent, 1]]).cdf(bounds)
        assert abs(pairs.mean() - expected) < 5.5 * pairs.std() / np.sqrt(pairs.size)


def test_hard_messages_have_fewer_fills_found_and_more_of_them_wrong(large: Outputs) -> None:
    possible, actual, correct, partial = relevant_fills(large)[:, 0]
    filled = correct + partial
    assert stats.spearmanr(filled / possible, actual - filled).statistic < -0.2


def test_parts_of_a_message_have_streams_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found, what is half right and what is wrong are independent, given what there is to find."""
    for name, value in (("BETWEEN", 0), ("WITHIN", 0), ("RELEVANT", 1)):
        monkeypatch.setattr(MODULE, name, value)
    possible, actual, correct, half = muc_like(1, 6000).statistics[0].T.astype(np.float64)
    filled = correct + half
    r = np.corrcoef([possible, filled / possible, half / filled.clip(1), actual - filled])
    assert np.abs(r - np.eye(4)).max() < 6 / np.sqrt(6000)


def test_no_stream_is_drawn_from_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part of every system has a seed of its own, also the parts that have no column."""
    seeds, begin = [], np.random.default_rng

    def begun(seed: object) -> np.random.Generator:
        seeds.append(repr(seed))
        return begin(seed)  # type: ignore[arg-type]

    monkeypatch.setattr(np.random, "default_rng", begun)
    for seed in (0, 1, 2, 1 + 2**32):
        muc_like(5, 40, seed)
    assert len(set(seeds)) == len(seeds) == 4 * (3 + 5 * 3)


def test_a_longer_test_set_begins_with_a_shorter_one() -> None:
    longer, shorter = muc_like(3, 80, 4), muc_like(3, 50, 4)
    np.testing.assert_array_equal(shorter.statistics, longer.statistics[:, :50])
    assert shorter.items["id"].tolist() == longer.items["id"].tolist()[:50]
    assert (muc_like(3, 80, 5).statistics != longer.statistics).any()
