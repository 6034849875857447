"""Whatever is in the files and the options: the right result, or one line and exit code 2, and no file elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, note, settings
from typer.testing import CliRunner

from simstudy.cli.command import app
from tests.attacks.changes import CHANGES, PLACES, attacks
from tests.attacks.inputs import CASES
from tests.attacks.names import acts

Attack = tuple[str, dict[str, bytes], dict[str, str], list[str]]


def laid_out(folder: Path, files: dict[str, bytes], places: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name in places:
            PLACES[places[name]](path)
        else:
            path.write_bytes(content)


def check(attack: Attack) -> None:
    name, files, places, arguments = attack
    home = Path.cwd()
    with TemporaryDirectory() as made:
        folder = Path(made) / "here"
        folder.mkdir()
        laid_out(folder, files, places)
        os.chdir(folder)
        try:
            result = CliRunner().invoke(app, ["compare", *arguments], prog_name="simstudy")
        finally:
            os.chdir(home)
        around = sorted(path.name for path in Path(made).iterdir())
    note(f"{name}: {arguments} {places}\n{result.exit_code} {result.stderr}")
    out, err = result.stdout, result.stderr
    assert result.exit_code in (0, 2), err
    assert not acts(out)
    assert not acts(err)
    assert around == ["here"]
    if result.exit_code == 2:
        assert out == ""
        assert err.startswith("simstudy: ")
        assert err.count("\n") == 1
        assert len(err) < 2_200
    else:
        assert err == ""
        if "--json" in arguments:
            json.loads(out)


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_comparisons_that_are_attacked_work(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    laid_out(tmp_path, CASES[name].content, {})
    result = CliRunner().invoke(app, ["compare", *CASES[name].arguments])
    assert (result.exit_code, result.stderr) == (0, "")
    assert "p " in result.stdout


@given(attacks())
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_thirty_bad_inputs_end_in_a_result_or_in_one_line(attack: Attack) -> None:
    check(attack)


@pytest.mark.slow
@given(attacks())
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_five_hundred_bad_inputs_end_in_a_result_or_in_one_line(attack: Attack) -> None:
    check(attack)


#: Tables of scores that are not as we write them.
TABLES = ["json", "json lines", "json keys", "guessed", "rows", "documents"]


@given(attacks(TABLES))
@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_ten_bad_tables_end_in_a_result_or_in_one_line(attack: Attack) -> None:
    check(attack)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CASES))
def test_sixty_bad_inputs_of_each_format_end_in_a_result_or_in_one_line(name: str) -> None:
    @given(attacks([name]))
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
    def attacked(attack: Attack) -> None:
        check(attack)

    attacked()


#: Logs of evaluation harnesses, in each of their forms.
LOGS = ("lm-eval", "harness-results", "inspect", "inspect-archive", "helm", "swe-bench", "swe-bench-instances")


@pytest.mark.parametrize("name", LOGS)
def test_logs_that_are_cut_or_changed_are_never_another_number(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cut, a byte that is no text: one line that names the file; nothing of a damaged log is used."""
    files, arguments = CASES[name].content, CASES[name].arguments
    attacked = sorted(path for path in files if "run_spec" not in path)[-1]
    for k, content in enumerate((files[attacked][: len(files[attacked]) // 2], files[attacked][:-2] + b"\xff")):
        (tmp_path / str(k)).mkdir()
        monkeypatch.chdir(tmp_path / str(k))
        laid_out(Path(), files | {attacked: content}, {})
        result = CliRunner().invoke(app, ["compare", *arguments])
        assert (result.exit_code, result.stdout) == (2, ""), result.stdout
        assert Path(attacked).name in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("place", ["a pipe", "zeros without an end"])
@pytest.mark.parametrize("name", ["tidy", "wide", "text", "candidates", "trec", "inspect"])
def test_what_has_no_end_is_not_read(name: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe made the command wait for ever, whichever of its files it was."""
    monkeypatch.chdir(tmp_path)
    files = CASES[name].content
    for attacked in files:
        folder = tmp_path / attacked.replace(".", "-")
        folder.mkdir()
        monkeypatch.chdir(folder)
        laid_out(folder, files, {attacked: place})
        result = CliRunner().invoke(app, ["compare", *CASES[name].arguments])
        expected = f"simstudy: {attacked} must be a file, but is a pipe or a device\n"
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", expected)


def test_a_key_that_is_twice_in_an_object_is_no_choice_of_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """{"acc": 1.0, "acc": 0.0} was taken for 0."""
    monkeypatch.chdir(tmp_path)
    for name in ("lm-eval", "inspect"):
        files = CASES[name].content
        attacked = sorted(files)[-1]
        laid_out(tmp_path, files | {attacked: CHANGES["a key twice"](files[attacked], 0)}, {})
        result = CliRunner().invoke(app, ["compare", *CASES[name].arguments])
        key = "acc" if name == "lm-eval" else "id"
        said = f"simstudy: {attacked}, line 1: an object of JSON has the key '{key}' twice\n"
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", said)


def test_halves_of_characters_are_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's name that is not UTF-8, a model's or a sample's in JSON: pandas cannot hold them."""
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"ol\xe7d.txt")).write_text("1\n0\n")
    Path("new.txt").write_text("1\n1\n")
    files = CASES["inspect"].content
    laid_out(tmp_path, files | {"one.json": files["one.json"].replace(b"a/one", b"a\\ud83d")}, {})
    laid_out(tmp_path, {"three.json": files["two.json"].replace(b'"id": 1', b'"id": "\\udc00"')}, {})
    for paths, said in (
        (
            [os.fsdecode(b"ol\xe7d.txt"), "new.txt"],
            "the name of a file is not UTF-8: ol\\xe7d.txt; rename it",
        ),
        (
            ["one.json", "two.json"],
            "one.json: model and task must be named in whole characters (UTF-8), unlike 'a\\ud83d'",
        ),
        (
            ["three.json", "two.json"],
            "three.json, sample \\udc00: items must be named in whole characters (UTF-8), not '\\udc00'",
        ),
    ):
        result = CliRunner().invoke(app, ["compare", *paths, "--metric", "mean"])
        assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"simstudy: {said}\n")
