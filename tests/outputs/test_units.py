"""Units come in one order, whatever order files have them in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs
from simstudy.outputs.units import in_units, strata_of

ITEMS = pd.DataFrame({"id": ["10", "9", "b", "1"], "cluster": ["d10", "d9", "d10", "d1"], "user": ["v", "u", "u", "u"]})
OUTPUTS = Outputs.from_statistics([[[1, 1], [2, 3], [0, 1], [4, 4]]] * 2, "mean", ["x", "y"], ITEMS)


@pytest.mark.parametrize(
    ("unit", "ids", "sums"),
    [
        ("item", ["1", "9", "b", "10"], [4, 2, 0, 1]), (None, ["d1", "d9", "d10"], [4, 2, 1]),
        ("cluster", ["d1", "d9", "d10"], [4, 2, 1]), ("user", ["u", "v"], [6, 1]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 0, 2, 1]])
def test_shorter_names_come_first(unit: str | None, ids: list[str], sums: list[int], order: list[int]) -> None:
    found = in_units(OUTPUTS.take(order), unit)
    assert found.items["id"].tolist() == ids
    assert found.statistics[1, :, 0].tolist() == sums


def test_units_that_are_in_order_stay() -> None:
    ordered = in_units(OUTPUTS, "item")
    assert in_units(ordered, "item") is ordered
    with pytest.raises(ValueError, match="unit must be the name of a column of the items, or None, not 3"):
        in_units(OUTPUTS, 3)  # type: ignore[arg-type]


def test_units_of_a_stratum_stand_together_in_their_order() -> None:
    order, bounds, names = strata_of(OUTPUTS, "cluster")
    assert (names, bounds.tolist(), order.tolist()) == (["d1", "d9", "d10"], [0, 1, 2, 4], [3, 1, 0, 2])
    assert [part.tolist() for part in strata_of(OUTPUTS, "user")[:2]] == [[1, 2, 3, 0], [0, 3, 4]]
    order, bounds, names = strata_of(OUTPUTS, None)
    assert (order.tolist(), bounds.tolist(), names) == ([0, 1, 2, 3], [0, 4], [""])
    assert np.array_equal(OUTPUTS.take(order).statistics, OUTPUTS.statistics)
