"""Which loader `load` asks, and for which files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.base import Loaded, Source, Texts, Ties
from simstudy.loaders.door import load
from simstudy.loaders.formats import FORMATS
from tests.loaders.examples import LOG, written


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
    *[("scores", file, "mean") for file in ("a.json", "a.jsonl", "a.ndjson", "a.json.gz", "a.csv.zst", "A.Jsonl")],
    *[("lm-eval", file, "accuracy") for file in (LOG, f"{LOG}.gz")],
    ("inspect", "a.eval", "mean"),
    *[("conllu", "a.conllu", metric) for metric in ("uas", "las", "accuracy")],
    *[("conllu", "a.txt", metric) for metric in ("uas", "las")],
    *[("conll", file, "accuracy") for file in ("a.conll", "a.bio")],
    *[("conll", file, "span_f1") for file in ("a.txt", "a")],
    *[("trees", file, "parseval") for file in ("a.mrg", "a.ptb", "a.txt")],
    *[("alignments", file, "aer") for file in ("a.wa", "a.talp", "a.txt")],
    *[("trec", file, metric) for file in ("a.run", "a") for metric in ("ap", "rr", "precision@5", "ndcg@20")],
    *[("text", "a.de", metric) for metric in ("bleu", "chrf", "chrf++", "rouge1", "accuracy", "mean", "win_rate")],
]


def test_a_format_is_known_by_the_files_name_or_else_by_the_metric(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    for name, file, metric in _FOUND:
        path = written(tmp_path, file, "x")
        found = asked(path, metric)
        assert (found.name, found.source.paths) == (name, (path,)), (file, metric)
        assert asked(str(path), "mean", format="trec").name == "trec"


def test_json_goes_to_the_format_that_says_it_is_its_own(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    for name, file, text in (
        ("lm-eval", "log.jsonl", '{"doc_id": 0, "acc": 1, "filtered_resps": ["A"]}\n'),
        ("inspect", "a.json", '{\n"status": "success", "eval": {"task": "t", "model": "m"}}'),
        ("scores", "b.json", '{"status": "success", "q1": 1}'),
        ("scores", "b.jsonl", '{"doc_id": 0, "acc": 1}'),
    ):
        assert asked(written(tmp_path, file, text), "accuracy").name == name, file


def test_files_of_json_are_known_by_what_is_in_them(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    """But not what lies beside plain texts, which are not read as logs."""
    log = '{"version": 2, "status": "success", "eval": {"task": "quiz", "model": "m"}, "samples": []}'
    scores = '{"bleu": 31.2}'
    for name, file, text in (
        ("inspect", "a.json", log),
        ("lm-eval", "log.jsonl", '{"doc_id": 0, "resps": [["x"]], "acc": 1}\n'),
        ("helm", "a.json", '[{"instance_id": "id1", "train_trial_index": 0, "stats": []}]'),
        ("swe-bench", "m.run.json", '{"total_instances": 1, "resolved_ids": ["a__a-1"]}'),
        ("swe-bench", "report.json", '{"a__a-1": {"patch_is_None": false, "resolved": true}}'),
    ):
        path = written(tmp_path / name, file, text)
        found = asked(path, "accuracy")
        assert (found.name, found.source.paths) == (name, (path,))
    texts = [written(tmp_path, f"texts/{name}", "x\n") for name in ("a.txt", "b.txt")]
    stray = written(tmp_path, "texts/scores.json", scores)
    found = asked(tmp_path / "texts", "bleu", references=written(tmp_path, "gold.txt", "x\n"))
    assert (found.name, found.source.paths) == ("text", tuple(texts))
    for text, what in ((scores, "tables of item scores .*"), (log, "Inspect eval logs")):
        stray.write_text(text)
        with pytest.raises(
            ValueError, match=rf"2 such as .*a.txt, and 1 such as .*scores.json \({what}\); give one kind"
        ):
            load([*texts, stray], "bleu", references=texts[0])
    with pytest.raises(ValueError, match="files of two kinds"):
        load(tmp_path / "texts", "mean")
    assert asked(tmp_path / "texts", "bleu", references=tmp_path / "gold.txt").source.paths == tuple(texts)


def test_damaged_logs_in_a_folder_are_told_and_others_named(tmp_path: Path) -> None:
    samples = '[{"id": 1, "scores": {"m": {"value": 1}}}]'
    log = '{"status": "success", "eval": {"task": "quiz", "model": "%s"}, "samples": ' + samples + "}"
    for name in "ab":
        written(tmp_path, f"{name}.json", log % name)
    other = written(tmp_path, "settings.json", '{"seed": 1}')
    assert load(tmp_path, "accuracy").notes == (f"1 file not read, not Inspect eval logs: {other}",)
    written(tmp_path, "c.json", "")
    with pytest.raises(ValueError, match="c.json is empty"):
        load(tmp_path, "accuracy")


def test_runs_are_found_below_what_a_harness_writes_beside_them(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    for name, run, beside in (
        ("helm", "suite/quiz:model=m/per_instance_stats.json", ("suite/summary.json", "suite/quiz:model=m/stats.json")),
        ("swe-bench", "run/m/a__a-1/report.json", ("run/m/a__a-1/patch.diff", "run/m/a__a-1/eval.sh")),
        ("inspect", "logs/one/a.eval", ("logs/logs.json", "logs/one/notes.txt")),
    ):
        path = written(tmp_path / name, run, '{"resolved": 1, "a__a-1": 2}')
        for file in beside:
            written(tmp_path / name, file, "x")
        found = asked(tmp_path / name, "accuracy")
        assert (found.name, found.source.paths) == (name, (path,))


def test_a_table_of_candidates_is_known_by_its_header(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    path = written(tmp_path, "a.csv", "id,gold,t\na,1,2\n")
    for metric in ("precision@5", "ndcg@5", "ap"):
        assert asked(path, metric).name == "candidates"
    assert asked(path, "f1").name == "scores"


def test_what_the_caller_says_reaches_the_loader(tmp_path: Path, asked: Callable[..., Asked]) -> None:
    path, table = written(tmp_path, "a.de", "x"), written(tmp_path, "items.csv", "x")
    source = asked(
        path, "bleu", references=[table, path], items=table, columns={"id": "x"}, missing="drop",
        texts=Texts("zh", lowercase=True), ties=Ties(seed=5),
    ).source  # fmt: skip
    expected = Source(
        (path,), source.metric, (table, path), table, {"id": "x"}, "drop", Texts("zh", True), Ties(seed=5),
        asked="bleu", keeps_texts=True,
    )  # fmt: skip
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
        for name in ("results_2025.json", LOG, f"{LOG.replace('quiz', 'arc')}.gz", "notes.jsonl", "readme.md")
    ]
    found = asked(tmp_path / folder.partition("/")[0], "accuracy")
    assert (found.name, set(found.source.paths)) == ("lm-eval", {files[1], files[2]})
    by_name = asked(tmp_path / folder.partition("/")[0], "accuracy", format="inspect")
    assert by_name.source.paths == (files[0],)


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
        (["a.txt"], {"format": "txt"}, "format must be one of segments, .*, not 'txt' .did you mean 'text'"),
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
