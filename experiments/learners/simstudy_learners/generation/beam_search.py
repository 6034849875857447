"""Generation by an n-gram model of words and phrases: the most probable text that says each value once."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy.validation import check_number, check_whole
from simstudy_learners.generation.meanings import OPEN_SLOTS, Meaning, Tokens, surface
from simstudy_learners.generation.phrases import Part, Value, spelt, word
from simstudy_learners.generation.training import seen_phrases
from simstudy_learners.language_models.kneser_ney import next_word, successors, train_language_model
from simstudy_learners.language_models.ngrams import END, START
from simstudy_learners.segments import bounds_of

#: Parts of texts as numbers. What stands before and after a text has the first two, START and END.
Numbers = tuple[int, ...]


class Hypothesis(NamedTuple):
    """The beginning of a text; those of less cost come first."""

    cost: float
    """Minus log-probability of the parts, and what the slots that are not yet said are expected to cost."""
    parts: Numbers
    unsaid: frozenset[str]
    state: int
    """Of the n-gram model."""


#: The state of the n-gram model, and what is not yet said -> the best hypothesis of that kind.
Stack = dict[tuple[int, frozenset[str]], Hypothesis]


@dataclass(frozen=True)
class BeamSearch:
    """The most probable text by an n-gram model of words and phrases that says each value of a meaning once.

    Phrases say values, and are learned by word alignment. The search is that of phrase-based translation (Koehn 2004,
    "Pharaoh"): hypotheses that have said equally many slots compete, each with an estimate of what the other slots will
    cost, and the best are extended by words and phrases. A text may end when all is said that the training set has
    phrases for.

    Attributes
    ----------
    order
        Parts of the longest n-grams.
    beam
        Hypotheses that are extended of those that have said equally many slots.
    threshold
        Those whose cost is higher than the best one's by more than this, a difference of log-probabilities, are not.
    between
        The largest number of words between two phrases.
    words
        How many of the most probable words after a part are tried,
    phrases
        and how many of the most probable phrases of each value. A value's most frequent phrase can follow any part.
    iterations
        Of the expectation maximisation that aligns words with values.
    open_slots
        Whose values are filled in.
    """

    order: int = 4
    beam: int = 4
    threshold: float = 3.0
    between: int = 4
    words: int = 8
    phrases: int = 2
    iterations: int = 10
    open_slots: tuple[str, ...] = OPEN_SLOTS

    def __post_init__(self) -> None:
        check_whole("order", self.order, 2)
        for name in ("beam", "between", "words", "phrases", "iterations"):
            check_whole(name, getattr(self, name), 1)
        check_number("threshold", self.threshold)
        if not self.threshold >= 0:
            raise ValueError(f"threshold must be at least 0, not {self.threshold}")

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], list[str]]:
        """Count n-grams; nothing is random, so that the seed does not matter."""
        seen = seen_phrases(examples, weights, self.open_slots, self.iterations)
        return _Decoder(self, [([*chain(*sentences)], weight) for sentences, weight in seen])


class _Decoder:
    """What a model has counted, and the search."""

    def __init__(self, settings: BeamSearch, texts: list[tuple[list[Part], int]]) -> None:
        self._settings = settings
        # In alphabetical order, so that the order of the training set does not decide between equals.
        self._parts = [word("<s>"), word("</s>"), *sorted({part for text, _ in texts for part in text})]
        numbers = {part: number for number, part in enumerate(self._parts)}
        numbered = [([numbers[part] for part in text], weight) for text, weight in texts]
        self._model = train_language_model(
            np.array([number for text, _ in numbered for number in text]),
            bounds_of([len(text) for text, _ in numbered]),
            np.array([weight for _, weight in numbered]),
            len(self._parts),
            settings.order,
        )
        self._successors = successors(self._model)
        said: dict[Value, Counter[int]] = defaultdict(Counter)
        n_parts = 0
        for text, weight in numbered:
            n_parts += weight * (len(text) + 1)
            for number in text:
                if self._parts[number].slot:
                    said[self._parts[number].says][number] += weight
        # The most frequent phrase of each value, and what it costs wherever it stands.
        self._frequent = {value: min(counts, key=lambda one: (-counts[one], one)) for value, counts in said.items()}
        self._expected = {value: -math.log(max(counts.values()) / n_parts) for value, counts in said.items()}
        # A part -> the most probable words after it, and by what they say the most probable phrases after it.
        self._after: dict[int, tuple[list[int], dict[Value, list[int]]]] = {}
        self._steps: dict[tuple[int, int], tuple[float, int]] = {}
        self._found: dict[Meaning, Tokens] = {}

    def __call__(self, examples: Examples) -> list[str]:
        answers = []
        for meaning in examples.inputs:
            # The name's and other open slots' values do not matter to what is found, but for those that texts have.
            kind = tuple((slot, value if (slot, value) in self._frequent else "") for slot, value in meaning)
            if kind not in self._found:
                self._found[kind] = spelt(self._parts[part] for part in self.search(kind).parts)
            answers.append(surface(self._found[kind], dict(meaning)))
        return answers

    def search(self, meaning: Meaning) -> Hypothesis:
        """The best text that says all slots of a meaning that can be said."""
        usable = {
            slot: [(slot, v) for v in dict.fromkeys((value, "")) if (slot, v) in self._frequent]
            for slot, value in meaning
        }
        usable = {slot: values for slot, values in usable.items() if values}
        least = {slot: min(self._expected[value] for value in values) for slot, values in usable.items()}
        start = Hypothesis(round(math.fsum(least.values()), 9), (), frozenset(usable), self._model.start)
        stacks: list[Stack] = [{} for _ in range(len(usable) + 1)]
        stacks[0][start.state, start.unsaid] = start
        ended: list[Hypothesis] = []
        for said, stack in enumerate(stacks):
            front = self._best(stack)
            for _ in range(self._settings.between + 1):
                longer: Stack = {}
                for one in front:
                    for part in self._next(one.parts[-1] if one.parts else START, one.unsaid, usable):
                        cost, state = self._step(one.state, part)
                        slot = self._parts[part].slot
                        if part == END:
                            if not one.unsaid:
                                ended.append(one._replace(cost=round(one.cost + cost, 9)))
                        elif slot:
                            _add(stacks[said + 1], (state, one.unsaid - {slot}), one, part, cost - least[slot])
                        else:
                            _add(longer, (state, one.unsaid), one, part, cost)
                front = self._best(longer)
        if ended:
            return min(ended)
        # A model of few texts may know no end that can be reached: then what has said the most.
        return min(next(stack for stack in reversed(stacks) if stack).values())

    def _best(self, stack: Stack) -> list[Hypothesis]:
        best = sorted(stack.values())[: self._settings.beam]
        return [one for one in best if one.cost <= best[0].cost + self._settings.threshold]

    def _next(self, last: int, unsaid: frozenset[str], usable: Mapping[str, Sequence[Value]]) -> list[int]:
        """Parts that may follow another one."""
        if last not in self._after:
            words: list[int] = []
            phrases: dict[Value, list[int]] = defaultdict(list)
            bounds, after = self._successors
            for number in after[bounds[last] : bounds[last + 1]].tolist():
                part = self._parts[number]
                own = phrases[part.says] if part.slot else words
                if len(own) < (self._settings.phrases if part.slot else self._settings.words):
                    own.append(number)
            self._after[last] = words, dict(phrases)
        words, phrases = self._after[last]
        parts = [*words]
        for slot in sorted(unsaid):
            for value in usable[slot]:
                seen = phrases.get(value, [])
                parts += seen
                if self._frequent[value] not in seen:
                    parts.append(self._frequent[value])
        return parts

    def _step(self, state: int, part: int) -> tuple[float, int]:
        """Minus log-probability of a part in a state of the n-gram model, and the state after it."""
        if (state, part) not in self._steps:
            logarithm, after = next_word(self._model, state, part)
            self._steps[state, part] = -logarithm, after
        return self._steps[state, part]


def _add(stack: Stack, future: tuple[int, frozenset[str]], one: Hypothesis, part: int, cost: float) -> None:
    """Extend a hypothesis; of two with the same future, the key in the stack, only the better one is kept."""
    cost = round(one.cost + cost, 9)
    state, unsaid = future
    known = stack.get(future)
    if known is None or (cost, one.parts) < (known.cost, known.parts[:-1]):
        stack[future] = Hypothesis(cost, (*one.parts, part), unsaid, state)
