"""Generation by templates of sentences: which values each sentence says, and in which words."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy.validation import check_number, check_share, check_whole
from simstudy_learners.generation.consensus import Consensus
from simstudy_learners.generation.meanings import OPEN_SLOTS, Meaning, Tokens, surface
from simstudy_learners.generation.phrases import Part, most_frequent
from simstudy_learners.generation.training import seen_phrases

#: A sentence with slots in the place of its phrases: words, and the slots' names in square brackets.
Template = Tokens

#: What a sentence says: slots.
Said = frozenset[str]

# Sentences are told apart by place: the first, the second, and all others.
_PLACES = 3


@dataclass(frozen=True)
class Templates:
    """The most probable plan of sentences, each said by its most central template.

    A plan is what slots the first sentence says, what the second, and so on. Its probability is that of the slots of
    each sentence, given its place, and of ending after the last one, relative frequencies in the training set. Plans
    say each slot once; the best is found by dynamic programming over what has been said. A slot's value is said by the
    phrase that was most frequent for it between the same two words, or after the same word, or anywhere.

    Attributes
    ----------
    omission
        Log-probability of leaving out a slot.
    support
        A sentence may say together, at its place, what at least this fraction of the training texts say there together;
        anything that one of them says, where no text comes out otherwise.
    iterations
        Of the expectation maximisation that aligns words with values.
    open_slots
        Whose values are filled in.
    """

    omission: float = -8.0
    support: float = 0.02
    iterations: int = 10
    open_slots: tuple[str, ...] = OPEN_SLOTS

    def __post_init__(self) -> None:
        check_number("omission", self.omission)
        if not -math.inf < self.omission <= 0:
            raise ValueError(f"omission must be a log-probability: finite and at most 0, not {self.omission}")
        check_share("support", self.support)
        check_whole("iterations", self.iterations, 1)

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], list[str]]:
        """Count plans, templates and phrases; nothing is random, so that the seed does not matter."""
        learned = _Planner(self)
        for text, weight in seen_phrases(examples, weights, self.open_slots, self.iterations):
            learned.count(text, weight)
        return learned


class _Planner:
    """Counts of plans, templates and phrases; what is most probable by them."""

    def __init__(self, settings: Templates) -> None:
        self._settings = settings
        self._templates: list[dict[Said, Counter[Template]]] = [defaultdict(Counter) for _ in range(_PLACES)]
        self._said: list[Counter[Said]] = [Counter() for _ in range(_PLACES)]
        self._ends = [0] * _PLACES
        self._phrases: dict[tuple[str, ...], Counter[Tokens]] = defaultdict(Counter)
        self._best: dict[tuple[int, Said], Template] = {}
        self._plans: dict[Said, list[Said]] = {}

    def count(self, text: list[list[Part]], weight: int) -> None:
        """Add a text of sentences in parts, as often as its weight says."""
        place = 0
        for sentence in text:
            slots = [part.slot for part in sentence if part.slot]
            template = tuple(f"[{part.slot}]" if part.slot else part.words[0] for part in sentence)
            beside = ["<", *template, ">"]
            for k, part in enumerate(sentence):
                if part.slot:
                    for context in _contexts(part.slot, part.value, beside[k], beside[k + 2]):
                        self._phrases[context][part.words] += weight
            said = frozenset(slots) - {"name"}
            if place and not said:
                continue
            self._said[place][said] += weight
            if len(set(slots)) == len(slots) and (place or "name" in slots):
                self._templates[place][said][template] += weight
            place = min(place + 1, _PLACES - 1)
        self._ends[place] += weight

    def plan(self, slots: Said) -> list[Said]:
        """What each sentence of the best plan for these slots says, in order; the name is not among them.

        Of plans of equal probability, the first in alphabetical order.
        """
        for support in (self._settings.support, 0.0):
            if best := self._plan(slots, support * self._said[0].total()):
                return best
        return []

    def _plan(self, slots: Said, support: float) -> list[Said]:
        outcomes = [
            [
                (math.log(said[one] / (said.total() + ends)), sorted(one))
                for one in self._templates[place]
                if one <= slots and (one or not place) and self._templates[place][one].total() >= support
            ]
            for place, (said, ends) in enumerate(zip(self._said, self._ends, strict=True))
        ]
        # (place, said so far) -> log-probability and sentences, from few slots to many: a later sentence says more.
        reached: dict[tuple[int, Said], tuple[float, list[list[str]]]] = {(0, frozenset()): (0.0, [])}
        best: tuple[float, list[list[str]]] = (-math.inf, [])
        for size in range(-1, len(slots) + 1):
            for place in range(_PLACES):
                # The start comes before a first sentence that says the name alone: both have said no slot.
                states = [key for key in reached if key[0] == place and (len(key[1]) if place else -1) == size]
                for _, before in states:
                    score, plan = reached[place, before]
                    for more, slots_said in outcomes[place]:
                        if before & frozenset(slots_said):
                            continue
                        key = min(place + 1, _PLACES - 1), before | frozenset(slots_said)
                        reached[key] = _better(reached.get(key), (round(score + more, 9), [*plan, slots_said]))
                    if place and self._ends[place]:
                        total = self._said[place].total() + self._ends[place]
                        end = math.log(self._ends[place] / total) + self._settings.omission * len(slots - before)
                        best = _better(best, (round(score + end, 9), plan))
        return [frozenset(sentence) for sentence in best[1]]

    def template(self, place: int, said: Said) -> Template:
        """The most central template of sentences at a place that say these slots."""
        if (place, said) not in self._best:
            texts, counts = zip(*sorted(self._templates[place][said].items()), strict=True)
            central = Consensus(texts).most_central(range(len(texts)), np.array(counts, dtype=np.float64))
            self._best[place, said] = texts[central]
        return self._best[place, said]

    def filled(self, template: Template, meaning: Meaning) -> list[str]:
        """The words of a template, with a phrase for each slot."""
        values = {slot: "" if slot in self._settings.open_slots else value for slot, value in meaning}
        beside = ["<", *template, ">"]
        words: list[str] = []
        for k, part in enumerate(template):
            slot = part[1:-1]
            if part[0] != "[":
                words.append(part)
            elif slot in values:
                contexts = _contexts(slot, values[slot], beside[k], beside[k + 2])
                words += next(most_frequent(self._phrases[one]) for one in contexts if one in self._phrases)
        return words

    def __call__(self, examples: Examples) -> list[str]:
        return [surface(self._tokens(meaning), dict(meaning)) for meaning in examples.inputs]

    def _tokens(self, meaning: Meaning) -> list[str]:
        # What has no phrase cannot be said.
        sayable = frozenset(
            slot
            for slot, value in meaning
            if slot != "name" and (slot, "" if slot in self._settings.open_slots else value) in self._phrases
        )
        if sayable not in self._plans:
            self._plans[sayable] = self.plan(sayable)
        plan = self._plans[sayable]
        chosen = (self.template(min(place, _PLACES - 1), said) for place, said in enumerate(plan))
        return [word for template in chosen for word in self.filled(template, meaning)]


def _better(
    known: tuple[float, list[list[str]]] | None, new: tuple[float, list[list[str]]]
) -> tuple[float, list[list[str]]]:
    if known is None or new[0] > known[0] or (new[0] == known[0] and new[1] < known[1]):
        return new
    return known


def _contexts(slot: str, value: str, left: str, right: str) -> list[tuple[str, ...]]:
    """What a phrase is counted for, the closest first."""
    return [(slot, value, left, right), (slot, value, left), (slot, value)]
