"""What is said of scores, labels and metrics that people write in other ways than ours."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.door import load
from simstudy.loaders.tables import how_to_write
from simstudy.metrics import get_metric
from tests.loaders.files import written_csv as table

LINES = "the cat sat on the mat\na dog ran home\n"


def test_a_metric_in_another_case_is_that_metric(tmp_path: Path) -> None:
    for one in ("old", "new", "gold"):
        (tmp_path / f"{one}.txt").write_text(LINES)
    for name, expected in {"BLEU": "bleu", "ACC": "accuracy", "Macro_F1": "macro_f1"}.items():
        loaded = load([tmp_path / "old.txt", tmp_path / "new.txt"], name, references=tmp_path / "gold.txt")
        assert loaded.outputs.metric.name == expected
        assert loaded.notes == ()


def test_a_metric_of_texts_in_another_case_is_no_mean_of_a_table(tmp_path: Path) -> None:
    path = table(tmp_path, "item,a,b\n1,1,0\n2,1,1\n")
    for name in ("bleu", "BLEU"):
        with pytest.raises(ValueError, match="Metric 'bleu' needs <system>:correct_1"):
            load(path, name)
    assert load(path, "Accuracy").notes == ()
    scores = tmp_path / "a.txt"
    scores.write_text("BLEU|nrefs:1|version:2.4.0 = 50.0\nBLEU|nrefs:1|version:2.4.0 = 40.0\n")
    with pytest.raises(ValueError, match="metric 'bleu' needs .* of each item, but there is one score"):
        load(scores, "BLEU")


@pytest.mark.parametrize(
    ("typed", "hint"),
    {
        "P@10": "(did you mean 'precision@10'?)",
        "P_5": "(did you mean 'precision@5'?)",
        "ndcg_cut_20": "(did you mean 'ndcg@20'?)",
        "recip_rank": "(did you mean 'rr'?)",
        "MRR@10": "(did you mean 'rr'? It takes each list as a whole: cut the lists at this rank first)",
        "hit@1": "(did you mean 'mean'? Take 1 for a hit and 0 for none)",
        "Hits@10": "(did you mean 'mean'? Take 1 for a hit and 0 for none)",
        "elo": "(did you mean 'bradley_terry'?)",
    }.items(),
)
def test_what_is_meant_by_names_of_others(typed: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"not '{typed}' {re.escape(hint)}"):
        get_metric(typed)


@pytest.mark.parametrize(
    ("cell", "hint"),
    {
        "72.8%": " (write 0.728, or 72.8, without %)",
        "85 %": " (write 0.85, or 85, without %)",
        "1,640": " (leave out the thousands separator)",
        "1,234,567.8": " (leave out the thousands separator)",
        "1.234,5": " (leave out the thousands separator)",
        "0,640": " (write numbers with a decimal point)",
        "12,5": " (write numbers with a decimal point)",
        "yes": " (write 1 for right and 0 for wrong)",
        "✔️": " (write 1 for right and 0 for wrong)",
        "✖️": " (write 1 for right and 0 for wrong)",
        "%": "",
    }.items(),
)
def test_how_a_score_must_be_written(tmp_path: Path, cell: str, hint: str) -> None:
    assert how_to_write(cell) == hint
    for header, row in (("item,a,b", f'1,"{cell}",1'), ("system,item,score", f'a,1,"{cell}"')):
        with pytest.raises(ValueError, match=re.escape(f"'{cell}'{hint}")):
            load(table(tmp_path, f"{header}\n{row}\n"), "mean")
    counts = f'item,gold,a:correct,a:guessed\n1,2,1,"{cell}"\n'
    with pytest.raises(ValueError, match=re.escape(f"must be a number, not '{cell}'{hint}") + "$"):
        load(table(tmp_path, counts), "f1")


@pytest.mark.parametrize(
    ("scores", "hint"),
    [
        ((50, 100), "not 50; divide percentages by 100, or take metric='mean'"),
        ((50, 250), "not 50; take metric='mean'"),
        ((-3, 0.5), "not -3; take metric='mean'"),
        ((0.5, 1640), "not 1640; take metric='mean'"),
    ],
)
def test_only_percentages_are_to_be_divided(tmp_path: Path, scores: tuple[float, float], hint: str) -> None:
    path = table(tmp_path, f"item,a,b\n1,{scores[0]},1\n2,{scores[1]},0\n")
    with pytest.raises(ValueError, match=f"must be between 0 and 1 for metric 'accuracy', {hint}$"):
        load(path, "accuracy")


@pytest.mark.parametrize("cell", ["", "NA", "N/A", "NaN", "nan"])
def test_a_score_that_is_not_there_is_missing(tmp_path: Path, cell: str) -> None:
    tidy = table(tmp_path, f"system,item,score\na,1,1\na,2,{cell}\nb,1,0\nb,2,1\n")
    with pytest.raises(ValueError, match=r"line 3: no score; missing='drop' leaves such items out, missing='zero' "):
        load(tidy, "accuracy")
    assert load(tidy, "accuracy", missing="drop").outputs.n_items == 1
    assert load(tidy, "accuracy", missing="zero").outputs.statistics[0, :, 0].tolist() == [1, 0]
    wide = table(tmp_path, f"item,a,b\n1,1,0\n2,{cell},1\n")
    assert load(wide, "accuracy", missing="drop").outputs.n_items == 1


def test_a_label_that_gold_answers_have_is_not_missing(tmp_path: Path) -> None:
    rows = [("NA", "NA", "yes"), ("nan", "NA", "nan"), ("None", "None", "yes"), ("yes", "yes", "yes")]
    text = "item,gold,a,b\n" + "".join(f"{i},{','.join(row)}\n" for i, row in enumerate(rows))
    loaded = load(table(tmp_path, text), "accuracy")
    assert loaded.outputs.statistics[..., 0].tolist() == [[1, 0, 1, 1], [0, 1, 0, 1]]
    # Without such a gold label, it is how programs write an empty cell.
    path = table(tmp_path, "item,gold,a,b\n1,yes,NA,no\n2,no,no,no\n")
    with pytest.raises(ValueError, match=r"lacks 1 of 2 items, first '1' \(system 'a'\)"):
        load(path, "accuracy")
    path = table(tmp_path, "item,gold,a,b\n1,NA,,NA\n2,no,no,no\n")
    with pytest.raises(ValueError, match=r"lacks 1 of 2 items, first '1' \(system 'a'\)"):
        load(path, "accuracy")


@pytest.mark.parametrize("name", ["gold", "Label", "true_label", "target", "reference", "y_true", "Answer"])
def test_gold_labels_that_are_numbers_are_no_system(name: str, tmp_path: Path) -> None:
    """Numbers may be labels or scores: the user says which; accuracy then counts the labels that are gold's."""
    path = table(tmp_path, f"item,{name},a,b\n1,2,2,0\n2,0,0,1\n3,1,1,1\n4,2,2,2\n")
    for metric in ("accuracy", "mean"):
        with pytest.raises(ValueError, match=f"column '{name}' is called like gold labels, but would be a system"):
            load(path, metric)
    labels = load(path, "accuracy", columns={"gold": name})
    assert labels.outputs.names == ["a", "b"]
    assert labels.outputs.statistics[..., 0].tolist() == [[1, 1, 1, 1], [0, 0, 1, 1]]
    assert labels.notes == ()
    assert load(path, "mean", columns={"answer": name}).outputs.scores().tolist() == [1.25, 1.0]
    # Right and wrong answers beside gold labels look like labels.
    right = table(tmp_path, f"item,{name},a,b\n1,2,1,0\n2,0,1,0\n3,1,1,1\n4,2,1,1\n")
    (note,) = load(right, "accuracy", columns={"gold": name}).notes
    assert note.startswith("systems have the labels 0 and 1 only")
    assert load(right, "accuracy", columns={"answer": name}).outputs.scores().tolist() == [100, 50]


def test_a_human_may_be_a_system(tmp_path: Path) -> None:
    path = table(tmp_path, "item,human,a\n1,1,0\n2,1,1\n")
    assert load(path, "accuracy").outputs.names == ["human", "a"]


def test_gold_is_no_misspelling_of_a_system(tmp_path: Path) -> None:
    path = table(tmp_path, "item,solution,old,new\n1,x,x,y\n2,y,y,y\n")
    with pytest.raises(ValueError, match="no column 'gold'") as error:
        load(path, "macro_f1")
    assert "Did you mean" not in str(error.value)
    assert load(path, "macro_f1", columns={"gold": "solution"}).outputs.scores()[0] == 100


def test_rows_of_systems_without_numbers_are_not_read_as_columns_of_systems(tmp_path: Path) -> None:
    rows = "model,qid,{},genre\na,1,{},x\na,2,0,x\nb,1,1,x\nb,2,0,x\n"
    path = table(tmp_path, rows.format("correct", "yes"))
    with pytest.raises(ValueError, match=r"scores of column 'correct' must be numbers, not 'yes' \(write 1 for right"):
        load(path, "accuracy")
    path = table(tmp_path, rows.format("loss", 1))
    with pytest.raises(ValueError, match="'model' seems to name systems, but which column has the scores") as error:
        load(path, "mean")
    assert "say columns={'system': 'model', 'score': 'NAME'} (columns: model, loss, genre, qid)" in str(error.value)
    columns = {"system": "model", "score": "loss"}
    assert load(path, "mean", columns=columns).outputs.scores().tolist() == [0.5, 0.5]
    path = table(tmp_path, "item,system,predicted\n1,a,x\n1,b,y\n")
    with pytest.raises(ValueError, match="column 'predicted' has predicted labels, but no column has gold ones: add"):
        load(path, "accuracy")


def test_blanks_around_names_of_columns_do_not_count(tmp_path: Path) -> None:
    loaded = load(table(tmp_path, "item , a,b \n1,1,0\n2,0,0\n"), "accuracy")
    assert loaded.outputs.names == ["a", "b"]
    path = table(tmp_path, "model_a, model_b, winner\na,b,a\nb,a,tie\n")
    assert load(path, "win_rate").outputs.scores().tolist() == [75, 25]


def test_empty_lines_at_the_end_are_named(tmp_path: Path) -> None:
    for name, text in {"a": "yes\nno\n\n", "b": "yes\nno\n", "c": "yes\nno\nno\n"}.items():
        (tmp_path / name).write_text(text)
    a, b, c = (tmp_path / name for name in "abc")
    with pytest.raises(ValueError, match=f"line 3 of {a} is empty: take out the empty lines at its end$"):
        load([b, a], "accuracy", references=b)
    with pytest.raises(ValueError, match="lines have no ids"):
        load([b, c], "accuracy", references=b)
    for name, text in {"a": "1\n0\n\n", "b": "1\n0\n"}.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=f"line 3 of {a} is empty: take out"):
        load([a, b], "mean")


def test_a_workbook_is_to_be_saved_as_csv(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    path.write_bytes(b"PK\3\4")
    for metric in ("accuracy", "bleu"):
        with pytest.raises(ValueError, match="s.xlsx is a workbook: save it as CSV$"):
            load(path, metric)


def test_labels_that_are_numbers_may_be_floats(tmp_path: Path) -> None:
    """pandas makes decimals of a column with an empty cell."""
    labels = pd.DataFrame({"item": range(4), "gold": [0, 1, 2, 1], "a": [0, 1, 2, 0], "b": [0.0, np.nan, 2.0, 1.0]})
    labels.to_parquet(tmp_path / "labels.parquet")
    for metric, best in (("mcc", 1), ("macro_f1", 100)):
        of_a, of_b = load(tmp_path / "labels.parquet", metric, missing="drop").outputs.scores()
        assert of_a < of_b == best


def test_a_predicted_label_nan_is_none_unless_a_gold_label_is_written_so(tmp_path: Path) -> None:
    rows = "new,q1,{0},{0}\nnew,q2,no,nan\nold,q1,{0},no\nold,q2,no,no\n"
    text = f"system,item,gold,predicted\n{rows}"
    with pytest.raises(ValueError, match="line 3: no predicted label; if the system gave no answer, write a word"):
        load(table(tmp_path, text.format("yes")), "accuracy")
    assert load(table(tmp_path, text.format("nan")), "accuracy").outputs.scores().tolist() == [50, 50]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "item,a,b\n1,1,0\n2,null,1\n3,0,1\n",
            "line 3: a score of system 'a' must be a number, not 'null': leave the cell empty and choose "
            "missing='drop' or missing='zero', or write 0",
        ),
        (
            "item,a,b\n1,✓,✗\n",
            "line 2: a score of system 'a' must be a number, not '✓' (write 1 for right and 0 for wrong)",
        ),
        (
            "item,a\n1,win\n2,tie\n",
            "line 2: a score of system 'a' must be a number, not 'win' (write 1 for a win, 0.5 for a tie and 0 for a "
            "loss)",
        ),
        (
            "item,a,note,topic\n1,1,good,law\n",
            "line 2: columns 'note', 'topic' are used as systems, but have 'good'; "
            "columns={'note': 'note', 'topic': 'topic'} makes them columns of the items",
        ),
        (
            "item,model_a,model_b,verdict\n1,x,y,A\n",
            "line 2: the columns 'model_a' and 'model_b' name the systems of a comparison: metric='bradley_terry' and "
            "columns={'winner': 'verdict'} say which of the two is better",
        ),
    ],
)
def test_a_cell_that_is_no_score_is_a_slip_or_its_column_is_no_system(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"{re.escape(told)}$"):
        load(table(tmp_path, text), "accuracy")
