"""What users give is checked at the door: each check takes what it should, and names what it does not take."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy import validation as v
from simstudy.comparisons import compare
from simstudy.notes import note, notes_kept
from simstudy.pairs import order_of, relations
from simstudy.schema import ADDED, KNOWN, OWN, names_of
from simstudy.tables import (
    COMPARISONS,
    check_table,
    records,
    require_one_question,
    require_one_table,
    takes_family,
    takes_pairs,
)  # fmt: skip
from simstudy.truth import correlated_accuracies


@pytest.mark.parametrize(
    ("check", "good", "bad", "message"),
    [
        (v.check_whole, [(0, 0), (np.int8(5), 5), (2**40 - 1, 0)], (1e6, 1), "a whole number (an int), not 1000000.0"),
        (v.check_whole, [(15, 0, 16)], (16, 0, 16), "at least 0 and below 2^4, not 16"),
        (v.check_whole, [(1, 1)], (0, 1), "at least 1, not 0"),
        (v.check_whole, [(3, 1)], (True, 0), "a whole number (an int), not True"),
        (v.check_whole, [(3, 1)], (2**40, 0), f"at least 0 and below 2^40, not {2**40}"),
        (v.check_number, [(3,), (np.float32(0.5),), (float("inf"),)], ("3",), "a number, not '3'"),
        (v.check_number, [(-1.0,)], (float("nan"),), "a number, not nan"),
        (v.check_number, [(-1.0,)], (True,), "a number, not True"),
        (v.check_share, [(0,), (1,), (0.5,)], (1.01,), "lie between 0 and 1, not 1.01"),
        (v.check_share, [(0.5,)], (-0.01,), "lie between 0 and 1, not -0.01"),
        (v.check_fraction, [(0.01,), (0.99,)], (1,), "lie between 0 and 1, both excluded, not 1"),
        (v.check_fraction, [(0.5,)], (0.0,), "lie between 0 and 1, both excluded, not 0.0"),
        (v.check_flag, [(True,), (False,)], (1,), "True or False, not 1"),
        (v.check_text, [("",), ("a",)], (None,), "text, not None"),
        (v.check_path, [("a",), (Path("a"),)], ("a\0b",), "a path (str or Path), not 'a\\x00b'"),
        (v.check_path, [("a",)], (3,), "a path (str or Path), not 3"),
        (v.check_mapping, [({"a": 1}, "x to y")], ({}, "x to y"), "map x to y, at least one, not {}"),
        (v.check_list, [([], "names"), ((1,), "names"), (np.array([1]), "names")], ("ab", "names"),
         "a list of names, not 'ab'"),
        (v.check_list, [(pd.Series([1]), "names")], (np.zeros((1, 1)), "names"), "a list of names, not array([[0.]])"),
        (v.check_list, [([1], "names")], ({1}, "names"), "a list of names, not {1}"),
        (v.check_texts, [(["a"], "names")], (["a", 3], "names"), "a list of names, not 3"),
        (v.check_range, [((0.03, 0.07),)], ((0.07, 0.03),), "two numbers, the lower first, not (0.07, 0.03)"),
        (v.check_range, [((0, 1), "shares", 0, 1)], ((0, 1.1), "shares", 0, 1), "two shares, the lower first, not"),
        (v.check_range, [([0, 1],)], ((1, 1),), "two numbers, the lower first, not (1, 1)"),
        (v.check_range, [((0, 1),)], ((0, float("inf")),), "two numbers, the lower first, not (0, inf)"),
        (v.check_choice, [("f1", ["f1"])], ("acuracy", ["accuracy", "f1"]),
         "one of accuracy, f1, not 'acuracy' (did you mean 'accuracy'?)"),
        (v.check_choice, [("", [""])], (3, ["", "f1"]), 'one of "", f1, not 3'),
        (v.number_list, [([1, 0.5],), (np.array([1]),)], ([0.5, "high"],), "a list of numbers, not [0.5, 'high']"),
        (v.number_list, [([1],)], ([0.5, float("nan")],), "a list of numbers, not [0.5, nan]"),
        (v.number_list, [([1],)], ([True],), "a list of numbers, not [True]"),
        (v.number_list, [([1],)], (np.ma.array([1, 2], mask=[0, 1]),), "not be masked, as 1 value is"),
        (v.check_unmasked, [(np.ma.array([1, 2], mask=False),)], ([np.ma.array([1, 2], mask=True)],),
         "not be masked, as 2 values are: take such items out, or fill them (.filled())"),
    ],
)  # fmt: skip
def test_checks(check: Callable[..., Any], good: list[tuple[Any, ...]], bad: tuple[Any, ...], message: str) -> None:
    for given in good:
        check("given", *given)
    with pytest.raises(ValueError, match=f"^given must {'be ' * (message.split()[0] not in ('lie', 'map', 'not'))}"
                       + re.escape(message)):  # fmt: skip
        check("given", *bad)


def test_checks_of_none_seeds_names_and_keys() -> None:
    for check in (v.check_text, v.check_path):
        check("given", None, or_none=True)
    v.check_text("unit", None, "a column", or_none=True)
    with pytest.raises(ValueError, match="^unit must be a column, or None, not 3$"):
        v.check_text("unit", 3, "a column", or_none=True)
    with pytest.raises(ValueError, match="unit must be a column, or None, not ''"):
        v.check_text("unit", "", "a column", or_none=True)
    v.check_seed(2**64 - 1)
    for seed in (-1, 2**64):
        with pytest.raises(ValueError, match=r"^seed must be at least 0 and below 2\^64"):
            v.check_seed(seed)
    v.check_utf8(["naïve"], "systems")
    with pytest.raises(ValueError, match=r"^systems must be named in whole characters \(UTF-8\), unlike '\\ud83d'$"):
        v.check_utf8(["naïve", "\ud83d"], "systems")
    v.check_unique(pd.Series(["a", "b"]), "items")
    with pytest.raises(ValueError, match="^items must be named once each; 'b' occurs twice; so$"):
        v.check_unique(pd.Series(["a", "b", "b"]), "items", "so")
    assert (v.brief(1.5), v.brief("x" * 78), v.brief([0] * 99)) == ("1.5", f"'{'x' * 78}'", "a list")
    assert v.brief(pd.Series([1])) == "a Series"
    assert (v.nearest("quikstart", ["quickstart"]), v.nearest("zz", ["quickstart"])) == (
        " (did you mean 'quickstart'?)", ""
    )  # fmt: skip


def test_notes_are_kept_by_the_innermost_listener_and_are_warnings_otherwise() -> None:
    with notes_kept() as outer:
        note("text", text="one")
        with notes_kept() as inner:
            note("text", text="two")
        note("text", text="three")
    assert (outer, inner) == (["one", "three"], ["two"])
    with pytest.warns(UserWarning, match="^four$"):
        note("text", text="four")


def test_a_warning_names_the_line_that_called_the_package() -> None:
    frame = pd.DataFrame({"wer_a": [1, 0], "wer_b": [0, 0]})
    with pytest.warns(UserWarning, match="scores are called") as warned:
        ss.Outputs.from_scores(frame)
    line = int(warned[0].lineno)
    assert warned[0].filename == __file__
    assert Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1].strip() == "ss.Outputs.from_scores(frame)"


def pairs(*ordered: str) -> pd.DataFrame:
    return pd.DataFrame([tuple(two) for two in ordered], columns=["system_a", "system_b"])


def test_the_order_of_systems_is_that_of_their_pairs() -> None:
    """z is the best and x the last, in whatever order rows and names come."""
    found = order_of(pairs("yx", "zx", "zw", "wx", "zy", "yw"))
    assert found.names.tolist() == list("zywx")
    assert list(zip(found.better.tolist(), found.worse.tolist(), strict=True)) == [
        (1, 3), (0, 3), (0, 2), (2, 3), (0, 1), (1, 2)
    ]  # fmt: skip
    assert found.neighbours.tolist() == [False, False, False, True, True, True]
    score = {"z": 4.0, "y": 3.0, "w": 2.0, "x": 1.0}
    of_better, of_worse = ([score[name] for name in side] for side in ("yzzwzy", "xxwxyw"))
    assert found.by_place(of_better, of_worse).tolist() == [4, 3, 2, 1]
    matrix = found.matrix([13, 3, 2, 23, 1, 12])
    assert matrix.tolist() == [[0, 1, 2, 3], [1, 0, 12, 13], [2, 12, 0, 23], [3, 13, 23, 0]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (pairs("xy", "yz"), "every two systems once; 'x' and 'z' are there 0 times"),
        (pairs("xy", "yx"), "every two systems once; 'x' and 'y' are there 2 times"),
        (pairs("xx"), "every two systems once; 'x' and 'x' are there 1 times"),
        (pairs("xy", "yz", "zx"), "the better system as system_a in every row, ties always in one order"),
    ],
)
def test_pairs_without_an_order_are_refused(wrong: pd.DataFrame, message: str) -> None:
    with pytest.raises(ValueError, match=f"^pairs must have {message}$"):
        order_of(wrong)


def test_relations_are_named_in_the_plural() -> None:
    one, other = np.array(["x", "x"]), np.array(["x", "y"])
    for what, plural in (("family", "families"), ("base model", "base models"), ("class", "classes"), ("day", "days")):
        assert relations(one, other, what).tolist() == [f"same {what}", f"different {plural}"]


def test_tables_for_json_keep_small_numbers_and_lose_infinite_ones() -> None:
    table = pd.DataFrame({"p": [1e-20, np.nan], 3: [np.inf, 0.1]})
    assert records(table) == [{"p": 1e-20, "3": None}, {"p": None, "3": 0.1}]


def test_tables_are_checked_by_the_names_of_their_columns() -> None:
    for table, columns, message in (
        (pd.DataFrame({"gain": [1.0]}), ["gain", "p_value"], f"{COMPARISONS}; no column p_value"),
        ([1], ["gain"], f"{COMPARISONS}, not [1]"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"pairs must be {message}")):
            check_table("pairs", table, columns, COMPARISONS)
    long = "columns a, b, c, d, e, f, g; no column a, b, c, d, e and 2 more"
    with pytest.raises(ValueError, match=f"table must be a table with the {long}$"):
        check_table("table", pd.DataFrame({"x": [1]}), list("abcdefg"))
    with pytest.raises(ValueError, match="pairs must have numbers in column 'gain', not '1,5'"):
        check_table("pairs", pd.DataFrame({"gain": ["1,5"]}), ["gain"])
    with pytest.raises(ValueError, match="pairs must have text in column 'system_a', not "):
        check_table("pairs", pd.DataFrame({"system_a": [3]}), ["system_a"])
    check_table("pairs", pd.DataFrame({"task": [3], "gain": [np.nan]}), ["task", "gain"])
    check_table("pairs", pd.DataFrame({"gain": []}), ["gain"], empty=True)
    with pytest.raises(ValueError, match="pairs must have at least one row"):
        check_table("pairs", pd.DataFrame({"gain": []}), ["gain"])


class Held:
    """A table in something else, such as Comparisons."""

    def __init__(self, selected: bool) -> None:
        self.frame, self.selected = pd.DataFrame({"gain": [1.0, 2.0]}), selected


def test_functions_of_pairs_take_what_holds_them_but_a_family_must_be_whole() -> None:
    def total(pairs: pd.DataFrame, *, times: int = 1) -> float:
        return float(pairs["gain"].sum()) * times

    for takes in (takes_pairs, takes_family):
        assert takes(total)(Held(False), times=2) == takes(total)(pairs=Held(False).frame, times=2) == 6
        with pytest.raises(TypeError, match=r"^total\(\) got an unexpected keyword argument 'time'$"):
            takes(total)(Held(False), time=2)
    assert takes_pairs(total)(Held(True)) == takes_family(total)(Held(True).frame) == 3
    with pytest.raises(ValueError, match="^pairs must be all compared pairs, not the 2 that you selected: correct"):
        takes_family(total)(Held(True))


def test_the_columns_that_every_comparison_has_and_those_that_methods_add() -> None:
    pairs = compare(correlated_accuracies([0.6, 0.7], 30))
    assert tuple(pairs.frame.columns) == OWN
    with_all = pairs.corrected().equivalence(0.1).frame
    assert set(with_all.columns) == {*OWN, *ADDED} == {*KNOWN}
    for name in names_of("flag"):
        assert with_all[name].dtype == bool
    for name in names_of("number", "whole"):
        assert pd.api.types.is_numeric_dtype(with_all[name])


def test_pairs_of_two_questions_are_refused() -> None:
    table = pd.DataFrame(
        {"task": "t", "test_set": ["news", "web"], "n_items": 9, "metric": "f1", "unit": ["item", "user"]}
    )
    require_one_question(table)
    with pytest.raises(ValueError, match="^pairs must have one unit for each test set, not item, user for 'news'"):
        require_one_question(table.assign(test_set="news"))
    # Strata and none are two questions.
    for strata in (["length", None], [None, "length"]):
        with pytest.raises(ValueError, match="^pairs must have one strata for each test set, not "):
            require_one_question(table.assign(test_set="news", unit="item", strata=strata))
    with pytest.raises(ValueError, match="^pairs must be of one test_set, not news, web$"):
        require_one_table(table)
    once = table.assign(unit="item", system_a="a", system_b="b")
    require_one_question(once)
    swapped = once.assign(test_set="news", system_a=["a", "b"], system_b=["b", "a"])
    with pytest.raises(ValueError, match="every two systems of a test set once, unlike 'b' and 'a' of 'news'"):
        require_one_question(swapped)
    require_one_question(swapped.assign(draw=[0, 1]))
