"""Sections as data: templates of columns, and tables that are spread over the values of a column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simstudy import plot
from simstudy.pages import report
from simstudy.pages.sections import Column, Figure, Section, Table

ROWS = pd.DataFrame(
    {
        "system": ["a\x1b", "b" * 90],
        "metric": ["f1", "mean (lower is better)"],
        "n": [1234, 5],
        "p": [0.03, 1e-9],
        "exact": [True, False],
        "low": [0.125, np.nan],
        "first": pd.array([3, None], dtype="Int64"),
    }
)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{n:,}", ["1,234", "5"]),
        ("{n}", ["1234", "5"]),
        ("{p:p}", ["0.0300", "< 0.000001"]),
        ("{exact:yes}", ["yes", ""]),
        ("{low:.2f}", ["0.12", ""]),
        ("{first}–{n}", ["3–1234", ""]),
        ("{n}[ from {first}][ to {low:.0%}]", ["1234 from 3 to 12%", "5"]),
        ("[{first}]", ["3", ""]),
        ("{n} of {n}", ["1234 of 1234", "5 of 5"]),
        ("{low:gain}", ["0.125", ""]),
    ],
)
def test_a_template_is_filled_row_by_row(template: str, expected: list[str]) -> None:
    assert Column(template).texts(ROWS) == expected


def test_names_are_shown_as_names() -> None:
    first, second = Column("{system:name}").texts(ROWS)
    assert first == "a⟨U+001B⟩"
    assert second == "b" * 90
    assert Column("{metric:metric}").texts(ROWS)[0] == "F1"
    assert Column("{name:words}").texts(pd.DataFrame({"name": ["log_likelihood"]})) == ["log likelihood"]


def test_what_is_missing_is_said() -> None:
    assert Column("{low:.1f}", missing="none of {n}").texts(ROWS) == ["0.1", "none of 5"]


def test_a_table_is_spread_in_the_order_of_its_rows() -> None:
    rows = pd.DataFrame({"home": ["z", "z", "a"], "bin": ["0.5", "0.1", "0.1"], "share": [0.5, None, 0.25]})
    table = Table(rows, {"home": "{home}"}, across="bin", cell=Column("{share:.0%}", missing="too few")).text()
    assert table.columns.tolist() == ["home", "0.5", "0.1"]
    assert table.to_numpy().tolist() == [["z", "50%", "too few"], ["a", "", "25%"]]


def test_a_table_without_rows_has_its_columns() -> None:
    assert Table(ROWS.head(0), {"system": "{system}"}).text().columns.tolist() == ["system"]


def test_a_section_is_drawn_where_its_page_says() -> None:
    figure = Figure("points", lambda: plot.panels(["two points"])[0])
    section = Section("A heading", "A caption.", figure=figure, table=Table(ROWS, {"n": "{n:,}"}))
    shown = report.Page(title="T", question="Q?", command="c", facts={}, sections=[section], tables={}, closing="End.")
    page = report.page_text(shown)
    assert "## A heading\n\n![A heading](figures/points.png)\n\nA caption.\n\n| n |\n| --- |\n| 1,234 |\n| 5 |" in page
