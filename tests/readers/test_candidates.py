"""Tables of candidates: scoring functions are systems, and their n-best lists outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.readers.candidates import load_candidates
from simstudy.readers.load import load
from tests.readers.line_files import loaded, note_kinds, refused, scores


def test_a_domain_is_ranked_by_itself(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"id": [f"w{i}" for i in range(200)], "gold": rng.integers(0, 2, 200), "t": rng.random(200)})
    frame["domain"] = np.where(np.arange(200) % 3, "news", "law")
    frame.to_csv(tmp_path / "c.csv", index=False)
    law = frame[frame["domain"] == "law"]
    outputs = load(tmp_path / "c.csv", "precision@20", domain="law").outputs
    assert outputs.scores()[0] == pytest.approx(law.nlargest(20, "t")["gold"].mean())
    assert outputs.items["id"].tolist() == law["id"].tolist()
    for domain, n in (("law", 70), ("prose", 2), ("law", "2:rel=2")):
        refused(tmp_path, {"c.csv": frame.to_csv(index=False)}, f"precision@{n}", domain=domain)


def test_columns_of_numbers_are_scores_unless_they_describe(tmp_path: Path) -> None:
    text = "word,is_true,t,length,doc,flag\na,1,3,7,1,true\nb,0,-inf,8,1,false\nc,0,inf,9,2,true\n"
    (tmp_path / "c.csv").write_text(text)
    columns = {"gold": "is_true", "length": "length"}
    read = load_candidates(tmp_path / "c.csv", columns=columns, seed=3, test_set="2004")
    found = read.candidates
    assert (found.names, found.ids, found.seed) == (["t"], ["a true", "b false", "c true"], 3)
    assert read.items.columns.tolist() == ["id", "true", "word", "doc", "flag", "length"]
    assert (read.candidates.test_set, read.notes[0].kind) == ("2004", "candidates")
    assert "1 scoring function" in repr(read)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("id,gold,t\na,1,3\na,0,2\n", "c.csv, line 3"),
        ("id,gold,t\na,1,3\n,0,2\n", "c.csv, line 3"),
        ("id,gold,t\na,yes,3\nb,0,2\n", "c.csv, line 2"),
        ("id,gold,t\na,1,3\nb,0,x\n", "c.csv, line 3"),
        ("id,gold,t\na,1,\nb,0,1\n", "c.csv, line 2"),
        ("id,gold,t\na,1,3\nb,1,2\n", "c.csv"),
        ("id,gold,t\na,1,x\nb,0,y\n", "c.csv"),
    ],
)
def test_malformed_tables_are_refused_where_they_are(tmp_path: Path, text: str, at: str) -> None:
    assert refused(tmp_path, {"c.csv": text}, "precision@1", format="candidates").at == str(tmp_path / at)


def test_ties_and_dropped_candidates_are_told(tmp_path: Path) -> None:
    text = "id,gold,t,loss\na,1,3,1\nb,0,3,2\nc,1,,3\n"
    read = loaded(tmp_path, {"c.csv": text}, "precision@1", missing="drop")
    assert note_kinds(read) == ["candidates dropped", "candidates by errors", "ties broken"]
    kept = load(tmp_path / "c.csv", "precision@1", missing="drop", ties="keep").outputs
    assert kept.statistics[0].tolist() == [[1, 1], [0, 1]]
    assert refused(tmp_path, {"c.csv": text}, "precision@1", missing="zero").argument == "missing"


def test_scores_of_topics_are_no_candidates(tmp_path: Path) -> None:
    files = {"s.csv": "topic,system,score\n1,a,0.5\n1,b,0.25\n2,a,1\n2,b,0\n"}
    assert scores(loaded(tmp_path, files, "precision@4", columns={"item": "topic"})) == {"a": 0.75, "b": 0.12}
