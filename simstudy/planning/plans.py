"""`plan`: how large a test set must be, and what one of a given size tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.metrics import get_metric
from simstudy.metrics.base import Metric
from simstudy.outputs import Outputs, check_outputs
from simstudy.planning import fractions
from simstudy.planning.answers import answer, at_size, items_of, merged, sizes_around, units_of
from simstudy.planning.asked import Asked
from simstudy.planning.benchmarks import known_as, near_chance
from simstudy.planning.cases import Case
from simstudy.planning.costs import Costs, designs
from simstudy.planning.forms import Level
from simstudy.planning.guessed import Guess, Guesses, of_guesses
from simstudy.planning.margins import BETTER
from simstudy.planning.sheet import Plan
from simstudy.planning.words import assumptions, in_next_edition, left_open, needed, sentence, single_pairs
from simstudy.validation import check_choice, check_list, check_whole

if TYPE_CHECKING:
    from simstudy.planning.simulated import Simulated


def plan(
    outputs: Outputs | None = None,
    *,
    metric: str | Metric | None = None,
    gain: float | None = None,
    n_items: int | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
    alternative: str = "two-sided",
    comparisons: int = 1,
    margin: float | None = None,
    score: float | None = None,
    agreement: Guess | None = None,
    r12: Guess | None = None,
    sd: float | None = None,
    sd_difference: Guess | None = None,
    relation: str | None = None,
    cluster_size: float | None = None,
    icc: float | None = None,
    cluster_cv: Guess | None = None,
    judge_error: float | None = None,
    judge_sd: float | None = None,
    judgements: int = 1,
    judge_agreement: float | None = None,
    cost_item: float | None = None,
    cost_cluster: float = 0.0,
    budget: float | None = None,
    by: str | None = None,
    unit: str | None = None,
    duplicates: str = "drop",
    sizes: Sequence[int] | None = None,
    n_sets: int = 2000,
    n_draws: int = 1000,
    seed: int = 0,
) -> Plan:
    """How many items a test set must have to find a gain, and what a test set of a given size tells.

    There are three ways in. Without outputs the plan is made from guesses: of accuracy, the worse system's score and
    how often two systems agree; of other metrics, a standard deviation; what is not given is taken from known test
    sets, with its range. With the outputs of two systems these are a pilot: only how much they differ from item to
    item is taken from it, not by how much one is better. With the outputs of three systems or more, pairs in doubt are
    looked at by relation class, and what a test set of the planned size will show of the same systems is predicted.

    What is found is what the default test of `compare` (sign flips; of right and wrong answers McNemar's exact test)
    finds of a true gain, with the given power: of means and ratios by their standard errors (delta method) and t, of
    right and wrong answers by the binomials of the items that differ. Root finding is exact to one unit, and to a
    millionth of a gain.

    Sign flips of n units have no p-value below 2^-n, two-sided none below twice that. With fewer units than alpha and
    comparisons need, no gain can be significant, and the power is 0. No gain is larger than the metric's scale, the
    score and the agreement allow; `detectable_gain` is NaN where none of these has the power.

    Parameters
    ----------
    outputs
        Of at least ten units (items, or documents where they are known), or None.
    metric
        Needed without outputs.
    gain
        The true gain that is to be found, on the metric's scale (points for percent): choose what matters, not what a
        pilot has shown.
    n_items
        Of the test set, where its size is given. Of outputs it is theirs, where neither gain nor size is asked for.
    power
        The probability with which the gain is to be found, a fraction.
    alpha, alternative
        The level of the test; "two-sided", or "greater" for a system that was named beforehand.
    comparisons
        How many comparisons share alpha (Bonferroni; Holm's procedure needs no more).
    margin
        Plans to show that a system is not worse by this much or more, and that two are equivalent within it
        (`simstudy.equivalence`), where the true gain is `gain`, by default 0. Its tests are one-sided, each at half of
        alpha, whatever the alternative is.
    score
        Accuracy: the worse system's, in percent.
    agreement
        Accuracy: the share of items on which both are right or both wrong; win rate: the share of ties. A fraction, or
        the two ends of a range, of which the part is taken that two such systems can have.
    r12
        The correlation of the two systems' item scores, or a range.
    sd, sd_difference
        The standard deviation of one system's item scores, which needs r12, or that of the two systems' difference on
        one item (or a range); on the metric's scale.
    relation
        "variants" (of one base model or one group) or "unlike systems": whose usual numbers stand in; by default both.
    cluster_size, icc
        Items come in units (sentences of documents, samples of one question): how many on average, and how the two
        systems' difference on two of them correlates.
    cluster_cv
        How unequal units are: the standard deviation of their sizes over the mean, or a range; 0 where all have one
        size. By default what documents and repositories of known test sets have, with its range.
    judge_error
        Accuracy and win rate: the share of verdicts that a judge turns round, below 0.5. Gains shrink by 1 - 2 of it.
    judge_sd
        Other metrics: the standard deviation of the scores that a judge gives one answer again and again.
    judgements
        The number of judgements of each answer. Their majority (an odd number), or their mean, counts.
    judge_agreement
        The correlation of the errors of two judgements of one answer, from 0 to 1; by default errors are taken to be
        independent. Judges that err on the same answers add less to each other: if errors have a latent correlation of
        0.5, this is 0.2 to 0.33.
    cost_item, cost_cluster, budget
        What an item costs, what a unit costs beside its items, and what there is to spend: it gives n_items.
    by
        With outputs of many systems: the column of their table that tells which ones are related.
    unit
        With outputs: what is drawn independently, "item" or a column of the items; by default the natural unit.
    duplicates
        With outputs of three systems and more: "drop" leaves near-duplicates out (`simstudy.near_duplicates`), which
        differ less than systems that somebody would compare, but where fewer than three would be left; or "keep".
    sizes
        Numbers of items of ``Plan.sizes`` and ``Plan.predicted``, each at least two; by default round numbers about the
        planned one.
    n_sets
        With outputs: test sets to draw from a fitted model, to compare the closed form with (at least 200); 0 for none.
    n_draws
        With outputs of many systems: test sets of each size that are drawn to predict what they show (at least 100); 0
        for none.
    seed
        Of what is drawn.

    Returns
    -------
    plan
        `Plan`; ``simstudy.plot.plan`` draws it.

    Raises
    ------
    ValueError
        For a power or an alpha that is no fraction, a gain that is not above 0 or larger than the scale, guesses that
        no two systems can have (the message has the range), outputs of fewer than ten units, and where no test set of
        up to ten million units finds the gain.

    References
    ----------
    Card et al. 2020 (With Little Power Comes Great Responsibility); Miller 2024 (Adding Error Bars to Evals), section
    5; Gelman and Carlin 2014 (type S and type M errors).

    Examples
    --------
    >>> import simstudy as ss
    >>> found = ss.plan(metric="accuracy", score=80, gain=1, agreement=0.9)
    >>> print(found.sentences[0])
    To find a true gain of 1 point of accuracy with power 0.8: 8,032 items.
    """
    level = Level(alpha, alternative, comparisons)
    dropped: list[str] = []
    guesses = Guesses(
        score, agreement, r12, sd, sd_difference, relation, cluster_size, icc, cluster_cv, judge_error, judge_sd,
        judgements, judge_agreement,
    )  # fmt: skip
    costs = Costs(cost_item, cost_cluster, budget)
    if sizes is not None:
        check_list("sizes", sizes, "whole numbers")
        for n in sizes:
            check_whole("sizes", n, 2)
    check_whole("n_sets", n_sets, 0)
    check_whole("n_draws", n_draws, 0)
    if outputs is None and metric is None:
        raise ValueError("metric must be given where there are no outputs")
    for name, value in (("by", by), ("unit", unit)):
        if outputs is None and value is not None:
            raise ValueError(f"{name} must be None where there are no outputs")
    if outputs is not None:
        _check_with_outputs(outputs, metric, guesses)
        outputs, dropped = _distinct(outputs, duplicates)
        metric = outputs.metric
        if gain is None and n_items is None and margin is None and budget is None:
            n_items = outputs.n_items
    assert metric is not None
    if gain is None and n_items is None and margin is None and budget is None:
        raise ValueError(
            "gain must be given, or n_items: the true gain that is to be found, or the size of the test set"
        )
    asked = Asked(get_metric(metric), gain, n_items, power, level, margin)
    cases = of_guesses(asked.metric, guesses, gain) if outputs is None else _of_outputs(outputs, by, unit)
    if budget is not None:
        if n_items is not None:
            raise ValueError("n_items must be None with budget, which says how many there can be")
        asked = replace(asked, n_items=items_of(cases[0], costs.affordable(cases[0].size)))
    rows = [(case, answer(case, asked, goal, asked.n_items)) for case in cases for goal in asked.goals]
    firsts = [next(row for of, row in rows if of is case) for case in cases]
    others = _sizes(cases, asked, [int(row["at_units"]) for row in firsts], outputs, sizes)
    made = [designs(case, asked, costs, int(row["at_units"])) for case, row in zip(cases, firsts, strict=True)]
    held, notes = _held(outputs, cases, asked, firsts, n_sets, seed, unit)
    predicted = pd.DataFrame()
    if outputs is not None and outputs.n_systems > 2 and n_draws > 0:
        from simstudy.planning.leaderboards import predict

        at = sorted({int(n) for n in others["n_units"]}) if len(others) else []
        predicted = predict(outputs, at, level=level, by=by, unit=unit, n_draws=n_draws, seed=seed)
    sentences = (needed, sentence, left_open, in_next_edition, single_pairs)
    said = [write(case, asked, row) for case, row in rows for write in sentences]
    return Plan(
        asked,
        tuple(cases),
        pd.DataFrame([row for _, row in rows]),
        others,
        pd.concat([table.assign(relation=case.relation) for table, case in zip(made, cases, strict=True)]),
        predicted,
        held,
        tuple(part for part in said if part),
        tuple(assumptions(cases, asked, outputs is not None)),
        tuple(
            fractions.noted(asked.metric, score=score, gain=gain, margin=margin)
            + dropped
            + notes
            + _named(outputs)
            + _chance(asked.metric, guesses)
        ),
    )


def _check_with_outputs(outputs: Outputs, metric: str | Metric | None, guesses: Guesses) -> None:
    check_outputs("outputs", outputs)
    if metric is not None and get_metric(metric).name != outputs.metric.name:
        raise ValueError(
            f"metric must be that of the outputs, '{outputs.metric.name}', or None, not '{get_metric(metric).name}'"
        )
    for name, default in vars(Guesses()).items():
        if type(value := getattr(guesses, name)) is not type(default) or value != default:
            raise ValueError(f"{name} must be {default} with outputs, which tell it")


def _distinct(outputs: Outputs, duplicates: str) -> tuple[Outputs, list[str]]:
    """The outputs, without near-duplicates of three systems and more, and what to say of those."""
    from simstudy.examination.examination import DUPLICATES, distinct

    check_choice("duplicates", duplicates, DUPLICATES)
    kept = distinct(outputs, duplicates)[0] if outputs.n_systems > 2 and duplicates == "drop" else outputs
    gone = outputs.n_systems - kept.n_systems
    if gone == 0 or kept.n_systems < 3:
        return outputs, []
    return kept, [f"near-duplicates left out: {gone} of {outputs.n_systems} systems (duplicates='keep' keeps them)"]


def _of_outputs(outputs: Outputs, by: str | None, unit: str | None) -> list[Case]:
    # Engines and models are imported where there is something to compute with them: guesses take no second.
    from simstudy.planning.pilots import of_many, of_two

    if outputs.n_systems < 2:
        raise ValueError(f"outputs must be of at least two systems for a plan, not {outputs.n_systems}")
    if outputs.n_systems > 2:
        return of_many(outputs, by, unit)
    if by is not None:
        raise ValueError("by must be None with outputs of two systems, which are one pair")
    return [of_two(outputs, unit)]


def _sizes(
    cases: Sequence[Case], asked: Asked, planned: Sequence[int], outputs: Outputs | None, sizes: Sequence[int] | None
) -> pd.DataFrame:
    """What test sets of several sizes tell, of each case."""
    if sizes is None:
        own = [] if outputs is None else [max(2, round(outputs.n_items / cases[0].size))]
        at = merged([n for size in planned for n in sizes_around(size)], keep=[*planned, *own])
    else:
        at = sorted({units_of(cases[0], n) for n in sizes})
    gain = asked.gain if asked.gain is not None and asked.gain > 0 else None
    rows = []
    for case in cases:
        able = case if gain is None else case.allowing(gain)
        for n in at:
            row = {
                "relation": case.relation,
                "metric": asked.metric.name,
                "n_units": n,
                "n_items": round(n * case.size),
            }
            row |= at_size(able, asked, n, BETTER, gain)
            for goal in asked.goals:
                if goal != BETTER:
                    row[f"shown_{goal.replace(' ', '_')}"] = at_size(case, asked, n, goal, asked.gain)["power"]
            rows.append(row)
    return pd.DataFrame(rows)


def _held(
    outputs: Outputs | None, cases: Sequence[Case], asked: Asked, firsts: Sequence[dict[str, Any]], n_sets: int,
    seed: int, unit: str | None,
) -> tuple[Simulated | None, list[str]]:  # fmt: skip
    """The plan held against simulation, for the pilot's two systems or the most ordinary pair of many; and why not."""
    if outputs is None or n_sets == 0 or asked.gain is None or asked.gain <= 0 or firsts[0]["goal"] != BETTER:
        return None, []
    from simstudy.planning.simulated import simulate

    case, row = cases[0], firsts[0]
    if unit is not None and unit != outputs.natural_unit:
        return None, ["Not held against simulation: units are not the natural ones."]
    two = outputs if outputs.n_systems == 2 else outputs.select(list(case.example))
    found = simulate(two, asked, int(row["at_units"]), case=case, n_sets=n_sets, seed=seed)
    return (None, [f"Not held against simulation: {found}."]) if isinstance(found, str) else (found, [])


def _named(outputs: Outputs | None) -> list[str]:
    return known_as([outputs.test_set]) if outputs is not None else []


def _chance(metric: Metric, guesses: Guesses) -> list[str]:
    usual = guesses.agreement is None and guesses.r12 is None
    return near_chance(guesses.score) if metric.name == "accuracy" and usual and guesses.score is not None else []
