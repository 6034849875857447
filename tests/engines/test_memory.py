"""What would not fit is said before it begins, with what it needs and what to do."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.engines import memory
from simstudy.examination import asking
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from tests.oracles import compared

PEAK = """
import re
from pathlib import Path
import numpy as np
import simstudy as ss
from simstudy.engines import memory
def peak():
    # Unlike getrusage's, which a process inherits from the one that starts it.
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
rng = np.random.default_rng(0)
shape = ({systems}, {items})
right = rng.random(shape) < np.linspace(0.4, 0.9, shape[0])[:, None]
guessed = [1 + (rng.random(shape) < 0.3)] if "{metric}" == "f1" else []
outputs = ss.Outputs.from_statistics(np.stack([right, *guessed, np.ones_like(right)], -1), "{metric}")
ss.compare(outputs.head(20).select(outputs.names[:3]))   # compiled loops are read in
before = peak()
pairs = ss.compare(outputs, test="{test}").frame
compared = peak()
pairs = ss.analyses.corrected(pairs.assign(relation="all pairs"))
for analysis in (ss.thresholds, ss.significant_gains, ss.curve):
    analysis(pairs)
print(before, compared, peak(), memory.needed(*outputs.statistics.shape, len(pairs)) / 1024)
"""


def peaks(systems: int, items: int, test: str = "sign_flips", metric: str = "accuracy") -> list[float]:
    """KiB: before, after `compare`, after the analyses; and what is said to be needed."""
    script = PEAK.format(systems=systems, items=items, test=test, metric=metric)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def test_what_would_not_fit_is_said_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    right = np.random.default_rng(0).random((40, 30)) < 0.5
    outputs = Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy")
    begun: list[int] = []
    monkeypatch.setattr(memory, "available", lambda: memory.needed(40, 30, 2, 780) - 1)
    with pytest.raises(ValueError, match=r"'bootstrap' of 780 pairs of 40 systems on 30 units needs about 0\.\d GiB"):
        compared(outputs, test="bootstrap", monte_carlo=True, n_resamples=100, progress=begun.append)
    assert not begun
    for enough in (memory.needed(40, 30, 2, 780), None):
        monkeypatch.setattr(memory, "available", lambda enough=enough: enough)
        assert len(compared(outputs)) == 780


@pytest.mark.parametrize("duplicates", ["keep", "drop"])
def test_an_examination_that_would_not_fit_begins_nothing(monkeypatch: pytest.MonkeyPatch, duplicates: str) -> None:
    """What is made of the pairs counts too: there is enough for the comparison alone."""
    right = np.random.default_rng(0).random((40, 30)) < 0.5
    outputs = Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy")
    begun: list[object] = []
    monkeypatch.setattr(memory, "available", lambda: memory.needed(40, 30, 2, 780))
    monkeypatch.setattr(asking, "compare", lambda *given, **options: begun.append(options))
    if duplicates == "keep":
        monkeypatch.setattr(asking, "distinct", lambda *given: begun.append(given))
    with pytest.raises(ValueError, match=r"'sign' of 780 pairs of 40 systems on 30 units needs about 0\.\d GiB"):
        asking.examine(Loaded(outputs), duplicates=duplicates, test="sign")
    assert not begun


def _group(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_the_narrowest_group_that_holds_the_process_counts(tmp_path: Path) -> None:
    """Its own, or one above: what of files is kept in memory is given back."""
    process = tmp_path / "cgroup"
    groups = tmp_path / "groups"
    _group(groups)
    _group(groups / "jobs", memory__max="1000\n", memory__current="300\n", memory__stat="inactive_file 50\nanon 9\n")
    _group(groups / "jobs" / "mine", memory__max="max\n", memory__current="200\n", memory__stat="active_file 7\n")
    _group(groups / "others", memory__max="10\n", memory__current="1\n", memory__stat="anon 1\n")
    for path, left in (("/jobs/mine", 750), ("/jobs", 750), ("/", None), ("/others/of/outside", 9)):
        process.write_text(f"0::{path}\n")
        assert memory._of_groups(process, groups) == left, path
    _group(groups / "jobs" / "less", memory__max="90\n", memory__current="95\n", memory__stat="active_file 7\n")
    process.write_text("0::/jobs/less\n")
    assert memory._of_groups(process, groups) == 2
    # Controllers of the first version are not asked.
    process.write_text("5:cpu,memory:/jobs/mine\n0::/\n")
    assert memory._of_groups(process, groups) is None
    assert memory._of_groups(tmp_path / "nothing", groups) is None


def test_what_is_available_is_no_more_than_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit of the process counts, less what it has taken."""
    taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (taken + 2**28, resource.RLIM_INFINITY))
    of_process, available = memory._of_process(), memory.available()
    assert of_process == pytest.approx(2**28, abs=2**26)
    assert available is not None
    assert 0 < available <= 2**28 + 2**26
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY,) * 2)
    assert memory._of_process() is None


@pytest.mark.slow
def test_analyses_take_little_more_than_the_comparison() -> None:
    """And the estimate is no less than what is taken, nor more than three times."""
    before, compared, all_of_it, said = peaks(1000, 1000)
    assert all_of_it < 1.5 * compared
    assert compared - before < said < 3 * (compared - before)


@pytest.mark.slow
def test_contributions_of_pairs_are_held_one_at_a_time() -> None:
    """Those of all 19,900 pairs together would be 300 MiB."""
    before, compared, _, said = peaks(200, 2000, metric="f1")
    assert compared - before < said < 300 * 1024


@pytest.mark.slow
def test_differences_of_units_are_looked_at_a_few_at_a_time() -> None:
    before, compared, _, _ = peaks(200, 50_000, "mcnemar")
    # The statistics are 20 million numbers: 160 MB in the engine's own type.
    assert compared - before < 1.5 * 2**20


COMMAND = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "simstudy", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def _of_command(scores: Path, *options: str) -> tuple[int, float, str]:
    """What `simstudy compare` ends with, the KiB of its peak, and what it says of errors."""
    command = [sys.executable, "-c", COMMAND, "compare", str(scores), "--metric", "accuracy", *options]
    # One thread, as the engine alone has.
    one = {"NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **one})
    code, peak = done.stdout.split()
    return int(code), float(peak), done.stderr


def _right_or_wrong(path: Path, systems: int, items: int) -> Path:
    right = np.random.default_rng(0).random((items, systems)) < np.linspace(0.4, 0.9, systems)
    table = pd.DataFrame(right.astype(int), columns=[f"system {k}" for k in range(systems)])
    table.rename_axis("item").to_csv(path)
    return path


@pytest.mark.slow
def test_the_command_takes_little_more_than_the_engine(tmp_path: Path) -> None:
    """A thousand systems on a thousand items, with a folder of results."""
    scores = _right_or_wrong(tmp_path / "scores.csv", 1000, 1000)
    code, peak, _ = _of_command(scores, "--out", str(tmp_path / "out"), "--jobs", "1")
    assert code == 0
    assert peak < 1.5 * peaks(1000, 1000)[1]


@pytest.mark.slow
def test_two_thousand_systems_take_less_than_two_gibibytes(tmp_path: Path) -> None:
    code, peak, _ = _of_command(_right_or_wrong(tmp_path / "scores.csv", 2000, 100), "--out", str(tmp_path / "out"))
    assert code == 0
    assert peak < 2 * 2**20


@pytest.mark.slow
def test_ten_thousand_systems_are_refused_in_one_line_before_work_begins(tmp_path: Path) -> None:
    """Nearly fifty million pairs: some 50 GiB, which few machines have; where it is there, a limit is set."""
    scores = _right_or_wrong(tmp_path / "scores.csv", 10_000, 20)
    if (there := memory.available()) is None or there > 2**35:
        pytest.skip("more memory than this takes")
    code, peak, said = _of_command(scores, "--out", str(tmp_path / "out"))
    assert (code, said.count("\n")) == (2, 1)
    assert "49,995,000 pairs of 10,000 systems" in said
    assert "select fewer systems" in said
    assert peak < 2**20
    assert not (tmp_path / "out").exists()
