"""What every format does, from two small systems each: one contract, and the examples of the documentation."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.readers.formats import formats
from simstudy.readers.load import load
from simstudy.readers.long_table import Loaded
from simstudy.readers.request import Texts
from simstudy.readers.text_files import reading
from simstudy.validation import InputError, NoSuchFile
from tests.documentation import FORMAT_EXAMPLES, ROOT, write_files
from tests.readers.examples import EXAMPLES, Example, write
from tests.readers.line_files import input_error, written

PAIRS = [name for name, one in EXAMPLES.items() if len(one.files) == 2]
NUMBERED = ("segments", "conll", "trees", "alignments", "text")


@dataclass(frozen=True)
class Case:
    """An example whose files are written."""

    name: str
    one: Example
    files: list[Path]
    references: dict[str, Path]

    def load(self, files: Any = None, **options: Any) -> Loaded:
        return load(files or self.files, self.one.metric, **(self.references | options))

    def refused(self, **options: Any) -> InputError:
        return input_error(by=self.load, **options)


@pytest.fixture(params=EXAMPLES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    one = EXAMPLES[request.param]
    references = {} if one.gold is None else {"references": write(tmp_path, {"gold": one.gold})[0]}
    return Case(request.param, one, write(tmp_path, one.files), references)


pairs = pytest.mark.parametrize("case", PAIRS, indirect=True)


def test_systems_are_scored_on_items_matched_by_their_ids(case: Case) -> None:
    """And the first note says what was read."""
    loaded = case.load()
    outputs = loaded.named(task="quiz", test_set="2012").outputs
    assert (outputs.names, outputs.task, outputs.test_set) == (["new", "old"], "quiz", "2012")
    assert tuple(outputs.items["id"]) == case.one.ids
    assert outputs.scores().tolist() == pytest.approx(list(case.one.scores))
    if case.name != "candidates":
        # Wherever old has the second item in its file.
        assert (outputs.statistics[0] == outputs.statistics[1]).all(axis=-1).tolist() == [False, True]
    assert (outputs.statistics.dtype.kind == "i") == case.one.whole
    first, *others = loaded.notes
    assert (first.kind, first.fields["systems"], first.fields["n"]) == ("read", "new, old", str(len(case.one.ids)))
    assert case.files[0].name in first or "files such as samples_" in first
    assert [note.kind for note in others] == (["win rates"] if case.name == "arena" else [])
    assert case.load(format=case.name).notes == loaded.notes, "the format that is found is the one of this name"


@pairs
def test_systems_are_in_the_order_of_the_files_which_changes_nothing_else(case: Case) -> None:
    first, back = case.load().outputs, case.load(case.files[::-1]).outputs
    assert back.names == ["old", "new"]
    order = [back.items["id"].tolist().index(item) for item in first.items["id"]]
    np.testing.assert_array_equal(back.statistics[::-1][:, order], first.statistics)


@pairs
def test_names_that_a_user_gives_go_before_those_of_files(case: Case) -> None:
    new, old = case.files
    given: list[Any] = [{"the new": new, "é=1": str(old)}, [("the new", new), ("é=1", old)]]
    for paths in given:
        found = case.load(paths, format=case.name).outputs
        assert found.names == ["the new", "é=1"]
        assert found.scores().tolist() == pytest.approx(list(case.one.scores))
    assert case.load([("a", new), old]).outputs.names == ["a", "old"]


@pairs
def test_two_systems_of_one_name_are_refused(case: Case) -> None:
    """Files of one name are called after their folders, or are refused; a log that comes again is no second system."""
    new, old = case.files
    case.refused(files=[("x", new), ("x", old)])
    case.refused(files=[("x", new), ("y", new)], match="given twice")


@pytest.mark.parametrize(
    ("ending", "changed"),
    [
        (".gz", gzip.compress),
        (".zst", lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True))),
        # Line ends of Windows, and a byte order mark.
        ("", lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")),
    ],
)
def test_files_that_programs_pack_or_mark_are_read_as_they_are(
    case: Case, ending: str, changed: Callable[[bytes], bytes]
) -> None:
    plain = case.load()

    def other(path: Path) -> Path:
        return written(path.with_name(path.name + ending), changed(path.read_bytes()))

    more = {name: other(path) for name, path in case.references.items()}
    found = case.load([other(path) for path in case.files], **more)
    assert found.outputs.fingerprint() == plain.outputs.fingerprint()
    assert [str(note).replace(ending, "") for note in found.notes] == [*map(str, plain.notes)]


def test_what_is_no_whole_file_of_text_is_named(case: Case) -> None:
    """Each file of the systems and of references in turn: empty, blank, not UTF-8, cut packed, a folder, not there."""
    for path in (case.files[-1], *case.references.values()):
        whole, own = path.read_bytes(), {"format": case.name}
        last = whole.rstrip(b"\n").count(b"\n") + 1
        for content in (b"", "\u00a0\n \n".encode()):
            path.write_bytes(content)
            assert str(case.refused(**own)) == f"{path} is empty"
        path.write_bytes(whole.rstrip(b"\n") + b"\xe9")
        assert case.refused(**own).at == f"{path}, line {last}"
        path.write_bytes(whole)
        cut = path.with_name(f"{path.name}.gz")
        cut.write_bytes(gzip.compress(whole)[:-9])
        others = {"references": cut} if path in case.references.values() else {"files": [*case.files[:-1], cut]}
        assert str(case.refused(**own, **others)).startswith(str(cut))
        path.unlink()
        input_error(**own, by=case.load, kind=NoSuchFile, match=re.escape(str(path)))
        path.mkdir()
        assert str(path) in str(case.refused(**own))
        path.rmdir()
        path.write_bytes(whole)


@pytest.mark.parametrize("case", [name for name, one in EXAMPLES.items() if one.short], indirect=True)
def test_an_item_that_a_system_lacks_is_refused_dropped_or_scored_as_no_answer(case: Case) -> None:
    path = case.files[1]
    path.write_text(str(case.one.short))
    first, second = case.one.ids
    error = case.refused()
    assert f"system 'old' ({path}) lacks 1 of 2 items, first '{first}'" in error.rule
    assert [one.value for one in error.remedy.fields.values()] == ["drop", "zero"]  # type: ignore[attr-defined]
    dropped = case.load(missing="drop")
    assert (dropped.outputs.items["id"].tolist(), dropped.notes[1].kind) == ([second], "items dropped")
    zero = case.load(missing="zero")
    assert zero.notes[1].kind == "items scored as no answer"
    assert zero.outputs.statistics[1, 0].tolist() == list(case.one.silent)
    np.testing.assert_array_equal(zero.outputs.statistics[1, 1], zero.outputs.statistics[0, 1])


@pairs
def test_a_table_of_items_describes_them_by_their_ids(case: Case, tmp_path: Path) -> None:
    """Whatever the order of its rows; lines, which have numbers, may also take names from it."""
    first, second = case.one.ids
    (table,) = write(tmp_path, {"items.csv": f"id,area,part\n{second},law,d2\n{first},art,d1\n"})
    items = case.load(items=table, columns={"domain": "area", "cluster": "part"}).outputs.items
    assert items[["id", "domain", "cluster"]].to_numpy().tolist() == [[first, "art", "d1"], [second, "law", "d2"]]
    assert case.load(items=table, columns={"domain": "area"}, domain="law").outputs.items["id"].tolist() == [second]
    write(tmp_path, {"items.csv": "id,area\nx,art\ny,law\n"})
    if case.name in NUMBERED:
        assert case.load(items=table).outputs.items.to_dict("list") == {"id": ["x", "y"], "area": ["art", "law"]}
    else:
        assert case.refused(items=table).argument == "items"


def test_files_that_are_kept_are_hashed_and_read_once(case: Case) -> None:
    everything = [*case.files, *case.references.values()]
    with reading(keep=True) as now:
        first = case.load()
        for path in everything:
            path.write_text("broken")
        again = case.load(format=case.name)
    assert (again.outputs.fingerprint(), again.notes) == (first.outputs.fingerprint(), first.notes)
    assert set(now.hashes) == set(everything)


def test_options_of_other_formats_are_refused(case: Case) -> None:
    """Among them a reference that is one of the systems' files."""
    options: list[dict[str, Any]] = [{"texts": Texts(lowercase=True)}, {"references": case.files[0]}]
    options += [{"ties": "keep"}] if case.name != "candidates" else []
    options += [] if formats()[case.name].is_log else [{"allow_different": "prompt"}]
    for option in options:
        error = case.refused(**option)
        assert error.argument in option or "lowercase" in error.argument, str(error)
    error = case.refused(columns={"cluster": "none"})
    has_no_columns = case.name in ("text", "conll", "conllu", "trees", "alignments")
    assert (error.argument == "columns", "no column 'none'" in str(error)) == (has_no_columns, not has_no_columns)


PAGE = (ROOT / "docs" / "formats.md").read_text("utf-8")


def test_every_format_has_a_section_with_an_example() -> None:
    """Each block of files is one: none is without a sentence that the test below reads."""
    assert len(FORMAT_EXAMPLES) == len(re.findall(r"^```text$", PAGE, re.MULTILINE))
    rows = dict(re.findall(r"^\| \[`([\w-]+)`\]\(#([\w-]+)\)", PAGE, re.MULTILINE))
    assert rows.keys() == {*EXAMPLES} == {*formats()}, "docs/formats.md has a row and a section for each format"
    sections = re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    texts = {name.lower().replace(" ", "-"): text for name, text in zip(sections[1::2], sections[2::2], strict=True)}
    for name, section in rows.items():
        assert any(files in texts[section] for files, _, _ in FORMAT_EXAMPLES), name


@pytest.mark.parametrize(
    ("files", "command", "told"), FORMAT_EXAMPLES, ids=[command for _, command, _ in FORMAT_EXAMPLES]
)
def test_an_example_of_the_documentation_has_the_scores_that_are_stated(
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
