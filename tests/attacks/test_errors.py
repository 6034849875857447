"""How the command fails: one line that is true, an exit code, and no bug that is called bad input."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.cli.stopping import Stopped
from simstudy.files.whole import atomic_path

FILES = ["old.txt", "new.txt", "--metric", "mean"]


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments), prog_name="simstudy")
    return result.exit_code, result.stdout, result.stderr


def one_line(err: str) -> str:
    assert err.startswith("simstudy: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err.removeprefix("simstudy: ").strip()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.fixture
def raising(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Make reading files do something else."""

    def make(act: Callable[[], Any]) -> None:
        monkeypatch.setattr("simstudy.readers.load.load", lambda *_, **__: act())

    return make


def throw(error: BaseException) -> Any:
    raise error


# How it is called.

_USAGE = {
    "no such option": (["--nonsense"], "no such option: --nonsense"),
    "no such option of a command": (["compare", "a", "--metirc", "mean"], "no such option: --metirc"),
    "no such command": (["nonsense"], "no such command 'nonsense'"),
    "no such command of data": (["data", "nonsense"], "no such command 'nonsense'"),
    "no argument": (["compare", "--metric", "mean"], "missing argument 'PATH...'"),
    "no option": (["plan"], "missing option '--metric'"),
    "no value": (["compare", "a", "--metric"], "--metric"),
    "no number": (["compare", *FILES, "--resamples", "x"], "invalid value for '--resamples'"),
    "the value": (["compare", *FILES, "--resamples", "x1"], "'x1'"),
    "a number with a comma": (["compare", *FILES, "--alpha", "0,05"], "invalid value for '--alpha'"),
    "too many arguments": (["list", "x"], "unexpected extra argument"),
    "twice": (["compare", *FILES, "--alpha", "0.1", "--alpha", "0.2"], "'--alpha': it is given twice"),
    "a flag twice": (["compare", *FILES, "--json", "--json"], "'--json': it is given twice"),
    "empty": (["compare", *FILES, "--out", ""], "'--out': it must not be empty"),
    "an empty path": (["compare", "", "--metric", "mean"], "it must not be empty"),
    "an empty one of several": (["compare", *FILES, "--references", ""], "'--references': it must not be empty"),
    "escape sequences": (["compare", "a", "--\x1b[31m"], "no such option"),
}


@pytest.mark.parametrize(("arguments", "message"), _USAGE.values(), ids=_USAGE)
def test_usage_errors_are_one_line(arguments: list[str], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    said = one_line(err)
    assert message in said
    assert re.search(r"\(see simstudy( compare| plan| data| list)? --help\)$", said)
    assert "\x1b" not in said


def test_several_references_are_no_repetition() -> None:
    _, _, err = run("compare", *FILES, "--references", "a", "--references", "b")
    assert one_line(err) == "no such file: old.txt"


# Bugs.

_BUGS: dict[str, Callable[[], Any]] = {
    "of ours": lambda: throw(KeyError("nope")),
    "a ValueError of numpy": lambda: np.zeros((2, 3)) @ np.zeros((2, 3)),
    "a ValueError of pandas": lambda: pd.DataFrame({"a": [1]}).set_axis(["a", "b"], axis=1),
    "a ValueError of Python": lambda: int("x"),
    "a ValueError that is no InputError": lambda: throw(ValueError("x must be y")),
    "an OSError of no file": lambda: throw(OSError("a library's")),
    "an assertion": lambda: throw(AssertionError()),
    "a recursion": lambda: throw(RecursionError("too deep")),
    "names": lambda: throw(RuntimeError("\x1b[31m\n\n")),
}


@pytest.mark.parametrize("act", _BUGS.values(), ids=_BUGS)
def test_bugs_are_called_so_and_their_traceback_is_kept(
    act: Callable[[], Any], raising: Callable[[Callable[[], Any]], None]
) -> None:
    raising(act)
    code, out, err = run("compare", *FILES)
    assert (code, out) == (70, "")
    said = one_line(err)
    assert said.startswith("this is a bug of simstudy, not of what it was given (")
    (kept,) = Path().glob("simstudy-traceback-*.txt")
    assert str(kept.resolve()) in said
    assert "Traceback (most recent call last)" in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_flag_shows_the_traceback_and_keeps_none(raising: Callable[[Callable[[], Any]], None]) -> None:
    raising(lambda: throw(KeyError("\x1b[31m")))
    code, _, err = run("--traceback", "compare", *FILES)
    assert code == 70
    assert "Traceback (most recent call last)" in err
    assert "\x1b" not in err
    assert not list(Path().glob("simstudy-traceback-*"))


def test_a_bug_is_told_where_no_traceback_can_be_kept(
    raising: Callable[[Callable[[], Any]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: throw(OSError(errno.ENOSPC, "No space left on device")))
    raising(lambda: throw(KeyError("x")))
    code, _, err = run("compare", *FILES)
    assert code == 70
    assert "no file, for none can be written (No space left on device)" in one_line(err)


# The disk, memory, and stopping.


def test_messages_of_the_disk_name_the_path(raising: Callable[[Callable[[], Any]], None]) -> None:
    for number, path in (
        (errno.ENOSPC, "a/b.csv"),
        (errno.EACCES, "c"),
        (errno.EROFS, "d"),
        (errno.ENAMETOOLONG, "e" * 300),
    ):
        raising(partial(throw, OSError(number, os.strerror(number), path)))
        code, out, err = run("compare", *FILES)
        assert (code, out) == (2, "")
        assert one_line(err) == f"{path}: {os.strerror(number).lower()}"


def test_what_cannot_be_written_is_named_by_its_own_name(tmp_path: Path) -> None:
    """A write that fails for want of room names no file, and a temporary file's name says nothing."""
    target = tmp_path / "table.csv"
    for named in (None, "temporary"):
        with pytest.raises(OSError, match="No space left") as found, atomic_path(target) as temporary:
            raise OSError(errno.ENOSPC, "No space left on device", named and str(temporary))
        assert found.value.filename == str(target)
    with pytest.raises(FileNotFoundError) as other, atomic_path(target):
        (tmp_path / "other").read_text()
    assert other.value.filename == str(tmp_path / "other")


def test_standard_output_is_named_where_it_is_full(raising: Callable[[Callable[[], Any]], None]) -> None:
    class Full(StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    raising(lambda: Console(file=Full()).print("a result"))
    code, _, err = run("compare", *FILES)
    assert code == 2
    assert one_line(err) == "standard output: no space left on device"


def test_a_reader_who_has_seen_enough_is_no_failure_and_a_closed_output_is(
    raising: Callable[[Callable[[], Any]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `| head`; and as what a program of the user's may do."""
    raising(lambda: throw(BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))))
    assert run("compare", *FILES) == (0, "", "")
    raising(lambda: throw(ValueError("I/O operation on closed file.")))
    monkeypatch.setattr("simstudy.cli.errors.is_closed", lambda stream: stream is sys.stdout)
    code, _, err = run("compare", *FILES)
    assert (code, one_line(err)) == (2, "standard output: it was closed before anything was printed")


def test_a_name_that_is_too_long_is_one_line() -> None:
    code, _, err = run("compare", "x" * 5_000, "b.txt", "--metric", "mean")
    assert code == 2
    assert "too long" in one_line(err)
    assert len(err) < 1100


def test_want_of_memory_is_no_bug_and_no_traceback(raising: Callable[[Callable[[], Any]], None]) -> None:
    raising(lambda: np.zeros((1 << 60,), dtype=np.int8))
    code, _, err = run("compare", *FILES)
    assert code == 2
    assert one_line(err).startswith("out of memory (Unable to allocate 1.00 EiB")


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(), 130), (Stopped(15), 143), (Stopped(1), 129)])
def test_a_comparison_that_is_stopped_does_not_say_that_something_is_kept(
    stop: BaseException, code: int, raising: Callable[[Callable[[], Any]], None]
) -> None:
    raising(lambda: throw(stop))
    found, _, err = run("compare", *FILES)
    assert found == code
    assert one_line(err) == "stopped; a comparison keeps nothing of what is not finished: the same command begins again"


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(), 130), (Stopped(15), 143), (Stopped(1), 129)])
def test_a_study_that_is_stopped_says_how_it_goes_on(
    stop: BaseException, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simstudy.studies.run_study", lambda *_, **__: throw(stop))
    found, _, err = run("run", "quickstart")
    assert found == code
    assert one_line(err) == "stopped; what has finished is kept, and the same command goes on from there"
