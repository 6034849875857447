"""What the command prints of a plan: the answer, the table of sizes, and the assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from simstudy.notes import kind_of
from simstudy.pages.sections import Column, Table
from simstudy.planning.cases import coverage_of
from simstudy.planning.designs import AS_PLANNED
from simstudy.text.plain_text import in_words
from simstudy.text.printing import LEFT_OUT, MOST_LINES, Printer, left_out, noted

if TYPE_CHECKING:
    from simstudy.planning.results import Plan

# Sizes and predicted sizes that a screen has at most, without and with predictions; and notes, without.
_ALONE, _WITH_PREDICTIONS, _MOST_NOTES = (5, 0), (3, 2), 2
# Sizes of a relation that assumptions and notes must leave room for: a smaller one, the planned one and a larger one.
_FEWEST_SIZES = 3
# Groups of systems that differ from the best one of each: no confidence sets for ranks.
_GROUPS = "distinct groups (uncorrected)"
# Columns that a narrow terminal is without first. The sentences have them, but for type S errors.
_SPARE = ("type S error", "type M error", "wrong winner", "design effect", "samples of both", _GROUPS, "wrong winners")
# Sizes whose ratio lies between these are about the same.
_ALIKE = (0.8, 1.25)
_Tables = tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]
# Lines of sentences, of many cases, that are printed without being asked for.
_MOST_SAID = 16

#: Titles of the table of designs, by clusters and by samples.
DESIGNS = "Fewer or more items a cluster"
SPLITS = "Fewer or more samples of a question"
_PREDICTIONS = "Predicted results of test sets of these sizes (80 % prediction intervals)"
_ASSUMPTIONS = "Assumptions of the plan"


def show(plan: Plan, printer: Printer, *, verbose: bool = False, last: Sequence[str] = ()) -> None:
    """Print the answers and their simulation, tables of other sizes, and the assumptions; all of them if `verbose`.

    Without `verbose` it is at most `MOST_LINES` lines, the lines `last` among them, with which it ends.
    """
    sentences = [*plan.sentences, *([plan.simulated.text()] if plan.simulated else [])]
    notes, assumptions = noted(plan.notes), [f"- {assumption}" for assumption in plan.assumptions]
    # What was read is not left out: it says what the numbers are of.
    first = [printer.shortened(note) for note in notes[:1] if kind_of(plan.notes[0]) == "read"]
    most = max(_MOST_SAID - printer.height(*first), printer.height(sentences[0]))
    said = sentences if verbose else printer.fitting(sentences, most)
    tables = (plan.sizes, plan.predicted, plan.designs)
    some_notes, some_assumptions, some_tables = notes, assumptions, tables
    if not verbose:
        room = MOST_LINES - printer.height(*said, LEFT_OUT, *last)
        brief = [printer.shortened(note) for note in notes[: _MOST_NOTES if plan.predicted.empty else 1]]
        brief = brief[len(first) :]
        room -= printer.height(*first)
        heading = ["", _ASSUMPTIONS]
        wanted = [[*brief[:1], *heading, *assumptions[:n]] for n in (3, 2, 1)]
        some_tables, room = _fitting_tables(plan, printer, room, [*wanted, brief[:1], []])
        some_notes = printer.fitting(brief[:1], room)
        room -= printer.height(*some_notes)
        some_notes = [*first, *some_notes]
        some_assumptions = printer.fitting([*heading, *assumptions], room)[len(heading) :]
        room -= printer.height(*heading, *some_assumptions) if some_assumptions else 0
        some_notes += printer.fitting(brief[1:], room)
    printer.lines(said)
    for title, rows in _printed(plan, *some_tables):
        printer.table(title, rows, _SPARE, verbose=verbose)
    if some_assumptions:
        printer.line("")
        printer.line(_ASSUMPTIONS, "bold")
    printer.lines([*some_assumptions, *some_notes])
    sizes, predicted, designs = (len(every) - len(some) for every, some in zip(tables, some_tables, strict=True))
    hidden = {
        "sentence": len(sentences) - len(said),
        "size": sizes + predicted,
        "design": designs,
        "assumption": len(assumptions) - len(some_assumptions),
    }
    printer.lines([*left_out(hidden, notes, some_notes, last), *last])


def _fitting_tables(plan: Plan, printer: Printer, lines: int, wanted: Sequence[Sequence[str]]) -> tuple[_Tables, int]:
    """Tables for so many lines, and how many lines are left: enough for the first of these texts that allow any."""

    def room(tables: _Tables) -> int:
        return lines - sum(printer.table_height(*table, _SPARE) for table in _printed(plan, *tables))

    *every, fewest = [(tables, room(tables)) for tables in _some(plan)]
    # Not every plan has so many sizes: they may have been asked for.
    of_relations = max(1, len(plan.cases))
    enough = [found for found in every if len(found[0][0]) >= _FEWEST_SIZES * of_relations]
    at, marked = _planned(plan), every[0][0][2]
    sizes, predicted = (_nearest(table, at, _FEWEST_SIZES) for table in (plan.sizes, plan.predicted))
    no_sizes, no_predicted, no_designs = sizes.iloc[:0], predicted.iloc[:0], marked.iloc[:0]
    beside, alone = (sizes, _nearest(predicted, at, 1), no_designs), (no_sizes, predicted, no_designs)
    # Without room for several tables there may be some for what designs cost, more sizes, or a size of each relation.
    costs = len(marked) > 0 and marked["cost"].notna().any()
    single = [(no_sizes, no_predicted, marked)] if costs else []
    single += [(_nearest(plan.sizes, at, n), no_predicted, no_designs) for n in range(_FEWEST_SIZES, 0, -1)]
    fewer = ([(tables, room(tables))] for tables in single)
    for some in (enough, [(beside, room(beside))] * (len(predicted) > 0), every, *fewer):
        for texts in wanted:
            for tables, left in some:
                if left >= printer.height(*texts):
                    if some is every and len(tables[1]) and room(alone) >= printer.height(*texts):
                        # The sentences have the planned size: predictions of three sizes say more than one of each.
                        tables = alone
                    return tables, room(tables)
    return fewest


def _some(plan: Plan) -> Iterator[_Tables]:
    """Sizes, predicted sizes and designs that a screen may have, ever fewer of them."""
    n_sizes, n_predicted = _ALONE if plan.predicted.empty else _WITH_PREDICTIONS
    at = _planned(plan)
    designs = plan.designs if plan.designs.empty else plan.designs[plan.designs["which"] != ""]
    if "samples" in designs and (designs["which"] == AS_PLANNED).all() and designs["cost"].isna().all():
        # The answer tells the planned number of samples.
        designs = designs.iloc[:0]
    # Relations share the room, but each one has its smaller and its larger size.
    several = plan.sizes["relation"].nunique() if len(plan.sizes) else 1
    for n in sorted({max(_FEWEST_SIZES, n_sizes // several), *range(1, n_sizes // several + 1)}, reverse=True):
        yield _nearest(plan.sizes, at, n), _nearest(plan.predicted, at, min(n, n_predicted)), designs
    # Many cases, in a narrow terminal.
    yield _nearest(plan.sizes, at, 1).head(1), plan.predicted.iloc[:0], designs.iloc[:0]


def _planned(plan: Plan) -> dict[str, float]:
    """Relation -> the planned number of items."""
    first = plan.answers.drop_duplicates("relation")
    return dict(zip(first["relation"], first["at_items"], strict=True))


def _printed(
    plan: Plan, sizes: pd.DataFrame, predicted: pd.DataFrame, designs: pd.DataFrame
) -> list[tuple[str, pd.DataFrame]]:
    """Titles and rows of those of these tables that have any."""
    covered = coverage_of(plan.cases)
    brackets = f"; brackets: {covered}" if covered else ""
    found = []
    if len(sizes):
        found.append(
            (f"Test sets of other sizes (power {plan.target.power:g}{brackets})", size_rows(plan, sizes).text())
        )
    if len(predicted):
        found.append((_PREDICTIONS, predicted_rows(plan, predicted).text()))
    if len(designs):
        found.append((SPLITS if "samples" in designs else DESIGNS, design_rows(plan, designs).text()))
    return found


def _nearest(table: pd.DataFrame, planned: Mapping[str, float], n: int) -> pd.DataFrame:
    """Rows of the sizes next to the planned one of each relation, n of each, in their order.

    Half of them are smaller and half are larger, as far as there are such sizes. Those planned for other relations are
    left out where they are about the same.
    """
    if len(table) == 0:
        return table
    kept: list[int] = []
    for relation, rows in table.groupby("relation", sort=False):
        # Predictions are for all pairs where the plan has relations, or the other way round.
        own = planned.get(str(relation), float(np.exp(np.log(list(planned.values())).mean())))
        far = np.log(rows["n_items"].to_numpy(dtype=np.float64) / own)
        nearest = int(np.argmin(np.abs(far)))
        alike = (far > np.log(_ALIKE[0])) & (far < np.log(_ALIKE[1]))
        others = np.flatnonzero(~alike)
        smaller, larger = others[others < nearest][::-1], others[others > nearest]
        few = min(len(smaller), max(n // 2, n - 1 - len(larger)), n - 1)
        kept += rows.index[[nearest, *smaller[:few], *larger[: n - 1 - few]]].tolist()
    found: pd.DataFrame = table.loc[sorted(kept)]
    return found


def size_rows(plan: Plan, sizes: pd.DataFrame | None = None) -> Table:
    """These sizes, or all, with what they detect."""
    sizes = plan.sizes if sizes is None else sizes
    ranged = any(case.range for case in plan.cases)
    columns: dict[str, str | Column] = {"relation": "{relation:name}"} if len(plan.cases) > 1 else {}
    if any(case.unit != "item" for case in plan.cases):
        columns["clusters"] = "{n_units:,}"
    columns[plan.cases[0].items] = "{n_items:,}"
    columns["minimum detectable gain"] = _ranged("minimum_detectable_gain", "gain", ranged)
    if "power" in plan.sizes:
        columns[f"power for a gain of {plan.target.gain:g}"] = _ranged("power", ".2f", ranged)
        columns["wrong winner"] = "{wrong_winner:.1%}"
        columns["type S error"] = "[{wrong_sign:.2%}]"
        columns["type M error"] = "[{exaggeration:.2f}]"
    for goal in ("not_worse", "equivalent"):
        if f"shown_{goal}" in plan.sizes:
            columns[f"{in_words(goal)} by {plan.target.margin:g}"] = f"{{shown_{goal}:.2f}}"
    return Table(sizes, columns)


def _ranged(name: str, form: str, ranged: bool) -> str:
    ends = f"[ ({{{name}_low:{form}}}–{{{name}_high:{form}}})]" if ranged else ""
    return f"[{{{name}:{form}}}]{ends}"


def design_rows(plan: Plan, designs: pd.DataFrame | None = None) -> Table:
    """These designs, or all, with what they detect and cost."""
    columns: dict[str, str | Column] = {"relation": "{relation:name}"} if len(plan.cases) > 1 else {}
    if "samples" in plan.designs:
        return Table(plan.designs if designs is None else designs, columns | _split_columns(plan))
    columns |= {"items a cluster": "{items_per_unit:.3g}", "": "{which}", "design effect": "{design_effect:.2f}"}
    if plan.designs["n_units"].notna().any():
        columns |= {"clusters for the gain": "[{n_units:,.0f}]", "items": "[{n_items:,.0f}]"}
    if plan.designs["cost"].notna().any():
        columns["cost"] = _costs(plan)
    columns |= {"or with clusters": "{at_units:,}", "minimum detectable gain": "[{minimum_detectable_gain:gain}]"}
    return Table(plan.designs if designs is None else designs, columns)


def _costs(plan: Plan) -> str:
    """The column of costs: whole numbers, unless all are small."""
    return "[{cost:,.0f}]" if plan.designs["cost"].max() >= 1000 else "[{cost:.4g}]"


def _split_columns(plan: Plan) -> dict[str, str | Column]:
    """Columns of plans with other numbers of samples of each question."""
    clusters = plan.cases[0].unit != "item"
    columns: dict[str, str | Column] = {"samples of a question": "{samples:,}", "": "{which}"}
    if plan.designs["n_units"].notna().any():
        columns |= {"clusters for the gain": "[{n_units:,.0f}]"} if clusters else {}
        columns |= {"questions" if clusters else "questions for the gain": "[{n_items:,.0f}]"}
    columns["samples of both"] = "{n_samples:,.0f}"
    if plan.designs["cost"].notna().any():
        columns["cost"] = _costs(plan)
    columns["or with clusters" if clusters else "or with questions"] = "{at_units:,}"
    return columns | {"minimum detectable gain": "[{minimum_detectable_gain:gain}]"}


def predicted_rows(plan: Plan, predicted: pd.DataFrame | None = None) -> Table:
    """What test sets of these sizes, or of all, will show of these systems."""
    columns: dict[str, str | Column] = (
        {"relation": "{relation:name}"} if plan.predicted["relation"].nunique() > 1 else {}
    )
    if any(case.unit != "item" for case in plan.cases):
        columns["clusters"] = "{n_units:,}"
    columns[plan.cases[0].items] = "{n_items:,}"
    neighbours = int(plan.predicted["n_systems"].max()) - 1
    for heading, name, form in (
        ("significant pairs (uncorrected)", "share_significant", ".0%"),
        ("wrong winners", "wrong_winner", ".1%"),
        (f"significant of {neighbours} neighbours (uncorrected)", "separated", ".0f"),
        ("after Holm for neighbours", "separated_corrected", ".0f"),
        (_GROUPS, "ranks", ".0f"),
    ):
        if name in plan.predicted:
            columns[heading] = f"[{{{name}:{form}}}][ ({{{name}_low80:{form}}}–{{{name}_high80:{form}}})]"
    return Table(plan.predicted if predicted is None else predicted, columns)
