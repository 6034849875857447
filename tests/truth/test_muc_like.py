from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.outputs import Outputs
from simstudy.truth.muc_like import MEAN_POSSIBLE, VARIANCE_RATIO, muc_like

PAIR = {"n_systems": 2, "recalls": [0.5, 0.5], "precisions": [0.4, 0.4]}


def found_shares(outputs: Outputs) -> np.ndarray:
    """Of the possible fills of each relevant message, the share found (in whole or in part), shape (K, messages)."""
    fills = outputs.statistics[:, outputs.items["relevant"].to_numpy()]
    return fills[..., 2:].sum(axis=-1) / fills[..., 0]


def test_as_at_muc_4() -> None:
    outputs = muc_like()
    assert (outputs.n_systems, outputs.n_items, outputs.metric.name) == (17, 100, "muc_f")
    assert outputs.names[0] == "system-01"
    assert list(outputs.items.columns) == ["id", "relevant"]
    true = outputs.systems
    # Chinchor (1992) reports a lowest recall of 2.5 (with precision 20.8), and an F of 56.01 for GE.
    assert true["true_recall"].agg(["min", "max"]).tolist() == pytest.approx([2.5, 56])
    assert 18 < true["true_precision"].min() < 22 < 55 < true["true_precision"].max() < 60
    assert 4 < true["true_score"].min() < 6 < 55 < true["true_score"].max() < 58
    # Neither metric orders the systems as the other does.
    orders = [np.argsort(outputs.with_metric(name).scores()).tolist() for name in ("muc_recall", "muc_precision")]
    assert orders[0] != orders[1]


@pytest.mark.parametrize("options", [{}, {"partial": 0.0}, {"relevant": 1.0}, {"between": 0.0, "within": 1.0}])
def test_rules_hold(options: dict[str, float]) -> None:
    outputs = muc_like(**options)  # type: ignore[arg-type]
    assert outputs.statistics.dtype == np.int64
    possible, actual, correct, partial = np.moveaxis(outputs.statistics, -1, 0)
    for name in ("muc_recall", "muc_precision", "muc_f_2p", "muc_f_2r"):
        outputs.with_metric(name)  # checks the rules of its statistics
    assert (correct + partial <= np.minimum(possible, actual)).all()
    relevant = outputs.items["relevant"].to_numpy()
    assert ((possible > 0) == relevant).all()
    assert (possible == possible[0]).all()
    assert relevant.all() or actual[:, ~relevant].any()
    assert (partial == 0).all() == (options.get("partial") == 0)


def test_truth_is_what_large_test_sets_come_to() -> None:
    outputs = muc_like(4, 60_000, recalls=[0.6, 0.3, 0.3, 0.05], precisions=[0.6, 0.6, 0.25, 0.3], relevant=0.4, seed=3)
    true = outputs.systems
    for metric, column in (("muc_recall", "true_recall"), ("muc_precision", "true_precision"), ("muc_f", "true_score")):
        scores, expected = outputs.with_metric(metric).scores(), true[column].to_numpy()
        # Standard errors, from 60 parts of 1000 messages, are 0.1 to 0.4 points.
        parts = [
            outputs.take(np.arange(start, start + 1000)).with_metric(metric).scores()
            for start in range(0, 60_000, 1000)
        ]
        error = np.std(parts, axis=0) / np.sqrt(60)
        assert (error < 0.5).all()
        assert (np.abs(scores - expected) < 5.5 * error).all()
    assert true["true_score"][0] == pytest.approx(60)  # P = R = F
    assert true["true_score"][2] == pytest.approx(100 * stats.hmean([0.3, 0.25]))
    assert outputs.items["relevant"].mean() == pytest.approx(0.4, abs=0.011)  # 5.5 standard errors


def test_sizes_of_messages() -> None:
    outputs = muc_like(1, 20_000, recalls=[0.5], precisions=[0.5], seed=5)
    possible = outputs.statistics[0, outputs.items["relevant"].to_numpy(), 0]
    assert possible.min() == 1
    expected = stats.nbinom((MEAN_POSSIBLE - 1) / (VARIANCE_RATIO - 1), 1 / VARIANCE_RATIO, loc=1)
    assert (expected.mean(), expected.var()) == pytest.approx((20, 8 * 19))
    edges = expected.ppf([0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]) + 0.5
    counts = np.histogram(possible, edges)[0]
    shares = np.diff(expected.cdf(edges))
    assert stats.chisquare(counts, shares / shares.sum() * counts.sum()).pvalue > 1e-6


def test_latent_correlations_are_what_was_asked_for() -> None:
    """At recall 1/2 Sheppard's formula holds: both of two fills are found with chance 1/4 + arcsin(rho) / 2 pi."""
    between, within = 0.35, 0.6
    outputs = muc_like(**PAIR, n_messages=30_000, partial=0, between=between, within=within, seed=1)  # type: ignore[arg-type]
    possible, _, found, _ = np.moveaxis(outputs.statistics[:, outputs.items["relevant"].to_numpy()], -1, 0)
    both_systems = found[0] * found[1] / possible[0] ** 2
    large = possible[0] > 1
    both_fills = (found[0] * (found[0] - 1))[large] / (possible[0] * (possible[0] - 1))[large]
    for pairs, latent in ((both_systems, between), (both_fills, within)):
        error = pairs.std() / np.sqrt(pairs.size)
        assert abs(pairs.mean() - (1 / 4 + np.arcsin(latent) / (2 * np.pi))) < 5.5 * error


def test_hard_messages_have_fewer_fills_found_and_more_of_them_wrong() -> None:
    outputs = muc_like(**PAIR, n_messages=4000)  # type: ignore[arg-type]
    fills = outputs.statistics[0, outputs.items["relevant"].to_numpy()]
    wrong = fills[:, 1] - fills[:, 2] - fills[:, 3]
    assert stats.spearmanr(found_shares(outputs)[0], wrong).statistic < -0.2


def test_a_seed_is_a_test_set_and_a_part_does_not_depend_on_the_rest() -> None:
    levels = {"recalls": [0.5, 0.4, 0.3], "precisions": [0.5, 0.3, 0.4]}
    whole = muc_like(3, 80, **levels, seed=4)
    assert muc_like(3, 80, **levels, seed=4).fingerprint() == whole.fingerprint()
    assert (muc_like(3, 80, **levels, seed=5).statistics != whole.statistics).any()
    fewer = muc_like(2, 50, recalls=[0.5, 0.4], precisions=[0.5, 0.3], seed=4)
    np.testing.assert_array_equal(fewer.statistics, whole.statistics[:2, :50])
    assert fewer.items["id"].tolist() == whole.items["id"].tolist()[:50]
    assert muc_like(seed=np.int64(3)).fingerprint() == muc_like(seed=3).fingerprint()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_systems": 0}, "n_systems must be at least 1, not 0"),
        ({"n_messages": 2.5}, "n_messages must be a whole number"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"relevant": 0}, "relevant must be a share above 0 and at most 1, not 0"),
        ({"partial": 1}, "partial must be a share of at least 0 and below 1, not 1"),
        ({"between": 0.7}, "0 <= between <= within <= 1, not 0.7 and 0.5"),
        ({"within": float("nan")}, "within must be a number, not nan"),
        ({"n_systems": 2, "recalls": [0.5]}, "recalls must be 2 fractions, as n_systems says"),
        ({"n_systems": 1, "recalls": [0.96]}, "recalls must lie above 0 and below 1 - partial / 2 = 0.95"),
        ({"n_systems": 1, "precisions": [0]}, "precisions must lie above 0"),
    ],
)
def test_bad_input(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        muc_like(**options)  # type: ignore[arg-type]
