"""Parameters of base systems are checked where they are given."""

from __future__ import annotations

import pytest

from simstudy_learners.constituency.parsers import LatentStates, TreebankGrammar
from simstudy_learners.dependencies.parsers import GraphParser, LabelledParser, Reparser, TransitionParser
from simstudy_learners.sequences.crf import ConditionalRandomField
from simstudy_learners.sequences.perceptron import GreedyPerceptron
from simstudy_learners.sequences.specialised_hmm import SpecialisedHMM
from simstudy_learners.sequences.trigram_tagger import TrigramTagger


@pytest.mark.parametrize(
    ("base", "given", "message"),
    [
        (TransitionParser, {"epochs": 0}, "epochs must be at least 1, not 0"),
        (TransitionParser, {"right_to_left": 1}, "right_to_left must be True or False, not 1"),
        (TransitionParser, {"bits": 40}, r"bits must be at least 1 and below 2\^5, not 40"),
        (GraphParser, {"epochs": 2.0}, r"epochs must be a whole number \(an int\), not 2.0"),
        (GraphParser, {"margin": -1}, "margin must be at least 0, not -1"),
        (GraphParser, {"bits": 0}, r"bits must be at least 1 and below 2\^5, not 0"),
        (LabelledParser, {"heads": GraphParser(), "label_epochs": 0}, "label_epochs must be at least 1, not 0"),
        (LabelledParser, {"heads": GraphParser(), "label_bits": 32}, "label_bits must be at least 1 and below"),
        (Reparser, {"members": (), "votes": ()}, "members must be at least one parser, not none"),
        (Reparser, {"members": (GraphParser(),), "votes": (1, 2)}, r"each of the 1 members, not \(1, 2\)"),
        (Reparser, {"members": (GraphParser(),), "votes": (0,)}, "votes must be at least 1, not 0"),
        (TreebankGrammar, {"horizontal": 3, "vertical": 1, "splits": True}, "horizontal must be one of 0, 1, 2, not 3"),
        (TreebankGrammar, {"horizontal": 1, "vertical": 0, "splits": True}, "vertical must be one of 1, 2, not 0"),
        (TreebankGrammar, {"horizontal": 1, "vertical": 1, "splits": "yes"}, "splits must be True or False, not 'yes'"),
        (LatentStates, {"rounds": -1, "n_iterations": 1, "share_merged": 0.5}, "rounds must be at least 0, not -1"),
        (LatentStates, {"rounds": 1, "n_iterations": 0, "share_merged": 0.5}, "n_iterations must be at least 1, not 0"),
        (LatentStates, {"rounds": 1, "n_iterations": 1, "share_merged": 50}, "share_merged must lie between 0 and 1"),
        (ConditionalRandomField, {"iterations": 0}, "iterations must be at least 1, not 0"),
        (ConditionalRandomField, {"penalty": "L2"}, "penalty must be a number, not 'L2'"),
        (ConditionalRandomField, {"penalty": -0.1}, "penalty must be at least 0 and finite, not -0.1"),
        (ConditionalRandomField, {"penalty": float("nan")}, "penalty must be a"),
        (GreedyPerceptron, {"epochs": True}, r"epochs must be a whole number \(an int\), not True"),
        (SpecialisedHMM, {"frequent": 0}, "frequent must be at least 1, not 0"),
        (TrigramTagger, {"rare": 0}, "rare must be at least 1, not 0"),
        (TrigramTagger, {"ratio": -1}, "ratio must lie between 0 and 1, not -1"),
    ],
)
def test_wrong_parameters_are_named(base, given, message):
    with pytest.raises(ValueError, match=message):
        base(**given)
