"""What each feature of the parsers looks at: a word, tag or suffix is changed, and exactly its features change."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from simstudy_learners.dependencies import graph_parser, relation_labeller, transition_parser
from simstudy_learners.dependencies.arc_hybrid import State
from simstudy_learners.dependencies.relation_labeller import N_SLOTS, label_slots
from simstudy_learners.dependencies.sentences import Sentence

N = 30
KINDS = {"f": "form", "t": "tag", "s": "suffix"}


@pytest.fixture(autouse=True)
def spelt_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Features as they are before they are hashed, in functions that are not compiled."""
    for module in (graph_parser, relation_labeller, transition_parser):
        monkeypatch.setattr(module, "slot", lambda template, x, y, mask: (template, int(x), int(y)))
    for name in ("_word_slots", "_tree_slots"):
        monkeypatch.setattr(transition_parser, name, getattr(transition_parser, name).py_func)
    monkeypatch.setattr(graph_parser, "_bucket", graph_parser._bucket.py_func)


FLAT = Sentence(*(np.full(N + 2, value) for value in (40, 5, 60)))


def words_of() -> Sentence:
    """A sentence in which no two words have a form, tag or suffix in common."""
    places = np.arange(N + 2)
    return Sentence(100 + places, (7 * places) % 32, 500 + places)


def changed(before: list[Any], after: list[Any]) -> set[int]:
    assert [one[0] for one in before] == [one[0] for one in after]
    return {one[0] for one, other in zip(before, after, strict=True) if one != other}


def seen_of(make: Any, roles: dict[str, int]) -> dict[int, set[str]]:
    """Template -> the forms, tags and suffixes that it sees, as "f" and the word's role; of others none."""
    found = defaultdict(set)
    before = make(words_of())
    names = {place: role for role, place in roles.items()}
    for kind, field in KINDS.items():
        for place in range(N + 2):
            sentence = words_of()
            # A tag has five bits.
            getattr(sentence, field)[place] ^= 1
            for template in changed(before, make(sentence)):
                found[template].add(kind + names[place])
    return found


def listed(text: str) -> dict[int, set[str]]:
    """Template -> what it sees, from "1 fh th; 2 fh; …"."""
    rows = [row.split() for row in text.split(";")]
    return {int(template): set(seen) for template, *seen in rows}


def arc(sentence: Sentence, h: int = 6, m: int = 9, between: int = 0b100) -> list[Any]:
    slots = np.empty(64, object)
    k = graph_parser.arc_slots.py_func(sentence, (h, m), between, 0, slots)
    return list(slots[:k])


# McDonald et al. (2005, table 1): head h, dependent m, the words before (<) and behind (>) them; and suffixes.
ARCS = """
1 fh th; 2 fh; 3 fm tm; 4 fm; 5 th tm; 6 fh th fm tm; 7 th fm tm; 8 fh fm tm; 9 fh th tm; 10 fh th fm; 11 fh fm;
12 th tm th> tm<; 13 th tm th< tm<; 14 th tm th> tm>; 15 th tm th< tm>; 16 th tm tm<; 17 th tm tm>; 18 th tm th<;
19 th tm th>; 20 sh th tm; 21 th sm tm; 22 sh th sm tm; 23 fh th fm tm; 24 fh fm; 25 fh th tm; 26 th fm tm; 27 fh th;
28 fm tm; 29 th tm; 30 th tm; 31 th< th th>; 32 tm< tm tm>
"""


def test_arcs_see_both_words_and_the_tags_beside_them() -> None:
    roles = {"h<": 5, "h": 6, "h>": 7, "m<": 8, "m": 9, "m>": 10}
    assert seen_of(arc, roles) == listed(ARCS)
    assert len({one[0] for one in arc(words_of())}) == 32


def test_arcs_see_direction_distance_and_each_tag_between() -> None:
    """Distances are told apart up to 5, then 6 to 10, then all others; some features see the direction alone."""
    everything, no_distance = set(range(1, 33)), {*range(23, 30)}
    assert changed(arc(FLAT, 6, 9), arc(FLAT, 9, 6)) == everything
    kinds = [arc(FLAT, 6, 6 + distance) for distance in range(1, 16)]
    same = [[one == other for other in kinds].index(True) + 1 for one in kinds]
    assert same == [1, 2, 3, 4, 5, *[6] * 5, *[11] * 5]
    assert changed(kinds[0], kinds[1]) == changed(kinds[5], kinds[10]) == everything - no_distance
    several = arc(FLAT, 6, 9, 0b10010001)
    assert [one for one in several if one[0] == 30] == [(30, arc(FLAT)[-1][1], tag) for tag in (0, 4, 7)]
    assert len(several) == 31 + 3


LABELS = """
1 th tm; 2 th tm; 3 fm tm; 4 fh th; 5 fm tm th; 6 fh th tm; 7 fh fm; 8 th tm sm; 9 th tm sh; 10 th tm tm<;
11 th tm tm>; 12 th tm th< th>; 13 th tm tm< tm>; 14 th tm tabove; 15 th tm tleft; 16 th tm tright; 17 th tm fleft;
18 th tm fright; 19 th tm tbefore tafter; 20 th tm fbefore; 21 th tm fafter; 22 fh th fleft; 23 fm tm fleft;
24 fh th tm tafter; 25 th tm fm<; 26 th tm fm>; 27 th tm tfirst tlast; 28 th tm ffirst; 29 tm
"""
ROLES = {
    "above": 2, "first": 3, "left": 4, "h<": 6, "h": 7, "h>": 8, "before": 10, "m<": 11, "m": 12, "m>": 13,
    "right": 16, "after": 18, "last": 19,
}  # fmt: skip


TREE = {7: 2, **dict.fromkeys((3, 9, 10, 12, 18, 19), 7), **dict.fromkeys((4, 5, 14, 16), 12)}


def labels(sentence: Sentence, m: int = 12, tree: dict[int, int] = TREE) -> list[Any]:
    """Of the arc from 7 to 12, with siblings and children in between; words that are not named are below 25."""
    heads = np.full(N + 2, 25)
    heads[[0, 25, -1]] = -1, 0, -1
    heads[list(tree)] = list(tree.values())
    slots = np.empty(N_SLOTS, object)
    found = relation_labeller._tree.py_func(heads, np.empty((2, N + 2), np.int64))
    label_slots.py_func(sentence, found, m, 0, slots)
    return slots.tolist()


def test_labels_see_the_arc_its_surroundings_and_its_place_in_the_tree() -> None:
    assert seen_of(labels, ROLES) == listed(LABELS)
    assert [one[0] for one in labels(words_of())] == [*range(1, 30)]


def test_labels_see_the_entry_of_no_word_where_siblings_and_children_are_not_there() -> None:
    roles = {"none": N + 1, "above": 0, "h<": 6, "h": 7, "h>": 8, "m<": 11, "m": 12, "m>": 13}
    found = seen_of(lambda sentence: labels(sentence, tree={7: 0, 12: 7}), roles)
    assert {one for one, seen in found.items() if "fnone" in seen} == {17, 18, 20, 21, 22, 23, 28}
    assert {one for one, seen in found.items() if "tnone" in seen} == {15, 16, 19, 24, 27}
    assert labels(FLAT, tree={12: 0})[13][2] == 0, "above the root there is no tag"


def test_labels_see_direction_and_a_distance_of_up_to_four() -> None:
    here = labels(FLAT)
    assert changed(here, labels(FLAT, 3)) == {*range(1, 30)} - {23}
    for m, same in ((18, True), (19, True), (10, False), (9, False)):
        assert changed(here, labels(FLAT, m)) == (set() if same else {2, 29})
    assert changed(labels(FLAT, 9), labels(FLAT, 10)) == {2, 29}
    assert not changed(here, labels(FLAT, 11, TREE | {11: 7})), "four and five are as far"


# Zhang and Nivre (2011): words on top of the stack (s0, s1, s2) and at the front (b0, b1, b2); their outermost
# children to the left (l) and right (r), and those inside them (m, q); and suffixes.
STATES = """
1 fs0 ts0; 2 fs0; 3 ts0; 4 fs1 ts1; 5 fs1; 6 ts1; 7 fb0 tb0; 8 fb0; 9 tb0; 10 fb1 tb1; 11 fb1; 12 tb1; 13 fb2 tb2;
14 fb2; 15 tb2; 20 ss0 ts0; 21 ss1 ts1; 22 sb0 tb0; 30 fs0 ts0 fb0 tb0; 31 fs0 fb0; 32 fs0 ts0 tb0; 33 ts0 fb0 tb0;
34 ts0 tb0; 35 ss0 ts0 sb0 tb0; 38 fs1 ts1 fs0 ts0; 39 fs1 fs0; 40 fs1 ts1 ts0; 41 ts1 fs0 ts0; 42 ts1 ts0;
43 ss1 ts1 ss0 ts0; 46 fs1 ts1 fb0 tb0; 47 fs1 fb0; 48 fs1 ts1 tb0; 49 ts1 fb0 tb0; 50 ts1 tb0; 51 ss1 ts1 sb0 tb0;
60 tb0 tb1 tb2; 61 ts0 tb0 tb1; 62 ts1 ts0 tb0; 63 ts2 ts1 ts0; 64 ts1 ts0 tb0 tb1; 65 ts0 tb0 tb1 tb2;
70 ts0 tb0 ts1 ts0l; 71 ts0 tb0 ts1 ts0m; 72 ts0 tb0 ts1 ts0r; 73 ts0 tb0 ts1 ts0q; 74 ts0 tb0 ts1 ts1l;
75 ts0 tb0 ts1 ts1m; 76 ts0 tb0 ts1 ts1r; 77 ts0 tb0 ts1 ts1q; 78 ts0 tb0 ts1 tb0l; 79 ts0 tb0 ts1 tb0m;
90 ts0 ts0l fs0l; 92 ts0 ts0r fs0r; 94 ts1 ts1l fs1l; 96 ts1 ts1r fs1r; 98 tb0 tb0l fb0l; 110 ts0 tb0 ts1; 111 fs0 tb0;
112 ts0 fb0; 113 ts0 tb0 ts1; 120 fs0 ts0; 121 fs1 ts1; 122 fb0 tb0; 123 ts0 tb0 ts1; 124 ts0 tb0 ts1; 125 ts0 tb0 ts1
"""
PLACES = {
    "s2": 2, "s1": 12, "s0": 16, "b0": 20, "b1": 21, "b2": 22, "s0l": 13, "s0m": 14, "s0r": 17, "s0q": 18, "s1l": 8,
    "s1m": 9, "s1r": 10, "s1q": 11, "b0l": 4, "b0m": 5,
}  # fmt: skip


def states(
    sentence: Sentence, stack: tuple[int, ...] = (0, 2, 12, 16), front: int = 20, more: tuple[int, int] = (0, 12)
) -> list[Any]:
    """Of a state in which the words of all roles are there, each of the three heads with a number of children."""
    outer, n_children = np.full((4, N + 2), N + 1), np.zeros((2, N + 2), np.int64)
    for name, place in PLACES.items():
        if name[2:]:
            outer["lmrq".index(name[2]), PLACES[name[:2]]] = place
    outer[2:, 20] = 25, 26
    n_children[:, [16, 12, 20]] = [[1, 2, 0], [2, 0, 1]]
    n_children[more] += 1
    state = State(np.array([*stack, -1]), np.array([len(stack), front]), np.zeros(N + 2, int), outer, n_children)
    slots = np.empty(72, object)
    k = transition_parser.state_slots.py_func(sentence, state, 0, slots)
    return list(slots[:k])


def test_states_see_the_words_on_top_and_in_front_and_their_children() -> None:
    assert seen_of(states, PLACES) == listed(STATES)
    assert sorted(one[0] for one in states(FLAT)) == [*listed(STATES)]


def test_states_see_distances_and_numbers_of_children() -> None:
    """Distances of up to six, and of none; up to three children on a side."""
    stacks = [(0, 2, 12, 16), (0, 2, 11, 16), (0, 2, 10, 16), (0, 2, 9, 16), (0, 2, 16), (0,)]
    gaps = [states(FLAT, stack) for stack in stacks]
    assert [one[-7][2] for one in gaps] == [4, 5, 6, 6, 6, 7]
    fronts = [states(FLAT, front=front) for front in (20, 21, 22, 23, N, N + 1)]
    assert [one[-10][2] for one in fronts] == [4, 5, 6, 6, 6, 7]
    for front, lost in ((N + 1, {"b0", "b1", "b2"}), (N, {"b1", "b2"}), (N - 1, {"b2"})):
        places = {"b0": front, "b1": front + 1, "b2": front + 2}
        roles = {name: place for name, place in places.items() if name not in lost} | {"none": N + 1}
        sees = defaultdict(set, seen_of(lambda one, front=front: states(one, front=front), PLACES | roles))
        assert all(("tnone" in sees[3 * k + 9]) == (f"b{k}" in lost) for k in range(3))
    for position, (word, left, right) in enumerate(((16, 1, 2), (12, 2, 0), (20, 0, 1))):
        for side in range(2):
            usual, one = states(FLAT, more=(0, 30)), states(FLAT, more=(side, word))
            assert changed(usual, one) == {120 + position, 123 + position}
            counts = (left + 1, right) if not side else (left, right + 1)
            assert one[-5 + 2 * position][2] == counts[0] * 4 + counts[1]
