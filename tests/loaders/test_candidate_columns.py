"""Columns of candidates that are easily taken for something else, and candidates of one domain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simstudy.loaders.formats import load
from tests.loaders.test_candidates import TABLE, made, read, written


def test_a_domain_is_ranked_by_itself(tmp_path: Path) -> None:
    """The n-best lists are of the candidates of the domain, as if there were no others."""
    frame = made(200, 2)
    frame["domain"] = ["news" if i % 3 else "law" for i in range(200)]
    frame.to_csv(tmp_path / "c.csv", index=False)
    outputs = load(tmp_path / "c.csv", "precision@20", domain="law").outputs
    law = frame[frame["domain"] == "law"]
    assert (outputs.n_items, outputs.test_set) == (len(law), "law")
    assert outputs.statistics[..., 1].sum(axis=1).tolist() == [20, 20]
    expected = [law.nlargest(20, name)["gold"].mean() for name in ("good", "poor")]
    assert outputs.scores() == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="n of precision@70 must be at most 67, the number of candidates"):
        load(tmp_path / "c.csv", "precision@70", domain="law")
    with pytest.raises(ValueError, match="domain 'prose' has no items; the domains are law, news"):
        load(tmp_path / "c.csv", "precision@20", domain="prose")


def test_domains_may_be_in_a_table_of_the_items(tmp_path: Path) -> None:
    items = written(tmp_path, "id,domain\nd,x\nc,y\nb,x\na,y\n", "items.csv")
    outputs = read(tmp_path, TABLE, "precision@1", items=items, domain="y").outputs
    assert outputs.items["id"].tolist() == ["a", "c"]
    # Of a and c, t has a first, which is true, and mi c.
    assert outputs.scores().tolist() == [1.0, 0.0]


def test_other_formats_are_cut_when_loaded(tmp_path: Path) -> None:
    path = written(tmp_path, "item,domain,old,new\nq1,x,0,1\nq2,y,1,1\nq3,x,0,1\n", "scores.csv")
    loaded = load(path, "accuracy", domain="x")
    assert (loaded.outputs.items["id"].tolist(), loaded.outputs.test_set) == (["q1", "q3"], "x")
    assert loaded.outputs.scores().tolist() == [0.0, 100.0]
    assert load(path, "accuracy", domain="x", test_set="mine").outputs.test_set == "mine"


@pytest.mark.parametrize(
    ("header", "taken"),
    [("f,f1,f2", "f, f1, f2"), ("O11,O12,O21", "O11, O12, O21"), ("o11,o12,o21,o22", "o11, o12, o21, o22")],
)
def test_counts_that_are_no_tables_are_told(header: str, taken: str, tmp_path: Path) -> None:
    width = header.count(",") + 1
    rows = "".join(f"w{i},{i % 2},{','.join(str(2 * i + k) for k in range(width))}\n" for i in range(6))
    loaded = read(tmp_path, f"word,gold,{header}\n{rows}")
    (note,) = [note for note in loaded.notes if note.startswith("taken for scores")]
    assert note.startswith(f"taken for scores: {taken}; contingency tables need ")
    assert not [note for note in read(tmp_path, TABLE).notes if "contingency" in note]


def test_decimal_commas_are_refused(tmp_path: Path) -> None:
    message = "c.csv, line 2: column 't' must have decimal points, not commas ('3,5')"
    with pytest.raises(ValueError, match=f"{re.escape(message)}$"):
        read(tmp_path, 'word,gold,t,mi\na,1,"3,5",2\nb,0,"2,5",1\n')
    # Text with a comma somewhere is text.
    assert read(tmp_path, 'word,gold,t,mi\n"1,2",1,3,2\n"b, c",0,2,1\n').outputs.names == ["t", "mi"]


@pytest.mark.parametrize("header", ["Gold", "true"])
def test_a_table_without_gold_is_told_how_to_name_it(header: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"word,{header},t,mi\na,1,3,2\nb,0,2,1\n")
    with pytest.raises(ValueError, match=r"of candidates, --columns gold=\.\.\. names what says which are true$"):
        load(path, "precision@1")


def test_old_line_ends_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_bytes(b"word,gold,t,mi\ra,1,3,2\rb,0,2,1\r")
    with pytest.raises(ValueError, match=r"c\.csv, line 1: .*; lines must end with LF or CR LF$"):
        load(tmp_path / "c.csv", "precision@1", columns={"gold": "gold"}, format="candidates")
