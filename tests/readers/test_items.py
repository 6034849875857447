"""Tables of the items: matched by ids or by their order, and clusters that belong to a domain."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from simstudy.readers.load import load
from simstudy.readers.long_table import Loaded
from tests.oracles import compared
from tests.readers.line_files import input_error, note_kinds

FOUR = "item,a,b\nq1,1,0\nq2,1,1\nq3,0,1\nq4,1,0\n"


def described(folder: Path, table: str, name: str = "items.csv", text: str = FOUR, **options: Any) -> Loaded:
    """Four items by ids in a table of scores; or in lines of text, if the text has no commas."""
    (folder / name).write_text(table)
    path = folder / ("s.csv" if "," in text else "s.txt")
    path.write_text(text)
    return load(path, "mean", items=folder / name, **options)


refusal = partial(input_error, by=described)


def items_of(*args: Any, **options: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = described(*args, **options).outputs.items.to_dict("list")
    return found


@pytest.mark.parametrize("key", ["id", "item", "question_id", "index"])
def test_items_are_matched_by_ids_in_any_order(tmp_path: Path, key: str) -> None:
    """The table may have more items; it goes before what the files say; cells stay as written."""
    table = f"{key},domain,n\nq3,b,03\nq9,c,\nq1,a,NA\nq4,b,\nq2,a,1\n"
    text = "item,a,domain,cluster\nq1,1,old,c\nq2,1,old,c\nq3,0,old,d\nq4,1,old,e\n"
    assert items_of(tmp_path, table, text=text) == {
        "id": ["q1", "q2", "q3", "q4"], "cluster": ["c", "c", "d", "e"],
        "domain": ["a", "a", "b", "b"], "n": ["NA", "1", "03", ""],
    }  # fmt: skip


def test_ids_may_be_of_several_columns_or_rows(tmp_path: Path) -> None:
    text = "item,a\nlaw/1,1\nlaw/2,0\nart/1,1\nart/2,1\n"
    table = "area,n,doc\nart,1,x\nart,2,y\nlaw,1,z\nlaw,2,z\n"
    assert items_of(tmp_path, table, text=text, columns={"id": "area+n"})["cluster"] == ["z", "z", "x", "y"]
    numbered = "item,a\n2,1\n1,0\n3,1\n4,1\n"
    assert items_of(tmp_path, "area\nw\nx\ny\nz\n", text=numbered, columns={"id": "row"})["area"] == [*"xwyz"]


def test_lines_are_described_in_their_order_or_by_ids(tmp_path: Path) -> None:
    lines = "1\n0\n1\n1\n"
    assert items_of(tmp_path, "id,area\nw,a\nx,b\ny,c\nz,d\n", text=lines) == {"id": [*"wxyz"], "area": [*"abcd"]}
    assert items_of(tmp_path, "id,area\n4,d\n2,b\n1,a\n3,c\n", text=lines) == {"id": [*"1234"], "area": [*"abcd"]}
    assert items_of(tmp_path, "part\na\na\nb\nb\n", text=lines, columns={"cluster": "part"})["cluster"] == [*"aabb"]
    assert "3 rows" in refusal(tmp_path, "doc\na\nb\nc\n", text=lines).rule
    assert items_of(tmp_path, "id,area\n0,a\n1,b\n2,c\n3,d\n", text=lines) == {"id": [*"0123"], "area": [*"abcd"]}
    for name in ("id", "idx", ""):
        refused = refusal(tmp_path, f"{name},area\n3,d\n1,b\n0,a\n2,c\n", text=lines)
        assert "in another order" in refused.rule


@pytest.mark.parametrize(
    ("name", "table", "expected"),
    [
        ("x.docs", "d1\nd1\nd2\nd2\n", {"cluster": ["d1", "d1", "d2", "d2"]}),
        ("x.csv", "d1\nd1\nd2\nd2\n", {"cluster": ["d1", "d1", "d2", "d2"]}),
        ("x.tsv", "news\td1\nnews\td1\nweb\t d2\nweb\td2\n",
         {"domain": ["news", "news", "web", "web"], "cluster": ["d1", "d1", "d2", "d2"]}),
    ],
)  # fmt: skip
def test_a_file_with_a_line_for_each_item_needs_no_header(
    tmp_path: Path, name: str, table: str, expected: dict[str, list[str]]
) -> None:
    found = described(tmp_path, table, name, "1\n0\n1\n1\n")
    assert found.outputs.items.drop(columns="id").to_dict("list") == expected
    assert note_kinds(found)[0] == "items without a header"
    assert refusal(tmp_path, "d1\nd2\n", "x.docs", "1\n0\n1\n1\n").argument == "items"
    # With a header it is a table.
    assert items_of(tmp_path, "doc\na\na\nb\nb\n", "x.tsv", "1\n0\n1\n1\n")["cluster"] == [*"aabb"]


def test_what_is_wrong_in_a_table_of_items_is_named_by_its_line(tmp_path: Path) -> None:
    for table, line in (
        ("id,x\nq1,a\nq2,b\nq1,c\nq3,d\nq4,e\n", 4),
        ("id,domain\nq1,a\nq2,\nq3,c\nq4,c\n", 3),
        ("id,cluster\nq1,a\nq2,b\nq3,NaN\nq4,c\n", 4),
        ("id,domain\nq1,a\n,b\nq3,c\nq4,c\n", 3),
    ):
        assert refusal(tmp_path, table).at == f"{tmp_path}/items.csv, line {line}"
    assert "lacks 1 of 4 items, first 'q4'" in refusal(tmp_path, "id\nq1\nq2\nq3\n").remedy
    for columns in ({"cluster": "dco"}, {"size": "dco"}):
        assert "(did you mean 'doc'?)" in str(refusal(tmp_path, "id,doc\nq1,1\n", columns=columns))


def test_a_column_of_the_items_may_be_in_either_file(tmp_path: Path) -> None:
    text = "item,a,part\nq1,1,x\nq2,0,y\nq3,1,y\nq4,1,y\n"
    table, columns = "id,area\nq1,w\nq2,v\nq3,v\nq4,v\n", {"cluster": "part", "domain": "area"}
    found = items_of(tmp_path, table, text=text, columns=columns)
    assert (found["cluster"], found["domain"]) == ([*"xyyy"], [*"wvvv"])


def test_clusters_belong_to_a_domain(tmp_path: Path) -> None:
    """Document 1 of the news is not document 1 of the web, unless no two items of a domain share one."""
    table = "domain,doc\nnews,1\nnews,1\nweb,1\nweb,1\n"
    found = described(tmp_path, table, text="1\n0\n1\n1\n")
    assert found.outputs.items["cluster"].tolist() == ["news/1", "news/1", "web/1", "web/1"]
    assert "clusters of domains" in note_kinds(found)
    parallel = described(tmp_path, "domain,doc\nnews,1\nnews,2\nweb,1\nweb,2\n", text="1\n0\n1\n1\n")
    assert parallel.outputs.items["cluster"].tolist() == ["1", "2", "1", "2"]
    assert "clusters across domains" in note_kinds(parallel)
    apart = described(tmp_path, table.replace("web,1", "web,2"), text="1\n0\n1\n1\n")
    assert apart.outputs.items["cluster"].tolist() == ["1", "1", "2", "2"]
    # In a table of scores too.
    text = "item,a,domain,doc\n1,1,news,1\n2,0,news,1\n3,1,web,1\n4,1,web,1\n"
    (tmp_path / "s.csv").write_text(text)
    assert load(tmp_path / "s.csv", "mean").outputs.items["cluster"].nunique() == 2


def test_a_question_has_the_description_of_its_samples(tmp_path: Path) -> None:
    """The cluster of a table goes before the question, which is one otherwise."""
    text = "item,sample,score\n" + "".join(f"q{q},{k},{(q + k) % 2}\n" for q in (1, 2, 3, 4) for k in (1, 2))
    table = "id,area,part\nq2,b,d\nq1,a,d\nq4,d,e\nq3,c,e\n"
    found = items_of(tmp_path, table, text=text, columns={"cluster": "part"})
    assert (found["area"], found["cluster"]) == ([*"aabbccdd"], [*"ddddeeee"])
    assert items_of(tmp_path, table, text=text)["cluster"] == ["q1", "q1", "q2", "q2", "q3", "q3", "q4", "q4"]


def test_documents_are_resampled_as_wholes(tmp_path: Path) -> None:
    """Gains 3 2 2 1 | 4 -1 | 3 2 | 1: of 2^4 patterns of signs of the documents two reach the sum, of 2^9 eight do."""
    gains, documents = [3, 2, 2, 1, 4, -1, 3, 2, 1], "aaaabbccd"
    frame = pd.DataFrame({"item": range(9), "old": 0, "new": gains, "doc": [*documents]})
    frame.drop(columns="doc").to_csv(tmp_path / "s.csv", index=False)
    items = frame[["item", "doc"]].iloc[::-1].to_csv(index=False)
    found = described(tmp_path, items, text=frame.drop(columns="doc").to_csv(index=False))
    (tmp_path / "t.csv").write_text(frame.to_csv(index=False))
    for one in (found, load(tmp_path / "t.csv", "mean"), load(frame, "mean")):
        assert compared(one.outputs)["p_value"].iloc[0] == pytest.approx(2 / 16)
        assert compared(one.outputs, unit="item")["p_value"].iloc[0] == pytest.approx(8 / 512)
