"""The hidden Markov model against enumeration of all state sequences, and against copies of weighted sentences."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from simstudy_learners.sequences.hidden_markov import Emissions, Transitions, count_transitions, decode


def _random_corpus(rng: np.random.Generator, n_states: int) -> tuple[np.ndarray, np.ndarray]:
    lengths = rng.integers(1, 8, 12)
    return rng.integers(1, n_states, lengths.sum()), np.concatenate([[0], np.cumsum(lengths)])


def _random_emissions(rng: np.random.Generator, n_symbols: int, n_states: int) -> Emissions:
    possible = [np.sort(rng.permutation(np.arange(1, n_states))[: rng.integers(1, n_states)]) for _ in range(n_symbols)]
    first = np.concatenate([[0], np.cumsum([len(states) for states in possible])])
    states = np.concatenate(possible)
    return Emissions(first, states, np.log(rng.random(len(states))))


def _log_probability(transitions: Transitions, emissions: Emissions, symbols: list[int], states: list[int]) -> float:
    total, padded = 0.0, [0, 0, *states, 0]
    for a, b, c in zip(padded, padded[1:], padded[2:], strict=False):
        total += np.log(transitions.probability(a, b, c))
    for symbol, state in zip(symbols, states, strict=True):
        own = slice(emissions.first[symbol], emissions.first[symbol + 1])
        total += dict(zip(emissions.states[own], emissions.log_probabilities[own], strict=True)).get(state, -np.inf)
    return total


@pytest.mark.parametrize("seed", range(10))
def test_viterbi_finds_the_best_of_all_sequences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_states = int(rng.integers(2, 6))
    states, first = _random_corpus(rng, n_states)
    transitions = count_transitions(states, first, np.ones(len(first) - 1, np.int64), n_states)
    emissions = _random_emissions(rng, 6, n_states)
    lengths = [1, 5, 0, 3, 4, 5]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    symbols = rng.integers(0, 6, bounds[-1])
    found = decode(transitions, emissions, symbols, bounds)
    for begin, end in pairwise(bounds):
        given = symbols[begin:end].tolist()
        every = (list(one) for one in product(range(1, n_states), repeat=len(given)))
        best = max(every, key=lambda one: _log_probability(transitions, emissions, given, one))
        assert found[begin:end].tolist() == best


def test_probabilities_of_the_next_state_sum_to_one_after_any_two() -> None:
    rng = np.random.default_rng(1)
    states, first = _random_corpus(rng, 9)
    # State 8 is in no sentence.
    states = np.minimum(states, 7)
    transitions = count_transitions(states, first, rng.integers(0, 3, len(first) - 1), 9)
    for a, b in product(range(9), repeat=2):
        assert sum(transitions.probability(a, b, c) for c in range(9)) == pytest.approx(1)


def test_deleted_interpolation_on_a_corpus_counted_by_hand() -> None:
    """Sentences "1 2", "1 2", "2": trigrams 001 (2), 012 (2), 120 (2), 002, 020, of N = 8.

    Brants' quotients for orders 1, 2 and 3 are: 001: 1/7, 1/2, 1/2; 012: 2/7, 1/1, 1/1; 120: 2/7, 2/2, 1/1; 002:
    2/7, 0/2, 0/2; 020: 2/7, 2/2, 0/0 = 0. Of equal ones the lower order counts: orders get 1, 2 + 2 + 2 + 1, 0.
    """
    transitions = count_transitions(np.array([1, 2, 1, 2, 2]), np.array([0, 2, 4, 5]), np.array([1, 1, 1]), 3)
    l1, l2, l3 = 2 / 11, 8 / 11, 1 / 11
    assert transitions.probability(0, 0, 1) == pytest.approx(l1 * 2 / 8 + l2 * 2 / 3 + l3 * 2 / 3)
    assert transitions.probability(1, 2, 0) == pytest.approx(l1 * 3 / 8 + l2 * 3 / 3 + l3 * 2 / 2)
    # Never seen: the third order's weight goes to the other two.
    assert transitions.probability(2, 1, 2) == pytest.approx((l1 * 3 / 8 + l2 * 2 / 2) / (l1 + l2))


def test_weights_are_copies() -> None:
    rng = np.random.default_rng(2)
    states, first = _random_corpus(rng, 5)
    weights = rng.integers(0, 4, len(first) - 1)
    copies = [states[first[k] : first[k + 1]] for k in np.repeat(np.arange(len(weights)), weights)]
    bounds = np.concatenate([[0], np.cumsum([len(copy) for copy in copies])])
    weighted = count_transitions(states, first, weights, 5)
    copied = count_transitions(np.concatenate(copies), bounds, np.ones(len(copies), np.int64), 5)
    for a, b, c in product(range(5), repeat=3):
        assert weighted.probability(a, b, c) == copied.probability(a, b, c) > 0


def test_nothing_to_count_is_an_error() -> None:
    with pytest.raises(ValueError, match="weights must give at least one sentence a count above 0"):
        count_transitions(np.array([1, 2]), np.array([0, 2]), np.array([0]), 3)
