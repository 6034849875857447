"""What every format does: one contract, and the examples of the documentation."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.loaders.base import Loaded, Texts
from simstudy.loaders.door import load
from simstudy.loaders.formats import FORMATS
from simstudy.loaders.reading import reading
from tests.documentation import FORMAT_EXAMPLES, ROOT, write_files
from tests.loaders.examples import EXAMPLES, Example, written


@dataclass(frozen=True)
class Case:
    """An example whose files are written: those of new and old, and what else `load` needs."""

    name: str
    one: Example
    files: list[Path]
    references: dict[str, Path]

    def load(self, files: list[Path] | None = None, **options: Any) -> Loaded:
        return load(files or self.files, self.one.metric, **(self.references | options))


@pytest.fixture(params=EXAMPLES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    one = EXAMPLES[request.param]
    files = [written(tmp_path, *one.new), written(tmp_path, *one.old)]
    references = {} if one.gold is None else {"references": written(tmp_path, "gold", one.gold)}
    return Case(request.param, one, files, references)


def same(a: Loaded, b: Loaded) -> bool:
    return a.outputs.fingerprint() == b.outputs.fingerprint() and a.notes == b.notes


def test_every_format_has_an_example() -> None:
    """All but those whose one table has all systems: test_candidates.py and test_arena.py."""
    assert {*EXAMPLES, "candidates", "arena"} == set(FORMATS), "an example belongs into tests/loaders/examples.py"


def test_a_loader_yields_the_systems_scored_on_matched_items(case: Case) -> None:
    loaded = case.load()
    outputs = loaded.named(task="quiz", test_set="2012").outputs
    assert (outputs.names, outputs.task, outputs.test_set) == (["new", "old"], "quiz", "2012")
    assert tuple(outputs.items["id"]) == case.one.ids
    assert outputs.statistics.shape == (2, 2, len(outputs.metric.statistics))
    assert outputs.scores().tolist() == pytest.approx(list(case.one.scores))
    # The second item is the one on which they agree, wherever old has it in its file.
    assert (outputs.statistics[0] == outputs.statistics[1]).all(axis=-1).tolist() == [False, True]
    assert (outputs.answers is not None) == case.one.answers
    if outputs.answers is not None:
        assert (outputs.answers[0] == outputs.answers[1]).tolist() == [False, True]
    assert loaded.notes == ()
    assert same(loaded, case.load(format=case.name)), "the format that is found is the one by this name"


def test_systems_are_in_the_order_of_the_files_which_changes_nothing_else(case: Case) -> None:
    first, back = case.load().outputs, case.load(case.files[::-1]).outputs
    assert back.names == ["old", "new"]
    order = [back.items["id"].tolist().index(item) for item in first.items["id"]]
    np.testing.assert_array_equal(back.statistics[::-1][:, order], first.statistics)


def _zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("zst", _zstd)])
def test_packed_files_are_read_as_they_are(case: Case, ending: str, compress: Callable[[bytes], bytes]) -> None:
    plain = case.load()

    def packed(path: Path) -> Path:
        file = path.with_name(f"{path.name}.{ending}")
        file.write_bytes(compress(path.read_bytes()))
        return file

    more = {name: packed(path) for name, path in case.references.items()}
    assert same(plain, case.load([packed(path) for path in case.files], **more))


def test_a_copy_of_a_file_has_the_same_answers(case: Case) -> None:
    place, text = case.one.new
    if case.name == "inspect":
        place, text = "copy.json", text.replace('"new"', '"copy"')
    copy = written(case.files[0].parents[place.count("/")], place.replace("new", "copy"), text)
    outputs = case.load([*case.files, copy]).outputs
    assert outputs.names == ["new", "old", "copy"]
    np.testing.assert_array_equal(outputs.statistics[2], outputs.statistics[0])
    if outputs.answers is not None:
        np.testing.assert_array_equal(outputs.answers[2], outputs.answers[0])


def test_windows_line_ends_are_noted_and_change_nothing(case: Case) -> None:
    plain = case.load()
    changed = [*case.files, *case.references.values()]
    for path in changed:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    loaded = case.load()
    assert loaded.outputs.fingerprint() == plain.outputs.fingerprint()
    noted = {f"{path}: Windows line ends converted" for path in changed if b"\r\n" in path.read_bytes()}
    assert set(loaded.notes) == noted


def test_files_without_text_and_of_another_encoding_are_named(case: Case) -> None:
    """The files of systems and of references, each in turn."""
    for path in (case.files[1], *case.references.values()):
        whole = path.read_bytes()
        last = whole.rstrip(b"\n").count(b"\n") + 1
        wrong = {b"": " is empty", "\u00a0\n \n".encode(): " is empty"}
        wrong[whole.rstrip(b"\n") + b"\xe9"] = f", line {last}: not UTF-8 (byte 0xe9); convert the file to UTF-8"
        for content, told in wrong.items():
            path.write_bytes(content)
            with pytest.raises(ValueError, match=f"^{re.escape(str(path) + told)}$"):
                case.load()
        path.unlink()
        with pytest.raises(FileNotFoundError, match=f"^no such file: {re.escape(str(path))}$"):
            case.load()
        path.write_bytes(whole)


@pytest.mark.parametrize("case", [name for name, one in EXAMPLES.items() if one.short], indirect=True)
def test_an_item_that_a_system_lacks_is_refused_dropped_or_scored_as_no_answer(case: Case) -> None:
    case.files[1].write_text(str(case.one.short))
    first, second = case.one.ids
    told = f"{case.files[1]} lacks 1 of 2 items, first '{first}' (system 'old')"
    with pytest.raises(ValueError, match=f"^{re.escape(f'items differ: {told}; missing=')}"):
        case.load()
    assert case.load(missing="drop").outputs.items["id"].tolist() == [second]
    zero = case.load(missing="zero")
    assert zero.notes == (f"scored as no answer: {told}",)
    assert zero.outputs.statistics[1, 0].tolist() == list(case.one.silent)
    np.testing.assert_array_equal(zero.outputs.statistics[1, 1], zero.outputs.statistics[0, 1])


def test_a_table_of_items_describes_them_by_their_ids(case: Case, tmp_path: Path) -> None:
    """Whatever the order of its rows; lines, which have numbers, may also take names from it."""
    first, second = case.one.ids
    table = written(tmp_path, "items.csv", f"id,area,doc\n{second},law,d2\n{first},art,d1\n")
    items = case.load(items=table, columns={"domain": "area", "cluster": "doc"}).outputs.items
    assert items[["id", "domain", "cluster"]].to_numpy().tolist() == [[first, "art", "d1"], [second, "law", "d2"]]
    assert case.load(items=table, columns={"domain": "area"}, domain="law").outputs.items["id"].tolist() == [second]
    written(tmp_path, "items.csv", "id,area\nx,art\ny,law\n")
    if case.name in ("segments", "conll", "trees", "alignments", "text"):
        assert case.load(items=table).outputs.items.to_dict("list") == {"id": ["x", "y"], "area": ["art", "law"]}
    else:
        with pytest.raises(ValueError, match=r"items.csv (lacks 2 of 2|must have the ids of the) items"):
            case.load(items=table)


def test_files_that_are_kept_are_hashed_and_read_once(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = [*case.files, *case.references.values()]
    with reading() as read:
        read.kept |= {path: {} for path in everything}
        first = case.load()
        for path in everything:
            path.write_text("broken")
        assert same(first, case.load())
    assert set(read.hashes) == set(everything)
    written(case.files[0].parent, case.files[0].name, case.one.new[1])
    assert read.hashes[case.files[0]] == sha256(case.files[0].read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "what", "metrics", "other"),
    [
        ("trees", "trees", "parseval", "las"),
        ("conllu", "CoNLL-U", "uas, las, accuracy", "aer"),
        ("conll", "CoNLL columns", "span_f1, accuracy", "uas"),
        ("alignments", "word alignments", "aer", "f1"),
    ],
)
def test_metrics_and_gold_files_that_a_format_does_not_take(
    name: str, what: str, metrics: str, other: str, tmp_path: Path
) -> None:
    one = EXAMPLES[name]
    path, gold = written(tmp_path, *one.new), written(tmp_path, "gold", str(one.gold))
    with pytest.raises(ValueError, match=f"^metric of {what} must be one of {metrics}, not '{other}'"):
        load(path, other, references=gold, format=name)
    for references in ([], [gold, path]):
        with pytest.raises(ValueError, match=f"^references of {what} must be .*, not {len(references)}"):
            load(path, one.metric, references=references)


def test_options_and_references_of_other_formats_are_refused(case: Case, tmp_path: Path) -> None:
    what = re.escape(FORMATS[case.name].what)
    for option in ({"lowercase": True}, {"tokenize": "zh"}):
        message = f"tokenize and lowercase are for plain text, not for {what}"
        if case.name == "text":
            message = f"{next(iter(option))} is for metric.*, not for 'accuracy'"
        with pytest.raises(ValueError, match=message):
            case.load(texts=Texts(**option))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"^ties are for candidates, not for {what}$"):
        case.load(ties="keep")
    if not case.references:
        with pytest.raises(ValueError, match=f"references must not be given for {what}"):
            case.load(references=written(tmp_path, "gold", "1\n"))


PAGE = (ROOT / "docs" / "formats.md").read_text("utf-8")


def test_every_format_has_a_section_with_an_example() -> None:
    """Each block of files is one: none is without a sentence that the test below reads."""
    assert len(FORMAT_EXAMPLES) == len(re.findall(r"^```text$", PAGE, re.MULTILINE))
    rows = dict(re.findall(r"^\| \[`([\w-]+)`\]\(#([\w-]+)\)", PAGE, re.MULTILINE))
    assert rows.keys() == FORMATS.keys(), "docs/formats.md has a row and a section for each format"
    sections = re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    texts = {name.lower().replace(" ", "-"): text for name, text in zip(sections[1::2], sections[2::2], strict=True)}
    for name, section in rows.items():
        assert any(files in texts[section] for files, _, _ in FORMAT_EXAMPLES), name


@pytest.mark.parametrize(
    ("files", "command", "told"), FORMAT_EXAMPLES, ids=[command for _, command, _ in FORMAT_EXAMPLES]
)
def test_an_example_has_the_scores_that_are_stated(
    files: str, command: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, text in write_files(files).items():
        assert len(text.splitlines()) <= 10, path
    result = CliRunner().invoke(app, [*shlex.split(command), "--json"])
    assert result.exit_code == 0, result.stderr
    found = {row["system"]: row["score"] for row in json.loads(result.stdout)["systems"]}
    stated = {name: float(score) for name, score in re.findall(r"([\w-]+) ([\d.]+)(?: and |$)", told)}
    assert len(stated) == 2
    assert found == pytest.approx(stated, abs=0.005)
