"""Generators against brute force: retrieval, plans of templates, the n-gram model, and the beam search."""

from __future__ import annotations

import math
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest

from simstudy.training import BaseSystem, Examples
from simstudy_learners.generation.beam_search import BeamSearch
from simstudy_learners.generation.consensus import Consensus
from simstudy_learners.generation.meanings import delexicalised, surface
from simstudy_learners.generation.phrases import Part, word
from simstudy_learners.generation.retrieval import Retrieval, features
from simstudy_learners.generation.templates import Templates, _Planner

SYSTEMS: dict[str, BaseSystem] = {
    "retrieval": Retrieval(neighbours=4),
    "templates": Templates(),
    "n-grams": BeamSearch(),
}


def restaurants() -> Examples:
    """Texts that say all slots, in one or two sentences, of all values."""
    meanings, texts = [], []
    names, foods, areas, prices = (
        ["The Mill", "Cotto"],
        ["Thai", "Indian"],
        ["riverside", "city centre"],
        ["cheap", "high"],
    )
    for name, food, area, price in product(names, foods, areas, prices):
        dear = "cheap" if price == "cheap" else "high priced"
        where = "by the riverside" if area == "riverside" else "in the city centre"
        meanings += [(("name", name), ("food", food), ("area", area), ("priceRange", price))] * 2
        texts.append(f"{name} is a {dear} {food} place {where}.")
        texts.append(f"{name} serves {food} food {where}. It is {dear}.")
    return Examples(meanings, [[text] for text in texts])


# Retrieval.


def test_likeness_is_dice_of_ngrams() -> None:
    rng = np.random.default_rng(0)
    texts = [tuple(rng.choice(list("abc"), rng.integers(1, 7))) for _ in range(12)]

    def grams(text: tuple[str, ...]) -> set[tuple[str, ...]]:
        return {text[i:j] for i in range(len(text)) for j in range(i + 1, min(i + 3, len(text)) + 1)}

    chosen = [3, 1, 7, 7, 11]
    expected = [
        [2 * len(grams(texts[a]) & grams(texts[b])) / (len(grams(texts[a])) + len(grams(texts[b]))) for b in chosen]
        for a in chosen
    ]
    consensus = Consensus(texts, order=3)
    np.testing.assert_allclose(consensus.likeness(chosen), expected)
    for weights in rng.integers(1, 6, (20, 5)).astype(float):
        means = (np.array(expected) @ weights / weights.sum()).round(9)
        assert consensus.most_central(chosen, weights) == chosen[int(means.argmax())]


def test_similarity_is_of_weighted_features() -> None:
    examples = restaurants()
    weights = np.arange(examples.n_items)
    found = Retrieval().train(examples, weights, 0)
    meaning = (("name", "New"), ("area", "riverside"), ("priceRange", "moderate"))
    weight = {}
    for feature in {f for one in examples.inputs for f in features(one)}:
        n = sum(w for one, w in zip(examples.inputs, weights, strict=True) if feature in features(one))
        weight[feature] = math.log((1 + weights.sum()) / (1 + n)) + 1
    weight["priceRange", "moderate"] = math.log(1 + weights.sum()) + 1
    own = features(meaning)
    keys = sorted({features(one) for one in examples.inputs}, key=sorted)
    expected = [sum(weight[f] for f in own & key) / sum(weight[f] for f in own | key) for key in keys]
    np.testing.assert_allclose(found.similarities(meaning), expected, atol=1e-9)  # type: ignore[attr-defined]


def test_a_text_that_cannot_be_filled_is_left_out_where_there_are_others() -> None:
    seen = Examples([(("name", "A"), ("food", "Thai"))] * 3, [["A has Thai."], ["A has Thai."], ["A it is."]])
    asked = Examples([(("name", "B"),)], [["-"]])
    assert Retrieval().train(seen, np.ones(3, np.int64), 0)(asked) == ["B it is."]
    assert Retrieval().train(seen, np.array([1, 1, 0]), 0)(asked) == ["B has."]


@pytest.mark.parametrize("neighbours", [1, 4, 9])
def test_the_text_most_like_those_of_the_nearest_meanings_is_retrieved(neighbours: int) -> None:
    """By loops: meanings are heard, the nearest first and equally near ones together, until they have enough texts."""
    rng, slots = np.random.default_rng(neighbours), [("name", "N"), ("a", "1"), ("a", "2"), ("b", "1"), ("near", "M")]
    words = [*"uvw", "N", "M"]
    meanings = [tuple({s: (s, v) for s, v in (slots[k] for k in rng.permutation(5)[:3])}.values()) for _ in range(20)]
    meanings += [tuple((s, str(3 - int(v)) if s == "a" else v) for s, v in one) for one in meanings]
    texts = [" ".join(rng.choice(words, 4)) for _ in meanings]
    seen, weights = Examples(meanings, [[text] for text in texts]), np.tile(rng.integers(0, 3, 20), 2)
    found = Retrieval(neighbours=neighbours, order=2).train(seen, weights, 0)
    counts: Counter[tuple[tuple[str, ...], frozenset[tuple[str, str]]]] = Counter()
    for one, text, weight in zip(meanings, texts, weights.tolist(), strict=True):
        counts[delexicalised(text, one), features(one)] += weight
    counts = +counts
    keys = sorted({key for _, key in counts}, key=sorted)
    for asked in sorted({one[:n] for one in meanings for n in (1, 2, 3)}):
        likeness = dict(zip(keys, found.similarities(asked), strict=True))  # type: ignore[attr-defined]
        has = {f"{{{slot}}}" for slot, _ in asked}
        usable = {one: n for one, n in counts.items() if {w for w in one[0] if w[0] == "{"} <= has} or counts
        nearer = {one: sum(n for o, n in usable.items() if likeness[o[1]] > likeness[one[1]]) for one in usable}
        heard = [one for one in usable if nearer[one] < neighbours]
        heard.sort(key=lambda one, near=nearer: (near[one], sorted(one[1]), one[0]))  # type: ignore[misc]
        grams = [{one[0][i:j] for i in range(4) for j in (i + 1, i + 2) if j <= len(one[0])} for one in heard]
        means = [
            round(sum(usable[o] * 2 * len(a & b) / (len(a) + len(b)) for o, b in zip(heard, grams, strict=True))
                  / sum(usable[o] for o in heard), 9) for a in grams
        ]  # fmt: skip
        assert found(Examples([asked], [["-"]])) == [surface(heard[int(np.argmax(means))][0], dict(asked))]


# Templates.


def test_plans_are_the_most_probable_ones() -> None:
    """Against all ordered partitions of all subsets of the slots."""
    rng = np.random.default_rng(1)
    slots = ["a", "b", "c", "d"]
    texts = []
    for _ in range(60):
        order = rng.permutation(4)[: rng.integers(1, 5)]
        cuts = np.split(order, sorted(rng.choice(np.arange(1, len(order) + 1), rng.integers(1, 3))))
        said = [[slots[k] for k in part] for part in cuts if len(part)]
        texts.append([[Part("name", "", ("{name}",)), *(Part(s, "", (s,)) for s in one)] for one in said])
    settings = Templates(omission=-2.5, support=0.0)
    planner = _Planner(settings)
    places: list[Counter[frozenset[str] | None]] = [Counter(), Counter(), Counter()]
    for text in texts:
        planner.count(text, 1)
        for place, sentence in enumerate([*text, None]):
            key = None if sentence is None else frozenset(part.slot for part in sentence) - {"name"}
            places[min(place, 2)][key] += 1

    def log_probability(plan: tuple[frozenset[str], ...]) -> float:
        steps = [(places[min(k, 2)], key) for k, key in enumerate((*plan, None))]
        if any(not counts[key] for counts, key in steps):
            return -math.inf
        missing = len(slots) - len(frozenset().union(*plan))
        return sum(math.log(counts[key] / counts.total()) for counts, key in steps) - 2.5 * missing

    plans = set()
    for n in range(1, 5):
        for order in permutations(slots, n):
            for ends in product([False, True], repeat=n - 1):
                bounds = [0, *(k + 1 for k, end in enumerate(ends) if end), n]
                plans.add(tuple(frozenset(order[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)))
    best = max(map(log_probability, plans))
    found = planner.plan(frozenset(slots))
    assert log_probability(tuple(found)) == pytest.approx(best)
    assert best > -math.inf


def test_templates_say_each_slot_once_and_first_ones_the_name() -> None:
    """Sentences that say nothing do not count; of a place's templates the most central one is said."""
    name, a, b = (Part(slot, "", (f"{{{slot}}}",)) for slot in ("name", "a", "b"))
    planner = _Planner(Templates())
    for text, weight in (
        ([[name, word("has"), a], [word("so")], [b, word("too")]], 2), ([[a, word("first")]], 5),
        ([[name, a, word("and"), a]], 7), ([[name, word("has"), a, word("!")]], 1), ([[name, word("is")], [a]], 1),
        ([[name, a], [word("it"), b], [b, name], [b]], 1),
    ):  # fmt: skip
        planner.count(text, weight)
    assert {one: n for place in planner._templates for own in place.values() for one, n in own.items()} == {
        ("[name]", "has", "[a]"): 2, ("[name]", "has", "[a]", "!"): 1, ("[name]", "is"): 1, ("[a]",): 1,
        ("[b]", "too"): 2, ("it", "[b]"): 1, ("[b]", "[name]"): 1, ("[b]",): 1, ("[name]", "[a]"): 1,
    }  # fmt: skip
    assert [said.total() for said in planner._said] == [17, 4, 2]
    assert planner._ends == [0, 13, 4]
    assert planner.template(0, frozenset("a")) == ("[name]", "has", "[a]")


def test_rare_sentences_are_for_texts_that_come_out_no_other_way() -> None:
    one, two = ([Part("name", "", ("{name}",)), Part(slot, "", (slot,))] for slot in "ab")
    both = [*one, two[1]]
    planner = _Planner(Templates(support=0.1))
    planner.count([both], 1)
    planner.count([one, two], 19)
    assert planner.plan(frozenset("ab")) == [frozenset("a"), frozenset("b")]
    assert planner.plan(frozenset("b")) == []
    alone = _Planner(Templates(support=0.1))
    alone.count([both], 1)
    alone.count([[word("what")]], 19)
    assert alone.plan(frozenset("ab")) == [frozenset("ab")]


# All of them.


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_was_seen_is_said_of_new_values(name: str) -> None:
    examples = restaurants()
    answers = SYSTEMS[name].train(examples, np.ones(examples.n_items, np.int64), 0)
    meaning = (("name", "Zizzi"), ("food", "Italian"), ("area", "city centre"), ("priceRange", "cheap"))
    (answer,) = answers(Examples([meaning], [["-"]]))
    for said in ("Zizzi", "Italian", "city centre", "cheap"):
        assert said in answer
    for other in ("riverside", "high", "Mill", "Thai", "{", "["):
        assert other not in answer


@pytest.mark.parametrize("name", SYSTEMS)
def test_answers_are_the_same_alone_and_among_others(name: str) -> None:
    """Meanings that differ in one value, in a slot, or in an open value are answered apart."""
    examples = restaurants()
    asked = [one[:n] for n in (4, 3, 2) for one in examples.inputs[::2]]
    asked += [(one[0], ("food", "Greek"), *one[2:]) for one in asked[:4]]
    first, again = (SYSTEMS[name].train(examples, np.ones(examples.n_items, np.int64), 0) for _ in range(2))
    together = first(Examples(asked, [["-"]] * len(asked)))
    assert together[::-1] == [again(Examples([one], [["-"]]))[0] for one in reversed(asked)]
    assert all(value in text for one, text in zip(asked, together, strict=True) if len(one) > 3 for _, value in one)


@pytest.mark.parametrize("name", SYSTEMS)
def test_weights_are_copies_and_order_does_not_matter(name: str) -> None:
    examples = restaurants()
    rng = np.random.default_rng(3)
    weights = rng.integers(4, size=examples.n_items)
    copies = rng.permutation(np.repeat(np.arange(examples.n_items), weights))
    spelt_out = Examples([examples.inputs[k] for k in copies], [examples.gold[k] for k in copies])
    asked = Examples([one[:n] for one in examples.inputs for n in (2, 3, 4)], [["-"]] * 96)
    once = SYSTEMS[name].train(examples, weights, 0)(asked)
    assert once == SYSTEMS[name].train(spelt_out, np.ones(len(copies), np.int64), 9)(asked)


@pytest.mark.parametrize("name", SYSTEMS)
def test_slots_and_values_that_were_not_in_the_resample(name: str) -> None:
    examples = Examples(
        [(("name", "A"),), (("name", "B"), ("area", "riverside")), (("name", "C"), ("food", "Thai"))],
        [["A is a place."], ["B is by the riverside."], ["Eat Thai food."]],
    )
    asked = Examples(
        [
            (("name", "D"), ("stars", "5"), ("area", "moon"), ("food", "Greek")),
            (("area", "riverside"),),
            (("stars", "1"),),
        ],
        [["-"]] * 3,
    )
    for weights in ([1, 0, 0], [0, 2, 0], [0, 0, 1], [1, 1, 1]):
        answers = SYSTEMS[name].train(examples, np.array(weights), 0)(asked)
        assert len(answers) == 3
        assert not any(mark in answer for answer in answers for mark in "{}[]<>")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (lambda: Retrieval(neighbours=0), "neighbours must be"),
        (lambda: Retrieval(order=0), "order must be"),
        (lambda: Templates(omission=1.0), "omission must be a log-probability: finite and at most 0, not 1.0"),
        (lambda: Templates(support=2), "support must lie between 0 and 1, not 2"),
        (lambda: Templates(iterations=0), "iterations must be"),
        (lambda: BeamSearch(order=1), "order must be"),
        (lambda: BeamSearch(beam=0), "beam must be"),
        (lambda: BeamSearch(threshold=-1.0), "threshold must be at least 0, not -1.0"),
    ],
)
def test_parameters_are_checked(settings: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        settings()  # type: ignore[operator]
