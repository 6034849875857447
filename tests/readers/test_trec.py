"""TREC runs: ranking as trec_eval ranks, in both forms, and lines that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.readers.load import load
from tests.readers.line_files import loaded, note_kinds, refused, scores, texts_of

QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n"
NEW = "1 Q0 d1 1 9 new\n1 Q0 d2 2 8 new\n2 Q0 d3 1 9 new\n"


def test_documents_are_ranked_by_score_then_by_docno_backwards(tmp_path: Path) -> None:
    # 1e8 and 1e8 + 1 tie in single precision, as in trec_eval; ranks do not count.
    tied = "1 Q0 d1 1 100000001 t\n1 Q0 d2 2 100000000 t\n2 Q0 d3 9 -inf t\n"
    files = {"new.run": NEW, "tied.run": tied.replace("-inf", "-1e-3"), "gold.txt": QRELS}
    read = loaded(tmp_path, files, "ap")
    assert scores(read) == {"new": 1, "tied": 0.75}
    assert texts_of(read).answers_of("tied", ["1"]) == ["d2 (0)\nd1 (1)"]
    assert scores(loaded(tmp_path, files, "precision@1")) == {"new": 1, "tied": 0.5}
    assert scores(loaded(tmp_path, files, "ndcg@2")) == {"new": 1, "tied": 0.82}


@pytest.mark.parametrize("qrels", [
    "001 0 d1 1\n002 0 d2 1\n003 0 d1 1\n",
    "001\t0\td1\t1.0\n002\t0\td2\t1.\n003\t0\td1\t1\n",
    "query-id\tcorpus-id\tscore\n001\td1\t1\n002\td2\t1\n003\td1\t1\n",
    "# by two judges\n\ntopic iteration docno relevance\n001 0 d1 1\n#\n002 0 d2 1\n003 0 d1 1\n",
])  # fmt: skip
def test_forms_of_qrels_and_runs(tmp_path: Path, qrels: str) -> None:
    """By hand: 1 / log2(3) where the relevant document is second."""
    files = {
        "a.run": "001 Q0 d1 1 9 a\n001 Q0 d2 2 8 a b c\n002 Q0 d2 1 9 a\n003 Q0 d1 1 3 a\n",
        "tab.run": "topic\tQ0\tdocno\trank\tscore\ttag\n001\tQ0\tthe d\t1\t9\ta\n001\tQ0\td1\t2\t8\ta\n"
        "002\tQ0\td2\t1\t9\ta\n003\tQ0\td1\t1\t3\ta\n",
        "marco.tsv": "001\td2\t1\n001\td1\t2\n002\td2\t1\n003\td1\t1\n",
        "gold.tsv": qrels,
    }
    read = loaded(tmp_path, files, "ndcg@10")
    assert (scores(read), note_kinds(read)) == ({"a": 1, "tab": 0.88, "marco": 0.88}, [])


def test_notes_on_tied_scores_and_on_ranks_that_contradict_them(tmp_path: Path) -> None:
    """Average precision by pytrec_eval."""
    files = {
        "const.run": "1 Q0 a 1 0 c\n1 Q0 b 2 0 c\n2 Q0 b 1 0 c\n2 Q0 a 2 0 c\n",
        "dist.run": "1 Q0 a 1 0.1 f\n1 Q0 b 2 0.9 f\n2 Q0 b 1 9 f\n2 Q0 a 2 8 f\n",
        "same.run": "1 Q0 a 0 9 s\n1 Q0 b 0 8 s\n2 Q0 b 0 9 s\n2 Q0 a 0 8 s\n",
        "gold.txt": "1 0 a 1\n2 0 b 1\n",
    }
    read = loaded(tmp_path, files, "ap")
    assert scores(read) == {"const": 0.75, "dist": 0.75, "same": 1}
    assert [str(note) for note in read.notes[1:]] == [
        "2 of 2 topics have tied scores (const): ordered by docno, as trec_eval does",
        "rank and score disagree in 1 of 2 topics (dist): the score counts",
    ]


def test_json_says_the_same(tmp_path: Path) -> None:
    run, gold = '{"1": {"d1": 9, "d2": 10.5}, "2": {"d3": 1}}', '{"1": {"d1": 2}, "2": {"d3": 1}}'
    files = {"new.json": run, "gold.json": gold}
    assert scores(loaded(tmp_path, files, "rr", format="trec")) == {"new": 0.75}


def test_topics_are_those_of_the_qrels(tmp_path: Path) -> None:
    """One without a relevant document scores 0, as by pytrec_eval: map, P_1 and ndcg are 2/3, not 1."""
    files = {"a.run": NEW + "3 Q0 d1 1 1 a\n4 Q0 d 1 1 a\n", "gold.txt": QRELS + "3 0 d1 0\n"}
    for metric in ("ap", "precision@1", "ndcg"):
        read = loaded(tmp_path, files, metric)
        assert read.outputs.items["id"].tolist() == ["1", "2", "3"]
        assert (scores(read), note_kinds(read)) == ({"a": 0.67}, ["topics without relevance", "topics unknown"])
    strangers = {"a.run": "1 Q0 x 1 1 a\n", "gold.txt": QRELS}
    assert "no document" in str(refused(tmp_path, strangers, "ap"))
    lacks = {"a.run": NEW, "b.run": NEW.partition("2 Q0")[0], "gold.txt": QRELS}
    assert "lacks 1 of 2" in str(refused(tmp_path, lacks, "ap"))
    assert scores(loaded(tmp_path, lacks, "ap", missing="zero")) == {"a": 1, "b": 0.5}


TREC_EVAL = "runid\tall\tx\nnum_ret  \t1\t2\nndcg_cut_10   \t1\t0.6309\nbpref   \t1\t0.5\nndcg_cut_10  2       1.0000\n"
IR_MEASURES = "1\tBpref\t0.5000\n1\tnDCG@10\t0.6309\n2\tnDCG@10\t1.0000\n2\tBpref\t1\nall\tBpref\t0.75\n"


def test_values_that_other_programs_print_for_each_topic(tmp_path: Path) -> None:
    files = {"a.txt": TREC_EVAL + "bpref\t2\t1\nbpref\tall\t0.75\n"}
    for text in (files["a.txt"], IR_MEASURES):
        for metric, options in (("bpref", {}), ("mean", {"columns": {"score": "bpref"}})):
            read = loaded(tmp_path, {"a.txt": text}, metric, **options)
            assert (scores(read), read.outputs.metric.name) == ({"a": 0.75}, "mean")
        assert scores(loaded(tmp_path, {"a.txt": text}, "ndcg_cut_10")) == {"a": 0.82}
    assert load(tmp_path / "a.txt", columns={"score": "nDCG@10"}).outputs.metric.name == "ndcg@10"
    for metric in ("bprefs", "mean", "ap", "num_ret"):
        error = refused(tmp_path, {**files, "b.txt": files["a.txt"].replace("num_ret", "num_rel")}, metric)
        assert "measures of all files: ndcg_cut_10, bpref, not" in str(error)
    assert "-q" in str(refused(tmp_path, {"a.txt": "map \tall\t0.5\n"}, "ap"))
    assert refused(tmp_path, {"a.txt": f"{IR_MEASURES}1 2\n"}, "ap").at == f"{tmp_path / 'a.txt'}, line 6"


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
        ("1 d1 9\n1 d2 8\n", QRELS, "a.run, line 1"),
        ("qid docid score\n1 d1 1\n", QRELS, "a.run, line 1"),
        (NEW, QRELS.replace("d2 0", "d2 yes"), "gold.txt, line 2"),
        (NEW, QRELS.replace("d2 0", "d2 0.5"), "gold.txt, line 2"),
        (NEW, "1 d1 1\n", "gold.txt, line 1"),
        (NEW, f"query_id doc_id relevance iteration\n{QRELS}", "gold.txt, line 1"),
        (NEW, "1 0 d1 0\n", "gold.txt"),
    ],
)
def test_malformed_files_are_refused_where_they_are(tmp_path: Path, run: str, qrels: str, at: str) -> None:
    assert refused(tmp_path, {"a.run": run, "gold.txt": qrels}, "ap").at == str(tmp_path / at)


@pytest.mark.parametrize("text", ["[]", "{}", '{"1": 2}', '{"1": {}}', '{"1": {"d1": true}}', '{"1": {"d1": 1e999}}'])
def test_malformed_json_is_refused(tmp_path: Path, text: str) -> None:
    error = refused(tmp_path, {"a.json": text, "gold.txt": QRELS}, "ap", format="trec")
    assert error.at.startswith(str(tmp_path / "a.json"))
