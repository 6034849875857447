"""The list of tests: what each says of itself, and which apply to what."""

from __future__ import annotations

from simstudy.engines.asking import applicable
from simstudy.engines.registry import (
    DEFAULT_TEST,
    TESTS,
)
from simstudy.outputs import Outputs
from tests.oracles import compared

OF_ACCEPTANCE_SETS = ("precision_score", "fisher")


def test_three_tests_have_another_hypothesis_than_equal_scores() -> None:
    assert {name for name, test in TESTS.items() if not test.of_scores} == {"sign", "wilcoxon", "fisher"}
    # Exchangeable systems have equal scores, and so has a pair of which either is as likely to be right alone.
    equal = "in the population the two systems have equal scores"
    for name, test in TESTS.items():
        assert test.of_scores == (equal in test.null or name == "randomization"), name


def test_who_draws_and_who_computes() -> None:
    assert {name for name, test in TESTS.items() if test.n_resamples} == {
        *("sign_flips", "bootstrap", "randomization", "skew_corrected")
    }
    approximations = {"t_paired", "z_paired", "z_independent", "t_two_sample", "two_proportions", "chi_square"}
    approximations.add("precision_score")
    assert {name for name, test in TESTS.items() if not test.computed} == approximations


def test_without_a_name_signs_are_flipped_two_sided(answered: Outputs) -> None:
    assert DEFAULT_TEST == "sign_flips"
    pairs = compared(answered)
    assert set(pairs["test"]) == {"sign_flips"}
    assert set(pairs["alternative"]) == {"two-sided"}
    assert all(test.alternatives[0] == "two-sided" for test in TESTS.values())


def test_applicable_to_scores_leaves_other_hypotheses_out(answered: Outputs, accepting: Outputs) -> None:
    for outputs in (answered, accepting):
        every = applicable(outputs, unit="item")
        of_scores = applicable(outputs, unit="item", of_scores=True)
        assert of_scores == [test for test in every if test not in ("sign", "wilcoxon", "fisher")]
        assert len(of_scores) < len(every)
