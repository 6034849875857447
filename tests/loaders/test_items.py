from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.loaders.base import Source
from simstudy.loaders.items import read_items
from simstudy.metrics import get_metric


def source(folder: Path, content: str, columns: dict[str, str], name: str = "items.csv") -> Source:
    (folder / name).write_text(content)
    return Source((), get_metric("mean"), items=folder / name, columns=columns)


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
    items = read_items(source(tmp_path, content, columns), 2)
    assert items is not None
    assert items.to_dict("list") == table
    assert items.columns[0] == "id"


def test_no_table_no_items() -> None:
    assert read_items(Source((), get_metric("mean")), 2) is None


@pytest.mark.parametrize(
    ("content", "columns", "told"),
    [
        ("doc\n1\n2\n", {}, " has 2 rows, but there are 3 items"),
        ("id,x\n1,a\n2,b\n1,c\n", {}, ", line 4: item '1' occurs twice"),
        ("id,domain\n1,a\n2,\n3,c\n", {}, ", line 3: no domain"),
        ("doc\n1\n2\n3\n", {"cluster": "dox"}, ": no column 'dox' among doc (did you mean 'doc'?)"),
        ("doc\n1\n2\n3\n", {"foo": "dco"}, ": no column 'dco' among doc (did you mean 'doc'?)"),
        ("doc\n1\n", {}, " has 1 row, but there are 3 items"),
        ('id,x\n1,a\n"2\n3",b\n4,c\n', {}, r", line 3: an item's name must be of one line, unlike '2\n3'"),
        ("cluster,doc\n" * 4, {"cluster": "doc"}, " has a column 'cluster' of its own: 'doc' cannot take its name"),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(
    tmp_path: Path, content: str, columns: dict[str, str], told: str
) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        read_items(source(tmp_path, content, columns), 3)
    assert str(error.value) == f"{tmp_path / 'items.csv'}{told}"
