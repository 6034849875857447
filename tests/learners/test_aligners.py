"""Aligners as base systems: what they learn of a made-up language, weights, unseen words, and the features of links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from simstudy.metrics import get_metric
from simstudy.readers.alignments import Links
from simstudy.training import Examples
from simstudy_learners.alignment.aligners import LinkClassifier, TextAligner
from simstudy_learners.alignment.bitexts import count_aer, gold_cells, index_bitexts
from simstudy_learners.alignment.kernels import Posteriors
from simstudy_learners.alignment.link_features import dice, link_features
from simstudy_learners.alignment.models import DiagonalModel, HiddenMarkov, Model1, Stage

HMM = (Stage(Model1(), 3), Stage(HiddenMarkov(), 3))
JOINT = TextAligner(HMM, agree=True, combination="posteriors")
ALIGNERS = {
    "joint HMM": JOINT,
    "HMM": TextAligner(HMM),
    "fast_align": TextAligner((Stage(DiagonalModel(), 3),), combination="intersection"),
    "link classifier": LinkClassifier(JOINT),
}

SentencePair = tuple[list[str], list[str]]


def made_up(rng: np.random.Generator, n: int) -> tuple[list[SentencePair], list[Links]]:
    """Word k is f<k>; two neighbours change places in every sentence, and a particle has no counterpart."""
    pairs, links = [], []
    for _ in range(n):
        length = int(rng.integers(3, 8))
        words = rng.integers(25, size=length)
        order = np.arange(length)
        at = int(rng.integers(length - 1))
        order[[at, at + 1]] = at + 1, at
        target = [f"f{words[k]}" for k in order]
        where = {int(k): j for j, k in enumerate(order)}
        if rng.random() < 0.5:
            target.append("de")
        pairs.append(([f"e{k}" for k in words], target))
        links.append(Links(sure={(k, where[k]) for k in range(length)}))
    return pairs, links


def examples_of(*corpora: tuple[Sequence[SentencePair], Sequence[Any]]) -> list[Examples]:
    bitexts = index_bitexts([pairs for pairs, _ in corpora])
    return [Examples(one, gold_cells(one, links)) for one, (_, links) in zip(bitexts, corpora, strict=True)]


def aer(examples: Examples, answers: Any) -> float:
    return float(get_metric("aer").score(count_aer(examples, answers).sum(axis=0)))


@pytest.mark.parametrize("name", ALIGNERS)
def test_the_links_of_a_made_up_language_are_found(rng: np.random.Generator, name: str) -> None:
    text, links = made_up(rng, 120)
    gold: list[Any] = [None if k < 60 else own for k, own in enumerate(links)]
    train, test = examples_of((text, gold), made_up(rng, 40))
    weights = rng.integers(0, 3, 120)
    first, again = (ALIGNERS[name].train(train, weights, seed)(test) for seed in (0, 1))
    np.testing.assert_array_equal(first, again)
    assert aer(test, first) < (35 if name == "fast_align" else 15)
    # A link for each word on the diagonal is far worse.
    i, j = test.inputs.places()
    assert aer(test, i == j) > 25


def test_a_text_aligner_does_not_look_at_gold_links(rng: np.random.Generator) -> None:
    text, links = made_up(rng, 40)
    with_links, without = (examples_of((text, gold), made_up(rng, 9)) for gold in (links, [None] * 40))
    one = JOINT.train(with_links[0], np.ones(40, np.int64), 0)(with_links[0])
    assert one.tolist() == JOINT.train(without[0], np.ones(40, np.int64), 0)(without[0]).tolist()


def test_a_resample_without_what_is_needed_is_named(rng: np.random.Generator) -> None:
    text, links = made_up(rng, 10)
    (train,) = examples_of((text, [*links[:2], *[None] * 8]))
    weights = np.array([0, 0, *[1] * 8])
    with pytest.raises(ValueError, match="weights must give a sentence pair with sure links, and others without, a"):
        LinkClassifier(JOINT).train(train, weights, 0)
    with pytest.raises(ValueError, match="weights must give at least one sentence pair a count above 0"):
        JOINT.train(train, np.zeros(10, np.int64), 0)


def test_the_classifier_is_a_regression_of_copied_rows_without_possible_links(rng: np.random.Generator) -> None:
    """The same model by scikit-learn's scaler and another solver, on rows that stand there as often as weights say."""
    text, links = made_up(rng, 40)
    drawn = rng.integers(0, 2, 400).astype(bool)
    gold: list[Any] = [
        Links(own.sure, {(i, j) for i, j in np.ndindex(len(source), len(target)) if drawn[7 * i + j]})
        for own, (source, target) in zip(links, text, strict=True)
    ]
    train, test = examples_of((text, [None if k % 3 == 0 else own for k, own in enumerate(gold)]), made_up(rng, 30))
    weights = rng.integers(0, 3, 40)
    posteriors = JOINT.posteriors(train.inputs, weights)
    association = dice(train.inputs, weights)

    def rows(examples: Examples) -> np.ndarray:
        return link_features(examples.inputs, posteriors(examples.inputs), association)

    cells = np.repeat(np.arange(len(train.gold)), weights[train.inputs.sentence_of_cell()])
    cells = cells[np.isin(train.gold[cells], [0, 2])]
    model = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=10_000))
    model.fit(rows(train)[cells], train.gold[cells] == 2)
    found = LinkClassifier(JOINT, threshold=0.3).train(train, weights, 0)(test)
    np.testing.assert_array_equal(found, model.predict_proba(rows(test))[:, 1] > 0.3)
    assert 0 < found.sum() < len(found)
    only_possible = examples_of((text, [Links(possible={(0, 0)})] * 40))[0]
    with pytest.raises(ValueError, match="with sure links, and others without"):
        LinkClassifier(JOINT).train(only_possible, weights, 0)


def test_dice_by_counting(rng: np.random.Generator) -> None:
    text, _ = made_up(rng, 30)
    (bitext,) = index_bitexts([text])
    weights = rng.integers(0, 3, 30)
    found = dice(bitext, weights)
    sources, targets = ({w: k for k, w in enumerate(dict.fromkeys(w for p in text for w in p[s]))} for s in (0, 1))
    numbers = {pair: k for k, pair in enumerate(zip(bitext.lexicon.source, bitext.lexicon.target, strict=True))}
    for e, f in {(e, f) for source, target in text for e in source for f in target}:
        with_e = sum(w for w, (source, _) in zip(weights, text, strict=True) if e in source)
        with_f = sum(w for w, (_, target) in zip(weights, text, strict=True) if f in target)
        both = sum(w for w, (s, t) in zip(weights, text, strict=True) if e in s and f in t)
        expected = 2 * both / (with_e + with_f) if with_e + with_f else 0
        assert found[numbers[sources[e], targets[f]]] == pytest.approx(expected)


def test_features_of_one_link_at_a_time(rng: np.random.Generator) -> None:
    """Neighbours, competitors and places by loops over the grid of each sentence pair."""
    (bitext,) = index_bitexts([[(["a", "b", "c"], ["a", "x"]), (["d"], ["y"]), (["e", "f"], ["u", "v", "w"])]])
    # Rounded, so that some are equal; posteriors below one in a million are alike.
    values = [rng.random(13).round(1) for _ in range(2)]
    values[0][4] = values[1][11] = 1e-9
    association = rng.random(len(bitext.lexicon.source)).round(1)
    nulls = rng.random(6), rng.random(6)
    found = link_features(bitext, (Posteriors(values[0], nulls[0]), Posteriors(values[1], nulls[1])), association)
    for s, (m, n) in enumerate([(3, 2), (1, 1), (2, 3)]):
        first = bitext.first_cell[s]
        p, q = (np.array(v[first : bitext.first_cell[s + 1]]).reshape(m, n) for v in values)
        a = association[bitext.pairs[first : bitext.first_cell[s + 1]]].reshape(m, n)
        both = np.sqrt(p * q)
        padded = np.pad(both, 1)
        for i in range(m):
            for j in range(n):
                at = padded[i : i + 3, j : j + 3]

                def others(grid: np.ndarray, i: int = i, j: int = j) -> tuple[float, float]:
                    return np.delete(grid[i], j).max(initial=0), np.delete(grid[:, j], i).max(initial=0)

                expected = [
                    p[i, j], q[i, j], both[i, j], *np.log(np.maximum([p[i, j], q[i, j]], 1e-6)),
                    abs((i + 1) / m - (j + 1) / n),
                    a[i, j], float((s, i, j) == (0, 0, 0)), at[0, 0] + at[2, 2], at[0, 2] + at[2, 0],
                    at[1, 0] + at[1, 2], at[0, 1] + at[2, 1], sum(others(both)), a[i, j] - max(others(a)),
                    nulls[0][bitext.first_target[s] + j] + nulls[1][bitext.first_source[s] + i],
                ]  # fmt: skip
                np.testing.assert_allclose(found[first + i * n + j], expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TextAligner(()), r"stages must be a tuple of at least one Stage, not \(\)"),
        (lambda: TextAligner(HMM, agree=1), "agree must be True or False, not 1"),
        (lambda: TextAligner(HMM, combination="onion"), "combination must be one of intersection, union"),
        (lambda: TextAligner(HMM, threshold=1.0), "threshold must lie between 0 and 1, both excluded, not 1.0"),
        (lambda: TextAligner(HMM, floor=0), "floor must lie between 0 and 1, both excluded, not 0"),
        (lambda: LinkClassifier(HMM), "text must be a TextAligner, not"),
        (lambda: LinkClassifier(JOINT, penalty=0), "penalty must be above 0, not 0"),
        (lambda: LinkClassifier(JOINT, threshold="0.4"), "threshold must be a number, not '0.4'"),
    ],
)
def test_bad_parameters(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
