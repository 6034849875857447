"""Columns that are made of others, or constant, and what is no system by its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.loaders.files import read_csv


def test_a_difference_of_two_systems_is_no_system(tmp_path: Path) -> None:
    right = pd.DataFrame({"item": range(12), "old": [0, 1, 1] * 4, "new": [1, 0, 1] * 4, "mid": [1, 1, 0, 0] * 3})
    gain = right["new"] - right["old"]
    for name in ("delta", "x", "new-old"):
        for metric in ("accuracy", "mean"):
            loaded = read_csv(tmp_path, right.assign(**{name: gain}).to_csv(index=False), metric)
            assert loaded.outputs.names == ["old", "new", "mid"]
            assert loaded.notes == (f"not used as a system: '{name}', which is 'new' minus 'old'",)
    rounded = pd.DataFrame(
        {"item": [*"abc"], "old": [0.33, 0.5, 0.1], "new": [0.67, 0.75, 0.25], "Diff": [0.33, 0.25, 0.15]}
    )
    assert read_csv(tmp_path, rounded.to_csv(index=False), "mean").outputs.names == ["old", "new"]
    # Other numbers, few numbers without such a name, and scores that are negative themselves are of systems.
    for table in (
        right.assign(delta=right["mid"].to_numpy()[::-1]),
        right.head(9).assign(x=gain),
        right.assign(x=gain) - 1,
    ):
        names = table.columns[1:].tolist()
        assert read_csv(tmp_path, table.to_csv(index=False), "mean").outputs.names == names


def test_a_column_with_the_name_of_a_count_is_left_out_with_a_note(tmp_path: Path) -> None:
    table = "item,new,old,total\na,1,0,1\nb,1,1,0\n"
    loaded = read_csv(tmp_path, table)
    assert (loaded.outputs.names, loaded.notes) == (
        ["new", "old"],
        ("not used as a system: 'total'; to use one, rename it",),
    )
    # By a mean it is one, and as a column of the items it is none of which a note tells.
    assert read_csv(tmp_path, table, "mean").outputs.names == ["new", "old", "total"]
    assert read_csv(tmp_path, table, columns={"total": "total"}).notes == ()


def test_columns_made_of_others_are_no_systems(tmp_path: Path) -> None:
    """The columns are made here by their definition; those before them are random."""
    rng, n = np.random.default_rng(8), 60
    graded = pd.DataFrame({"item": range(n), "old": rng.random(n).round(3), "new": rng.random(n).round(3)})
    right = pd.DataFrame({"item": range(n), **{name: rng.integers(0, 2, n) for name in ("old", "new", "mid")}})
    a, b = graded["old"], graded["new"]
    two = "of 'old' and 'new'"
    for table, own, what in (
        (graded, np.where(a > b, a, b), f"maximum {two}"),
        (graded, np.where(a < b, a, b), f"minimum {two}"),
        (graded, (a + b) / 2, f"mean {two}"),
        (graded, ((a + b) / 2).round(3), f"mean {two}"),
        (graded, a + b, f"sum {two}"),
        (graded, (a - b).abs(), f"absolute difference {two}"),
        (right, right["old"] * right["new"], f"minimum {two}"),
        (right, right["old"] | right["new"], f"maximum {two}"),
        (right, right["old"] + right["new"] + right["mid"], "sum of the columns before it"),
    ):
        loaded = read_csv(tmp_path, table.assign(x=own).to_csv(index=False), "mean")
        assert loaded.outputs.names == table.columns[1:].tolist()
        assert loaded.notes == (f"not used as a system: 'x', which is the {what}; to use it, put its column first",)
        first = table.assign(x=own)[["item", "x", *table.columns[1:]]]
        assert read_csv(tmp_path, first.to_csv(index=False), "mean").outputs.names[0] == "x"
    # A name tells of whole columns of few values.
    agree = (right["old"] == right["new"]).astype(int)
    for name, names in (("agree", ["old", "new", "mid"]), ("x", ["old", "new", "mid", "x"])):
        table = right.assign(**{name: agree})
        assert read_csv(tmp_path, table.to_csv(index=False)).outputs.names == names


def test_columns_like_those_made_of_others_are_systems(tmp_path: Path) -> None:
    """Few items, a system that is right wherever one of two others is on few items, and other numbers."""
    rng, n = np.random.default_rng(9), 60
    right = pd.DataFrame({"item": range(n), "old": rng.integers(0, 2, n), "new": rng.integers(0, 2, n)})
    both = right["old"] * right["new"]
    alike = right.assign(new=right["old"].where(right.index > 8, 1 - right["old"]))
    for table in (
        right.assign(max=both).head(21),
        alike.assign(x=alike["old"] * alike["new"]),
        right.assign(x=both.where(both.index > 0, 1 - both)),
        right.assign(new=right["old"]).assign(max=right["old"]),
    ):
        loaded = read_csv(tmp_path, table.to_csv(index=False))
        assert (loaded.outputs.names, loaded.notes) == (table.columns[1:].tolist(), ())


def test_constant_columns_are_named(tmp_path: Path) -> None:
    rng, n = np.random.default_rng(10), 20
    graded = pd.DataFrame({"item": range(n), "old": rng.random(n).round(3), "new": rng.random(n).round(3)})
    for name, value, used, told in (
        ("weight", 1, False, "not used as a system: 'weight', which is 1 for all items; to use it, rename it"),
        ("p", 0.05, False, "not used as a system: 'p', which is 0.05 for all items; to use it, rename it"),
        ("x", 0.5, True, "'x' is used as a system, but is 0.5 for all items: leave the column out if it is none"),
    ):
        loaded = read_csv(tmp_path, graded.assign(**{name: value}).to_csv(index=False), "mean")
        assert (name in loaded.outputs.names, loaded.notes) == (used, (told,))
    # A system may be right on all items.
    right = graded.assign(old=rng.integers(0, 2, n), new=rng.integers(0, 2, n), x=1)
    assert read_csv(tmp_path, right.to_csv(index=False)).notes == ()
