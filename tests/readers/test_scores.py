"""Tables of scores: long, wide, of counts, of samples, of several files, from JSON and in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from simstudy.metrics import METRICS
from simstudy.readers.load import load
from simstudy.readers.long_table import Loaded
from tests.oracles import compared
from tests.readers.line_files import input_error, loaded, note_kinds, refused, scores, texts_of, written

TIDY = "system,item,score,kind,seconds\nold,01,0,x,5\nold,1,1,y,6\nnew,1,1,y,7\nnew,01,1,x,8\n"
F1 = "item,gold,a:correct,a:guessed,b:correct,b:guessed\nx,2,1,2,1,1\ny,1,1,1,,\n"


def read(folder: Path, text: str, metric: str = "accuracy", **options: Any) -> Loaded:
    return loaded(folder, {"s.csv": text}, metric, **options)


def right(read: Loaded) -> dict[str, list[float]]:
    """System -> its first statistic on each item."""
    return dict(zip(read.outputs.names, read.outputs.statistics[..., 0].tolist(), strict=True))


# Shapes ------------------------------------------------------------------------------------------------------------
def test_a_long_table(tmp_path: Path) -> None:
    """Ids as written; of the other columns those that belong to the items; systems and items in the file's order."""
    found = read(tmp_path, TIDY)
    assert found.outputs.items.to_dict("list") == {"id": ["01", "1"], "kind": ["x", "y"]}
    assert right(found) == {"old": [0, 1], "new": [1, 1]}
    assert found.outputs.statistics.dtype == np.int64
    assert (found.outputs.answers, note_kinds(found)) == (None, [])


def test_a_wide_table(tmp_path: Path) -> None:
    """An empty cell is an item that the system lacks; a column of text is no system, nor is one that is named."""
    text = "item,class,domain,note,keras:net,torch:net\n01,7,cat,a,1,0\n1,8,dog,b,1,1\n2,8,dog,c,NA,1\n"
    columns = {"label": "class"}
    found = read(tmp_path, text, columns=columns, missing="drop")
    assert found.outputs.items.set_index("id").to_dict("list") == {
        "domain": ["cat", "dog"], "label": ["7", "8"], "note": ["a", "b"],
    }  # fmt: skip
    assert right(found) == {"keras:net": [1, 1], "torch:net": [0, 1]}
    assert "'note' is not used" in found.notes[0]
    assert right(read(tmp_path, text, columns=columns, missing="zero"))["keras:net"] == [1, 1, 0]


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "NaN", "nan"])
def test_a_cell_without_a_score_is_a_missing_item(tmp_path: Path, cell: str) -> None:
    for text in (f"system,item,score\na,x,1\na,y,{cell}\nb,x,0\nb,y,1\n", f"item,a,b\nx,1,0\ny,{cell},1\n"):
        refused(tmp_path, {"s.csv": text}, "accuracy")
        assert read(tmp_path, text, missing="drop").outputs.items["id"].tolist() == ["x"]
        assert right(read(tmp_path, text, missing="zero")) == {"a": [1, 0], "b": [0, 1]}


def test_wide_counts_under_other_names(tmp_path: Path) -> None:
    """Systems may have a colon in their names, and columns that are not asked for are left out."""
    text = "sent,n_gold,t:1:las,t:1:n,t:1:uas,u:las,u:n,u:uas,domain\n1,4,3,4,4,1,5,1,web\n2,6,3,5,6,6,6,6,web\n"
    columns = {"item": "sent", "correct": "las", "guessed": "n", "gold": "n_gold"}
    outputs = read(tmp_path, text, "f1", columns=columns).outputs
    assert outputs.statistics.tolist() == [[[3, 4, 4], [3, 5, 6]], [[1, 5, 4], [6, 6, 6]]]
    assert outputs.scores() == pytest.approx([100 * 2 * 6 / (9 + 10), 100 * 2 * 7 / (11 + 10)])
    assert outputs.items.to_dict("list") == {"id": ["1", "2"], "domain": ["web", "web"]}


def test_counts_of_a_missing_item(tmp_path: Path) -> None:
    """Nothing correct, nothing guessed, and gold as the others have it, if they agree."""
    assert read(tmp_path, F1, "f1", missing="zero").outputs.statistics[1].tolist() == [[1, 1, 2], [0, 0, 1]]
    text = "system,item,correct,total\na,x,1,1\na,y,0,1\nb,x,1,1\nb,y,0,2\nc,x,1,1\n"
    assert refused(tmp_path, {"s.csv": text}, "accuracy", missing="zero").argument == "missing"


@pytest.mark.parametrize("metric", ["f1", "parseval", "aer", "muc_f", "rouge1", "accuracy"])
def test_a_system_that_answers_less_is_worse(metric: str, tmp_path: Path) -> None:
    """An item that is not answered keeps what belongs to the item."""
    answered, silent = {
        "f1": ([2, 3, 4], [0, 0, 4]),
        "parseval": ([2, 3, 4], [0, 0, 4]),
        "aer": ([2, 3, 4, 5], [0, 0, 0, 5]),
        "muc_f": ([4, 3, 1, 1], [4, 0, 0, 0]),
        "rouge1": ([0.5, 1], [0, 1]),
        "accuracy": ([2, 3], [0, 3]),
    }[metric]
    frame = pd.DataFrame([answered] * 25, columns=list(METRICS[metric].statistics))
    frame.insert(0, "item", [*range(20), *range(5)])
    frame.insert(0, "system", ["all"] * 20 + ["few"] * 5)
    outputs = load(frame, metric, missing="zero").outputs
    assert outputs.statistics[1].tolist() == [answered] * 5 + [silent] * 15
    best, worst = outputs.scores() if METRICS[metric].higher_is_better else -outputs.scores()
    assert best > worst


def test_a_column_of_items_needs_one_value_for_each(tmp_path: Path) -> None:
    """Blanks aside. A domain that differs is left out with a note; a column that the user named is refused."""
    labels = "system,item,score,domain,long\na,x,1,law,w\na,y,1,art,v\nb,x,1,,w\nb,y,1,{},{}\n"
    items = read(tmp_path, labels.format(" ", "v")).outputs.items
    assert items.to_dict("list") == {"id": ["x", "y"], "domain": ["law", "art"], "long": ["w", "v"]}
    empty = "system,item,score,kind\na,x,1,\nb,x,0,\n"
    assert [*read(tmp_path, empty, columns={"domain": "kind"}).outputs.items] == ["id", "domain"]
    found = read(tmp_path, labels.format("bio", "u"))
    assert ([*found.outputs.items], note_kinds(found)) == (["id"], ["column of items left out"])
    error = refused(tmp_path, {"s.csv": labels.format("bio", "u")}, "accuracy", columns={"cluster": "domain"})
    assert error.at == f"{tmp_path}/s.csv, line 5"


def test_the_metric_that_scores_leave(tmp_path: Path) -> None:
    """Scores that are all 0 or 1, and labels, are accuracy, as the first note says; others a mean."""
    for text, metric, score in (
        ("item,a\nx,1\ny,0\n", "accuracy", 50),
        ("item,label,a\nx,u,u\ny,v,w\n", "accuracy", 50),
        ("item,a\nx,1\ny,0.5\n", "mean", 0.75),
    ):
        found = loaded(tmp_path, {"s.csv": text})
        assert (found.outputs.metric.name, found.outputs.scores().tolist()) == (metric, [score])
        assert f"the metric is {metric}" in found.notes[0]


def test_scores_that_are_called_after_an_error_get_a_note_unless_the_direction_is_given(tmp_path: Path) -> None:
    """The name of the column counts, or the names of all systems."""
    for text, columns, name in (
        ("system,item,loss\na,x,2\nb,x,1\n", {"score": "loss"}, "loss"),
        ("item,wer_a,wer_b\nx,2,1\n", {}, "wer_a"),
        ("item,wer_a,b\nx,2,1\n", {}, None),
    ):
        found = read(tmp_path, text, "mean", columns=columns)
        assert [note.fields["name"] for note in found.notes[1:]] == ([name] if name else [])
        assert note_kinds(read(tmp_path, text, "mean", columns=columns, lower_is_better=False)) == []
        errors = read(tmp_path, text, "mean", columns=columns, lower_is_better=True)
        assert (note_kinds(errors), errors.outputs.metric.higher_is_better) == ([], False)


# Several files -----------------------------------------------------------------------------------------------------
RECORDS = [{"id": "q0", "new": 1, "old": 0}, {"id": "q1", "new": 1, "old": 1}]


@pytest.mark.parametrize(
    ("files", "columns", "expected"),
    [
        ({"s.csv": TIDY, "t.csv": "system,item,score\nnew,2,0\nold,2,1\n"}, {}, {"old": [0, 1, 1], "new": [1, 1, 0]}),
        # Each of another shape and with names of its own; the rows of tiny stand in another order.
        (
            {
                "new.json": json.dumps({"q1": 1, "q2": 0}),
                "old.csv": "item,score\nq1,0\nq2,1\n",
                "tiny.jsonl": '{"task_id": "q2", "passed": true}\n{"task_id": "q1", "passed": false, "x": {"y": 1}}\n',
            },
            {},
            {"new": [1, 0], "old": [0, 1], "tiny": [0, 1]},
        ),
        # Rows are numbered in each file.
        (
            {"a.csv": "correct\n1\n1\n0\n", "b.csv": "correct\n0\n1\n0\n"},
            {"item": "row"},
            {"a": [1, 1, 0], "b": [0, 1, 0]},
        ),
        # Numbers beside a list of records are no scores and no systems; words beside scores are no gold labels.
        (
            {"s.json": json.dumps({"temperature": 0.7, "score": 0.5, "accuracy": 1, "results": RECORDS})},
            {},
            {"new": [1, 1], "old": [0, 1]},
        ),
        ({"s.csv": "item,target,new,old\nq1,yes,1,0\nq2,no,1,1\n"}, {}, {"new": [1, 1], "old": [0, 1]}),
    ],
)
def test_files_are_one_table_of_what_is_scored(
    tmp_path: Path, files: dict[str, str], columns: dict[str, str], expected: dict[str, list[int]]
) -> None:
    assert right(loaded(tmp_path, files, "accuracy", columns=columns)) == expected


def test_what_files_that_name_no_systems_say_of_items_is_kept(tmp_path: Path) -> None:
    texts = {"s.csv": "qid,resolved,repo\nx,True,e\ny,false,d\n", "t.csv": "qid,resolved,repo\ny,1,d\nx,0,e\n"}
    found = loaded(tmp_path, texts, "accuracy", columns={"domain": "repo"})
    assert (right(found), found.outputs.items["domain"].tolist()) == ({"s": [1, 0], "t": [0, 1]}, ["e", "d"])
    found = loaded(tmp_path, {"s.csv": "item,a\nx,1\ny,0\n", "t.csv": "item,b,domain\ny,1,d\nx,0,e\n"}, "accuracy")
    assert (right(found), found.outputs.items["domain"].tolist()) == ({"a": [1, 0], "b": [0, 1]}, ["e", "d"])
    # And what files of systems that the user names say.
    files = {
        name: written(tmp_path / name, f"item,cluster,c\nq1,x,{k}\nq2,x,1\n")
        for k, name in enumerate(("old.csv", "new.csv"))
    }
    outputs = load({path.stem: path for path in files.values()}, "accuracy").outputs
    assert (outputs.names, outputs.items["cluster"].tolist()) == (["old", "new"], ["x", "x"])


def test_files_with_one_run_id_are_one_system(tmp_path: Path) -> None:
    """If they share items, the remedy is names of systems, which work."""
    text = "run_id,item,score\nr1,{},1\nr1,{},0\n"
    found = loaded(tmp_path, {"f.csv": text.format("x", "y"), "g.csv": text.format("v", "w")}, "accuracy")
    assert right(found) == {"r1": [1, 0, 1, 0]}
    remedy = refused(tmp_path, {"f.csv": text.format("x", "y"), "g.csv": text.format("y", "x")}, "accuracy").remedy
    named = dict(word.split("=") for word in remedy.split() if "=" in word)
    assert {*named.values()} == {f"{tmp_path}/f.csv", f"{tmp_path}/g.csv"}
    assert right(load(named, "accuracy")) == {"f": [1, 0], "g": [0, 1]}


def test_a_table_of_one_system_takes_a_name_and_one_of_several_does_not(tmp_path: Path) -> None:
    for text in ("system,item,score\nm,q1,1\n", "item,m\nq1,1\n"):
        assert load({"a": written(tmp_path / "s.csv", text)}, "accuracy").outputs.names == ["a"]
    for text in ("system,item,score\nm,q1,1\nn,q1,0\n", "item,m,n\nq1,1,0\n"):
        input_error({"a": written(tmp_path / "s.csv", text)}, "accuracy", match="for files of one system: .* has m, n")


def test_a_table_of_systems_makes_a_column_a_system(tmp_path: Path) -> None:
    """Whatever it is called."""
    systems = written(tmp_path / "systems.csv", "system,group\nlength,x\ndoc,y\nmean,y\n")
    found = read(tmp_path, "item,length,doc,mean\nq1,1,0,1\nq2,0,0,1\n", systems=systems)
    assert right(found) == {"length": [1, 0], "doc": [0, 0], "mean": [1, 1]}
    assert "cluster" not in found.outputs.items
    assert found.outputs.systems["group"].tolist() == ["x", "y", "y"]


# Samples -----------------------------------------------------------------------------------------------------------
RIGHT = {
    "old": ["0000", "0010", "1111", "0000", "1010", "0000", "0110"],
    "new": ["1111", "1110", "1111", "0011", "1110", "0000", "1111"],
}
ROWS = pd.DataFrame(
    [(s, f"q{q}", k, int(own[k])) for s, all_ in RIGHT.items() for q, own in enumerate(all_) for k in range(4)],
    columns=["system", "item", "sample", "score"],
)
GAINS = [new.count("1") - old.count("1") for old, new in zip(*RIGHT.values(), strict=True)]
#: The two-sided p-value of sign flips of seven questions, by all patterns of signs.
BY_QUESTION = np.mean(np.abs(np.array([*product([-1, 1], repeat=7)]) @ GAINS) >= sum(GAINS))


def _wide() -> pd.DataFrame:
    wide = ROWS.assign(sample="score_" + ROWS["sample"].astype(str))
    return wide.pivot(index=["system", "item"], columns="sample", values="score").reset_index()


SAMPLES: Mapping[str, Mapping[str, pd.DataFrame | str]] = {
    "rows": {"s.csv": ROWS},
    "rows in another order": {"s.csv": ROWS.sample(frac=1, random_state=1)},
    "another name": {"s.csv": ROWS.rename(columns={"sample": "epoch"})},
    "columns": {"s.csv": _wide()},
    "a file for each system": {
        f"{name}.csv": own.drop(columns="system").rename(columns=lambda one: one.replace("score", "sample"))
        for name, own in _wide().groupby("system")
    },
    "lists": {
        f"{name}.jsonl": "".join(
            json.dumps({"id": f"q{q}", "correct": [*map(int, own)]}) + "\n" for q, own in enumerate(all_)
        )
        for name, all_ in RIGHT.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("shape", SAMPLES)
def test_the_samples_of_a_question_are_resampled_together(shape: str, tmp_path: Path) -> None:
    """As all patterns of signs of seven questions give it: .0625, while 28 answers one by one are significant."""
    files = {name: one if isinstance(one, str) else one.to_csv(index=False) for name, one in SAMPLES[shape].items()}
    found = loaded(tmp_path, files, "accuracy")
    pairs = compared(found.outputs)
    assert pairs["p_value"].iloc[0] == pytest.approx(BY_QUESTION) == pytest.approx(0.0625)
    assert (pairs["n_units"].iloc[0], pairs["n_items"].iloc[0]) == (7, 28)
    assert compared(found.outputs, unit="item")["p_value"].iloc[0] < 0.005
    assert scores(found) == {name: round(100 * "".join(own).count("1") / 28, 2) for name, own in RIGHT.items()}
    assert note_kinds(found)[-1] == "samples of questions"


def test_metrics_of_samples(tmp_path: Path) -> None:
    """pass^2 of a question with c right of n is c (c - 1) / n (n - 1)."""
    counts = ROWS.groupby(["system", "item"])["score"].sum()
    expected = 100 * (counts * (counts - 1) / 12).groupby("system").mean()
    assert scores(read(tmp_path, ROWS.to_csv(index=False), "pass^2")) == expected.round(2).to_dict()
    one = ROWS[ROWS["sample"] == 0].to_csv(index=False)
    assert refused(tmp_path, {"s.csv": one}, "pass@2").argument == "metric"


def test_means_with_their_number_of_samples(tmp_path: Path) -> None:
    means = ROWS.groupby(["system", "item"])["score"].mean().round(4).reset_index()
    found = read(tmp_path, means.assign(n_samples=4).to_csv(index=False))
    variances = ROWS.groupby(["system", "item"])["score"].var()
    assert (found.outputs.samples is not None, note_kinds(found)) == (True, ["means of samples"])
    for k, name in enumerate(found.outputs.names):
        assert found.outputs.samples[k, :, 1] == pytest.approx(variances[name].loc[found.outputs.items["id"]])  # type: ignore[index]
    named = read(tmp_path, means.assign(k=4).to_csv(index=False), columns={"n_samples": "k"})
    assert np.array_equal(named.outputs.samples, found.outputs.samples)
    wrong = means.assign(n_samples=4, score=means["score"].where(means.index != 3, 0.3)).to_csv(index=False)
    assert refused(tmp_path, {"s.csv": wrong}, "accuracy").at.endswith("line 5")


def test_questions_of_unlike_samples_count_alike(tmp_path: Path) -> None:
    """By the means that pandas groups: within a system, and between systems."""
    for kept in (ROWS[(ROWS["item"] != "q6") | (ROWS["sample"] == 0)],
                 ROWS[(ROWS["system"] == "old") | (ROWS["item"] > "q2") | (ROWS["sample"] > 0)]):  # fmt: skip
        found = read(tmp_path, kept.to_csv(index=False))
        groups = kept.groupby(["system", "item"])["score"]
        assert found.outputs.n_items == 7
        for k, name in enumerate(found.outputs.names):
            ids = found.outputs.items["id"]
            assert found.outputs.statistics[k, :, 0] == pytest.approx(groups.mean()[name].loc[ids].to_numpy())
            assert found.outputs.samples[k, :, 0].tolist() == groups.size()[name].loc[ids].tolist()  # type: ignore[index]
            variances = groups.var()[name].loc[ids].to_numpy()
            np.testing.assert_allclose(found.outputs.samples[k, :, 1], variances)  # type: ignore[index]
    assert loaded(tmp_path, {"s.csv": kept.to_csv(index=False)}).outputs.metric.name == "accuracy"
    assert read(tmp_path, kept.to_csv(index=False), missing="drop").outputs.n_items == 25
    assert read(tmp_path, kept.to_csv(index=False), missing="zero").outputs.n_items == 28


def test_lists_may_have_samples_that_were_not_taken(tmp_path: Path) -> None:
    """Questions count alike: 2/3 and 1/2, 1/3 and 1."""
    said = {"a": [[True, False, True], [False, True, None]], "b": [[1, 0, 0], [1, 1]]}
    files = {
        f"{name}.jsonl": "".join(json.dumps({"id": f"q{i}", "correct": one}) + "\n" for i, one in enumerate(own))
        for name, own in said.items()
    }
    assert scores(loaded(tmp_path, files, "accuracy")) == {"a": 58.33, "b": 66.67}


# Ids ---------------------------------------------------------------------------------------------------------------
CATEGORIES = "system,category,id,score\n" + "".join(
    f"{s},{c},{i},{int(s + c + str(i) != 'alaw2')}\n" for s in "ab" for c in ("law", "art") for i in (1, 2)
)


@pytest.mark.parametrize("joined", ["category+id", "category + id"])
def test_ids_of_several_columns(tmp_path: Path, joined: str) -> None:
    found = read(tmp_path, CATEGORIES, columns={"item": joined, "domain": "category"})
    assert found.outputs.items.to_dict("list") == {
        "id": ["law/1", "law/2", "art/1", "art/2"],
        "domain": ["law", "law", "art", "art"],
    }
    assert right(found) == {"a": [1, 0, 1, 1], "b": [1, 1, 1, 1]}
    table = written(tmp_path / "items.csv", "category,id,doc\nart,1,x\nart,2,y\nlaw,1,x\nlaw,2,x\n")
    items = read(tmp_path, CATEGORIES, columns={"item": joined}, items=table).outputs.items
    assert items["cluster"].tolist() == ["x", "x", "x", "y"]
    lacking = CATEGORIES.replace("law,2,1", ",2,1")
    assert refused(tmp_path, {"s.csv": lacking}, "accuracy", columns={"item": joined}).at.endswith("line 7")


def test_rows_number_items_or_samples_if_the_user_says_so(tmp_path: Path) -> None:
    text = "system,item,score\na,x,1\nb,x,0\na,x,0\nb,x,0\na,y,1\nb,y,1\nb,y,0\na,y,1\n"
    found = read(tmp_path, text, columns={"sample": "row"})
    assert found.outputs.items["id"].tolist() == ["x#1", "x#2", "y#1", "y#2"]
    assert right(found) == {"a": [1, 0, 1, 1], "b": [0, 0, 1, 0]}
    for name, header in (("row", "item,a,b"), ("epoch", "item,epoch,a,b"), ("sample", "item,sample,a,b")):
        cells = ["x,1,0", "x,0,0"] if name == "row" else ["x,1,1,0", "x,2,0,0"]
        found = read(tmp_path, "\n".join([header, *cells]), columns={"sample": name} if name != "sample" else {})
        assert (found.outputs.items["id"].tolist(), right(found)) == (["x#1", "x#2"], {"a": [1, 0], "b": [0, 0]})
    found = read(tmp_path, "system,score\na,1\nb,0\na,0\nb,1\n", columns={"item": "row"})
    assert (found.outputs.items["id"].tolist(), right(found)) == (["1", "2"], {"a": [1, 0], "b": [0, 1]})


def test_names_that_are_none_or_two_in_one(tmp_path: Path) -> None:
    for text, line in (
        ("system,item,score\na,x,1\nNaN,y,1\n", 3), ("system,item,score\na,x,1\na, ,1\n", 3),
        ("item,a\nx,1\n<NA>,1\n", 3), ('system,item,score\n"x\ny",a,1\n', 2),
    ):  # fmt: skip
        assert refused(tmp_path, {"s.csv": text}, "accuracy").at == f"{tmp_path}/s.csv, line {line}"
    assert read(tmp_path, "item,a\nNA,1\nNone,1\n").outputs.items["id"].tolist() == ["NA", "None"]


def test_an_item_may_be_a_text_of_several_lines(tmp_path: Path) -> None:
    """Prompts are ids, with line ends of two programs; a table of the items has the same."""
    files = {f"{name}.json": json.dumps([{"prompt": f"Say{end}hi", "correct": x}, {"prompt": "b", "correct": 1}])
             for name, end, x in (("a", "\n", 1), ("b", "\r\n", 0))}  # fmt: skip
    (tmp_path / "items.jsonl").write_text('{"prompt": "b", "doc": "x"}\n{"prompt": "Say\\nhi", "doc": "x"}\n')
    found = loaded(tmp_path, files, "accuracy", items=tmp_path / "items.jsonl")
    assert (scores(found), found.outputs.items["id"].tolist()) == ({"a": 100, "b": 50}, ["Say\\nhi", "b"])
    assert found.outputs.items["cluster"].tolist() == ["x", "x"]


def test_a_row_that_comes_again_is_named_with_the_first(tmp_path: Path) -> None:
    error = refused(tmp_path, {"s.csv": TIDY, "t.csv": TIDY}, "accuracy")
    assert error.at == f"{tmp_path}/t.csv, line 2"
    assert f"first in {tmp_path}/s.csv, line 2" in error.rule
    text = "system,item,sample,score\na,x,1,1\na,x,2,1\na,x,1,0\n"
    error = refused(tmp_path, {"s.csv": text}, "accuracy")
    assert (error.at, "sample 'x#1'" in error.rule) == (f"{tmp_path}/s.csv, line 4", True)


# Texts, rows of one kind, memory -----------------------------------------------------------------------------------
def test_texts_beside_scores_are_for_people(tmp_path: Path) -> None:
    """Two systems with one answer are no near-duplicates by it, for an answer is not what is scored."""
    long = "system,item,score,question,gold,response\na,x,1,Who?,me,I\nb,x,0,Who?,me,you\n"
    found = read(tmp_path, long)
    assert [texts_of(found).answers_of(name, ["x"]) for name in "ab"] == [["I"], ["you"]]
    assert (texts_of(found).inputs_of(["x"]), texts_of(found).references_of(["x"])) == (["Who?"], ["me"])
    assert found.outputs.answers is None
    wide = read(tmp_path, "item,a,b,a:response,question\nx,1,0,I,Who?\n")
    assert (wide.outputs.names, wide.texts is not None and wide.texts.answers_of("a", ["x"])) == (["a", "b"], ["I"])
    assert read(tmp_path, long, narrow=True).texts is None


def test_integers_and_narrow_tables(tmp_path: Path, rng: np.random.Generator) -> None:
    """The same numbers in fewer bytes."""
    frame = pd.DataFrame({"item": range(50), "a": rng.integers(0, 2, 50), "b": rng.integers(0, 2, 50)})
    frame.to_parquet(tmp_path / "s.parquet")
    plain, small = (load(tmp_path / "s.parquet", "accuracy", narrow=narrow).outputs for narrow in (False, True))
    assert (plain.statistics.dtype, small.statistics.dtype) == (np.int64, np.int8)
    assert np.array_equal(plain.statistics, small.statistics)
    counts = {"item": [0], "correct": [2**20], "total": [2**21], "system": "a"}
    assert load(pd.DataFrame(counts), "accuracy", narrow=True).outputs.statistics.tolist() == [[[2**20, 2**21]]]
    # What an item has that no system answered may be larger than all other numbers.
    lines = {"a": "u1 x\nu2 y\n", "gold": f"u1 x\nu2 y\nu3 {'long ' * 300}\n"}
    plain, small = (loaded(tmp_path, lines, "chrf", missing="zero", narrow=narrow).outputs for narrow in (False, True))
    assert np.array_equal(plain.statistics, small.statistics)


WIDE = pd.DataFrame(
    {"item": [f"q{i}" for i in range(6)], "old": [0, 1, 0, 1, 1, 0], "new": [1, 1, 0, 1, 1, 1],
     "domain": ["news", "web"] * 3, "doc": ["d1", "d1", "d2", "d2", "d3", "d3"]}
)  # fmt: skip
LONG = WIDE.melt(["item", "domain", "doc"], var_name="system", value_name="score")
COUNTS = LONG[["system", "item"]].assign(gold=3, correct=LONG["score"], guessed=2)


class Exchanged:
    """A table of a library that nobody here has heard of: it only speaks Arrow, as polars does."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._table = pa.Table.from_pandas(frame, preserve_index=False)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def summary(read: Loaded) -> list[Any]:
    outputs = read.outputs
    described = [outputs.statistics.tolist(), outputs.items.astype(str).to_dict("list"), outputs.names]
    return [*described, outputs.metric.name, note_kinds(read)]


@pytest.mark.parametrize(
    ("frame", "metric", "options"),
    [
        (WIDE, "accuracy", {}),
        (LONG, "accuracy", {}),
        (COUNTS, "f1", {}),
        (WIDE.rename(columns={"item": "qid", "doc": "size"}), "accuracy", {"columns": {"size": "size"}}),
        (LONG.rename(columns={"score": "wer"}), "mean", {"columns": {"score": "wer"}}),
        (LONG.iloc[:-1], "accuracy", {"missing": "drop"}),
        (LONG.iloc[:-1], "accuracy", {"missing": "zero", "domain": "web"}),
        (WIDE.assign(old=WIDE["old"].astype(bool), new=WIDE["new"] / 4), "mean", {"lower_is_better": True}),
        (LONG.astype({"system": "category", "domain": "category", "score": "Int64"}), "accuracy", {}),
    ],
)
def test_a_table_in_memory_is_what_its_file_is(
    frame: pd.DataFrame, metric: str, options: dict[str, Any], tmp_path: Path
) -> None:
    frame.to_csv(tmp_path / "t.csv", index=False)
    of_file = summary(load(tmp_path / "t.csv", metric, **options))
    for table in (frame, frame.iloc[::-1].iloc[::-1], Exchanged(frame), pa.Table.from_pandas(frame)):
        assert summary(load(table, metric, **options)) == of_file


def test_the_index_names_the_items() -> None:
    expected = summary(load(WIDE, "accuracy"))
    for frame in (
        WIDE.set_index("item"), WIDE.set_index("item").rename_axis(None), WIDE.set_index("item").rename_axis("key"),
        WIDE.set_index(["domain", "item"]), WIDE.set_index(["domain", "item"]).rename_axis(["domain", None]),
    ):  # fmt: skip
        assert summary(load(frame, "accuracy")) == expected
    assert summary(load(LONG.set_index(["system", "item"]), "accuracy"))[0] == expected[0]
    # Labels that were left when rows were selected say nothing.
    assert load(WIDE[WIDE["domain"] == "web"], "accuracy").outputs.items["id"].tolist() == ["q1", "q3", "q5"]


def test_scores_by_system_are_a_table() -> None:
    a, b = WIDE.set_index("item")["old"], WIDE.set_index("item")["new"]
    for columns in ({"old": a, "new": b.iloc[::-1]}, {"old": a.to_dict(), "new": b.to_dict()}):
        assert scores(load(columns, "accuracy")) == {"old": 50, "new": 83.33}
    listed = load({"old": a.tolist(), "new": b.to_numpy()}, "accuracy")
    assert (scores(listed), note_kinds(listed)) == ({"old": 50, "new": 83.33}, ["items numbered"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (WIDE.set_index(pd.Index(["a", "b", np.nan, "d", "e", "f"])).drop(columns="item"), "the table, row 3: no item"),
        (WIDE.set_index(pd.Index(["a", "b", " ", "d", "e", "f"])).drop(columns="item"), "the table, row 3: no item"),
        (WIDE.assign(old=["1", "x", "1", "1", "1", "1"]), "the table, row 2, system 'old': score must be a number"),
        (LONG.assign(score=[np.inf, *LONG["score"][1:]]), "the table, row 1: score must be a number, not inf"),
        (LONG.assign(score=pd.Timestamp("2020-01-01")), "the table, row 1: score must be a number"),
        (pd.concat([LONG, LONG.iloc[[2]]]), "the table, row 13: item 'q2' of system 'old' comes again, first in"),
        (WIDE.rename(columns={"item": "row_id"}), "row_id"),
        (LONG.drop(columns="item"), "the table: no column 'item'"),
        (WIDE.iloc[:0], "the table has"),
        (WIDE.rename(columns={"old": "new"}), "'new'"),
        (WIDE.rename(columns={"old": np.nan}), "column 2 has none"),
        (WIDE.set_index("domain", drop=False), "'domain'"),
        ({"a": [1, 0], "b": [1]}, "must be of the same length"),
        ({"a": [1, 0], "b": 1}, "for 'b'"),
        ({}, "no rows"),
        (pd.Series([1, 2]), "paths must be"),
        ([WIDE], "paths must be"),
        (SimpleNamespace(to_pandas=1), "paths must be"),
    ],
)
def test_what_is_refused_of_a_table_in_memory(table: Any, message: str) -> None:
    input_error(table, "accuracy", match=message)


def test_what_is_for_files_is_refused_with_a_table_in_memory() -> None:
    for argument, value in (("references", __file__), ("format", "text"), ("ties", "keep")):
        assert input_error(WIDE, "accuracy", **{argument: value}).argument == argument


def test_questions_that_stand_under_other_ids_are_not_paired_by_these(tmp_path: Path) -> None:
    """The same answers, with the rows of one file in reverse order and numbered anew."""
    files = {}
    for name, order in {"a": range(20), "b": range(19, -1, -1)}.items():
        rows = "".join(f"{number},what is {i}?,{i % 3 == 0:d}\n" for number, i in enumerate(order))
        files[f"{name}.csv"] = f"id,question,correct\n{rows}"
    remedy: Any = refused(tmp_path, files, match="same questions under other ids").remedy
    named = remedy.fields["columns"]
    outputs = loaded(tmp_path, files, **{named.name: named.value}).outputs
    assert (outputs.statistics[0] == outputs.statistics[1]).all()


def test_prompts_that_many_items_share_are_no_questions(tmp_path: Path) -> None:
    rows = [f"{m},q{i},{'ab'[(i + k) % 2]},{i % 2}" for k, m in enumerate("AB") for i in range(20)]
    assert loaded(tmp_path, {"t.csv": "\n".join(["model,item,prompt,score", *rows])}).outputs.n_items == 20


def test_a_column_of_other_numbers_beside_right_and_wrong_answers_needs_a_metric(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("item,shelf,new,old\nq1,1,1,0\nq2,2,1,0\nq3,2,1,1\n")
    aside = input_error(tmp_path / "s.csv").remedy.fields["aside"].fields["aside"]  # type: ignore[attr-defined]
    assert load(tmp_path / "s.csv", columns=aside.value).outputs.names == ["new", "old"]
    assert load(tmp_path / "s.csv", "mean").outputs.names == ["shelf", "new", "old"]


def test_a_system_may_have_a_colon_in_its_name(tmp_path: Path) -> None:
    found = read(tmp_path, "item,llama3,llama3:70b,llama3:response\nq1,1,0,yes\nq2,0,1,no\n")
    assert right(found) == {"llama3": [1, 0], "llama3:70b": [0, 1]}
    assert texts_of(found).answers_of("llama3", ["q1"]) == ["yes"]


def test_clusters_that_part_the_rows_of_an_item_are_no_clusters_of_crossed_items(tmp_path: Path) -> None:
    text = "model,rater,item,score,document\na,r1,q,1,d1\na,r2,q,0,d2\nb,r1,q,1,d1\nb,r2,q,1,d2\n"
    assert refused(tmp_path, {"s.csv": text}, "accuracy", columns={"factor": "rater"}).argument == "cluster"
