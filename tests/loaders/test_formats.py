"""The one door to all formats: which loader a file goes to, and what every loader owes."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simstudy.loaders.base import Loaded, Source, Texts, Ties
from simstudy.loaders.formats import FORMATS, load

_LOG = "samples_quiz_2025-01-31T10-00-00.123456.jsonl"


def _sample(number: int, score: float) -> str:
    return json.dumps({"doc_id": number, "metrics": ["acc"], "acc": score, "filtered_resps": [score]})


def _log(model: str, values: Mapping[str, str]) -> str:
    samples = [{"id": i, "epoch": 1, "scores": {"match": {"value": v, "answer": v}}} for i, v in values.items()]
    return json.dumps({"status": "success", "eval": {"task": "quiz", "model": model}, "samples": samples})


def _sentence(name: str, *heads: int) -> str:
    words = [f"{i}\tw{i}\t_\tX\t_\t_\t{head}\tdep\t_\t_" for i, head in enumerate(heads, start=1)]
    return "\n".join([f"# sent_id = {name}", *words]) + "\n\n"


@dataclass(frozen=True)
class Example:
    """Two systems in one format: new is right on both items, old says the same of one of them.

    Attributes
    ----------
    metric
        Score by which they are compared.
    new, old
        Files: name -> text. Where items have ids, old has them in another order.
    scores
        Of new and old, by hand.
    gold
        Text of the file of references; None where there is none.
    answers
        Whether the files say what systems answered.
    """

    metric: str
    new: tuple[str, str]
    old: tuple[str, str]
    scores: tuple[float, float]
    gold: str | None = None
    answers: bool = True


EXAMPLES = {
    "scores": Example(
        "accuracy",
        ("new.csv", "item,score\nq1,1\nq2,1\n"),
        ("old.csv", "item,score\nq2,1\nq1,0\n"),
        (100, 50),
        answers=False,
    ),
    "lm-eval": Example(
        "accuracy",
        (f"new/{_LOG}", f"{_sample(0, 1.0)}\n{_sample(1, 1.0)}\n"),
        (f"old/{_LOG}", f"{_sample(1, 1.0)}\n{_sample(0, 0.0)}\n"),
        (100, 50),
    ),
    "inspect": Example(
        "accuracy",
        ("1.json", _log("new", {"a": "C", "b": "C"})),
        ("2.json", _log("old", {"b": "C", "a": "I"})),
        (100, 50),
    ),
    # One of four heads is wrong.
    "conllu": Example(
        "uas",
        ("new.conllu", _sentence("s1", 0, 1) + _sentence("s2", 0, 1)),
        ("old.conllu", _sentence("s2", 0, 1) + _sentence("s1", 0, 0)),
        (100, 75),
        gold=_sentence("s1", 0, 1) + _sentence("s2", 0, 1),
    ),
    # One of two spans, and none that is wrong: 2 * 1 / (1 + 2).
    "conll": Example(
        "span_f1",
        ("new.conll", "Rome B-loc\n\nin O\nParis B-loc\n"),
        ("old.conll", "Rome O\n\nin O\nParis B-loc\n"),
        (100, 200 / 3),
        gold="Rome B-loc\n\nin O\nParis B-loc\n",
    ),
    # S, NP and VP of the second tree; of the first only S: 2 * 4 / (4 + 6).
    "trees": Example(
        "parseval",
        ("new.mrg", "(S (NP (D a) (N cat)) (VP (V sat)))\n(S (NP (D a) (N dog)) (VP (V ran)))\n"),
        ("old.mrg", "(S (D a) (N cat) (V sat))\n(S (NP (D a) (N dog)) (VP (V ran)))\n"),
        (100, 80),
        gold="(S (NP (D a) (N cat)) (VP (V sat)))\n(S (NP (D a) (N dog)) (VP (V ran)))\n",
    ),
    # Two of three sure links, both right: 1 - (2 + 2) / (2 + 3).
    "alignments": Example(
        "aer", ("new.wa", "0-0 1-1\n0-0\n"), ("old.wa", "0-0\n0-0\n"), (0, 20), gold="0-0 1-1\n0-0\n"
    ),
    # The relevant document of topic 1 is second.
    "trec": Example(
        "ap",
        ("new", "1 Q0 d1 1 9 x\n1 Q0 d2 2 8 x\n2 Q0 d3 1 9 x\n"),
        ("old", "2 Q0 d3 1 5 x\n1 Q0 d2 1 9 x\n1 Q0 d1 2 8 x\n"),
        (1, 0.75),
        gold="1 0 d1 1\n1 0 d2 0\n2 0 d3 1\n",
    ),
    "text": Example(
        "accuracy", ("new.txt", "noun\nverb\n"), ("old.txt", "verb\nverb\n"), (100, 50), gold="noun\nverb\n"
    ),
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


#: A format's name, its example, the files of new and old, and what else `load` needs.
Case = tuple[str, Example, list[Path], dict[str, Any]]


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    one = EXAMPLES[request.param]
    files = [written(tmp_path, *one.new), written(tmp_path, *one.old)]
    references = {} if one.gold is None else {"references": written(tmp_path, "gold", one.gold)}
    return request.param, one, files, references


def same(a: Loaded, b: Loaded) -> bool:
    return a.outputs.fingerprint() == b.outputs.fingerprint() and a.notes == b.notes


def test_every_format_has_an_example() -> None:
    """All but candidates, whose one table has all systems: test_candidates.py."""
    assert [*EXAMPLES, "candidates"] == list(FORMATS)


def test_a_loader_yields_the_systems_scored_on_matched_items(example: Case) -> None:
    _, one, files, options = example
    loaded = load(files, one.metric, **options)
    outputs = loaded.outputs
    assert outputs.names == ["new", "old"]
    assert outputs.n_items == 2
    assert outputs.statistics.shape == (2, 2, len(outputs.metric.statistics))
    assert outputs.items["id"].is_unique
    assert outputs.scores().tolist() == pytest.approx(list(one.scores))
    # The second item is the one on which they agree, wherever old has it in its file.
    alike = (outputs.statistics[0] == outputs.statistics[1]).all(axis=-1)
    assert alike.tolist() == [False, True]
    assert (loaded.outputs.answers is not None) == one.answers
    if loaded.outputs.answers is not None:
        assert loaded.outputs.answers.shape == (2, 2)
        assert loaded.outputs.answers.dtype == np.int64
        assert (loaded.outputs.answers[0] == loaded.outputs.answers[1]).tolist() == [False, True]


def test_the_format_that_is_found_is_the_one_by_name(example: Case) -> None:
    name, one, files, options = example
    assert same(load(files, one.metric, **options), load(files, one.metric, format=name, **options))


def test_loading_is_deterministic_and_systems_are_in_the_order_of_the_files(example: Case) -> None:
    _, one, files, options = example
    first = load(files, one.metric, **options)
    assert same(first, load(files, one.metric, **options))
    back = load(files[::-1], one.metric, **options).outputs
    assert back.names == ["old", "new"]
    order = [back.items["id"].tolist().index(item) for item in first.outputs.items["id"]]
    np.testing.assert_array_equal(back.statistics[::-1][:, order], first.outputs.statistics)


def test_packed_files_are_read_as_they_are(example: Case) -> None:
    _, one, files, options = example
    plain = load(files, one.metric, **options)
    packed = [path.with_name(f"{path.name}.gz") for path in files]
    for path, file in zip(files, packed, strict=True):
        file.write_bytes(gzip.compress(path.read_bytes()))
    loaded = load(packed, one.metric, **options)
    assert loaded.outputs.names == ["new", "old"]
    np.testing.assert_array_equal(loaded.outputs.statistics, plain.outputs.statistics)


def test_a_copy_of_a_file_has_the_same_answers(example: Case) -> None:
    name, one, files, options = example
    place = one.new[0].replace("new", "copy") if "new" in one.new[0] else "copy.json"
    copy = written(files[0].parents[1] if name == "lm-eval" else files[0].parent, place, one.new[1])
    if name == "inspect":
        copy.write_text(one.new[1].replace('"new"', '"copy"'))
    loaded = load([*files, copy], one.metric, **options)
    assert loaded.outputs.names == ["new", "old", "copy"]
    np.testing.assert_array_equal(loaded.outputs.statistics[2], loaded.outputs.statistics[0])
    if loaded.outputs.answers is not None:
        np.testing.assert_array_equal(loaded.outputs.answers[2], loaded.outputs.answers[0])


def test_windows_line_ends_are_noted_and_change_nothing(example: Case) -> None:
    _, one, files, options = example
    plain = load(files, one.metric, **options)
    changed = [*files, *options.values()]
    for path in changed:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    loaded = load(files, one.metric, **options)
    assert loaded.outputs.fingerprint() == plain.outputs.fingerprint()
    noted = {f"{path}: Windows line ends converted" for path in changed if b"\r\n" in path.read_bytes()}
    assert set(loaded.notes) - set(plain.notes) == noted


def test_files_without_text_and_of_another_encoding_are_named(example: Case) -> None:
    """The files of systems and of references, each in turn."""
    _, one, files, options = example
    for path in (files[1], *options.values()):
        whole = path.read_bytes()
        last = whole.rstrip(b"\n").count(b"\n") + 1
        wrong = {b"": " is empty", "\u00a0\n \n".encode(): " is empty"}
        wrong[whole.rstrip(b"\n") + b"\xe9"] = f", line {last}: not UTF-8 (byte 0xe9); convert the file to UTF-8"
        for content, told in wrong.items():
            path.write_bytes(content)
            with pytest.raises(ValueError, match=f"^{re.escape(str(path) + told)}$"):
                load(files, one.metric, **options)
        path.unlink()
        with pytest.raises(FileNotFoundError, match=f"^no such file: {re.escape(str(path))}$"):
            load(files, one.metric, **options)
        path.write_bytes(whole)


@pytest.mark.parametrize(("name", "what"), {"trees": "trees", "conllu": "CoNLL-U", "conll": "CoNLL columns"}.items())
@pytest.mark.parametrize("n", [0, 2])
def test_a_gold_file_is_one(name: str, what: str, n: int, tmp_path: Path) -> None:
    one = EXAMPLES[name]
    references = [written(tmp_path, f"gold{k}", str(one.gold)) for k in range(n)]
    with pytest.raises(ValueError, match=f"^references of {what} must be one gold file, not {n}$"):
        load(written(tmp_path, *one.new), one.metric, references=references)


@pytest.mark.parametrize(
    ("name", "message"),
    {
        "trees": "metric of trees must be one of parseval, not 'rmse'",
        "conllu": "metric of CoNLL-U must be one of uas, las, accuracy, not 'rmse'",
        "conll": "metric of CoNLL columns must be one of span_f1, accuracy, not 'rmse'",
        "alignments": "metric of word alignments must be one of aer, not 'rmse'",
    }.items(),
)
def test_a_metric_of_another_format(name: str, message: str, tmp_path: Path) -> None:
    one = EXAMPLES[name]
    other = {"trees": "las", "conllu": "aer", "conll": "uas", "alignments": "f1"}[name]
    with pytest.raises(ValueError, match="^" + message.replace("rmse", other)):
        load(written(tmp_path, *one.new), other, references=written(tmp_path, "gold", str(one.gold)), format=name)


def test_task_and_test_set_are_in_the_outputs(example: Case) -> None:
    _, one, files, options = example
    outputs = load(files, one.metric, **options).named(task="quiz", test_set="2012").outputs
    assert (outputs.task, outputs.test_set) == ("quiz", "2012")


@pytest.mark.parametrize("options", [{"lowercase": True}, {"tokenize": "zh"}])
def test_texts_alone_are_tokenized_or_put_in_lower_case(options: dict[str, Any], example: Case) -> None:
    name, one, files, references = example
    message = re.escape(f"tokenize and lowercase are for plain text, not for {FORMATS[name].what}")
    if name == "text":
        message = f"{next(iter(options))} is for metric.*, not for 'accuracy'"
    with pytest.raises(ValueError, match=message):
        load(files, one.metric, texts=Texts(**options), **references)


@pytest.mark.parametrize("name", ["scores", "lm-eval", "inspect"])
def test_scores_have_no_references(name: str, tmp_path: Path) -> None:
    path, gold = written(tmp_path, *EXAMPLES[name].new), written(tmp_path, "gold", "1\n")
    with pytest.raises(ValueError, match=re.escape(f"references are not for {FORMATS[name].what}")):
        load(path, "accuracy", references=gold)


# Which loader is asked, and for which files


class Asked(Exception):
    """What `load` asked a loader for."""

    def __init__(self, name: str, source: Source) -> None:
        super().__init__(name)
        self.name = name
        self.source = source


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Asked]:
    """Call `load` with loaders that only say that they were asked."""

    def reader(name: str) -> Callable[[Source], Loaded]:
        def read(source: Source) -> Loaded:
            raise Asked(name, source)

        return read

    for name, known in FORMATS.items():
        monkeypatch.setitem(FORMATS, name, replace(known, read=reader(name)))

    def ask(*arguments: Any, **options: Any) -> Asked:
        with pytest.raises(Asked) as found:
            load(*arguments, **options)
        return found.value

    return ask


_FOUND = [
    *[("scores", file, "accuracy") for file in ("a.csv", "a.tsv", "a.csv.gz", "a.tsv.gz", "a.parquet", "A.CSV")],
    *[("scores", "a.csv", metric) for metric in ("mean", "precision@5", "f1", "ap", "aer", "las", "bleu", "ndcg@10")],
    *[("lm-eval", file, "accuracy") for file in (_LOG, f"{_LOG}.gz", "log.jsonl")],
    *[("inspect", file, "mean") for file in ("a.json", "a.eval")],
    *[("conllu", "a.conllu", metric) for metric in ("uas", "las", "accuracy")],
    *[("conllu", "a.txt", metric) for metric in ("uas", "las")],
    *[("conll", file, "accuracy") for file in ("a.conll", "a.bio")],
    *[("conll", file, "span_f1") for file in ("a.txt", "a")],
    *[("trees", file, "parseval") for file in ("a.mrg", "a.ptb", "a.txt")],
    *[("alignments", file, "aer") for file in ("a.wa", "a.talp", "a.txt")],
    *[("trec", file, metric) for file in ("a.run", "a") for metric in ("ap", "rr", "precision@5", "ndcg@20")],
    *[("text", "a.de", metric) for metric in ("bleu", "chrf", "chrf++", "rouge1", "accuracy", "mean", "win_rate")],
]


@pytest.mark.parametrize(("name", "file", "metric"), _FOUND)
def test_a_format_is_known_by_the_files_name_or_else_by_the_metric(
    name: str, file: str, metric: str, tmp_path: Path, asked: Callable[..., Asked]
) -> None:
    path = written(tmp_path, file, "x")
    found = asked(path, metric)
    assert (found.name, found.source.paths) == (name, (path,))


def test_a_table_of_candidates_is_known_by_its_header(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    path = written(tmp_path, "a.csv", "id,gold,t\na,1,2\n")
    for metric in ("precision@5", "ndcg@5", "ap"):
        assert asked(path, metric).name == "candidates"
    assert asked(path, "f1").name == "scores"
    assert asked([tmp_path], "precision@5", ties=Ties("keep", seed=3)).source.ties == Ties("keep", 3)


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_may_be_given_by_name(name: str, tmp_path: Path, asked: Callable[..., Asked]) -> None:
    for file in ("a.csv", "a.json", "a"):
        assert asked(str(written(tmp_path, file, "x")), "mean", format=name).name == name


def test_what_the_caller_says_reaches_the_loader(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    path, table = written(tmp_path, "a.de", "x"), written(tmp_path, "items.csv", "x")
    source = asked(
        path, "bleu", references=[table, path], items=table, columns={"id": "x"}, missing="drop",
        texts=Texts("zh", lowercase=True), ties=Ties(seed=5),
    ).source  # fmt: skip
    expected = Source(
        (path,), source.metric, (table, path), table, {"id": "x"}, "drop", Texts("zh", True), Ties(seed=5)
    )
    assert source == expected
    assert source.metric.name == "bleu"


def test_a_folder_is_its_files_in_the_order_of_their_names(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    for name in ("sys/b.de", "sys/a.de", "sys/.hidden", "sys/older/c.de", "one.de"):
        written(tmp_path, name, "x")
    found = asked([tmp_path / "one.de", tmp_path / "sys"], "bleu").source.paths
    assert found == (tmp_path / "one.de", tmp_path / "sys/a.de", tmp_path / "sys/b.de")


def test_a_folder_of_folders_is_opened(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    names = ("b/x.conllu", "a/x/y.conllu", "a/z.conllu")
    for name in (*names, "a/.DS_Store"):
        written(tmp_path, f"sys/{name}", "x")
    found = asked(tmp_path / "sys", "las").source.paths
    assert found == tuple(tmp_path / "sys" / name for name in sorted(names))


@pytest.mark.parametrize("folder", ["results/model-a", "model-a"])
def test_of_a_harness_folder_the_sample_logs_are_read(folder: str, tmp_path: Path, asked: Callable[..., Asked]) -> None:
    """lm-evaluation-harness writes results_<time>.json beside samples_<task>_<time>.jsonl, in a folder a model."""
    files = [
        written(tmp_path, f"{folder}/{name}", "x")
        for name in ("results_2025.json", _LOG, f"{_LOG.replace('quiz', 'arc')}.gz", "notes.jsonl", "readme.md")
    ]
    found = asked(tmp_path / folder.partition("/")[0], "accuracy")
    assert (found.name, set(found.source.paths)) == ("lm-eval", {files[1], files[2]})
    by_name = asked(tmp_path / folder.partition("/")[0], "accuracy", format="inspect")
    assert by_name.source.paths == (files[0],)


def test_of_a_folder_of_inspect_logs_other_files_are_left_out(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    log = written(tmp_path, "logs/2025_quiz.json", "x")
    written(tmp_path, "logs/listing.txt", "x")
    found = asked(tmp_path / "logs", "accuracy")
    assert (found.name, found.source.paths) == ("inspect", (log,))


def test_files_of_other_formats_are_not_left_out_silently(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    paths = [written(tmp_path, name, "x") for name in ("a.conllu", "b.txt")]
    assert asked(paths, "las").source.paths == tuple(paths)


@pytest.mark.parametrize(
    ("paths", "options", "message"),
    [
        (["none.txt"], {}, "no such file: none.txt"),
        (["void"], {}, "folder void has no files"),
        ([], {}, "paths must name at least one file or folder of system outputs"),
        (["a.txt"], {"references": "none.txt"}, "no such file: none.txt"),
        (["a.txt"], {"items": "none.csv"}, "no such file: none.csv"),
        (["a.txt"], {"format": "txt"}, "format must be one of scores, lm-eval, .*, not 'txt' .did you mean 'text'"),
        (["a.txt"], {"missing": "skip"}, "missing must be one of error, drop, zero, not 'skip'"),
        (["a.txt"], {"metric": "men"}, "not 'men' .did you mean 'mean'"),
    ],
)
def test_what_load_refuses(
    paths: list[str], options: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("void").mkdir()
    Path("a.txt").write_text("1\n")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        load(paths, **{"metric": "mean", **options})
