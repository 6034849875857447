"""Items of one document or user, and samples of one item, are resampled together: all patterns of signs say so."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.base import Loaded
from simstudy.loaders.clusters import clustered
from simstudy.loaders.door import load
from simstudy.notes import notes_kept
from simstudy.outputs.item_columns import names_clusters, names_samples
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


@pytest.mark.parametrize(
    ("kind", "column"), [("tidy", "doc"), ("wide", "document_id"), ("lines", "User"), ("items", "session id")]
)
def test_documents_are_resampled_as_wholes_whatever_the_column_is_called(
    tmp_path: Path, kind: str, column: str
) -> None:
    """As all 16 patterns of signs of four documents give it, not as the 512 of nine items do; a note says so."""
    loaded = read(tmp_path, kind, column, DOCUMENTS)
    assert (p_value(loaded), p_value(loaded, "item")) == pytest.approx((BY_DOCUMENT, BY_ITEM))
    assert BY_DOCUMENT > 0.05 > BY_ITEM
    named = read(tmp_path, kind, "theirs", DOCUMENTS, {"cluster": "theirs"})
    assert loaded.outputs.items["cluster"].tolist() == named.outputs.items["cluster"].tolist() == DOCUMENTS
    (note,) = loaded.notes
    assert note.startswith(f"items of one '{column}' form a cluster (4 clusters). ")
    assert named.notes == ()
    # What is counted is what is resampled: spaces around a name make no other document.
    spaced = read(tmp_path, kind, column, [f"{name} " if k % 2 else name for k, name in enumerate(DOCUMENTS)])
    assert spaced.outputs.items["cluster"].tolist() == DOCUMENTS
    assert spaced.notes == loaded.notes


@pytest.mark.parametrize("kind", ["tidy", "wide", "lines", "items"])
def test_what_is_said_of_the_columns_goes_first(tmp_path: Path, kind: str) -> None:
    """A column that was named as the domain is no cluster, nor is any where another is named."""
    loaded = read(tmp_path, kind, "repo", DOCUMENTS, {"domain": "repo"} if kind != "items" else {"area": "repo"})
    assert "cluster" not in loaded.outputs.items
    assert loaded.notes == ()


def test_names_in_any_spelling_are_those_of_clusters_or_of_samples() -> None:
    for name in ("doc_id", "Repository", "question", "USER-name", "session id", "cluster"):
        assert names_clusters(name), name
    for name in ("docs", "documentation", "doctor", "domain", "score", "id", "users", "topic"):
        assert not names_clusters(name), name
    assert [names_samples(name) for name in ("sample_idx", "Epoch", "trial no", "samples", "seed", "doc")] == (
        [True, True, True, False, False, False]
    )


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
    assert noted(user=["a"] * 4) == (None, ["'user' is not used as the cluster: all items have 'a'"])
    for blank in (None, " "):
        assert noted(doc=["a", "a", blank, "b"]) == (None, ["'doc' is not used as the cluster: item 'i3' has none"])
    assert noted(cluster=["p", "p", "q", "q"], doc=["a", "a", "a", "b"]) == (["p", "p", "q", "q"], [])


def test_of_several_columns_the_one_that_holds_the_others() -> None:
    labels, notes = noted(question=["q1", "q1", "q2", "q3"], doc_id=["a", "a", "b", "b"], session=["s", "t", "u", "v"])
    assert labels == ["a", "a", "b", "b"]
    assert notes[0].startswith("items of one 'doc_id' form a cluster (2 clusters)")
    assert notes[1:] == ["'question' is not used as the cluster: 'doc_id' is"]
    assert noted(doc=["a", None, "b", "b"], question=["q", "q", "r", "s"])[0] == ["q", "q", "r", "s"]


# Right answers of two systems, four samples of each of seven questions.
RIGHT = {
    "old": ["0000", "0010", "1111", "0000", "1010", "0000", "0110"],
    "new": ["1111", "1110", "1111", "0011", "1110", "0000", "1111"],
}


BY_QUESTION = flipped([new.count("1") - old.count("1") for old, new in zip(*RIGHT.values(), strict=True)])


def rows() -> list[tuple[str, str, int, str]]:
    return [(s, f"q{q}", k, score) for s in RIGHT for q, own in enumerate(RIGHT[s]) for k, score in enumerate(own)]


def tidy_samples(folder: Path, header: str = "system,item,sample,score", name: str = "s.csv") -> Path:
    (folder / name).write_text("\n".join([header, *(",".join(map(str, row)) for row in rows())]))
    return folder / name


def wide_samples(folder: Path) -> Path:
    lines = [f"q{q},{k},{RIGHT['old'][q][k]},{RIGHT['new'][q][k]}" for q, k in product(range(7), range(4))]
    (folder / "s.csv").write_text("\n".join(["item,epoch,old,new", *lines]))
    return folder / "s.csv"


def logs(folder: Path) -> Path:
    (folder / "logs").mkdir()
    for system, right in RIGHT.items():
        samples = [
            {"id": f"q{q}", "epoch": k + 1, "scores": {"match": {"value": int(right[q][k])}}}
            for q, k in product(range(7), range(4))
        ]
        about = {"status": "success", "eval": {"task": "quiz", "model": system}, "samples": samples}
        (folder / "logs" / f"{system}.json").write_text(json.dumps(about))
    return folder / "logs"


def check(loaded: Loaded, first: str) -> None:
    pairs = compared(loaded.outputs)
    assert pairs["p_value"].iloc[0] == pytest.approx(BY_QUESTION)
    assert (pairs["unit"].iloc[0], pairs["n_units"].iloc[0], pairs["n_items"].iloc[0]) == ("sample_of", 7, 28)
    assert dict(zip(loaded.outputs.names, loaded.outputs.scores(), strict=True)) == pytest.approx(
        {system: 100 * "".join(own).count("1") / 28 for system, own in RIGHT.items()}
    )
    assert loaded.outputs.items["id"].iloc[0] == first
    assert loaded.notes == (
        "7 questions with 28 samples. The samples of a question form one cluster. unit='item' treats each sample as "
        "independent.",
    )


@pytest.mark.parametrize("make", [tidy_samples, wide_samples, logs])
def test_the_samples_of_a_question_are_resampled_together(tmp_path: Path, make: object) -> None:
    """As all patterns of signs of seven questions give it: .0625 where 28 answers taken one by one have .0005."""
    loaded = load(make(tmp_path), "accuracy")  # type: ignore[operator]
    check(loaded, "q0#1" if make is logs else "q0#0")
    assert BY_QUESTION > 0.05 > 10 * compared(loaded.outputs, unit="item")["p_value"].iloc[0]


def test_samples_meet_by_what_numbers_them(tmp_path: Path) -> None:
    """Under any name, and in any order of the rows; a column of clusters goes before the question."""
    named = tidy_samples(tmp_path, "system,item,draw,score", "named.csv")
    check(load(named, "accuracy", columns={"sample": "draw"}), "q0#0")
    shuffled = named.read_text().splitlines()
    named.write_text("\n".join([shuffled[0], *reversed(shuffled[1:])]))
    check(load(named, "accuracy", columns={"sample": "draw"}), "q6#3")
    (tmp_path / "items.csv").write_text("\n".join(["id,doc", *(f"q{q},d{q // 2}" for q in range(7))]))
    loaded = load(tidy_samples(tmp_path), "accuracy", items=tmp_path / "items.csv")
    assert loaded.outputs.items["cluster"].nunique() == 4
    assert loaded.notes[0].startswith("items of one 'doc' form a cluster (4 clusters)")


def test_rows_that_nothing_numbers_are_refused(tmp_path: Path) -> None:
    """They may be scores by several metrics, or one file twice."""
    text = "system,item,measure,score\na,q,ap,0.5\na,q,ndcg,0.7\nb,q,ap,0.5\nb,q,ndcg,0.7\n"
    (tmp_path / "s.csv").write_text(text)
    path = tmp_path / "s.csv"
    message = f"{path}, line 3: item 'q' of system 'a' again, first in {path}, line 2; column 'measure' names metrics"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        load(path, "mean")
    path.write_text(text.replace("measure", "sample").replace("ndcg", "ap"))
    message = f"{path}, line 3: sample 'q#ap' of system 'a' again, first in {path}, line 2"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        load(path, "mean")
    path.write_text(text.replace("measure", "sample").replace("ndcg", ""))
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}, line 3: no sample')}$"):
        load(path, "mean")


def test_a_sample_that_a_system_lacks_is_missing(tmp_path: Path) -> None:
    path = tidy_samples(tmp_path)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    # Unless anything is said of missing samples, items are means of those that each system has.
    loaded = load(path, "accuracy")
    assert loaded.notes[-1].startswith(
        "systems have different samples of an item, 3 to 4 each: the score of an item is"
    )
    assert dict(zip(loaded.outputs.names, loaded.outputs.statistics[:, 6, 0], strict=True)) == {"old": 0.5, "new": 1.0}
    assert load(path, "accuracy", missing="drop").outputs.n_items == 27
    zero = load(path, "accuracy", missing="zero").outputs
    assert zero.scores().tolist() == pytest.approx([100 * 9 / 28, 100 * (20 - 1) / 28])
    assert zero.items["cluster"].tolist() == [f"q{q}" for q in range(7) for _ in range(4)]
