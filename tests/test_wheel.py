"""The wheel holds all that the command needs, the shipped studies among it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_command_works_from_a_wheel_in_any_folder(tmp_path: Path) -> None:
    def run(*line: str | Path, cwd: Path = tmp_path) -> str:
        result = subprocess.run([str(part) for part in line], cwd=cwd, capture_output=True, text=True, timeout=900)
        assert result.returncode == 0, result.stderr
        return result.stdout

    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("simstudy-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "simstudy/experiments/quickstart/study.toml" in names
    assert "simstudy/experiments/times.csv" in names
    assert "simstudy/experiments/chinchor_1992/study.py" in names
    assert "simstudy/files/datasets.toml" in names
    assert "simstudy/planning/benchmarks.csv" in names
    assert "simstudy/py.typed" in names
    assert {"simstudy/CITATION.cff", "simstudy/papers/references.bib"} <= {*names}
    for name in ("assets/page.js", "assets/plot.umd.min.js", "assets/LICENSE.d3.txt", "templates/page.html.jinja"):
        assert f"simstudy/pages/{name}" in names
    run(sys.executable, "-m", "venv", tmp_path / "clean")
    python = tmp_path / "clean" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = python.with_name("simstudy")
    assert "pos_tagging" in run(command, "list", cwd=elsewhere)
    out = run(command, "run", "quickstart", cwd=elsewhere)
    assert "results/quickstart/index.html" in out
    assert (elsewhere / "results" / "quickstart" / "manifest.json").exists()
    # A study that is a program, its cells in worker processes; the second run finds them.
    for _ in range(2):
        run(command, "run", "chinchor_1992", "--jobs", "2", cwd=elsewhere)
    shipped = ROOT / "results" / "chinchor_1992" / "decisions.csv"
    assert (elsewhere / "results" / "chinchor_1992" / "decisions.csv").read_bytes() == shipped.read_bytes()
