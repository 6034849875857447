"""Rows and columns of a table that are no items and no systems: sums at the end, and columns unlike the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.door import load
from tests.loaders.files import check_csv_error, read_csv


def test_a_last_row_that_sums_up_is_no_item(tmp_path: Path) -> None:
    wide = "item,new,old\na,1,0\nb,1,1\nc,0,0\n"
    for row in ("Mean,0.667,0.333", "average,66.7,33.3", "TOTAL,2,1"):
        loaded = read_csv(tmp_path, f"{wide}{row}\n", "mean")
        assert loaded.outputs.items["id"].tolist() == ["a", "b", "c"]
        assert loaded.outputs.scores() == pytest.approx([2 / 3, 1 / 3])
        name = row.partition(",")[0]
        assert loaded.notes == (
            f"{tmp_path}/s.csv, line 5: '{name}' left out, which is no item but sums up the others",
        )
    told = (
        "{s}, line 5: item 'Mean' comes last and is called like a summary, but does not sum up the items before: "
        "take the row out, or give the item another name"
    )
    check_csv_error(tmp_path, f"{wide}Mean,0.9,1\n", told)
    # An item may be called so: it has scores of other items.
    (told,) = read_csv(tmp_path, f"{wide}all,1,1\n").notes
    assert told == f"{tmp_path}/s.csv, line 5: 'all' is used as an item: if it sums up the others, take the row out"
    files = []
    for system, right in (("new", [1, 1, 0]), ("old", [1, 0, 0])):
        files.append(tmp_path / f"{system}.csv")
        rows = [f"{i},{x}" for i, x in enumerate(right)]
        files[-1].write_text("\n".join(["item,score", *rows, f"all,{sum(right) / 3}", ""]))
    assert load(files, "accuracy").outputs.scores() == pytest.approx([200 / 3, 100 / 3])
    # How columns were read is told before what was left out.
    loaded = read_csv(tmp_path, "question_id,new,old,index,doc\na,1,0,1,x\nb,1,1,2,x\nc,0,0,3,y\nMean,0.667,0.333,,x\n")
    told = ("uses question_id as item", "not used as a system: 'index'", "'doc' form a cluster", "'Mean' left out")
    assert all(one in note for one, note in zip(told, loaded.notes, strict=True))
    # In another place it is an item.
    assert read_csv(tmp_path, "item,new,old\nmean,1,0\nb,1,1\nc,0,0\n").outputs.n_items == 3


def test_a_column_that_is_unlike_the_others_is_named(tmp_path: Path) -> None:
    """Right or wrong answers beside other numbers, and numbers that are far from the others; not of few items."""
    rng, n = np.random.default_rng(3), 40
    right = pd.DataFrame({"item": range(n), "old": rng.integers(0, 2, n), "new": rng.integers(0, 2, n)})
    graded = right.assign(old=rng.random(n).round(2), new=rng.random(n).round(2))
    hard, tokens, share = rng.integers(1, 6, n), rng.integers(20, 500, n), rng.random(n).round(2)
    for frame, low, high, others, metric in (
        (right.assign(x=hard), 1, 5, "0 and 1", "mean"),
        (right.assign(x=share), share.min(), share.max(), "0 and 1", "accuracy"),
        (right.drop(columns="old").assign(x=hard), 1, 5, "0 and 1", "mean"),
        (graded.assign(x=tokens), tokens.min(), tokens.max(), None, "mean"),
        (graded.assign(x=-tokens), -tokens.max(), -tokens.min(), None, "mean"),
    ):
        known = frame[["old", "new"]].to_numpy() if "old" in frame else np.zeros(1)
        others = others or f"{known.min():.3g} to {known.max():.3g}"
        told = (
            f"'x' is used as a system, but its values ({low:.3g} to {high:.3g}) are unlike those of the other columns "
            f"({others}). If it is no system, leave the column out, or make it one of the items: columns={{'x': 'x'}}"
        )
        blank = frame.astype(object)
        blank.loc[3, "new"] = ""
        for table in (frame, blank):
            notes = read_csv(tmp_path, table.to_csv(index=False), metric, missing="drop").notes
            assert notes[0] == told
            assert not any("unlike" in note for note in notes[1:])
        few, declared = frame.head(9).to_csv(index=False), {"x": "x"}
        assert not any("unlike" in note for note in read_csv(tmp_path, few, metric).notes)
        assert "x" in read_csv(tmp_path, frame.to_csv(index=False), metric, columns=declared).outputs.items
    for frame in (right, graded, graded.assign(x=share)):
        assert read_csv(tmp_path, frame.to_csv(index=False), "mean").notes == ()


def test_a_column_is_called_unlike_the_others_once(tmp_path: Path) -> None:
    """Numbers that describe the items are no percentages; right and wrong answers in percent are."""
    rng, n = np.random.default_rng(5), 20
    right = pd.DataFrame({"item": range(n), "old": rng.integers(0, 2, n), "new": rng.integers(0, 2, n)})
    words = right.assign(words=range(2, n + 2))
    told = (
        "{s}, line 2: column 'words' is used as a system, but has 2, and 'old' has 0 and 1 only; columns={'words': "
        "'words'} makes it a column of the items"
    )
    check_csv_error(tmp_path, words.to_csv(index=False), told)
    blank = words.astype(object)
    blank.loc[3, "new"] = ""
    for table in (words, blank):
        (unlike, *others) = read_csv(tmp_path, table.to_csv(index=False), "mean", missing="drop").notes
        assert unlike.startswith("'words' is used as a system, but its values (")
        assert not any("percent" in note for note in others)
    (percent,) = read_csv(tmp_path, right.assign(new=[100] * 15 + [0] * 5).to_csv(index=False), "mean").notes
    assert percent.startswith("scores of 'old' are between 0 and 1, those of 'new' between 0 and 100")
    told = "{s}, line 2, system 'new': a score must be between 0 and 1 for metric 'accuracy', not 100; divide "
    told += "percentages by 100, or take metric='mean'"
    check_csv_error(tmp_path, right.assign(new=100).to_csv(index=False), told)


def test_averages_under_any_name_are_no_item(tmp_path: Path) -> None:
    """Rows by hand: 2 of 3 and 1 of 3 are right."""
    rows = ["a,1,0", "b,1,1", "c,0,0"]
    tidy = [
        f"{system},{name},{score}"
        for system, scores in (("new", "110"), ("old", "010"))
        for name, score in zip("abc", scores, strict=True)
    ]
    for row in (
        "accuracy,0.667,0.333",
        "ACC,66.7,33.3",
        "Macro F1,0.67,0.33",
        "overall accuracy,66.67,33.33",
        "z,0.67,0.33",
    ):
        name, new, old = row.split(",")
        for at in (0, 3):
            table = "\n".join(["item,new,old", *rows[:at], row, *rows[at:], ""])
            long = [*tidy]
            long.insert(3 + at, f"old,{name},{old}")
            long.insert(at, f"new,{name},{new}")
            for text in (table, "\n".join(["system,item,score", *long, ""])):
                loaded = read_csv(tmp_path, text)
                assert loaded.outputs.items["id"].tolist() == ["a", "b", "c"]
                assert loaded.outputs.scores() == pytest.approx([200 / 3, 100 / 3])
                (told,) = loaded.notes
                assert told.endswith(
                    f"line {at + 2}: '{name}' left out, which is no item but has the averages of the others"
                )
    # Items may be called so: they are right or wrong, or have another score than the average.
    for row in ("accuracy,1,0", "accuracy,1,1", "score,0.5,0.5", "accuracy,0.667,0.5", "z,0.667,0.5"):
        assert read_csv(tmp_path, "\n".join(["item,new,old", *rows, row, ""])).outputs.n_items == 4
    assert read_csv(tmp_path, "item,new,old\na,1,1\nb,1,1\nacc,1,1\n").outputs.n_items == 3
    assert read_csv(tmp_path, "item,new,old\na,.2,.3\nb,.4,.7\nz,.3,.5\n").outputs.n_items == 3


def test_several_last_rows_that_sum_up_are_no_items(tmp_path: Path) -> None:
    wide = "item,new,old\na,4,0\nb,1,1\nc,1,5\nd,0,0\n"
    of = {
        "Mean": "1.5,1.5", "MEDIAN": "1,0.5", "std": "1.5,2.06", "SD": "1.732,2.380", "stdev": "1.73,", "min": "0,0",
        "Max": "4,5", "sum": "6,6", "Total": "6,6", "count": "4,4",
    }  # fmt: skip
    for names in (["Mean", "MEDIAN"], ["Mean", "std"], ["Total"], ["count"], [*of]):
        loaded = read_csv(tmp_path, wide + "".join(f"{name},{of[name]}\n" for name in names), "mean")
        assert loaded.outputs.items["id"].tolist() == [*"abcd"]
        assert loaded.outputs.statistics[..., 0].tolist() == [[4, 1, 1, 0], [0, 1, 5, 0]]
        told = [f"line {k}: '{name}' left out, which is no item but sums up" for k, name in enumerate(names, 6)]
        assert all(one in note for one, note in zip(told, loaded.notes, strict=True))
    tidy = "system,item,score\n" + "".join(
        f"{system},{item},{score}\n"
        for system, scores in (("new", [4, 1, 1, 1.5, 1.5]), ("old", [0, 1, 5, 2.16, 2]))
        for item, score in zip(["a", "b", "c", "Std", "Mean"], scores, strict=True)
    )
    tidy = tidy.replace("new,Std,1.5", "new,Std,1.414").replace("new,Mean,1.5", "new,Mean,2")
    assert read_csv(tmp_path, tidy, "mean").outputs.items["id"].tolist() == ["a", "b", "c"]
    told = "{s}, line 7: item 'max' comes last and is called like a summary, but does not sum up the items before: "
    told += "take the row out, or give the item another name"
    check_csv_error(tmp_path, f"{wide}Mean,1.5,1.5\nmax,9,9\n", told, metric="mean")
    # They may be out of the metric's range, which the items must be in.
    right = "item,new,old\na,1,0\nb,1,1\nc,0,0\n"
    assert read_csv(tmp_path, f"{right}Mean,66.7,33.3\nTotal,2,1\n").outputs.scores() == pytest.approx(
        [200 / 3, 100 / 3]
    )
    assert read_csv(tmp_path, f"{right}Mean,66.7,33.3\n").outputs.statistics.dtype == np.int64
    told = "{s}, line 4, system 'new': a score must be between 0 and 1 for metric 'accuracy', not 7; divide "
    told += "percentages by 100, or take metric='mean'"
    check_csv_error(tmp_path, right.replace("c,0", "c,7") + "Total,9,1\n", told)
    # Elsewhere they are items.
    assert read_csv(tmp_path, "item,new,old\nmax,1,0\nMean,1,0\nb,1,1\nc,0,0\n").outputs.n_items == 4


def test_an_item_called_max_that_every_system_has_right_is_one(tmp_path: Path) -> None:
    """Right and wrong answers have no other maximum than 1; beside a mean it is one."""
    right = "item,new,old\na,1,0\nb,1,1\nc,0,0\n"
    for row, told in (("max,1,1", "max"), ("Min,0,0", "Min"), ("median,1,0", "median")):
        loaded = read_csv(tmp_path, f"{right}{row}\n")
        assert loaded.outputs.items["id"].tolist() == ["a", "b", "c", told]
        assert loaded.notes == (
            f"{tmp_path}/s.csv, line 5: '{told}' is used as an item: if it sums up the others, take the row out",
        )
    for rows in (["max,1,1", "mean,0.667,0.333"], ["mean,0.667,0.333", "min,0,0"], ["min,0,0", "max,1,1", "sum,2,1"]):
        assert read_csv(tmp_path, right + "\n".join(rows)).outputs.items["id"].tolist() == ["a", "b", "c"]
    graded = "item,new,old\na,0.1,0.2\nb,0.4,0.5\nc,0.3,0.3\nmax,0.4,0.5\n"
    assert read_csv(tmp_path, graded, "mean").outputs.items["id"].tolist() == ["a", "b", "c"]


def test_a_row_of_means_ends_each_file_though_one_has_more_items(tmp_path: Path) -> None:
    """The first four and all six answers of "old" have a mean of 1/2."""
    for name, answers in (("new", "1100"), ("old", "101010")):
        rows = "".join(f"{item},{answer}\n" for item, answer in zip("abcdef", answers, strict=False))
        (tmp_path / f"{name}.csv").write_text(f"item,score\n{rows}Mean,0.5\n")
    loaded = load([tmp_path / "new.csv", tmp_path / "old.csv"], "accuracy", missing="drop")
    assert loaded.outputs.items["id"].tolist() == list("abcd")


def test_an_item_below_a_row_of_means_is_an_error(tmp_path: Path) -> None:
    """Means by hand: 2 of 3 and 1 of 3. A row that is called mean may be an item if it has none."""
    wide = "item,new,old\na,1,0\nb,1,1\nc,0,0\n"
    told = "{s}, line 6: item 'z' comes below 'Mean', which is no item but has the averages of the others: take that "
    told += "row out, or put it at the end"
    for below in ("z,1,0", "z,0.47,0.47", "z,1,0\nanother,0,0"):
        for metric in ("mean", "accuracy"):
            check_csv_error(tmp_path, f"{wide}Mean,0.667,0.333\n{below}\n", told, metric)
    tidy = "".join(
        f"{system},{item},{score}\n"
        for system, scores in (("new", [1, 1, 0, 0.667, 1]), ("old", [0, 1, 0, 0.333, 0]))
        for item, score in zip(["a", "b", "c", "Mean", "z"], scores, strict=True)
    )
    check_csv_error(tmp_path, f"system,item,score\n{tidy}", told, "mean")
    # Items are called n and p too.
    for row in ("mean,1,0", "all,1,1", "mean,0.667,0.2", "p,0.667,0.333"):
        assert read_csv(tmp_path, f"{wide}{row}\nz,0,1\n").outputs.n_items == 5


def test_means_and_sums_of_graded_scores_are_no_item(tmp_path: Path) -> None:
    """Means by hand: 0.5005 and 0.3505 (sums 2.002 and 1.402). The name of the row does not matter."""
    rows = ["a,0.202,0.102", "b,0.4,0.3", "c,0.6,0.4", "d,0.8,0.6"]
    text = "\n".join(rows)
    for row, what in (
        ("z,0.5005,0.3505", "averages"),
        ("f1 (macro),50,35", "averages"),
        ("Durchschnitt,50.05,35.05", "averages"),
        ("summary,2.002,1.402", "sums"),
    ):
        name, new, old = row.split(",")
        tidy = [
            f"{system},{line.split(',')[0]},{line.split(',')[k]}"
            for k, system in ((1, "new"), (2, "old"))
            for line in [*rows, row]
        ]
        for table, line in (
            (f"item,new,old\n{text}\n{row}\n", 6),
            (f"item,new,old\n{row}\n{text}\n", 2),
            ("\n".join(["system,item,score", *tidy, ""]), 6),
        ):
            loaded = read_csv(tmp_path, table, "mean")
            assert loaded.outputs.items["id"].tolist() == [*"abcd"]
            assert loaded.outputs.scores() == pytest.approx([0.5005, 0.3505])
            (told,) = loaded.notes
            assert told.endswith(f"line {line}: '{name}' left out, which is no item but has the {what} of the others")
    # These are items: other scores, one system, whole ratings whose mean is met by chance, and sums of few.
    for table, n_items in (
        (f"item,new,old\n{text}\nz,0.5005,0.3515\n", 5),
        ("item,new\na,0.2\nb,0.4\nc,0.6\nz,0.4\n", 4),
        ("item,new,old\na,2,3\nb,2,4\nc,5,5\nz,3,4\n", 4),
        ("item,new,old\na,0,1\nb,0,1\nc,1,1\nz,1,3\n", 4),
    ):
        loaded = read_csv(tmp_path, table, "mean")
        assert (loaded.outputs.n_items, loaded.notes) == (n_items, ())


def test_an_odd_row_at_an_end_is_named(tmp_path: Path) -> None:
    text = "a,0.2,0.1\nb,0.4,0.3\nc,0.6,0.4\nd,0.8,0.6\n"
    told = (
        "'z' is used as an item, but is more than 10 times as large as every other item, in every system: if it sums "
    )
    told += "up the others, take the row out"
    for table, line in ((f"{text}z,61,39\n", 6), (f"z,61,39\n{text}", 2)):
        loaded = read_csv(tmp_path, f"item,new,old\n{table}", "mean")
        assert loaded.notes[0] == f"{tmp_path}/s.csv, line {line}: {told}"
        assert loaded.outputs.n_items == 5
    # Not far in one system.
    assert read_csv(tmp_path, f"item,new,old\n{text}z,61,5\n", "mean").notes == ()


def test_rows_below_one_that_sums_up_are_no_items(tmp_path: Path) -> None:
    """By hand: 30 and 40 of 60 are right; the variance is 15/60 * 60/59 and 40/60 * 20/60 * 60/59."""
    rows = [f"q{i},{i % 2},{int(i % 3 > 0)}" for i in range(60)]
    blocks = (
        ["mean,0.5,0.667", "sem,0.065,0.061"],
        ["zz,0.5,0.667", "stderr,0.0651,0.0614"],
        ["Average,50,66.7", "variance,0.254,0.226", "N,60,60"],
        ["n,60,60", "mean,0.5,0.667"],
        ["correct,30,40", "accuracy,0.5,0.66667"],
    )
    for metric, scores in (("mean", [1 / 2, 2 / 3]), ("accuracy", [50, 200 / 3])):
        for block in blocks:
            loaded = read_csv(tmp_path, "\n".join(["item,a,b", *rows, *block, ""]), metric)
            assert loaded.outputs.n_items == 60
            assert loaded.outputs.scores() == pytest.approx(scores)
            named = [f"line {k}: '{row.split(',')[0]}' left out" for k, row in enumerate(block, 62)]
            assert all(one in note for one, note in zip(named, loaded.notes, strict=True))
        # Numbers do not say that these are none.
        told = "{s}, line 63: item 'rank' comes last and is called like a summary, but does not sum up the items "
        told += "before: take the row out, or give the item another name"
        check_csv_error(tmp_path, "\n".join(["item,a,b", *rows, "mean,0.5,0.667", "rank,2,1", ""]), told, metric)
        ends = ["mean,0.5,0.667", "ci low,0.37,0.55", "ci high,0.63,0.79", ""]
        check_csv_error(tmp_path, "\n".join(["item,a,b", *rows, *ends]), told.replace("rank", "ci low"), metric)
        for name in ("p", "n", "var"):
            loaded = read_csv(tmp_path, "\n".join(["item,a,b", *rows, f"{name},1,0", ""]), metric)
            assert (loaded.outputs.n_items, loaded.notes) == (61, ())


def test_means_of_numbers_of_four_bytes_are_no_item(tmp_path: Path) -> None:
    scores = pd.DataFrame(np.random.default_rng(2).random((50, 3)).astype(np.float32), columns=[*"abc"])
    table = pd.concat([scores, scores.mean().to_frame().T]).astype(np.float32)
    table.assign(item=[*map("q{}".format, range(50)), "zz"]).to_parquet(tmp_path / "s.parquet")
    assert load(tmp_path / "s.parquet", "mean").outputs.n_items == 50
