"""Base systems as studies train them: the settings that they have where none are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simstudy_learners.alignment import hansards
from simstudy_learners.alignment.aligners import LinkClassifier, TextAligner
from simstudy_learners.alignment.models import DiagonalModel, HiddenMarkov, Model1, Stage
from simstudy_learners.constituency.corpora import base_systems, craft_files
from simstudy_learners.constituency.parsers import LatentStates, TreebankGrammar
from simstudy_learners.dependencies.parsers import GraphParser, LabelledParser, TransitionParser
from simstudy_learners.generation.beam_search import BeamSearch
from simstudy_learners.generation.retrieval import Retrieval
from simstudy_learners.generation.templates import Templates
from simstudy_learners.sequences.crf import ConditionalRandomField
from simstudy_learners.sequences.perceptron import GreedyPerceptron
from simstudy_learners.sequences.specialised_hmm import SpecialisedHMM
from simstudy_learners.sequences.trigram_tagger import TrigramTagger
from simstudy_learners.translation.bilingual_ngrams import BilingualNgrams, UnitWeights
from simstudy_learners.translation.hypotheses import Search
from simstudy_learners.translation.phrase_based import PhraseBased, PhraseWeights
from simstudy_learners.translation.translation_memory import TranslationMemory
from tests.learners.handed import handed
from tests.learners.sentences import pairs

OPEN = ("name", "near", "eatType", "food")
HMM = Stage(Model1(), 5), Stage(HiddenMarkov(0.2, 7, (1.0,) * 15), 5)
JOINT = TextAligner(HMM, True, "posteriors", 0.3, 1e-5)
SEARCH = Search(stack=30, width=8.0, distortion_limit=5)
# Tuned on Multi30k's val.
PHRASES, UNITS = PhraseWeights((1.4, 0.4, 0.0, 0.3), -0.3, 0.6, 1.0, 0.8), UnitWeights(1.0, 0.2, (0.2, 0.2), 0.0, 1.0, 1.0)

DEFAULTS: list[tuple[Any, Any]] = [
    (TransitionParser(), TransitionParser(10, False, 21)), (GraphParser(), GraphParser(6, 40, 22)),
    (LabelledParser(GraphParser()), LabelledParser(GraphParser(), 3, 18)),
    (ConditionalRandomField(), ConditionalRandomField(40, 0.1, "numbered")),
    (GreedyPerceptron(), GreedyPerceptron(5, "numbered")), (TrigramTagger(), TrigramTagger(10, 1e-3, "spelling")),
    (SpecialisedHMM(), SpecialisedHMM(100, "symbols")), (Retrieval(), Retrieval(40, 4, OPEN)),
    (Templates(), Templates(-8.0, 0.02, 10, OPEN)), (BeamSearch(), BeamSearch(4, 4, 3.0, 4, 8, 2, 10, OPEN)),
    (TranslationMemory(), TranslationMemory(100, 3, 0.2, 4, 5)),
    (PhraseBased(), PhraseBased(5, 4, 5, 20, SEARCH, PHRASES)),
    (BilingualNgrams(), BilingualNgrams(5, 4, 5, 20, SEARCH, UNITS, 3)),
    (hansards.JOINT_HMM, JOINT), (hansards.HMM, TextAligner(HMM, False, "grow-diag-final-and", 0.3, 1e-5)),
    (hansards.FAST_ALIGN, TextAligner((Stage(DiagonalModel(4.0, 0.08, True), 5),), False, "intersection", 0.3, 1e-5)),
    (LinkClassifier(JOINT), LinkClassifier(JOINT, 0.4, 1.0)),
    (base_systems(), {"Markov": TreebankGrammar(2, 1, True), "parent": TreebankGrammar(1, 2, False),
                      "latent": LatentStates(3, 8, 0.5)}),
]  # fmt: skip


@pytest.mark.parametrize(("found", "expected"), DEFAULTS)
def test_settings_that_are_not_given(found: Any, expected: Any) -> None:
    assert found == expected


def test_translators_align_words_with_a_tension_that_stays_and_grow_links() -> None:
    given = pairs()

    def train() -> None:
        PhraseBased(n_iterations=3).train(given, np.ones(8, np.int64), 0)

    stages = handed(train, "alignment.aligners:train_both")["stages"]
    assert stages == (Stage(DiagonalModel(4.0, 0.08, adapts=False), 3),)
    assert handed(train, "alignment.aligners:symmetrise")["how"] == "grow-diag-final-and"


def test_test_sets_are_of_published_sizes() -> None:
    """Haghighi et al. (2009) test on 100 sentence pairs; CRAFT has 97 articles."""
    assert hansards.N_TEST == 100
    assert len(craft_files()) == sum(name.endswith(".tree") for name in craft_files()) == 97
