"""Whether more clusters or longer ones are the better buy, and what they cost."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.planning.cases import Case
from simstudy.planning.costs import Costs
from simstudy.planning.designs import TIMES, Design, best_size
from simstudy.planning.differences import Difference, NormalDifference
from simstudy.planning.mixed import ClusteredDifference
from simstudy.planning.solving import detectable_gain, least_size
from simstudy.planning.target import Target

#: How many items a cluster has, by the columns of a table of designs.
AS_ASKED, BEST = "as asked", "best for the money"


def other_designs(case: Case, target: Target, costs: Costs, at_units: int) -> pd.DataFrame:
    """Plans with fewer or more items a cluster, and their costs.

    Without costs there are no rows where units are items, or where it is not known how alike a unit's items are; with
    costs, items alone have one row.

    Sizes are left out at which items cannot be as unlike as they are (a correlation below 0), and those of which the
    budget does not buy two units.

    Returns
    -------
    designs
        items_per_unit, which ("as asked", "best for the money" or ""), design_effect; n_units and n_items that find the
        gain with the power, and what they cost (NaN where no gain was asked for, or ten million units are too few);
        at_units (those that the budget buys, or as many as the plan has), detectable_gain, which these find, and the
        case's relation.
    """
    known = case.design is not None and np.isfinite(case.item_sd)
    if not known and (costs.item is None or case.unit != "item"):
        return pd.DataFrame().assign(relation=case.relation)
    design = case.design or Design(1.0, 0.0)
    sizes: dict[float, str] = {float(design.size): AS_ASKED}
    for times in TIMES if known else ():
        if times != 1:
            sizes.setdefault(float(max(1, round(design.size * times))), "")
    if costs.item and design.icc > 0:
        best = float(best_size(design.icc, costs.cluster, costs.item, design.cv))
        sizes[best] = f"{AS_ASKED}, {BEST}" if sizes.get(best) == AS_ASKED else BEST
    rows = []
    for size, which in sorted(sizes.items()):
        like = design.of_size(size)
        if like is None or (costs.budget is not None and size != design.size and not costs.buys_two(size)):
            continue
        # Units as asked are what the case says they are; others follow by the design effect.
        unit = case.middle if size == design.size else _resized(case, like)
        units = None
        if target.gain is not None and target.gain > 0:
            gain = target.gain
            units = least_size(lambda n, unit=unit, gain=gain: unit.power(gain, n, target.level), target.power)  # type: ignore[misc]
        n_units = np.nan if units is None else units
        at = at_units if costs.budget is None else costs.affordable(size)
        found = detectable_gain(unit, at, power=target.power, level=target.level)
        rows.append(
            {
                "items_per_unit": size, "which": which, "design_effect": like.effect, "n_units": n_units,
                "n_items": np.ceil(n_units * size - 1e-9), "cost": (at if units is None else units) * costs.of(size),
                "at_units": at, "detectable_gain": found,
            }
        )  # fmt: skip
    return pd.DataFrame(rows).assign(relation=case.relation)


def _resized(case: Case, design: Design) -> Difference:
    """How two systems differ on units of another size."""
    if isinstance(case.middle, ClusteredDifference):
        item = case.middle.item
    else:
        item = case.middle if case.unit == "item" else NormalDifference(case.item_sd, case.middle.largest)
    return item if design.size == 1 else ClusteredDifference(item, design)
