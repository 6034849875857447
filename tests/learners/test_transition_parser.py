"""The arc-hybrid system's oracle against what can be reached; the perceptron against one written down plainly."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from simstudy_learners.dependencies import arc_hybrid
from simstudy_learners.dependencies.arc_hybrid import FRONT, LEFT, NEVER, RIGHT, SHIFT, SIZE, legal, losses, take
from simstudy_learners.dependencies.hashed_features import averaged, tables
from simstudy_learners.dependencies.parsers import TransitionParser, presentation
from simstudy_learners.dependencies.sentences import sentence_of
from simstudy_learners.dependencies.transition_parser import learn_transitions, state_slots
from tests.learners.trees import Heads, is_tree, projective_trees, random_heads, random_words, trees

State = tuple[tuple[int, ...], int, tuple[int, ...]]


@cache
def successors(state: State, n: int) -> dict[int, State]:
    """The states after each legal transition, by the definition of the system on plain tuples."""
    stack, front, heads = state

    def attached(head: int) -> State:
        return stack[:-1], front, tuple(head if m == stack[-1] else h for m, h in enumerate(heads))

    found = {}
    if front <= n:
        found[SHIFT] = (*stack, front), front + 1, heads
    if len(stack) > 1 and front <= n:
        found[LEFT] = attached(front)
    if len(stack) > 2 or (len(stack) == 2 and front > n):
        found[RIGHT] = attached(stack[-2])
    return found


@cache
def outcomes(state: State, n: int) -> frozenset[Heads]:
    """The trees that can still be reached."""
    after = successors(state, n).values()
    return frozenset().union(*(outcomes(one, n) for one in after)) if after else frozenset([state[2][1:]])


def begin(n: int) -> State:
    return (0,), 1, (-1,) * (n + 1)


def begin_compiled(n: int) -> arc_hybrid.State:
    """The same for compiled functions."""
    stack, heads = np.zeros(n + 2, np.int64), np.full(n + 2, -1)
    outer, n_children = np.full((4, n + 2), n + 1), np.zeros((2, n + 2), np.int64)
    return arc_hybrid.State(stack, np.ones(2, np.int64), heads, outer, n_children)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_all_projective_trees_and_no_others_can_be_reached(n: int) -> None:
    assert outcomes(begin(n), n) == set(projective_trees(n))


def most_right(state: State, n: int, gold: Heads) -> int:
    return max(sum(a == b for a, b in zip(tree, gold, strict=True)) for tree in outcomes(state, n))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_losses_are_what_can_no_longer_be_right(rng: np.random.Generator, n: int) -> None:
    """In states that random transitions lead to, for random projective gold trees."""
    cost = np.empty(3, np.int64)
    seen = 0
    for _ in range(60 * n):
        gold = projective_trees(n)[rng.integers(len(projective_trees(n)))]
        state = begin(n)
        while after := successors(state, n):
            stack = np.array([*state[0], *[-7] * (n + 1)])
            compiled = begin_compiled(n)._replace(stack=stack, at=np.array([len(state[0]), state[1]]))
            losses(compiled, np.array([-1, *gold, -1]), cost)
            for transition in (SHIFT, LEFT, RIGHT):
                assert legal(transition, compiled, n) == (transition in after)
                if transition in after:
                    lost = most_right(state, n, gold) - most_right(after[transition], n, gold)
                    assert cost[transition] == lost, (gold, state, transition)
                    seen += lost > 0
                else:
                    assert cost[transition] >= NEVER
            state = after[rng.choice(list(after))]
    assert seen > 0 or n == 1


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("preferred", [(SHIFT, LEFT, RIGHT), (RIGHT, LEFT, SHIFT), (LEFT, SHIFT, RIGHT)])
def test_transitions_that_lose_nothing_lead_to_the_gold_tree(n: int, preferred: tuple[int, ...]) -> None:
    cost = np.empty(3, np.int64)
    for gold in projective_trees(n):
        state = begin_compiled(n)
        while state.at[SIZE] > 1 or state.at[FRONT] <= n:
            losses(state, np.array([-1, *gold, -1]), cost)
            take(next(t for t in preferred if cost[t] == 0), state)
        assert tuple(state.heads[1 : n + 1]) == gold
        # The children as they can be counted from the tree.
        for head in range(n + 1):
            left = [m for m in range(1, head) if gold[m - 1] == head]
            right = [m for m in range(n, head, -1) if gold[m - 1] == head]
            assert state.n_children[:, head].tolist() == [len(left), len(right)]
            expected = [*[*left, n + 1, n + 1][:2], *[*right, n + 1, n + 1][:2]]
            assert state.outer[:, head].tolist() == expected


def test_averages_are_those_of_whole_weight_vectors(rng: np.random.Generator) -> None:
    """A perceptron on plain tuples, its oracle by enumeration, its average that of the vectors after every step."""
    lengths = [3, 1, 4, 2, 4]
    words, gold = random_words(rng, lengths), random_heads(rng, lengths)
    order = presentation(np.array([1, 1, 2, 0, 1]), 4, seed=3)
    learnt = tables(10, 4)
    n_steps = learn_transitions(words.arrays, gold, order, 5, learnt)
    assert n_steps == sum(2 * lengths[item] for item in order)

    plain, total = np.zeros((2**10, 4)), np.zeros((2**10, 4))
    slots = np.empty(80, np.int64)
    for turn, item in enumerate(order):
        first, last = words.bounds[item : item + 2]
        n, target = lengths[item], tuple(gold[first + 1 : last - 1].tolist())
        state = begin(n)
        compiled = begin_compiled(n)
        while after := successors(state, n):
            assert tuple(compiled.stack[: compiled.at[SIZE]]) == state[0]
            k = state_slots(sentence_of(words.arrays, item), compiled, 2**10 - 1, slots)
            scores = plain[slots[:k]].sum(axis=0)
            guessed = max(sorted(after), key=lambda t: scores[t])
            reach = {t: most_right(one, n, target) for t, one in after.items()}
            good = [t for t in sorted(after) if reach[t] == max(reach.values())]
            aim = guessed if guessed in good else max(good, key=lambda t: scores[t])
            if guessed != aim:
                np.add.at(plain[:, aim], slots[:k], 1)
                np.add.at(plain[:, guessed], slots[:k], -1)
            total += plain
            taken = aim if turn < 5 else guessed
            take(taken, compiled)
            state = after[taken]
    np.testing.assert_array_equal(learnt.weights, plain)
    np.testing.assert_allclose(averaged(learnt, n_steps), total / n_steps, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("right_to_left", [False, True])
def test_a_parser_learns_its_training_set_by_heart(rng: np.random.Generator, right_to_left: bool) -> None:
    lengths = [1, 2, 3, 4, 5] * 5
    words, gold = random_words(rng, lengths, n_forms=2000), random_heads(rng, lengths)
    parser = TransitionParser(epochs=20, right_to_left=right_to_left, bits=16)
    find = parser.learn(words, gold, np.ones(len(lengths), np.int64), seed=0)
    np.testing.assert_array_equal(find(words), gold)


def test_trees_that_are_not_projective_teach_too(rng: np.random.Generator) -> None:
    lengths = [4, 5] * 10
    words, gold = random_words(rng, lengths, n_forms=2000), random_heads(rng, lengths, projective=False)
    find = TransitionParser(epochs=20, bits=16).learn(words, gold, np.ones(len(lengths), np.int64), seed=0)
    found = find(words)
    best = sum(
        max(sum(a == b for a, b in zip(tree, other, strict=True)) for other in projective_trees(n))
        for n, tree in zip(lengths, (tuple(gold[i + 1 : j - 1]) for i, j in _pairs(words.bounds)), strict=True)
    )
    right = ((found == gold) & (gold >= 0)).sum()
    assert all(is_tree(tuple(found[i + 1 : j - 1].tolist())) for i, j in _pairs(words.bounds))
    assert 0.9 * best <= right <= best < sum(lengths)
    assert set(trees(4)) > set(projective_trees(4))


def _pairs(bounds: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True))
