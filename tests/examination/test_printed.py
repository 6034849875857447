"""What the command prints of an examination: the answer first, at most 25 lines, and the rest if it is asked for."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console

import simstudy as ss
from simstudy.examination import Examination, examine
from simstudy.examination.limits import limits
from simstudy.examination.printed import show
from simstudy.examination.several import Several
from simstudy.examination.several_printed import show as show_several
from simstudy.suites import AcrossTasks, across_tasks
from simstudy.text.printing import MOST_LINES, Printer, text_of


@functools.cache
def board(k: int, n: int = 200, *, notes: int = 0, of_note: str = "note", of_name: str = "") -> Examination:
    """K systems, each a little better than the one before, on items of ten documents."""
    rng = np.random.default_rng(k)
    right = {f"s{i:03}{of_name}": rng.random(n) < 0.5 + 0.4 * i / k for i in range(k)}
    items = pd.DataFrame({"id": range(n), "document": np.arange(n) // 20})
    outputs = ss.Outputs.from_scores(pd.DataFrame(right), "accuracy", items=items)
    unit = "item" if n > 20 else None
    return examine(ss.TestSet(outputs, unit=unit, notes=tuple(f"{of_note} {i}" for i in range(notes))))


def printed(found: Examination, *, verbose: bool = False) -> list[str]:
    return text_of(functools.partial(show, found, verbose=verbose)).splitlines()


@pytest.mark.parametrize("of_name", ["", "-".join(["long"] * 30)], ids=["short names", "long names"])
@pytest.mark.parametrize(
    ("k", "notes", "of_note"), [(2, 0, ""), (2, 30, "word " * 50), (3, 0, ""), (9, 2, "note"), (30, 9, "word " * 300)]
)
def test_a_screen_holds_it(k: int, notes: int, of_note: str, of_name: str) -> None:
    """A terminal wraps at its last column; what a file holds is looked at with 100 columns. Little is left unused."""
    found, last = board(k, notes=notes, of_note=of_note, of_name=of_name), ["", "Figures and report: " + "x" * 150]
    for width, console in (
        (100, Console(file=StringIO(), width=300, force_terminal=False)),
        *((n, Console(file=StringIO(), width=n, force_terminal=True, color_system=None)) for n in (60, 80, 100, 200)),
    ):
        show(found, Printer(console), last=last)
        assert isinstance(console.file, StringIO)
        lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in console.file.getvalue().splitlines()]
        seen = sum(max(1, -(-cell_len(line) // width)) for line in lines)
        assert seen <= MOST_LINES == 25
        assert seen > 20 or (k <= 9 and notes <= 2)
        assert lines[-1] == last[-1]
        assert bool(notes) <= any(line.startswith("Note: ") for line in lines)


@functools.cache
def of_long_names(k: int) -> tuple[Examination, Examination, AcrossTasks]:
    """The first 240 and 160 items, and an average of five tasks."""
    outputs = ss.truth.correlated_accuracies(np.linspace(0.6, 0.8, k).tolist(), 240, seed=3)
    names = [f"{'model/prompt_few-shot.' * 7}{n:03}" for n in range(k)]
    items = outputs.items.assign(domain=[f"a-rather-long-name-of-task-{n % 5}" for n in range(240)])
    outputs = replace(outputs, systems=outputs.systems.assign(name=names), items=items)
    first, second = (examine(ss.TestSet(replace(outputs.head(n), test_set=f"first {n}"))) for n in (240, 160))
    return first, second, across_tasks(outputs, by="domain")


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("k", [2, 8])
@pytest.mark.parametrize("kind", ["tasks", "several"])
def test_a_screen_holds_several_tasks_and_comparisons_of_long_names(kind: str, k: int, width: int) -> None:
    """The two best systems are named once, whole, and called A and B below."""
    *parts, tasks = of_long_names(k)
    found = Several(tuple(parts)) if kind == "several" else replace(parts[0], tasks=tasks)
    console = Console(file=StringIO(), width=width, force_terminal=True, color_system=None)
    (show_several if isinstance(found, Several) else show)(found, Printer(console))
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert sum(max(1, -(-cell_len(line) // width)) for line in text.splitlines()) <= MOST_LINES
    first, second = parts[0].leaderboard["system"].head(2)
    assert text.replace("\n", "").startswith(f"A: {first}B: {second}")
    assert (text.count(first), text.count(second)) == (1, 1)
    assert re.search(r"(?m)^[ \w].*\bA\b", text[len(first) + len(second) + 8 :])


def test_one_sided_counts_are_said_to_need_a_prediction() -> None:
    """Which system is the better one is seen in the data: correction for all pairs does not make up for that."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.7, 0.8], n_items=200, seed=13)
    for alternative in ("two-sided", "greater"):
        found = examine(outputs, alternative=alternative)
        one_sided = alternative == "greater"
        said, limit = " ".join(found.text.split()), " ".join(limits(found))
        assert ("Holm; valid only where the better system was predicted)" in said) == one_sided
        assert ("One-sided p-values, corrected or not, are valid only" in limit) == one_sided
        assert ("For a pair that the results suggested, use p (Holm), corrected for all 3 pairs." in limit) != one_sided


def test_the_first_lines_are_the_answer_of_the_tables() -> None:
    found = board(9)
    best = found.leaderboard.loc[found.leaderboard["may_be_best"], "system"].tolist()
    first, lead, second = printed(found)[:3]
    assert first.startswith(f"{len(best)} of 9 systems may be the best (95 % confidence): {best[0]}, ")
    n = int((found.pairs.corrected().frame["p_holm"] <= 0.05).sum())
    assert second == f"{n} of 36 pairs differ significantly at 0.05 (two-sided, Holm)."
    frame = found.pairs.corrected().frame.set_index(["system_a", "system_b"])
    pair = frame.loc[tuple(found.leaderboard["system"].head(2))]
    assert pair["p_holm"] > 0.05
    assert lead == (
        f"{pair.name[0]} leads {pair.name[1]} by {pair['gain']:.2f} points: not significant (Holm-adjusted p = "
        f"{pair['p_holm']:.3f})."
    )
    row = found.gains[found.gains["pairs"] == "all pairs"].iloc[0]
    said = printed(found)
    gain = f"{row['observed_50']:.2f} points"
    assert f"Just significant gain: {gain} (half of the pairs with this gain have p <= 0.05 before correction)" in said
    detected = f"{row['true_80']:.2f} points with power 0.8 before correction, on average over the pairs"
    assert f"Minimum detectable gain: {detected}" in said
    close = examine(ss.truth.correlated_accuracies([0.6, 0.6, 0.6, 0.6, 0.66], n_items=200, seed=65))
    table = close.pairs.corrected().frame.set_index(["system_a", "system_b"])
    pair = table.loc[tuple(close.leaderboard["system"].head(2))]
    assert pair["p_value"] < 0.01 < 0.05 < pair["p_holm"]
    assert ": not significant if all pairs are tested" in printed(close)[1]
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
    compared = [tuple(line.split()[:2]) for line in shown(full, lambda line: len(re.findall(r" s\d+ ", line)) == 2)]
    by_p = found.pairs.frame.sort_values(["p_value", "gain"], ascending=[True, False])
    assert compared == list(zip(by_p["system_a"], by_p["system_b"], strict=True))
    assert k == 3 or by_p.drop_duplicates(["p_value", "gain"])["p_value"].duplicated().any(), "some p-values tie"
    assert sum(" p (Holm) " in line for line in full) == 1
    (left_out,) = shown(brief, lambda line: line.startswith("Not shown: "))
    hidden = k - len(shown(brief, lambda line: line.startswith((" s0", " s1"))))
    notes = 9 - len(shown(brief, lambda line: line.startswith("Note: ")))
    assert k == 3 or k - hidden == 8, "facts make room for eight systems"
    named = ("Null hypothesis: ", "Correction: ")
    facts = len(shown(full, lambda line: line.startswith(named))) - len(
        shown(brief, lambda line: line.startswith(named))
    )
    parts = [f"{hidden} systems"] * (hidden > 0) + [f"{k * (k - 1) // 2} pairs"]
    parts += [f"{facts} facts"] * (facts > 0) + [f"{notes} notes"]
    assert left_out.startswith(f"Not shown: {', '.join(parts)}. ")


def test_nothing_is_said_of_gains_where_too_few_pairs_tell() -> None:
    assert not [line for line in printed(board(3, 60)) if "Minimum detectable" in line]
