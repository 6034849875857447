"""The page on gates: its commands say what it shows, and its workflow runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from simstudy.cli.command import app
from tests.documentation import ROOT, blocks, examples_in, shown

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
PAGE = ROOT / "docs" / "gates.md"


@pytest.fixture(autouse=True)
def _examples(_here: None, tmp_path: Path) -> None:
    examples_in(tmp_path)


def test_commands_say_what_the_page_shows() -> None:
    """On standard error, one after the other, so that looks are kept."""
    n_shown = 0
    for block in blocks(PAGE, "text"):
        for command, lines in shown(block):
            result = CliRunner().invoke(app, shlex.split(command)[1:])
            code = f"exit code {result.exit_code}"
            assert [*result.stderr.splitlines(), *([code] if result.exit_code else [])] == lines, command
            n_shown += 1
    assert n_shown == 7


def power_of(n: int, discordant: float, loss: float, alpha: float) -> float:
    """The probability that McNemar's exact test finds a loss (fractions of n items), two-sided, summed over counts."""
    differ = np.arange(n + 1)
    # The most items won by one that has lost significantly, by counts of those that differ.
    most = stats.binom.ppf(alpha / 2, differ, 0.5)
    most -= 2 * stats.binom.cdf(most, differ, 0.5) > alpha
    lost = stats.binom.cdf(most, differ, (1 - loss / discordant) / 2)
    return float(stats.binom.pmf(differ, n, discordant) @ lost)


def test_losses_that_a_gate_finds_are_those_of_the_exact_test() -> None:
    text = (ROOT / "docs" / "gates.md").read_text("utf-8")
    rows = re.findall(r"^\| ([\d,]+) \| (\d+) % \| ([\d.]+) points \| ([\d.]+) points \|$", text, flags=re.M)
    assert len(rows) == 4
    for items, discordant, *losses in rows:
        for loss, alpha in zip(map(float, losses), (0.0005, 0.05), strict=True):
            n, share = int(items.replace(",", "")), int(discordant) / 100
            found = [power_of(n, share, (loss + more) / 100, alpha) for more in (-0.05, 0.05)]
            assert found[0] < 0.8 < found[1], (items, discordant, alpha)


@pytest.fixture
def steps() -> list[dict[str, Any]]:
    (block,) = blocks(PAGE, "yaml")
    workflow = yaml.safe_load(block)
    # YAML 1.1 takes the word "on" for true.
    assert workflow[True] == {"push": {"branches": ["main"]}}
    found: list[dict[str, Any]] = workflow["jobs"]["gate"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in found)
    return found


def run(steps: list[dict[str, Any]], folder: Path) -> int:
    """The exit code of the commands of all steps, as the runner of GitHub starts them; what installs does nothing."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for name, line in (("python", "exit 0"), ("simstudy", f'exec {shlex.quote(sys.executable)} -m simstudy "$@"')):
        (programs / name).write_text(f"#!/bin/sh\n{line}\n")
        (programs / name).chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }  # fmt: skip
    for step in steps:
        if "run" in step:
            done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=environment, capture_output=True)
            if done.returncode:
                return done.returncode
    return 0


def test_the_workflow_runs_and_stops_a_worse_version(steps: list[dict[str, Any]], tmp_path: Path) -> None:
    assert run(steps, tmp_path) == 0
    assert {"looks.json", "gate.xml", "summary.md"} <= {path.name for path in tmp_path.iterdir()}
    new = (tmp_path / "new.txt").read_text().splitlines()
    # A version that has unlearned the sevens.
    (tmp_path / "new.txt").write_text("\n".join("1" if line == "7" else line for line in new) + "\n")
    assert run(steps, tmp_path) == 1
    assert "failed" in (tmp_path / "summary.md").read_text()
    kept = [step["with"]["path"] for step in steps if "cache" in step.get("uses", "")]
    assert kept == ["looks.json", "looks.json"]


def test_what_is_kept_after_a_gate_that_fails_is_kept_always(steps: list[dict[str, Any]]) -> None:
    gate = next(k for k, step in enumerate(steps) if step.get("name") == "Gate")
    assert [step.get("if") for step in steps[gate + 1 :]] == ["always()", "always()"]
