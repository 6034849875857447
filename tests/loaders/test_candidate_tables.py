"""Columns of a table of candidates: ids, gold, scores, counts, and what is easily taken for them; one domain."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.candidates import load_candidates
from simstudy.loaders.door import load
from simstudy.rankings.association import MEASURES, association
from tests.loaders.test_candidates import TABLE, check_error, made, read, written


def test_a_domain_is_ranked_by_itself(tmp_path: Path) -> None:
    """The n-best lists are of the candidates of the domain, as if there were no others."""
    frame = made(200, 2)
    frame["domain"] = ["news" if i % 3 else "law" for i in range(200)]
    frame.to_csv(tmp_path / "c.csv", index=False)
    outputs = load(tmp_path / "c.csv", "precision@20", domain="law").outputs
    law = frame[frame["domain"] == "law"]
    assert (outputs.items["id"].tolist(), outputs.test_set) == (law["id"].tolist(), "law")
    assert outputs.items["true"].tolist() == (law["gold"] == 1).tolist()
    assert outputs.statistics[..., 1].sum(axis=1).tolist() == [20, 20]
    expected = [law.nlargest(20, name)["gold"].mean() for name in ("good", "poor")]
    assert outputs.scores() == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="n of precision@70 must be at most 67, the number of candidates"):
        load(tmp_path / "c.csv", "precision@70", domain="law")
    with pytest.raises(ValueError, match="domain must be one of law, news, not 'prose'"):
        load(tmp_path / "c.csv", "precision@20", domain="prose")


@pytest.mark.parametrize(
    ("header", "taken"),
    [("f,f1,f2", "f, f1, f2"), ("O11,O12,O21", "O11, O12, O21"), ("o11,o12,o21,o22", "o11, o12, o21, o22")],
)
def test_counts_that_are_no_tables_are_told(header: str, taken: str, tmp_path: Path) -> None:
    width = header.count(",") + 1
    rows = "".join(f"w{i},{i % 2},{','.join(str(2 * i + k) for k in range(width))}\n" for i in range(6))
    loaded = read(tmp_path, f"word,gold,{header}\n{rows}")
    (note,) = [note for note in loaded.notes if note.startswith("used as scores")]
    assert note.startswith(f"used as scores: {taken}; contingency tables need ")
    assert not [note for note in read(tmp_path, TABLE).notes if "contingency" in note]


def test_decimal_commas_are_refused(tmp_path: Path) -> None:
    message = "c.csv, line 2: column 't' must have decimal points, not commas ('3,5')"
    with pytest.raises(ValueError, match=f"{re.escape(message)}$"):
        read(tmp_path, 'word,gold,t,mi\na,1,"3,5",2\nb,0,"2,5",1\n')
    # Text with a comma somewhere is text.
    assert read(tmp_path, 'word,gold,t,mi\n"1,2",1,3,2\n"b, c",0,2,1\n').outputs.names == ["t", "mi"]


# Ids


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("id,item,gold,t\n1,x,1,1\n2,y,0,2\n", ["x", "y"]),
        ("PP,verb,gold,t\nin:Jahr,abbauen,1,1\nin:Jahr,bleiben,0,2\n", ["in:Jahr abbauen", "in:Jahr bleiben"]),
        ("kind,gold,t\nx,1,1\nx,0,2\n", ["1", "2"]),
        ("kind,gold,t\n,1,1\nx,0,2\n", ["1", "2"]),
        ("gold,t\n1,1\n0,2\n", ["1", "2"]),
    ],
)
def test_a_candidate_is_named_by_its_id_its_words_or_its_row(text: str, ids: list[str], tmp_path: Path) -> None:
    outputs = read(tmp_path, text, "precision@1").outputs
    assert outputs.items["id"].tolist() == ids
    assert outputs.names == ["t"]


def test_ids_must_be_unique_and_there(tmp_path: Path) -> None:
    text = "id,gold,t\na,1,1\nb,0,2\n\na,0,3\n"
    check_error("{c}, line 5: candidate 'a' again, first in {c}, line 2", tmp_path, text)
    check_error("{c}, line 3: no id", tmp_path, "id,gold,t\na,1,1\n,0,2\n")
    broken = 'id,gold,t\na,1,1\n"b\nc",0,2\n'
    check_error("{c}, line 3: the id must be of one line, not 'b\\nc'", tmp_path, broken)


# Gold


@pytest.mark.parametrize("cell", ["2", "yes", "", "0.5", "-1"])
def test_gold_is_1_or_0(cell: str, tmp_path: Path) -> None:
    message = f"{{c}}, line 3: column 'is.good' must be 1 or 0 (true or false), not '{cell}'"
    check_error(message, tmp_path, f"is.good,t\n1,1\n{cell},2\n", columns={"gold": "is.good"})


def test_gold_that_is_the_same_for_all_tells_nothing(tmp_path: Path) -> None:
    one, none = ("gold,t\n" + f"{value},1\n" * 12 for value in (1, 0))
    for text, told, precision in ((one, "true", 1), (none, "false", 0)):
        message = f"{{c}}: column 'gold' is {told} for each of 12 candidates: the precision of any list is {precision}"
        check_error(message, tmp_path, text)


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    text = "is.colloc,t\n1,1\n0,2\n"
    check_error("{c}: no column 'gold' (columns: is.colloc, t). Name it with columns={'gold': 'NAME'}.", tmp_path, text)
    message = "{c}: no column 'is.coloc' (columns: is.colloc, t). Did you mean 'is.colloc'?"
    check_error(message, tmp_path, text, columns={"gold": "is.coloc"})
    message = "{c}: no column 'word' (columns: is.colloc, t)"
    check_error(message, tmp_path, text, columns={"gold": "is.colloc", "item": "word"})
    check_error("{c}: no column of scores among id, gold, kind", tmp_path, "id,gold,kind\na,1,x\nb,0,y\n")


# Scores


def test_cells_that_are_no_scores(tmp_path: Path) -> None:
    message = (
        "{c}, line 4: column 't' is used as scores, but has 'much'; columns={'t': 't'} makes it a column of the items"
    )
    check_error(message, tmp_path, "gold,t\n1,1\n0,2\n0,much\n")


@pytest.mark.parametrize("cell", ["", "NA", "nan", " "])
def test_missing_scores(cell: str, tmp_path: Path) -> None:
    text = f"id,gold,t,mi\na,1,1,4\nb,0,{cell},5\nc,0,3,6\nd,1,{cell},1\n"
    check_error("{c}, line 3: column 't' is empty; missing='drop' leaves such candidates out", tmp_path, text)
    message = "missing must be 'error' or 'drop' for candidates: one without a score has no rank"
    check_error(message, tmp_path, text, missing="zero")
    loaded = read(tmp_path, text, "precision@1", missing="drop")
    assert loaded.outputs.items["id"].tolist() == ["a", "c"]
    assert loaded.outputs.scores().tolist() == [0, 0]
    assert loaded.notes == ("2 of 4 candidates dropped that lack a score, first 'b'",)
    text = f"id,gold,t,mi,O11,O12\na,1,1,4,0,1\nb,0,{cell},5,2,1\nc,0,3,6,1,0\nd,1,{cell},1,1,1\n"
    told = ("used as scores: O11, O12", "used as scores, although they are only 0 and 1", "2 of 4 candidates dropped")
    notes = read(tmp_path, text, "precision@1", missing="drop").notes
    assert all(note.startswith(one) for one, note in zip(told, notes, strict=True))
    text = f"id,gold,t,mi\na,1,1,{cell}\nb,0,{cell},5\n"
    check_error("{c}: no candidate is left that has all scores", tmp_path, text, missing="drop")


# Contingency tables

CELLS = "id,gold,O11,O12,O21,O22\na,1,10,5,2,100\nb,0,3,30,20,64\n"
SIGNATURES = "id,gold,f,f1,f2,N\na,1,10,15,12,117\nb,0,3,33,23,117\n"


@pytest.mark.parametrize("text", [CELLS, SIGNATURES])
def test_tables_are_scored_by_all_measures(text: str, tmp_path: Path) -> None:
    candidates = load_candidates(written(tmp_path, text)).candidates
    frame = pd.DataFrame({"f": [10, 3], "f1": [15, 33], "f2": [12, 23], "N": 117})
    assert candidates.names == list(MEASURES)
    np.testing.assert_array_equal(candidates.scores, association(frame).to_numpy().T)


def test_counts_may_have_other_names_and_other_scores_beside_them(tmp_path: Path) -> None:
    text = SIGNATURES.replace("f,f1,f2,N", "joint,first,second,N").replace("\n", ",3\n").replace("N,3", "N,length")
    columns = {"f": "joint", "f1": "first", "f2": "second"}
    outputs = read(tmp_path, text, "precision@1", columns=columns).outputs
    assert outputs.names == ["length", *MEASURES]
    assert outputs.items[["f", "N"]].to_numpy().tolist() == [["10", "117"], ["3", "117"]]


def test_bad_counts_are_told_by_line_also_where_rows_above_were_dropped(tmp_path: Path) -> None:
    more = CELLS.replace("O22", "O22,R1").replace("100\n", "100,15\n").replace("64\n", "64,34\n")
    dropped = CELLS.replace("a,1,10", "a,1,").replace("3,30", "-3,30") + "c,1,1,2,3,4\n"
    for text, message in (
        (CELLS.replace("10,5,2,100", "-1,5,2,100"), "O11 = -1 of candidate 'a ({c}, line 2)'"),
        (CELLS.replace("3,30", "3,many"), "O12 = many of candidate 'b ({c}, line 3)'"),
        (CELLS.replace("3,30", ",30"), "{c}, line 3: column 'O11' is empty"),
        (dropped, "O11 = -3 of candidate 'b ({c}, line 3)'"),
        (more, "'b ({c}, line 3)', with R1 = 34 where the cells"),
        (SIGNATURES.replace("10,15", "16,15"), "f <= f1, unlike candidate 'a ({c}, line 2)'"),
    ):
        with pytest.raises(ValueError, match=re.escape(message.replace("{c}", str(tmp_path / "c.csv")))):
            read(tmp_path, text, missing="drop" if text is dropped else "error")


def test_a_score_may_not_have_the_name_of_a_measure(tmp_path: Path) -> None:
    text = CELLS.replace("O22", "O22,mi").replace("100\n", "100,1\n").replace("64\n", "64,2\n")
    message = (
        "{c}: column 'mi' has the name of an association measure of its contingency tables; columns={'stored': 'mi'}"
    )
    check_error(f"{message} makes it a column of the items", tmp_path, text)
    assert read(tmp_path, text, columns={"stored": "mi"}).outputs.names == list(MEASURES)
