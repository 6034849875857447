"""`plan`: how large a test set must be, and what one of a given size tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy.metrics import get_metric
from simstudy.metrics.base import Metric
from simstudy.notes import Argument, Note, Words
from simstudy.outputs import Outputs
from simstudy.planning.answers import answer, in_whole_clusters, items_of, merged, other_sizes, sizes_around, units_of
from simstudy.planning.arguments import Clusters, Guess, Judge, changed, check_noun
from simstudy.planning.assumptions import assumptions
from simstudy.planning.benchmarks import known_as, near_chance
from simstudy.planning.cases import Case, Target, check_points
from simstudy.planning.designs import designs_of
from simstudy.planning.guesses import of_guess
from simstudy.planning.results import Plan
from simstudy.planning.sentences import (
    costing,
    if_corrected,
    in_next_edition,
    left_open,
    limited,
    needed,
    of_few_samples,
    sentence,
    single_pairs,
)
from simstudy.planning.settings import Costs, Level, Pilot
from simstudy.running.progress import shown_to_people
from simstudy.text.numerals import units_name
from simstudy.validation import InputError, check_fraction, check_list, check_whole

if TYPE_CHECKING:
    from simstudy.planning.simulated import Simulated


@shown_to_people
def plan(
    pilot: Outputs | Pilot | None = None,
    *,
    metric: str | Metric | None = None,
    gain: float | None = None,
    n_items: int | None = None,
    power: float = 0.8,
    alpha: float | Level = 0.05,
    margin: float | None = None,
    guess: Guess = Guess(),
    clusters: Clusters = Clusters(),
    judge: Judge = Judge(),
    costs: Costs = Costs(),
    sizes: Sequence[int] | None = None,
) -> Plan:
    """Plan a test set: the number of items that a gain needs, or the gain that a number of items detects.

    There are three ways in. Without a pilot the plan is made from guesses: of accuracy, the worse system's score and
    how often two systems agree; of other metrics, a standard deviation. What is not given is taken from known test
    sets, with its range. The outputs of two systems are a pilot: the plan takes only how much they differ from item to
    item. For three systems or more it looks at close pairs by relation class, and predicts what the test set will show.

    The power is that of the default test of `compare` (sign flips; of right and wrong answers McNemar's exact test):
    of means and ratios by their standard errors (delta method) and t, of right and wrong answers by the binomials of
    the items that differ. Root finding is exact to one unit, and to a millionth of a gain.

    Sign flips of n units have no p-value below 2^-n, two-sided none below twice that. With fewer units than the level
    needs, no gain can be significant, and the power is 0. No gain is larger than the metric's scale, the score and the
    agreement allow; `minimum_detectable_gain` is NaN where none of these has the power.

    Parameters
    ----------
    pilot
        `Outputs` of at least ten items (or clusters where they are known), or a `Pilot` that also says how they
        are read and what is drawn. None: the plan is made from a guess.
    metric
        Needed without a pilot.
    gain
        The true gain to detect, on the metric's scale (points for percent): choose what matters, not what a pilot has
        shown.
    n_items
        Of the test set, where its size is given. Of a pilot it is the pilot's, where neither gain nor size is given.
    power
        The probability with which the test must detect the gain, a fraction.
    alpha
        The level of the two-sided test, or a `Level` with an alternative and with the comparisons that share it.
    margin
        Plans to show that a system is not worse by this much or more, and that two are equivalent within it
        (`Comparisons.equivalence`), where the true gain is `gain`, by default 0. Its tests are one-sided, each at half
        of alpha, whatever the alternative is.
    guess
        What is guessed of the two systems.
    clusters
        How items come in clusters, such as documents.
    judge
        How often judges of the answers err.
    costs
        What items and clusters cost, and the budget, which gives the number of items.
    sizes
        Numbers of items of ``Plan.sizes`` and ``Plan.predicted``, each at least two; by default round numbers about the
        planned one.

    Returns
    -------
    plan
        `Plan`, whose `figure` draws it.

    Raises
    ------
    ValueError
        For a power or an alpha that is no fraction, a score or a gain that is a fraction where percent or points are
        meant (a score up to 1, a gain below 0.1), a gain that is not above 0 or larger than the scale, guesses that
        no two systems can have (the message has the range), outputs of fewer than ten items, and where no test set of
        up to ten million items detects the gain.

    References
    ----------
    Card et al. 2020 (With Little Power Comes Great Responsibility); Miller 2024 (Adding Error Bars to Evals), section
    5; Gelman and Carlin 2014 (type S and type M errors).

    Examples
    --------
    >>> import simstudy as ss
    >>> found = ss.plan(metric="accuracy", gain=1, guess=ss.Guess(score=80, agreement=0.9))
    >>> print(found.sentences[0])
    You need 8,032 items to detect a true gain of 1 point of accuracy with power 0.8.
    >>> outputs = ss.truth.correlated_accuracies([0.7, 0.75], n_items=200)
    >>> ss.plan(outputs, gain=5).simulated.off
    False
    """
    check_noun("guess", guess, Guess, "score=80")
    check_noun("clusters", clusters, Clusters, "size=10, icc=0.1")
    check_noun("judge", judge, Judge, "error=0.1")
    check_noun("costs", costs, Costs, "item=2, budget=1000")
    level = _checked(alpha, sizes)
    given, left_out = (None, []) if pilot is None else _read(pilot, metric, (guess, clusters, judge))
    known = metric if given is None else given.outputs.metric
    if known is None:
        raise InputError("metric", "must be given where there are no outputs")
    at = n_items
    if gain is None and n_items is None and margin is None and costs.budget is None:
        if given is None:
            rule = "must be given, or {n_items}: the true gain to detect, or the size of the test set"
            raise InputError("gain", Words(rule, n_items=Argument("n_items")))
        at = given.outputs.n_items
    target = Target(get_metric(known), gain, at, power, level, margin)
    best = None if given is None else float(np.max(given.outputs.scores()))
    check_points(target.metric, score=guess.score, gain=gain, margin=margin, of_pilot=best)
    cases = of_guess(target.metric, gain, guess, clusters, judge) if given is None else _of_outputs(given)
    own_costs = _with_samples(costs, cases[0])
    target, in_part = _within(own_costs, target, cases[0]), in_whole_clusters(cases[0], n_items, sizes)
    rows = [(case, answer(case, target, goal)) for case in cases for goal in target.goals]
    answers = pd.DataFrame([row for _, row in rows])
    planned = [int(next(row["at_units"] for of, row in rows if of is case)) for case in cases]
    others = other_sizes(cases, target, _units(cases, planned, given, sizes))
    simulated, predicted, why_not = _drawn(given, cases[0], target, rows[0][1], others)
    of_benchmarks = near_chance(target.metric, guess) if given is None else known_as([given.outputs.test_set])
    designs = [designs_of(case, target, costs, n) for case, n in zip(cases, planned, strict=True)]
    return Plan(
        target=target,
        cases=tuple(cases),
        answers=answers,
        sizes=others,
        designs=pd.concat(designs),
        predicted=predicted,
        simulated=simulated,
        sentences=_said(cases, target, rows, designs, n_systems=2 if given is None else given.outputs.n_systems),
        assumptions=tuple(assumptions(cases, target, answers, of_outputs=given is not None)),
        notes=(*in_part, *left_out, *why_not, *of_few_samples(cases[0]), *of_benchmarks),
        settings=_settings(
            target, given, n_items=n_items, sizes=sizes, guess=guess, clusters=clusters, judge=judge, costs=costs
        ),
    )


def _said(
    cases: Sequence[Case],
    target: Target,
    rows: Sequence[tuple[Case, Mapping[str, Any]]],
    designs: Sequence[pd.DataFrame],
    *,
    n_systems: int,
) -> tuple[str, ...]:
    """The sentences of a plan: of each answer, and of what limits its designs."""
    said: list[str] = []
    for case, row in rows:
        own = next(table for of, table in zip(cases, designs, strict=True) if of is case)
        said += [needed(case, target, row), costing(case, target, row, own)]
        said += [sentence(case, target, row), if_corrected(case, target, row, n_systems)]
        said += [write(case, target, row) for write in (left_open, in_next_edition, single_pairs)]
    said += [limited(case, own) for case, own in zip(cases, designs, strict=True)]
    return tuple(filter(None, said))


def _settings(target: Target, pilot: Pilot | None, **asked: Any) -> dict[str, Any]:
    """What was asked for, as JSON and the manifest have it."""
    of_target = {name: getattr(target, name) for name in ("gain", "power", "margin")}
    nouns = {name: asdict(value) if is_dataclass(value) else value for name, value in asked.items()}  # type: ignore[arg-type]
    of_pilot = None if pilot is None else pilot.settings
    return {"metric": target.metric.name, **of_target, "alpha": asdict(target.level), "pilot": of_pilot, **nouns}


def _checked(alpha: float | Level, sizes: Sequence[int] | None) -> Level:
    """The level; a ValueError for an alpha and sizes that cannot be."""
    if sizes is not None:
        check_list("sizes", sizes, "whole numbers")
        for n in sizes:
            check_whole("sizes", n, 2)
    if isinstance(alpha, Level):
        return alpha
    check_fraction("alpha", alpha)
    return Level(alpha)


def _read(
    pilot: Outputs | Pilot, metric: str | Metric | None, nouns: tuple[Guess, Clusters, Judge]
) -> tuple[Pilot, list[Note]]:
    """The pilot without near-duplicates, and a note on these; a ValueError for guesses of what a pilot tells."""
    # Engines and models are imported where there is something to compute with them: guesses take no second.
    from simstudy.planning.pilots import distinct_systems
    from simstudy.planning.sampled import by_question

    given = by_question(pilot if isinstance(pilot, Pilot) else Pilot(pilot))
    own = given.outputs.metric.name
    if metric is not None and get_metric(metric).name != own:
        raise InputError("metric", f"must be that of the outputs, '{own}', or None, not '{get_metric(metric).name}'")
    for noun in nouns:
        for name, default in changed(noun):
            rule = "must not be given" if default is None else f"must be {default}"
            raise InputError(name, f"{rule} with outputs, which tell it")
    return distinct_systems(given)


def _of_outputs(pilot: Pilot) -> list[Case]:
    from simstudy.planning.pilots import of_outputs

    return of_outputs(pilot)


def _with_samples(costs: Costs, case: Case) -> Costs:
    """The costs of items with their samples; an InputError for a sample's cost where no item has several."""
    if case.components is None:
        if costs.sample > 0:
            raise InputError(
                "Costs.sample", "must be 0 without outputs that have several samples of each item", costs.sample
            )
        return costs
    return costs.with_samples(case.samples)


def _within(costs: Costs, target: Target, case: Case) -> Target:
    """The target with the number of items that the budget buys, if there is one."""
    if costs.cluster > 0 and case.unit == "item" and case.design is None:
        named = {"size": Argument("Clusters.size"), "icc": Argument("Clusters.icc")}
        remedy = Words(": give {size} and {icc}, or a pilot with clusters", **named)
        raise InputError("Costs.cluster", f"must be 0 where {case.items} come in no clusters", costs.cluster, remedy)
    if costs.budget is None:
        return target
    if target.n_items is not None:
        rule = "must not be given with {budget}, which says how many there can be"
        raise InputError("n_items", Words(rule, budget=Argument("Costs.budget")))
    if not costs.buys_two(case.size):
        rule = f"must be at least {2 * costs.of(case.size):g}, the cost of two {units_name(case.called)}"
        raise InputError("Costs.budget", rule, costs.budget)
    return replace(target, n_items=items_of(case, costs.affordable(case.size)))


def _units(
    cases: Sequence[Case], planned: Sequence[int], pilot: Pilot | None, sizes: Sequence[int] | None
) -> Sequence[int]:
    """The numbers of units of the table of other sizes."""
    if sizes is not None:
        return sorted({units_of(cases[0], n) for n in sizes})
    own = [] if pilot is None else [max(2, round(pilot.outputs.n_items / cases[0].size))]
    return merged([n for size in planned for n in sizes_around(size)], keep=[*planned, *own])


def _drawn(
    pilot: Pilot | None, case: Case, target: Target, row: Mapping[str, Any], others: pd.DataFrame
) -> tuple[Simulated | None, pd.DataFrame, list[str]]:
    """What is drawn: a simulation of the plan, or why there is none, and what test sets of other sizes will show."""
    if pilot is None:
        return None, pd.DataFrame(), []
    known = case.components
    if known is not None and case.samples != round(known.samples):
        return None, pd.DataFrame(), ["The plan is not simulated: the outputs have other numbers of samples."]
    from simstudy.planning.leaderboards import predict
    from simstudy.planning.simulating import held

    simulated, why_not = held(pilot, case, target, row)
    if pilot.outputs.n_systems == 2 or pilot.n_draws == 0:
        return simulated, pd.DataFrame(), why_not
    at = sorted({int(n) for n in others["n_units"]}) if len(others) else []
    predicted = predict(
        pilot.outputs, at, level=target.level, by=pilot.by, unit=pilot.unit, n_draws=pilot.n_draws, seed=pilot.seed
    )
    return simulated, predicted, why_not
