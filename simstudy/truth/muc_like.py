"""Test sets like those of the message understanding conferences: correlated counts of fills with known truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs
from simstudy.running.fingerprints import derived_seed
from simstudy.truth.synthetic import check_correlations
from simstudy.validation import InputError, check_number, check_seed, check_text, check_whole, number_list

#: Fills that a relevant message has, on average.
MEAN_POSSIBLE = 20
#: Fills come by the template: the variance of their number is this many times its mean.
VARIANCE_RATIO = 8
#: Wrong fills on an irrelevant message for each one on a relevant message.
WRONG_ON_IRRELEVANT = 0.4


def muc_like(
    n_systems: int = 17,
    n_messages: int = 100,
    *,
    recalls: Sequence[float] | None = None,
    precisions: Sequence[float] | None = None,
    relevant: float = 0.5,
    partial: float = 0.1,
    between: float = 0.3,
    within: float = 0.5,
    seed: int = 0,
    test_set: str = "messages",
) -> Outputs:
    """Outputs of K systems that fill templates from messages, as at MUC-4 (Chinchor 1992), with known truth.

    A message is relevant with probability `relevant` and then has 1 + NB(19) possible fills, an irrelevant one has
    none; NB(m) is negative binomial with mean m and variance 8 m. System k finds a possible fill of message i where

        sqrt(between) d_i + sqrt(within - between) e_{k, i} + sqrt(1 - within) g

    is below the normal quantile of its chance to find one; d (the message's difficulty, shared by all systems), e (what
    it is to one system) and g (one for each fill) are independent standard normal, as in `correlated_accuracies`. A
    found fill is a partial match with probability `partial`, else correct. Wrong fills (incorrect or spurious) are
    NB(m_k) on a relevant and NB(0.4 m_k) on an irrelevant message: the quantile of the same sum, with a g of their own,
    so that a hard message has fewer fills found and more of them wrong.

    Two systems of equal recall and precision are exchangeable on each message, and messages are independent: a test
    that swaps messages is exact for them.

    Parameters
    ----------
    n_systems
        K, at least 1.
    n_messages
        At least 1. A longer test set with the same seed begins with a shorter one, and a system's numbers do not
        depend on those of others.
    recalls
        K true recalls, fractions above 0 and below 1 - partial / 2 (a partial match is half a fill). By default evenly
        spaced from 0.56 down to 0.025: with the default precisions F goes from 57 to 5, about as at MUC-4, where the
        lowest recall was 2.5 and GE's F 56.01.
    precisions
        K true precisions, within the same bounds. By default 0.2 + 0.6 recall, plus and minus 0.04 in turn: of two
        neighbours one is the more cautious, so that not all metrics order them alike.
    relevant
        Share of relevant messages, above 0 and at most 1.
    partial
        Share of partial matches among the fills found, at least 0 and below 1.
    between, within
        Latent correlations, 0 <= between <= within <= 1: of the fills of one message in two systems, and in one system.
    seed
        0 … 2^64 - 1.

    Returns
    -------
    outputs
        Metric "muc_f", integer statistics (possible, actual, correct, partial). Systems have ``true_recall``,
        ``true_precision`` and ``true_score`` (their F), in percent, which are ratios of expected sums; items have
        ``relevant``.

    Raises
    ------
    ValueError
        For an argument outside its rule.

    Examples
    --------
    >>> outputs = muc_like(n_systems=3, n_messages=2_000, recalls=[0.5, 0.4, 0.1], precisions=[0.5, 0.3, 0.3])
    >>> outputs.with_metric("muc_recall").scores().round(0).tolist()
    [51.0, 40.0, 10.0]
    """
    check_whole("n_systems", n_systems, 1)
    check_whole("n_messages", n_messages, 1)
    check_seed(seed)
    check_text("test_set", test_set)
    check_number("relevant", relevant)
    check_number("partial", partial)
    if not 0 < relevant <= 1:
        raise InputError("relevant", "must be a share above 0 and at most 1", relevant)
    if not 0 <= partial < 1:
        raise InputError("partial", "must be a share of at least 0 and below 1", partial)
    check_correlations(between, within)
    worth = 1 - partial / 2  # of a fill that is found
    recall = _levels("recalls", np.linspace(0.56, 0.025, n_systems) if recalls is None else recalls, n_systems, worth)
    in_turn = np.where(np.arange(n_systems) % 2, -0.04, 0.04)
    given = np.minimum(0.2 + 0.6 * recall + in_turn, worth - 0.01) if precisions is None else precisions
    precision = _levels("precisions", given, n_systems, worth)

    def rng(*what: Any) -> np.random.Generator:
        # A stream for each quantity: none depends on how many messages or systems there are.
        return np.random.default_rng(derived_seed(int(seed), "messages", *what))

    is_relevant = rng("relevant").random(n_messages) < relevant
    sizes = 1 + _negative_binomial(rng("possible").standard_normal(n_messages), MEAN_POSSIBLE - 1)
    possible = np.where(is_relevant, sizes, 0)
    difficulty = np.sqrt(between) * rng("difficulty").standard_normal(n_messages)
    # Wrong fills expected on a relevant message, such that (all expected) recall / precision = actual / possible.
    weight = relevant + (1 - relevant) * WRONG_ON_IRRELEVANT
    means = relevant * MEAN_POSSIBLE * recall * (1 / precision - 1 / worth) / weight
    statistics = np.empty((n_systems, n_messages, 4), dtype=np.int64)
    for k in range(n_systems):
        own, rest = rng("system", k).standard_normal((n_messages, 2)).T
        message = difficulty + np.sqrt(within - between) * own
        found = rng("found", k).binomial(possible, _chance(recall[k] / worth, message, within))
        half = rng("partial", k).binomial(found, partial)
        mean = means[k] * np.where(is_relevant, 1, WRONG_ON_IRRELEVANT)
        wrong = _negative_binomial(message + np.sqrt(1 - within) * rest, mean)
        statistics[k] = np.stack([possible, found + wrong, found - half, half], axis=-1)
    systems = pd.DataFrame(
        {
            "name": [f"system-{k + 1:02d}" for k in range(n_systems)],
            "source": "synthetic",
            "true_score": 200 * precision * recall / (precision + recall),
            "true_recall": 100 * recall,
            "true_precision": 100 * precision,
        }
    )
    items = pd.DataFrame({"id": [f"message-{i + 1:03d}" for i in range(n_messages)], "relevant": is_relevant})
    return Outputs.from_statistics(statistics, "muc_f", systems, items, task="messages", test_set=test_set)


def _levels(argument: str, given: Sequence[float] | FloatArray, n: int, worth: float) -> FloatArray:
    """One level a system, shape (n,), checked."""
    levels = number_list(argument, given)
    if levels.shape != (n,):
        raise InputError(argument, f"must be {n} fractions, as n_systems says", given)
    if not ((levels > 0) & (levels < worth)).all():
        raise InputError(argument, f"must lie above 0 and below 1 - partial / 2 = {worth:g}", given)
    return levels


def _chance(fraction: float, message: FloatArray, within: float) -> FloatArray:
    """P(message + sqrt(1 - within) g < the normal quantile of `fraction`), shape (n messages,)."""
    margin = scipy.stats.norm.ppf(fraction) - message
    if within == 1:
        return (margin > 0).astype(np.float64)
    return np.asarray(scipy.stats.norm.cdf(margin / np.sqrt(1 - within)))


def _negative_binomial(latent: FloatArray, mean: ArrayLike) -> IntArray:
    """Counts with this mean and `VARIANCE_RATIO` times its variance, at the quantiles of standard normal scores."""
    shape = np.asarray(mean) / (VARIANCE_RATIO - 1)
    # By upper tails, which keep their precision where the lower ones round to 1.
    return np.asarray(scipy.stats.nbinom.isf(scipy.stats.norm.sf(latent), shape, 1 / VARIANCE_RATIO)).astype(np.int64)
