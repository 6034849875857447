"""The numbers of the pages are those of results/, and `python -m tests.numbers --write` writes them."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from tests import numbers
from tests.numbers import PAGES, read_index, rewritten

INDEX = read_index()


@pytest.mark.parametrize("page", sorted({*PAGES, *INDEX["page"]}))
def test_the_numbers_are_those_of_the_tables(page: str) -> None:
    result = rewritten(page, INDEX)
    assert result.stale + result.by_hand == []


TABLE = "test,n,share,gain\nbootstrap,12002,0.061,-0.4\nsign flips,990,0.05,1.25\n"
QUOTED = "Of 1,010 pairs\n35 are significant. Of 12 tests 3 are exact, of 12 others 4. 1 of 8 fails. 2 of 8 fails."
PAGE = """
Of 980 pairs 34 are significant.
 1. 11,500 items, 980 others: 5 % or 5 %, at `0.05`.
| gain | 0.4 |
| gain of a test | 1.3 |
Of 11 tests 3.
3 fail.
94 % intervals.
"""
WRITTEN = """
Of 1,010 pairs 35 are significant.
 1. 12,002 items, 990 others: 5 % or 6 %, at `0.05`.
| gain | 0.4 |
| gain of a test | 1.3 |
Of 11 tests 3.
3 fail.
94 % intervals.
"""
# The last five are reported: a sign, a value that the table does not have, two places for a number of the quotation,
# two texts like it, and "95 % intervals", which is a setting.
ROWS = """line;numbers;table;rows;columns
Of 980;980 34;made_up/README.md;Of 980 pairs 34 are significant.;
1. 11,500;11,500;made_up/table.csv;test == 'bootstrap';n
1. 11,500 items, 98;980 5 5;made_up/table.csv;;n:min share%:min share%:max
| gain |;0.4;made_up/table.csv;test == 'bootstrap';gain
| gain of;1.3;made_up/table.csv;test in ['sign flips', 'sign test'];gain:max
Of 11;11 3;made_up/README.md;Of 11 tests 3 are exact, of 11 others 3.;
3;3;made_up/README.md;3 of 9 fails.;
94;94;made_up/table.csv;test == 'bootstrap';n/12002*95
"""


def test_a_page_is_written_from_new_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbers, "ROOT", tmp_path)
    (tmp_path / "results" / "made_up").mkdir(parents=True)
    (tmp_path / "results" / "made_up" / "table.csv").write_text(TABLE)
    (tmp_path / "results" / "made_up" / "README.md").write_text(QUOTED)
    (tmp_path / "page.md").write_text(PAGE)
    index = pd.read_csv(StringIO(ROWS), sep=";", dtype=str, keep_default_na=False).assign(page="page.md")
    result = rewritten("page.md", index)

    assert result.text == WRITTEN
    cells = result.rows[["line", "numbers", "rows"]]
    assert cells.to_numpy().tolist()[:3] == [
        ["Of 1,010", "1,010 35", "Of 1,010 pairs 35 are significant."],
        ["1. 12,002", "12,002", "test == 'bootstrap'"],
        ["1. 12,002 items, 990", "990 5 6", ""],
    ]
    assert cells[3:].equals(index[cells.columns][3:])
    reasons = ["-0.4", "no test 'sign test'", "not one place", "2 texts", "94 -> 95"]
    assert [reason in line for reason, line in zip(reasons, result.by_hand, strict=True)] == [True] * 5

    (tmp_path / "page.md").write_text(result.text)
    again = rewritten("page.md", result.rows)
    assert (again.text, again.stale, again.by_hand) == (result.text, [], result.by_hand)
