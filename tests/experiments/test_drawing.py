"""Figures that one study has, and no other: they show what their tables say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from simstudy import plot
from tests.experiments.programs import program

MULTIPLE, TOOLS = (program(name, "drawing") for name in ("multiple_systems", "tools_bench"))


@pytest.fixture
def panel() -> Iterator[Any]:
    figure, (ax,) = plot.panels(["mine"])
    yield ax
    plt.close(figure)


def lines(ax: Any) -> dict[str, tuple[list[float], list[float]]]:
    """What each errorbar is called and where its points lie."""
    return {
        str(bars.get_label()): tuple(np.asarray(side, float).tolist() for side in bars[0].get_data())
        for bars in ax.containers
    }


def test_rates_by_number_are_lines_and_what_algebra_expects_is_dashed(panel: Any) -> None:
    table = pd.DataFrame(
        {"title": ["Holm", "Holm", "none"], "n_systems": [10, 2, 2], "alpha": 0.05, "share": [0.04, 0.05, 0.3],
         "low": 0.01, "high": 0.6, "expected": [0.045, 0.055, np.nan]}
    )  # fmt: skip
    ax = plot.styled(MULTIPLE.rates_by_number)(table, most=0.5, ax=panel)
    drawn = lines(ax)
    assert drawn["Holm"][0] == [2, 10]
    assert list(drawn["Holm"][1]) == [0.05, 0.04]
    assert list(drawn["none"][1]) == [0.3]
    dashed = [line for line in ax.get_lines() if line.get_linestyle() == "--"]
    assert [0.055, 0.045] in [list(line.get_ydata()) for line in dashed]
    assert ax.get_ylim() == (0, 0.5)
    assert [tick for tick in ax.get_xticks() if 1 <= tick <= 10] == [2, 10]
    for wrong, message in (
        (pd.concat([table, table]), "each title once for a number in n_systems"),
        (table.head(0), "table must have at least one row"),
        (table.assign(n_systems=0, title=list("abc")), "numbers of at least 1 in n_systems, not 0"),
    ):
        with pytest.raises(ValueError, match=message):
            MULTIPLE.rates_by_number(wrong, ax=panel)


def test_rates_by_test_have_a_row_for_each_test_and_a_dot_for_each_condition(panel: Any) -> None:
    table = pd.DataFrame(
        {"label": ["t", "t", "sign"], "title": ["F1", "BLEU", "F1"], "alpha": 0.05, "share": [0.04, 0.06, 0.4],
         "low": [0.03, 0.05, 0.3], "high": [0.05, 0.07, 0.5]}
    )  # fmt: skip
    ax = plot.styled(TOOLS.rates_by_test)(table, most=0.2, ax=panel)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["t", "sign"]
    (shares, at), (other, above) = lines(ax)["F1"], lines(ax)["BLEU"]
    assert shares == [0.04, 0.2], "what is beyond the axis is drawn at its end"
    assert other == [0.06]
    assert [round(y) for y in at] == [0, 1]
    assert at[0] < above[0]
    assert ax.get_xlabel() == "share of rejections at 0.05"
    with pytest.raises(ValueError, match="each test once for a condition"):
        TOOLS.rates_by_test(pd.concat([table, table]), most=0.2, ax=panel)
    with pytest.raises(ValueError, match="table must have at least one row"):
        TOOLS.rates_by_test(table.head(0), most=0.2, ax=panel)
