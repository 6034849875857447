"""The compiled parser against the enumeration of all parses."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from simstudy_learners.constituency.coarse_pass import Coarse, CoarseBeam, coarse_grammar, coarse_pass
from simstudy_learners.constituency.fine_grammar import Fine, fine_grammar
from simstudy_learners.constituency.fine_pass import FineBeam, best_parse
from simstudy_learners.constituency.grammars import Rules

N_SYMBOLS, N_TAGS = 7, 3
PHRASES = range(1 + N_TAGS, N_SYMBOLS)
Parse = tuple[float, tuple[tuple[int, int, int], ...]]
EVERYTHING = FineBeam(posterior=0.0, share=0.0)


def random_rules(seed: int, density: float = 0.5) -> Rules:
    """TOP over phrases and tags, phrases over any pair; chains of unary rules without cycles."""
    rng = np.random.default_rng(seed)
    binary = [
        (p, a, b) for p in (0, *PHRASES) for a, b in product(range(1, N_SYMBOLS), repeat=2) if rng.random() < density
    ]
    chains = [(p, c) for p in PHRASES for c in range(1, p) if rng.random() < density + 0.2]
    unary = [(0, c) for c in range(1, N_SYMBOLS)] + chains
    pairs = np.array(sorted(binary, key=lambda rule: (rule[1], rule[2], rule[0])), dtype=np.int32)
    singles = np.array(sorted(unary, key=lambda rule: rule[1]), dtype=np.int32)
    return Rules(pairs, rng.uniform(0.01, 0.3, len(pairs)), singles, rng.uniform(0.01, 0.3, len(singles)))


def grammars(rules: Rules) -> tuple[Coarse, Fine]:
    flat = np.ones((N_SYMBOLS, N_TAGS + 1))
    n = np.arange(N_SYMBOLS, dtype=np.int32)
    return coarse_grammar(rules, N_SYMBOLS, flat, flat, flat), fine_grammar(rules, n, np.ones(N_SYMBOLS))


def all_parses(rules: Rules, words: Any) -> list[Parse]:
    """Every parse of a sentence: its probability, and its nodes from the top."""

    def below(symbol: int, i: int, j: int) -> list[Parse]:
        if symbol == 0 and (i, j) != (0, len(words)):
            return []
        node = (symbol, i, j)
        found = [(words[i, symbol], (node,))] if j == i + 1 and words[i, symbol] > 0 else []
        for (parent, child), weight in zip(rules.unary.tolist(), rules.unary_weight, strict=True):
            if parent == symbol:
                found += [(weight * p, (node, *nodes)) for p, nodes in below(child, i, j)]
        for (parent, left, right), weight in zip(rules.binary.tolist(), rules.binary_weight, strict=True):
            if parent == symbol:
                for k in range(i + 1, j):
                    pairs = product(below(left, i, k), below(right, k, j))
                    found += [(weight * p * q, (node, *one, *other)) for (p, one), (q, other) in pairs]
        return found

    return below(0, 0, len(words))


def random_words(seed: int, n: int) -> Any:
    words = np.zeros((n, N_SYMBOLS))
    words[:, 1 : 1 + N_TAGS] = np.random.default_rng(seed).uniform(0.1, 1, (n, N_TAGS))
    words[::2, 1] = 0
    return words


def of_tags(words: Any, n_tags: int = N_TAGS) -> Any:
    """In one piece, as the parser gives them: the best parse is compiled for another layout, too."""
    return np.ascontiguousarray(words[:, 1 : 1 + n_tags])


# Longer sentences have so many parses only by grammars of few rules.
CASES = [(seed, n, 0.5) for n in (1, 2, 3) for seed in range(2)] + [(seed, n, 0.12) for n in (4, 5) for seed in (1, 3)]


@pytest.mark.parametrize(("seed", "n", "density"), CASES)
def test_inside_outside_and_best_parse_are_those_of_all_parses(seed: int, n: int, density: float) -> None:
    rules, words = random_rules(seed, density), random_words(seed, n)
    coarse, fine = grammars(rules)
    flat = np.ones((n + 1, N_SYMBOLS))
    inside, outside = coarse_pass(words, flat, flat, coarse, CoarseBeam(0.0, 0.0))
    parses = all_parses(rules, words)
    assert len(parses) > 1
    np.testing.assert_allclose(inside[0, n, 0], sum(p for p, _ in parses))
    expected: Counter[tuple[int, int, int]] = Counter()
    for p, nodes in parses:
        for node in nodes:
            expected[node] += p
    for i, j, symbol in product(range(n), range(n + 1), range(N_SYMBOLS)):
        np.testing.assert_allclose(inside[i, j, symbol] * outside[i, j, symbol], expected[symbol, i, j], atol=1e-15)
    best = max(parses)[1]
    assert best_parse(of_tags(words), inside, outside, fine, EVERYTHING).tolist() == [list(node) for node in best]
    # Nothing is lost by looking only at what the coarse pass allows, nor found by looking at everything.
    free = np.ones_like(inside)
    assert best_parse(of_tags(words), free, free, fine, EVERYTHING).tolist() == [list(node) for node in best]


@pytest.mark.parametrize("seed", [1])
def test_what_is_pruned_by_posterior_is_what_is_below_the_threshold(seed: int) -> None:
    """Of all parses whose nodes all have enough of the probability, the best is found; none where there is no such."""
    rules, words = random_rules(seed), random_words(seed, 3)
    coarse, fine = grammars(rules)
    flat = np.ones((4, N_SYMBOLS))
    inside, outside = coarse_pass(words, flat, flat, coarse, CoarseBeam(0.0, 0.0))
    posterior = inside * outside / inside[0, 3, 0]
    parses = all_parses(rules, words)
    for threshold in (0.05, 0.2, 0.6):
        left = [parse for parse in parses if all(posterior[i, j, s] >= threshold for s, i, j in parse[1])]
        found = best_parse(of_tags(words), inside, outside, fine, FineBeam(posterior=threshold, share=0.0))
        assert found.tolist() == ([list(node) for node in max(left)[1]] if left else [])


def test_cycles_of_unary_rules_are_summed_in_the_coarse_pass_and_not_entered_by_the_best_parse() -> None:
    """A -> B and B -> A with a half each: the chains above a tag are a geometric series."""
    rules = Rules(
        np.empty((0, 3), dtype=np.int32), np.empty(0),
        np.array([(4, 1), (5, 4), (0, 4), (4, 5)], dtype=np.int32), np.array([0.5, 0.5, 1.0, 0.5]),
    )  # fmt: skip
    coarse, fine = grammars(rules)
    words = np.zeros((1, N_SYMBOLS))
    words[0, 1] = 1.0
    flat = np.ones((2, N_SYMBOLS))
    inside, outside = coarse_pass(words, flat, flat, coarse, CoarseBeam(0.0, 0.0))
    np.testing.assert_allclose(inside[0, 1, [0, 4, 5]], [0.5 / 0.75, 0.5 / 0.75, 0.25 / 0.75])
    # The tag is there once in every derivation.
    np.testing.assert_allclose(inside[0, 1, 1] * outside[0, 1, 1], inside[0, 1, 0])
    assert best_parse(of_tags(words, 1), inside, outside, fine, EVERYTHING).tolist() == [
        [0, 0, 1],
        [4, 0, 1],
        [1, 0, 1],
    ]


def test_a_sentence_that_no_rule_covers_has_no_parse() -> None:
    rules = random_rules(0)._replace(binary=np.empty((0, 3), dtype=np.int32), binary_weight=np.empty(0))
    coarse, fine = grammars(rules)
    words, flat = random_words(0, 2), np.ones((3, N_SYMBOLS))
    inside, outside = coarse_pass(words, flat, flat, coarse, CoarseBeam(0.0, 0.0))
    assert inside[0, 2, 0] == 0
    assert best_parse(of_tags(words), inside, outside, fine, EVERYTHING).shape == (0, 3)
