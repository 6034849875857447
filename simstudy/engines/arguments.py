"""From Outputs and what a user asks for to a Question: all arguments are checked here, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.engines.question import Question
from simstudy.engines.registry import ALTERNATIVES, TESTS, default_test
from simstudy.metrics import Metric, get_metric
from simstudy.metrics.base import Ratio
from simstudy.metrics.scaling import rescaled
from simstudy.notes import Argument, Words
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.units import in_units, stratified
from simstudy.running.jobs import n_workers
from simstudy.statistics.pvalues import CONVENTIONS
from simstudy.validation import InputError, check_choice, check_flag, check_seed, check_text, check_whole

#: Resamples of a metric that is computed again on each; shuffles of one that is no ratio.
OF_ARRAYS, OF_SCORES = 10_000, 2**17


def make_question(
    ranked: Outputs,
    *,
    test: str,
    n_resamples: int | None = None,
    alternative: str | None = None,
    convention: str = "default",
    unit: str | None = None,
    strata: str | None = None,
    n_jobs: int = 1,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> Question:
    """The question of `simstudy.compare`, with its options, about systems that come best first.

    A ValueError names an argument that is outside its rule, and a test that does not apply.
    """
    check_options(
        test, n_resamples=n_resamples, alternative=alternative, convention=convention, strata=strata, **options
    )
    check_text("unit", unit, "the name of a column of the items", or_none=True)
    check_text("strata", strata, "the name of a column of the items", or_none=True)
    chosen, rule = TESTS[test], CONVENTIONS[convention]
    unit = unit or ranked.natural_unit
    for argument, column in (("unit", None if unit == "item" else unit), ("strata", strata)):
        if column is not None:
            ranked.labels(column, argument)
    if ranked.metric.of_sums:
        statistics, bounds = _units(ranked, unit, strata)
        members = None
    else:
        statistics, bounds, members = items_of_units(ranked, unit, strata)
    statistics, factor = rescaled(statistics, ranked.metric)
    question = Question(
        statistics,
        ranked.metric,
        ranked.names,
        unit,
        bounds,
        alternative=alternative or rule.alternative or chosen.alternatives[0],
        convention=rule,
        n_resamples=n_resamples or default_resamples(test, ranked.metric, convention),
        n_jobs=n_workers(n_jobs),
        progress=progress,
        factor=factor,
        members=members,
        **options,
    )
    if refusal := chosen.refusal(question):
        raise InputError(refusal)
    return question


def default_resamples(test: str, metric: Metric, convention: str = "default") -> int:
    """How many resamples a comparison draws unless told otherwise; 0 if the test draws none."""
    n_resamples = TESTS[test].n_resamples
    if n_resamples is None:
        return 0
    if not metric.of_sums:
        n_resamples = OF_ARRAYS
    elif test == "randomization" and not isinstance(metric, Ratio):
        n_resamples = OF_SCORES
    return CONVENTIONS[convention].n_resamples.get(test, n_resamples)


def check_options(
    test: str,
    *,
    n_resamples: int | None = None,
    seed: int = 0,
    alternative: str | None = None,
    convention: str = "default",
    monte_carlo: bool = False,
    strata: str | None = None,
) -> None:
    """Raise a ValueError for options of `simstudy.compare` that are wrong or do not fit, whatever the outputs are."""
    check_choice("test", test, TESTS)
    chosen = TESTS[test]
    if alternative is not None:
        check_choice("alternative", alternative, ALTERNATIVES)
        if alternative not in chosen.alternatives:
            raise InputError("alternative", f"must be '{chosen.alternatives[0]}' for test '{test}'", alternative)
    check_choice("convention", convention, CONVENTIONS)
    rule = CONVENTIONS[convention]
    if convention != "default":
        if test not in rule.tests:
            raise InputError(
                f"convention '{convention}' is a rule for {' and '.join(rule.tests)}, not for '{test}'",
                remedy=Words("{test} counts by it", test=Argument("test", rule.tests[0])),
            )
        if rule.alternative and alternative not in (None, rule.alternative):
            raise InputError("alternative", f"must be '{rule.alternative}' for convention '{convention}'", alternative)
    check_flag("monte_carlo", monte_carlo)
    if strata is not None and test != "bootstrap":
        remedy = Words("only {test} resamples within strata", test=Argument("test", "bootstrap"))
        raise InputError("strata", f"must not be given for test '{test}'", remedy=remedy)
    if n_resamples is not None:
        check_whole("n_resamples", n_resamples, 1, 2**53)
    check_seed(seed)


def _units(outputs: Outputs, unit: str, strata: str | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Statistics (K, units, S) with each stratum's units next to each other, and the strata's bounds (H + 1,)."""
    units = in_units(outputs, unit)
    order, bounds = _checked_strata(outputs, units, unit, strata)
    return units.statistics if strata is None else units.statistics[:, order], bounds


def items_of_units(
    outputs: Outputs, unit: str, strata: str | None = None
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64] | None]:
    """Statistics (K, n items, S) with each unit's items next to each other, the strata's bounds, and the units'.

    The units' bounds (units + 1,) are None where they are the items.
    """
    # Units and their order are those of any metric.
    nothing = np.zeros((outputs.n_systems, outputs.n_items, 2), dtype=np.int64)
    units = in_units(replace(outputs, statistics=nothing, metric=get_metric("mean")), unit)
    order, bounds = _checked_strata(outputs, units, unit, strata)
    ids = units.items["id"].to_numpy()[order]
    place = pd.Series(np.arange(len(ids)), index=ids)
    unit_of_item = place.loc[outputs.items["id"] if unit == "item" else outputs.labels(unit)].to_numpy()
    statistics = outputs.statistics[:, np.argsort(unit_of_item, kind="stable")]
    if unit == "item":
        return statistics, bounds, None
    return statistics, bounds, np.concatenate([[0], np.cumsum(np.bincount(unit_of_item))]).astype(np.int64)


def _checked_strata(
    outputs: Outputs, units: Outputs, unit: str, strata: str | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of the units by strata, and the strata's bounds; ValueError where they are too few to be resampled."""
    if units.n_items < 2:
        remedy = Words(
            ": all items have {unit} '{first}'; {item} uses items",
            unit=unit,
            first=units.items["id"].iloc[0],
            item=Argument("unit", "item"),
        )
        rule = f"must have at least 2 units to resample ({unit})"
        raise InputError("outputs", rule, units.n_items, "" if unit == "item" else remedy)
    if strata in outputs.items and strata not in units.items:
        raise InputError(
            "strata", f"must not split a resampling unit, but some {unit} has items in more than one {strata}"
        )
    order, bounds, values = stratified(units, strata)
    sizes = np.diff(bounds)
    if sizes.min() < 2:
        # A single unit never varies: were it resampled, its part of every gain would look certain.
        rule = f"must have at least 2 units each ({unit}); {strata} '{values[int(sizes.argmin())]}' has 1"
        remedy = Words("{item} uses items", item=Argument("unit", "item"))
        raise InputError("strata", rule, remedy="" if unit == "item" else remedy)
    return order, bounds


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
    >>> import pandas as pd
    >>> outputs = Outputs.from_statistics([[[1, 2, 2]] * 3, [[1, 1, 2]] * 3], "f1")
    >>> applicable(outputs)
    ['sign_flips', 'bootstrap', 'randomization', 'skew_corrected']
    >>> scores = Outputs.from_scores(pd.DataFrame({"a": [0.2, 0.5, 0.4], "b": [0.1, 0.3, 0.5]}))
    >>> [name for name in applicable(scores) if name not in applicable(scores, of_scores=True)]
    ['sign', 'wilcoxon']
    """
    require_outputs(outputs, 2)
    check_flag("of_scores", of_scores)
    question = make_question(outputs.best_first(), test=default_test(outputs.metric), unit=unit)
    return [name for name, test in TESTS.items() if not test.refusal(question) and (test.of_scores or not of_scores)]
