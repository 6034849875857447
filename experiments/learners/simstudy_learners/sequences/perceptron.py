"""A greedy tagger with an averaged perceptron: from left to right, with its own last two tags among the features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy.validation import check_whole

Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class GreedyPerceptron:
    """A base system of `Rows` that are words: an averaged perceptron that tags from left to right.

    Attributes
    ----------
    epochs
        How often the training set is gone through, each time in another order.
    view
        The rows' view of numbered features, 0 for none (see `train_perceptron`).
    """

    epochs: int = 5
    view: str = "numbered"

    def __post_init__(self) -> None:
        check_whole("epochs", self.epochs, 1)

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], NDArray[Any]]:
        """Train on the sentences in orders that the seed draws."""
        names, tags = np.unique(examples.gold, return_inverse=True)
        features, first = examples.inputs.features[self.view], examples.inputs.first_rows()
        rng = np.random.default_rng(seed)
        sentences = np.repeat(np.arange(len(weights)), weights)
        order = np.concatenate([rng.permutation(sentences) for _ in range(self.epochs)])
        n_features, n_tags = int(features.max()) + 1, len(names) + 1
        model = train_perceptron(features, tags + 1, first, order, n_features=n_features, n_tags=n_tags)

        def tag(other: Examples) -> NDArray[Any]:
            found: NDArray[Any] = names[model.tag(other.inputs.features[self.view], other.inputs.first_rows()) - 1]
            return found

        return tag


@dataclass(frozen=True)
class Perceptron:
    """Averaged weights (features + S + S * S, S) for S tags; after the features of tokens come those of tags before.

    Tag 0 is the boundary before a sentence, which no token has.
    """

    weights: NDArray[np.float32]

    def tag(self, features: Integers, first: NDArray[np.int64]) -> NDArray[np.int64]:
        """The tags (tokens,) of sentences whose tokens have these features (tokens, F), as in `train_perceptron`."""
        tags: NDArray[np.int64] = _tag(features, first, self.weights)
        return tags


def train_perceptron(
    features: Integers,
    tags: Integers,
    first: NDArray[np.int64],
    order: NDArray[np.int64],
    *,
    n_features: int,
    n_tags: int,
) -> Perceptron:
    """Train on one sentence after the other (Collins 2002, "Discriminative training methods for hidden Markov models").

    The weights are averaged over all tokens that were seen (Freund and Schapire 1999). Decoding is greedy, in training
    as in use, so that the model learns from its own histories.

    A token has features (tokens, F), 0 for none, and a tag (tokens,) from 1 to n_tags - 1. `first` (sentences + 1,) has
    the bounds of the sentences' tokens, `order` the sentences as they are presented, each as often as it is to be.
    `n_features` and `n_tags` are one more than the highest number of a feature and of a tag.

    Examples
    --------
    >>> alternating = np.tile([1, 2], 5)
    >>> no_features = np.zeros((10, 1), np.int32)
    >>> order = np.zeros(50, np.int64)
    >>> model = train_perceptron(no_features, alternating, np.array([0, 10]), order, n_features=1, n_tags=3)
    >>> model.tag(no_features[:4], np.array([0, 4]))
    array([1, 2, 1, 2])
    """
    shape = n_features + n_tags + n_tags * n_tags, n_tags
    learnt = _Learnt(np.zeros(shape, np.float32), np.zeros(shape))
    steps = _train(features, tags, first, order, learnt)
    return Perceptron((learnt.late / -steps + learnt.weights).astype(np.float32))


class _Learnt(NamedTuple):
    """Weights, and every change of one times its step.

    An update at step t is in the average of T steps (T - t) / T times: sums weighted by t are all that it needs.
    """

    weights: NDArray[np.float32]
    late: NDArray[np.float64]


@njit(cache=True, nogil=True)
def _history_rows(weights, a, b):
    """The rows of weights for the tag b before a token, and for the tags a and b before it."""
    n_tags = weights.shape[1]
    n_features = weights.shape[0] - n_tags - n_tags * n_tags
    return n_features + b, n_features + n_tags + a * n_tags + b


@njit(cache=True, nogil=True)
def _score(own, history, weights, scores):
    """The best tag of a token with these features, after tags with these rows."""
    n_tags = weights.shape[1]
    before, both_before = history
    # Ties, as of weights that are all 0, are the first tag's.
    for t in range(n_tags):
        scores[t] = weights[before, t] + weights[both_before, t]
    for f in range(len(own)):
        if own[f]:
            row = weights[own[f]]
            for t in range(n_tags):
                scores[t] += row[t]
    return 1 + np.argmax(scores[1:])


@njit(cache=True, nogil=True)
def _change(learnt, row, right, wrong, step):
    weights, late = learnt
    weights[row, right] += 1
    weights[row, wrong] -= 1
    late[row, right] += step
    late[row, wrong] -= step


@njit(cache=True, nogil=True)
def _train(features, tags, first, order, learnt):
    weights = learnt.weights
    scores = np.zeros(weights.shape[1], np.float32)
    step = 0
    for s in order:
        a, b = 0, 0
        for k in range(first[s], first[s + 1]):
            history = _history_rows(weights, a, b)
            guess, right = _score(features[k], history, weights, scores), tags[k]
            if guess != right:
                for f in range(features.shape[1]):
                    if features[k, f]:
                        _change(learnt, features[k, f], right, guess, step)
                for row in history:
                    _change(learnt, row, right, guess, step)
            a, b = b, guess
            step += 1
    return max(step, 1)


@njit(cache=True, nogil=True)
def _tag(features, first, weights):
    scores = np.zeros(weights.shape[1], np.float32)
    tags = np.zeros(len(features), np.int64)
    for s in range(len(first) - 1):
        a, b = 0, 0
        for k in range(first[s], first[s + 1]):
            tags[k] = _score(features[k], _history_rows(weights, a, b), weights, scores)
            a, b = b, tags[k]
    return tags
