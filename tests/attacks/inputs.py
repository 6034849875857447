"""Comparisons in every format that the command reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from tests.readers.archives import DEFLATED, ZSTD, eval_log

_SENTENCES = "the cat sat\na dog ran home\nbirds sing\nit is late now\n"
_TREE = "(S (NP (DT the) (NN cat)) (VP (VBD sat)))\n"
_CONLL = "the O\nUN I-ORG\nmet B-PER\n\nhe O\nsat B-LOC\n\n"
_CONLLU = (
    "# sent_id = 1\n1\tthe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
    "# sent_id = 2\n1\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n\n"
)
_QRELS = "1 0 d1 1\n1 0 d2 0\n2 0 d1 0\n2 0 d3 2\n"
_RUN = "1 Q0 d1 1 2.5 {0}\n1 Q0 d2 2 1.5 {0}\n2 Q0 d3 1 9 {0}\n2 Q0 d1 2 3 {0}\n"
_ITEMS = "id,domain,cluster\n" + "".join(f"q{i},{'ab'[i % 2]},c{i // 2}\n" for i in range(6))


def _samples(right: str) -> str:
    row = '{{"doc_id": {0}, "metrics": ["acc"], "acc": {1}, "filtered_resps": ["{1}"], "doc_hash": "h{0}"}}\n'
    return "".join(row.format(i, float(c)) for i, c in enumerate(right))


def _log(model: str, values: str) -> str:
    samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": value}}} for i, value in enumerate(values)]
    return json.dumps({"status": "success", "eval": {"task": "quiz", "model": model}, "samples": samples})


def _archive(model: str, values: str, method: int) -> bytes:
    return eval_log(json.loads(_log(model, values)), method)


def _run(values: str) -> str:
    names = {"split": "test", "name": "exact_match"}
    entries = [
        {"instance_id": f"id{i}", "train_trial_index": 0, "stats": [{"name": names, "count": 1, "sum": int(v)}]}
        for i, v in enumerate(values)
    ]
    return json.dumps(entries, indent=1)


def _report(resolved: str) -> str:
    ids = [f"org__tool-{i}" for i in range(4)]
    right = [one for one, value in zip(ids, resolved, strict=True) if value == "1"]
    return json.dumps({"submitted_ids": ids, "resolved_ids": right}, indent=1)


_NAME = "samples_boolq_2025-01-31T10-00-00.123456.jsonl"
_BERTSCORE = "roberta-large_L17_no-idf_version=0.3.12 P: 0.9 R: 0.8 F1: 0.7\n"
_THREE = ("old", "new", "tiny")


_RECORDS = [
    {"model": name, "question_id": i, "metrics": {"em": (i + k) % 2}, "log": ["x"], "note": "é"}
    for k, name in enumerate(("old", "new"))
    for i in range(4)
]


@dataclass(frozen=True)
class Case:
    """A comparison that works: its files, and the arguments of `simstudy compare`."""

    files: Mapping[str, str | bytes]
    arguments: tuple[str, ...]

    @property
    def content(self) -> dict[str, bytes]:
        """The files as bytes."""
        return {path: text if isinstance(text, bytes) else text.encode() for path, text in self.files.items()}


CASES = {
    "tidy": Case(
        {
            "scores.csv": "system,item,score\n"
            + "".join(
                f"{name},q{i},{(i + k) % 3 % 2}\n" for k, name in enumerate(("old", "new", "tiny")) for i in range(6)
            ),
            "systems.csv": "system,group\nold,x\nnew,y\ntiny,y\n",
            "items.csv": _ITEMS,
        },
        ("scores.csv", "--metric", "accuracy", "--systems", "systems.csv", "--items", "items.csv"),
    ),
    "wide": Case(
        {"scores.tsv": "item\told\tnew\n" + "".join(f"q{i}\t{i / 4}\t{(i % 3) - 0.5}\n" for i in range(6))},
        ("scores.tsv", "--metric", "mean", "--test", "bootstrap", "--resamples", "50"),
    ),
    "counts": Case(
        {
            "counts.csv": "system,item,correct,guessed,gold\n"
            + "".join(f"{name},q{i},{i % 2},{1 + k},{2}\n" for k, name in enumerate(("old", "new")) for i in range(6))
        },
        ("counts.csv", "--metric", "f1", "--resamples", "50"),
    ),
    "text": Case(
        {"old.txt": _SENTENCES, "new.txt": _SENTENCES.replace("dog", "cat"), "ref.txt": _SENTENCES.replace("now", "")},
        ("old.txt", "new.txt", "--metric", "bleu", "--references", "ref.txt", "--resamples", "50"),
    ),
    "numbers": Case({"old.txt": "1\n0\n0.5\n", "new.txt": "1\n1\n-2e3\n"}, ("old.txt", "new.txt", "--metric", "mean")),
    "conll": Case(
        {"old.conll": _CONLL, "new.conll": _CONLL.replace("B-LOC", "O"), "gold.conll": _CONLL},
        ("old.conll", "new.conll", "--metric", "span_f1", "--references", "gold.conll", "--resamples", "50"),
    ),
    "conllu": Case(
        {"old.conllu": _CONLLU.replace("\t2\tdet", "\t0\tdet"), "new.conllu": _CONLLU, "gold.conllu": _CONLLU},
        ("old.conllu", "new.conllu", "--metric", "las", "--references", "gold.conllu", "--resamples", "50"),
    ),
    "trees": Case(
        {"old.mrg": _TREE * 3, "new.mrg": _TREE * 2 + _TREE.replace("VP", "NP"), "gold.mrg": _TREE * 3},
        ("old.mrg", "new.mrg", "--metric", "parseval", "--references", "gold.mrg", "--resamples", "50"),
    ),
    "alignments": Case(
        {"old.wa": "0-0 1-1\n0-1\n0-0\n", "new.wa": "0-0\n0-1 2-2\n0-0\n", "gold.wa": "0-0 1?1\n0-1\n0-0 1-0\n"},
        ("old.wa", "new.wa", "--metric", "aer", "--references", "gold.wa", "--resamples", "50"),
    ),
    "trec": Case(
        {"old.run": _RUN.format("old"), "new.run": _RUN.format("new").replace("9", "1"), "qrels.txt": _QRELS},
        ("old.run", "new.run", "--metric", "ndcg@10", "--references", "qrels.txt"),
    ),
    "lm-eval": Case(
        {
            "m1/samples_boolq_2025-01-31T10-00-00.123456.jsonl": _samples("1011"),
            "m2/samples_boolq_2025-01-31T10-00-00.123456.jsonl": _samples("1110"),
        },
        ("m1", "m2", "--metric", "accuracy"),
    ),
    "inspect": Case(
        {"one.json": _log("a/one", "CICC"), "two.json": _log("a/two", "CCIP")},
        ("one.json", "two.json", "--metric", "mean"),
    ),
    "arena": Case(
        {
            "battles.csv": "question_id,model_a,model_b,winner\n"
            + "".join(
                f"{i // 2},{_THREE[i % 3]},{_THREE[(i + 1) % 3]},{('model_a', 'tie', 'model_b')[i * i % 5 % 3]}\n"
                for i in range(30)
            )
        },
        ("battles.csv", "--metric", "bradley_terry"),
    ),
    "comet": Case(
        {
            "scores.json": json.dumps(
                {
                    f"runs/{name}.txt": [{"mt": "x", "COMET": (i + k) / 9} for i in range(4)]
                    for k, name in enumerate(_THREE)
                }
            )
        },
        ("scores.json", "--metric", "mean"),
    ),
    "comet's output": Case(
        {"scores.out": "".join(f"{name}.txt\tSegment {i}\tscore: 0.{i}\n" for name in _THREE for i in range(4))},
        ("scores.out", "--metric", "mean"),
    ),
    "bertscore": Case(
        {f"{name}.txt": f"{_BERTSCORE}0.9\t0.8\t0.{k}5\n0.9\t0.8\t0.7\n" for k, name in enumerate(_THREE)},
        ("old.txt", "new.txt", "tiny.txt", "--metric", "mean"),
    ),
    "sacrebleu -sl": Case(
        {
            f"{name}.txt": "".join(f"BLEU|nrefs:1|version:2.6.0 = {k + i}.5 9/9 (BP = 1.0)\n" for i in range(4))
            for k, name in enumerate(_THREE)
        },
        ("old.txt", "new.txt", "--metric", "mean"),
    ),
    "mt-metrics-eval": Case(
        {"mqm.seg.score": "old\t-1\nold\tNone\nold\t-2.5\nnew\t0\nnew\tNone\nnew\t-2\n"},
        ("mqm.seg.score", "--metric", "mean"),
    ),
    "trec in JSON": Case(
        {
            "old.json": '{"1": {"d1": 2.5, "d2": 1}, "2": {"d3": 9, "d1": 3}}',
            "new.json": '{"1": {"d2": 2.5, "d1": 1}, "2": {"d3": 2, "d1": 3}}',
            "qrels.json": '{"1": {"d1": 1, "d2": 0}, "2": {"d1": 0, "d3": 2}}',
        },
        ("old.json", "new.json", "--metric", "ndcg@10", "--references", "qrels.json"),
    ),
    "json": Case(
        {
            "scores.json": json.dumps(_RECORDS),
            "items.json": json.dumps([{"id": i, "domain": "ab"[i % 2]} for i in range(4)]),
        },
        ("scores.json", "--metric", "accuracy", "--items", "items.json"),
    ),
    "json lines": Case(
        {
            f"{name}.jsonl": "".join(f"{json.dumps(row)}\n" for row in _RECORDS if row["model"] == name)
            for name in ("old", "new")
        },
        ("old.jsonl", "new.jsonl", "--metric", "mean", "--columns", "score=metrics.em,item=question_id,system=model"),
    ),
    "json keys": Case(
        {"scores.json": json.dumps({name: {f"q{i}": i % (k + 2) for i in range(6)} for k, name in enumerate(_THREE)})},
        ("scores.json", "--metric", "mean"),
    ),
    "guessed": Case(
        {
            "scores.csv": "model,category,qid,correct\n"
            + "".join(
                f"{name},{c},{i},{(i + k) % 2}\n" for k, name in enumerate(_THREE) for c in "ab" for i in range(3)
            )
        },
        ("scores.csv", "--metric", "accuracy", "--columns", "item=category+qid"),
    ),
    "rows": Case(
        {"scores.tsv": "item\told\tnew\n" + "".join(f"q{i // 2}\t{i % 2}\t{i % 3}\n" for i in range(6))},
        ("scores.tsv", "--metric", "mean", "--columns", "sample=row"),
    ),
    "documents": Case(
        {"old.txt": "1\n0\n1\n0\n", "new.txt": "1\n1\n0\n2\n", "x.docs": "a\td1\na\td1\nb\td1\nb\td2\n"},
        ("old.txt", "new.txt", "--metric", "mean", "--items", "x.docs"),
    ),
    "inspect-archive": Case(
        {"one.eval": _archive("a/one", "CICC", ZSTD), "two.eval": _archive("a/two", "CCIP", DEFLATED)},
        ("one.eval", "two.eval", "--metric", "mean"),
    ),
    "helm": Case(
        {
            "runs/q:model=a/per_instance_stats.json": _run("1011"),
            "runs/q:model=b/per_instance_stats.json": _run("1110"),
            "runs/q:model=b/run_spec.json": json.dumps({"adapter_spec": {"model": "b", "max_train_instances": 5}}),
        },
        ("runs", "--metric", "accuracy"),
    ),
    "swe-bench": Case(
        {"a.json": _report("1011"), "b.json": _report("0110")},
        ("a.json", "b.json", "--metric", "accuracy"),
    ),
    "swe-bench-instances": Case(
        {
            f"run/{model}/org__tool-{k}/report.json": json.dumps({f"org__tool-{k}": {"resolved": k % 3 == of}})
            for model, of in (("a", 0), ("b", 1))
            for k in range(3)
        },
        ("run", "--metric", "accuracy", "--missing", "zero"),
    ),
    "harness-results": Case(
        {
            f"{model}/{name}": content
            for model, right in (("m1", "1011"), ("m2", "1110"))
            for name, content in (
                (_NAME, _samples(right)),
                (
                    "results_2025-01-31T10-00-00.123456.json",
                    json.dumps({"versions": {"boolq": 2.0}, "n-shot": {"boolq": 5}}),
                ),
            )
        },
        ("m1", "m2", "--metric", "accuracy"),
    ),
    "candidates": Case(
        {"candidates.csv": "id,gold,t,mi\n" + "".join(f"c{i},{i % 2},{i},{(7 * i) % 5}\n" for i in range(12))},
        ("candidates.csv", "--metric", "precision@5", "--test", "fisher"),
    ),
}
