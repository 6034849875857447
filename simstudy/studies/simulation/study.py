"""The study of simulated data: draw replicates of each condition, ask the tests, count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from math import ceil

import numpy as np
import pandas as pd

from simstudy.engines.registry import TESTS
from simstudy.files import datasets
from simstudy.files.datasets import DataFile
from simstudy.running.keys import Cell, CellKeys
from simstudy.studies.context import Findings, RunContext, ShippedTables, Shown
from simstudy.studies.problems import Problems
from simstudy.studies.simulation import page
from simstudy.studies.simulation.analyses import OwnTest, RegisteredTests, analyse, joined
from simstudy.studies.simulation.definition import FILES, Condition, Simulation
from simstudy.studies.simulation.drawing import Draws, parameters_of
from simstudy.studies.simulation.summaries import BRADLEY, Row, largest_error, summarised
from simstudy.truth.scores import KnownTruth
from simstudy.validation import InputError

# What a condition with a model by name may say beside the model's parameters.
_NO_PARAMETERS = {"model", "n_units", "unit", "title"}

# A true gain so near to 0 is 0: it is a difference of two scores.
_ROUNDING = 1e-9


def run(study: Simulation, context: RunContext) -> Findings:
    """Draw the replicates of all conditions, as many as each needs, and summarise them."""
    # A cell is known by its arguments, which have the hash of study.py if it uses a function of it.
    by_arguments = replace(context, keys=CellKeys())
    conditions, hashes = with_files(study.conditions(), context)
    draws = draws_of(study)
    truths = true_values(study, conditions, draws)
    rows: dict[int, dict[str, list[Row]]] = {}
    unfinished, look = list(range(len(conditions))), 0
    with context.clock("replicates"):
        while unfinished:
            rows |= looked_at(study, by_arguments, draws, [(k, conditions[k], truths[k]) for k in unfinished], look)
            unfinished = [
                k
                for k in unfinished
                if study.replicates.error is not None
                and largest_error(rows[k]) > study.replicates.error
                and n_blocks(study, conditions[k], look + 1) > n_blocks(study, conditions[k], look)
            ]
            look += 1
    tables = {
        name: pd.DataFrame([dict(conditions[k].levels) | row for k in sorted(rows) for row in rows[k][name]])
        for name in ("conditions", "rates", "coverage", "means", "failures")
    }
    summarise = study.functions.get("summarise")
    summary = tables if summarise is None else summarise(study, tables, context)
    findings = summary if isinstance(summary, Findings) else Findings(tables=summary)
    # A table without rows of the kind has no columns either.
    kept = {name: table for name, table in findings.tables.items() if len(table.columns)}
    data = ({"files": hashes} if hashes else {}) | findings.data
    return replace(findings, tables=kept, facts=_facts(study, conditions) | findings.facts, data=data)


def show(study: Simulation, tables: ShippedTables) -> Shown:
    """The page of the tables: what the study's `show` returns, or the kind's own."""
    if "show" in study.functions:
        shown: Shown = study.functions["show"](study, tables)
        return shown
    return Shown(sections=page.sections(tables, study), closing=page.CLOSING, summary=page.summary(tables, study))


def with_files(conditions: Sequence[Condition], context: RunContext) -> tuple[list[Condition], dict[str, str]]:
    """The conditions with a `DataFile` for each name in their `files`, and the SHA-256 of each file by its name."""

    @cache
    def file(name: str) -> DataFile:
        return DataFile.of(datasets.find(name, context.data_dir, allow_outside=context.allow_outside))

    hashes, filled = {}, []
    for condition in conditions:
        names = condition.get(FILES, [])
        if not isinstance(names, list):
            raise InputError(FILES, "must be a list of names of data files", names)
        hashes |= {name: file(name).sha256 for name in names}
        more = {FILES: [file(name) for name in names]} if names else {}
        filled.append(replace(condition, settings={**condition.settings, **more}))
    return filled, hashes


def draws_of(study: Simulation) -> Draws:
    """How the study draws its replicates."""
    model, generate = study.functions.get("model"), study.functions.get("generate")
    code = study.code() if model or generate else ""
    size, common = study.replicates.block, tuple(study.common)
    return Draws(study.seed, study.stream, common, size, None if generate else model, generate, code)


def analyses_of(study: Simulation) -> Iterator[RegisteredTests | OwnTest]:
    """The registered tests together, then each function of study.py."""
    if registered := tuple(test for test in study.tests if test in TESTS):
        yield RegisteredTests(registered, tuple(study.alternatives), study.named, study.n_resamples)
    for test in study.tests:
        if test not in TESTS:
            yield OwnTest(study.functions[test], study.code())


def true_values(study: Simulation, conditions: Sequence[Condition], draws: Draws) -> list[float]:
    """The true gain of each condition; NaN where nobody says it. A StudyError names the conditions that are none."""
    truths, problems = [], Problems(study.name)
    for condition in conditions:
        truth = np.nan
        with problems.at(str(condition)):
            if not study.functions:
                # Otherwise a function of study.py may read any value.
                _check_parameters(condition)
            if draws.generate is None:
                truth = _true_gain(draws, condition)
            if "truth" in study.functions:
                truth = study.functions["truth"](condition)
        truths.append(0.0 if abs(truth) < _ROUNDING else float(truth))
    problems.raise_any()
    return truths


def _true_gain(draws: Draws, condition: Condition) -> float:
    """The true gain of the model that draws a condition; NaN for K systems. A ValueError where it is no model."""
    n_units = condition.get("n_units")
    if not isinstance(n_units, int) or n_units < 2:
        raise InputError("n_units", "must be a whole number of at least 2, in factors or fixed", n_units)
    model = draws.model_of(condition)
    return np.nan if isinstance(model, KnownTruth) else float(model.true_gain)


def _check_parameters(condition: Condition) -> None:
    """Raise a ValueError where a value is no parameter of the model that the condition names."""
    if unused := condition.keys() - {*parameters_of(condition.get("model"))} - _NO_PARAMETERS:
        raise InputError(f"{', '.join(sorted(unused))}: {condition['model']} has no such parameter")


def n_blocks(study: Simulation, condition: Condition, look: int, analysis: str = "") -> int:
    """Blocks of a condition that an analysis has seen at a look; the number doubles from look to look.

    The first look has the blocks that the wanted error needs for a rate of 1.5 alpha. An earlier one would stop where
    a small rate is small by chance, and that would bias it.
    """
    size, error = study.replicates.block, study.replicates.error
    most = study.most_replicates(condition, analysis) // size
    if error is None:
        return most
    rate = BRADLEY[1] * max(study.alphas)
    first: int = ceil(rate * (1 - rate) / error**2 / size)
    return min(most, first << look)


def looked_at(
    study: Simulation,
    context: RunContext,
    draws: Draws,
    conditions: Sequence[tuple[int, Condition, float]],
    look: int,
) -> dict[int, dict[str, list[Row]]]:
    """The rows of conditions (number, condition, truth) at a look."""
    places, cells = [], []
    for analysis in analyses_of(study):
        for k, condition, truth in conditions:
            for number in range(n_blocks(study, condition, look, analysis.name)):
                label = f"{condition}, {analysis.name}, block {number}"
                places.append((k, analysis.name))
                cells.append(Cell(label, (draws, condition, truth, analysis, number)))
    # Those of many units take longest: they come first, so that no worker waits for the last one.
    order = sorted(range(len(cells)), key=lambda j: -_size(cells[j].arguments[1]))
    title = "replicates" if study.replicates.error is None else f"replicates, look {look + 1}"
    results = dict(zip(order, context.run(title, analyse, [cells[j] for j in order]), strict=True))
    rows = {}
    for k, _, truth in conditions:
        outcomes = {
            name: joined([results[j] for j, place in enumerate(places) if place == (k, name)])
            for name in dict.fromkeys(name for place, name in places if place == k)
        }
        rows[k] = summarised(outcomes, truth, study.alphas)
    return rows


def _size(condition: Condition) -> float:
    """What the time of a condition grows with, as far as it is known."""
    n_units = condition.get("n_units")
    return n_units if isinstance(n_units, int | float) else 0.0


def _facts(study: Simulation, conditions: Sequence[Condition]) -> dict[str, str]:
    """What was run, for the head of the page."""
    most, error = study.replicates.most, study.replicates.error
    until = "" if error is None else f" at most, until no standard error of a rate is above {error:g}"
    return {
        "Conditions": f"{len(conditions):,}",
        "Replicates": f"{most:,} of each condition{until}, in blocks of {study.replicates.block:,}",
        "Resamples": f"{study.n_resamples:,} of each test set, for simstudy's tests that draw them",
        "Seed": str(study.seed),
    }
