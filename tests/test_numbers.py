"""Every number of README, docs/ and the results of a study's README stands in a shipped table, or docs/numbers.csv says
where else it is from. Columns headed "the paper" are of the paper.

A row of numbers.csv is for one line of a page: how the line begins ("*": every line of the page), its numbers in
order, the table, the rows of the table (a pandas query), and a column for each number, or what is computed of columns.
"share%" is the share in percent, "share:min" the least of several rows (or max, sum, count … or a percentile),
"share@bootstrap" that of a test. A table that is a page of results (README.md) is quoted: rows is what it says, word
for word. A row without a table says why there is none.
"""

from __future__ import annotations

import re
from functools import cache

import pandas as pd
import pytest

from simstudy.running.program_files import shipped_studies
from tests.documentation import DOCS, ROOT, sections

# Numbers that say what is asked, not what was found.
SETTINGS = re.compile(
    r"95 % (?:confidence|intervals?)\b|95 % Monte|\bp (?:near|at or below|at|=|<=?|>=) 0\.\d+|\b[Pp]ower (?:of )?0\.\d+"
    r"|\blevel 0\.\d+|\b(?:19|20)\d\d\b(?! [a-z])|\bx 2 gain|\b2\^\w+|\b10\^-?\d+|\b100 %"
    r"|^\d+\. |\btable \d|[Ff]igures? \d(?: and \d)?|[Ss]ections? \d[\d.]*"
)
READMES = [f"experiments/{name}/README.md" for name in shipped_studies()]
INDEX = pd.read_csv(ROOT / "docs" / "numbers.csv", dtype=str, keep_default_na=False)


def numbers(line: str) -> list[str]:
    """The numbers of a line, without code, addresses, settings and those that belong to a word."""
    line = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", line)
    return [found.rstrip(".,") for found in re.findall(r"(?<![\w.^/\-−])\d[\d.,]*(?![\w-])", SETTINGS.sub(" ", line))]


def without_the_paper(text: str) -> str:
    """The tables of a text without what stands in columns headed "the paper"."""
    lines, papers = [], set[int]()
    for line in text.splitlines():
        cells = line.split("|") if line.startswith("|") else []
        papers = (
            (papers or {i for i, cell in enumerate(cells) if cell.strip().startswith("the paper")}) if cells else set()
        )
        lines.append("|".join("" if i in papers else cell for i, cell in enumerate(cells)) or line)
    return "\n".join(lines)


@cache
def lines(page: str) -> list[str]:
    """The lines of a page that have numbers; of a study's README, those of its results."""
    said = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    if page in READMES:
        said = without_the_paper(sections(said)["Results"])
    return [line.strip() for line in said.splitlines() if not line.startswith(("#", ">")) and numbers(line)]


@cache
def text(name: str) -> str:
    return " ".join((ROOT / "results" / name).read_text("utf-8").split())


@cache
def table(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "results" / name)


@cache
def found_rows(name: str, asked: str) -> pd.DataFrame:
    return table(name).query(asked, engine="python") if asked else table(name)


def value(row: pd.Series, column: str) -> float:
    """The value of a column, as `column`, `column%`, `column:how`, `column%:how` or `column@test`."""
    column, _, how = column.partition(":")
    name, _, test = column.partition("@")
    rows = found_rows(row["table"], row["rows"])
    rows = rows[rows["test"] == test] if test else rows
    assert len(rows) > 0, (row["line"], "no such row")
    asked = name.removesuffix("%")
    values = rows[asked] if asked in rows else rows.eval(asked)
    assert how or len(values) == 1, (row["line"], column, values.tolist())
    found = values.quantile(int(how) / 100) if how.isdecimal() else values.agg(how) if how else values.iloc[0]
    return float(found) * (100 if name.endswith("%") else 1)


@pytest.mark.parametrize("page", [*(str(page.relative_to(ROOT)) for page in DOCS), *READMES])
def test_the_index_has_every_number(page: str) -> None:
    of_page = INDEX[INDEX["page"] == page]
    for line in () if (of_page["line"] == "*").any() else lines(page):
        indexed = of_page.loc[of_page["line"].map(line.startswith), "numbers"]
        assert sorted(" ".join(indexed).split()) == sorted(numbers(line)), f"numbers.csv and {page} differ: {line}"


@pytest.mark.parametrize("page", INDEX["page"].unique())
def test_the_tables_have_the_numbers(page: str) -> None:
    for _, row in INDEX[INDEX["page"] == page].iterrows():
        assert row["line"] == "*" or any(line.startswith(row["line"]) for line in lines(page)), row["line"]
        assert row["rows"] or row["table"], f"no table, and nothing says why: {row['line']}"
        if row["table"].endswith(".md"):
            assert row["rows"] in text(row["table"]), f"{row['table']} does not say: {row['rows']}"
            assert set(row["numbers"].split()) <= set(numbers(row["rows"])), row["line"]
            continue
        for number, column in zip(row["numbers"].split() if row["table"] else (), row["columns"].split(), strict=True):
            rounding = 0.5001 * 10.0 ** -len(number.partition(".")[2])
            assert abs(value(row, column) - float(number.replace(",", ""))) <= rounding, (
                f"{row['table']} has {value(row, column)} where {page} has {number}: {row['line']}"
            )
