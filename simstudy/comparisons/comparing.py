"""`compare`: the one door to every test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypedDict, Unpack, overload

import numpy as np
import pandas as pd

from simstudy.comparisons.comparisons import Comparisons
from simstudy.engines.arguments import make_question
from simstudy.engines.cautions import cautions
from simstudy.engines.intervals import intervals
from simstudy.engines.memory import check_memory
from simstudy.engines.question import COMPUTATIONS, Pairs, Question, SignificanceResult
from simstudy.engines.registry import TESTS, default_test
from simstudy.engines.wins import win_counts
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.samples import unit_in_words
from simstudy.outputs.units import meetings
from simstudy.pairs import pairs_with, relations
from simstudy.running.progress import doing, shown_to_people
from simstudy.schema import OWN
from simstudy.statistics.multiplicity import benjamini_hochberg, holm
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.text.reprs import listed
from simstudy.validation import InputError, brief, check_choice, check_list, nearest

#: What `against` says for each system and the next one by score.
NEIGHBOURS = "neighbours"

# Columns with corrections for all pairs that are compared.
_CORRECTIONS = {"p_holm": holm, "p_bh": benjamini_hochberg}

# Columns that are made together.
_INTERVALS = {"gain_se", "gain_low", "gain_high", "minimum_detectable_gain", "interval", "df", "skewness"}
_CAUTIONS = {"accepted_a", "wrong_a", "accepted_b", "wrong_b", "caution"}
_WINS = {"wins", "losses", "ties", "p_floor"}


class Options(TypedDict, total=False):
    """Options of `compare`, but for the columns."""

    test: str | None
    n_resamples: int | None
    seed: int
    alternative: str | None
    convention: str
    monte_carlo: bool
    unit: str | None
    strata: str | None
    n_jobs: int
    against: str | Sequence[str] | Outputs | None
    progress: Callable[[int], None] | None


@overload
def compare(outputs: Outputs, *, columns: None = None, **options: Unpack[Options]) -> Comparisons: ...


@overload
def compare(outputs: Outputs, *, columns: Sequence[str], **options: Unpack[Options]) -> pd.DataFrame: ...


@shown_to_people
def compare(
    outputs: Outputs,
    *,
    test: str | None = None,
    n_resamples: int | None = None,
    seed: int = 0,
    alternative: str | None = None,
    convention: str = "default",
    monte_carlo: bool = False,
    unit: str | None = None,
    strata: str | None = None,
    n_jobs: int = 1,
    against: str | Sequence[str] | Outputs | None = None,
    columns: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Comparisons | pd.DataFrame:
    """Test the gain of every pair of systems on one test set, with an interval for each gain.

    The same seed gives the same table to the last bit, whatever `n_jobs` and the order of the systems are, and
    whichever pairs are asked for; approximated p-values agree to 1e-9, since few small pairs are computed without
    compiled loops. All pairs share their resamples (Berg-Kirkpatrick et al. 2012, footnote 5).

    Parameters
    ----------
    outputs
        At least two systems.
    test
        A name in `TESTS`; by default "sign_flips", or "bootstrap" for a metric that is no function of sums (AUC, a
        median, ``ss.metric(…, resample=True)``). "sign_flips": each unit's contribution to the gain gets its sign from
        a fair coin, the randomization test where the score is a mean; "bootstrap": the share of resampled test sets x*
        with gain(x*) >= 2 gain(x); "randomization": the share of shuffles, in which fair coins swap the two systems'
        units, with a gain that is at least as large; the others are classical tests. Each has a null hypothesis of
        its own (``TESTS[test].null``).
    n_resamples
        At least 1; by default what the convention prescribes, or the test's own: 2^18 for the bootstrap and for sign
        flips that are drawn, 2^20 for randomization of ratios (F1), 2^17 of other metrics (BLEU), and 10,000 if the
        metric is no function of sums.
    seed
        0 … 2^64 - 1.
    alternative
        "two-sided": either system might have been better; for the bootstrap ``|gain(x*) - gain(x)| >= gain(x)``.
        "greater": one-sided, valid only if the better system was predicted before the data were seen; the papers'
        studies use it. Which is better is seen in the data, so of two equally good systems one has a
        one-sided p <= 0.05 ten times in a hundred. By default the convention's only one, or "two-sided".
    convention
        A name in `simstudy.statistics.pvalues.CONVENTIONS`: how resamples are counted. "default": ties count,
        p = (s + 1) / (B + 1). Others are published rules, or what tools print.
    monte_carlo
        True: resample, and count; Wilcoxon's test then takes the normal approximation. False: resample only what is not
        computed. Column ``computation`` says how each p-value is computed. Sign flips of right and wrong answers, of
        whole numbers with few sums and of up to 22 units that differ are exact; others are approximated (Lugannani and
        Rice 1980), or resampled where a few units dominate the gain or sums lie far apart. The bootstrap of right and
        wrong answers is that of infinitely many resamples. Randomization of ratios of whole numbers is exact if that
        costs about as much as resampling. A p-value from resamples has a Monte Carlo interval, ``p_low`` to ``p_high``.
    unit
        What is resampled or swapped: "item", or a column of the item table whose values name clusters. None: the
        column "cluster" where there is one, since items of one document depend on each other; else items.
    strata
        A column of the item table; each stratum keeps its number of units. None: one stratum. For the bootstrap;
        flips and swaps leave each unit in its place, which keeps all strata.
    n_jobs
        Threads; -1 for all cores.
    against
        Which pairs are compared. None: all. A name, or several: the pairs that have at least one of these systems, of a
        baseline that was chosen beforehand, say. "neighbours": each system with the next one by score; which these
        are the data say. Outputs of other systems on the same items: each system of `outputs` with all others, as
        for one system more on a leaderboard. Rows have the same bits as in the table of all pairs. Corrections
        are for the pairs that are asked for; what needs all pairs (groups, ranks) refuses fewer.
    columns
        Names of columns of Comparisons, "p_holm" and "p_bh" among them, for millions of pairs: a pandas table of these
        is returned, and no other column takes memory. None: all columns, as Comparisons.
    progress
        Called with the number of resamples just finished, by one thread at a time.

    Returns
    -------
    comparisons
        `simstudy.Comparisons`, which lists its columns: one row a pair, ordered so that ``gain >= 0`` (a tie of
        scores is ordered by name), best systems first. With `columns` a table of these.

    Raises
    ------
    ValueError
        For fewer than two systems, for any argument outside its rule, for a test that does not apply to the metric,
        for a unit with one value, and where the table would not fit into memory.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["a", "b"])
    >>> pair = compare(outputs).pair("a", "b")
    >>> pair.gain, round(pair.p_value, 5)   # 2 of 2^10 ways to swap
    (25.0, 0.00195)
    >>> pair.row["better"], bool(pair.row["exact_level"]), pair.row["computation"]
    ('a', True, 'exact')
    >>> pair.row[["wins", "losses", "ties"]].astype(int).tolist()
    [10, 0, 30]
    >>> bootstrap = compare(outputs, test="bootstrap", alternative="greater").pair("a", "b")
    >>> round(bootstrap.p_value, 6), bool(bootstrap.row["exact_level"])   # P(Binomial(40, 1/4) >= 20)
    (0.000572, False)
    >>> tests = ("randomization", "sign", "mcnemar")
    >>> [round(compare(outputs, test=name).pair("a", "b").p_value, 5) for name in tests]
    [0.00195, 0.00195, 0.00195]
    """
    require_outputs(outputs, 1 if isinstance(against, Outputs) else 2)
    if columns is not None:
        check_list("columns", columns, "names of columns of Comparisons")
        columns = list(dict.fromkeys(columns))
        for column in columns:
            check_choice("columns", column, (*OWN, *_CORRECTIONS))
    if isinstance(against, Outputs):
        outputs, against = against.join_systems(outputs), outputs.names
    ranked = outputs.best_first()
    test = default_test(outputs.metric) if test is None else test
    question = make_question(
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
        progress=progress,
    )
    question = replace(question, asked=_asked(ranked.names, against))
    answers = question.right_or_wrong and question.computes
    shape, n_columns = question.statistics.shape, None if columns is None else len(columns)
    check_memory(test, shape, question.n_pairs, question.n_jobs, answers=answers, n_columns=n_columns)
    table = _table(ranked, question, test, strata, OWN if columns is None else columns)
    return Comparisons(table, outputs.systems) if columns is None else table


def _asked(names: list[str], against: Any) -> Pairs | None:
    """The pairs that are asked for, as places of names that come best first; None: all."""
    if against is None:
        return None
    chosen = [against] if isinstance(against, str) else against
    check_list("against", chosen, "names of systems")
    chosen = list(chosen)
    if chosen == [NEIGHBOURS] and NEIGHBOURS not in names:
        return np.arange(len(names) - 1), np.arange(1, len(names))
    if not chosen:
        raise InputError("against", "must name at least one system")
    for name in chosen:
        if name not in names:
            some = f"{listed(names, 8)}; or '{NEIGHBOURS}'"
            raise InputError("against", f"must be a system, not {brief(name)}{nearest(name, names)}: one of {some}")
    return pairs_with(names, chosen)


def _table(ranked: Outputs, question: Question, test: str, strata: str | None, columns: Sequence[str]) -> pd.DataFrame:
    """Columns of the table of a question's pairs, of systems that come best first."""
    asked, (i, j) = {*columns}, question.pairs
    with doing(f"testing {question.n_pairs:,} pairs"):
        result = TESTS[test].run(question)
    scores, gain = ranked.scores(), np.abs(ranked.gains(i, j))
    table = {
        "task": ranked.task,
        "test_set": ranked.test_set,
        "n_items": ranked.n_items,
        "metric": ranked.metric.name,
        "metric_unit": ranked.metric.unit,
        "metric_signature": ranked.metric.signature,
        "test": test,
        "alternative": question.alternative,
        "convention": question.convention.name,
        "unit": unit_in_words(ranked, question.unit),
        "strata": strata or "",
        "seed": question.seed,
        "n_units": question.n_units,
        **_systems(ranked, question, asked),
        "score_a": scores[i],
        "score_b": scores[j],
        "gain": gain,
        **_p_values(question, test, result, asked),
        "exact_level": result.exact_level,
        "n_extreme": result.n_extreme,
        "n_resamples": result.n_resamples,
        "statistic": result.statistic,
    }
    if "computation" in asked:
        table["computation"] = _texts(COMPUTATIONS, result.computation)
    if "better" in asked:
        table["better"] = _texts([*question.names, ""], _better(question, test, result, gain))
    if asked & (_INTERVALS | _CAUTIONS | _WINS):
        wins, losses, n_differ = win_counts(question)
        table |= {"wins": wins, "losses": losses, "p_floor": _floor(question, n_differ)}
        table["ties"] = question.n_units - (wins + losses if question.metric.of_sums else n_differ)
        if asked & (_INTERVALS | _CAUTIONS):
            with doing("intervals of gains"):
                table |= intervals(question, gain, wins, losses)
        if asked & _CAUTIONS:
            table |= cautions(question, table["skewness"], table["gain_se"])
        if (met := meetings(ranked)) is not None:
            won, tied = met
            table |= {"wins": won[i, j], "losses": won[j, i], "ties": tied[i, j]}
    table |= {name: correct(result.p_value) for name, correct in _CORRECTIONS.items() if name in asked}
    # There may be millions of pairs: no column is there twice.
    return pd.DataFrame({name: table[name] for name in columns}, index=range(question.n_pairs), copy=False)


def _systems(ranked: Outputs, question: Question, asked: set[str]) -> dict[str, Any]:
    """Columns of the pairs' systems that are asked for."""
    (i, j), systems = question.pairs, ranked.systems
    # A system without a family is one of its own.
    number, family = pd.factorize(systems["family"].fillna(systems["name"]))
    # How two systems of one family are related, and two of others.
    related = relations(np.array([0, 0]), np.array([0, 1]))
    columns: dict[str, tuple[Any, Any]] = {
        "system_a": (ranked.names, i),
        "system_b": (ranked.names, j),
        "family_a": (family, number[i]),
        "family_b": (family, number[j]),
        "relation": (related, number[i] != number[j]),
    }
    return {name: _texts(*column) for name, column in columns.items() if name in asked}


def _p_values(question: Question, test: str, result: SignificanceResult, asked: set[str]) -> dict[str, Any]:
    """Columns of p-values and their Monte Carlo intervals."""
    columns = {"p_value": result.p_value}
    if asked & {"p_low", "p_high"}:
        drawn = result.n_resamples > 0
        low, high = result.p_value.copy(), result.p_value.copy()
        if drawn.any():
            low[drawn], high[drawn] = clopper_pearson(result.n_extreme[drawn], result.n_resamples[drawn])
        columns |= {"p_low": low, "p_high": high}
    if "p_two_sided" in asked:
        columns["p_two_sided"] = _two_sided(question, test, result)
    return columns


def _texts(values: Any, places: Any) -> Any:
    """The texts at these places, as pandas keeps them: no objects of Python, so threads work side by side."""
    return pd.array(values, dtype="str").take(places.astype(np.intp))


def _two_sided(question: Question, test: str, result: SignificanceResult) -> Any:
    if question.two_sided:
        return result.p_value.copy()
    if question.convention.alternative == "greater":
        return np.full(question.n_pairs, np.nan)
    return TESTS[test].run(replace(question, alternative="two-sided", progress=None)).p_value


def _floor(question: Question, n_differ: Any) -> Any:
    """The least p-value that swapping the units that differ could give: one of 2^m ways, or two of them."""
    return np.minimum(2.0 ** -n_differ.astype(np.float64) * (2 if question.two_sided else 1), 1.0)


def _better(question: Question, test: str, result: SignificanceResult, gain: Any) -> Any:
    """The place of the system that each test prefers, -1 for none; a one-sided test cannot prefer the other one."""
    i, j = question.pairs
    # Where scores are equal up to rounding, a test of scores prefers neither.
    none = (gain == 0) & TESTS[test].of_scores
    direction = np.where(none, 0, result.direction)
    other = j if question.two_sided else -1
    return np.where(direction > 0, i, np.where(direction < 0, other, -1))
