"""Weights of a resample, and seeds, come to all that counts or draws; counts of single models by plain loops."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
import pytest

from simstudy.running.fingerprints import derived_seed
from simstudy_learners.alignment.aligners import LinkClassifier
from simstudy_learners.constituency.lexicon import forms_of, tag_scores
from simstudy_learners.constituency.parsers import LatentStates
from simstudy_learners.dependencies.parsers import Reparser
from simstudy_learners.generation.beam_search import BeamSearch, _Decoder
from simstudy_learners.generation.phrases import Part, word
from simstudy_learners.generation.templates import Templates, _Planner
from simstudy_learners.language_models.ngrams import Ngrams
from simstudy_learners.sequences.specialised_hmm import _Observed
from simstudy_learners.sequences.trigram_tagger import Lexicon, spelling_view
from simstudy_learners.translation.bilingual_ngrams import BilingualNgrams
from simstudy_learners.translation.candidates import best_candidates
from simstudy_learners.translation.phrase_based import PhraseBased
from simstudy_learners.translation.phrases import PhraseTable
from simstudy_learners.translation.translation_memory import TranslationMemory
from tests.learners.handed import answers, handed
from tests.learners.sentences import pairs
from tests.learners.small import linked, treebank
from tests.learners.test_generators import restaurants
from tests.learners.test_handing_on import ALIGNER
from tests.learners.trees import random_heads, random_words

PHRASES, UNITS, MEMORY = PhraseBased(n_iterations=1), BilingualNgrams(n_iterations=1), TranslationMemory(n_iterations=1)

# Who counts, of what, and whether only what has a weight is handed on.
COUNTING: list[tuple[Any, Any, str, bool]] = [
    *((one, linked, "alignment.aligners:train_both", False) for one in (ALIGNER, LinkClassifier(ALIGNER))),
    (LinkClassifier(ALIGNER), linked, "alignment.aligners:dice", False),
    *((one, pairs, "alignment.aligners:train_both", True) for one in (PHRASES, UNITS, MEMORY)),
    *((one, pairs, "translation.aligned_bitexts:lexicon", True) for one in (PHRASES, UNITS, MEMORY)),
    *((one, pairs, "translation.log_linear:train_language_model", True) for one in (PHRASES, UNITS)),
    (UNITS, pairs, "translation.bilingual_ngrams:train_language_model", True),
    (MEMORY, pairs, "translation.translation_memory:train_language_model", True),
    *((one, restaurants, "generation.training:learn_alignment", True) for one in (Templates(), BeamSearch())),
    *((one, restaurants, "generation.alignment:train_both", True) for one in (Templates(), BeamSearch())),
    (BeamSearch(), restaurants, "generation.beam_search:train_language_model", True),
]


def test_weights_are_handed_on() -> None:
    for base, examples, function, only_those in COUNTING:
        given = examples()
        weights = np.resize([2, 0, 1, 3, 5], given.n_items)
        found = handed(partial(answers, base, given, weights), function)["weights"]
        wanted = weights[weights > 0] if only_those else weights
        np.testing.assert_array_equal(found, wanted, err_msg=f"{base}, {function}")


def test_seeds_are_handed_on(rng: np.random.Generator) -> None:
    """That of an experiment to what splits states; to each member of an ensemble one of its own."""
    given = treebank()
    for seed in (0, 7):
        call = lambda s=seed: LatentStates(1, 1, 0.5).train(given, np.ones(given.n_items, np.int64), s)  # noqa: E731
        assert handed(call, "constituency.parsers:learned")["seed"] == seed
    seeds: list[int] = []

    class Draws:
        def learn(self, words: Any, heads: Any, weights: Any, seed: int) -> object:
            seeds.append(seed)
            return lambda other: heads

    words, heads = random_words(rng, [2, 3]), random_heads(rng, [2, 3])
    for seed in (1, 2):
        Reparser((Draws(), Draws(), Draws()), (1, 1, 1)).learn(words, heads, np.ones(2, np.int64), seed)  # type: ignore[arg-type]
    assert seeds == [derived_seed(seed, "member", k) for seed in (1, 2) for k in range(3)]
    assert len(set(seeds)) == 6


def test_forms_are_shapes_with_last_letters() -> None:
    """Capitals (first, later, all), digits, numbers, hyphens within, signs alone and single ones tell shapes apart."""
    alike = [
        ["running", "dogs", "-ed"], ["Running", "Ed"], ["DNA", "USA"], ["McDonald", "EuG"], ["iPod", "mRNA"],
        ["p53", "2nd"], ["P53", "B2"], ["3.5", "1,000", "-12"], ["3", "7"], ["a", "b"], ["I", "A"],
        ["by-and-by", "b-a"], ["Mac-a", "B-c"], ["%", ","], ["%%", "..."], ["x3-y", "2-x"],
    ]  # fmt: skip
    words = [(one, row) for row, some in enumerate(alike) for one in some]
    forms = forms_of([one for one, _ in words])
    for k, (one, row) in enumerate(words):
        for j, (other, its) in enumerate(words):
            for level in range(4):
                same = row == its and (not level or one.lower()[-level:] == other.lower()[-level:])
                assert (forms[k, level] == forms[j, level]) == same, (one, other)


def test_a_word_is_rare_by_all_its_tags_together(rng: np.random.Generator) -> None:
    """How unknown words are tagged is told by words that are seen four times at most, whatever their tags."""
    names = ["aa", "ba", "ca", "Da", "e1", "fb", "gb", "unknown", "xa"]
    forms = forms_of(names)
    seen = [(w, t, float(rng.integers(1, 5))) for w in range(7) for t in range(3) if rng.random() < 0.5]
    n_words, n_tags = len(names), 3
    of_word, of_tag, total = Counter[int](), Counter[int](), 0.0
    for w, t, n in seen:
        of_word[w] += n  # type: ignore[assignment]
        of_tag[t] += n  # type: ignore[assignment]
        total += n
    rare = {w for w, n in of_word.items() if n <= 4}
    assert rare
    assert any(of_word[w] > 4 and n <= 4 for w, _, n in seen)
    expected = np.zeros((n_words, n_tags))
    for w in range(n_words):
        share = [sum(n for v, u, n in seen if v in rare and u == t) for t in range(n_tags)]
        share = [n / sum(share) for n in share]
        for level in range(4):
            alike = [(u, n) for v, u, n in seen if v in rare and forms[v, level] == forms[w, level]]
            every = sum(n for _, n in alike)
            share = [(sum(n for u, n in alike if u == t) + 5 * share[t]) / (every + 5) for t in range(n_tags)]
        own = [sum(n for v, u, n in seen if (v, u) == (w, t)) for t in range(n_tags)]
        expected[w] = [(own[t] + share[t]) / (sum(own) + 1) / (of_tag[t] / total) for t in range(n_tags)]
    words, tags = (np.array(column, dtype=np.int32) for column in list(zip(*seen, strict=True))[:2])
    counts = np.array([n for *_, n in seen])
    wanted = np.arange(n_words, dtype=np.int32)
    np.testing.assert_allclose(tag_scores(words, tags, counts, n_tags, forms=forms, wanted=wanted), expected)


def test_frequent_words_tell_of_unknown_ones_where_all_are_frequent() -> None:
    """Shares of tags are 3 : 1; the unknown word's form is that of no other; a tag that was never seen has no score."""
    forms, counts = forms_of(["aa", "ba", "%"]), np.array([15.0, 5.0])
    known, tags = np.array([0, 1], np.int32), np.array([0, 2], np.int32)
    scores = tag_scores(known, tags, counts, 3, forms=forms, wanted=np.array([2], np.int32))
    np.testing.assert_allclose(scores, [[1, 0, 1]])


def test_suffixes_are_of_words_that_are_rare_by_their_weights() -> None:
    """One word stands once, but for six; another one three times for one each."""
    rows = spelling_view(["xa", "ya", "zb"], np.array([0, 1, 1, 1]))
    lexicon = Lexicon.count(rows, np.array([0, 1, 1, 1]), np.array([6, 1, 1, 1]), n_tags=2, rare=3, ratio=0.0)
    # Suffix 0 is the empty one, 1 is "a".
    assert lexicon.suffixes[[0, 1]].toarray().tolist() == [[0, 3], [0, 3]]
    assert lexicon.words[[0, 1]].toarray().tolist() == [[6, 0], [0, 3]]


def test_the_default_part_of_speech_is_the_heaviest_one() -> None:
    rows = np.array([[1, 7], [2, 8], [3, 8], [4, 9]])
    for often, part in (([5, 1, 1, 2], 7), ([1, 2, 2, 3], 8), ([1, 1, 1, 4], 9)):
        observed = _Observed.choose(rows, np.array(often), 100)
        assert observed.parts[observed.default] == part
        assert observed.symbols(np.array([[1, 99]])).tolist() == [observed.default]


def test_what_a_value_costs_anywhere_is_that_of_its_most_frequent_phrase(rng: np.random.Generator) -> None:
    """Among all parts, and an end for each text, as often as texts weigh."""
    parts = [word("x"), Part("p", "1", ("a",)), Part("p", "1", ("b",)), Part("p", "2", ("c",)), Part("q", "", ("{q}",))]
    texts = [([parts[k] for k in rng.integers(5, size=4)], int(rng.integers(1, 5))) for _ in range(9)]
    decoder = _Decoder(BeamSearch(order=2), texts)
    often: Counter[Part] = Counter()
    for text, weight in texts:
        for part in text:
            often[part] += weight
    n_parts = often.total() + sum(weight for _, weight in texts)
    for value, cost in decoder._expected.items():
        assert cost == pytest.approx(-math.log(max(n for part, n in often.items() if part.says == value) / n_parts))
    assert decoder._expected.keys() == {part.says for part in often if part.slot}


def test_a_slots_phrase_is_that_of_the_closest_context() -> None:
    """The most frequent one between the same two words, else after the same word, else anywhere."""
    planner = _Planner(Templates())
    for left, phrase, right, weight in (("is", "a", "now", 1), ("is", "b", "here", 3), ("was", "c", "now", 9)):
        planner.count([[Part("name", "", ("{name}",)), word(left), Part("p", "1", (phrase,)), word(right)]], weight)
    for left, right, phrase in (("is", "now", "a"), ("is", "ever", "b"), ("were", "now", "c")):
        assert planner.filled((left, "[p]", right), (("p", "1"),)) == [left, phrase, right]


@pytest.mark.parametrize("n", [1, 2, 10])
def test_the_pairs_of_which_most_is_expected_are_kept_with_their_words(rng: np.random.Generator, n: int) -> None:
    of_each, lengths = [3, 0, 1, 4], rng.integers(3, size=8)
    bounds, word_bounds = np.cumsum([0, *of_each]), np.cumsum([0, *lengths])
    sources = Ngrams.of(np.array([2, 3, 4, 5]), np.array([0, 1, 2, 3, 4]), 6, 1)[0]
    table = PhraseTable(sources, bounds, np.arange(word_bounds[-1]), word_bounds, np.zeros((8, 4)))
    score, expected, unit = rng.normal(size=8), rng.normal(size=8), np.arange(20, 28)
    found = best_candidates(table, score, expected, unit, n)
    kept = [
        k
        for first, last in zip(bounds[:-1], bounds[1:], strict=True)
        for k in sorted(range(first, last), key=lambda k: -expected[k])[:n]
    ]
    assert found.bounds.tolist() == np.cumsum([0, *(min(size, n) for size in of_each)]).tolist()
    assert found.unit.tolist() == [20 + k for k in kept]
    np.testing.assert_allclose(found.score, score[kept])
    np.testing.assert_allclose(found.expected, expected[kept])
    for place, k in enumerate(kept):
        own = found.words[found.word_bounds[place] : found.word_bounds[place + 1]]
        assert own.tolist() == list(range(word_bounds[k], word_bounds[k + 1]))
