"""The data sets of the bench: two systems on n items, equal exactly or different by a known gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from simstudy.studies import METRICS, MODELS, Keys, Size, derived_seed, one_of

Floats = NDArray[np.float64]

#: What a data set can hold beside the two systems' scores of items.
Kind = Literal["answers", "scores", "rankings", "translations", "summaries"]

# Where items come from that are drawn from a pool; the other conditions have a model of `MODELS`.
POOLED: tuple[Kind, ...] = ("rankings", "translations", "summaries")

# A pool: so many items with the outputs of a better and of a worse system.
_POOL, _VOCABULARY = 1000, 600
_LONGEST, _DEPTH, _RELEVANT = 60, 20, (2, 6)

#: A true gain is 0 where it is below this on the metric's scale.
NO_GAIN = 1e-9

# What the better and the worse system's chance to get a word is, as log-odds, and how far above the scores of other
# documents those of relevant ones are.
_WORDS, _RANKS = (1.0, 0.55), (1.1, 0.6)


@dataclass(frozen=True)
class DataSet:
    """Two systems' results on n items.

    Attributes
    ----------
    scores
        (2, n): of each system and item; accuracy's are 0 and 1. Empty where only a corpus has a score.
    statistics
        (2, n, S): what the metric is computed from.
    outputs
        (2, n): each system's texts, or the ranks of the relevant documents of each query; empty where there are none.
    references
        (n,) texts; empty where there are none.
    """

    scores: Floats
    statistics: NDArray[Any]
    outputs: tuple[tuple[Any, ...], tuple[Any, ...]] = ((), ())
    references: tuple[str, ...] = ()

    def against_itself(self, changed: Sequence[int] = ()) -> DataSet:
        """The first system against a copy of itself that has these items of the second system."""
        scores, statistics = self.scores.copy(), self.statistics.copy()
        second = list(self.outputs[0])
        statistics[1] = statistics[0]
        statistics[1][list(changed)] = self.statistics[1][list(changed)]
        if scores.size:
            scores[1] = scores[0]
            scores[1][list(changed)] = self.scores[1][list(changed)]
        for item in changed:
            if second:
                second[item] = self.outputs[1][item]
        return replace(self, scores=scores, statistics=statistics, outputs=(self.outputs[0], tuple(second)))

    def first_difference(self) -> int:
        """The first item on which the two systems' statistics differ."""
        return int(np.flatnonzero((self.statistics[0] != self.statistics[1]).any(axis=1))[0])


class Condition(Keys):
    """Two systems, and what they are scored by."""

    title: str
    """For a figure."""
    systems: str
    """What they are, and what they have in common."""
    kind: Kind
    n_items: Size
    model: Annotated[str, one_of(MODELS)] | None = None
    """What draws answers and scores; other kinds are drawn from a pool."""
    parameters: list[dict[str, Any]] = []
    """Of the model: without a gain, and then for each gain."""
    exchanged: list[Annotated[float, Field(ge=0, le=0.5)]] = []
    """How often the two outputs on an item change places: 0.5 without a gain, and then for each gain."""

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        pooled = self.kind in POOLED
        if pooled == (self.model is not None) or pooled == bool(self.parameters) or pooled != bool(self.exchanged):
            needs = "exchanged" if pooled else "model and parameters"
            raise ValueError(f"a condition of {self.kind} must have {needs} and nothing else of the three")
        if self.exchanged and self.exchanged[0] != 0.5:
            raise ValueError(f"exchanged must begin with 0.5, which is no gain, not with {self.exchanged[0]}")
        if self.parameters:
            self.check_models()
        return self

    def check_models(self) -> None:
        """Raise a ValueError where the first model is none, or has a gain."""
        try:
            none = abs(self.models()[0].true_gain) < NO_GAIN
        except (TypeError, ValueError) as error:
            raise ValueError(f"parameters are not those of {self.model}: {error}") from None
        if not none:
            raise ValueError(f"parameters must begin with those of two equal scores, not {self.parameters[0]}")

    @property
    def metric(self) -> str:
        """The name of the metric."""
        if self.model is not None:
            name: str = self.models()[0].metric.name
            return name
        return {"rankings": "mean", "translations": "bleu", "summaries": "rougeL"}[self.kind]

    @property
    def n_gains(self) -> int:
        """How many gains there are, with none at all as the first."""
        return len(self.parameters) or len(self.exchanged)

    def true_gains(self) -> list[float]:
        """The first system's score in the population less the second's, on the metric's scale."""
        if self.model is not None:
            return [float(model.true_gain) for model in self.models()]
        better, worse = _pool(self.kind).statistics.mean(axis=1)
        mixed = np.array([[(1 - q) * better + q * worse, q * better + (1 - q) * worse] for q in self.exchanged])
        scores = METRICS[self.metric].score(mixed)
        return [float(first - second) for first, second in scores]

    def draw(self, gain: int, n_sets: int, rng: np.random.Generator) -> Iterator[DataSet]:
        """Data sets with one of the gains, by its place."""
        if self.model is not None:
            for statistics in self.models()[gain].draw(n_sets, self.n_items, rng).statistics:
                yield DataSet(statistics[..., 0].astype(np.float64), statistics)
            return
        pool, both = _pool(self.kind), np.arange(2)[:, None]
        for _ in range(n_sets):
            items = rng.integers(_POOL, size=self.n_items)
            # Fair coins make the two systems exchangeable item by item, whatever the outputs are.
            swapped = rng.random(self.n_items) < self.exchanged[gain]
            sides = np.where(swapped, 1 - both, both)
            yield DataSet(
                pool.scores[sides, items] if pool.scores.size else pool.scores,
                pool.statistics[sides, items],
                (_taken(pool.outputs, sides[0], items), _taken(pool.outputs, sides[1], items)),
                tuple(pool.references[item] for item in items) if pool.references else (),
            )

    def models(self) -> list[Any]:
        """What draws the systems without and with each gain."""
        return [MODELS[str(self.model)](**each) for each in self.parameters]


def blocks(
    condition: Condition, name: str, gain: int, which: Sequence[int], size: int, seed: int
) -> Iterator[tuple[int, list[DataSet]]]:
    """Blocks of data sets, the same for every tool: the block's seed and its data sets."""
    for block in which:
        own = derived_seed(seed, "data sets", name, gain, block) % 2**32
        yield own, list(condition.draw(gain, size, np.random.default_rng(own)))


def _taken(outputs: Sequence[Sequence[Any]], sides: NDArray[Any], items: NDArray[Any]) -> tuple[Any, ...]:
    return tuple(outputs[side][item] for side, item in zip(sides, items, strict=True)) if outputs[0] else ()


@cache
def _pool(kind: Kind) -> DataSet:
    """Items with the outputs of the better and of the worse system."""
    rng = np.random.default_rng(derived_seed(0, "pool", kind) % 2**32)
    return _rankings(rng) if kind == "rankings" else _texts(kind, rng)


def _rankings(rng: np.random.Generator) -> DataSet:
    """Ranks of each query's relevant documents among 20: their scores are normal, above those of the others."""
    hard, ranks = rng.standard_normal(_POOL), []
    n_relevant = rng.integers(*_RELEVANT, size=_POOL)
    for quality in _RANKS:
        of_documents = rng.standard_normal((_POOL, _DEPTH))
        of_documents += (np.arange(_DEPTH) < n_relevant[:, None]) * (quality - 0.7 * hard[:, None])
        places = 1 + np.argsort(np.argsort(-of_documents, axis=1), axis=1)
        ranks.append(tuple(tuple(map(int, row[:n])) for row, n in zip(places, n_relevant, strict=True)))
    scores = np.array([[average_precision(found) for found in system] for system in ranks])
    return DataSet(scores, np.stack([scores, np.ones_like(scores)], axis=-1), (ranks[0], ranks[1]))


def average_precision(ranks: Sequence[int]) -> float:
    """The mean, over the relevant documents, of the precision at their ranks; all are found somewhere."""
    return float(np.mean([(k + 1) / rank for k, rank in enumerate(sorted(ranks))]))


def _texts(kind: Kind, rng: np.random.Generator) -> DataSet:
    """Sentences of words by Zipf's law; a system gets a word, takes another one for it, or leaves it out."""
    likely = 1 / np.arange(1, _VOCABULARY + 1)
    words = np.array([f"w{k}" for k in range(_VOCABULARY)])
    lengths = np.minimum(5 + rng.negative_binomial(2, 2 / 17, _POOL), _LONGEST)
    tokens = rng.choice(_VOCABULARY, size=(3, _POOL, _LONGEST), p=likely / likely.sum())
    hard = 0.5 * rng.standard_normal(_POOL)
    references = [" ".join(words[t[:n]]) for t, n in zip(tokens[0], lengths, strict=True)]
    outputs = []
    for quality, other in zip(_WORDS, tokens[1:], strict=True):
        chance = 1 / (1 + np.exp(-(quality - hard + 0.4 * rng.standard_normal(_POOL))))
        wrong = rng.random((_POOL, _LONGEST)) >= chance[:, None]
        kept = ~(wrong & (rng.random((_POOL, _LONGEST)) < 0.2)) & (np.arange(_LONGEST) < lengths[:, None])
        # A text has at least one word.
        kept[:, 0] = True
        made = np.where(wrong, other, tokens[0])
        outputs.append(tuple(" ".join(words[row[k]]) for row, k in zip(made, kept, strict=True)))
    metric = METRICS["bleu" if kind == "translations" else "rougeL"]
    counter = metric.text_counter([[text] for text in references])
    assert counter is not None
    statistics = np.array([counter.statistics(system) for system in outputs], dtype=np.float64)
    scores = statistics[..., 0] if kind == "summaries" else np.empty(0)
    return DataSet(scores, statistics, (outputs[0], outputs[1]), tuple(references))
