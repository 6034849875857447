"""Comparisons in every format that the command reads, and what can be wrong with their files and options."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from tests.loaders.archives import DEFLATED, ZSTD, eval_log

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
        {"scores.json": json.dumps(_RECORDS), "items.json": json.dumps({"id": list("0123"), "domain": list("abab")})},
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
    "contingency": Case(
        {"pairs.csv": "id,gold,f,f1,f2,N\n" + "".join(f"c{i},{i % 2},{1 + i},{20 + i},{30},1000\n" for i in range(12))},
        ("pairs.csv", "--metric", "precision@5", "--resamples", "50"),
    ),
}

#: What a field of a file, or the value of an option, may be replaced by.
VALUES = [
    *("", " ", "0", "-1", "1e400", "-1e308", "1e-320", "nan", "NaN", "inf", "1,5", "1 000", "0x10", "1_0", "٣", "½"),
    *("9" * 25, "9" * 5_000, "-9223372036854775809", "1.7976931348623157e308", "true", "None", "null", "[]", "{}", "'"),
    *("=1+1", "\x1b[31m", "\u202e", "\r", "a\tb", 'a"b', '"', "a,b", "é", "\ud7ff", "\U0001f600", "x" * 3_000, "$$"),
    *(
        "../../etc/passwd",
        "/dev/zero",
        "..",
        ".",
        "-",
        "--",
        "%s",
        "{}",
        "\\",
        "mean",
        "accuracy",
        "item",
        "system",
        "score",
    ),
]

_TAILS: list[bytes] = [
    *(b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n\n\n", b'"', b"\t", b",", b"[" * 3_000, b"{" * 3_000),
    *(b"NaN", b"\x1b]0;x\x07", b"\xc2\x9b", b"\xe2\x80\xa8", b"(" * 3_000, b")", b"1-", b"#", b"\\", b"\x1a"),
]


def _cut(content: bytes, at: int) -> bytes:
    return content[:at]


#: What the bytes of a file may become.
CHANGES: dict[str, Callable[[bytes, int], bytes]] = {
    "cut": _cut,
    "empty": lambda content, at: b"",
    "blank": lambda content, at: b" \n\t\n",
    "byte order mark": lambda content, at: b"\xef\xbb\xbf" + content,
    "UTF-16": lambda content, at: content.decode().encode("utf-16"),
    "Windows": lambda content, at: content.replace(b"\n", b"\r\n"),
    "old Macintosh": lambda content, at: content.replace(b"\n", b"\r"),
    "a line twice": lambda content, at: content + b"".join(content.splitlines(keepends=True)[-1:]),
    "a line less": lambda content, at: b"".join(content.splitlines(keepends=True)[:-1]),
    "upside down": lambda content, at: b"".join(content.splitlines(keepends=True)[::-1]),
    "twice": lambda content, at: content * 2,
    "a byte": lambda content, at: content[:at] + bytes([at % 256]) + content[at + 1 :],
    "a key twice": lambda content, at: re.sub(rb'("id"|"acc"): ', rb"\1: 0, \1: ", content),
    "packed": lambda content, at: b"\x1f\x8b\x08\x00" + content,
}

#: What may be in the place of a file.
PLACES: dict[str, Callable[[Path], None]] = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": lambda path: os.mkfifo(path),
    "zeros without an end": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "nothing": lambda path: None,
}

#: Options that may be put in, with any value.
OPTIONS = [
    *("--metric", "--references", "--systems", "--by", "--items", "--columns", "--format", "--missing", "--ties"),
    *(
        "--duplicates",
        "--allow-different",
        "--tokenize",
        "--domain",
        "--test",
        "--resamples",
        "--seed",
        "--alternative",
        "--convention",
    ),
    *("--unit", "--strata", "--alpha", "--margin", "--jobs", "--nonsense", "--json", "--lowercase", "--out"),
]

KNOWN = {
    "--test": ["bootstrap", "randomization", "t_paired", "mcnemar", "sign", "wilcoxon", "z", "fisher", "chi_square"],
    "--format": [
        "scores",
        "text",
        "conll",
        "conllu",
        "trees",
        "alignments",
        "trec",
        "lm-eval",
        "inspect",
        "helm",
        "swe-bench",
        "candidates",
    ],
    "--missing": ["drop", "zero"],
    "--duplicates": ["drop", "note"],
    "--allow-different": ["metric", "version,target", "prompt,", "scorers"],
    "--convention": ["bk2012", "sacrebleu", "chinchor1992"],
    "--metric": [
        "bleu",
        "chrf",
        "accuracy",
        "mean",
        "f1",
        "span_f1",
        "las",
        "aer",
        "ap",
        "precision@3",
        "ndcg@x",
        "win_rate",
    ],
    "--unit": ["item", "cluster", "id"],
    "--strata": ["domain", "id"],
    "--columns": [
        "sample=row",
        "item=row",
        "item=id+item",
        "system=a+b",
        "score=a.b",
        "item=id",
        "score=x,score=y",
        "=",
        "a=b=c",
        "item=,",
        "system=system,item=item",
        "score=item",
        "score@q=acc",
    ],
    "--resamples": ["1", "10", "1.5"],
    "--jobs": ["1", "-2", "0"],
    "--alternative": ["greater", "less"],
    # Only what is refused: else it is written to, wherever it is.
    "--out": [".", "old.txt", "scores.csv"],
    "--ties": ["keep"],
    "--tokenize": ["zh", "none", "13a", "flores101"],
}


@st.composite
def attacks(
    draw: st.DrawFn, names: Sequence[str] = tuple(CASES)
) -> tuple[str, dict[str, bytes], dict[str, str], list[str]]:
    """A case with one to three things wrong: its name, files, what is in the place of some, and the arguments."""
    name = draw(st.sampled_from(sorted(names)))
    case = CASES[name]
    files = case.content
    places: dict[str, str] = {}
    arguments = list(case.arguments)
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["bytes", "insert", "field", "field", "place", "option", "option", "argument"]))
        path = draw(st.sampled_from(sorted(files)))
        content = files[path]
        at = draw(st.integers(0, len(content)))
        if kind == "bytes":
            try:
                files[path] = CHANGES[draw(st.sampled_from(sorted(CHANGES)))](content, at)
            except UnicodeDecodeError:
                continue
        elif kind == "insert":
            files[path] = content[:at] + draw(st.sampled_from(_TAILS) | st.binary(max_size=8)) + content[at:]
        elif kind == "field" and Path(path).suffix in (".json", ".jsonl"):
            values = [*re.finditer(rb'"[^"]*"|[-+.\d]+|true|false|null|NaN', content)] or [re.match(b"", content)]
            found = draw(st.sampled_from(values))
            value = draw(st.sampled_from([*VALUES, "[1, 2]", '{"a": 1}', "NaN", "-Infinity"]))
            written = draw(st.sampled_from([value, json.dumps(value)]))
            files[path] = content[: found.start()] + written.encode() + content[found.end() :]
        elif kind == "field":
            separator = {".csv": b",", ".tsv": b"\t"}.get(Path(path).suffix, b" ")
            lines = [line.split(separator) for line in content.split(b"\n")]
            row = draw(st.integers(0, len(lines) - 1))
            column = draw(st.integers(0, len(lines[row]) - 1))
            lines[row][column] = draw(st.sampled_from(VALUES)).encode()
            files[path] = b"\n".join(separator.join(line) for line in lines)
        elif kind == "place":
            places[path] = draw(st.sampled_from(sorted(PLACES)))
        elif kind == "option":
            option = draw(st.sampled_from(OPTIONS))
            known = option == "--out" or (option in KNOWN and draw(st.booleans()))
            value = draw(st.sampled_from(KNOWN[option] if known else VALUES))
            if option in arguments and draw(st.booleans()):
                arguments[arguments.index(option) + 1] = value
            else:
                arguments += [option] if option in ("--json", "--lowercase") else [option, value]
        else:
            arguments[draw(st.integers(0, len(arguments) - 1))] = draw(st.sampled_from(VALUES))
    return name, files, places, arguments
