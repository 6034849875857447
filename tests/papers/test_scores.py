"""Tables of scores with a column for each metric, domain or task: each score in its own cell, in any shape of table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.papers.document import Cell, cells
from simstudy.papers.scores import Column, by_system
from tests.examination.rows import pair


@pytest.mark.parametrize(
    ("n_columns", "n_systems", "n_tables"), [(3, 3, 1), (4, 3, 1), (8, 9, 1), (9, 8, 1), (9, 9, 2), (17, 9, 3)]
)
def test_every_score_stands_under_its_heading(n_columns: int, n_systems: int, n_tables: int) -> None:
    """Scores that all differ: in column k system s + k is the k-th; the first and last lack a middle system."""
    columns, expected = [], {}
    for k in range(n_columns):
        score = {f"s{s}": 50.0 + k + (s - k) % n_systems for s in range(n_systems)}
        order = sorted(score, key=lambda name: -score[name])
        if k in (0, n_columns - 1):
            del score[order.pop(n_systems // 2)]
        rows = [{"system": s, "score": score[s], "score_low": score[s] - 1, "score_high": score[s] + 1} for s in order]
        board = pd.DataFrame(rows).assign(rank=np.arange(len(order)) + 1, level=0.95)
        worst = [pair(system_a=order[0], system_b=name, better=order[0], gain_low=4.0, gain_high=6.0, p_floor=0.0,
                      p_value=1e-9 if name == order[-1] else 0.9) for name in order[1:]]  # fmt: skip
        columns.append(Column(f"m{k}", board, ss.comparisons.corrected(pd.DataFrame(worst).infer_objects())))
        for name, value in score.items():
            cell = Cell(f"{value:.1f}", name == order[0], "‡" if name == order[-1] else "")
            expected[name, f"m{k}"] = (cell, f"[{value - 1:.1f}, {value + 1:.1f}]")
    found = by_system(columns, "What.", alpha=0.05, ruled=(1,))
    turned, beside = n_columns > 8 >= n_systems, n_columns <= 3
    assert [one.name for one in found] == ["scores", "scores2", "scores3"][:n_tables]
    # A system that the first column lacks stands after all others.
    first, read, headings = columns[0].board["system"].tolist(), {}, []
    names = [*first, *{f"s{s}" for s in range(n_systems)}.difference(first)]
    assert len(names) == n_systems == len(first) + 1
    for one in found:
        head = [heading for heading, _ in one.columns]
        assert head[0] == ("" if turned else "System")
        assert one.ruled == ((1,) if turned else ())
        assert f"Bold: the best score of a {'row' if turned else 'column'}." in str(one.caption[0])
        assert ("95 % CI: the interval" in str(one.caption[-1])) == beside
        table = [cells(row) for row in one.rows]
        assert [row[0].text for row in table] == ([c.heading for c in columns] if turned else names)
        for row in table:
            for at, cell in list(zip(head, row, strict=True))[1 :: 1 + beside]:
                read[(at, row[0].text) if turned else (row[0].text, at)] = (cell, row[head.index(at) + 1].text
                                                                            if beside else "")  # fmt: skip
        headings += head[1 :: 1 + beside]
    assert headings == (names if turned else [c.heading for c in columns])
    assert len(read) == n_columns * n_systems
    for place, (cell, between) in read.items():
        own, limits = expected.get(place, (Cell(""), ""))
        assert (cell, between) == (own, limits if beside else ""), place
