"""`compare`: the one door to every test, and the table of Comparisons that comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.choices import check_choice, check_seed, check_whole
from simstudy.engines.question import Exact, Question
from simstudy.engines.registry import ALTERNATIVES, TESTS
from simstudy.outputs import Outputs
from simstudy.pvalues import CONVENTIONS, clopper_pearson
from simstudy.runner import n_workers


def compare(
    outputs: Outputs,
    *,
    test: str = "bootstrap",
    n_resamples: int | None = None,
    seed: int = 0,
    alternative: str | None = None,
    convention: str = "default",
    exact: Exact = "auto",
    unit: str = "item",
    strata: str | None = None,
    n_jobs: int = 1,
    tile_size: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Test the gain of every pair of systems on one test set.

    The same seed gives the same table to the last bit, whatever `n_jobs`, `tile_size` and the order of the
    systems are; all pairs share their resamples (Berg-Kirkpatrick et al. 2012, footnote 5).

    Parameters
    ----------
    outputs
        At least two systems.
    test
        A name in `TESTS`. "bootstrap": the share of resampled test sets x* with gain(x*) >= 2 gain(x);
        "randomization": the share of shuffles, in which fair coins swap the two systems' units, with a gain that is
        at least as large; the others are classical tests.
    n_resamples
        At least 1; by default what the convention prescribes, or the test's own: 1,000,000 for the bootstrap, 2^20
        for randomization. Tests that draw nothing, and pairs with an exact p-value, ignore it, and the seed.
    seed
        0 … 2^64 - 1.
    alternative
        "greater": the better system's gain, one-sided. "two-sided": either system might have been better; for the
        bootstrap |gain(x*) - gain(x)| >= gain(x). By default the convention's or the test's only one, or "greater".
        Which system is better is seen in the data, so of two equally good systems one has a one-sided p <= 0.05 ten
        times in a hundred: hold it against alpha / 2, or ask for "two-sided", where nobody said beforehand which
        system is the new one.
    convention
        A name in `simstudy.pvalues.CONVENTIONS`: how resamples are counted. "default": ties count,
        p = (s + 1) / (B + 1). Others are published rules, or what tools print.
    exact
        "auto": the exact p-value (of all shuffles; of infinitely many resamples) where it can be had at about the cost
        of resampling, under the default convention. True: for all pairs, or an error. False: resample (tests that draw
        nothing are what they are; Wilcoxon's is then normal). Whether all statistics are whole numbers is asked of
        the whole table.
    unit
        What is resampled or swapped: "item", or a column of the item table whose values name clusters (documents).
    strata
        A column of the item table; each stratum keeps its number of units. None: one stratum. For the bootstrap;
        randomization swaps each unit with itself, which keeps all strata.
    n_jobs
        Threads; -1 for all cores.
    tile_size
        Resamples worked on at a time by a thread, for the curious; chosen by memory if None.
    progress
        Called with the number of resamples just finished, by one thread at a time.

    Returns
    -------
    comparisons
        One row a pair, ordered so that ``gain >= 0`` (a tie of scores is ordered by name), best systems first:
        task, test_set, n_items, metric, test, alternative, convention, unit, system_a, system_b,
        relation ("same family" / "different families"), score_a, score_b, gain (on the metric's scale),
        p_value, p_low, p_high (the 95 % Clopper-Pearson interval for its Monte Carlo error; the p-value itself where
        it is not from resampling), exact (whether it is exact under the test's null hypothesis), n_extreme,
        n_resamples (both 0 where nothing was resampled), statistic (t, z, chi-square, …; NaN where it is the gain).

    Raises
    ------
    ValueError
        For fewer than two systems, for any argument outside its rule, for a test that does not apply to the metric,
        and where exact=True can not be had.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["a", "b"])
    >>> row = compare(outputs).iloc[0]
    >>> row.system_a, float(row.gain), bool(row.exact)
    ('a', 25.0, True)
    >>> round(float(row.p_value), 6)   # P(Binomial(40, 1/4) >= 20)
    0.000572
    >>> row = compare(outputs, exact=False, n_resamples=10_000).iloc[0]
    >>> bool(row.p_low < 0.000572 < row.p_high)
    True
    >>> [round(float(compare(outputs, test=name).p_value[0]), 5) for name in ("randomization", "sign", "mcnemar")]
    [0.00098, 0.00098, 0.00098]
    """
    _check(outputs, test, n_resamples, seed, alternative, convention, exact, tile_size)
    chosen, rule = TESTS[test], CONVENTIONS[convention]
    if strata is not None and test != "bootstrap":
        raise ValueError(f"strata must be None for test '{test}'; only the bootstrap draws units of a stratum")
    ranked = outputs.best_first()
    statistics, bounds = _units(ranked, unit, strata)
    question = Question(
        statistics,
        ranked.metric,
        ranked.names,
        unit,
        bounds,
        alternative=alternative or rule.alternative or chosen.alternatives[0],
        convention=rule,
        exact=exact,
        n_resamples=n_resamples or rule.n_resamples.get(test) or chosen.n_resamples or 0,
        seed=seed,
        n_jobs=n_workers(n_jobs),
        tile_size=tile_size,
        progress=progress,
    )
    refusal = chosen.refusal(question)
    if refusal:
        raise ValueError(refusal)
    answers = chosen.run(question)
    i, j = question.pairs
    scores, rounding = ranked.scores(), ranked.tie_tolerance()
    difference, noise = np.abs(scores[i] - scores[j]), np.maximum(rounding[i], rounding[j])
    drawn = answers.n_resamples > 0
    low, high = clopper_pearson(answers.n_extreme, np.maximum(answers.n_resamples, 1))
    names = np.array(ranked.names, dtype=object)
    family = ranked.systems["family"].to_numpy()
    return pd.DataFrame(
        {
            "task": ranked.task,
            "test_set": ranked.test_set,
            "n_items": ranked.n_items,
            "metric": ranked.metric.name,
            "test": test,
            "alternative": question.alternative,
            "convention": convention,
            "unit": unit,
            "system_a": names[i],
            "system_b": names[j],
            "relation": np.where(family[i] == family[j], "same family", "different families"),
            "score_a": scores[i],
            "score_b": scores[j],
            "gain": np.where(difference > noise, difference, 0.0),
            "p_value": answers.p_value,
            "p_low": np.where(drawn, low, answers.p_value),
            "p_high": np.where(drawn, high, answers.p_value),
            "exact": answers.exact,
            "n_extreme": answers.n_extreme,
            "n_resamples": answers.n_resamples,
            "statistic": answers.statistic,
        }
    )


def run_twice(outputs: Outputs, *, seeds: tuple[int, int] = (0, 1), **options: Any) -> pd.DataFrame:
    """Run a comparison a second time with other random numbers, and say how far apart the two are.

    Yeh's first check of an approximate randomization (2000, section 3.3), for all pairs.

    Parameters
    ----------
    seeds
        Two different seeds.
    options
        As for `compare`; pairs are resampled, whatever could be had exactly.

    Returns
    -------
    pairs
        system_a, system_b, gain, p_value and n_extreme of both runs (``_1``, ``_2``), and ``z``: the difference of the
        two counts in standard errors, which is beyond 2 for one pair in twenty and beyond 4 hardly ever.

    Raises
    ------
    ValueError
        For two equal seeds, a test that does not resample, and as `compare`.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 38 + [[0, 1]] * 2], "accuracy", ["a", "b"])
    >>> row = run_twice(outputs, test="randomization", n_resamples=1000).iloc[0]
    >>> bool(abs(row.z) < 5), bool(abs(row.p_value_1 - 0.25) < 0.1), bool(abs(row.p_value_2 - 0.25) < 0.1)
    (True, True, True)
    """
    if not isinstance(seeds, Sequence) or len(seeds) != 2 or seeds[0] == seeds[1] or "seed" in options:
        raise ValueError(f"seeds must be two different ones (and there is no other seed), not {seeds}")
    test = options.get("test", "bootstrap")
    check_choice("test", test, [name for name, known in TESTS.items() if known.n_resamples])
    first, second = (compare(outputs, seed=seed, **{**options, "exact": False}) for seed in seeds)
    count_1, count_2, drawn = first["n_extreme"], second["n_extreme"], first["n_resamples"]
    pooled = (count_1 + count_2) / (2 * drawn)
    spread = np.sqrt(2 * drawn * pooled * (1 - pooled))
    return pd.DataFrame(
        {
            **{name: first[name] for name in ("system_a", "system_b", "gain")},
            "p_value_1": first["p_value"],
            "p_value_2": second["p_value"],
            "n_extreme_1": count_1,
            "n_extreme_2": count_2,
            "z": (count_1 - count_2) / np.where(spread > 0, spread, 1.0),
        }
    )


def applicable(outputs: Outputs) -> list[str]:
    """The names of the tests that apply to these outputs, in the order of `TESTS`.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 2, 2]] * 3, [[1, 1, 2]] * 3], "f1")
    >>> applicable(outputs)
    ['bootstrap', 'randomization']
    """
    _check_outputs(outputs)
    ranked = outputs.best_first()
    question = Question(ranked.statistics, ranked.metric, ranked.names, "item", np.array([0, ranked.n_items]))
    return [name for name, test in TESTS.items() if not test.refusal(question)]


def _check(
    outputs: Outputs,
    test: str,
    n_resamples: int | None,
    seed: int,
    alternative: str | None,
    convention: str,
    exact: Exact,
    tile_size: int | None,
) -> None:
    check_choice("test", test, TESTS)
    chosen = TESTS[test]
    if alternative is not None:
        check_choice("alternative", alternative, ALTERNATIVES)
        if alternative not in chosen.alternatives:
            raise ValueError(f"alternative must be '{chosen.alternatives[0]}' for test '{test}', not '{alternative}'")
    check_choice("convention", convention, CONVENTIONS)
    rule = CONVENTIONS[convention]
    if convention != "default":
        if test not in rule.tests:
            raise ValueError(f"convention '{convention}' is a rule for {' and '.join(rule.tests)}, not for '{test}'")
        if rule.alternative and alternative not in (None, rule.alternative):
            raise ValueError(
                f"alternative must be '{rule.alternative}' for convention '{convention}', not '{alternative}'"
            )
    if not isinstance(exact, bool | str) or exact not in (True, False, "auto"):
        raise ValueError(f"exact must be True, False or 'auto', not {exact!r}")
    if exact is True and not chosen.exact:
        raise ValueError(f"exact must be 'auto' or False for test '{test}', whose p-value is always an approximation")
    _check_outputs(outputs)
    if n_resamples is not None:
        check_whole("n_resamples", n_resamples, 1, 2**53)
    check_seed(seed)
    if tile_size is not None:
        check_whole("tile_size", tile_size, 1, 2**20)


def _check_outputs(outputs: Outputs) -> None:
    if not isinstance(outputs, Outputs):
        raise ValueError(f"outputs must be Outputs (see Outputs.from_scores), not {type(outputs).__name__}")
    if outputs.n_systems < 2:
        raise ValueError(f"outputs must have at least 2 systems to compare, not {outputs.n_systems}")


def _units(outputs: Outputs, unit: str, strata: str | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Statistics (K, units, S) with each stratum's units next to each other, and the strata's bounds (H + 1,)."""
    units = outputs if unit == "item" else outputs.sum_by(unit)
    if units.n_items < 2:
        raise ValueError(f"outputs must have at least 2 units to resample ({unit}), not {units.n_items}")
    if strata is None:
        return units.statistics, np.array([0, units.n_items], dtype=np.int64)
    if strata in outputs.items and strata not in units.items:
        raise ValueError(f"strata must hold whole units, but some {unit} has items in more than one {strata}")
    codes, values = pd.factorize(units.labels(strata))
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        # A single unit never varies: were it resampled, its part of every gain would look certain.
        raise ValueError(
            f"strata must have at least 2 units each ({unit}); {strata} '{values[int(sizes.argmin())]}' has 1"
        )
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return units.statistics[:, np.argsort(codes, kind="stable")], bounds.astype(np.int64)
