"""What is wrong with an input, and what a user should know, are objects; the command words them with its options."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import simstudy
from simstudy.cli.command import app
from simstudy.cli.wording import worded_error, worded_notes
from simstudy.files.datasets import DataError
from simstudy.notes import Argument, Note, Words, kind_of
from simstudy.studies import StudyError
from simstudy.validation import InputError, NoSuchFile, Shown, brief

PACKAGE = Path(simstudy.__file__).parent


@pytest.mark.parametrize(
    "error",
    [
        InputError("samples", "must be at least 1", 0),
        InputError("score", "must be a number", "x", "write 1", at="a.csv, line 3"),
        InputError("not a whole zip file", at="a.zip"),
        InputError("unit", Words("must not be given with {other}", other=Argument("test", "sign"))),
        StudyError("study 'mine': no"),
        NoSuchFile("a.csv"),
        DataError("no such file", remedy=Words("{data_dir} has it", data_dir=Argument("data_dir")), at="a/b.csv"),
    ],
)
def test_errors_are_the_same_after_a_process(error: InputError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.argument, again.at) == (type(error), str(error), error.argument, error.at)
    assert again.said(lambda argument: f"<{argument.name}>") == error.said(lambda argument: f"<{argument.name}>")


def test_an_error_of_a_value_that_no_other_process_can_have_says_the_same() -> None:
    error = InputError("test", "must be a name", lambda: 0)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_values_are_shown_as_python_writes_them() -> None:
    assert [brief(value) for value in (np.float64(0.5), np.int64(3), np.str_("a"), "a", Shown("2 GiB"))] == [
        "0.5", "3", "'a'", "'a'", "2 GiB"
    ]  # fmt: skip
    assert brief("x" * 99) == f"'{'x' * 59}…'"
    assert brief(np.array([[1], [2]])) == "a ndarray"
    hint = InputError("metric", "must be one of bleu, chrf", "bleo", " (did you mean 'bleu'?)")
    assert str(hint) == "metric must be one of bleu, chrf, not 'bleo' (did you mean 'bleu'?)"


def test_a_note_is_text_with_a_kind_and_is_the_same_after_a_process() -> None:
    note = Note("near-duplicates kept", {"n_pairs": 1200, "drop": Argument("duplicates", "drop")})
    again = pickle.loads(pickle.dumps(note))
    assert again == note == "near-duplicates kept: 1,200 pairs of systems (duplicates='drop' leaves them out)"
    assert (again.kind, again.fields, kind_of("any text")) == (note.kind, note.fields, "text")


def params(command: str) -> Any:
    return get_command(app).commands[command].params  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("command", "argument", "worded"),
    [
        ("compare", Argument("unit", "item"), "--unit item"),
        ("compare", Argument("columns", {"item": "NAME", "score": "s"}), "--columns item=NAME,score=s"),
        ("compare", Argument("lower_is_better", True), "--lower-is-better"),
        ("compare", Argument("lower_is_better", False), "--higher-is-better"),
        ("compare", Argument("n_resamples", 99), "--resamples 99"),
        ("compare", Argument("shrink", False), "shrink=False"),
        ("compare", Argument("Costs.budget"), "Costs.budget"),
        ("plan", Argument("Costs.budget"), "--budget"),
        ("plan", Argument("Guess.score", Shown("80")), "--score 80"),
        ("plan", Argument("n_items"), "--n-items"),
    ],
)
def test_arguments_are_worded_as_options(command: str, argument: Argument, worded: str) -> None:
    error = InputError("this", Words("must not be given with {other}", other=argument))
    assert worded_error(error, params(command)) == f"this must not be given with {worded}"


def test_errors_and_notes_are_worded_for_python_and_for_the_command() -> None:
    rule = Words("must not be given with {budget}", budget=Argument("Costs.budget"))
    error = InputError("n_items", rule, remedy="leave it out")
    assert str(error) == "n_items must not be given with Costs.budget; leave it out"
    assert worded_error(error, params("plan")) == "--n-items must not be given with --budget; leave it out"
    in_file = InputError("score", "must be a number", "x", at="a.csv, line 3")
    assert worded_error(in_file, params("plan")) == "a.csv, line 3: score must be a number, not 'x'", "no --score"
    note = Note("near-duplicates kept", {"n_pairs": 2, "drop": Argument("duplicates", "drop")})
    (worded,) = worded_notes([note], params("plan"))
    assert worded == "near-duplicates kept: 2 pairs of systems (--duplicates drop leaves them out)"
    assert kind_of(worded) == note.kind


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("alpha", "must lie between 0 and 1", 2), 2, "--alpha must lie between 0 and 1, not 2"),
        (NoSuchFile("a.csv"), 2, "no such file: a.csv"),
        (ValueError("alpha must lie between 0 and 1"), 70, "this is a bug of simstudy, not of what it was given"),
        (OSError("of no file"), 70, "this is a bug of simstudy, not of what it was given"),
    ],
)
def test_the_class_alone_says_whether_it_is_a_bug(
    error: Exception, code: int, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def load(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("simstudy.readers.load.load", load)
    result = CliRunner().invoke(app, ["compare", "a.csv", "--metric", "mean"], prog_name="simstudy")
    assert (result.exit_code, result.stderr.startswith(f"simstudy: {message}")) == (code, True), result.stderr


def raised(path: Path) -> list[str]:
    """The names of what a module raises by calling it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    return [call.func.id for call in calls if isinstance(call.func, ast.Name)]


def test_no_module_raises_a_bare_value_error() -> None:
    rooms = [path for path in PACKAGE.rglob("*.py") if not {"loaders", "experiments"} & set(path.parts)]
    assert len(rooms) > 200
    bare = {path.name for path in rooms if {"ValueError", "FileNotFoundError"} & set(raised(path))}
    assert bare == set()


def test_the_check_finds_a_bare_value_error(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("def check(x):\n    if x:\n        raise ValueError('x must be y') from None\n")
    assert raised(planted) == ["ValueError"]
