"""The list of tests: what each says of itself, and which apply to what."""

from __future__ import annotations

import pytest

from simstudy.engines.asking import applicable
from simstudy.engines.registry import (
    ACCEPTANCE_SETS,
    ALTERNATIVES,
    COUNTS,
    DEFAULT_TEST,
    ITEMS,
    MEAN,
    RIGHT_OR_WRONG,
    TESTS,
)
from simstudy.outputs import Outputs
from tests.oracles import compared

OF_ACCEPTANCE_SETS = ("precision_score", "fisher")


def test_every_test_says_what_it_is() -> None:
    for name, test in TESTS.items():
        assert name == test.name
        assert min(len(text) for text in (test.title, test.null, test.source)) > 8, name
        assert set(test.alternatives) <= set(ALTERNATIVES), name
        # What a sentence calls a test fits in the middle of one.
        assert test.title.strip(".") == test.title, name
        assert test.null[0].islower(), name
    titles = [test.title for test in TESTS.values()]
    assert len(set(titles)) == len(titles)
    assert {need for test in TESTS.values() for need in test.needs} == {
        MEAN,
        RIGHT_OR_WRONG,
        COUNTS,
        ITEMS,
        ACCEPTANCE_SETS,
    }


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


def test_applicable_names_the_tests_that_compare_accepts(
    tagged: Outputs, answered: Outputs, accepting: Outputs, found: Outputs
) -> None:
    assert applicable(answered, unit="item") == [test for test in TESTS if test not in OF_ACCEPTANCE_SETS]
    assert applicable(tagged, unit="item") == [test for test in TESTS if test not in ("mcnemar", *OF_ACCEPTANCE_SETS)]
    of_any_sums = ["sign_flips", "bootstrap", "randomization", "skew_corrected"]
    of_counts = [*of_any_sums, "two_proportions", "chi_square"]
    assert applicable(accepting, unit="item") == [*of_counts, *OF_ACCEPTANCE_SETS]
    assert applicable(found) == of_any_sums
    # By document there are several answers a unit.
    assert applicable(answered) == [test for test in TESTS if test not in ("mcnemar", *OF_ACCEPTANCE_SETS)]
    assert applicable(accepting) == of_counts


def test_applicable_to_scores_leaves_other_hypotheses_out(answered: Outputs, accepting: Outputs) -> None:
    for outputs in (answered, accepting):
        every = applicable(outputs, unit="item")
        of_scores = applicable(outputs, unit="item", of_scores=True)
        assert of_scores == [test for test in every if test not in ("sign", "wilcoxon", "fisher")]
        assert len(of_scores) < len(every)


@pytest.mark.parametrize("test", [name for name, test in TESTS.items() if test.alternatives == ("two-sided",)])
def test_an_alternative_that_a_test_does_not_have_is_refused(test: str, accepting: Outputs) -> None:
    assert test in ("chi_square", "fisher")
    with pytest.raises(ValueError, match=f"alternative must be 'two-sided' for test '{test}', not 'greater'") as error:
        compared(accepting, test=test, alternative="greater", unit="item")
    assert "\n" not in str(error.value)
    assert set(compared(accepting, test=test, unit="item")["alternative"]) == {"two-sided"}
