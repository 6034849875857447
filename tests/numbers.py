"""Numbers of README, docs/ and the results of the studies' READMEs, written from the tables of results/.

``python -m tests.numbers`` prints each number that differs from its table, ``python -m tests.numbers --write`` writes
the numbers of today's tables to the pages and to docs/numbers.csv. Both name the rows of numbers.csv that somebody has
to look at.

A row of numbers.csv is for one line of a page: how the line begins ("*": every line of the page), some of its numbers,
the table, the rows of the table (a pandas query), and a column for each number, or what is computed of columns.
"share%" is the share in percent, "share:min" the least of several rows (or max, sum, count … or a percentile),
"share@bootstrap" that of a test. A table that is a page of results (README.md) is quoted: rows is its text, word for
word. A row without a table says why there is none. The rows of a line have its numbers in the order of the line.
Columns headed "the paper" are of the paper.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pandas as pd

from simstudy.running.program_files import shipped_studies
from tests.documentation import DOCS, ROOT

# Numbers that say what is asked, not what was found.
SETTINGS = re.compile(
    r"95 % (?:confidence|intervals?)\b|95 % Monte|\bp (?:near|at or below|at|=|<=?|>=) 0\.\d+|\b[Pp]ower (?:of )?0\.\d+"
    r"|\blevel 0\.\d+|\b(?:19|20)\d\d\b(?! [a-z])|\bx 2 gain|\b2\^\w+|\b10\^-?\d+"
    r"|^\s*\d+\. |\btable \d|[Ff]igures? \d(?: and \d)?|[Ss]ections? \d[\d.]*"
)
READMES = [f"experiments/{name}/README.md" for name in shipped_studies()]
PAGES = [*(str(page.relative_to(ROOT)) for page in DOCS), *READMES]
INDEX = ROOT / "docs" / "numbers.csv"
_read_csv = cache(pd.read_csv)
_QUOTED_NUMBER = r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)"


class Rewritten(NamedTuple):
    """A page and its rows of numbers.csv with the numbers of the tables."""

    text: str
    rows: pd.DataFrame
    #: What changed, and the rows that somebody has to look at, as lines of text.
    stale: list[str]
    by_hand: list[str]


def read_index() -> pd.DataFrame:
    """The table docs/numbers.csv."""
    return pd.read_csv(INDEX, dtype=str, keep_default_na=False)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _spans(line: str) -> list[re.Match[str]]:
    """The numbers of a line, without code, addresses, settings and those that belong to a word."""
    line = SETTINGS.sub(_blank, re.sub(r"`[^`]*`|\]\([^)]*\)", _blank, line))
    return list(re.finditer(r"(?<![\w.^/\-−])\d(?:[\d.,]*\d)?(?![\w-])", line))


def numbers(line: str) -> list[str]:
    """The numbers of a line as they are written."""
    return [span[0] for span in _spans(line)]


def _without_the_paper(lines: list[str]) -> Iterator[str]:
    """Lines of tables with blanks in the columns headed "the paper"."""
    papers = set[int]()
    for line in lines:
        cells = line.split("|") if line.startswith("|") else []
        headed = {i for i, cell in enumerate(cells) if cell.strip().startswith("the paper")}
        papers = papers or headed if cells else set()
        yield "|".join(" " * len(cell) if i in papers else cell for i, cell in enumerate(cells)) or line


def _numbered_lines(page: str, text: str) -> Iterator[tuple[int, str]]:
    """Place and text of each line that has numbers, with blanks in place of code and of the paper's columns.

    The lines of a study's README are those of its results.
    """
    text = re.sub(r"^```.*?^```$", _blank, text, flags=re.DOTALL | re.MULTILINE)
    if page in READMES:
        text = re.sub(r"\A.*?^## Results$|^## .*", _blank, text, flags=re.DOTALL | re.MULTILINE)
    lines = text.split("\n")
    for k, line in enumerate(_without_the_paper(lines) if page in READMES else lines):
        if not line.startswith(("#", ">")) and numbers(line):
            yield k, line


@cache
def _selected(name: str, query: str) -> pd.DataFrame:
    """The rows of a table that a query selects; the values that it names have to be there."""
    table = _read_csv(ROOT / "results" / name)
    if not query:
        return table
    for node in ast.walk(ast.parse(query, mode="eval")):
        match node:
            case ast.Compare(ast.Name(column), [ast.Eq()], [ast.Constant(value)]):
                named = {value}
            case ast.Compare(ast.Name(column), [ast.In()], [values]):
                named = set(ast.literal_eval(values))
            case _:
                continue
        if missing := named - set(table[column].unique()):
            raise ValueError(f"{name} has no {column} {', '.join(map(repr, missing))}")
    return table.query(query, engine="python")


def _value(row: pd.Series, column: str) -> float:
    """The value of a column, as `column`, `column%`, `column:how`, `column%:how` or `column@test`."""
    column, _, how = column.partition(":")
    name, _, test = column.partition("@")
    rows = _selected(row["table"], row["rows"])
    rows = rows[rows["test"] == test] if test else rows
    if not len(rows) or not (how or len(rows) == 1):
        raise ValueError(f"{len(rows)} rows of {row['table']} are selected")
    expression = name.removesuffix("%")
    values = rows[expression] if expression in rows else rows.eval(expression)
    result = values.quantile(int(how) / 100) if how.isdecimal() else values.agg(how) if how else values.iloc[0]
    return float(result) * (100 if name.endswith("%") else 1)


def _rounded(value: float, number: str) -> str:
    """A value as it is written in place of a number, which stays if it is the value rounded."""
    decimals = len(number.partition(".")[2])
    if abs(value - float(number.replace(",", ""))) <= 0.5001 * 10.0**-decimals:
        return number
    text = f"{value:z,.{decimals}f}"
    if not text[0].isdigit():
        raise ValueError(f"{text} in place of {number}")
    return text


def _requoted(row: pd.Series) -> tuple[list[str], str]:
    """The numbers of a quotation, and the quotation: the only text of today's page that differs in numbers alone."""
    quotation = row["rows"]
    text = " ".join((ROOT / "results" / row["table"]).read_text("utf-8").split())
    pattern = _QUOTED_NUMBER.join(re.escape(part) for part in re.split(_QUOTED_NUMBER, quotation))
    texts = {quotation} if quotation in text else set(re.findall(pattern, text))
    if len(texts) != 1:
        raise ValueError(f"{row['table']} has {len(texts)} texts like: {quotation}")
    pairs = set(zip(numbers(quotation), numbers(now := texts.pop()), strict=True))
    written = [[new for old, new in pairs if old == number] for number in row["numbers"].split()]
    if any(len(choices) != 1 for choices in written):
        raise ValueError(f"not one place for each number in: {now}")
    return [number for choices in written for number in choices], now


def _current(row: pd.Series) -> tuple[list[str], str]:
    """The numbers of a row as the results have them, and its cell `rows`."""
    if row["table"].endswith(".md"):
        return _requoted(row)
    if not row["table"]:
        if not row["rows"]:
            raise ValueError("no table, and nothing says why")
        return row["numbers"].split(), row["rows"]
    pairs = zip(row["numbers"].split(), row["columns"].split(), strict=True)
    return [_rounded(_value(row, column), number) for number, column in pairs], row["rows"]


def _replaced(line: str, spans: list[re.Match[str]], written: list[str], end: int) -> str:
    """The first `end` characters of a line with other numbers; a number is never cut."""
    text, place = "", 0
    for span, number in zip(spans, written, strict=True):
        if span.start() < end:
            text, place = text + line[place : span.start()] + number, span.end()
    return text + line[place:end]


def rewritten(page: str, index: pd.DataFrame) -> Rewritten:
    """A page with the numbers of today's tables."""
    lines = (ROOT / page).read_text("utf-8").split("\n")
    rows = index[index["page"] == page].copy()
    stale, by_hand, current = list[str](), list[str](), {}
    for i, row in rows.iterrows():
        try:
            current[i] = _current(row)
        except (LookupError, NameError, OSError, TypeError, ValueError) as error:
            current[i] = row["numbers"].split(), row["rows"]
            by_hand.append(f"{page}: {row['line']}: {error}")
    starts = rows.loc[rows["line"] != "*", "line"]
    unmatched = set(starts.index)
    for k, masked in _numbered_lines(page, "\n".join(lines)):
        line, spans = lines[k], _spans(masked)
        indent = len(line) - len(line.lstrip())
        indexed = index.loc[starts.index[starts.map(line[indent:].startswith)]]
        if indexed.empty and len(starts) < len(rows):
            continue
        unmatched -= set(indexed.index)
        old, new = " ".join(indexed["numbers"]).split(), [number for i in indexed.index for number in current[i][0]]
        # A new number can be read as a setting: 95 % intervals.
        if numbers(masked) != old or numbers(_replaced(masked, spans, new, len(line))) != new:
            by_hand.append(f"{page}:{k + 1}: {' '.join(old)} -> {' '.join(new)}: {line[indent:]}")
            continue
        lines[k] = _replaced(line, spans, new, len(line))
        for i, row in indexed.iterrows():
            changes = [*zip(row["numbers"].split(), current[i][0], strict=True), (row["rows"], current[i][1])]
            stale += [f"{page}:{k + 1}: {before} -> {after}" for before, after in changes if before != after]
            start = _replaced(line, spans, new, indent + len(row["line"]))[indent:]
            rows.loc[i, ["line", "numbers", "rows"]] = [start, " ".join(current[i][0]), current[i][1]]
    by_hand += [f"{page}: no line begins like this: {starts[i]}" for i in unmatched]
    return Rewritten("\n".join(lines), rows, stale, by_hand)


if __name__ == "__main__":
    index = read_index()
    results = [rewritten(page, index) for page in PAGES]
    report = [line for result in results for line in result.stale]
    if sys.argv[1:] == ["--write"]:
        for page, result in zip(PAGES, results, strict=True):
            (ROOT / page).write_text(result.text, encoding="utf-8")
            index.update(result.rows)
        index.to_csv(INDEX, index=False)
        results = [rewritten(page, index) for page in PAGES]
    report += [f"by hand: {line}" for result in results for line in result.by_hand]
    print("".join(f"{line}\n" for line in report), end="")
    raise SystemExit(any(result.stale or result.by_hand for result in results))
