"""The cells that parts of studies are made of: what enters a key arrives, and nothing else enters it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.engines.arguments import applicable
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.running.keys import Cell, CellKeys
from simstudy.studies import Comparison, Findings, RunContext, SideBySide, run_comparisons, side_by_side
from simstudy.studies.comparing import compare_by_items, leaderboards


@dataclass
class Heard(RunContext):
    """Computes cells here, and tells what it was asked."""

    cells: Path = Path()
    n_jobs: int = 1
    asked: list[tuple[str, list[Cell], bool]] = field(default_factory=list)
    amounts: list[int] = field(default_factory=list)
    computes: bool = True

    def run(
        self,
        title: str,
        function: Callable[..., Any],
        cells: Sequence[Cell],
        *,
        amount: Callable[[Cell], int] = lambda _: 1,
        threaded: bool = False,
    ) -> list[Any]:
        self.asked.append((title, list(cells), threaded))
        self.amounts += map(amount, cells)
        if not self.computes:
            raise StopIteration
        n_threads = {"n_threads": self.n_jobs} if threaded else {}
        return [function(*cell.arguments, **n_threads) for cell in cells]

    def findings(self, run: object, arguments: object, compute: Callable[[], Findings]) -> Findings:
        return compute()


def key(cell: Cell) -> str:
    return CellKeys().of(len, cell.arguments)


@pytest.fixture
def outputs(rng: np.random.Generator) -> Outputs:
    """Four systems in two groups, on 24 items of two domains and eight clusters."""
    right = (rng.random((4, 24)) < np.array([0.4, 0.5, 0.7, 0.9])[:, None]).astype(int)
    items = pd.DataFrame(
        {
            "id": [f"i{k}" for k in range(24)],
            "domain": ["x", "y"] * 12,
            "cluster": [f"c{k // 3}" for k in range(24)],
        }
    )
    systems = pd.DataFrame({"name": list("abcd"), "group": list("GGHH")})
    statistics = np.stack([right, np.ones_like(right)], axis=-1)
    return Outputs.from_statistics(statistics, "accuracy", systems, items, test_set="quiz")


# Each key of a comparison with a value that is not its usual one, and what else that needs.
KEYS: dict[str, tuple[Any, dict[str, Any]]] = {
    "test": ("bootstrap", {}),
    "n_resamples": (77, {}),
    "alternative": ("greater", {}),
    "convention": ("bk2012", {"test": "bootstrap"}),
    "monte_carlo": (True, {}),
    "unit": ("item", {}),
    "strata": ("domain", {"test": "bootstrap", "unit": "item"}),
}


def test_every_key_of_a_comparison_is_tried() -> None:
    assert set(KEYS) == set(Comparison.model_fields)


@pytest.mark.parametrize("name", [*KEYS, "seed", "outputs"])
def test_every_key_of_a_comparison_enters_its_cell_and_arrives(name: str, outputs: Outputs) -> None:
    value, needed = KEYS.get(name, (None, {}))
    usual = {"n_resamples": 50, **needed}
    settings = usual if value is None else {**usual, name: value}
    one = Comparison(**usual).on(outputs, 3)
    other = Comparison(**settings).on(outputs.head(23) if name == "outputs" else outputs, 4 if name == "seed" else 3)
    context = Heard(n_jobs=1)
    first, second = run_comparisons("a title", [one, other], context)
    ((title, cells, here),) = context.asked
    assert (title, here) == ("a title", True)
    assert key(cells[0]) != key(cells[1])
    assert [cell.label for cell in cells] == [f"comparing on quiz, {n.outputs.n_items} items" for n in (one, other)]
    for table, asked in ((first, one), (second, other)):
        wanted = ss.compare(asked.outputs, **asked.options).frame
        pd.testing.assert_frame_equal(table, wanted)
    if name in KEYS:
        assert other.options[name] == value
        assert other.options.items() >= {"seed": 3, **settings}.items()


def test_workers_are_handed_on_and_no_part_of_a_key(outputs: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither of comparisons nor of tests side by side."""
    asked: list[int] = []
    compare = ss.compare

    def counted(outputs: Outputs, *, n_jobs: int, **options: Any) -> ss.Comparisons:
        asked.append(n_jobs)
        return compare(outputs, **options)

    for name in ("comparing", "side_by_side"):
        monkeypatch.setattr(import_module(f"simstudy.studies.{name}"), "compare", counted)
    contexts = [Heard(n_jobs=n) for n in (1, 3)]
    for context in contexts:
        run_comparisons("", [Comparison(n_resamples=50).on(outputs, 3)], context)
        side_by_side(outputs, SideBySide(n_resamples=50), 3, context)
    keys = [[key(cell) for _, cells, _ in context.asked for cell in cells] for context in contexts]
    assert keys[0] == keys[1]
    assert set(asked[: len(asked) // 2]) == {1}
    assert set(asked[len(asked) // 2 :]) == {3}


def test_a_comparison_is_as_much_work_as_it_has_resamples(outputs: Outputs) -> None:
    context = Heard(computes=False)
    known: list[dict[str, Any]] = [{"n_resamples": 50}, {"test": "bootstrap"}, {"test": "sign"}, {}]
    with pytest.raises(StopIteration):
        run_comparisons("", [Comparison(**settings).on(outputs, 0) for settings in known], context)
    assert context.amounts == [50, TESTS["bootstrap"].n_resamples, 1, TESTS["sign_flips"].n_resamples]


def test_only_test_sets_with_clusters_and_no_unit_are_compared_by_items_too(outputs: Outputs) -> None:
    bare = Outputs.from_statistics(outputs.statistics, "accuracy", items=outputs.items[["id"]], test_set="bare")
    setting, by_items = Comparison(test="sign"), Comparison(test="sign", unit="item")
    asked = [setting.on(bare, 0), setting.on(outputs, 0), by_items.on(outputs, 0), setting.on(outputs.head(12), 0)]
    found = compare_by_items(asked, context := Heard())
    assert [title for title, *_ in context.asked] == ["the same by items"]
    assert [table is None for table in found] == [True, False, True, False]
    for table, n in ((found[1], 24), (found[3], 12)):
        assert table is not None
        assert (set(table["unit"]), set(table["n_items"])) == ({"item"}, {n})
    assert compare_by_items(asked[:1], context) == [None]
    assert len(context.asked) == 1


def test_leaderboards_are_of_their_outputs_unit_and_seed(outputs: Outputs) -> None:
    def board(outputs: Outputs, unit: str | None, seed: int) -> tuple[Cell, pd.DataFrame]:
        table = leaderboards([Comparison(unit=unit).on(outputs, 99)], seed, context := Heard())
        ((title, (cell,), here),) = context.asked
        assert (title, here) == ("leaderboards", False)
        return cell, table

    asked: list[tuple[Outputs, str | None, int]] = [
        (outputs, None, 1), (outputs, "item", 1), (outputs, None, 2), (outputs.head(18), None, 1),
    ]  # fmt: skip
    found = [board(*each) for each in asked]
    assert len({key(cell) for cell, _ in found}) == len(asked)
    assert found[0][0].label == "leaderboard of quiz, accuracy"
    for (_, table), (of, unit, seed) in zip(found, asked, strict=True):
        wanted = ss.leaderboard(of, unit=unit, seed=seed)
        assert dict(zip(table["system"], table["group"], strict=True)) == {"a": "G", "b": "G", "c": "H", "d": "H"}
        pd.testing.assert_frame_equal(table.drop(columns="group"), wanted.drop(columns="group", errors="ignore"))


def test_tests_side_by_side_have_keys_of_their_own(outputs: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The level and the length of a table are no part of what is compared; resamples are, of tests that draw any."""

    def keys(of: Outputs, seed: int, **settings: Any) -> dict[str, str]:
        with pytest.raises(StopIteration):
            side_by_side(of, SideBySide(**settings), seed, context := Heard(computes=False))
        ((title, cells, here),) = context.asked
        assert (title, here) == ("tests side by side", True)
        assert [cell.label for cell in cells] == [f"test {test} on quiz" for test in applicable(of)]
        return {test: key(cell) for test, cell in zip(applicable(of), cells, strict=True)}

    usual = keys(outputs, 1)
    drawing = {test for test in usual if TESTS[test].n_resamples}
    assert len(set(usual.values())) == len(usual)
    assert keys(outputs, 1, alpha=0.2, n_shown=3) == usual
    assert {test for test, one in keys(outputs, 1, n_resamples=60).items() if one != usual[test]} == drawing
    assert all(one != usual[test] for test, one in keys(outputs, 2).items())
    assert all(one != usual[test] for test, one in keys(outputs.head(23), 1).items())
    module = import_module("simstudy.studies.side_by_side")
    asked: list[tuple[Any, ...]] = []
    for name in ("agreement", "disagreements"):
        monkeypatch.setattr(module, name, lambda pairs, **options: asked.append((len(pairs), options)))
    side_by_side(outputs, SideBySide(alpha=0.2, n_shown=3, n_resamples=60), 8, context := Heard())
    n = 6 * len(usual)
    assert asked == [(n, {"alpha": 0.2, "seed": 8}), (n, {"alpha": 0.2, "n": 3})]
    for cell, test in zip(context.asked[0][1], usual, strict=True):
        assert cell.arguments == (outputs, test, 60 if test in drawing else None, 8)
