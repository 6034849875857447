"""TREC runs: ranking as trec_eval ranks, in both forms, and lines that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readers.line_files import loaded, note_kinds, refused, scores

QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n"
NEW = "1 Q0 d1 1 9 new\n1 Q0 d2 2 8 new\n2 Q0 d3 1 9 new\n"


def test_documents_are_ranked_by_score_then_by_docno_backwards(tmp_path: Path) -> None:
    # 1e8 and 1e8 + 1 tie in single precision, as in trec_eval; ranks do not count.
    tied = "1 Q0 d1 1 100000001 t\n1 Q0 d2 2 100000000 t\n2 Q0 d3 9 -inf t\n"
    files = {"new.run": NEW, "tied.run": tied.replace("-inf", "-1e-3"), "gold.txt": QRELS}
    read = loaded(tmp_path, files, "ap")
    assert scores(read) == {"new": 1, "tied": 0.75}
    assert read.texts is not None
    assert read.texts.answers_of("tied", ["1"]) == ["d2 (0)\nd1 (1)"]
    assert scores(loaded(tmp_path, files, "precision@1")) == {"new": 1, "tied": 0.5}
    assert scores(loaded(tmp_path, files, "ndcg@2")) == {"new": 1, "tied": 0.82}


def test_json_says_the_same(tmp_path: Path) -> None:
    run, gold = '{"1": {"d1": 9, "d2": 10.5}, "2": {"d3": 1}}', '{"1": {"d1": 2}, "2": {"d3": 1}}'
    files = {"new.json": run, "gold.json": gold}
    assert scores(loaded(tmp_path, files, "rr", format="trec")) == {"new": 0.75}


def test_topics_are_those_of_the_qrels(tmp_path: Path) -> None:
    """One without a relevant document scores 0, as by pytrec_eval: map, P_1 and ndcg are 2/3, not 1."""
    files = {"a.run": NEW + "3 Q0 d1 1 1 a\n4 Q0 d 1 1 a\n", "gold.txt": QRELS + "3 0 d1 0\n"}
    for metric in ("ap", "precision@1", "ndcg"):
        read = loaded(tmp_path, files, metric, format="trec")
        assert read.outputs.items["id"].tolist() == ["1", "2", "3"]
        assert (scores(read), note_kinds(read)) == ({"a": 0.67}, ["topics without relevance"])
    lacks = {"a.run": NEW, "b.run": NEW.partition("2 Q0")[0], "gold.txt": QRELS}
    assert "lacks 1 of 2" in str(refused(tmp_path, lacks, "ap"))
    assert scores(loaded(tmp_path, lacks, "ap", missing="zero")) == {"a": 1, "b": 0.5}


def test_rankings_are_the_same_only_if_all_documents_are(tmp_path: Path) -> None:
    unjudged = "".join(f"1 Q0 x{rank} 1 {-rank} r\n" for rank in range(20))
    files = {"a.run": NEW + unjudged, "b.run": NEW + unjudged, "c.run": NEW + unjudged.replace("x19", "y19")}
    answers = loaded(tmp_path, {**files, "gold.txt": QRELS}, "ap").outputs.answers
    assert answers is not None
    assert (answers == answers[0]).tolist() == [[True, True], [True, True], [False, True]]


@pytest.mark.parametrize(
    ("run", "qrels", "at"),
    [
        ("1 Q0 d1 1 9\n", QRELS, "a.run, line 1"),
        (f"{NEW}1 Q0 d1 3 7 new\n", QRELS, "a.run, line 4"),
        (NEW.replace(" 8 ", " x "), QRELS, "a.run, line 2"),
        (NEW.replace(" 8 ", " inf "), QRELS, "a.run, line 2"),
        ("7 Q0 d1 1 9 a\n", QRELS, "a.run"),
        (NEW, QRELS.replace("d2 0", "d2 yes"), "gold.txt, line 2"),
        (NEW, "1 0 d1 0\n", "gold.txt"),
    ],
)
def test_malformed_files_are_refused_where_they_are(tmp_path: Path, run: str, qrels: str, at: str) -> None:
    assert refused(tmp_path, {"a.run": run, "gold.txt": qrels}, "ap").at == str(tmp_path / at)


@pytest.mark.parametrize("text", ["[]", "{}", '{"1": 2}', '{"1": {}}', '{"1": {"d1": true}}', '{"1": {"d1": 1e999}}'])
def test_malformed_json_is_refused(tmp_path: Path, text: str) -> None:
    error = refused(tmp_path, {"a.json": text, "gold.txt": QRELS}, "ap", format="trec")
    assert error.at.startswith(str(tmp_path / "a.json"))
