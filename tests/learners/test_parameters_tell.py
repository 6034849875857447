"""What a parameter of a base system says, by algebra and plain loops: orders, views, stages and weights."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simstudy.training import BaseSystem
from simstudy_learners.alignment.aligners import LinkClassifier, TextAligner
from simstudy_learners.alignment.kernels import Lexical, Posteriors
from simstudy_learners.alignment.models import Model1, Side, Stage, train_both
from simstudy_learners.dependencies.parsers import TransitionParser
from simstudy_learners.language_models.kneser_ney import next_word, train_language_model
from simstudy_learners.sequences import crf
from simstudy_learners.sequences.crf import ConditionalRandomField
from simstudy_learners.sequences.perceptron import GreedyPerceptron
from simstudy_learners.sequences.specialised_hmm import SpecialisedHMM
from simstudy_learners.sequences.trigram_tagger import TrigramTagger
from simstudy_learners.translation.aligned_bitexts import aligned
from simstudy_learners.translation.bilingual_ngrams import BilingualNgrams, UnitWeights
from simstudy_learners.translation.log_linear import LONG_PAIR
from simstudy_learners.translation.phrase_based import PhraseBased, PhraseWeights
from tests.learners.handed import handed
from tests.learners.sentences import pairs
from tests.learners.small import linked, tagged
from tests.learners.trees import random_heads, random_words

# Parsers and taggers.


def test_reading_from_right_to_left_is_reading_mirrored_sentences(rng: np.random.Generator) -> None:
    lengths = [1, 2, 3, 4, 5] * 6
    words, gold, weights = random_words(rng, lengths), random_heads(rng, lengths), rng.integers(3, size=30)
    new = random_words(rng, lengths)
    parsers = [TransitionParser(2, right_to_left, 10) for right_to_left in (True, False)]
    backward, forward = (one.learn(words, gold, weights, 5)(new) for one in parsers)
    mirrored = parsers[1].learn(words.mirrored(), words.mirrored_heads(gold), weights, 5)(new.mirrored())
    np.testing.assert_array_equal(backward, new.mirrored_heads(mirrored))
    assert (backward != forward).any()


VIEWS: list[tuple[Any, str]] = [
    (ConditionalRandomField, "numbered"), (GreedyPerceptron, "numbered"), (TrigramTagger, "spelling"),
    (SpecialisedHMM, "symbols"),
]  # fmt: skip


@pytest.mark.parametrize(("system", "view"), VIEWS)
def test_a_tagger_reads_the_view_of_that_name(system: Any, view: str) -> None:
    """In training and in use; another name of the same view changes nothing."""
    plain, renamed = tagged(), tagged(**{view: "other"})
    weights = np.array([2, 1, 3])
    expected = system().train(plain, weights, 0)(plain)
    assert system(view="other").train(renamed, weights, 0)(renamed).tolist() == expected.tolist()
    with pytest.raises(KeyError, match="other"):
        system(view="other").train(plain, weights, 0)


@pytest.mark.parametrize("epochs", [1, 4])
def test_a_perceptron_sees_each_sentence_as_often_as_it_weighs_in_each_epoch(epochs: int) -> None:
    weights = np.array([2, 0, 3])
    given = tagged()
    base = GreedyPerceptron(epochs=epochs)
    orders = [handed(lambda s=seed: base.train(given, weights, s), "sequences.perceptron:train_perceptron")["order"]
              for seed in (0, 0, 1)]  # fmt: skip
    for epoch in orders[0].reshape(epochs, 5):
        assert sorted(epoch.tolist()) == [0, 0, 2, 2, 2]
    assert orders[0].tolist() == orders[1].tolist() != orders[2].tolist()


def test_a_crf_is_trained_with_its_iterations_and_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    base, given = ConditionalRandomField(iterations=7, penalty=0.3), tagged()
    seen: list[Any] = []

    def trainer(algorithm: str, parameters: dict[str, float], **_: object) -> object:
        seen.append((algorithm, parameters))
        return SimpleNamespace(append=lambda *row: seen.append(row), train=lambda path: open(path, "wb").close())

    monkeypatch.setattr(crf, "_crfsuite", lambda: SimpleNamespace(Trainer=trainer, ItemSequence=list))
    base.train(given, np.array([2, 0, 1]), 0)
    assert seen[0] == ("lbfgs", {"max_iterations": 7, "c2": 0.3, "c1": 0.0})
    first, last = ([["1", "2"], ["2", "3"], ["3"]], ["X", "Y", "X"]), ([["2", "2"], ["2", "3"]], ["Y", "X"])
    assert seen[1:] == [first, first, last]


# Aligners.


def test_stages_follow_one_another_each_with_its_iterations() -> None:
    """Each iteration asks both directions; a stage begins with the last words' probabilities of the one before."""
    asked: list[tuple[str, bool]] = []
    tables: list[tuple[np.ndarray, np.ndarray]] = []

    class Named(Model1):
        def posteriors(self, side: Side, lexical: Lexical, weights: Any) -> tuple[Posteriors, Any, float]:
            asked.append((type(self).__name__, side.turned))
            found, _, likelihood = Model1().posteriors(side, lexical, weights)
            tables.append((lexical.table, found.cells))
            return found, self, likelihood

    class Other(Named):
        pass

    given, weights = linked(), np.array([1, 0, 2, 1, 1, 3])
    trained = train_both(given.inputs, weights, (Stage(Named(), 2), Stage(Other(), 3)), 1e-4)
    assert asked == [(name, turned) for name in ["Named"] * 2 + ["Other"] * 3 for turned in (False, True)]
    # In all iterations of all stages: relative frequencies of the expected counts of the iteration before.
    bitext = given.inputs
    often = weights[bitext.sentence_of_cell()]
    rows = [*tables[2:], *((one.table, np.empty(0)) for one in trained.lexicals)]
    for k, (table, _) in enumerate(rows):
        own = bitext.lexicon.target if k % 2 else bitext.lexicon.source
        links = np.bincount(bitext.pairs, tables[k][1] * often, len(own))
        total = np.array([links[own == one].sum() for one in own])
        expected = np.divide(links, total, out=np.zeros(len(own)), where=total > 0)
        np.testing.assert_allclose(table, np.maximum(expected, 1e-4), atol=1e-12)


def test_a_penalty_is_worth_as_much_as_so_many_copies_of_each_sentence_pair() -> None:
    given = linked()
    base = LinkClassifier(TextAligner((Stage(Model1(), 2),)), threshold=0.7, penalty=3.0)
    ones = np.ones(6, np.int64)
    heavy = replace(base, penalty=300.0)
    expected = base.train(given, ones, 0)(given).tolist()
    assert heavy.train(given, 100 * ones, 0)(given).tolist() == expected
    assert heavy.train(given, ones, 0)(given).tolist() != expected


# Translators.

PHRASES = PhraseBased(weights=PhraseWeights((0.9, 0.7, 0.5, 0.3), phrase=-0.2, word=0.45, language=1.3, distortion=0.6))
UNITS = BilingualNgrams(
    weights=UnitWeights(units=0.8, language=0.35, lexical=(0.6, 0.25), phrase=-0.15, word=0.9, distortion=0.7)
)


@pytest.mark.parametrize("base", [PHRASES, UNITS])
def test_weights_are_those_of_what_they_are_called_after(base: Any) -> None:
    """The score of a pair, and what is expected of it and of an unknown word, by sums over its parts."""
    given, w = pairs(), base.weights
    corpus = aligned(given, np.ones(8, np.int64), 2)
    target = corpus.bitext.target
    language = train_language_model(target, corpus.bitext.first_target, corpus.weights, corpus.n_words, 3)
    table, units = base.phrase_pairs(corpus, language)
    made: BaseSystem = SimpleNamespace(train=lambda *_: base.translator(language, table, units))  # type: ignore[assignment]

    def translate() -> Any:
        return made.train(given, np.ones(8, np.int64), 0)(given)

    kinds = w.translation if isinstance(w, PhraseWeights) else (0.0, 0.0, *w.lexical)
    given_to = handed(translate, "translation.log_linear:best_candidates")
    n = len(table.word_bounds) - 1

    def likely(model: Any, numbers: list[int]) -> float:
        total, state = 0.0, 0
        for number in numbers:
            logarithm, state = next_word(model, state, number)
            total += logarithm
        return total

    for i in range(n):
        words = table.words[table.word_bounds[i] : table.word_bounds[i + 1]].tolist()
        score = sum(a * b for a, b in zip(kinds, table.features[i], strict=True)) + w.phrase + w.word * len(words)
        expected = score + w.language * likely(language, words)
        if w.units:
            expected += w.units * likely(units, [LONG_PAIR + 1 + i])
        assert given_to["unit"][i] == LONG_PAIR + 1 + i
        assert given_to["score"][i] == pytest.approx(score)
        assert given_to["expected"][i] == pytest.approx(expected)
    unknown = handed(translate, "translation.log_linear:translated")["unknown"]
    (otto,) = {given.inputs.vocabulary.index("läuft")} - set(target.tolist())
    as_expected = w.phrase + w.word + w.language * likely(language, [otto])
    as_expected += w.units * likely(units, [LONG_PAIR + 1 + n]) if w.units else 0.0
    assert unknown == pytest.approx((w.phrase + w.word, as_expected, LONG_PAIR + 1 + n))
    models = handed(translate, "translation.log_linear:Models")
    assert (models["language"], models["units"]) == (language, units)
    assert (models["language_weight"], models["unit_weight"], models["distortion_weight"]) == (
        w.language, w.units, w.distortion,
    )  # fmt: skip
