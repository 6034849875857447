"""Every number of README and docs/ stands in a shipped table, or docs/numbers.csv says where else it is from.

A row of numbers.csv is for one line of a page: how the line begins ("*": every line of the page), its numbers in
order, the table, the rows of the table (a pandas query), and a column for each number, or what is computed of columns.
"share%" is the share in percent, "share:min" the least of several rows (or max, sum, count … or a percentile),
"share@bootstrap" that of a test. A row without a table says why there is none.
"""

from __future__ import annotations

import re
from functools import cache

import pandas as pd
import pytest

from tests.pages import DOCS, ROOT

# Numbers that say what is asked, not what was found.
SETTINGS = re.compile(
    r"95 % (?:confidence|intervals?)\b|95 % Monte|\bp (?:near|at or below|at|=|<=?|>=) 0\.\d+|\b[Pp]ower (?:of )?0\.\d+"
    r"|\blevel 0\.\d+|\b(?:19|20)\d\d\b(?! [a-z])|\bx 2 gain|\b2\^\w+|\b10\^-?\d+|\b100 %|Figures? \d|sections? \d[\d.]*|figure \d"
)
INDEX = pd.read_csv(ROOT / "docs" / "numbers.csv", dtype=str, keep_default_na=False)


def numbers(line: str) -> list[str]:
    """The numbers of a line, without code, addresses, settings and those that belong to a word."""
    line = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", line)
    return [found.rstrip(".,") for found in re.findall(r"(?<![\w.^/\-−])\d[\d.,]*(?![\w-])", SETTINGS.sub(" ", line))]


def lines() -> list[tuple[str, str]]:
    """The lines of all pages that have numbers."""
    found = []
    for page in DOCS:
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        name = str(page.relative_to(ROOT))
        found += [(name, line.strip()) for line in text.splitlines() if not line.startswith("#") and numbers(line)]
    return found


@cache
def table(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / name)


def value(row: pd.Series, column: str) -> float:
    """The value of a column, as `column`, `column%`, `column:how`, `column%:how` or `column@test`."""
    column, _, how = column.partition(":")
    name, _, test = column.partition("@")
    rows = table(row["table"])
    rows = rows.query(row["rows"], engine="python") if row["rows"] else rows
    rows = rows[rows["test"] == test] if test else rows
    assert len(rows) > 0, (row["line"], "no such row")
    values = rows.eval(name.removesuffix("%"))
    assert how or len(values) == 1, (row["line"], column, values.tolist())
    found = values.quantile(int(how) / 100) if how.isdecimal() else values.agg(how) if how else values.iloc[0]
    return float(found) * (100 if name.endswith("%") else 1)


@pytest.mark.parametrize(("page", "line"), lines(), ids=lambda text: text[:60])
def test_the_index_has_the_line(page: str, line: str) -> None:
    rows = INDEX[(INDEX["page"] == page) & INDEX["line"].map(lambda start: start == "*" or line.startswith(start))]
    assert len(rows) > 0, f"numbers.csv has no row for {page}: {line}"
    if (rows["line"] == "*").any():
        return
    assert sorted(number for row in rows["numbers"] for number in row.split()) == sorted(numbers(line)), line


@pytest.mark.parametrize("place", INDEX.index, ids=lambda place: f"{INDEX['page'][place]}: {INDEX['line'][place][:40]}")
def test_the_table_has_the_numbers(place: int) -> None:
    row = INDEX.loc[place]
    assert row["line"] == "*" or any(page == row["page"] and line.startswith(row["line"]) for page, line in lines())
    assert bool(row["table"]) == bool(row["columns"])
    assert row["table"] or row["rows"], "no table, and nothing says why"
    if not row["table"]:
        return
    shown, columns = row["numbers"].split(), row["columns"].split()
    assert len(shown) == len(columns)
    for number, column in zip(shown, columns, strict=True):
        digits = len(number.partition(".")[2])
        assert value(row, column) == pytest.approx(float(number.replace(",", "")), rel=0, abs=0.5001 * 10**-digits), (
            f"{row['table']} says {value(row, column)} where {row['page']} says {number}: {row['line']}"
        )
