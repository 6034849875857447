"""Translation models against enumeration of all alignments of tiny sentence pairs, and against counting by hand."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from simstudy_learners.alignment.bitexts import Bitext, index_bitexts
from simstudy_learners.alignment.kernels import Lexical, Posteriors, prior_distance
from simstudy_learners.alignment.models import (
    DiagonalModel,
    HiddenMarkov,
    Model1,
    Side,
    Stage,
    estimate,
    train_both,
    uniform,
)

MODELS = {
    "model 1": Model1(),
    "diagonal": DiagonalModel(tension=3.0, p_null=0.1),
    "HMM": HiddenMarkov(p_null=0.3, most=2, jumps=(0.1, 0.2, 0.15, 0.4, 0.3)),
}


def bitext_of(rng: np.random.Generator, lengths: list[tuple[int, int]], n_words: int = 5) -> Bitext:
    pairs = [
        ([f"e{k}" for k in rng.integers(n_words, size=m)], [f"f{k}" for k in rng.integers(n_words, size=n)])
        for m, n in lengths
    ]
    return index_bitexts([pairs])[0]


def lexical_of(rng: np.random.Generator, side: Side) -> Lexical:
    return Lexical(rng.random(len(side.given_of_pair)), rng.random(side.n_generated))


def prior(model: Any, positions: tuple[int, ...], m: int, n: int) -> float:
    """The probability of positions, -1 for the empty word, without the words."""
    if isinstance(model, HiddenMarkov):
        total, before = 1.0, -1
        for c in positions:
            if c < 0:
                total *= model.p_null
                continue
            chances = [model.jumps[model.most + max(-model.most, min(model.most, k - before))] for k in range(m)]
            total *= (1 - model.p_null) * chances[c] / sum(chances)
            before = c
        return total
    if isinstance(model, Model1):
        return float((1 / (m + 1)) ** n)
    total = 1.0
    for g, c in enumerate(positions):
        near = [np.exp(-model.tension * abs((k + 1) / m - (g + 1) / n)) for k in range(m)]
        total *= model.p_null if c < 0 else (1 - model.p_null) * near[c] / sum(near)
    return total


def enumerated(model: Any, side: Side, lexical: Lexical) -> tuple[list[np.ndarray], list[np.ndarray], float]:
    """Posteriors (given, generated) and of the empty word, of each sentence pair, and the log-likelihood."""
    b, cells, nulls, log_likelihood = side.bitext, [], [], 0.0
    for s in range(len(b)):
        grid = b.pairs[b.first_cell[s] : b.first_cell[s + 1]].reshape(b.first_source[s + 1] - b.first_source[s], -1)
        grid = grid.T if side.turned else grid
        first = (b.first_source if side.turned else b.first_target)[s]
        (m, n), found = grid.shape, np.zeros((grid.shape[0] + 1, grid.shape[1]))
        for positions in product(range(-1, m), repeat=n):
            p = prior(model, positions, m, n)
            for g, c in enumerate(positions):
                p *= lexical.of_null[side.generated[first + g]] if c < 0 else lexical.table[grid[c, g]]
            for g, c in enumerate(positions):
                found[c, g] += p
        total = found[:, 0].sum()
        cells.append(found[:-1] / total)
        nulls.append(found[-1] / total)
        log_likelihood += float(np.log(total))
    return cells, nulls, log_likelihood


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_posteriors_are_those_of_all_alignments(rng: np.random.Generator, name: str, turned: bool) -> None:
    side = Side(bitext_of(rng, [(1, 1), (1, 4), (4, 1), (3, 4), (4, 3), (2, 2)]), turned)
    lexical = lexical_of(rng, side)
    weights = np.ones(6)
    found, _, log_likelihood = MODELS[name].posteriors(side, lexical, weights)
    cells, nulls, expected = enumerated(MODELS[name], side, lexical)
    np.testing.assert_allclose(found.cells, np.concatenate([(c.T if turned else c).ravel() for c in cells]), atol=1e-12)
    np.testing.assert_allclose(found.nulls, np.concatenate(nulls), atol=1e-12)
    assert log_likelihood == pytest.approx(expected)


@pytest.mark.parametrize("scale", [10.0, 0.2])
def test_jumps_are_updated_by_what_all_alignments_expect(rng: np.random.Generator, scale: float) -> None:
    """New jump j = old j * (expected jumps of its width, at least a half) / (what the model expects of those begun)."""
    model = MODELS["HMM"]
    side = Side(bitext_of(rng, [(3, 3), (2, 3)]), False)
    lexical = lexical_of(rng, side)
    jumped, expected = np.zeros(5), np.zeros(5)
    b = side.bitext
    for s, often in enumerate([2 * scale, 3 * scale]):
        grid = b.pairs[b.first_cell[s] : b.first_cell[s + 1]].reshape(b.first_source[s + 1] - b.first_source[s], -1)
        m, n = grid.shape
        words = b.target[b.first_target[s] : b.first_target[s + 1]]
        ps = {}
        for positions in product(range(-1, m), repeat=n):
            emitted = [
                lexical.of_null[words[g]] if c < 0 else lexical.table[grid[c, g]] for g, c in enumerate(positions)
            ]
            ps[positions] = prior(model, positions, m, n) * np.prod(emitted)
        for positions, p in ps.items():
            share = often * p / sum(ps.values())
            for before, c in pairwise([-1, *(c for c in positions if c >= 0)]):
                jumped[2 + max(-2, min(2, c - before))] += share
                chances = np.array([model.jumps[2 + max(-2, min(2, k - before))] for k in range(m)])
                for k in range(m):
                    expected[2 + max(-2, min(2, k - before))] += share * chances[k] / chances.sum()
    _, updated, _ = model.posteriors(side, lexical, np.array([2.0, 3.0]) * scale)
    assert (jumped < 0.5).any() == (scale < 1)
    grown = np.array(model.jumps) * np.maximum(jumped, 0.5) / expected
    np.testing.assert_allclose(updated.jumps, grown / grown.sum())


def test_the_tension_is_that_of_the_observed_distance(rng: np.random.Generator) -> None:
    side = Side(bitext_of(rng, [(5, 6), (7, 4), (3, 3)]), False)
    lexical = uniform(side)
    found, updated, _ = DiagonalModel(tension=2.0).posteriors(side, lexical, np.ones(3))
    i, j = side.bitext.places()
    sentence = side.bitext.sentence_of_cell()
    m, n = np.diff(side.bitext.first_source)[sentence], np.diff(side.bitext.first_target)[sentence]
    observed = found.cells @ np.abs((i + 1) / m - (j + 1) / n)
    # All words are alike, so that what is observed is what the prior expects: the tension stays.
    assert updated.tension == pytest.approx(2.0, abs=1e-3)
    assert prior_distance(*side.arrays[:2], 1 - found.nulls, 2.0) == pytest.approx(observed)


def test_a_tension_that_does_not_adapt_stays_and_one_that_does_is_bounded(rng: np.random.Generator) -> None:
    side = Side(bitext_of(rng, [(5, 6), (7, 4), (3, 3)]), False)
    lexical = lexical_of(rng, side)
    fixed, learnt = (
        DiagonalModel(2.0, adapts=adapts).posteriors(side, lexical, np.ones(3)) for adapts in (False, True)
    )
    assert fixed[1].tension == 2 != learnt[1].tension
    for straight, tension in ((True, 14.0), (False, 0.1)):
        (square,) = index_bitexts([[(["a", "b"], ["c", "d"])]])
        of_pair = np.where((square.lexicon.source == square.lexicon.target) == straight, 1.0, 1e-9)
        sure = DiagonalModel(2.0).posteriors(Side(square, False), Lexical(of_pair, np.full(2, 1e-9)), np.ones(1))
        assert sure[1].tension == pytest.approx(tension, abs=1e-3), "within fast_align's bounds"
    np.testing.assert_array_equal(fixed[0].cells, learnt[0].cells)


@pytest.mark.parametrize("name", MODELS)
def test_the_likelihood_grows(rng: np.random.Generator, name: str) -> None:
    side = Side(bitext_of(rng, [(3, 4), (5, 2), (4, 4), (6, 5)] * 5, 8), False)
    weights = rng.integers(0, 3, 20).astype(np.float64) * 10
    model, lexical, seen = MODELS[name], uniform(side), []
    for _ in range(8):
        found, model, log_likelihood = model.posteriors(side, lexical, weights)
        lexical = estimate(side, found, weights, 1e-12)
        seen.append(log_likelihood)
    assert (np.diff(seen) > 0).all()


def test_the_lexical_table_by_counting(rng: np.random.Generator) -> None:
    side = Side(bitext_of(rng, [(2, 3), (3, 2), (2, 2)], 3), True)
    b, weights = side.bitext, np.array([2.0, 0.0, 1.0])
    found = Posteriors(rng.random(len(b.pairs)), rng.random(len(b.source)))
    counts: dict[tuple[int, int], float] = defaultdict(float)
    nulls: dict[int, float] = defaultdict(float)
    for s, weight in enumerate(weights):
        n = b.first_target[s + 1] - b.first_target[s]
        for i in range(b.first_source[s], b.first_source[s + 1]):
            nulls[b.source[i]] += weight * found.nulls[i]
            for j in range(n):
                cell = b.first_cell[s] + (i - b.first_source[s]) * n + j
                counts[b.source[i], b.target[b.first_target[s] + j]] += weight * found.cells[cell]
    lexical = estimate(side, found, weights, 1e-3)
    for k, (e, f) in enumerate(zip(b.lexicon.source, b.lexicon.target, strict=True)):
        total = sum(count for (_, given), count in counts.items() if given == f)
        assert lexical.table[k] == pytest.approx(max(counts[e, f] / total if total else 0, 1e-3))
    for e in range(b.lexicon.n_source):
        assert lexical.of_null[e] == pytest.approx(max(nulls[e] / sum(nulls.values()), 1e-3))


def test_agreement_counts_the_product_of_both_directions(rng: np.random.Generator) -> None:
    bitext = bitext_of(rng, [(2, 3), (3, 2), (4, 4)], 4)
    weights = np.array([1, 2, 3])
    trained = train_both(bitext, weights, (Stage(Model1(), 1),), 1e-9, agree=True)
    sides = [Side(bitext, turned) for turned in (False, True)]
    found = [Model1().posteriors(side, uniform(side), weights.astype(float))[0] for side in sides]
    for side, own, lexical in zip(sides, found, trained.lexicals, strict=True):
        both = Posteriors(found[0].cells * found[1].cells, own.nulls)
        np.testing.assert_allclose(lexical.table, estimate(side, both, weights.astype(float), 1e-9).table)
    apart = train_both(bitext, weights, (Stage(Model1(), 1),), 1e-9, agree=False)
    assert not np.allclose(apart.lexicals[0].table, trained.lexicals[0].table)


@pytest.mark.parametrize("agree", [False, True])
def test_weights_are_copies(rng: np.random.Generator, agree: bool) -> None:
    pairs = [([f"e{k}" for k in rng.integers(6, size=4)], [f"f{k}" for k in rng.integers(6, size=3)]) for _ in range(6)]
    weights = np.array([2, 0, 1, 3, 0, 1])
    once, copies = index_bitexts([pairs, [pairs[k] for k in np.repeat(np.arange(6), weights)]])
    stages = (Stage(Model1(), 2), Stage(DiagonalModel(), 2), Stage(HiddenMarkov(), 3))
    weighted = train_both(once, weights, stages, 1e-6, agree=agree)
    copied = train_both(copies, np.ones(len(copies), np.int64), stages, 1e-6, agree=agree)
    for one, other in zip(weighted.posteriors(once), copied.posteriors(once), strict=True):
        np.testing.assert_allclose(one.cells, other.cells, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DiagonalModel(p_null=1), "p_null must lie between 0 and 1, both excluded, not 1"),
        (lambda: DiagonalModel(tension=0), "tension must be above 0, not 0"),
        (lambda: DiagonalModel(adapts=1), "adapts must be True or False, not 1"),
        (lambda: HiddenMarkov(p_null="0.2"), "p_null must be a number, not '0.2'"),
        (lambda: HiddenMarkov(most=0), "most must be at least 1, not 0"),
        (lambda: HiddenMarkov(most=1, jumps=(1.0, 0.0, 1.0)), "jumps must be 3 numbers above 0"),
        (lambda: Stage(Model1(), 0), "iterations must be at least 1, not 0"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
