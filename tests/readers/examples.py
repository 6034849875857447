"""Two small systems in each shipped format, with what they score by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.readers.line_files import written
from tests.readers.test_helm import entry
from tests.readers.test_promptfoo import result

_LOG = "samples_quiz_2025-01-31T10-00-00.123456.jsonl"
_BERTSCORE = "roberta-large_L17_no-idf_version=0.3.12 P: 0.9 R: 0.9 F1: 0.9\n"


def _sample(number: int, score: float) -> str:
    return json.dumps({"doc_id": number, "metrics": ["acc"], "acc": score}) + "\n"


def _log(model: str, values: Mapping[str, str]) -> str:
    samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": v}}} for i, v in values.items()]
    return json.dumps({"status": "success", "eval": {"task": "quiz", "model": model}, "samples": samples})


def _report(submitted: str, resolved: str) -> str:
    return json.dumps({"submitted_ids": submitted.split(), "resolved_ids": resolved.split()})


def _results(label: str, *scores: int) -> str:
    return json.dumps({"results": {"version": 3, "results": [result(k, label, x) for k, x in enumerate(scores)]}})


def _sentence(name: str, *heads: int) -> str:
    words = [f"{i}\tw{i}\t_\tX\t_\t_\t{head}\tdep\t_\t_" for i, head in enumerate(heads, start=1)]
    return "\n".join([f"# sent_id = {name}", *words]) + "\n\n"


@dataclass(frozen=True)
class Example:
    """Systems new and old on two items: they agree on the second one."""

    metric: str
    #: Name -> text: a file for each system, or one for both. Where items have ids, old has them in another order.
    files: Mapping[str, str]
    #: Of new and old, by hand.
    scores: tuple[float, float]
    ids: tuple[str, ...] = ("1", "2")
    #: Text of the file of references; None where there is none.
    gold: str | None = None
    #: What old's file may be without the first item, and that item's statistics for missing="zero".
    short: str | None = None
    silent: tuple[float, ...] = (0, 1)
    #: Whether all statistics are whole numbers.
    whole: bool = True


EXAMPLES: dict[str, Example] = {
    "text": Example(
        "accuracy",
        {"new.txt": "noun\nverb\n", "old.txt": "verb\nverb\n"},
        (100, 50),
        gold="noun\nverb\n",
    ),
    "scores": Example(
        "accuracy",
        {"new.csv": "item,score\nq1,1\nq2,1\n", "old.csv": "item,score\nq2,1\nq1,0\n"},
        (100, 50),
        ("q1", "q2"),
        short="item,score\nq2,1\n",
    ),
    # One of two spans, and none that is wrong: 2 * 1 / (1 + 2).
    "conll": Example(
        "span_f1",
        {"new.conll": "Rome B-loc\n\nin O\nParis B-loc\n", "old.conll": "Rome O\n\nin O\nParis B-loc\n"},
        (100, 200 / 3),
        gold="Rome B-loc\n\nin O\nParis B-loc\n",
    ),
    # One of four heads is wrong.
    "conllu": Example(
        "uas",
        {
            "new.conllu": _sentence("s1", 0, 1) + _sentence("s2", 0, 1),
            "old.conllu": _sentence("s2", 0, 1) + _sentence("s1", 0, 0),
        },
        (100, 75),
        ("s1", "s2"),
        gold=_sentence("s1", 0, 1) + _sentence("s2", 0, 1),
        short=_sentence("s2", 0, 1),
        silent=(0, 0, 2),
    ),
    # S, NP and VP of the second tree; of the first only S: 2 * 4 / (4 + 6).
    "trees": Example(
        "parseval",
        {
            "new.mrg": "(S (NP (D a) (N cat)) (VP (V sat)))\n(S (NP (D a) (N dog)) (VP (V ran)))\n",
            "old.mrg": "(S (D a) (N cat) (V sat))\n(S (NP (D a) (N dog)) (VP (V ran)))\n",
        },
        (100, 80),
        gold="(S (NP (D a) (N cat)) (VP (V sat)))\n(S (NP (D a) (N dog)) (VP (V ran)))\n",
        short=" \n(S (NP (D a) (N dog)) (VP (V ran)))\n",
        silent=(0, 0, 3),
    ),
    # Two of three sure links, both right: 1 - (2 + 2) / (2 + 3).
    "alignments": Example(
        "aer",
        {"new.wa": "0-0 1-1\n0-0\n", "old.wa": "0-0\n0-0\n"},
        (0, 20),
        gold="0-0 1-1\n0-0\n",
    ),
    # The relevant document of topic 1 is second.
    "trec": Example(
        "ap",
        {
            "new": "1 Q0 d1 1 9 x\n1 Q0 d2 2 8 x\n2 Q0 d3 1 9 x\n",
            "old": "2 Q0 d3 1 5 x\n1 Q0 d2 1 9 x\n1 Q0 d1 2 8 x\n",
        },
        (1, 0.75),
        gold="1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n",
        short="2 Q0 d3 1 5 x\n",
        whole=False,
    ),
    "trec-eval": Example(
        "ap",
        {
            "new": "num_ret \t1\t2\nmap    \t1\t1.0\nmap    \t2\t1.0\nmap    \tall\t1.0\n",
            "old": "num_ret \t2\t2\nmap    \t2\t1.0\nmap    \t1\t0.5\n",
        },
        (1, 0.75),
        short="map    \t2\t1.0\n",
        whole=False,
    ),
    # The list of the two highest: new has both that are true, old one of them.
    "candidates": Example(
        "precision@2",
        {"c.csv": "id,gold,new,old\na,1,9,2\nb,1,8,9\nc,0,1,8\nd,0,2,1\n"},
        (1, 0.5),
        ("a", "b", "c", "d"),
    ),
    "segments": Example(
        "mean",
        {
            "new.txt": f"{_BERTSCORE}1.0\t1.0\t0.75\n1.0\t1.0\t0.5\n",
            "old.txt": f"{_BERTSCORE}1.0\t1.0\t0.25\n1.0\t1.0\t0.5\n",
        },
        (0.625, 0.375),
        whole=False,
    ),
    # Two battles of new against old on two prompts: a win of new, and a tie.
    "arena": Example(
        "win_rate",
        {"b.csv": "question_id,model_a,model_b,winner\nq1,new,old,model_a\nq2,old,new,tie\n"},
        (75, 25),
        ("1", "2"),
        whole=False,
    ),
    "lm-eval": Example(
        "accuracy",
        {f"new/{_LOG}": _sample(0, 1.0) + _sample(1, 1.0), f"old/{_LOG}": _sample(1, 1.0) + _sample(0, 0.0)},
        (100, 50),
        ("0", "1"),
        short=_sample(1, 1.0),
    ),
    "inspect": Example(
        "accuracy",
        {"1.json": _log("new", {"a": "C", "b": "C"}), "2.json": _log("old", {"b": "C", "a": "I"})},
        (100, 50),
        ("a", "b"),
        short=_log("old", {"b": "C"}),
    ),
    "helm": Example(
        "accuracy",
        {
            "quiz:model=new/per_instance_stats.json": json.dumps([entry("id1", em=1), entry("id2", em=1)]),
            "quiz:model=old/per_instance_stats.json": json.dumps([entry("id2", em=1), entry("id1", em=0)]),
        },
        (100, 50),
        ("id1", "id2"),
        short=json.dumps([entry("id2", em=1)]),
    ),
    "swe-bench": Example(
        "accuracy",
        {"new.json": _report("a__a-1 a__a-2", "a__a-1 a__a-2"), "old.json": _report("a__a-2 a__a-1", "a__a-2")},
        (100, 50),
        ("a__a-1", "a__a-2"),
        short=_report("a__a-2", "a__a-2"),
    ),
    "promptfoo": Example(
        "accuracy",
        {"new.json": _results("new", 1, 1), "old.json": _results("old", 0, 1)},
        (100, 50),
        ("q0", "q1"),
    ),
}


def write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """The paths of these files, below the folder."""
    return [written(folder / name, text) for name, text in files.items()]
