"""Files that are damaged, and disks that are full: the same bytes in the end, or one line that says what is wrong."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.outputs import Outputs
from simstudy.running.folders import verify
from tests.attacks.studies import KINDS, data, study, toy
from tests.attacks.test_kills import written

COMMAND = [sys.executable, "-m", "simstudy"]


@pytest.mark.parametrize("kind", ["toy", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS)])
def test_flipped_bytes_and_torn_files_change_nothing(tmp_path: Path, kind: str) -> None:
    """One bit of each kept result, or its end, or all of it: made again, never read; and no bit of a table changes."""
    rng = np.random.default_rng(1)
    out = tmp_path / "out"
    asked: Any = toy(tmp_path / "toy", *(np.arange(8) / 1e6).tolist()) if kind == "toy" else study(kind)
    ss.run_study(asked, out=out, n_jobs=1, data_dir=data(tmp_path / "data"))
    first = written(out)
    cells = sorted(out.glob("cells/*.npz"))
    before = {path: path.read_bytes() for path in cells}
    for k, path in enumerate(cells):
        content = bytearray(before[path])
        if k % 4 == 1:
            del content[rng.integers(len(content)) :]
        elif k % 4 == 2:
            content = bytearray(before[cells[k - 1]])
        else:
            content[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(content))
    assert len(verify(out)) == len(cells)
    ss.run_study(asked, out=out, n_jobs=1, data_dir=tmp_path / "data")
    assert written(out) == first
    assert {path: path.read_bytes() for path in sorted(out.glob("cells/*.npz"))} == before


def test_every_flipped_byte_of_outputs_is_refused_or_harmless(tmp_path: Path, tagged: Outputs) -> None:
    """Outputs that were saved: a sample of their bytes, one bit at a time; never other numbers, never a crash."""
    path = tmp_path / "outputs.parquet"
    tagged.save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(2)
    for place in rng.choice(len(content), size=150, replace=False):
        changed = bytearray(content)
        changed[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(changed))
        try:
            found = Outputs.load(path)
        except ValueError:
            continue
        np.testing.assert_array_equal(found.statistics, tagged.statistics)
        pd.testing.assert_frame_equal(found.systems, tagged.systems)
        pd.testing.assert_frame_equal(found.items, tagged.items)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    rng = np.random.default_rng(3)
    pd.DataFrame(rng.integers(0, 2, (200, 6)), columns=list("abcdef")).to_csv(path, index_label="item")
    return path


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
@pytest.mark.parametrize(("room", "file"), [(5_000, "figures"), (40_000, "index.html")])
def test_a_disk_without_room_is_told_in_one_line(scores: Path, tmp_path: Path, room: int, file: str) -> None:
    out = tmp_path / "out"
    line = ["compare", str(scores), "--metric", "accuracy"]
    # What numba compiles is kept from here on, and does not have to be written below.
    assert CliRunner().invoke(app, line).exit_code == 0
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        result = CliRunner().invoke(app, [*line, "--out", str(out)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        plt.close("all")
    assert result.exit_code == 2, result.stderr
    (said,) = result.stderr.splitlines()
    assert said.startswith(f"simstudy: {out}/")
    assert file in said
    assert said.endswith(": file too large")
    assert not out.exists()


@pytest.mark.slow
def test_a_disk_without_room_for_what_numba_compiles_is_told(
    scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "compiled"))
    line = [*COMMAND, "compare", str(scores), "--metric", "accuracy", "--test", "bootstrap"]
    result = subprocess.run(line, preexec_fn=limited, capture_output=True, text=True, timeout=120)
    assert result.returncode == 2
    assert result.stderr == f"simstudy: numba's cache in {tmp_path / 'compiled'}: file too large\n"


@contextmanager
def mounted(disk: Path, options: str) -> Iterator[Path]:
    """A file system in memory."""
    disk.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("may not mount a file system")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for 300 kB."""
    with mounted(tmp_path / "disk", "size=300k") as disk:
        yield disk


STUDY = """
import pandas as pd
import simstudy as ss
from simstudy.studies import Cell, Findings, Study
from tests.oracles import compared
class Settings(Study): ...
def run(study, context):
    found = context.run("cells", double, [Cell(f"{n}", (n,)) for n in range(1)])
    pairs = compared(ss.truth.correlated_accuracies([0.7, 0.8], n_items=50))
    return Findings(tables={"doubled": pd.DataFrame({"doubled": found})}, comparisons=pairs)
def double(n):
    return 2 * n
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["run", "compare"])
def test_wherever_a_disk_is_full_the_path_is_told_and_no_empty_folder_stays(
    kind: str, scores: Path, tmp_path: Path
) -> None:
    """Disks with room for one page more each time, and for one file more, until all has room; from 100 on in steps."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\n')
    (tmp_path / "mine" / "study.py").write_text(STUDY)
    asked = {
        "run": ["run", str(tmp_path / "mine"), "--jobs", "1"],
        "compare": ["compare", str(scores), "--metric", "mean"],
    }
    for options in ("size={}k", "size=10m,nr_inodes={}"):
        for room in (*range(1, 100), *range(100, 1000, 20)):
            with mounted(tmp_path / "disk", options.format(4 * room if options.endswith("k") else room)) as disk:
                out = disk / "above" / "out"
                result = CliRunner().invoke(app, [*asked[kind], "--out", str(out)])
                plt.close("all")
                if result.exit_code == 0:
                    assert verify(out) == []
                    break
                said = [line for line in result.stderr.splitlines() if line.startswith("simstudy: ")]
                assert len(said) == 1, result.stderr
                assert str(out) in said[0]
                assert "no space left on device" in said[0].lower()
                assert [path for path in disk.rglob("*") if path.is_dir() and not any(path.iterdir())] == []
                assert not out.exists() or [path for path in out.iterdir() if not path.name.startswith(".")]
        assert room > 5
        assert result.exit_code == 0


@pytest.mark.slow
def test_a_study_on_a_full_disk_stops_in_one_line_and_goes_on_when_there_is_room(
    small_disk: Path, tmp_path: Path
) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "study.toml").write_text(
        'title = "T"\nquestion = "Q?"\ntask = "digits"\n[training]\nfractions = [0.2]\nreplicates = [3]\n'
        '[comparison]\nn_resamples = 2000\n[home]\ntest_set = "test"\nsizes = [100]\n'
    )
    line = [*COMMAND, "run", str(tmp_path / "small"), "--jobs", "2", "--out"]
    result = subprocess.run([*line, str(small_disk / "out")], capture_output=True, text=True, timeout=300)
    assert result.returncode in (1, 2)
    assert "Traceback" not in result.stderr
    assert "no space left on device" in result.stderr.splitlines()[-1].lower()
    assert str(small_disk / "out") in result.stderr.splitlines()[-1]
    assert not (small_disk / "out" / "manifest.json").exists()
    subprocess.run(["mount", "-o", "remount,size=100m", str(small_disk)], check=True)
    result = subprocess.run([*line, str(small_disk / "out")], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    # As far from the study as the other one: its page names the way.
    other = tmp_path / "other" / "out"
    subprocess.run([*line, str(other)], check=True, capture_output=True, timeout=300)
    assert verify(small_disk / "out") == []
    assert written(small_disk / "out") == written(other)
