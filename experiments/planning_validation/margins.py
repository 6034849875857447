"""Plans with a margin, and what the engines' intervals show of equal systems on test sets of the planned size."""

from __future__ import annotations

from typing import Any

import numpy as np

import simstudy as ss
from simstudy.studies import DrawnPairs, clopper_pearson, derived_seed

from .settings import Margin

#: What is shown, in the order of `DrawnPairs.shown_within`.
GOALS = ("not worse", "equivalent")

# Numbers that are drawn at a time.
_AT_ONCE = 4_000_000


def shown(name: str, margin: Margin, goal: str, sets: int, seed: int) -> dict[str, Any]:
    """The planned size of one goal, its planned power, and the share of drawn test sets that show it."""
    model = margin.pair
    unit = model.units[0]

    def drawn(n_sets: int, n_units: int, *key: object) -> Any:
        rng = np.random.default_rng(derived_seed(seed, "margins", name, *key))
        return model.draw(n_sets, n_units, rng).by(unit)

    population = ss.Outputs.from_statistics(
        drawn(1, margin.population, "population")[0], model.metric.name, ["new", "old"]
    )
    plan = ss.plan(ss.Pilot(population, n_sets=0), margin=margin.margin, sizes=[])
    row: Any = plan.answers.set_index("goal").loc[goal]
    n_units = int(row["n_units"])
    at_once, count = max(1, _AT_ONCE // n_units), 0
    for batch, start in enumerate(range(0, sets, at_once)):
        statistics = drawn(min(at_once, sets - start), n_units, goal, batch)
        count += int(DrawnPairs(statistics, model.metric.name).shown_within(margin.margin)[GOALS.index(goal)].sum())
    low, high = clopper_pearson(count, sets)
    return {
        "metric": model.metric.name, "unit": unit, "margin": margin.margin, "goal": goal, "n_units": n_units,
        "planned_power": float(row["power"]), "power": count / sets, "low": float(low), "high": float(high),
        "n_sets": sets,
    }  # fmt: skip
