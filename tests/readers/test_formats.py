"""Which format files are of, which files of folders are read, and formats of other packages."""

from __future__ import annotations

import importlib
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simstudy.metrics import get_metric
from simstudy.metrics.ranking import KINDS
from simstudy.notes import Argument, notes_kept
from simstudy.readers import formats as formats_module
from simstudy.readers.formats import Format, format_of, formats
from simstudy.readers.long_table import outputs_of
from simstudy.readers.request import Request, named_paths, opened_files
from tests.readers.line_files import input_error

TABLES = ("*.csv", "*.tsv", "*.json")
LOGS = ("log_*.json", "*.json")


def read(request: Request) -> Any:
    raise AssertionError("nothing is read here")


def begins(text: str) -> Any:
    return lambda path: path.read_text().startswith(text)


KNOWN = {
    one.name: one
    for one in (
        Format("text", "plain text", read),
        Format("scores", "tables", read, TABLES, scored=True),
        Format("trees", "trees", read, ("*.mrg",), metrics=("parseval",)),
        Format("runs", "runs", read, metrics=KINDS),
        Format("candidates", "candidates", read, TABLES, metrics=("precision@n",), scored=True),
        Format("battles", "battles", read, TABLES, begins("battle"), columns=("winner",), scored=True),
        Format("logs", "logs", read, LOGS, begins("log"), scored=True, is_log=True, beside=("cfg.json",)),
    )
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(formats_module, "formats", lambda: KNOWN)
    return tmp_path


def chosen(
    folder: Path,
    files: dict[str, str],
    metric: str = "accuracy",
    name: str | None = None,
    *,
    given: Any = None,
    **options: Any,
) -> tuple[str, list[str], list[str]]:
    """The name of the format of these files in a folder, those of them that are read, and the kinds of notes."""
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    with notes_kept() as notes:
        opened, inside = opened_files(named_paths([folder / file for file in given] if given else folder))
        request = Request(tuple(opened), get_metric(metric), **options)
        one, paths = format_of(request, name, inside)
    return one.name, [path.relative_to(folder).as_posix() for path in paths], [note.kind for note in notes]


GOLD = {"references": (Path("gold"),)}


@pytest.mark.parametrize(
    ("file", "metric", "options", "name"),
    [
        ("a.txt", "accuracy", GOLD, "text"),
        ("a.csv", "accuracy", {}, "scores"),
        ("a.csv.gz", "accuracy", {}, "scores"),
        ("a.mrg", "accuracy", {}, "trees"),
        ("a.txt", "parseval", GOLD, "trees"),
        ("a.csv", "precision@5", {}, "candidates"),
        ("a.csv", "precision@5", GOLD, "runs"),
        *(("a.run", name, GOLD, "runs") for name in ("ap", "rr@1", "recall@1", "success@1")),
        ("a.run", "ap", {}, "runs"),
        ("a.run", "ndcg@10:gain=exp", GOLD, "runs"),
        ("a.csv", "rprecision", GOLD, "runs"),
        ("a.csv", "ndcg@10", {}, "scores"),
    ],
)
def test_names_and_metrics_say_the_format(folder: Path, file: str, metric: str, options: Any, name: str) -> None:
    assert chosen(folder, {file: "x"}, metric, **options) == (name, [file], [])


def test_content_goes_before_names_and_columns_say_the_same(folder: Path) -> None:
    assert chosen(folder, {"a.csv": "battle"})[0] == "battles"
    assert chosen(folder, {"a.csv": "other"}, columns={"winner": "vote"})[0] == "battles"
    assert chosen(folder, {"a.csv": "other"}, columns={"item": "id"})[0] == "scores"
    (folder / "a.csv").unlink()
    assert chosen(folder, {"a.json": "log"})[0] == "logs"


def test_a_file_of_two_formats_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two = {**KNOWN, "other": Format("other", "others", read, ("*.json",), begins("lo"))}
    monkeypatch.setattr(formats_module, "formats", lambda: two)
    error = input_error(folder, {"a.json": "log"}, by=chosen, match="may be of format logs or other")
    assert error.remedy.fields["second"] == Argument("format", "other")  # type: ignore[attr-defined]
    assert chosen(folder, {}, name="other") == ("other", ["a.json"], [])


@pytest.mark.parametrize("given", [None, ["a.txt", "b.csv"]])
def test_files_of_two_formats_are_refused_and_a_named_format_decides(folder: Path, given: Any) -> None:
    files = {"a.txt": "x", "b.csv": "y"}
    input_error(
        folder, files, given=given, **GOLD, by=chosen, match=r"two formats: .*a\.txt \(text\) and .*b\.csv \(scores\)"
    )
    read_files, notes = (["a.txt", "b.csv"], []) if given else (["a.txt"], ["files of other formats"])
    assert chosen(folder, files, name="text", given=given, **GOLD) == ("text", read_files, notes)
    (folder / "a.txt").unlink()
    assert chosen(folder, {"b.csv": "y"}, name="text", **GOLD) == ("text", ["b.csv"], [])


def test_files_in_folders_whose_endings_no_format_reads_are_left_out(folder: Path) -> None:
    """But no file that the user names, none that a format reads, and not all files."""
    logs = {"a.log": "x", "c.log": "x"}
    assert chosen(folder, logs, **GOLD) == ("text", ["a.log", "c.log"], [])
    files = {"b.txt": "x", "d.png": "x", "e.ipynb": "x"}
    assert chosen(folder, files, **GOLD) == ("text", ["b.txt"], ["files of other formats"])
    assert chosen(folder, {}, given=["a.log", "b.txt"], **GOLD) == ("text", ["a.log", "b.txt"], [])
    (folder / "b.txt").unlink()
    assert chosen(folder, {"f.mrg": "x"}, **GOLD) == ("trees", ["f.mrg"], ["files of other formats"])


def test_logs_lie_beside_other_files(folder: Path) -> None:
    """The harness's own without a note; a damaged log is read, so that the reader says what is wrong."""
    files = {"run/a.json": "log", "run/cfg.json": "x", "run/sub/log_b.json": "cut"}
    logs = ["run/a.json", "run/sub/log_b.json"]
    assert chosen(folder, files) == ("logs", logs, [])
    assert chosen(folder, {"run/z.txt": "x"}) == ("logs", logs, ["files of other formats"])
    input_error(folder, {}, given=["run/a.json", "run/z.txt"], by=chosen, match="two formats")


EXAMPLE = Path(__file__).parent / "plugin_example"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, as pip makes it, whose one package is the example of the documentation."""
    about = tmp_path / "site" / "simstudy_junit-1.0.dist-info"
    about.mkdir(parents=True)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    ((group, entries),) = project["entry-points"].items()
    written = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{written}")
    (about.parent / "simstudy_junit.py").write_text((EXAMPLE / "simstudy_junit.py").read_text())
    monkeypatch.syspath_prepend(about.parent)
    formats.cache_clear()
    yield about
    formats.cache_clear()
    sys.modules.pop("simstudy_junit", None)


def test_a_package_adds_a_format(installed: Path, tmp_path: Path) -> None:
    """Its rows become Outputs as those of other formats do: new passes both tests, old one."""
    for name, outcome in (("new", ""), ("old", "<failure/>")):
        cases = f'<testcase classname="c" name="a">{outcome}</testcase><testcase classname="c" name="b"/>'
        (tmp_path / f"{name}.xml").write_text(
            f'<testsuite>{cases}<testcase classname="c" name="z"><skipped/></testcase></testsuite>'
        )
    request = Request((tmp_path / "new.xml", tmp_path / "old.xml"), get_metric("accuracy"))
    one, paths = format_of(request, None, ())
    assert (one.name, paths) == ("junit", request.paths)
    loaded = outputs_of(one.read(request), request)
    assert dict(zip(loaded.outputs.names, loaded.outputs.scores(), strict=True)) == {"new": 100, "old": 50}
    (tmp_path / "old.xml").write_text("<testsuite>")
    assert input_error(request, by=one.read).at == str(tmp_path / "old.xml")


@pytest.mark.parametrize(
    "entry", ["junit = nowhere:FORMAT", "junit = simstudy_junit:read", "text = simstudy_junit:FORMAT"]
)
def test_a_package_that_cannot_be_loaded_is_named(installed: Path, entry: str) -> None:
    (installed / "entry_points.txt").write_text(f"[simstudy.formats]\n{entry}\n")
    importlib.invalidate_caches()
    input_error(by=formats, match="of package simstudy-junit")


def test_the_documentation_shows_the_package() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text("utf-8")
    for file in ("pyproject.toml", "simstudy_junit.py"):
        assert (EXAMPLE / file).read_text("utf-8") in page, file
