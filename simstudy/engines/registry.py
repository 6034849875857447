"""The tests that `compare` knows, in one registry that an analysis can loop over.

To add a test, write a function from a `Question` to `Answers` and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simstudy.engines import independent_tests, paired_tests
from simstudy.engines.bootstrap import bootstrap
from simstudy.engines.fisher import fisher
from simstudy.engines.question import Answers, Question
from simstudy.engines.randomization import randomization
from simstudy.engines.sign_flips import sign_flips
from simstudy.metrics import Ratio

ALTERNATIVES = ("two-sided", "greater")

#: The test that is run where none is asked for: of those that ask whether the scores differ, the one whose error rates
#: stay nearest to the level in every condition of the study `error_rates`.
DEFAULT_TEST = "sign_flips"


@dataclass(frozen=True)
class SignificanceTest:
    """A test of all pairs.

    Attributes
    ----------
    title
        What a sentence calls it.
    null
        Its null hypothesis: what a small p-value speaks against.
    of_scores
        Whether that is about the scores: a test of another hypothesis may reject, and often, where two systems have
        equal scores in the population, and may speak for the system with the worse score.
    needs
        What it can be asked about: "sums" (any metric), "mean" (a mean of unit scores), "0/1" (right or wrong
        answers), "counts" (a proportion: accuracy, precision, recall), "acceptance sets" (a precision: each system
        accepts some items, which are true or false whoever accepts them).
    assumes
        What else it takes to be so; empty where nothing else.
    source
        Paper and section.
    n_resamples
        How many resamples it draws by default; None where it draws none.
    computed
        Whether it has p-values without Monte Carlo error, that are not approximations of its own resampled ones.
    alternatives
        Those that it has.

    Examples
    --------
    >>> [name for name, test in TESTS.items() if "independent" in test.assumes]
    ['z_independent', 't_two_sample', 'two_proportions', 'chi_square']
    >>> [name for name, test in TESTS.items() if not test.of_scores]
    ['sign', 'wilcoxon', 'fisher']
    """

    name: str
    title: str
    run: Callable[[Question], Answers]
    needs: str
    null: str
    source: str
    assumes: str = ""
    of_scores: bool = True
    n_resamples: int | None = None
    computed: bool = False
    alternatives: tuple[str, ...] = ALTERNATIVES

    def refusal(self, question: Question) -> str:
        """Why the test does not apply to a question, in a line; empty where it does."""
        metric = question.metric
        if self.needs == "mean" and question.unit_scores is None:
            return (
                f"test '{self.name}' needs a metric that is a mean of the units' scores, and '{metric.name}' is none "
                "here (the systems do not share a denominator on every unit); use sign_flips, bootstrap or "
                "randomization"
            )
        if self.needs == "0/1" and not question.right_or_wrong:
            return (
                f"test '{self.name}' needs right or wrong answers, one a unit ({question.unit}), and metric "
                f"'{metric.name}' has other scores here; use sign_flips, bootstrap or randomization"
            )
        if self.needs == "counts" and not _proportion(question):
            return (
                f"test '{self.name}' needs a proportion of counts (accuracy, precision, recall), and metric "
                f"'{metric.name}' is none here; use sign_flips, bootstrap or randomization"
            )
        if self.needs == "acceptance sets" and question.unit != "item":
            return f"test '{self.name}' takes items one by one: unit must be 'item', not '{question.unit}'"
        if self.needs == "acceptance sets" and not _acceptance_sets(question):
            return (
                f"test '{self.name}' needs systems that accept or reject each item, true or false for all of them "
                f"(precision by item), and metric '{metric.name}' has none such here; use sign_flips, bootstrap or "
                "randomization"
            )
        return ""


def _proportion(question: Question) -> bool:
    """Whether numerators count some of what denominators count."""
    metric = question.metric
    if not isinstance(metric, Ratio) or not question.integers or question.factor != 1 or question.ratio is None:
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


_EQUAL = "in the population the two systems have equal scores"
_EXCHANGEABLE = "on every unit the two systems' results could be exchanged"
_INDEPENDENT = "the two systems' results are independent of each other, which the same items make untrue"

#: Name -> test.
TESTS = {
    test.name: test
    for test in (
        SignificanceTest(
            "sign_flips",
            "sign-flip test",
            sign_flips,
            needs="sums",
            null=_EQUAL,
            assumes="many units, or differences that are symmetric around 0, as those of right and wrong answers are",
            source="Hemerik, Goeman and Finos 2020; for means Noreen 1989, chapter 2",
            n_resamples=2**18,
            computed=True,
        ),
        SignificanceTest(
            "bootstrap",
            "paired bootstrap",
            bootstrap,
            needs="sums",
            null=_EQUAL,
            assumes="many units; the gain's spread around the observed gain is its spread around 0 under the null "
            "hypothesis",
            source="Berg-Kirkpatrick et al. 2012, figure 1; Efron and Tibshirani 1993, chapter 16",
            n_resamples=1_000_000,
            computed=True,
        ),
        SignificanceTest(
            "randomization",
            "approximate randomization",
            randomization,
            needs="sums",
            null=_EXCHANGEABLE,
            source="Noreen 1989, chapter 2; Chinchor 1992, Table 2; Yeh 2000, section 3.3",
            n_resamples=2**20,
            computed=True,
        ),
        SignificanceTest(
            "t_paired",
            "paired t test",
            paired_tests.t_paired,
            needs="mean",
            null=_EQUAL,
            assumes="the mean difference is normal",
            source="Yeh 2000, section 3.1 (matched-pair t)",
        ),
        SignificanceTest(
            "z_paired",
            "paired z test",
            independent_tests.z_paired,
            needs="mean",
            null=_EQUAL,
            assumes="the mean difference is normal, its variance known",
            source="Yeh 2000, section 2.1, equations 1 and 2, with r12",
        ),
        SignificanceTest(
            "sign",
            "sign test",
            paired_tests.sign,
            needs="mean",
            null="either system is as likely to win a unit",
            of_scores=False,
            source="Yeh 2000, section 3.1",
            computed=True,
        ),
        SignificanceTest(
            "wilcoxon",
            "Wilcoxon signed-rank test",
            paired_tests.wilcoxon,
            needs="mean",
            null="the units' differences are symmetric around 0",
            of_scores=False,
            source="Yeh 2000, section 3.1",
            computed=True,
        ),
        SignificanceTest(
            "mcnemar",
            "McNemar's test",
            paired_tests.mcnemar,
            needs="0/1",
            null="either system is as likely to be the only one that is right, and so " + _EQUAL,
            source="McNemar 1947, by the binomial distribution",
            computed=True,
        ),
        SignificanceTest(
            "z_independent",
            "z test for independent samples",
            independent_tests.z_independent,
            needs="mean",
            null=_EQUAL,
            assumes=_INDEPENDENT,
            source="Yeh 2000, section 2.1, equations 1 and 2, with r12 = 0",
        ),
        SignificanceTest(
            "t_two_sample",
            "two-sample t test",
            independent_tests.t_two_sample,
            needs="mean",
            null=_EQUAL,
            assumes=_INDEPENDENT,
            source="Yeh 2000, section 2.1 (Harnett 1982, section 8.7)",
        ),
        SignificanceTest(
            "two_proportions",
            "test of two proportions",
            independent_tests.two_proportions,
            needs="counts",
            null=_EQUAL,
            assumes=_INDEPENDENT + "; counts are binomial",
            source="Yeh 2000, section 2.1 (Harnett 1982, section 8.1.1)",
        ),
        SignificanceTest(
            "chi_square",
            "chi-square test",
            independent_tests.chi_square,
            needs="counts",
            null=_EQUAL,
            assumes=_INDEPENDENT + "; counts are Poisson",
            source="Yeh 2000, section 2.2",
            alternatives=("two-sided",),
        ),
        SignificanceTest(
            "fisher",
            "Fisher's exact test",
            fisher,
            needs="acceptance sets",
            null="what only one system accepts is true as often as what only the other accepts",
            assumes="each candidate is true by a draw of its own: counts of what only one system accepts are binomial",
            of_scores=False,
            source="Evert 2004, section 3.3",
            computed=True,
            alternatives=("two-sided",),
        ),
    )
}
