"""Columns that are made of others, or constant, and what is no system by its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.door import load
from tests.loaders.files import read_csv


def test_a_difference_of_two_systems_is_no_system_if_it_is_called_so(tmp_path: Path) -> None:
    right = pd.DataFrame({"item": range(30), "old": [0, 1, 1] * 10, "new": [1, 0, 1] * 10, "mid": [1, 1, 0, 0, 0] * 6})
    gain = right["new"] - right["old"]
    for name, own, percent in (
        ("delta", gain, ""),
        ("new-old", gain, ""),
        ("delta (new - old)", gain, ""),
        ("abs_diff", gain.abs(), None),
        ("gain_pct", 100 * gain, " in percent"),
    ):
        what = "the absolute difference of 'old' and 'new'" if percent is None else f"'new' minus 'old'{percent}"
        loaded = read_csv(tmp_path, right.assign(**{name: own}).to_csv(index=False), "mean")
        assert loaded.outputs.names == ["old", "new", "mid"]
        assert loaded.notes[0] == f"not used as a system: '{name}', which is {what}; to use it, rename it"
    # Each column is rounded.
    rng = np.random.default_rng(7)
    exact = pd.DataFrame(rng.random((12, 2)), columns=["old", "new"]).rename_axis("item").reset_index()
    rounded = exact.assign(Diff=exact["new"] - exact["old"]).round(2)
    assert read_csv(tmp_path, rounded.to_csv(index=False), "mean").outputs.names == ["old", "new"]
    # Numbers alone do not say it, and neither does a name alone, or a part of it.
    told = "'x' is used as a system, but is 'new' minus 'old'. If it is no system, leave the column out, or make it "
    told += "one of the items: columns={'x': 'x'}"
    assert told in read_csv(tmp_path, right.assign(x=gain).to_csv(index=False), "mean").notes
    for table in (right.assign(delta=right["mid"].to_numpy()[::-1]), right.assign(**{"delta-net": gain}), right - 1):
        names = table.columns[1:].tolist()
        assert read_csv(tmp_path, table.to_csv(index=False), "mean").outputs.names == names


def test_times_of_which_some_are_at_a_limit_are_no_difference(tmp_path: Path) -> None:
    times = pd.DataFrame(np.random.default_rng(6).uniform(1, 8, (60, 3)).round(2), columns=["tree", "hash", "delta"])
    times.loc[[7, 30], ["tree", "hash"]] = 600
    loaded = read_csv(tmp_path, times.rename_axis("item").reset_index().to_csv(index=False), "mean")
    assert loaded.outputs.names == ["tree", "hash", "delta"]


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


def test_columns_made_of_others_are_no_systems_if_they_are_called_so(tmp_path: Path) -> None:
    """The columns are made here by their definition; the others are random. Their order does not matter."""
    rng, n = np.random.default_rng(8), 60
    graded = pd.DataFrame({"item": range(n), "old": rng.random(n).round(3), "new": rng.random(n).round(3)})
    right = pd.DataFrame({"item": range(n), **{name: rng.integers(0, 2, n) for name in ("old", "new", "mid")}})
    a, b, three = graded["old"], graded["new"], right[["old", "new", "mid"]]
    two = "of 'old' and 'new'"
    for table, name, own, what in (
        (graded, "Max", np.where(a > b, a, b), f"maximum {two}"),
        (graded, "min score", np.where(a < b, a, b), f"minimum {two}"),
        (graded, "mean", (a + b) / 2, f"mean {two}"),
        (graded, "avg", ((a + b) / 2).round(3), f"mean {two}"),
        (graded, "total", a + b, f"sum {two}"),
        (right, "max of old and new", right["old"] | right["new"], f"maximum {two}"),
        (right, "median", (three.sum(axis=1) >= 2).astype(int), "median of 3 other columns"),
        (right, "total", three.sum(axis=1), "sum of 3 other columns"),
        (right, "agree", (right["old"] == right["new"]).astype(int), f"equality {two}"),
    ):
        for place in (1, len(table.columns)):
            names = table.columns[1:].tolist()
            changed = table.copy()
            changed.insert(place, name, own)
            loaded = read_csv(tmp_path, changed.to_csv(index=False), "mean")
            assert loaded.outputs.names == names
            assert loaded.notes == (f"not used as a system: '{name}', which is the {what}; to use it, rename it",)
            renamed = changed.rename(columns={name: "x"})
            loaded = read_csv(tmp_path, renamed.to_csv(index=False), "mean")
            assert loaded.outputs.names == renamed.columns[1:].tolist()
    stored = graded.assign(mean=(a + b) / 2).astype(dict.fromkeys(("old", "new", "mean"), np.float32))
    stored.to_parquet(tmp_path / "s.parquet")
    assert load(tmp_path / "s.parquet", "mean").outputs.names == ["old", "new"]


def test_ensembles_and_pipelines_are_systems_and_get_a_note(tmp_path: Path) -> None:
    """Followed, the advice leaves the column out."""
    rng, n = np.random.default_rng(8), 200
    right = pd.DataFrame({"item": range(n), **{name: rng.integers(0, 2, n) for name in ("a", "b", "c")}})
    times = pd.DataFrame({"item": range(n), "retrieve": rng.random(n).round(3), "generate": rng.random(n).round(3)})
    majority = (right[["a", "b", "c"]].sum(axis=1) >= 2).astype(int)
    for table, name, own, what, metric in (
        (right, "vote", majority, "median of 3 other columns", "accuracy"),
        (right, "best", right["a"] | right["b"], "maximum of 'a' and 'b'", "accuracy"),
        (right, "qwen-max", right["a"] | right["b"], "maximum of 'a' and 'b'", "accuracy"),
        (right, "both", right["a"] & right["b"], "minimum of 'a' and 'b'", "mean"),
        (times, "total time", times["retrieve"] + times["generate"], "sum of 'retrieve' and 'generate'", "mean"),
    ):
        text = table.assign(**{name: own}).to_csv(index=False)
        loaded = read_csv(tmp_path, text, metric)
        assert loaded.outputs.names == [*table.columns[1:], name]
        told = f"'{name}' is used as a system, but is the {what}. If it is no system, leave the column out, or make it "
        assert loaded.notes == (f"{told}one of the items: columns={{'{name}': '{name}'}}",)
        loaded = read_csv(tmp_path, text, metric, columns={name: name})
        assert (loaded.outputs.names, loaded.notes) == (table.columns[1:].tolist(), ())


def test_columns_like_those_made_of_others_are_systems(tmp_path: Path) -> None:
    """Few items, a system that is right wherever one of two others is on few items, and other numbers or names."""
    rng, n = np.random.default_rng(9), 60
    right = pd.DataFrame({"item": range(n), "old": rng.integers(0, 2, n), "new": rng.integers(0, 2, n)})
    both = right["old"] * right["new"]
    alike = right.assign(new=right["old"].where(right.index > 8, 1 - right["old"]))
    for table in (
        right.assign(x=both).head(19),
        alike.assign(x=alike["old"] * alike["new"]),
        right.assign(x=both.where(both.index > 0, 1 - both)),
        right.assign(max=both.where(both.index != 30, 1 - both)),
        right.assign(agree=both).head(19),
    ):
        loaded = read_csv(tmp_path, table.to_csv(index=False))
        assert (loaded.outputs.names, loaded.notes) == (table.columns[1:].tolist(), ())
    # By name and numbers, but on so few items that both may be chance.
    loaded = read_csv(tmp_path, alike.assign(min=alike["old"] * alike["new"]).to_csv(index=False))
    assert loaded.outputs.names == ["old", "new", "min"]
    assert loaded.notes[0].startswith("'min' is used as a system, but is the minimum of 'old' and 'new'.")


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
    # One note is enough.
    (told,) = read_csv(tmp_path, right.assign(new=right["old"].to_numpy()[::-1], x=0.5).to_csv(index=False)).notes
    assert told.startswith("'x' is used as a system, but its values (0.5 to 0.5) are unlike those of the other columns")
