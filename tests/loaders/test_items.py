from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from simstudy.loaders.base import Source
from simstudy.loaders.items import items_by_id, items_in_order, numbered
from simstudy.metrics import get_metric
from simstudy.notes import notes_kept


def source(folder: Path, content: str, columns: dict[str, str], name: str = "items.csv") -> Source:
    (folder / name).write_text(content)
    return Source((), get_metric("accuracy"), items=folder / name, columns=columns)


def named(*ids: str) -> pd.DataFrame:
    return pd.DataFrame({"id": list(ids)})


@pytest.mark.parametrize(
    ("content", "columns", "table"),
    [
        ("doc\nd1\nd2\n", {"cluster": "doc"}, {"id": ["1", "2"], "cluster": ["d1", "d2"]}),
        ("x,id\nNA,01\n,1\n", {}, {"id": ["01", "1"], "x": ["NA", ""]}),
        ("id,doc\na,b\nc,d\n", {"id": "doc", "cluster": "id"}, {"id": ["b", "d"], "cluster": ["a", "c"]}),
        ("doc\na\nb\n", {"id": "doc", "domain": "doc"}, {"id": ["a", "b"], "domain": ["a", "b"]}),
        ("x\n1\n2\n", {"score": "elsewhere"}, {"id": ["1", "2"], "x": ["1", "2"]}),
    ],
)
def test_columns_are_renamed_and_cells_kept(
    tmp_path: Path, content: str, columns: dict[str, str], table: dict[str, list[str]]
) -> None:
    items = items_in_order(source(tmp_path, content, columns), numbered(2))
    assert items.to_dict("list") == table
    assert items.columns[0] == "id"


@pytest.mark.parametrize("by", [items_by_id, items_in_order])
def test_the_table_goes_before_what_the_files_say(tmp_path: Path, by: Callable[..., pd.DataFrame]) -> None:
    """Columns of both are the table's, in whatever order its rows are; others of the files stay."""
    known = named("x", "y").assign(domain=["old", "old"], cluster=["c", "d"])
    table = by(source(tmp_path, "id,domain\ny,web\nx,news\n", {}), known)
    assert table.to_dict("list") == {"id": ["x", "y"], "domain": ["news", "web"], "cluster": ["c", "d"]}


@pytest.mark.parametrize(
    ("content", "columns", "told"),
    [
        ("doc\n1\n2\n", {}, " has 2 rows, but there are 3 items"),
        (
            "id,x\n1,a\n2,b\n1,c\n",
            {},
            ", line 4: item '1' occurs twice; samples of an item need ids of "
            "their own, and a column 'cluster' that names the item",
        ),
        ("id,domain\n1,a\n2,\n3,c\n", {}, ", line 3: no domain"),
        ("doc\n1\n2\n3\n", {"cluster": "dox"}, ": no column 'dox' (columns: doc). Did you mean 'doc'?"),
        ('id,x\n1,a\n"2\n3",b\n4,c\n', {}, r", line 3: the id must be of one line, not '2\n3'"),
        ("cluster,doc\n" * 4, {"cluster": "doc"}, " has a column 'cluster' of its own: 'doc' cannot take its name"),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(
    tmp_path: Path, content: str, columns: dict[str, str], told: str
) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        items_in_order(source(tmp_path, content, columns), numbered(3))
    assert str(error.value) == f"{tmp_path / 'items.csv'}{told}"


def test_items_are_matched_by_id(tmp_path: Path) -> None:
    text = "topic,area,n\n3,b,1\n1,a,2\n2,a,3\n"
    own = source(tmp_path, text, {"item": "topic", "domain": "area"})
    assert items_by_id(own, named("1", "3")).to_dict("list") == {
        "id": ["1", "3"],
        "domain": ["a", "b"],
        "n": ["2", "1"],
    }
    with pytest.raises(ValueError, match=r"items.csv lacks 1 of 2 items, first '9'$"):
        items_by_id(own, named("1", "9"))
    told = r"no column 'id' \(columns: topic, area, n\). Items are matched by it. Name it with columns=\{'id': "
    with pytest.raises(ValueError, match=told):
        items_by_id(source(tmp_path, text, {}), named("1"))
    with pytest.raises(ValueError, match=r"items.csv, line 4: item '1' occurs twice; samples of"):
        items_by_id(source(tmp_path, "id\n1\n2\n1\n", {}), named("1"))


def test_columns_of_items_that_are_declared_must_be_there(tmp_path: Path) -> None:
    """But not those of the scores, which are in other files."""
    text = "id,doc\nx,1\n"
    table = items_by_id(
        source(tmp_path, text, {"score": "s", "filter": "f", "correct": "c", "cluster": "doc"}), named("x")
    )
    assert table.to_dict("list") == {"id": ["x"], "cluster": ["1"]}
    with pytest.raises(ValueError, match=r"items.csv: no column 'dco' \(columns: id, doc\). Did you mean 'doc'\?$"):
        items_by_id(source(tmp_path, text, {"foo": "dco"}), named("x"))
    assert items_by_id(source(tmp_path, text, {"foo": "dco"}), named("x"), found=["foo"]) is not None
    with pytest.raises(ValueError, match=r"items.csv lacks 1 of 1 item, first 'y'$"):
        items_by_id(source(tmp_path, text, {}), named("y"))
    with pytest.raises(ValueError, match=r"has a column 'doc' of its own: 'id' cannot take its name$"):
        items_by_id(source(tmp_path, text, {"doc": "id"}), named("1"))


@pytest.mark.parametrize(("cell", "kind"), [(["a"], "a list"), ({"a": 1}, "a struct"), (b"a", "bytes")])
def test_items_have_no_lists(tmp_path: Path, cell: object, kind: str) -> None:
    path = tmp_path / "items.parquet"
    pd.DataFrame({"id": ["x", "y"], "tags": [None, cell]}).to_parquet(path)
    message = f"{path}, row 2: column 'tags' must hold text or numbers, not {kind}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        items_by_id(Source((), get_metric("mean"), items=path), named("x"))


def noted(make: Callable[[], pd.DataFrame]) -> tuple[pd.DataFrame, list[str]]:
    with notes_kept() as notes:
        return make(), notes


@pytest.mark.parametrize(
    ("name", "content", "columns", "said"),
    [
        ("x.docs", "d1\nd1\nd2\n", {"cluster": ["d1", "d1", "d2"]}, "cluster"),
        ("x.csv", "d1\nd1\nd2\n", {"cluster": ["d1", "d1", "d2"]}, "cluster"),
        ("x.txt", "news\td1\nnews\td1\nweb\t d2\n",
         {"domain": ["news", "news", "web"], "cluster": ["d1", "d1", "d2"]}, "domain and cluster"),
    ],
)  # fmt: skip
def test_a_file_of_documents_needs_no_header(
    tmp_path: Path, name: str, content: str, columns: dict[str, list[str]], said: str
) -> None:
    items, notes = noted(lambda: items_in_order(source(tmp_path, content, {}, name), numbered(3)))
    assert items.to_dict("list") == {"id": ["1", "2", "3"], **columns}
    assert notes == [f"{tmp_path / name} has no header. simstudy uses its lines as {said} of the items, in order."]


def test_a_file_of_documents_has_a_line_for_each_item(tmp_path: Path) -> None:
    told = r"x\.docs must be a table \(.*\), or have a line for each of 3 items: a document, or .*; it has 2 lines$"
    with pytest.raises(ValueError, match=told):
        items_in_order(source(tmp_path, "d1\nd2\n", {}, "x.docs"), numbered(3))
    # With a header it is a table.
    items, notes = noted(lambda: items_in_order(source(tmp_path, "doc\na\na\nb\n", {}, "x.tsv"), numbered(3)))
    assert (items["cluster"].tolist(), len(notes)) == (["a", "a", "b"], 1)
    with pytest.raises(ValueError, match=r"items.csv has 2 rows, but there are 3 items$"):
        items_in_order(source(tmp_path, "doc\na\nb\n", {}), numbered(3))


def test_clusters_belong_to_a_domain(tmp_path: Path) -> None:
    """Document 1 of the news is not document 1 of the web."""
    text = "domain,doc\nnews,1\nnews,1\nnews,2\nweb,1\nweb,1\nweb,3\n"
    own = ["news/1", "news/1", "news/2", "web/1", "web/1", "web/3"]
    for columns, name in (({}, "doc"), ({"cluster": "doc"}, "cluster")):
        items, notes = noted(lambda columns=columns: items_in_order(source(tmp_path, text, columns), numbered(6)))
        assert items["cluster"].tolist() == own
        again = "; unit='doc' makes them one" if name == "doc" else ""
        assert notes[-1] == f"4 clusters, not 3: {name} '1' of domain 'news' and that of 'web' are two{again}"
    unlike = text.replace("web,1", "web,4")
    items, notes = noted(lambda: items_in_order(source(tmp_path, unlike, {"cluster": "doc"}), numbered(6)))
    assert (items["cluster"].tolist(), notes) == (["1", "1", "2", "4", "4", "3"], [])
    # One item of each domain in each: they belong together across domains.
    text = "domain,doc\nnews,1\nweb,1\nnews,2\nweb,2\n"
    items, notes = noted(lambda: items_in_order(source(tmp_path, text, {"cluster": "doc"}), numbered(4)))
    assert items["cluster"].tolist() == ["1", "1", "2", "2"]
    assert notes == ["clusters have items of several domains, such as cluster '1' of 'news' and 'web'"]
