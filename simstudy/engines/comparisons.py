"""`compare`: the one door to every test, and the table of Comparisons that comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.engines.asking import ask
from simstudy.engines.cautions import cautions
from simstudy.engines.intervals import intervals
from simstudy.engines.memory import check_memory
from simstudy.engines.question import Answers, MonteCarlo, Question
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.engines.wins import wins
from simstudy.outputs import Outputs, require_outputs
from simstudy.pairs import relations
from simstudy.pvalues import clopper_pearson
from simstudy.validation import check_flag


def compare(
    outputs: Outputs,
    *,
    test: str = DEFAULT_TEST,
    n_resamples: int | None = None,
    seed: int = 0,
    alternative: str | None = None,
    convention: str = "default",
    monte_carlo: MonteCarlo = "auto",
    unit: str | None = None,
    strata: str | None = None,
    n_jobs: int = 1,
    tile_size: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Test the gain of every pair of systems on one test set, with an interval for each gain.

    The same seed gives the same table to the last bit, whatever `n_jobs`, `tile_size` and the order of the
    systems are; all pairs share their resamples (Berg-Kirkpatrick et al. 2012, footnote 5).

    Parameters
    ----------
    outputs
        At least two systems.
    test
        A name in `TESTS`. "sign_flips": each unit's contribution to the gain gets its sign from a fair coin, the
        randomization test where the score is a mean; "bootstrap": the share of resampled test sets x* with
        gain(x*) >= 2 gain(x); "randomization": the share of shuffles, in which fair coins swap the two systems'
        units, with a gain that is at least as large; the others are classical tests. Each has a null hypothesis of
        its own (``TESTS[test].null``).
    n_resamples
        At least 1; by default what the convention prescribes, or the test's own: 2^18 for sign flips (of which a
        p-value near 0.05 is known to 0.001), 1,000,000 for the bootstrap, 2^20 for randomization. Tests that draw
        nothing, and pairs whose p-value can be computed, ignore it, and the seed.
    seed
        0 … 2^64 - 1.
    alternative
        "two-sided": either system might have been better; for the bootstrap |gain(x*) - gain(x)| >= gain(x).
        "greater": one-sided, valid only if the better system was predicted before the data were seen; the papers'
        studies use it. Which is better is seen in the data, so of two equally good systems one has a
        one-sided p <= 0.05 ten times in a hundred. By default the convention's only one, or "two-sided".
    convention
        A name in `simstudy.pvalues.CONVENTIONS`: how resamples are counted. "default": ties count,
        p = (s + 1) / (B + 1). Others are published rules, or what tools print.
    monte_carlo
        "auto": p-values are computed (of all shuffles; of infinitely many resamples) where that costs about as much as
        resampling, under the default convention. False: for all pairs, or an error. True: resample. Tests that
        draw nothing are unaffected, except Wilcoxon's, which then uses the normal approximation. Exact computation
        needs whole numbers in all statistics of the table.
    unit
        What is resampled or swapped: "item", or a column of the item table whose values name clusters. None: the
        column "cluster" (documents, users) where there is one, since items of one document depend on each other;
        else items.
    strata
        A column of the item table; each stratum keeps its number of units. None: one stratum. For the bootstrap;
        flips and swaps leave each unit in its place, which keeps all strata.
    n_jobs
        Threads; -1 for all cores.
    tile_size
        Resamples that a thread works on at a time. Advanced: None sizes it automatically.
    progress
        Called with the number of resamples just finished, by one thread at a time.

    Returns
    -------
    comparisons
        One row a pair, ordered so that ``gain >= 0`` (a tie of scores is ordered by name), best systems first:

        - task, test_set, n_items, metric, metric_unit (what its scores are told in), metric_signature (what
          counted its statistics of texts), test, alternative, convention, unit, strata, seed, n_units;
        - system_a, system_b, family_a, family_b, relation ("same family" / "different families");
        - score_a, score_b, gain (on the metric's scale), gain_se (its standard error over units, by the jackknife),
          gain_low, gain_high (95 % interval of the true gain, two-sided whatever the test is), detectable (the least
          true gain that a pair with this standard error detects with power 0.8, two-sided at 0.05), interval ("score":
          Tango's, for right and wrong items; "jackknife": t with df degrees of freedom), df, skewness (of the units'
          contributions to the gain, of a mean their differences; far from 0 where few units decide); NaN where nothing
          varies;
        - n_better, n_worse, n_level: units on which system_a does better, worse, neither (see `wins`);
        - accepted_a, wrong_a, accepted_b, wrong_b: the answers that each system gave, and the wrong ones, for precision
          and F (NaN for other metrics); caution: "few wrong answers", "few right answers" or "skewed differences"
          where p-value and interval are approximate for that reason, "" elsewhere (the rule, and how often it is right:
          `simstudy.engines.cautions`);
        - p_value, p_low, p_high (the 95 % Clopper-Pearson interval for its Monte Carlo error; the p-value itself where
          it has none), p_two_sided (the two-sided p-value, beside a one-sided one too; NaN where the convention has
          none), p_floor (the least p-value that the randomization test could give on the units that differ:
          nothing below its reach is called significant), favours (the system that the test speaks for, "" for
          neither: tests of other hypotheses than equal scores may speak for the system with the worse score),
          exact (whether the test holds its level exactly under its null hypothesis), monte_carlo (whether the
          p-value is from random resamples), n_extreme, n_resamples (both 0 where it is not), statistic (t, z,
          chi-square, …; NaN where it is the gain).

    Raises
    ------
    ValueError
        For fewer than two systems, for any argument outside its rule, for a test that does not apply to the metric,
        for a unit with one value, where monte_carlo=False can not be had, and where the table would not fit into
        memory.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["a", "b"])
    >>> row = compare(outputs).iloc[0]
    >>> row.system_a, float(row.gain), row.favours, bool(row.exact), bool(row.monte_carlo)
    ('a', 25.0, 'a', True, False)
    >>> round(float(row.p_value), 5)   # 2 of 2^10 ways to swap
    0.00195
    >>> int(row.n_better), int(row.n_worse), int(row.n_level)
    (10, 0, 30)
    >>> bootstrap = compare(outputs, test="bootstrap", alternative="greater").iloc[0]
    >>> round(float(bootstrap.p_value), 6), bool(bootstrap.exact)   # P(Binomial(40, 1/4) >= 20)
    (0.000572, False)
    >>> [round(float(compare(outputs, test=name).p_value[0]), 5) for name in ("randomization", "sign", "mcnemar")]
    [0.00195, 0.00195, 0.00195]
    """
    require_outputs(outputs, 2)
    ranked = outputs.best_first()
    question = ask(
        ranked,
        test=test,
        n_resamples=n_resamples,
        seed=seed,
        alternative=alternative,
        convention=convention,
        monte_carlo=monte_carlo,
        unit=unit,
        strata=strata,
        n_jobs=n_jobs,
        tile_size=tile_size,
        progress=progress,
    )
    check_memory(test, question.statistics.shape, question.n_pairs, question.n_jobs)
    answers = TESTS[test].run(question)
    two_sided = _two_sided(question, test, answers)
    i, j = question.pairs
    scores, gain = ranked.scores(), np.abs(ranked.gains(i, j))
    drawn = answers.n_resamples > 0
    low, high = answers.p_value.copy(), answers.p_value.copy()
    if drawn.any():
        low[drawn], high[drawn] = clopper_pearson(answers.n_extreme[drawn], answers.n_resamples[drawn])
    names = np.array(ranked.names, dtype=object)
    family = ranked.systems["family"].to_numpy()
    n_better, n_worse, n_differ = wins(question)
    known = intervals(question, gain, n_better, n_worse)
    return pd.DataFrame(
        {
            "task": ranked.task,
            "test_set": ranked.test_set,
            "n_items": ranked.n_items,
            "metric": ranked.metric.name,
            "metric_unit": ranked.metric.unit,
            "metric_signature": ranked.metric.signature,
            "test": test,
            "alternative": question.alternative,
            "convention": convention,
            "unit": question.unit,
            "strata": strata or "",
            "seed": question.seed,
            "n_units": question.n_units,
            "system_a": _texts(names[i]),
            "system_b": _texts(names[j]),
            "family_a": _texts(family[i]),
            "family_b": _texts(family[j]),
            "relation": _texts(relations(family[i], family[j])),
            "score_a": scores[i],
            "score_b": scores[j],
            "gain": gain,
            **known,
            "n_better": n_better,
            "n_worse": n_worse,
            "n_level": question.n_units - n_better - n_worse,
            **cautions(question, known["skewness"]),
            "p_value": answers.p_value,
            "p_low": low,
            "p_high": high,
            "p_two_sided": two_sided,
            "p_floor": _floor(question, n_differ),
            "favours": _texts(_favours(question, test, answers, gain, names)),
            "exact": answers.exact,
            "monte_carlo": drawn,
            "n_extreme": answers.n_extreme,
            "n_resamples": answers.n_resamples,
            "statistic": answers.statistic,
        },
        # There may be millions of pairs: no column is there twice.
        copy=False,
    )


def _texts(values: Any) -> Any:
    """As pandas keeps texts, without an object for each."""
    return pd.array(values, dtype="str")


def _two_sided(question: Question, test: str, answers: Answers) -> Any:
    if question.two_sided:
        return answers.p_value.copy()
    if question.convention.alternative == "greater":
        return np.full(question.n_pairs, np.nan)
    return TESTS[test].run(replace(question, alternative="two-sided", progress=None)).p_value


def _floor(question: Question, n_differ: Any) -> Any:
    """The least p-value that swapping the units that differ could give: one of 2^m ways, or two of them."""
    return np.minimum(2.0 ** -n_differ.astype(np.float64) * (2 if question.two_sided else 1), 1.0)


def _favours(question: Question, test: str, answers: Answers, gain: Any, names: Any) -> Any:
    """The system that each test speaks for; a one-sided test can not speak for the other one."""
    i, j = question.pairs
    # Where scores are equal up to rounding, a test of scores speaks for nobody.
    none = (gain == 0) & TESTS[test].of_scores
    direction = np.where(none, 0, answers.direction)
    other = names[j] if question.two_sided else ""
    return np.where(direction > 0, names[i], np.where(direction < 0, other, ""))


def applicable(outputs: Outputs, *, unit: str | None = None, of_scores: bool = False) -> list[str]:
    """The names of the tests that apply to these outputs, in the order of `TESTS`.

    Parameters
    ----------
    unit
        As in `compare`.
    of_scores
        Only those whose null hypothesis is about the scores; what each says, ``TESTS[name].null`` tells.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 2, 2]] * 3, [[1, 1, 2]] * 3], "f1")
    >>> applicable(outputs)
    ['sign_flips', 'bootstrap', 'randomization', 'skew_corrected']
    >>> scores = Outputs.from_scores(pd.DataFrame({"a": [0.2, 0.5, 0.4], "b": [0.1, 0.3, 0.5]}))
    >>> [name for name in applicable(scores) if name not in applicable(scores, of_scores=True)]
    ['sign', 'wilcoxon']
    """
    require_outputs(outputs, 2)
    check_flag("of_scores", of_scores)
    question = ask(outputs.best_first(), test=DEFAULT_TEST, unit=unit)
    return [name for name, test in TESTS.items() if not test.refusal(question) and (test.of_scores or not of_scores)]
