from __future__ import annotations

import json
import struct
from functools import cmp_to_key, partial
from math import log2
from pathlib import Path

import numpy as np
import pytest

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.door import load
from simstudy.loaders.formats import read_source
from simstudy.metrics import get_metric

read_trec = partial(read_source, format="trec")

QRELS = "1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 0\n3 0 d 1\n"
RUN = "1 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n1 Q0 c 3 1.0 t\n3 Q0 e 1 2.0 t\n3 Q0 d 2 1.0 t\n"


def read(folder: Path, runs: dict[str, str], metric: str = "ap", qrels: str = QRELS, missing: str = "error") -> Loaded:
    (folder / "qrels").write_text(qrels)
    for name, text in runs.items():
        (folder / name).write_text(text)
    paths = tuple(folder / name for name in runs)
    return read_trec(Source(paths, get_metric(metric), references=(folder / "qrels",), missing=missing))


def test_topics_with_relevant_documents_are_the_items(tmp_path: Path) -> None:
    loaded = read(tmp_path, {"bm25.run": RUN})
    assert loaded.outputs.names == ["bm25"]
    assert loaded.outputs.items["id"].tolist() == ["1", "3"]
    np.testing.assert_allclose(loaded.outputs.statistics[0], [[(1 + 2 / 3) / 2, 1], [1 / 2, 1]])
    assert loaded.notes == (f"{tmp_path}/qrels: 1 of 3 topics left out that have no relevant document, first '2'",)


def test_ties_go_to_the_last_docno_and_the_rank_column_is_not_looked_at(tmp_path: Path) -> None:
    loaded = read(tmp_path, {"r": "1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n1 Q0 c 9 1 t\n3 Q0 d 7 -1 t\n3 Q0 x 1 -2 t\n"}, "rr")
    assert loaded.outputs.statistics[0, :, 0].tolist() == [1, 1]
    precision = read(tmp_path, {"r": "1 Q0 a 1 1 t\n1 Q0 b 2 1 t\n3 Q0 d 1 1 t\n"}, "precision@1")
    assert precision.outputs.statistics[0, :, 0].tolist() == [0, 1]


def test_scores_tie_in_single_precision(tmp_path: Path) -> None:
    """As floats of trec_eval: 1.00000001 is 1."""
    loaded = read(tmp_path, {"r": "1 Q0 a 1 1.00000001 t\n1 Q0 b 2 1.0 t\n3 Q0 d 1 1 t\n"}, "rr")
    assert loaded.outputs.statistics[0, 0, 0] == 0.5


def test_identical_rankings_have_equal_answers(tmp_path: Path) -> None:
    loaded = read(tmp_path, {"a": RUN, "b": RUN.replace("3.0", "9"), "c": RUN.replace("3.0", "0")})
    assert loaded.outputs.answers is not None
    assert (loaded.outputs.answers[0] == loaded.outputs.answers[1]).all()
    assert (loaded.outputs.answers[0] == loaded.outputs.answers[2]).tolist() == [False, True]


def test_topics_that_the_qrels_lack_are_left_out(tmp_path: Path) -> None:
    loaded = read(tmp_path, {"b": "3 Q0 d 1 1 t\n9 Q0 d 1 1 t\n2 Q0 a 1 1 t\n"}, missing="drop")
    assert loaded.outputs.items["id"].tolist() == ["3"]
    assert f"{tmp_path}/b: 1 topic left out that the qrels lack, first '9'" in loaded.notes


def brute_force(qrels: dict[str, int], run: dict[str, float], metric: str) -> float:
    """From the definitions, document by document."""

    def before(x: str, y: str) -> int:
        first, second = (struct.unpack("f", struct.pack("f", run[d]))[0] for d in (x, y))
        return -1 if first > second or (first == second and x.encode() > y.encode()) else 1

    ranked = sorted(run, key=cmp_to_key(before))
    rank = {document: r for r, document in enumerate(ranked, start=1)}
    relevant = {document for document, grade in qrels.items() if grade > 0}
    found = relevant & rank.keys()
    name, _, cut = metric.partition("@")
    if name == "ap":
        return sum(sum(rank[e] <= rank[d] for e in found) / rank[d] for d in found) / len(relevant)
    if name == "rr":
        return max((1 / rank[d] for d in found), default=0.0)
    n = int(cut)
    if name == "precision":
        return sum(rank[d] <= n for d in found) / n
    best = sorted((qrels[d] for d in relevant), reverse=True)[:n]
    gained = sum(qrels[d] / log2(1 + rank[d]) for d in found if rank[d] <= n)
    return gained / sum(grade / log2(r + 2) for r, grade in enumerate(best))


@pytest.mark.parametrize("metric", ["ap", "rr", "precision@5", "precision@30", "ndcg@5", "ndcg@100"])
def test_against_brute_force_on_runs_with_ties(tmp_path: Path, metric: str, rng: np.random.Generator) -> None:
    topics = [str(t) for t in range(12)]
    documents = np.array([f"d{i}" for i in range(60)] + ["é", "z", "Z"])
    qrels = {
        t: {d: int(rng.integers(-1, 4)) for d in rng.choice(documents, 25, replace=False)} | {"z": 1} for t in topics
    }
    run = {
        t: {d: float(rng.integers(0, 6)) for d in rng.choice(documents, rng.integers(1, 50), replace=False)}
        for t in topics
    }
    loaded = read(
        tmp_path,
        {"run": "".join(f"{t} Q0 {d} 1 {s} x\n" for t in topics for d, s in run[t].items())},
        metric,
        "".join(f"{t} 0 {d} {g}\n" for t in topics for d, g in qrels[t].items()),
    )
    expected = [brute_force(qrels[t], run[t], metric) for t in topics]
    np.testing.assert_allclose(loaded.outputs.statistics[0, :, 0], expected, rtol=1e-12)


def test_no_qrels_and_other_metrics(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="TREC runs need one reference, the file of qrels, not 0"):
        read_trec(Source((tmp_path / "run",), get_metric("ap")))
    with pytest.raises(ValueError, match="metric must be one of ap, rr, precision@n, ndcg@n for rankings, not 'bleu'"):
        read(tmp_path, {"run": RUN}, "bleu")


def test_runs_and_qrels_in_json_are_those_of_text(tmp_path: Path) -> None:
    """As ranx and pytrec_eval write them: {topic: {docno: score}}."""
    text = read(tmp_path, {"a": RUN})
    run = {"1": {"a": 3.0, "b": 2, "c": 1.0}, "3": {"d": 1.0, "e": 2.0}}
    grades = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 0}, "3": {"d": 1}}
    (tmp_path / "a.json").write_text(json.dumps(run))
    (tmp_path / "qrels.json").write_text(json.dumps(grades))
    found = load(tmp_path / "a.json", "ap", references=tmp_path / "qrels.json")
    assert found.outputs.names == text.outputs.names
    np.testing.assert_array_equal(found.outputs.statistics, text.outputs.statistics)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("[1]", r"a.json: a run or qrels in JSON must be \{topic: \{document: number\}\}"),
        ('{"1": 2}', r"a.json, topic '1': must be \{document: number\}"),
        ('{"1": {"a": true}}', r"a.json, topic '1', document 'a': must be a number, not true"),
        ('{"1": {"a": 1e999}}', r"a.json, topic '1', document 'a': must be a number, not Infinity"),
        ('{"1": {"a": NaN}}', r"a.json, topic '1', document 'a': the score must be a number, not nan"),
    ],
)
def test_a_json_file_that_is_no_run(run: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(run)
    (tmp_path / "qrels").write_text(QRELS)
    with pytest.raises(ValueError, match=said):
        load(tmp_path / "a.json", "ap", references=tmp_path / "qrels")
