"""The text of the right system at the right item, in every format, whatever the order of the items in the files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from simstudy import load
from simstudy.loaders.base import Loaded
from simstudy.loaders.formats import FORMATS
from tests.loaders.examples import LOG, written

Told = dict[str, list[str | None]]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        written(folder, name, text)


def told(loaded: Loaded, *systems: str) -> Told:
    """What is known of the items, in the order of the outputs."""
    assert loaded.texts is not None
    ids = loaded.outputs.items["id"].astype(str).tolist()
    return {
        "input": loaded.texts.inputs_of(ids),
        "reference": loaded.texts.references_of(ids),
        **{name: loaded.texts.answers_of(name, ids) for name in systems},
    }


def text(tmp_path: Path) -> tuple[Loaded, Told]:
    write(tmp_path, {"new.txt": "ein Hund\n\n", "old.txt": "ein Tier\neine Katze\n", "a.ref": "ein Hund\neine Katze\n",
                     "b.ref": "der Hund\n\n", "items.csv": "id,source\n1,a dog\n2,a cat\n"})  # fmt: skip
    loaded = load([tmp_path / "new.txt", tmp_path / "old.txt"], "bleu", items=tmp_path / "items.csv",
                  references=[tmp_path / "a.ref", tmp_path / "b.ref"])  # fmt: skip
    return loaded, {
        "input": ["a dog", "a cat"], "reference": ["ein Hund\nder Hund", "eine Katze"],
        "new": ["ein Hund", ""], "old": ["ein Tier", "eine Katze"],
    }  # fmt: skip


def conll(tmp_path: Path) -> tuple[Loaded, Told]:
    write(tmp_path, {"new.conll": "in O\nRome B-loc\n\nno O\n", "old.conll": "in O\nRome O\n\nno B-loc\n",
                     "gold": "in O\nRome B-loc\n\nno O\n"})  # fmt: skip
    loaded = load([tmp_path / "new.conll", tmp_path / "old.conll"], "span_f1", references=tmp_path / "gold")
    return loaded, {
        "input": ["in Rome", "no"], "reference": ["in Rome/B-loc", "no"],
        "new": ["in Rome/B-loc", "no"], "old": ["in Rome", "no/B-loc"],
    }  # fmt: skip


def _sentence(name: str, *words: tuple[str, str, int]) -> str:
    rows = [f"{i}\t{word}\t_\t{tag}\t_\t_\t{head}\tdep\t_\t_" for i, (word, tag, head) in enumerate(words, start=1)]
    return "\n".join([f"# sent_id = {name}", *rows]) + "\n\n"


def conllu(tmp_path: Path, metric: str = "las") -> tuple[Loaded, Told]:
    first, second = _sentence("s1", ("it", "PRON", 2), ("is", "AUX", 0)), _sentence("s2", ("no", "INTJ", 0))
    other = _sentence("s1", ("it", "DET", 0), ("is", "AUX", 0))
    write(tmp_path, {"new.conllu": first + second, "old.conllu": second + other, "gold": first + second})
    loaded = load([tmp_path / "new.conllu", tmp_path / "old.conllu"], metric, references=tmp_path / "gold")
    known = {
        "las": ("it/2:dep is/0:dep", "no/0:dep", "it/0:dep is/0:dep"),
        "uas": ("it/2 is/0", "no/0", "it/0 is/0"),
        "accuracy": ("it/PRON is/AUX", "no/INTJ", "it/DET is/AUX"),
    }[metric]
    return loaded, {
        "input": ["it is", "no"], "reference": [*known[:2]], "new": [*known[:2]], "old": [known[2], known[1]],
    }  # fmt: skip


def trees(tmp_path: Path) -> tuple[Loaded, Told]:
    one, other, last = "(S (NP (D a) (N cat)) (VP (V sat)))", "(S (D a) (N cat) (VP (V sat)))", "(S (V go))"
    write(tmp_path, {"new.mrg": f"{one}\n{last}\n", "old.mrg": f"{other}\n{last}\n", "gold": f"{one}\n{last}\n"})
    loaded = load([tmp_path / "new.mrg", tmp_path / "old.mrg"], "parseval", references=tmp_path / "gold")
    return loaded, {
        "input": ["a cat sat", "go"], "reference": [one, last], "new": [one, last], "old": [other, last],
    }  # fmt: skip


def alignments(tmp_path: Path) -> tuple[Loaded, Told]:
    write(tmp_path, {"new.wa": "0-0 1-1\n0-0\n", "old.wa": "0-1\n0-0\n", "gold": "0-0 1p1\n0-0\n",
                     "en": "a dog\nno\n", "de": "ein Hund\nnein\n"})  # fmt: skip
    gold = [tmp_path / name for name in ("gold", "en", "de")]
    loaded = load([tmp_path / "new.wa", tmp_path / "old.wa"], "aer", references=gold)
    return loaded, {
        "input": ["a dog\nein Hund", "no\nnein"], "reference": ["0-0 1p1", "0-0"],
        "new": ["0-0 1-1", "0-0"], "old": ["0-1", "0-0"],
    }  # fmt: skip


def tidy(tmp_path: Path) -> tuple[Loaded, Told]:
    """The responses stand in another order for old; the questions do not differ by system."""
    table = pd.DataFrame(
        {
            "model": ["new", "new", "old", "old"], "qid": ["b", "a", "a", "b"], "correct": [1, 1, 0, 1],
            "response": ["Rome", "Oslo", "Bergen", "Rome"], "question": ["Italy?", "Norway?", "Norway?", "Italy?"],
            "expected_answer": ["Rome", "Oslo", "Oslo", "Rome"],
        }
    )  # fmt: skip
    table.to_csv(tmp_path / "results.csv", index=False)
    loaded = load(tmp_path / "results.csv", "accuracy")
    return loaded, {
        "input": ["Italy?", "Norway?"], "reference": ["Rome", "Oslo"], "new": ["Rome", "Oslo"],
        "old": ["Rome", "Bergen"],
    }  # fmt: skip


def wide(tmp_path: Path) -> tuple[Loaded, Told]:
    table = pd.DataFrame({"item": ["a", "b"], "new": [1, 1], "old": [0, 1], "new:response": ["Oslo", "7"], "old_answer":
                          ["Bergen", "7"]})  # fmt: skip
    table.to_csv(tmp_path / "results.csv", index=False)
    loaded = load(tmp_path / "results.csv", "accuracy")
    return loaded, {"input": [None] * 2, "reference": [None] * 2, "new": ["Oslo", "7"], "old": ["Bergen", "7"]}


def labels(tmp_path: Path) -> tuple[Loaded, Told]:
    table = pd.DataFrame({"item": ["a", "b"], "gold": ["cat", "dog"], "new": ["cat", "dog"], "old": ["dog", "dog"]})
    table.to_csv(tmp_path / "labels.csv", index=False)
    loaded = load(tmp_path / "labels.csv", "macro_f1")
    return loaded, {
        "input": [None] * 2, "reference": ["cat", "dog"], "new": ["cat", "dog"], "old": ["dog", "dog"],
    }  # fmt: skip


def lm_eval(tmp_path: Path) -> tuple[Loaded, Told]:
    """A generated answer and what a filter took; choices with their log-likelihoods."""
    generated = {
        "doc_id": 0, "doc": {"question": "6 * 7?"}, "target": "42", "arguments": [["Q: 6 * 7?\nA:", {"until": []}]],
        "filtered_resps": ["42"], "metrics": ["acc"], "acc": 1.0, "resps": [["It is 42."]],
    }  # fmt: skip
    chosen = {
        "doc_id": 1, "doc": {"query": "Sea?", "choices": ["wet", "dry"]}, "target": 0, "metrics": ["acc"], "acc": 1.0,
        "arguments": {f"gen_args_{k}": {"arg_0": "Sea?", "arg_1": one} for k, one in enumerate((" wet", " dry"))},
        "resps": [[["-2.5", "False"]], [["-1.25", "True"]]],
    }  # fmt: skip
    other = {**generated, "resps": [["It is 41."]], "filtered_resps": ["41"], "acc": 0.0}
    write(tmp_path, {f"new/{LOG}": "\n".join(map(json.dumps, (generated, chosen))),
                     f"old/{LOG}": "\n".join(map(json.dumps, (chosen, other)))})  # fmt: skip
    return load(tmp_path, "accuracy"), {
        "input": ["6 * 7?", "Sea?\n0. wet\n1. dry"], "reference": ["42", "0"],
        "new": ["[read as 42]\nIt is 42.", "dry (-1.25)\nwet (-2.50)"],
        "old": ["[read as 41]\nIt is 41.", "dry (-1.25)\nwet (-2.50)"],
    }  # fmt: skip


def inspect(tmp_path: Path) -> tuple[Loaded, Told]:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi?"}]},
    ]

    def log(model: str, *said: tuple[str, Any, str]) -> str:
        samples = [
            {"id": i, "epoch": 1, "input": asked, "target": ["yes", "ja"], "output": {"completion": text},
             "scores": {"match": {"value": "C" if text == "yes" else "I"}}}
            for i, asked, text in said
        ]  # fmt: skip
        return json.dumps({"status": "success", "eval": {"task": "quiz", "model": model}, "samples": samples})

    write(tmp_path, {"1.json": log("new", ("x", messages, "yes"), ("y", "No?", "yes")),
                     "2.json": log("old", ("y", "No?", "no"), ("x", messages, "yes"))})  # fmt: skip
    return load(tmp_path, "accuracy", format="inspect"), {
        "input": ["system: Be brief.\n\nuser: Hi?", "No?"], "reference": ["yes\nja"] * 2, "new": ["yes", "yes"],
        "old": ["yes", "no"],
    }  # fmt: skip


def helm(tmp_path: Path, *, predictions: bool = True) -> tuple[Loaded, Told]:
    instances = [
        {"id": name, "input": {"text": f"{name}?"}, "split": "test",
         "references": [{"output": {"text": "blue"}, "tags": ["correct"]}, {"output": {"text": "red"}, "tags": []}]}
        for name in ("id1", "id2")
    ]  # fmt: skip
    files = {}
    for model, said in {"new": {"id1": " A", "id2": " A"}, "old": {"id2": " A", "id1": " B"}}.items():
        folder = f"quiz:model={model}"
        stats = [
            {"instance_id": i, "train_trial_index": 0, "stats": [{"name": {"name": "exact_match", "split": "test"},
             "count": 1, "sum": float(text == " A"), "mean": float(text == " A")}]}
            for i, text in said.items()
        ]  # fmt: skip
        files[f"{folder}/per_instance_stats.json"] = json.dumps(stats)
        if predictions:
            files[f"{folder}/instances.json"] = json.dumps(instances)
            own = [
                {"instance_id": i, "train_trial_index": 0, **one}
                for i, text in said.items()
                for one in (
                    {"predicted_text": "no!", "perturbation": {"name": "typos"}},
                    {"predicted_text": text, "mapped_output": "blue"},
                )
            ]
            files[f"{folder}/display_predictions.json"] = json.dumps(own)
        else:
            states = [
                {"instance": next(one for one in instances if one["id"] == i), "train_trial_index": 0,
                 "result": {"completions": [{"text": f"{t} [blue]"}]}}
                for i, t in said.items()
            ]  # fmt: skip
            files[f"{folder}/scenario_state.json"] = json.dumps({"request_states": states})
    write(tmp_path, files)
    return load(tmp_path, "accuracy", format="helm"), {
        "input": ["id1?", "id2?"], "reference": ["blue"] * 2, "new": [" A [blue]"] * 2,
        "old": [" B [blue]", " A [blue]"],
    }  # fmt: skip


def arena(tmp_path: Path) -> tuple[Loaded, Told]:
    rows = [("new", "old", "a", "Hi?", "Hi!", "Go."), ("old", "new", "b", "Bye?", "No.", "Bye!"),
            ("old", "new", "a", "Ok?", "Yes.", "Hm.")]  # fmt: skip
    table = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "prompt", "response_a", "response_b"])
    table.to_csv(tmp_path / "votes.csv", index=False)
    return load(tmp_path / "votes.csv", "bradley_terry"), {
        "input": ["Hi?", "Bye?", "Ok?"], "reference": [None] * 3, "new": ["Hi!", "Bye!", "Hm."],
        "old": ["Go.", "No.", "Yes."],
    }  # fmt: skip


def trec(tmp_path: Path) -> tuple[Loaded, Told]:
    long = "".join(f"t1 Q0 d{i} 0 {90 - i} x\n" for i in range(1, 13))
    write(tmp_path, {"new.run": f"{long}t2 Q0 d1 0 1 x\n", "old.run": "t2 Q0 d9 0 2 x\nt1 Q0 d2 0 1 x\n",
                     "qrels": "t1 0 d2 1\nt1 0 d3 2\nt1 0 d1 0\nt2 0 d1 1\n"})  # fmt: skip
    loaded = load([tmp_path / "new.run", tmp_path / "old.run"], "ap", references=tmp_path / "qrels")
    first = "\n".join(["d1 (0)", "d2 (1)", "d3 (2)", *(f"d{i} (?)" for i in range(4, 11)), "… 2 more"])
    return loaded, {
        "input": [None] * 2, "reference": ["d3 (2)\nd2 (1)", "d1 (1)"], "new": [first, "d1 (1)"],
        "old": ["d2 (1)", "d9 (?)"],
    }  # fmt: skip


def comet(tmp_path: Path) -> tuple[Loaded, Told]:
    rows = {
        name: [{"src": "a dog", "mt": said, "ref": "ein Hund", "COMET": 0.5}, {"src": "no", "mt": "nein", "COMET": 0.7}]
        for name, said in {"new.txt": "ein Hund", "old.txt": "ein Tier"}.items()
    }
    write(tmp_path, {"comet.json": json.dumps(rows)})
    return load(tmp_path / "comet.json", "mean"), {
        "input": ["a dog", "no"], "reference": ["ein Hund", None], "new": ["ein Hund", "nein"],
        "old": ["ein Tier", "nein"],
    }  # fmt: skip


KINDS: dict[str, Callable[[Path], tuple[Loaded, Told]]] = {
    "text": text, "conll": conll, "conllu": conllu, "trees": trees, "alignments": alignments, "scores": tidy,
    "wide scores": wide, "labels": labels, "lm-eval": lm_eval, "inspect": inspect, "helm": helm,
    "helm without predictions": lambda path: helm(path, predictions=False), "arena": arena, "trec": trec,
    "segments": comet, "heads": lambda path: conllu(path, "uas"), "tags": lambda path: conllu(path, "accuracy"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_each_format_has_its_texts(kind: str, tmp_path: Path) -> None:
    loaded, expected = KINDS[kind](tmp_path)
    assert told(loaded, "new", "old") == expected
    # Items that are turned round, and one of them.
    assert loaded.texts is not None
    turned = loaded.outputs.take([1, 0]).items["id"].tolist()
    assert loaded.texts.answers_of("old", turned) == expected["old"][1::-1]


def test_every_format_is_here_or_has_no_texts() -> None:
    without = FORMATS.keys() - KINDS.keys()
    assert without == {"swe-bench", "candidates"}, "add how its texts are read, or name it here as one without texts"


def test_texts_stay_where_items_are_dropped_and_cut(tmp_path: Path) -> None:
    """One system lacks an item, others are of another domain."""
    rows = [("new", i, 1, f"new {i}", "x" if i < 3 else "y") for i in range(6)]
    rows += [("old", i, 0, f"old {i}", "x" if i < 3 else "y") for i in (5, 3, 2, 1, 0)]
    table = pd.DataFrame(rows, columns=["system", "item", "score", "output", "domain"])
    table.to_csv(tmp_path / "t.csv", index=False)
    loaded = load(tmp_path / "t.csv", "accuracy", missing="drop", domain="y")
    assert loaded.outputs.items["id"].tolist() == ["3", "5"]
    assert told(loaded, "new", "old")["old"] == ["old 3", "old 5"]


def test_samples_are_the_answers_of_their_question(tmp_path: Path) -> None:
    """As items of their own, and where unlike numbers of samples make means of them."""
    rows = [(s, q, k, int(k > 1), f"{s}{q}{k}") for s in ("new", "old") for q in "ab" for k in (1, 2)]
    table = pd.DataFrame(rows, columns=["system", "item", "sample", "score", "response"])
    table.to_csv(tmp_path / "t.csv", index=False)
    loaded = load(tmp_path / "t.csv", "accuracy")
    assert told(loaded, "old")["old"] == ["olda1", "olda2", "oldb1", "oldb2"]
    table.drop(index=7).to_csv(tmp_path / "t.csv", index=False)
    loaded = load(tmp_path / "t.csv", "accuracy")
    assert loaded.outputs.items["id"].tolist() == ["a", "b"]
    both = "1 of 2 samples: olda1\n1 of 2 samples: olda2"
    assert told(loaded, "old")["old"] == [both, "1 of 2 samples: oldb1"]


def test_files_of_scores_alone_have_no_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,a,b\nx,1,0\ny,1,1\n")
    assert load(tmp_path / "t.csv", "accuracy").texts is None
