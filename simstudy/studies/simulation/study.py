"""The study of simulated data: draw replicates of each condition, ask the tests, count."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from math import ceil

import numpy as np
import pandas as pd

from simstudy.engines.registry import TESTS
from simstudy.files import datasets
from simstudy.files.datasets import DataFile
from simstudy.running.keys import Cell, CellKeys
from simstudy.running.parallel import CellsFailed
from simstudy.running.progress import say
from simstudy.studies.context import Findings, RunContext, ShippedTables, Shown
from simstudy.studies.problems import Problems
from simstudy.studies.simulation import page
from simstudy.studies.simulation.analyses import Outcome, OwnTest, RegisteredTests, analyse, joined
from simstudy.studies.simulation.definition import FILES, Condition, Simulation
from simstudy.studies.simulation.drawing import Draws
from simstudy.studies.simulation.summaries import BRADLEY, Row, largest_error, summarised
from simstudy.truth.named import parameters_of
from simstudy.validation import InputError, nearest

# What a condition with a model by name may say beside the model's parameters.
_NO_PARAMETERS = {"model", "n_units"}

# Functions of study.py that may read any value of a condition.
_READERS = {"model", "generate", "truth"}

# A true gain so near to 0 is 0: it is a difference of two scores.
_ROUNDING = 1e-9


def run(study: Simulation, context: RunContext) -> Findings:
    """Draw the replicates of all conditions, as many as each needs, and summarise them."""
    # A cell is known by its arguments, which have the hash of study.py if it uses a function of it.
    by_arguments = replace(context, keys=CellKeys())
    draws = draws_of(study)
    filled, hashes = with_files(study.conditions(), context)
    conditions = conditions_of(study, draws, filled)
    rows: dict[int, dict[str, list[Row]]] = {}
    unfinished, look = dict(enumerate(conditions)), 0
    with context.clock("replicates"):
        while unfinished:
            rows |= looked_at(study, by_arguments, draws, unfinished, look)
            unfinished = {
                k: condition for k, condition in unfinished.items() if goes_on(study, condition, rows[k], look)
            }
            look += 1
    tables = {
        name: pd.DataFrame([condition.columns | row for k, condition in enumerate(conditions) for row in rows[k][name]])
        for name in ("conditions", "rates", "coverage", "means", "failures")
    }
    summarise = study.functions.get("summarise")
    summary = tables if summarise is None else summarise(study, tables, context)
    findings = summary if isinstance(summary, Findings) else Findings(tables=summary)
    # A table without rows of the kind has no columns either.
    kept = {name: table for name, table in findings.tables.items() if len(table.columns)}
    data = ({"files": hashes} if hashes else {}) | findings.data
    facts = _facts(study, conditions)
    methods = {row["method"] for of_condition in rows.values() for row in of_condition["rates"]}
    if silent := [test for test in study.tests if test in TESTS and test not in methods]:
        facts["Tests that apply in no condition"] = ", ".join(silent)
        say(f"tests that apply in no condition: {', '.join(silent)}")
    return replace(findings, tables=kept, facts=facts | findings.facts, data=data)


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

    hashes: dict[str, str] = {}
    filled = []
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
    size, within = study.replicates.block, study.replicates.within
    return Draws(
        study.seed, study.stream, tuple(study.common), size, within, None if generate else model, generate, code
    )


def analyses_of(study: Simulation) -> list[RegisteredTests | OwnTest]:
    """The registered tests together, then each function of study.py."""
    registered = tuple(test for test in study.tests if test in TESTS)
    functions, code = [test for test in study.tests if test not in TESTS], study.code()
    together = RegisteredTests(registered, tuple(study.alternatives), study.named, study.n_resamples)
    return [*([together] if registered else []), *(OwnTest(study.functions[test], code) for test in functions)]


def conditions_of(study: Simulation, draws: Draws, filled: Sequence[Condition]) -> list[Condition]:
    """The conditions with their true values, once for each unit. A StudyError names those that are none."""
    conditions, problems, is_of_pairs = [], Problems(study.name), True
    for condition in filled:
        truth, units = np.nan, study.units or [""]
        with problems.at(str(condition)):
            if not study.functions.keys() & _READERS:
                _check_values(study, condition)
            n_units = condition.get("n_units")
            if draws.generate is None and (not isinstance(n_units, int) or n_units < 2):
                raise InputError("n_units", "must be a whole number of at least 2, in factors or fixed", n_units)
            if draws.generate is None and not draws.within:
                model = draws.model_of(condition)
                if model.n_systems != 2 and any(test in TESTS for test in study.tests):
                    rule = f"of simstudy compare two systems, not {model.n_systems}"
                    raise InputError("tests", rule, remedy="ask about several systems in a function of study.py")
                truth, is_of_pairs = model.true_gain, is_of_pairs and model.n_systems == 2
                units = [unit for unit in units if unit in model.units] or [model.units[0] if study.units else ""]
            if "truth" in study.functions:
                truth = float(study.functions["truth"](condition))
        truth = 0.0 if abs(truth) < _ROUNDING else truth
        conditions += [replace(condition, unit=unit, truth=truth) for unit in units]
    problems.raise_any()
    if not is_of_pairs and "truth" not in study.functions:
        # No gain is that of several systems, and tables compare conditions of more and of fewer.
        conditions = [replace(condition, truth=np.nan) for condition in conditions]
    return conditions


def _check_values(study: Simulation, condition: Condition) -> None:
    """Raise a ValueError where no parameter of the condition's model, and nothing in study.py, has a value's name."""
    parameters = parameters_of(condition.get("model", ""))
    names = condition.keys() - {*parameters} - _NO_PARAMETERS
    if unread := sorted(name for name in names if not study.mentions(name)):
        hint = nearest(unread[0], parameters)
        raise InputError(f"{', '.join(unread)}: {condition['model']} has no such parameter{hint}")


def goes_on(study: Simulation, condition: Condition, rows: Mapping[str, list[Row]], look: int) -> bool:
    """Whether a condition has too large a standard error at a look, and more replicates at the next one."""
    error = study.replicates.error
    more = n_blocks(study, condition, look + 1) > n_blocks(study, condition, look)
    return error is not None and more and largest_error(rows) > error


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
    study: Simulation, context: RunContext, draws: Draws, conditions: Mapping[int, Condition], look: int
) -> dict[int, dict[str, list[Row]]]:
    """The rows of conditions, by their numbers, at a look."""
    # All tests of a block follow each other: what a function of study.py keeps of a draw is still there.
    analyses = analyses_of(study)
    asked = [
        (k, analysis, number)
        for k, condition in conditions.items()
        for number in range(n_blocks(study, condition, look))
        for analysis in analyses
        if number < n_blocks(study, condition, look, analysis.name)
    ]
    # Those of many units take longest: they come first, so that no worker waits for the last one.
    asked.sort(key=lambda cell: -_size(conditions[cell[0]]))
    cells = [
        Cell(f"{conditions[k]}, {analysis.name}, block {number}", (draws, conditions[k], analysis, number))
        for k, analysis, number in asked
    ]
    title = "replicates" if study.replicates.error is None else f"replicates, look {look + 1}"
    if look == 0 and context.listed is None:
        announce(study, context, cells, len(conditions))
    results = context.run(title, analyse, cells, amount=lambda cell: _size(cell.arguments[1]), announced=True)
    outcomes: dict[int, dict[str, list[Outcome]]] = {k: {} for k in conditions}
    for (k, analysis, _), outcome in zip(asked, results, strict=True):
        outcomes[k].setdefault(analysis.name, []).append(outcome)
    rows = {}
    for k, named in outcomes.items():
        whole = {name: joined(parts) for name, parts in named.items()}
        within = study.replicates.within or 1
        rows[k] = summarised(whole, conditions[k].truth, study.alphas, within, study.quantiles)
    return rows


def announce(study: Simulation, context: RunContext, cells: Sequence[Cell], n_conditions: int) -> None:
    """Say how much is to be computed, and how long a block takes: that of the smallest condition is computed first."""
    if not (left := context.left(analyse, cells)):
        return
    _, condition, _, number = left[-1].arguments
    block = [cell for cell in left if cell.arguments[1] is condition and cell.arguments[3] == number]
    start = time.perf_counter()
    # If one fails, all the others are computed before it is named.
    with suppress(CellsFailed):
        replace(context, n_jobs=1, executor=None).run("first block", analyse, block)
    seconds = time.perf_counter() - start
    blocks = f"{n_conditions:,} conditions of {study.replicates.most // study.replicates.block:,} blocks"
    say(f"replicates: {blocks}, {len(left):,} of {len(cells):,} cells left, {seconds:.1f} s for the smallest block")


def _size(condition: Condition) -> int:
    """What the time of a condition grows with, as far as it is known."""
    n_units = condition.get("n_units")
    return int(n_units) if isinstance(n_units, int | float) and n_units > 1 else 1


def _facts(study: Simulation, conditions: Sequence[Condition]) -> dict[str, str]:
    """What was run, for the head of the page."""
    most, error = study.replicates.most, study.replicates.error
    until = "" if error is None else f" at most, until no standard error of a rate is above {error:g}"
    groups = f" and groups of {study.replicates.within:,}" if study.replicates.within else ""
    resamples = f"{study.n_resamples:,} of each test set, for simstudy's tests that draw them"
    return {
        "Conditions": f"{len(conditions):,}",
        "Replicates": f"{most:,} of each condition{until}, in blocks of {study.replicates.block:,}{groups}",
        **({"Resamples": resamples} if any(test in TESTS for test in study.tests) else {}),
        "Seed": str(study.seed),
    }
