"""An annotated grammar's shares and tables by plain loops; what the fine pass keeps against a chart of dictionaries."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

from simstudy_learners.constituency.fine_grammar import Fine, fine_grammar, slot_of
from simstudy_learners.constituency.fine_pass import FineBeam, best_parse
from simstudy_learners.constituency.grammars import Rules

# TOP; two plain tags, of two kinds and of one; two plain phrases, of three kinds and of two.
COARSE = np.array([0, 1, 1, 2, 3, 3, 3, 4, 4], dtype=np.int32)
COUNT = np.array([40.0, 90.0, 2.0, 30.0, 50.0, 7.0, 1.0, 4.0, 1.0])
N_TAGS, N_WORDS = 3, 4
PHRASES = range(1 + N_TAGS, len(COARSE))

Node = tuple[int, int, int]
# Probability, nodes, and the symbols of the same span on which it stands.
Made = tuple[float, list[Node], list[int]]


def random_rules(rng: np.random.Generator) -> Rules:
    """Rules over any pair, and chains of unary rules without cycles."""
    every = range(1, len(COARSE))
    binary = [(p, a, b) for a, b, p in product(every, every, (0, *PHRASES)) if rng.random() < 0.3]
    unary = [(p, c) for c, p in product(every, PHRASES) if c < p and rng.random() < 0.4]
    return Rules(
        np.array(binary, dtype=np.int32), rng.uniform(0.01, 0.3, len(binary)),
        np.array(unary, dtype=np.int32), rng.uniform(0.01, 0.9, len(unary)),
    )  # fmt: skip


class Sentence(NamedTuple):
    """P(word | tag), and by span and plain symbol what the coarse pass says."""

    words: Any
    inside: Any
    outside: Any


def random_sentence(rng: np.random.Generator) -> Sentence:
    words = rng.uniform(0.1, 1, (N_WORDS, N_TAGS)) * (rng.random((N_WORDS, N_TAGS)) < 0.8)
    words[:, 0] += 0.01
    inside, outside = rng.uniform(0.1, 1, (2, N_WORDS, N_WORDS + 1, 1 + int(COARSE.max())))
    inside[0, N_WORDS, 0] = outside[0, N_WORDS, 0] = 1.0
    return Sentence(words, inside, outside)


def shares(count: Any) -> list[float]:
    """The count of each symbol over the counts of all with its plain symbol."""
    found = []
    for symbol, n in zip(COARSE, count, strict=True):
        every = sum(other for one, other in zip(COARSE, count, strict=True) if one == symbol)
        found.append(n / every if every else 0.0)
    return found


def plain_parse(sentence: Sentence, rules: Rules, share: list[float], beam: FineBeam) -> list[Node]:
    """The best parse among what is left: of each span and symbol its best probability, and its nodes."""
    words, inside, outside = sentence
    kept: dict[tuple[int, int], dict[int, Made]] = {}
    for length in range(1, N_WORDS + 1):
        for i in range(N_WORDS - length + 1):
            j = i + length
            least = beam.posterior * inside[0, N_WORDS, 0]
            here = [inside[i, j, plain] * outside[i, j, plain] >= least for plain in COARSE]
            made: dict[int, Made] = {}

            def better(symbol: int, new: Made, here: Any = here, made: Any = made) -> bool:
                if not here[symbol] or new[0] <= made.get(symbol, (0.0,))[0]:
                    return False
                made[symbol] = new
                return True

            if length == 1:
                for tag, p in enumerate(words[i], start=1):
                    better(tag, (p, [(tag, i, j)], []))
            for (parent, a, b), weight in zip(rules.binary.tolist(), rules.binary_weight, strict=True):
                for k in range(i + 1, j):
                    if a in kept[i, k] and b in kept[k, j]:
                        (p, one, _), (q, other, _) = kept[i, k][a], kept[k, j][b]
                        better(parent, (p * q * weight, [(parent, i, j), *one, *other], []))
            again = True
            while again:
                again = False
                for (parent, child), weight in zip(rules.unary.tolist(), rules.unary_weight, strict=True):
                    if child in made:
                        p, nodes, under = made[child]
                        again |= better(parent, (p * weight, [(parent, i, j), *nodes], [*under, child]))
            merit = {s: one[0] * share[s] * outside[i, j, COARSE[s]] for s, one in made.items()}
            good = {s for s in made if merit[s] >= beam.share * max(merit.values())}
            good |= {under for s in good for under in made[s][2]}
            kept[i, j] = {s: made[s] for s in good}
    top = kept[0, N_WORDS].get(0)
    return top[1] if top else []


def fine_of(rules: Rules, count: Any = COUNT) -> Fine:
    return fine_grammar(rules, COARSE, np.asarray(count))


@pytest.mark.parametrize("seed", range(3))
def test_a_share_is_a_count_over_the_count_of_its_plain_symbol(seed: int) -> None:
    """Also where counts are fractions, and where a plain symbol was never seen."""
    rng = np.random.default_rng(seed)
    rules = random_rules(rng)
    drawn = rng.uniform(0, 9, len(COARSE))
    for count in (COUNT, drawn, np.where(COARSE == 3, 0.0, drawn)):
        np.testing.assert_allclose(fine_of(rules, count).share, shares(count))


def test_every_rule_is_found_by_its_children() -> None:
    rules = random_rules(np.random.default_rng(0))
    fine = fine_of(rules)
    n = len(COARSE)
    for a, b in product(range(n), repeat=2):
        expected = [
            (parent, weight)
            for (parent, *children), weight in zip(rules.binary.tolist(), rules.binary_weight, strict=True)
            if children == [a, b]
        ]
        slot = slot_of.py_func(fine.keys, a * n + b)
        rows = range(0)
        if fine.keys[slot] == a * n + b:
            rows = range(fine.first[fine.slots[slot]], fine.first[fine.slots[slot] + 1])
        assert [(fine.parent[r], fine.weight[r]) for r in rows] == expected
    for child in range(n):
        rows = range(fine.unary_first[child], fine.unary_first[child + 1])
        assert [(fine.unary_parent[r], fine.unary_weight[r]) for r in rows] == [
            (parent, weight)
            for (parent, below), weight in zip(rules.unary.tolist(), rules.unary_weight, strict=True)
            if below == child
        ]


BEAMS = [FineBeam(0.0, 0.0), FineBeam(0.0, 1e-3), FineBeam(0.0, 0.03), FineBeam(0.0, 0.3), FineBeam(0.1, 0.03)]


@pytest.mark.parametrize("beam", BEAMS)
def test_what_is_kept_goes_by_probability_share_and_what_is_outside(beam: FineBeam) -> None:
    changed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rules, sentence = random_rules(rng), random_sentence(rng)
        found = [(s, i, j) for s, i, j in best_parse(*sentence, fine_of(rules), beam).tolist()]
        assert found == plain_parse(sentence, rules, shares(COUNT), beam), seed
        # Of all nodes instead of its plain symbol's: what the beam leaves then is something else in some of these.
        of_all = [n / COUNT.sum() for n in COUNT]
        changed += found != plain_parse(sentence, rules, of_all, beam)
    assert (changed > 0) == (beam.share > 1e-3)
