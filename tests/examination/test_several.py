"""Several comparisons of two systems: each part has the numbers of its own test set, whichever system leads there."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.examination.several import Several
from simstudy.examination.several_printed import SIGNIFICANT, answer, claims, part_rows
from tests.statistics.test_proportions import by_quartic

# Items that only "new" has right, and that only "old" has, of 40; both have 20 more.
ONLY = {"x": (10, 0), "y": (2, 10), "z": (3, 3)}


@pytest.mark.parametrize("alpha", [0.002, 0.05, 0.2])
def test_each_part_is_told_from_the_side_of_its_better_system(alpha: float) -> None:
    """New leads on x, old on y, and on z they are equal; p-values are McNemar's, and Holm's correction is by hand."""
    parts, p = [], []
    for name, (new, old) in ONLY.items():
        right = {"old": np.arange(40) < 20, "new": np.arange(40) < 20}
        right["new"][20 : 20 + new] = right["old"][40 - old :] = True
        outputs = ss.Outputs.from_scores(pd.DataFrame(right), "accuracy", test_set=name)
        parts.append(ss.examine(outputs, alpha=alpha))
        p.append(stats.binomtest(new, new + old).pvalue)
    found = Several(tuple(parts))
    table = found.table
    assert table["test_set"].tolist() == [*ONLY]
    assert {*table["system_1"]} | {*table["system_2"]} == {"old", "new"}
    of = {table[f"system_{k}"][0]: table[f"score_{k}"].tolist() for k in (1, 2)}
    assert of["new"] == pytest.approx([2.5 * (20 + new) for new, _ in ONLY.values()])
    assert of["old"] == pytest.approx([2.5 * (20 + old) for _, old in ONLY.values()])
    assert table["better"].fillna("").tolist() == ["new", "old", ""]
    assert table["gain"].tolist() == pytest.approx([25.0, 20.0, 0.0])
    ends = [100 * np.array(by_quartic(max(one), min(one), 40, 0.95)) for one in ONLY.values()]
    np.testing.assert_allclose(table[["gain_low", "gain_high"]], ends)
    assert table["p_value"].tolist() == pytest.approx(p)
    holm = [min(1.0, 3 * p[0]), min(1.0, max(3 * p[0], 2 * p[1])), 1.0]
    assert p == sorted(p)
    assert table["p_holm_parts"].tolist() == pytest.approx(holm)
    assert table["significant"].tolist() == [one <= alpha for one in p]
    sure = [one <= alpha for one in holm]
    assert sure != table["significant"].tolist() or alpha == 0.2
    rows = part_rows(found)
    assert rows[SIGNIFICANT].tolist() == ["yes" if one else "no" for one in sure]
    assert rows["better"].tolist() == ["new", "old", "none"]
    assert rows["gain"].tolist() == ["25.00", "20.00", "0.00"]
    assert rows["95 %"].tolist() == [f"{low:.2f} to {high:.2f}" for low, high in ends]
    counted = f"differ significantly in {sum(sure)} of 3 comparisons (at {alpha:g}, Holm for the 3 tests)."
    assert counted in answer(found)
    assert counted in found.text
    assert f"each p must be at most {alpha:g}." in claims(found)
    text = found.to_markdown()
    marks = ["‡" if one <= alpha / 5 else "†" if one <= alpha else "" for one in p]
    lines = [line for line in text.split("\n") if line.startswith(("| x ", "| y ", "| z "))]
    gains = [re.sub(r"\|.*\| (new|old|none) \| ([0-9.]+[†‡]?) \|.*", r"\1 \2", line) for line in lines]
    assert gains == [f"new 25.0{marks[0]}", f"old 20.0{marks[1]}", f"none 0.0{marks[2]}"]
    said = re.findall(r"\b([xyz]): (new is better than old|old is better than new|[^:]* is not significant)", text)
    assert [(name, "not significant" not in what) for name, what in said] == [
        (name, one <= alpha) for name, one in zip("xy", p, strict=False)
    ]
    assert re.findall(r"(?<!\d)0\.05(?!\d)", text + found.text) == [] or alpha == 0.05


def test_systems_that_are_called_like_a_column_have_one_of_their_own() -> None:
    right = pd.DataFrame({"gain": np.arange(40) < 30, "p": np.arange(40) < 20})
    outputs = ss.Outputs.from_scores(right, "accuracy")
    parts = [ss.examine(outputs.take(np.arange(n))) for n in (40, 36)]
    rows = part_rows(Several(tuple(parts)))
    assert rows["gain (2)"].tolist() == ["75.00", f"{100 * 30 / 36:.2f}"]
    assert rows["p (2)"].tolist() == ["50.00", f"{100 * 20 / 36:.2f}"]
    assert rows["gain"].tolist() == ["25.00", f"{100 * 10 / 36:.2f}"]
