"""The calls of cells as bytes: what comes back, what is kept, and the file of their large arrays."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simstudy.running.calls import Calls, OtherProgram, sweep
from simstudy.running.cells import Cell, decoded, kept
from simstudy.running.provenance import differences, program_of

# Arrays of so many bytes are written to the file.
LARGE = 2**16


def halved(array: np.ndarray[Any, Any], k: int) -> dict[str, Any]:
    if k < 0:
        raise ValueError(f"k is {k}")
    return {"sum": float(array.sum()) / 2 + k, "shared": not array.flags.writeable}


def called(calls: Calls, key: str, *arguments: Any, sent_back: bool = True) -> tuple[str, float, bytes]:
    call = calls.call(key, Cell(f"label of {key}", {}, arguments), sent_back=sent_back, program={})
    trace, taken, content = pickle.loads(call)
    return trace, taken, content


def test_a_result_is_sent_back_or_kept_and_an_error_is_told(tmp_path: Path) -> None:
    with Calls(halved, tmp_path) as calls:
        trace, taken, content = called(calls, "a", np.arange(4), 1)
        assert (trace, decoded("a", content)) == ("", {"sum": 4.0, "shared": False})
        assert b'"label": "label of a"' in content
        assert 0 < taken < 10
        assert not list(tmp_path.iterdir())
        trace, taken, content = called(calls, "b", np.arange(4), 2, sent_back=False)
        assert (trace, content) == ("", b"")
        assert 0 < taken < 10
        assert kept(tmp_path, "b")["sum"] == 5
        trace, taken, content = called(calls, "c", np.arange(4), -1)
        assert trace.endswith("ValueError: k is -1\n")
        assert (taken, content) == (0, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["b.cell"]


def test_a_result_is_kept_in_the_folder_that_was_meant_when_the_call_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    call = Calls(halved, Path("here")).call("b", Cell("b", {}, (np.arange(4), 2)), sent_back=False, program={})
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert pickle.loads(call)[0] == ""
    assert kept(tmp_path / "here", "b")["sum"] == 5


def test_a_worker_of_another_program_makes_no_call(tmp_path: Path) -> None:
    call = Calls(halved, tmp_path).call("a", Cell("a", {}, (1, 2)), sent_back=True, program={"python": "2.7"})
    with pytest.raises(OtherProgram, match=r"python is 3\.\d+, not 2.7"):
        pickle.loads(call)


def test_large_arrays_are_written_once_and_apart_and_go_with_the_block(tmp_path: Path) -> None:
    """The smallest that is large, one whose pickle is not, and one that two cells share; no two lie on one another."""
    small, large, other = (np.full(n, k, dtype=np.uint8) for k, n in enumerate([LARGE - 1000, LARGE, LARGE + 1], 1))
    with Calls(halved, tmp_path) as calls:
        assert decoded("a", called(calls, "a", small, 0)[2]) == {"sum": small.sum() / 2, "shared": False}
        assert not list(tmp_path.iterdir())
        for key, array in {"b": large, "c": other, "d": large}.items():
            assert decoded(key, called(calls, key, array, 0)[2]) == {"sum": int(array.sum()) / 2, "shared": True}
        (file,) = tmp_path.iterdir()
        assert file.name.startswith(f".arrays-{socket.gethostname()}-{os.getpid()}-")
        assert file.stat().st_size == 2 * LARGE + 1
    assert not list(tmp_path.iterdir())


def joined(words: list[str], k: int) -> str:
    words.append(f"{k}")
    return " ".join(words[-2:])


def test_a_large_argument_without_arrays_is_pickled_and_written_once_and_each_call_has_its_own(tmp_path: Path) -> None:
    words = [f"word{k}" for k in range(10_000)]
    with Calls(joined, tmp_path) as calls:
        assert [decoded(f"{k}", called(calls, f"{k}", words, k)[2]) for k in range(3)] == [
            f"word9999 {k}" for k in range(3)
        ]
        (file,) = tmp_path.iterdir()
        assert 70_000 < file.stat().st_size < 140_000


def test_what_a_second_cell_needs_is_sent_and_what_one_needs_goes_with_its_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: dict[str, bytes] = {}
    monkeypatch.setattr("simstudy.running.calls.sent_file", lambda name: tmp_path / name)
    # A call names the programs that this process has loaded: those of tests before this one would make it long.
    monkeypatch.setattr("simstudy.running.calls.LOADED", {})

    def send(name: str, content: bytes) -> None:
        sent[name] = content
        (tmp_path / name).write_bytes(content)

    shared, own = np.full(LARGE, 1, np.uint8), np.full(2 * LARGE, 3, np.uint8)
    with Calls(halved, tmp_path, send) as calls:
        first = calls.call("a", Cell("a", {}, (shared, 0)), sent_back=True, program={})
        alone = calls.call("b", Cell("b", {}, (own, 0)), sent_back=True, program={})
        assert not sent
        assert len(first) > LARGE
        assert len(alone) > 2 * LARGE
        again = [calls.call(k, Cell(k, {}, (shared, 0)), sent_back=True, program={}) for k in ("c", "d")]
    assert [*sent.values()] == [bytes(shared)]
    assert all(len(call) < LARGE / 10 for call in again)
    found = {key: decoded(key, pickle.loads(call)[2]) for key, call in zip("abcd", (first, alone, *again), strict=True)}
    assert {key: value["sum"] for key, value in found.items()} == {
        "a": LARGE / 2, "b": 3 * LARGE, "c": LARGE / 2, "d": LARGE / 2,
    }  # fmt: skip


def test_an_array_at_the_address_of_one_that_is_gone_is_another(tmp_path: Path) -> None:
    """Cells may make their arrays one after the other: each call's own is read."""
    with Calls(halved, tmp_path) as calls:
        found = [decoded(f"{k}", called(calls, f"{k}", np.full(LARGE, k, np.uint8), 0)[2])["sum"] for k in range(9)]
    assert found == [k * LARGE / 2 for k in range(9)]


@pytest.mark.skipif(os.name != "posix", reason="asks for processes by number")
def test_only_arrays_of_dead_processes_of_this_machine_are_swept(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        pass
    prefix = f".arrays-{socket.gethostname()}-"
    dead, *others = (
        f"{prefix}{process.pid}-x", f"{prefix}{os.getpid()}-x", f"{prefix}what-x", f".arrays-elsewhere-{process.pid}-x",
        f"arrays-{process.pid}-x",
    )  # fmt: skip
    for name in (dead, *others):
        (tmp_path / name).touch()
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(others)


def test_differences_name_what_is_other_or_missing_and_nothing_that_came_with_the_call() -> None:
    here = program_of(differences)
    assert differences(tuple(here.items())) == ""
    other = {
        **here, "definitions": "1" * 64, "mine": "2" * 64, "<study>": "3" * 64, "numpy": "0.1", "no-such-library": "2",
        "simstudy.running.provenance": "4" * 64, "simstudy.running.none": "5" * 64, "python": "2.7",
    }  # fmt: skip
    said = differences(tuple(other.items())).split(", ")
    assert sorted(each.partition(" is ")[0] for each in said) == [
        "no-such-library", "not 0.1", "not 2", "not 2.7", f"not {'5' * 64}", "numpy", "python",
        "simstudy.running.none", "simstudy.running.provenance",
    ]  # fmt: skip
    assert "simstudy.running.provenance is another" in said
    assert f"numpy is {np.__version__}" in said
    assert "no-such-library is missing" in said
    assert "simstudy.running.none is missing" in said
