"""Taggers and chunkers on small corpora: weights are copies, odd input has an answer."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simstudy.training import BaseSystem, Examples, Rows
from simstudy_learners.sequences.crf import ConditionalRandomField
from simstudy_learners.sequences.perceptron import GreedyPerceptron, train_perceptron
from simstudy_learners.sequences.specialised_hmm import SpecialisedHMM, _Observed
from simstudy_learners.sequences.token_features import Tokens, numbered_view
from simstudy_learners.sequences.trigram_tagger import Lexicon, TrigramTagger, spelling_view

_TAGS = {"the": "AT", "dog": "NN", "barks": "VB", "barking": "VBG", "Rex": "NP", "sees": "VB", "seeing": "VBG"}
_TEXT = [
    "the dog barks",
    "Rex barks",
    "Rex sees the dog",
    "the barking dog sees Rex",
    "seeing Rex the dog barks",
    "the dog sees the barking dog",
]
_SYSTEMS = [TrigramTagger(), GreedyPerceptron(), SpecialisedHMM(frequent=3), ConditionalRandomField()]


def _examples(texts: list[str], new: list[str] | None = None) -> Any:
    """Examples of the texts, and of new ones, whose unknown words' tag is XX."""
    sentences = [text.split() for text in [*texts, *(new or [])]]
    n_train = sum(len(text.split()) for text in texts)
    tokens = Tokens.index(sentences)
    numbered = numbered_view(tokens, n_train)
    # A part of speech is a word's length: none of the models knows that.
    lengths = np.array([len(word) for sentence in sentences for word in sentence])
    views = {
        "numbered": numbered,
        "spelling": spelling_view(tokens.types, tokens.current),
        "symbols": np.stack([tokens.current, lengths], axis=1),
    }
    tags = np.array([_TAGS.get(word, "XX") for sentence in sentences for word in sentence])
    item = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])

    def part(rows: slice, first: int) -> Examples:
        return Examples(Rows({view: one[rows] for view, one in views.items()}, item[rows] - first), tags[rows])

    train = part(slice(n_train), 0)
    return (train, part(slice(n_train, None), len(texts))) if new else train


def test_a_part_of_speech_of_frequent_words_only_is_taken_for_the_default_one() -> None:
    """All words of four letters are "sees": another one is as a word of a length that was never there."""
    train, new = _examples(
        ["Rex sees the dog", "the dog sees Rex", "Rex barks"], ["the dog runs Rex", "the dog goes-on Rex"]
    )
    model = SpecialisedHMM(frequent=2)
    often = np.full(len(train.gold), 1)
    observed = _Observed.choose(train.inputs.features["symbols"], often, 2)
    assert set(observed.symbols(train.inputs.features["symbols"])) == set(range(observed.n_symbols)), "each is there"
    answers = model.train(train, np.ones(3, dtype=np.int64), 0)(new).tolist()
    assert answers[:4] == answers[4:]


@pytest.mark.parametrize("system", _SYSTEMS, ids=lambda one: type(one).__name__)
def test_what_was_learned_is_known(system: BaseSystem) -> None:
    train = _examples(_TEXT)
    answers = system.train(train, np.full(len(_TEXT), 5), 0)(train)
    assert answers.tolist() == train.gold.tolist()


@pytest.mark.parametrize(
    "system", [one for one in _SYSTEMS if not isinstance(one, GreedyPerceptron)], ids=lambda one: type(one).__name__
)
def test_weights_are_copies(system: BaseSystem) -> None:
    """A sentence of weight 3 is three sentences: both models give the same answers to everything."""
    weights = np.array([3, 0, 1, 2, 0, 1])
    copies = [text for text, weight in zip(_TEXT, weights, strict=True) for _ in range(weight)]
    new = ["the dog", "Rex sees seeing", "barks barks the", "barking the Rex dog", *_TEXT]
    train, test = _examples(_TEXT, new)
    copied, same_test = _examples([*copies], new)
    weighted = system.train(train, weights, 0)(test)
    assert weighted.tolist() == system.train(copied, np.ones(len(copies), np.int64), 0)(same_test).tolist()


@pytest.mark.parametrize("system", _SYSTEMS, ids=lambda one: type(one).__name__)
def test_unknown_words_and_tags_and_a_training_set_of_one_sentence(system: BaseSystem) -> None:
    """Every token gets a tag of the training set, whatever is not in it."""
    train, test = _examples(_TEXT, ["a", "Unheard xyzzy quux .", "the Xyzzy barked dog dog"])
    for weights in (np.ones(6, np.int64), np.array([0, 1, 0, 0, 0, 0])):
        answers = system.train(train, weights, 0)(test)
        present = np.repeat(weights, np.diff(train.inputs.first_rows())) > 0
        assert len(answers) == 10
        assert set(answers) <= set(train.gold[present])


def test_successive_abstraction_by_hand() -> None:
    """One tag for words in -a, another for words in -b: an unknown word in -a, theta the deviation of the tags' shares.

    Shares are 3/4 and 1/4, so that theta is sqrt(2) / 4; rare words of its kind have shares 3/4 and 1/4, those in -a
    3/3 and 0.
    """
    rows = spelling_view(["xa", "ya", "za", "xb", "wa"], np.arange(5))
    # Tags A, A, A and B of four words.
    lexicon = Lexicon.count(rows[:4], np.array([0, 0, 0, 1]), np.ones(4, np.int64), n_tags=2, rare=10, ratio=1e-3)
    emissions, symbols = lexicon.emissions(rows[4:])
    theta = np.sqrt(2) / 4
    first = (3 / 4 + theta * 3 / 4) / (1 + theta)
    guesses = np.array([(1 + theta * first) / (1 + theta), theta * (1 - first) / (1 + theta)])
    assert (emissions.states.tolist(), symbols.tolist()) == ([1, 2], [0])
    # By Bayes' rule, up to a constant.
    assert np.exp(emissions.log_probabilities) * [3, 1] == pytest.approx(guesses)
    share = guesses[1] / guesses[0]
    for ratio, states in ((0.99 * share, [1, 2]), (1.01 * share, [1])):
        assert replace(lexicon, ratio=ratio).emissions(rows[4:])[0].states.tolist() == states
    longest = spelling_view(["abcdefghijklmnop", "Xbcdefghijklmnop"], np.array([0, 1]))[:, 1:]
    assert longest.tolist() == [[*range(11)], [*range(11, 22)]], "of ten letters at most, apart after a capital"


def test_a_perceptron_learns_after_its_own_guesses_and_keeps_the_mean_of_its_weights(rng: np.random.Generator) -> None:
    """Against plain rows of features, of the tag before and of the two before; 64 steps, so that means are exact."""
    n_features, n_tags, first = 7, 4, np.array([0, 4, 5, 7, 8])
    features, tags = rng.integers(n_features, size=(8, 2)), rng.integers(1, n_tags, 8)
    order = rng.permutation(np.repeat(np.arange(4), 8))

    def guessed(sentence: int, weights: np.ndarray) -> Iterator[tuple[int, list[int], int]]:
        a, b = 0, 0
        for k in range(first[sentence], first[sentence + 1]):
            rows = [*features[k, features[k] > 0], n_features + b, n_features + n_tags + n_tags * a + b]
            guess = 1 + int(weights[rows, 1:].sum(axis=0).argmax())
            yield k, rows, guess
            a, b = b, guess

    plain, total = np.zeros((2, n_features + n_tags + n_tags**2, n_tags))
    for sentence in order:
        for k, rows, guess in guessed(sentence, plain):
            np.add.at(plain, (rows, tags[k]), 1)
            np.add.at(plain, (rows, guess), -1)
            total += plain
    model = train_perceptron(features, tags, first, order, n_features=n_features, n_tags=n_tags)
    np.testing.assert_array_equal(model.weights, total / 64)
    answers = [guess for sentence in range(4) for _, _, guess in guessed(sentence, total)]
    assert model.tag(features, first).tolist() == answers


def test_the_crf_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "pycrfsuite":
            raise ImportError(name)
        return plain(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ValueError, match=r"the CRF needs the package python-crfsuite: pip install python-crfsuite"):
        ConditionalRandomField()
