"""The arc-hybrid transition system and its dynamic oracle; compiled.

The transitions are those of Kuhlmann et al. (2011), the oracle that of Goldberg and Nivre (2013, section 4.2). A state
is a stack, which begins with the root (word 0), the words from `front` on, and the heads given so far. A dependent gets
its head when it leaves the stack. The root takes its one dependent last, so that every parse has exactly one.
"""

from __future__ import annotations

from typing import NamedTuple

from numba import njit

from simstudy_learners.dependencies.sentences import Integers

#: Push the front word; pop the top of the stack as a dependent of the front, or of the next on the stack.
SHIFT, LEFT, RIGHT = 0, 1, 2

#: What a transition costs that is not legal.
NEVER = 1 << 30


#: What `State.at` has in its entries: the size of the stack, and the first word that was not yet pushed.
SIZE, FRONT = 0, 1


class State(NamedTuple):
    """A state of the system, which transitions change.

    Attributes
    ----------
    stack
        Words of the stack from the bottom on.
    at
        (2,) see `SIZE` and `FRONT`.
    heads
        (words,) those given so far.
    outer
        (4, words) each word's outermost child to the left and the one inside it, and the same to the right.
    n_children
        (2, words) how many there are on each side.
    """

    stack: Integers
    at: Integers
    heads: Integers
    outer: Integers
    n_children: Integers


@njit(cache=True, nogil=True)
def legal(transition, state, n):
    """Whether a transition may be taken in a sentence of n words."""
    size, front = state.at[SIZE], state.at[FRONT]
    if transition == SHIFT:
        return front <= n
    if size < 2:
        return False
    if transition == LEFT:
        return front <= n
    return size > 2 or front > n


@njit(cache=True, nogil=True)
def losses(state, gold, cost):
    """Fill cost (3,): how many of the gold arcs still to be had a transition loses; NEVER where it is not legal.

    gold (n + 2,) are the heads of the words 1 … n.
    """
    n = len(gold) - 2
    for transition in range(3):
        cost[transition] = 0 if legal(transition, state, n) else NEVER
    stack, size, front = state.stack, state.at[SIZE], state.at[FRONT]
    top = stack[size - 1]
    if front <= n:
        # The front gets no head further down the stack, and no dependent in it.
        for i in range(size - 1):
            cost[SHIFT] += gold[front] == stack[i]
        for i in range(1, size):
            cost[SHIFT] += gold[stack[i]] == front
    if size >= 2:
        dependents = 0
        for word in range(front, n + 1):
            dependents += gold[word] == top
        cost[LEFT] += dependents + (gold[top] > front or gold[top] == stack[size - 2])
        cost[RIGHT] += dependents + (gold[top] >= front)


@njit(cache=True, nogil=True)
def take(transition, state):
    """Take a transition: the state becomes the one after it."""
    stack, at, heads, outer, n_children = state
    size, front = at[SIZE], at[FRONT]
    if transition == SHIFT:
        stack[size] = front
        at[SIZE], at[FRONT] = size + 1, front + 1
        return
    top = stack[size - 1]
    head = front if transition == LEFT else stack[size - 2]
    side = 0 if transition == LEFT else 1
    heads[top] = head
    outer[2 * side + 1, head] = outer[2 * side, head]
    outer[2 * side, head] = top
    n_children[side, head] += 1
    at[SIZE] = size - 1
