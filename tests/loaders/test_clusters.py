from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.formats import load
from simstudy.loaders.items import clustered, items_in_order, names_clusters, numbered
from simstudy.metrics import get_metric
from simstudy.notes import notes_kept
from tests.oracles import compared

# Gains of nine items, in documents of 4, 2, 2 and 1: of 4 signs, 2 of 16 pairs of patterns reach the sum of 17.
GAINS = [3, 2, 2, 1, 4, -1, 3, 2, 1]
DOCUMENTS = ["a", "a", "a", "a", "b", "b", "c", "c", "d"]


def flipped(sums: list[int]) -> float:
    """The two-sided p-value of sign flips, by trying all signs."""
    signs = np.array(list(product([-1, 1], repeat=len(sums))))
    return float(np.mean(np.abs(signs @ np.array(sums)) >= abs(sum(sums))))


BY_ITEM = flipped(GAINS)
BY_DOCUMENT = flipped([sum(g for g, d in zip(GAINS, DOCUMENTS, strict=True) if d == name) for name in "abcd"])


def tidy(column: str, labels: list[str]) -> str:
    rows = [
        f"{system},{i},{gain if system == 'new' else 0},{label}"
        for system in ("old", "new")
        for i, (gain, label) in enumerate(zip(GAINS, labels, strict=True))
    ]
    return "\n".join([f"system,item,score,{column}", *rows])


def wide(column: str, labels: list[str]) -> str:
    rows = [f"{i},0,{gain},{label}" for i, (gain, label) in enumerate(zip(GAINS, labels, strict=True))]
    return "\n".join([f"item,old,new,{column}", *rows])


def read(folder: Path, kind: str, column: str, labels: list[str], columns: dict[str, str] | None = None) -> Loaded:
    """The nine items as a tidy or a wide table, as lines with a table of the items, or as a table with one."""
    items = folder / "meta.tsv"
    items.write_text("\n".join([f"id\t{column}", *(f"{i}\t{label}" for i, label in enumerate(labels))]))
    if kind == "lines":
        for name, gains in {"old": [0] * 9, "new": GAINS}.items():
            (folder / f"{name}.txt").write_text("\n".join(map(str, gains)))
        return load([folder / "old.txt", folder / "new.txt"], "mean", items=items, columns=columns)
    table = {"tidy": tidy(column, labels), "wide": wide(column, labels), "items": wide("domain", ["x"] * 9)}
    (folder / "scores.csv").write_text(table[kind])
    return load(folder / "scores.csv", "mean", items=items if kind == "items" else None, columns=columns)


def p_value(loaded: Loaded, unit: str | None = None) -> float:
    return float(compared(loaded.outputs, unit=unit)["p_value"].iloc[0])


@pytest.mark.parametrize("kind", ["tidy", "wide", "lines", "items"])
@pytest.mark.parametrize("column", ["doc", "document_id", "User", "repo", "session id", "question"])
def test_documents_are_resampled_as_wholes_whatever_the_column_is_called(
    tmp_path: Path, kind: str, column: str
) -> None:
    """As all 16 patterns of signs of four documents give it, not as the 512 of nine items do; a note says so."""
    loaded = read(tmp_path, kind, column, DOCUMENTS)
    assert (p_value(loaded), p_value(loaded, "item")) == pytest.approx((BY_DOCUMENT, BY_ITEM))
    assert BY_DOCUMENT > 0.05 > BY_ITEM
    named = read(tmp_path, kind, "theirs", DOCUMENTS, {"cluster": "theirs"})
    assert loaded.outputs.items["cluster"].tolist() == named.outputs.items["cluster"].tolist()
    assert compared(loaded.outputs).equals(compared(named.outputs))
    (note,) = loaded.notes
    assert note.startswith(f"items of one '{column}' are a cluster, 4 in all, ")
    assert named.notes == ()


@pytest.mark.parametrize("kind", ["tidy", "wide", "lines", "items"])
def test_what_is_said_of_the_columns_goes_first(tmp_path: Path, kind: str) -> None:
    """A column that was named as the domain is no cluster, nor is any where another is named."""
    loaded = read(tmp_path, kind, "repo", DOCUMENTS, {"domain": "repo"} if kind != "items" else {"area": "repo"})
    assert "cluster" not in loaded.outputs.items
    assert loaded.notes == ()
    assert p_value(loaded) == pytest.approx(BY_ITEM)


def noted(**columns: list[str | None]) -> tuple[list[str] | None, list[str]]:
    items = pd.DataFrame({"id": ["i1", "i2", "i3", "i4"], **columns})
    with notes_kept() as notes:
        found = clustered(items)
    assert list(found)[: len(items.columns)] == list(items)
    return (found["cluster"].tolist() if "cluster" in found else None), notes


def test_a_column_that_says_nothing_of_dependence_is_no_cluster() -> None:
    """Each value once: items are independent. One value, or none for some item: a note says why."""
    assert noted(doc=["a", "b", "c", "d"]) == (None, [])
    assert noted(doctor=["a", "a", "b", "b"], genre=["x", "x", "y", "y"]) == (None, [])
    assert noted(user=["a"] * 4) == (None, ["'user' is not taken as a cluster: all items have 'a'"])
    for blank in (None, " "):
        assert noted(doc=["a", "a", blank, "b"]) == (None, ["'doc' is not taken as a cluster: item 'i3' has none"])
    assert noted(cluster=["p", "p", "q", "q"], doc=["a", "a", "a", "b"]) == (["p", "p", "q", "q"], [])


def test_of_several_columns_the_one_that_holds_the_others() -> None:
    labels, notes = noted(question=["q1", "q1", "q2", "q3"], doc_id=["a", "a", "b", "b"], session=["s", "t", "u", "v"])
    assert labels == ["a", "a", "b", "b"]
    assert notes[0].startswith("items of one 'doc_id' are a cluster, 2 in all")
    assert notes[1:] == ["'question' is not taken as a cluster: 'doc_id' is"]
    assert noted(doc=["a", None, "b", "b"], question=["q", "q", "r", "s"])[0] == ["q", "q", "r", "s"]


@pytest.mark.parametrize("name", ["docs", "documentation", "domain", "score", "id", "users", "sent", "seg", "topic"])
def test_other_names_are_no_clusters(name: str) -> None:
    assert not names_clusters(name)


def test_the_documents_of_a_translation_test_set(shared_data: Path) -> None:
    path = shared_data / "wmt24_en-de" / "meta.tsv"
    with path.open() as file:
        documents = [row["doc"] for row in csv.DictReader(file, delimiter="\t")]
    with notes_kept() as notes:
        items = items_in_order(Source((), get_metric("bleu"), items=path), numbered(len(documents)))
    assert items["cluster"].tolist() == documents
    assert notes[0].startswith(f"items of one 'doc' are a cluster, {len(set(documents)):,} in all")
