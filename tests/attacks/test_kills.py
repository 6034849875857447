"""Killed at any moment, with its workers or without: what is done is kept, nothing is torn unsaid, nobody stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from simstudy.running.results_folder import verify
from tests.attacks.studies import KINDS, data

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


def written(folder: Path) -> dict[str, bytes]:
    """All that a study writes but its manifest, which knows the wall time."""
    paths = [*folder.glob("*.csv"), *folder.glob("figures/*"), folder / "README.md", folder / "comparisons.parquet"]
    return {path.name: path.read_bytes() for path in paths if path.exists()}


@pytest.mark.parametrize(
    ("kind", "moments"),
    [("resampling", 1), *(pytest.param(kind, 20, marks=pytest.mark.slow) for kind in KINDS)],
)
def test_killed_again_and_again_a_study_ends_with_the_same_bytes(tmp_path: Path, kind: str, moments: int) -> None:
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
        deadline = time.monotonic() + 20
        while any(map(alive, workers)):
            assert time.monotonic() < deadline, "a worker outlives the study"
            time.sleep(0.01)
        assert len(list(out.glob("cells/*.cell"))) >= kept, "something finished was lost"
        kept = len(list(out.glob("cells/*.cell")))
        if (out / "manifest.json").exists():
            assert verify(out) == []
    process = start(kind, out)
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors.decode()
    assert verify(out) == []
    assert written(out) == written(tmp_path / "whole")
    assert not [path for path in out.rglob(".*") if path.name != ".simstudy.lock"]


SLOW = """
import time
import pandas as pd
from simstudy.studies import Cell, Findings, Study
class Settings(Study): ...
def run(study, context):
    context.run("cells", wait, [Cell(f"{n}", {"n": n}, (n,)) for n in (0, 100, 200)])
def wait(n):
    time.sleep(n)
    return n
"""

# Takes the terminal that it is given for its own, as a shell's commands have one; tests under nohup ignore SIGHUP.
WITH_TERMINAL = (
    "import fcntl, os, signal, sys, termios; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    "fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


@pytest.mark.parametrize("how", ["terminated", "its terminal closed"])
def test_asked_to_end_it_leaves_its_folder_and_goes_on_later(tmp_path: Path, how: str) -> None:
    """SIGTERM and SIGHUP as Ctrl-C: workers gone, no marker, what has finished kept; one line, where anybody reads."""
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\n')
    (tmp_path / "slow" / "study.py").write_text(SLOW)
    out = tmp_path / "out"
    line = [sys.executable, "-m", "simstudy", "run", str(tmp_path / "slow"), "--out", str(out), "--jobs", "1"]
    terminal, other = os.openpty()
    errors = subprocess.PIPE if how == "terminated" else other
    line = [sys.executable, "-c", WITH_TERMINAL, *line]
    process = subprocess.Popen(line, stdin=other, stdout=other, stderr=errors, text=True, start_new_session=True)
    os.close(other)
    deadline = time.monotonic() + 120
    while not list(out.glob("cells/*.cell")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers = descendants(process.pid)
    assert workers
    if how == "terminated":
        process.terminate()
    else:
        os.close(terminal)
    _, said = process.communicate(timeout=180)
    if how == "terminated":
        os.close(terminal)
        assert said.splitlines()[-1].startswith("simstudy: stopped; what has finished is kept")
        assert "Traceback" not in said
    assert process.returncode == (143 if how == "terminated" else 129)
    assert not any(map(alive, workers))
    assert list(out.glob("cells/*.cell"))
    assert not (out / ".simstudy.running").exists()
