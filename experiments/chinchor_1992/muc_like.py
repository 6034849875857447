"""Test sets like those of the message understanding conferences: correlated counts of fills with known truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy

import simstudy as ss
from simstudy.studies import derived_seed

#: Fills that a relevant message has, on average.
MEAN_POSSIBLE = 20
#: Fills come by the template: the variance of their number is this many times its mean.
VARIANCE_RATIO = 8
#: Wrong fills on an irrelevant message for each one on a relevant message.
WRONG_ON_IRRELEVANT = 0.4
#: Share of relevant messages, and share of partial matches among the fills that a system finds.
RELEVANT, PARTIAL = 0.5, 0.1
#: Latent correlations of the fills of one message: in two systems, and in one system.
BETWEEN, WITHIN = 0.3, 0.5


def muc_like(n_systems: int, n_messages: int, seed: int = 0) -> ss.Outputs:
    """Outputs of K systems that fill templates from messages, as at MUC-4 (Chinchor 1992), with known truth.

    A message is relevant with probability `RELEVANT` and then has 1 + NB(19) possible fills, an irrelevant one has
    none; NB(m) is negative binomial with mean m and variance 8 m. System k finds a possible fill of message i where

        sqrt(BETWEEN) d_i + sqrt(WITHIN - BETWEEN) e_{k, i} + sqrt(1 - WITHIN) g

    is below the normal quantile of its chance to find one; d (the message's difficulty, shared by all systems), e (what
    it is to one system) and g (one for each fill) are independent standard normal, as in
    `simstudy.truth.correlated_accuracies`. A fill that a system finds is a partial match with probability `PARTIAL`,
    else correct. Wrong fills (incorrect or spurious) are NB(m_k) on a relevant and NB(0.4 m_k) on an irrelevant
    message: the quantile of the same sum, with a g of their own, so that a hard message has fewer fills found and more
    of them wrong.

    Recalls are evenly spaced from 0.56 down to 0.025, so that F goes from 57 to 5. At MUC-4 the lowest recall was 2.5,
    and the F of GE 56.01. Precisions are 0.2 + 0.6 recall, plus and minus 0.04 in turn: of two neighbours one is the
    more cautious, so that not all metrics order them alike.

    Returns
    -------
    outputs
        Metric "muc_f", integer statistics (possible, actual, correct, partial). Systems have ``true_recall``,
        ``true_precision`` and ``true_score`` (their F), in percent, which are ratios of expected sums; items have
        ``relevant``. A longer test set with the same seed begins with a shorter one.
    """
    recall = np.linspace(0.56, 0.025, n_systems)
    precision = 0.2 + 0.6 * recall + np.where(np.arange(n_systems) % 2, -0.04, 0.04)

    def rng(*what: Any) -> np.random.Generator:
        # A stream for each quantity: none depends on how many messages there are.
        return np.random.default_rng(derived_seed(seed, "messages", *what))

    is_relevant = rng("relevant").random(n_messages) < RELEVANT
    sizes = 1 + _negative_binomial(rng("possible").standard_normal(n_messages), MEAN_POSSIBLE - 1)
    possible = np.where(is_relevant, sizes, 0)
    difficulty = np.sqrt(BETWEEN) * rng("difficulty").standard_normal(n_messages)
    worth = 1 - PARTIAL / 2  # of a fill that a system finds: a partial match is half a fill
    # Wrong fills expected on a relevant message, such that (all expected) recall / precision = actual / possible.
    weight = RELEVANT + (1 - RELEVANT) * WRONG_ON_IRRELEVANT
    means = RELEVANT * MEAN_POSSIBLE * recall * (1 / precision - 1 / worth) / weight
    statistics = np.empty((n_systems, n_messages, 4), dtype=np.int64)
    for k in range(n_systems):
        own, rest = rng("system", k).standard_normal((n_messages, 2)).T
        message = difficulty + np.sqrt(WITHIN - BETWEEN) * own
        chance = scipy.stats.norm.cdf((scipy.stats.norm.ppf(recall[k] / worth) - message) / np.sqrt(1 - WITHIN))
        filled = rng("found", k).binomial(possible, chance)
        half = rng("partial", k).binomial(filled, PARTIAL)
        mean = means[k] * np.where(is_relevant, 1, WRONG_ON_IRRELEVANT)
        wrong = _negative_binomial(message + np.sqrt(1 - WITHIN) * rest, mean)
        statistics[k] = np.stack([possible, filled + wrong, filled - half, half], axis=-1)
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
    return ss.Outputs.from_statistics(statistics, "muc_f", systems, items, task="messages", test_set="MUC-like")


def _negative_binomial(latent: np.ndarray, mean: np.ndarray | float) -> np.ndarray:
    """Counts with this mean and `VARIANCE_RATIO` times its variance, at the quantiles of standard normal scores."""
    shape = np.asarray(mean) / (VARIANCE_RATIO - 1)
    # By upper tails, which keep their precision where the lower ones round to 1.
    return np.asarray(scipy.stats.nbinom.isf(scipy.stats.norm.sf(latent), shape, 1 / VARIANCE_RATIO)).astype(np.int64)
