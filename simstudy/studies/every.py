"""All shipped studies, one after the other: what they need, what they will take, and what they took.

Each is a process of its own, so that its memory is its own. A file in the folder of results says which have ended; a
run that was stopped goes on with the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.files.whole import atomic_path
from simstudy.running.folders import json_object, results_folder
from simstudy.running.program_files import shipped_folder, shipped_studies
from simstudy.running.progress import doing
from simstudy.studies.catalogue import load_study
from simstudy.studies.run import study_cells

#: The times of each study when all were made from nothing; a study in which that was stopped has none.
TIMES = "times.csv"

# Which studies have been begun, and which have ended with what they took; and what it says before any was.
_STATE = ".simstudy.all.json"
_NOTHING: dict[str, Any] = {"from_nothing": False, "begun": [], "ended": {}}

# Studies of data that are at hand come first; programs may be made of their results.
_ORDER = ("natural", "resampling", "simulation", "program")


@dataclass(frozen=True)
class Taken:
    """What one study took: a row of `TIMES`."""

    study: str
    wall_seconds: float
    cpu_seconds: float
    #: Of the largest process.
    memory_mb: float
    #: Of the folder of results, with its cells.
    disk_mb: float
    #: Whether it had been begun before, so that the times are of its last part alone.
    resumed: bool
    exit_code: int


def begin_anew(out: Path) -> None:
    """Remove the finished cells of all shipped studies, unless a run that began so was stopped and is to go on."""
    state = _state(out)
    if state["from_nothing"]:
        return
    for name in shipped_studies():
        with results_folder(out / name, f"study {name}") as results:
            for path in [*results.cells.glob("*.npz"), *results.cells.glob("*.error.txt")]:
                path.unlink()
    out.mkdir(parents=True, exist_ok=True)
    _write_state(out, {**_NOTHING, "from_nothing": True})


def needs(out: Path, data_dir: Path | None) -> pd.DataFrame:
    """What every shipped study needs, in the order in which they run.

    A row is a study: its state ("done" in a run of all that was stopped, "ready", or why it cannot be made), cells_done
    and cells_known (cells that follow from others are not known yet), and what it took when all were made from nothing:
    wall_seconds, memory_mb and disk_mb; NaN where that is not known. All data are read for it, which takes some
    minutes.
    """
    names = [name for kind in _ORDER for name in shipped_studies() if load_study(name).kind == kind]
    ended, took, rows = _state(out)["ended"], _times(out), []
    # The data are read in another process: what this one takes would count as the studies'.
    another = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    with doing("looking at data and cells", len(names)) as advance, another as elsewhere:
        for name in names:
            state: tuple[str, int, int] = ("done", 0, 0)
            if name not in ended:
                state = elsewhere.submit(_looked_at, name, out / name, data_dir).result()
            rows.append((name, *state))
            advance(1)
    columns = ["study", "state", "cells_done", "cells_known"]
    return pd.DataFrame(rows, columns=columns).join(took[["wall_seconds", "memory_mb", "disk_mb"]], on="study")


def _looked_at(name: str, folder: Path, data_dir: Path | None) -> tuple[str, int, int]:
    """The state of a study, and its cells that are done and that are known."""
    try:
        cells = study_cells(name, out=folder, data_dir=data_dir)
    except (ValueError, OSError, ImportError) as error:
        return f"cannot be made: {error}", 0, 0
    return "ready", int((cells["state"] == "done").sum()), len(cells)


def run_every(studies: Sequence[str], out: Path, options: Sequence[str] = ()) -> Iterator[Taken]:
    """Run studies that no earlier, stopped run of all has ended, and yield what each took; then write `TIMES`.

    `out` holds a folder of results for each, and `options` are those of ``simstudy run``. If a study fails, the others
    run.
    """
    out.mkdir(parents=True, exist_ok=True)
    state = _state(out)
    for name in studies:
        if name in state["ended"]:
            continue
        resumed = name in state["begun"]
        state["begun"].append(name)
        _write_state(out, state)
        taken = _run_one(name, out, options, resumed=resumed or not state["from_nothing"])
        if not taken.exit_code:
            state["ended"][name] = asdict(taken)
            _write_state(out, state)
        yield taken
    if set(shipped_studies()) <= state["ended"].keys():
        rows = pd.DataFrame([state["ended"][name] for name in shipped_studies()])
        if state["from_nothing"]:
            # Times of a part are not those of the whole.
            rows.loc[rows["resumed"], ["wall_seconds", "cpu_seconds", "memory_mb"]] = np.nan
            with atomic_path(out / TIMES) as temporary:
                rows.drop(columns=["resumed", "exit_code"]).to_csv(temporary, index=False, float_format="%.0f")
        (out / _STATE).unlink()


def _run_one(name: str, out: Path, options: Sequence[str], *, resumed: bool) -> Taken:
    begun = time.perf_counter()
    main = "from simstudy.cli.command import main; main()"
    command = [sys.executable, "-c", main, "run", name, "--out", str(out / name), *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        if hasattr(os, "wait4"):
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            # Kilobytes, but on a Mac bytes.
            cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        else:
            process.wait()
            cpu = memory = float("nan")
    disk = sum(path.stat().st_size for path in (out / name).rglob("*") if path.is_file()) / 1e6
    return Taken(name, time.perf_counter() - begun, cpu, memory, disk, resumed, process.returncode)


def _times(out: Path) -> pd.DataFrame:
    """What each study took, by name: as the last run of all wrote it there, or as it came with the package."""
    shipped = shipped_folder()
    # A wheel has them beside the studies, a checkout where the results are.
    for path in (out / TIMES, shipped / TIMES, shipped.parent / "results" / TIMES):
        if path.is_file():
            return pd.read_csv(path, index_col="study")
    return pd.DataFrame(columns=["wall_seconds", "memory_mb", "disk_mb"], dtype=float)


def _state(out: Path) -> dict[str, Any]:
    return deepcopy(_NOTHING) | (json_object(out / _STATE) or {})


def _write_state(out: Path, state: Mapping[str, Any]) -> None:
    with atomic_path(out / _STATE) as temporary:
        temporary.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
