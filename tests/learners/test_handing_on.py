"""Every parameter of every base system has its default, and reaches what it is for, or shows in answers."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import simstudy_learners
from simstudy_learners.alignment import hansards
from simstudy_learners.alignment.aligners import LinkClassifier, TextAligner
from simstudy_learners.alignment.models import DiagonalModel, HiddenMarkov, Model1, Stage
from simstudy_learners.constituency import coarse_pass, latent_grammar, parsers
from simstudy_learners.constituency.corpora import base_systems, craft_files
from simstudy_learners.constituency.parsers import LatentStates, TreebankGrammar
from simstudy_learners.dependencies.parsers import GraphParser, LabelledParser, Reparser, TransitionParser
from simstudy_learners.generation.beam_search import BeamSearch
from simstudy_learners.generation.retrieval import Retrieval
from simstudy_learners.generation.templates import Templates
from simstudy_learners.sequences import token_features
from simstudy_learners.sequences.crf import ConditionalRandomField
from simstudy_learners.sequences.perceptron import GreedyPerceptron
from simstudy_learners.sequences.specialised_hmm import SpecialisedHMM
from simstudy_learners.sequences.trigram_tagger import TrigramTagger
from simstudy_learners.translation.bilingual_ngrams import BilingualNgrams, UnitWeights
from simstudy_learners.translation.hypotheses import Search
from simstudy_learners.translation.phrase_based import PhraseBased, PhraseWeights
from simstudy_learners.translation.translation_memory import TranslationMemory
from tests.learners.handed import answers, handed
from tests.learners.sentences import pairs
from tests.learners.small import labelled_sentences, linked, tagged, treebank
from tests.learners.test_generators import restaurants

STAGES = (Stage(Model1(), 2), Stage(HiddenMarkov(0.11, 3), 1))
ALIGNER = TextAligner(STAGES, agree=True, combination="union", threshold=0.12, floor=1e-3)
SEARCH = Search(stack=11, width=3.5, distortion_limit=2)
OPEN = ("name", "food")


class Guesses:
    """Finds heads without learning: nothing of it reaches what labels need."""

    def learn(self, *_: object) -> object:
        return lambda words: np.zeros(len(words.forms), np.int64)


PARSED, LABELS = TransitionParser(epochs=3, bits=9), LabelledParser(Guesses(), label_epochs=4, label_bits=5)  # type: ignore[arg-type]
ARCS = GraphParser(epochs=2, margin=7, bits=8)
TEMPLATES = Templates(iterations=3, open_slots=OPEN)
BEAM = BeamSearch(order=3, iterations=4, open_slots=OPEN)
MEMORY = TranslationMemory(n_candidates=7, longest=2, fluency=0.7, order=3, n_iterations=4)
PHRASES = PhraseBased(longest=3, order=3, n_iterations=4, n_options=6, search=SEARCH)
UNITS = BilingualNgrams(longest=2, order=3, n_iterations=6, n_options=9, search=SEARCH, unit_order=4)

LEARNT, READ = "dependencies.parsers:", "sequences.trigram_tagger:"

# A base system; what it is trained on and asked of; a function that it comes to; which parameter each argument is.
HANDED: list[tuple[Any, Any, str, dict[str, str]]] = [
    (LabelledParser(PARSED), labelled_sentences, f"{LEARNT}presentation", {"epochs": "heads.epochs"}),
    (LabelledParser(PARSED), labelled_sentences, f"{LEARNT}tables", {"bits": "heads.bits"}),
    (LabelledParser(ARCS), labelled_sentences, f"{LEARNT}presentation", {"epochs": "heads.epochs"}),
    (LabelledParser(ARCS), labelled_sentences, f"{LEARNT}tables", {"bits": "heads.bits"}),
    (LabelledParser(ARCS), labelled_sentences, f"{LEARNT}learn_arcs", {"margin": "heads.margin"}),
    (LABELS, labelled_sentences, f"{LEARNT}presentation", {"epochs": "label_epochs"}),
    (LABELS, labelled_sentences, f"{LEARNT}tables", {"bits": "label_bits"}),
    (TreebankGrammar(0, 2, True), treebank, "constituency.parsers:markovised",
     {"horizontal": "horizontal", "vertical": "vertical", "splits": "splits"}),
    (LatentStates(2, 3, 0.25), treebank, "constituency.parsers:learned",
     {"rounds": "rounds", "n_iterations": "n_iterations", "share_merged": "share_merged"}),
    (TrigramTagger(rare=3, ratio=0.25), tagged, f"{READ}Lexicon.count", {"rare": "rare", "ratio": "ratio"}),
    (SpecialisedHMM(frequent=2), tagged, "sequences.specialised_hmm:_Observed.choose", {"least": "frequent"}),
    (ALIGNER, linked, "alignment.aligners:train_both", {"stages": "stages", "agree": "agree", "floor": "floor"}),
    (LinkClassifier(ALIGNER), linked, "alignment.aligners:train_both",
     {"stages": "text.stages", "agree": "text.agree", "floor": "text.floor"}),
    (Retrieval(order=2, open_slots=OPEN), restaurants, "generation.retrieval:features", {"open_slots": "open_slots"}),
    (Retrieval(order=2, open_slots=OPEN), restaurants, "generation.retrieval:delexicalised",
     {"open_slots": "open_slots"}),
    (Retrieval(order=2), restaurants, "generation.retrieval:Consensus", {"order": "order"}),
    (TEMPLATES, restaurants, "generation.templates:seen_phrases",
     {"open_slots": "open_slots", "iterations": "iterations"}),
    (BEAM, restaurants, "generation.beam_search:seen_phrases",
     {"open_slots": "open_slots", "iterations": "iterations"}),
    *((one, restaurants, f"generation.training:{name}", {"open_slots": "open_slots"} | more)
      for one in (TEMPLATES, BEAM)
      for name, more in (("delexicalised", {}), ("learn_alignment", {"iterations": "iterations"}), ("in_phrases", {}))),
    (BEAM, restaurants, "generation.beam_search:train_language_model", {"order": "order"}),
    (MEMORY, pairs, "translation.translation_memory:aligned", {"n_iterations": "n_iterations"}),
    (MEMORY, pairs, "translation.translation_memory:train_language_model", {"order": "order"}),
    (MEMORY, pairs, "translation.translation_memory:Judgement", {"fluency": "fluency"}),
    (PHRASES, pairs, "translation.phrase_based:extracted", {"longest": "longest"}),
    (PHRASES, pairs, "translation.phrase_based:tabulated", {"longest": "longest"}),
    (UNITS, pairs, "translation.bilingual_ngrams:tabulated", {"longest": "longest"}),
    (UNITS, pairs, "translation.bilingual_ngrams:train_language_model", {"order": "unit_order"}),
    *((one, pairs, f"translation.log_linear:{name}", which)
      for one in (PHRASES, UNITS)
      for name, which in (("aligned", {"n_iterations": "n_iterations"}), ("train_language_model", {"order": "order"}),
                          ("best_candidates", {"n": "n_options"}), ("translated", {"search": "search"}))),
    (PHRASES, pairs, "translation.candidates:decode", {"search": "search"}),
    (PHRASES, pairs, "translation.candidates:stacks", {"stack": "search.stack"}),
    (ALIGNER, linked, "alignment.aligners:symmetrise", {"how": "combination"}),
    (replace(ALIGNER, combination="posteriors"), linked, "alignment.aligners:probable_links",
     {"threshold": "threshold"}),
    (Retrieval(neighbours=3), restaurants, "generation.retrieval:_Neighbours", {"settings": ""}),
    (Templates(omission=-1.5, support=0.5), restaurants, "generation.templates:_Planner", {"settings": ""}),
    (BEAM, restaurants, "generation.beam_search:_Decoder", {"settings": ""}),
]  # fmt: skip


@pytest.mark.parametrize("kind", sorted({type(base) for base, *_ in HANDED}, key=str))
def test_parameters_are_handed_on(kind: type) -> None:
    for base, examples, function, which in HANDED:
        if type(base) is not kind:
            continue
        given = examples()
        found = handed(partial(answers, base, given, np.ones(given.n_items, np.int64)), function)
        for argument, parameter in which.items():
            wanted = base
            for name in parameter.split(".") if parameter else []:
                wanted = getattr(wanted, name)
            assert found[argument] == wanted, (function, argument, parameter)


# Parameters that the other tests beside this one show, by what they make of answers.
SHOWN: dict[type, set[str]] = {
    TransitionParser: {"right_to_left"},
    LabelledParser: {"heads"},
    Reparser: {"members", "votes"},
    ConditionalRandomField: {"iterations", "penalty", "view"},
    GreedyPerceptron: {"epochs", "view"},
    TrigramTagger: {"view"},
    SpecialisedHMM: {"view"},
    LinkClassifier: {"text", "threshold", "penalty"},
    Retrieval: {"neighbours"},
    Templates: {"omission", "support"},
    BeamSearch: {"beam", "threshold", "between", "words", "phrases"},
    TranslationMemory: {"n_candidates", "longest"},
    PhraseBased: {"weights"},
    BilingualNgrams: {"weights"},
}


def test_no_parameter_of_a_base_system_is_left_out() -> None:
    """Of all classes of the learners that can be trained, and of what else the list of hand-overs has."""
    shown: dict[type, set[str]] = {kind: set(names) for kind, names in SHOWN.items()}
    for base, _, _, which in HANDED:
        for parameter in filter(None, which.values()):
            owner, names = base, parameter.split(".")
            for name in names[:-1]:
                owner = getattr(owner, name)
            if is_dataclass(owner):
                shown.setdefault(type(owner), set()).add(names[-1])
    trainable = {
        kind
        for module in pkgutil.walk_packages(simstudy_learners.__path__, "simstudy_learners.")
        for kind in vars(importlib.import_module(module.name)).values()
        if is_dataclass(kind) and isinstance(kind, type) and (hasattr(kind, "train") or hasattr(kind, "learn"))
    }
    assert shown.keys() == {kind for kind in trainable if not inspect.isabstract(kind)}
    for kind, names in shown.items():
        assert {field.name for field in fields(kind)} == names, kind


FREE = ("name", "near", "eatType", "food")
JOINT = TextAligner((Stage(Model1(), 5), Stage(HiddenMarkov(0.2, 7, (1.0,) * 15), 5)), True, "posteriors", 0.3, 1e-5)
WIDE = (5, 4, 5, 20, Search(stack=30, width=8.0, distortion_limit=5))


def test_settings_that_are_not_given() -> None:
    """Those of studies, and constants; Haghighi et al. (2009) test on 100 sentence pairs, and CRAFT has 97 articles."""

    def train() -> None:
        MEMORY.train(pairs(), np.ones(8, np.int64), 0)

    for found, expected in (
        (TransitionParser(), TransitionParser(10, False, 21)), (GraphParser(), GraphParser(6, 40, 22)),
        (LabelledParser(PARSED), LabelledParser(PARSED, 3, 18)), (GreedyPerceptron(), GreedyPerceptron(5, "numbered")),
        (ConditionalRandomField(), ConditionalRandomField(40, 0.1, "numbered")), (Retrieval(), Retrieval(40, 4, FREE)),
        (TrigramTagger(), TrigramTagger(10, 1e-3, "spelling")), (SpecialisedHMM(), SpecialisedHMM(100, "symbols")),
        (Templates(), Templates(-8.0, 0.02, 10, FREE)), (BeamSearch(), BeamSearch(4, 4, 3.0, 4, 8, 2, 10, FREE)),
        (TranslationMemory(), TranslationMemory(100, 3, 0.2, 4, 5)),
        (PhraseBased(), PhraseBased(*WIDE, PhraseWeights((1.4, 0.4, 0.0, 0.3), -0.3, 0.6, 1.0, 0.8))),
        (BilingualNgrams(), BilingualNgrams(*WIDE, UnitWeights(1.0, 0.2, (0.2, 0.2), 0.0, 1.0, 1.0), 3)),
        (hansards.JOINT_HMM, JOINT), (LinkClassifier(JOINT), LinkClassifier(JOINT, 0.4, 1.0)),
        (hansards.HMM, TextAligner(JOINT.stages, False, "grow-diag-final-and", 0.3, 1e-5)),
        (hansards.FAST_ALIGN, TextAligner((Stage(DiagonalModel(4.0, 0.08, True), 5),), False, "intersection")),
        (base_systems()["Markov"], TreebankGrammar(2, 1, True)), (base_systems()["latent"], LatentStates(3, 8, 0.5)),
        (base_systems()["parent"], TreebankGrammar(1, 2, False)), (hansards.N_TEST, 100), (len(craft_files()), 97),
        (handed(train, "alignment.aligners:train_both")["stages"], (Stage(DiagonalModel(4.0, 0.08, False), 4),)),
        (handed(train, "alignment.aligners:symmetrise")["how"], "grow-diag-final-and"), (latent_grammar._NOISE, 0.01),
        (parsers._COARSE_PASSES, ((3e-3, 1e-5), (3e-3, 0.0), (1e-4, 0.0))), (token_features._N_CONTEXTS, 1500),
        (parsers._FINE_PASSES, ((1e-3, 1e-3), (1e-5, 1e-6))), (coarse_pass._NEGLIGIBLE, 1e-7),
    ):  # fmt: skip
        assert found == expected
