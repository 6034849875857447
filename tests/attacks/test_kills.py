"""Killed at any moment, with its workers or without: what is done is kept, nothing is torn unsaid, nobody stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss
from simstudy.running.cell_files import damaged
from simstudy.running.folders import verify
from tests.attacks.studies import KINDS, data, toy

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def start(kind: str, out: Path) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "tests.attacks.studies", kind, str(out), str(data(out.parent / "data"))]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)


def descendants(pid: int) -> list[int]:
    """Child processes; a worker has none of its own."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == pid and state != "Z":
            found.append(int(path.parent.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def written(folder: Path) -> dict[str, bytes]:
    """All that a study writes but its manifest, which knows the wall time."""
    paths = [*folder.glob("*.csv"), *folder.glob("figures/*"), folder / "README.md", folder / "comparisons.csv.gz"]
    return {path.name: path.read_bytes() for path in paths if path.exists()}


def dies_at(moment: int) -> None:
    """Let this process be killed at its so-manieth act on files: before it, or where it has written a half."""
    acts: Any = (os, "replace"), (os, "rmdir"), (Path, "unlink"), (Path, "write_bytes"), (Path, "write_text")
    left = [moment]

    def made_deadly(act: Callable[..., Any], writes: bool) -> Callable[..., Any]:
        def deadly(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                if writes:
                    act(arguments[0], arguments[1][: len(arguments[1]) // 2], **named)
                os.kill(os.getpid(), signal.SIGKILL)
            return act(*arguments, **named)

        return deadly

    for owner, name in acts:
        setattr(owner, name, made_deadly(getattr(owner, name), "write" in name))


def killed_at(moment: int, study: Path, out: Path, seed: int) -> bool:
    """Run a study in a copy of this process that dies at this moment; whether it came so far."""
    with warnings.catch_warnings():
        # Of threads that the copy has not.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            dies_at(moment)
            ss.run_study(study, out=out, seed=seed, n_jobs=1)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_killed_at_each_act_on_files_a_folder_is_whole_or_marked_and_goes_on(tmp_path: Path) -> None:
    """A run over the results of another seed, again and again, killed one act later each time."""
    study, out = toy(tmp_path / "toy", 0, 0.001), tmp_path / "out"
    whole = {}
    for seed in (0, 1):
        ss.run_study(study, out=tmp_path / str(seed), seed=seed, n_jobs=1)
        whole[seed] = written(tmp_path / str(seed))
    assert whole[0] != whole[1]
    ss.run_study(study, out=out, seed=0, n_jobs=1)
    said = set()
    for moment in range(1, 100):
        seed = moment % 2
        for path in out.glob("cells/*"):
            path.unlink()
        if not killed_at(moment, study, out, seed):
            break
        assert damaged(out / "cells") == []
        if is_torn := not (out / "manifest.json").exists():
            with pytest.raises(ValueError, match="a run was stopped while it wrote here: run it again"):
                verify(out)
        else:
            assert verify(out) == []
            assert written(out) in whole.values(), moment
        said.add(is_torn)
        ss.run_study(study, out=out, seed=seed, n_jobs=1)
        assert verify(out) == [], moment
        assert written(out) == whole[seed], moment
        assert list(out.rglob(".*")) == [], moment
    assert 15 < moment < 99
    assert said == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_again_and_again_a_study_ends_with_the_same_bytes(tmp_path: Path, kind: str) -> None:
    moments = 20
    rng = np.random.default_rng(moments)
    begun = time.monotonic()
    process = start(kind, tmp_path / "whole")
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors.decode()
    whole = time.monotonic() - begun
    assert verify(tmp_path / "whole") == []
    out, kept, killed = tmp_path / "out", 0, 0
    for _ in range(moments):
        process = start(kind, out)
        time.sleep(rng.uniform(0.2, 1) * whole)
        if process.poll() is not None:
            # Done before it could be killed.
            assert process.communicate()[1] is not None
            continue
        workers = descendants(process.pid)
        for worker in workers[: rng.integers(len(workers) + 1)]:
            os.kill(worker, signal.SIGKILL)
            killed += 1
        if rng.random() < 0.3:
            # Death of workers alone: the study lives on, and tries again.
            time.sleep(0.5)
        workers = descendants(process.pid)
        process.kill()
        process.communicate(timeout=60)
        until(lambda workers=workers: not any(map(alive, workers)))  # type: ignore[misc]
        assert len(list(out.glob("cells/*.npz"))) >= kept, "something finished was lost"
        kept = len(list(out.glob("cells/*.npz")))
        if (out / "manifest.json").exists():
            assert verify(out) == []
    process = start(kind, out)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors.decode()
    assert verify(out) == []
    assert written(out) == written(tmp_path / "whole")
    assert list(out.rglob(".*")) == []


# Takes the terminal that it is given for its own, as a shell's commands have one; tests under nohup ignore SIGHUP.
WITH_TERMINAL = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


# A subcommand that takes its time, with nothing imported that it does not need.
WAITS = """
import sys, time
import simstudy.files.datasets as datasets
def fetch_all(*_):
    print("fetching", flush=True)
    time.sleep(100)
datasets.fetch_all = fetch_all
from simstudy.cli import main
main()
"""


def test_asked_to_end_it_leaves_its_folder_and_what_has_finished(tmp_path: Path) -> None:
    """SIGTERM as Ctrl-C: workers gone, no marker, one line."""
    out = tmp_path / "out"
    study = toy(tmp_path / "slow", 0, 100)
    line = [sys.executable, "-m", "simstudy", "run", str(study), "--out", str(out), "--jobs", "2"]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until(lambda: process.poll() is not None or bool(list(out.glob("cells/*.npz"))))
    workers = descendants(process.pid)
    assert workers
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert said.splitlines()[-1].startswith("simstudy: stopped; what has finished is kept")
    assert "Traceback" not in said
    until(lambda: not any(map(alive, workers)))
    assert len(list(out.glob("cells/*.npz"))) == 1
    assert [path.name for path in out.glob(".*")] == []


def test_where_its_terminal_is_closed_it_ends_in_order_though_nobody_reads_what_it_says() -> None:
    terminal, other = os.openpty()
    line = [sys.executable, "-c", WITH_TERMINAL, sys.executable, "-c", WAITS, "data", "fetch", "x"]
    process = subprocess.Popen(line, stdin=other, stdout=other, stderr=other, start_new_session=True)
    os.close(other)
    assert os.read(terminal, 100).startswith(b"fetching")
    os.close(terminal)
    assert process.wait(timeout=60) == 129
