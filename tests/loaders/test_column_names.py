"""Columns under other names, of several columns, and rows that take the place of one."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from simstudy.loaders.door import load
from simstudy.outputs import Outputs
from tests.loaders.files import check_csv_error, read_csv


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("model,question_id,correct", "model as system, question_id as item and correct as score"),
        ("System Name,instance_id,Resolved", "System Name as system, instance_id as item and Resolved as score"),
        ("run,doc_id,metrics.exact_match", "run as system, doc_id as item and metrics.exact_match as score"),
        ("system,id,acc", "id as item and acc as score"),
        ("x.model,item,score", "x.model as system"),
    ],
)
def test_usual_names_are_found_and_said_in_one_line(tmp_path: Path, header: str, said: str) -> None:
    loaded = read_csv(tmp_path, f"{header}\na,1,1\na,2,true\nb,2,0\nb,1,False\n")
    assert (loaded.outputs.names, loaded.outputs.scores().tolist()) == (["a", "b"], [100, 0])
    assert loaded.outputs.items["id"].tolist() == ["1", "2"]
    first = said.split(" as ")[1].split(",")[0].split(" and ")[0]
    assert loaded.notes == (f"simstudy uses {said}. To change this, use columns={{'{first}': 'NAME'}}.",)


def test_our_own_names_and_what_the_caller_says_go_first(tmp_path: Path) -> None:
    text = "system,item,score,model,id,correct\na,1,1,x,9,0\na,2,0,x,8,0\n"
    loaded = read_csv(tmp_path, text)
    assert (loaded.outputs.names, loaded.outputs.scores().tolist(), loaded.notes) == (["a"], [50], ())
    loaded = read_csv(tmp_path, text, columns={"system": "model", "item": "id", "score": "correct"})
    assert (loaded.outputs.names, loaded.outputs.scores().tolist(), loaded.notes) == (["x"], [0], ())


def test_a_question_is_the_item_where_nothing_else_is(tmp_path: Path) -> None:
    """Its samples are its cluster; beside an id, or a number of the row, it is a cluster of items as before."""
    rows = [f"{s},{q},{k},{x}" for s, x in (("a", 1), ("b", 0)) for q in "xyz" for k in (1, 2)]
    for name in ("question", "prompt", "Problem", "query", "example", "instance"):
        loaded = read_csv(tmp_path, "\n".join([f"model,{name},sample,correct", *rows]))
        assert loaded.outputs.items["sample_of"].tolist() == [*"xxyyzz"] == loaded.outputs.items["cluster"].tolist()
        told, samples = loaded.notes
        assert told.startswith(f"simstudy uses model as system, {name} as item and correct as score. ")
        assert samples.startswith("3 questions with 6 samples. The samples of a question form one cluster. ")
        assert read_csv(tmp_path, (tmp_path / "s.csv").read_text(), "pass@2").notes == (told,)
    for item in ("question_id", "index"):
        loaded = read_csv(tmp_path, f"model,question,{item},correct\na,x,1,1\na,x,2,0\na,y,3,1\n")
        assert loaded.outputs.items[["id", "cluster"]].to_numpy().tolist() == [["1", "x"], ["2", "x"], ["3", "y"]]
    loaded = read_csv(tmp_path, "question,a,b\nx,1,0\ny,1,1\n")
    assert (loaded.outputs.names, loaded.outputs.natural_unit) == (["a", "b"], "item")
    told = "{s}: question and prompt may each be the item; say which by columns={'item': 'question'} or "
    check_csv_error(tmp_path, "question,prompt,a,b\nx,1,0,0\n", f"{told}columns={{'item': 'prompt'}}")


def test_where_two_fit_the_caller_is_asked(tmp_path: Path) -> None:
    two = "{s}: %s may each be the %s; say which by columns={'%s': '%s'} or columns={'%s': '%s'}"
    for header, ours, one, other in (
        ("model,question_id,correct,acc", "score", "correct", "acc"),
        ("model,id,question_id,acc", "item", "id", "question_id"),
        ("model,run,id,acc", "system", "model", "run"),
    ):
        told = two % (f"{one} and {other}", ours, ours, one, ours, other)
        check_csv_error(tmp_path, f"{header}\n1,1,1,1\n0,0,0,0\n", told)
    loaded = read_csv(tmp_path, "model,id,correct,acc\na,1,1,0\n", columns={"score": "acc"})
    assert loaded.outputs.scores().tolist() == [0]


def test_a_hint_says_what_columns_did_to_the_items(tmp_path: Path) -> None:
    told = "{s}: no column 'item' (columns: system, score, id). Leave out columns={'id': 'item'}"
    check_csv_error(tmp_path, "system,item,score\na,1,1\n", f"{told}.", columns={"id": "item"})
    told += ", or did you mean columns={'item': 'id'}?"
    check_csv_error(tmp_path, "system,id,item,score\na,7,1,1\n", told, columns={"id": "item"})


def test_a_hint_says_how_texts_go_in(tmp_path: Path) -> None:
    for metric, texts in (("bleu", True), ("f1", False)):
        with pytest.raises(ValueError, match="no column") as caught:
            read_csv(tmp_path, "item,a,b\n1,the cat,a cat\n", metric)
        hint = " For texts, give one text file per system, one line per item, and references='FILE'."
        assert str(caught.value).endswith(hint) == texts


def test_a_score_that_is_guessed_is_one(tmp_path: Path) -> None:
    """The right answer may be called correct too, and percentages are no accuracy of an item."""
    loaded = read_csv(tmp_path, "model,id,correct,acc\na,1,B,1\na,2,C,0\n")
    assert loaded.outputs.scores().tolist() == [50]
    text = "model,id,accuracy\na,1,50\n"
    told = (
        "{s}, line 2: a score must be between 0 and 1 for metric 'accuracy', not 50; divide percentages by 100, or "
        "take metric='mean'"
    )
    check_csv_error(tmp_path, text, told)
    assert read_csv(tmp_path, "model,id,accuracy,acc\na,1,50,1\n").outputs.scores().tolist() == [100]
    assert read_csv(tmp_path, text, "mean").outputs.scores().tolist() == [50]


def test_a_wide_table_stays_one(tmp_path: Path) -> None:
    """Its systems are columns, and its rows may have no name but a number, as pandas writes them."""
    frame = pd.DataFrame({"new": [1, 1], "old": [1, 0]})
    loaded = read_csv(tmp_path, frame.to_csv())
    assert (loaded.outputs.names, loaded.outputs.items["id"].tolist()) == (["new", "old"], ["0", "1"])
    assert loaded.notes == ("simstudy uses Unnamed: 0 as item. To change this, use columns={'item': 'NAME'}.",)
    frame = frame.assign(item=["x", "y"], id=[3, 4], length=[7, 8], index=[0, 1])
    loaded = read_csv(tmp_path, frame.to_csv())
    assert (loaded.outputs.names, loaded.outputs.items["length"].tolist()) == (["new", "old"], ["7", "8"])
    assert loaded.notes == ("not used as systems: 'Unnamed: 0', 'id', 'length', 'index'; to use one, rename it",)


CATEGORIES = "system,category,id,score\n" + "".join(
    f"{s},{c},{i},{score}\n" for s, score in (("a", 1), ("b", 0)) for c in ("law", "art") for i in (1, 2)
)


def test_no_long_text_and_no_answer_is_advised_as_a_part_of_ids(tmp_path: Path) -> None:
    rows = [(s, c, i) for s in "ab" for c in ("law", "art") for i in (1, 2)]
    prompts = {(c, i): f"Which answer to number {i} in {c} is it that most people would give you?" for _, c, i in rows}
    frame = pd.DataFrame(
        [(s, prompts[c, i], "AB"[c == "art"], f"p{c}{i // 2}", c, i, 1) for s, c, i in rows],
        columns=["system", "prompt", "answer", "part", "category", "id", "score"],
    )
    with pytest.raises(ValueError, match=re.escape("columns={'item': 'category+id'} joins them")):
        read_csv(tmp_path, frame.to_csv(index=False))
    with pytest.raises(ValueError, match=re.escape("columns={'sample': 'row'}. If the row is there twice")):
        read_csv(tmp_path, frame.drop(columns=["part", "category"]).to_csv(index=False))


def test_ids_of_several_columns(tmp_path: Path) -> None:
    told = (
        "again, first in {s}, line 2; if an id is another item in each 'category', columns={'item': 'category+id'} "
        "joins them; if the rows are samples of one question, columns={'sample': 'category'}. If the row is there "
        "twice by mistake, take one out"
    )
    with pytest.raises(ValueError, match=re.escape(told.replace("{s}", str(tmp_path / "s.csv"))) + "$"):
        read_csv(tmp_path, CATEGORIES)
    for joined in ("category+id", "category + id"):
        items = read_csv(tmp_path, CATEGORIES, columns={"item": joined, "domain": "category"}).outputs.items
        assert items["id"].tolist() == ["law/1", "law/2", "art/1", "art/2"]
        assert items["domain"].tolist() == ["law", "law", "art", "art"]
    table = tmp_path / "items.csv"
    table.write_text("category,id,doc\nart,1,x\nart,2,y\nlaw,1,x\nlaw,2,x\n")
    items = read_csv(tmp_path, CATEGORIES, columns={"item": "category+id"}, items=table).outputs.items
    assert items["cluster"].tolist() == ["x", "x", "x", "y"]
    told = (
        "{s}: no column 'idd' (columns: system, category, id, score). Did you mean 'id'? 'category+idd' joins columns."
    )
    check_csv_error(tmp_path, CATEGORIES, told, columns={"item": "category+idd"})
    check_csv_error(tmp_path, CATEGORIES.replace("law,2,1", ",2,1"), "{s}, line 3: no category",
                columns={"item": "category+id"})  # fmt: skip


def test_rows_number_samples_or_items_if_the_caller_says_so(tmp_path: Path) -> None:
    text = "system,item,score\na,x,1\nb,x,0\na,x,0\nb,x,0\na,y,1\nb,y,1\nb,y,0\na,y,1\n"
    told = "or use the order of the rows with columns={'sample': 'row'}. If the row is there twice by mistake, "
    told += "take one out"
    check_csv_error(
        tmp_path, text, "{s}, line 4: item 'x' of system 'a' again, first in {s}, line 2; several samples of a "
        f"question need a column 'sample' with their numbers. Name it with columns={{'sample': 'NAME'}}, {told}",
    )  # fmt: skip
    outputs = read_csv(tmp_path, text, columns={"sample": "row"}).outputs
    assert outputs.items.to_dict("list") == {
        "id": ["x#1", "x#2", "y#1", "y#2"],
        **dict.fromkeys(("sample_of", "cluster"), ["x", "x", "y", "y"]),
    }
    assert outputs.statistics[..., 0].tolist() == [[1, 0, 1, 1], [0, 0, 1, 0]]
    outputs = read_csv(tmp_path, "item,a,b\nx,1,0\nx,0,0\n", columns={"sample": "row"}).outputs
    assert outputs.items["id"].tolist() == ["x#1", "x#2"]
    outputs = read_csv(tmp_path, "system,score\na,1\nb,0\na,0\nb,1\n", columns={"item": "row"}).outputs
    assert (outputs.items["id"].tolist(), outputs.statistics[..., 0].tolist()) == (["1", "2"], [[1, 0], [0, 1]])


def test_files_with_one_run_id_are_a_system_each(tmp_path: Path) -> None:
    rows = {"f": "1,0,1", "g": "0,0,1", "h": "1,1,1"}
    for name, scores in rows.items():
        lines = [f"r1,{i},{x}" for i, x in enumerate(scores.split(","))]
        (tmp_path / f"{name}.csv").write_text("\n".join(["run_id,item,score", *lines]))
    loaded = load([tmp_path / "f.csv", tmp_path / "g.csv"], "accuracy")
    assert loaded.outputs.names == ["f", "g"]
    assert loaded.notes == ("'run_id' is 'r1' in all files, so each file is a system",)
    # Files that share the items of one system out are that system's.
    (tmp_path / "g.csv").write_text("run_id,item,score\nr1,8,1\nr1,9,0\n")
    assert load([tmp_path / "f.csv", tmp_path / "g.csv"], "accuracy").outputs.names == ["r1"]
    # A file that is named is a system, whatever its runs.
    (tmp_path / "g.csv").write_text("run_id,item,score\nr1,0,1\nr2,1,0\nr3,2,0\n")
    paths = {"one": tmp_path / "f.csv", "two": tmp_path / "g.csv"}
    assert load(paths, "accuracy").outputs.names == ["one", "two"]


def test_what_says_that_there_is_no_name_is_none(tmp_path: Path) -> None:
    for text, line, what, name in (
        ("item,a,b\nx,1,0\nnan,1,1\n", 3, "item", "nan"),
        ("system,item,score\n<NA>,x,1\n", 2, "system", "<NA>"),
    ):
        check_csv_error(
            tmp_path, text, f"{{s}}, line {line}: no {what}: '{name}' is how programs write that there is none"
        )
    loaded = read_csv(tmp_path, "item,a,nan\nNA,1,0\nNone,1,1\n")
    assert (loaded.outputs.names, loaded.outputs.items["id"].tolist()) == (["a"], ["NA", "None"])
    assert loaded.notes == ("not used as a system: 'nan'; to use one, rename it",)


def test_names_that_look_the_same_are_refused(tmp_path: Path) -> None:
    told = "is there twice, in two normal forms of Unicode: write it in one (NFC) everywhere"
    for text, what in (
        ("system,item,score\ncaf\u00e9,1,1\ncafe\u0301,1,0\n", "system"),
        ("item,caf\u00e9,cafe\u0301\n1,1,0\n", "system"),
        ("system,item,score\na,caf\u00e9,1\nb,cafe\u0301,0\n", "item"),
    ):
        with pytest.raises(ValueError, match=f"^{what} 'caf.*' {re.escape(told)}$"):
            read_csv(tmp_path, text)
    assert read_csv(tmp_path, "item,caf\u00e9,cafe\n1,1,0\n").outputs.n_systems == 2


def test_percent_beside_fractions_is_noted(tmp_path: Path) -> None:
    note = (
        "scores of 'new' are between 0 and 1, those of 'old' between 0 and 100: if some are in percent, no comparison "
        "of the two means anything"
    )
    (tmp_path / "new.txt").write_text("1\n0.5\n0\n")
    (tmp_path / "old.txt").write_text("100\n30\n0\n")
    assert load([tmp_path / "new.txt", tmp_path / "old.txt"], "mean").notes == (note,)
    assert read_csv(tmp_path, "item,new,old\n1,1,100\n2,0.5,30\n", "mean").notes == (note,)
    for other in (
        "item,new,old\n1,1,3\n2,0.5,2\n",
        "item,new,old\n1,1,130\n2,0.5,30\n",
        "item,new,old\n1,2,30\n2,0,1\n",
    ):
        assert read_csv(tmp_path, other, "mean").notes == ()


def test_a_table_of_items_may_call_them_otherwise(tmp_path: Path) -> None:
    table = tmp_path / "items.csv"
    for key in ("id", "task_id", "item"):
        table.write_text(f"{key},domain\n2,law\n1,art\n")
        loaded = read_csv(tmp_path, "model,question_id,correct\na,1,1\na,2,0\n", items=table)
        assert loaded.outputs.items["domain"].tolist() == ["art", "law"]
        said = f"{table}: simstudy uses {key} as id. To change this, use columns={{'id': 'NAME'}}."
        assert loaded.notes[1:] == (() if key == "id" else (said,))


def test_frames_of_scores_have_names_too() -> None:
    frame = pd.DataFrame({"a": [1, 0], "b": [1, 1]})
    for wrong, told in (
        (frame.set_axis([1.0, float("nan")]), "scores must have an item in every row; row 2 has none"),
        (frame.set_axis(["a", None], axis=1), "scores must have a name for every column; column 2 has none"),
        (frame.reset_index(names="Unnamed: 0"), "scores must name its items: is it column 'Unnamed: 0'?"),
        (frame.set_axis(["caf\u00e9", "cafe\u0301"]), "item 'caf.*' is there twice, in two normal forms of Unicode"),
    ):
        with pytest.raises(ValueError, match=f"^{told}"):
            Outputs.from_scores(wrong)
    with pytest.warns(UserWarning, match="^used as systems: 'length'; drop columns that are no systems$"):
        Outputs.from_scores(frame.assign(length=[7, 8]))


def test_a_system_called_as_a_column_of_answers_stays_one(tmp_path: Path) -> None:
    """Numbers are scores, whatever the column is called."""
    (tmp_path / "t.csv").write_text("item,new,new_pred\nx,1,0\ny,1,1\n")
    assert load(tmp_path / "t.csv", "accuracy").outputs.names == ["new", "new_pred"]
