"""The tests that `compare` knows, in one registry that an analysis can loop over.

To add a test, write a function from a `Question` to `Answers` and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simstudy.engines import independent_tests, paired_tests
from simstudy.engines.bootstrap import bootstrap
from simstudy.engines.fisher import fisher
from simstudy.engines.question import Answers, Question
from simstudy.engines.randomization import randomization
from simstudy.metrics import Ratio

ALTERNATIVES = ("greater", "two-sided")


@dataclass(frozen=True)
class SignificanceTest:
    """A test of all pairs.

    Attributes
    ----------
    needs
        What it can be asked about: "sums" (any metric), "mean" (a mean of unit scores), "0/1" (right or wrong
        answers), "counts" (a proportion: accuracy, precision, recall), "acceptance sets" (a precision: each system
        accepts some items, which are true or false whoever accepts them).
    assumes
        What it takes to be so, which an analysis of the tests should know.
    source
        Paper and section.
    n_resamples
        How many resamples it draws by default; None where it draws none.
    exact
        Whether it has exact p-values.
    alternatives
        Those that it has.

    Examples
    --------
    >>> [name for name, test in TESTS.items() if "independent" in test.assumes]
    ['z_independent', 't_two_sample', 'two_proportions', 'chi_square']
    """

    name: str
    run: Callable[[Question], Answers]
    needs: str
    assumes: str
    source: str
    n_resamples: int | None = None
    exact: bool = False
    alternatives: tuple[str, ...] = ALTERNATIVES

    def refusal(self, question: Question) -> str:
        """Why the test does not apply to a question, in a line; empty where it does."""
        metric = question.metric
        if self.needs == "mean" and question.unit_scores is None:
            return (
                f"test '{self.name}' needs a metric that is a mean of the units' scores, and '{metric.name}' is none "
                "here (the systems do not share a denominator on every unit); use bootstrap or randomization"
            )
        if self.needs == "0/1" and not _right_or_wrong(question):
            return (
                f"test '{self.name}' needs right or wrong answers, one a unit, and metric '{metric.name}' has other "
                "scores here; use bootstrap or randomization"
            )
        if self.needs == "counts" and not _proportion(question):
            return (
                f"test '{self.name}' needs a proportion of counts (accuracy, precision, recall), and metric "
                f"'{metric.name}' is none here; use bootstrap or randomization"
            )
        if self.needs == "acceptance sets" and question.unit != "item":
            return f"test '{self.name}' takes items one by one: unit must be 'item', not '{question.unit}'"
        if self.needs == "acceptance sets" and not _acceptance_sets(question):
            return (
                f"test '{self.name}' needs systems that accept or reject each item, true or false for all of them "
                f"(precision by item), and metric '{metric.name}' has none such here; use bootstrap or randomization"
            )
        return ""


def _right_or_wrong(question: Question) -> bool:
    scores = question.unit_scores
    if scores is None or question.ratio is None:
        return False
    right = scores if question.metric.higher_is_better else -scores
    return bool((question.ratio[1] == 1).all() and np.isin(right, (0, 1)).all())


def _proportion(question: Question) -> bool:
    """Whether numerators count some of what denominators count."""
    metric = question.metric
    if not isinstance(metric, Ratio) or not question.integers or question.ratio is None:
        return False
    above, below = question.ratio
    counted = set(metric.numerator) | set(metric.denominator) <= {0, 1}
    positive = above if metric.higher_is_better else -above
    return counted and bool(((positive >= 0) & (positive <= below)).all())


def _acceptance_sets(question: Question) -> bool:
    """Whether denominators say which items each system accepts, and numerators which of these are true."""
    if not question.metric.higher_is_better or not _proportion(question):
        return False
    assert question.ratio is not None
    true, accepted = question.ratio
    # Who accepts a true item has it as true.
    agree = (true == (true.max(axis=0) & accepted)).all()
    # Where everybody accepts everything, accuracy looks the same; of precision it is the whole list.
    some = (accepted == 0).any() or question.metric.name.startswith("precision")
    return bool((accepted <= 1).all() and some and agree)


_INDEPENDENT = "the two systems' results are independent of each other, which the same items make untrue"

#: Name -> test.
TESTS = {
    test.name: test
    for test in (
        SignificanceTest(
            "bootstrap",
            bootstrap,
            needs="sums",
            assumes="the gain's spread around the observed gain is its spread around 0 under the null hypothesis",
            source="Berg-Kirkpatrick et al. 2012, figure 1; Efron and Tibshirani 1993, chapter 16",
            n_resamples=1_000_000,
            exact=True,
        ),
        SignificanceTest(
            "randomization",
            randomization,
            needs="sums",
            assumes="under the null hypothesis two systems' results on a unit could be exchanged",
            source="Noreen 1989, chapter 2; Chinchor 1992, Table 2; Yeh 2000, section 3.3",
            n_resamples=2**20,
            exact=True,
        ),
        SignificanceTest(
            "t_paired",
            paired_tests.t_paired,
            needs="mean",
            assumes="the mean difference is normal",
            source="Yeh 2000, section 3.1 (matched-pair t)",
        ),
        SignificanceTest(
            "z_paired",
            independent_tests.z_paired,
            needs="mean",
            assumes="the mean difference is normal, its variance known",
            source="Yeh 2000, section 2.1, equations 1 and 2, with r12",
        ),
        SignificanceTest(
            "sign",
            paired_tests.sign,
            needs="mean",
            assumes="under the null hypothesis either system is as likely to win a unit",
            source="Yeh 2000, section 3.1",
            exact=True,
        ),
        SignificanceTest(
            "wilcoxon",
            paired_tests.wilcoxon,
            needs="mean",
            assumes="under the null hypothesis a unit's difference is symmetric around 0",
            source="Yeh 2000, section 3.1",
            exact=True,
        ),
        SignificanceTest(
            "mcnemar",
            paired_tests.mcnemar,
            needs="0/1",
            assumes="under the null hypothesis either system is as likely to be the one that is right",
            source="McNemar 1947, by the binomial distribution",
            exact=True,
        ),
        SignificanceTest(
            "z_independent",
            independent_tests.z_independent,
            needs="mean",
            assumes=_INDEPENDENT,
            source="Yeh 2000, section 2.1, equations 1 and 2, with r12 = 0",
        ),
        SignificanceTest(
            "t_two_sample",
            independent_tests.t_two_sample,
            needs="mean",
            assumes=_INDEPENDENT,
            source="Yeh 2000, section 2.1 (Harnett 1982, section 8.7)",
        ),
        SignificanceTest(
            "two_proportions",
            independent_tests.two_proportions,
            needs="counts",
            assumes=_INDEPENDENT + "; counts are binomial",
            source="Yeh 2000, section 2.1 (Harnett 1982, section 8.1.1)",
        ),
        SignificanceTest(
            "chi_square",
            independent_tests.chi_square,
            needs="counts",
            assumes=_INDEPENDENT + "; counts are Poisson",
            source="Yeh 2000, section 2.2",
            alternatives=("two-sided",),
        ),
        SignificanceTest(
            "fisher",
            fisher,
            needs="acceptance sets",
            assumes="each candidate is true by a draw of its own: counts of what only one system accepts are binomial",
            source="Evert 2004, section 3.3",
            exact=True,
            alternatives=("two-sided",),
        ),
    )
}
