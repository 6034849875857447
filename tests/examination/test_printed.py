"""What the command prints of an examination: the answer first, at most 25 lines, and the rest if it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.examination import Examination, examine
from simstudy.examination.printed import MOST_LINES, show
from simstudy.text.printing import text_of


def board(k: int, n: int = 200, *, notes: int = 0) -> Examination:
    """K systems, each a little better than the one before, on items of ten documents."""
    rng = np.random.default_rng(k)
    right = {f"s{i:03}": rng.random(n) < 0.5 + 0.4 * i / k for i in range(k)}
    items = pd.DataFrame({"id": range(n), "document": np.arange(n) // 20})
    outputs = ss.Outputs.from_scores(pd.DataFrame(right), "accuracy", items=items)
    unit = "item" if n > 20 else None
    return examine(ss.TestSet(outputs, unit=unit, notes=tuple(f"note {i}" for i in range(notes))))


def printed(found: Examination, *, verbose: bool = False) -> list[str]:
    return text_of(partial(show, found, verbose=verbose)).splitlines()


@pytest.mark.parametrize(("k", "notes"), [(2, 0), (2, 5), (3, 0), (9, 2), (30, 0), (120, 9)])
def test_a_screen_holds_it(k: int, notes: int) -> None:
    assert len(printed(board(k, notes=notes))) <= MOST_LINES == 25


def test_the_first_lines_are_the_answer_of_the_tables() -> None:
    found = board(9)
    best = found.leaderboard.loc[found.leaderboard["may_be_best"], "system"].tolist()
    first, second, third = printed(found)[:3]
    assert first.startswith(f"{len(best)} of 9 systems may be the best (95 % confidence): {best[0]}, ")
    n = int((found.pairs.corrected().frame["p_holm"] <= 0.05).sum())
    assert second == f"{n} of 36 pairs differ significantly at 0.05 (two-sided, Holm)."
    row = found.gains[found.gains["pairs"] == "all pairs"].iloc[0]
    assert f"gain of {row['observed_50']:.2f} points is significant for half" in third
    assert f"true gain of {row['true_80']:.2f} points" in third
    alone = examine(ss.truth.correlated_accuracies([0.5, 0.5, 0.9], n_items=400))
    assert printed(alone)[0] == "system-3 is the best of 3 systems (95 % confidence)."


@pytest.mark.parametrize("k", [3, 30])
def test_everything_is_there_if_it_is_asked_for(k: int) -> None:
    found = board(k, notes=9)
    brief, full = printed(found), printed(found, verbose=True)

    def shown(lines: list[str], text: Callable[[str], bool]) -> list[str]:
        return [line for line in lines if text(line)]

    systems = shown(full, lambda line: line.startswith((" s0", " s1")))[:k]
    assert [line.split()[0] for line in systems] == list(found.leaderboard["system"])
    assert len(shown(full, lambda line: line.startswith("Note: "))) == 9
    assert "Not shown" not in "\n".join(full)
    (left_out,) = shown(brief, lambda line: line.startswith("Not shown: "))
    hidden = k - len(shown(brief, lambda line: line.startswith((" s0", " s1"))))
    parts = [f"{hidden} systems"] * (hidden > 0) + [f"{k * (k - 1) // 2} pairs", "6 notes"]
    assert left_out.startswith(f"Not shown: {', '.join(parts)}. ")


def test_nothing_is_said_of_gains_where_too_few_pairs_tell() -> None:
    assert not [line for line in printed(board(3, 60)) if "Power 0.8" in line]
