"""The tests that `compare` knows, in one registry that an analysis can loop over.

A test is a function from a `Question` to a `SignificanceResult`, and an entry here. Other packages add theirs as
plug-ins: entry points of the group ``simstudy.tests`` whose objects are a `SignificanceTest`; docs/tests.md shows one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simstudy.engines import classical_tests
from simstudy.engines.bootstrap import bootstrap
from simstudy.engines.needs import ACCEPTANCE_SETS, COUNTS, ITEMS, MEAN, RIGHT_OR_WRONG, SUMS, Need
from simstudy.engines.question import Question, SignificanceResult
from simstudy.engines.randomization import randomization
from simstudy.engines.sign_flips import sign_flips, skew_corrected
from simstudy.metrics import Metric
from simstudy.notes import Argument, Words
from simstudy.running.plug_ins import Registry
from simstudy.text.reprs import FieldsMixin

ALTERNATIVES = ("two-sided", "greater")

#: The test that is run where none is asked for, of those that take any metric and ask whether the scores differ. In the
#: study `error_rates` its level is 0.02 to 0.06 from 100 units on, except where differences are strongly skewed or a
#: precision rests on few wrong answers (0.06 to 0.2); there comparisons have a caution, and other tests are better.
DEFAULT_TEST = "sign_flips"

#: The group of entry points.
GROUP = "simstudy.tests"


def default_test(metric: Metric) -> str:
    """The name of the test that is run where none is asked for."""
    return DEFAULT_TEST if metric.of_sums else "bootstrap"


#: The null hypothesis of most tests.
EQUAL = "in the population the two systems have equal scores"


@dataclass(frozen=True)
class SignificanceTest(FieldsMixin):
    """A test of all pairs.

    Attributes
    ----------
    title
        What a sentence calls it.
    null
        Its null hypothesis: what a small p-value speaks against.
    of_scores
        Whether that is about the scores: a test of another hypothesis may reject, and often, where two systems have
        equal scores in the population, and may prefer the system with the worse score.
    needs
        What it must find, all of it; a test without needs takes any metric.
    assumes
        What else it takes to be so; empty where nothing else.
    source
        Paper and section.
    cites
        The keys of these papers in ``papers/references.bib``.
    n_resamples
        How many resamples it draws by default, if it draws any; None where it never does.
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
    run: Callable[[Question], SignificanceResult]
    source: str
    cites: tuple[str, ...]
    needs: tuple[Need, ...] = ()
    null: str = EQUAL
    assumes: str = ""
    of_scores: bool = True
    n_resamples: int | None = None
    alternatives: tuple[str, ...] = ALTERNATIVES

    def refusal(self, question: Question) -> str:
        """Why the test does not apply to a question, in a line; empty where it does."""
        for need in self.needs:
            if not need.met(question):
                use = _FOR_ANY_METRIC if question.metric.of_sums else _FOR_ARRAYS
                return Words(
                    f"test '{self.name}' needs {need.what}, and {need.otherwise}; use {use}",
                    metric=f"metric '{question.metric.name}'",
                    unit=f"'{question.unit}'",
                    item=Argument("unit", "item"),
                )
        return ""


_FOR_ANY_METRIC = "sign_flips, bootstrap or randomization"
_FOR_ARRAYS = "bootstrap or randomization"
_INDEPENDENT = "the two systems' results are independent of each other, which the same items make untrue"

_SHIPPED = {
    test.name: test
    for test in (
        SignificanceTest(
            "sign_flips",
            "sign-flip test",
            sign_flips,
            needs=(SUMS,),
            assumes="many units, or differences that are symmetric around 0",
            source="Hemerik, Goeman and Finos 2020; for means Noreen 1989, chapter 2",
            cites=("hemerik2020", "noreen1989"),
            n_resamples=2**18,
        ),
        SignificanceTest(
            "bootstrap",
            "paired bootstrap",
            bootstrap,
            assumes="many units; the gain's spread around the observed gain is its spread around 0 under the null "
            "hypothesis",
            source="Berg-Kirkpatrick et al. 2012, figure 1; Efron and Tibshirani 1993, chapter 16",
            cites=("bergkirkpatrick2012", "efron1993"),
            n_resamples=2**18,
        ),
        SignificanceTest(
            "randomization",
            "approximate randomization",
            randomization,
            null="on every unit the two systems' results could be exchanged",
            source="Noreen 1989, chapter 2; Chinchor 1992, Table 2; Yeh 2000, section 3.3",
            cites=("noreen1989", "chinchor1992", "yeh2000"),
            n_resamples=2**20,
        ),
        SignificanceTest(
            "skew_corrected",
            "sign-flip test with Hall's correction for skewness",
            skew_corrected,
            needs=(SUMS,),
            assumes="many units, or differences that are symmetric around 0; fewer are enough than for sign flips "
            "where differences are skewed",
            source="Hall 1992, by the larger p-value of the two",
            cites=("hall1992", "hemerik2020"),
            n_resamples=2**18,
        ),
        SignificanceTest(
            "t_paired",
            "paired t test",
            classical_tests.t_paired,
            needs=(MEAN,),
            assumes="the mean difference is normal",
            source="Yeh 2000, section 3.1 (matched-pair t)",
            cites=("yeh2000",),
        ),
        SignificanceTest(
            "z_paired",
            "paired z test",
            classical_tests.z_paired,
            needs=(MEAN,),
            assumes="the mean difference is normal, its variance known",
            source="Yeh 2000, section 2.1, equations 1 and 2, with r12",
            cites=("yeh2000",),
        ),
        SignificanceTest(
            "sign",
            "sign test",
            classical_tests.sign,
            needs=(MEAN,),
            null="either system is as likely to win a unit",
            of_scores=False,
            source="Yeh 2000, section 3.1",
            cites=("yeh2000",),
        ),
        SignificanceTest(
            "wilcoxon",
            "Wilcoxon signed-rank test",
            classical_tests.wilcoxon,
            needs=(MEAN,),
            null="the units' differences are symmetric around 0",
            of_scores=False,
            source="Yeh 2000, section 3.1",
            cites=("yeh2000",),
        ),
        SignificanceTest(
            "mcnemar",
            "McNemar's test",
            classical_tests.sign,
            needs=(RIGHT_OR_WRONG,),
            null="either system is as likely to be the only one that is right, and so " + EQUAL,
            source="McNemar 1947, by the binomial distribution",
            cites=("mcnemar1947",),
        ),
        SignificanceTest(
            "z_independent",
            "z test for independent samples",
            classical_tests.z_independent,
            needs=(MEAN,),
            assumes=_INDEPENDENT,
            source="Yeh 2000, section 2.1, equations 1 and 2, with r12 = 0",
            cites=("yeh2000",),
        ),
        SignificanceTest(
            "t_two_sample",
            "two-sample t test",
            classical_tests.t_two_sample,
            needs=(MEAN,),
            assumes=_INDEPENDENT,
            source="Yeh 2000, section 2.1 (Harnett 1982, section 8.7)",
            cites=("yeh2000",),
        ),
        SignificanceTest(
            "two_proportions",
            "test of two proportions",
            classical_tests.two_proportions,
            needs=(COUNTS,),
            assumes=_INDEPENDENT + "; counts are binomial",
            source="Yeh 2000, section 2.1 (Harnett 1982, section 8.1.1)",
            cites=("yeh2000",),
        ),
        SignificanceTest(
            "chi_square",
            "chi-square test",
            classical_tests.chi_square,
            needs=(COUNTS,),
            assumes=_INDEPENDENT + "; counts are Poisson",
            source="Yeh 2000, section 2.2",
            cites=("yeh2000",),
            alternatives=("two-sided",),
        ),
        SignificanceTest(
            "precision_score",
            "score test of precision",
            classical_tests.precision_score,
            needs=(ITEMS, ACCEPTANCE_SETS),
            assumes="each candidate is a draw of its own; the gain is normal",
            source="Kosinski 2013, equation for the weighted generalized score statistic",
            cites=("kosinski2013",),
        ),
        SignificanceTest(
            "fisher",
            "Fisher's exact test",
            classical_tests.fisher,
            needs=(ITEMS, ACCEPTANCE_SETS),
            null="what only one system accepts is true as often as what only the other accepts",
            assumes="each candidate is true by a draw of its own: counts of what only one system accepts are binomial",
            of_scores=False,
            source="Evert 2004, section 3.3",
            cites=("evert2004",),
            alternatives=("two-sided",),
        ),
    )
}


#: Name -> test.
TESTS: Mapping[str, SignificanceTest] = Registry(_SHIPPED, GROUP, SignificanceTest, _SHIPPED.__contains__)
