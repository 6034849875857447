"""Plans of other designs beside the one that was asked for: other numbers of items a cluster, or of samples an item."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simstudy.planning.arguments import Design
from simstudy.planning.cases import Case, Target
from simstudy.planning.differences import ClusteredDifference, Difference, NormalDifference
from simstudy.planning.sampling import Components
from simstudy.planning.settings import Costs
from simstudy.planning.solving import least_size, minimum_detectable_gain
from simstudy.planning.spreads import widened

#: How the design that was asked for and the best one are called in the column ``which``.
AS_PLANNED, BEST = "as planned", "best for the money"

# A design that is looked at beside the one that was asked for: so many times as many items a cluster.
_TIMES = (0.25, 0.5, 2.0, 4.0)

# Numbers of samples that are looked at beside the one that was asked for and the best one for the money.
_NUMBERS = (1, 2, 3, 5, 10, 20)


def designs_of(case: Case, target: Target, costs: Costs, at_units: int) -> pd.DataFrame:
    """`Plan.designs` of a case: plans with other numbers of samples of an item where it has several, else of items.

    Designs are left out of which the budget does not buy two units. `at_units` are those that the budget buys, or as
    many as the plan has.
    """
    if case.components is not None:
        table = _of_samples(case, case.components, target, costs, at_units)
    else:
        table = _of_sizes(case, target, costs, at_units)
    return table.assign(relation=case.relation)


def _of_sizes(case: Case, target: Target, costs: Costs, at_units: int) -> pd.DataFrame:
    """Plans with fewer or more items a cluster.

    Without costs there are none where units are items, or where it is not known how alike a unit's items are; with
    costs, items alone have one. Sizes are left out at which items cannot be as unlike as they are.
    """
    known = case.design is not None and np.isfinite(case.item_sd)
    if not known and (costs.item is None or case.unit != "item"):
        return pd.DataFrame()
    design = case.design or Design(1.0, 0.0)
    sizes = {float(design.size), *(float(max(1, round(design.size * times))) for times in _TIMES if known)}
    best = np.nan
    if costs.item and design.icc > 0:
        best = float(best_size(design.icc, costs.cluster, costs.item, design.cv))
        sizes.add(best)
    rows = []
    for size in sorted(sizes):
        if (like := design.of_size(size)) is None:
            continue
        # Units as asked are what the case says they are; others follow by the design effect.
        unit = case.middle if size == design.size else _resized(case, like)
        if row := _row(unit, size, target, costs, at_units):
            rows.append({"items_per_unit": size, "which": "", "design_effect": like.effect} | row)
    table = pd.DataFrame(rows)
    return _called(table, "items_per_unit", design.size, best, costs)


def _of_samples(case: Case, known: Components, target: Target, costs: Costs, at_units: int) -> pd.DataFrame:
    """Plans with other numbers of samples of each question: how many questions they need, and what both cost."""
    samples, size, most = case.samples, known.questions, known.most_samples
    best = 0 if costs.item is None else known.best_samples(costs.item + costs.cluster / size, costs.sample)
    # Units are whole, and few of them have a t distribution with long tails: the best number may be near that.
    near = [k for k in range(best - 3, best + 4) if best and 1 <= k <= most]
    rows = []
    for k in sorted({*(k for k in _NUMBERS if k <= most), samples, *near}):
        unit = widened(case.middle, known.factor(k) / known.factor(samples))
        if row := _row(unit, size, target, costs.with_samples(k), at_units):
            rows.append({"samples": k, "which": "", "items_per_unit": size} | row)
    table = pd.DataFrame(rows)
    items = np.ceil(table["n_units"].fillna(table["at_units"]) * size - 1e-9)
    table.insert(list(table).index("cost"), "n_samples", 2 * table["samples"] * items)
    nearest = min(table["samples"], key=lambda k: abs(k - best)) if best else np.nan
    table = _called(table, "samples", samples, nearest, costs)
    shown = table["samples"].isin((*_NUMBERS, samples)) | (table["which"] != "")
    return table[shown].reset_index(drop=True)


def _row(unit: Difference, size: float, target: Target, costs: Costs, at_units: int) -> dict[str, Any] | None:
    """What a design with units of so many items needs for the gain, costs and detects; None: the budget buys no two."""
    if costs.budget is not None and not costs.buys_two(size):
        return None
    gain, units = target.gain, None
    if gain is not None and gain > 0:
        units = least_size(lambda n: unit.power(gain, n, target.level), target.power)
    n_units = np.nan if units is None else units
    at = at_units if costs.budget is None else costs.affordable(size)
    return {
        "n_units": n_units, "n_items": np.ceil(n_units * size - 1e-9),
        "cost": (at if units is None else units) * costs.of(size), "at_units": at,
        "minimum_detectable_gain": minimum_detectable_gain(unit, at, power=target.power, level=target.level),
    }  # fmt: skip


def _called(table: pd.DataFrame, column: str, asked: float, best: float, costs: Costs) -> pd.DataFrame:
    """The table with the design that was asked for and the best one called so in the column ``which``.

    If one has what a formula says is best, that one is called so that has the least cost for the gain, or the least
    gain for the budget; of plans that have neither it is the one of the formula.
    """
    row = None
    if (of_formula := table[column] == best).any():
        row = int(np.argmax(of_formula))
        if table["n_units"].notna().any():
            row = int(np.nanargmin(table["cost"]))
        elif costs.budget is not None and table["minimum_detectable_gain"].notna().any():
            row = int(np.nanargmin(table["minimum_detectable_gain"]))
    names = ([AS_PLANNED] * own + [BEST] * (i == row) for i, own in enumerate(table[column] == asked))
    return table.assign(which=[", ".join(own) for own in names])


def _resized(case: Case, design: Design) -> Difference:
    """How two systems differ on units of another size."""
    if isinstance(case.middle, ClusteredDifference):
        item = case.middle.item
    else:
        item = case.middle if case.unit == "item" else NormalDifference(case.item_sd, case.middle.largest)
    return item if design.size == 1 else ClusteredDifference(item, design)


def best_size(icc: float, cost_unit: float, cost_item: float, cv: float = 0.0) -> int:
    """How many items of a unit make the least variance for the money (Cochran 1977, section 10.6); icc is above 0."""
    exact = np.sqrt(cost_unit / cost_item * (1 - icc) / (icc * (1 + cv**2)))

    def cost_of_precision(size: int) -> float:
        return (cost_unit + size * cost_item) * Design(size, icc, cv if size > 1 else 0.0).effect / size

    return min({max(1, int(exact)), max(1, int(exact) + 1)}, key=cost_of_precision)
