"""Workers, parents and whole groups that are killed at random moments: nobody hangs, nothing is lost, nothing stays."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from simstudy.running.cell_files import damaged, encode
from simstudy.running.parallel import run_cells, sweep
from tests.attacks.kinds_of_cells import KINDS, cells, make

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

MARK = "SIMSTUDY_KILLED"

# Seconds after which a run hangs, and those that processes may take to go.
LIMIT, GRACE = 90.0, 5.0


def processes(mark: str) -> dict[int, str]:
    """Process -> command line, of those that were started with this mark in their environment, and live."""
    found = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and f"{MARK}={mark}\0".encode() in (folder / "environ").read_bytes() + b"\0":
                found[int(folder.name)] = (folder / "cmdline").read_text()
    return found


def until(holds: Callable[[], bool], seconds: float, pause: float = 0.005) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def start(place: Path, n_jobs: int, mark: str, kinds: Sequence[str] = KINDS) -> subprocess.Popen[str]:
    (place / "tmp").mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.attacks.kinds_of_cells", str(place / "cells"), str(n_jobs), *kinds],
        env={**os.environ, MARK: mark, "TMPDIR": str(place / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    printed, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, printed
    # A worker that is killed as it begins may leave a word of loky's.
    return printed.splitlines()[-1]


def kept(place: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (place / "cells").glob("[!.]*.npz")}


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def nothing_lives(mark: str) -> bool:
    return until(lambda: not processes(mark), GRACE, 0.05)


def killed(how: str, chance: random.Random, process: subprocess.Popen[str], mark: str) -> bool:
    """Kill one worker, the parent, or all at once; whether there was anything to kill."""
    if how == "worker":
        while process.poll() is None:
            if workers := [pid for pid, line in processes(mark).items() if "popen_loky_posix" in line]:
                kill(chance.choice(workers))
                return True
        return False
    if process.poll() is not None:
        return False
    # With the group: those that have groups of their own too, as the end of a container does it.
    others = processes(mark) if how == "group" else {}
    for pid in (process.pid, *others):
        kill(pid)
    return True


def test_a_worker_then_all_are_killed_and_cells_end_with_the_same_bytes(tmp_path: Path) -> None:
    kinds, mark = ("array", "table", "sleep"), f"{os.getpid()}-both"
    process = start(tmp_path, 2, mark, kinds)
    assert until(lambda: bool(kept(tmp_path)), LIMIT)
    assert killed("worker", random.Random(1), process, mark)
    n = len(kept(tmp_path))
    assert until(lambda: len(kept(tmp_path)) > n + 1, LIMIT), "the other worker goes on"
    assert killed("group", random.Random(1), process, mark)
    process.communicate(timeout=LIMIT)
    assert nothing_lives(mark)
    assert damaged(tmp_path / "cells") == []
    before, work = kept(tmp_path), cells(kinds)
    assert 3 <= len(before) < len(work)
    found = run_cells(make, work, cache=tmp_path / "cells")
    whole = run_cells(make, work, cache=tmp_path / "whole" / "cells")
    assert encode("all", "all", found) == encode("all", "all", whole)
    assert before.items() <= kept(tmp_path).items() == kept(tmp_path / "whole").items()
    sweep(tmp_path / "cells")
    assert list((tmp_path / "cells").glob(".*")) == []
    assert not list((tmp_path / "tmp").iterdir())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, bytes], float]:
    """What a run prints and keeps that nobody kills, and its seconds."""
    place, began = tmp_path_factory.mktemp("whole"), time.monotonic()
    printed = ended(start(place, 2, "whole"))
    return printed, kept(place), time.monotonic() - began


@pytest.mark.slow
@pytest.mark.parametrize(("how", "times"), [("worker", 200), ("parent", 30), ("group", 30)])
def test_killed_at_any_moment_cells_end_with_the_same_bytes(
    tmp_path: Path, undisturbed: tuple[str, dict[str, bytes], float], how: str, times: int
) -> None:
    printed, whole, takes = undisturbed
    assert len(whole) == 12
    before, hit = {path.name for path in Path("/dev/shm").iterdir()}, 0
    for trial in range(3 * times):
        if hit == times:
            break
        chance = random.Random(f"{how} {trial}")
        mark, place = f"{os.getpid()}-{how}-{trial}", tmp_path / str(trial)
        process = start(place, chance.choice((2, 2, 4)), mark)
        time.sleep(chance.uniform(0.1, 0.8) * takes)
        hit += killed(how, chance, process, mark)
        if how != "worker":
            process.communicate(timeout=LIMIT)
            assert nothing_lives(mark), f"{how} {trial}: {processes(mark)}"
            assert damaged(place / "cells") == []
            process = start(place, 2, mark)
        assert ended(process) == printed, f"{how} {trial}"
        assert kept(place) == whole, f"{how} {trial}"
        assert nothing_lives(mark), f"{how} {trial}: {processes(mark)}"
        assert not list((place / "tmp").iterdir()), f"{how} {trial}"
        # What was at work when it was killed is never read; a study removes it when it next runs.
        sweep(place / "cells")
        assert {path.name for path in (place / "cells").iterdir()} == set(whole), f"{how} {trial}"
    named = [name for name in {path.name for path in Path("/dev/shm").iterdir()} - before if name.startswith("sem.")]
    assert not named
    assert hit == times, "most runs were over before they could be killed"
