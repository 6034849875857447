"""The command around its subcommands: its streams, version, help, and what it sets before numpy is loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli import command
from simstudy.cli.command import app
from tests.cli.command import as_json, write_wide


def test_the_version_and_the_help() -> None:
    asked = CliRunner().invoke(app, ["--version"])
    assert (asked.exit_code, asked.stdout) == (0, f"simstudy {version('simstudy')}\n")
    assert version("simstudy") == ss.__version__
    for words in ([], ["data"]):
        result = CliRunner().invoke(app, words)
        assert (result.exit_code, result.stderr) == (2, "")
        assert "list" in result.stdout
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert all(f" {name} " in shown for name in ("list", "run", "compare", "plan", "verify", "data", "--traceback"))


def leaves(command: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with its names."""
    for name, one in getattr(command, "commands", {}).items():
        yield from leaves(one, (*names, name))
    if not hasattr(command, "commands"):
        yield names, command


COMMANDS = dict(leaves(typer.main.get_command(app)))


@pytest.mark.parametrize("names", COMMANDS, ids=" ".join)
def test_every_command_refuses_options_that_are_given_twice_or_empty(names: tuple[str, ...]) -> None:
    options = [one for one in COMMANDS[names].params if one.param_type_name == "option" and one.name != "help"]
    for one in (one for one in options if not one.multiple and not one.is_flag):
        found = CliRunner().invoke(app, [*names, *2 * [one.opts[0], *one.nargs * ["1"]]])
        assert (found.exit_code, f"'{one.opts[0]}': it is given twice" in found.stderr) == (2, True), one.opts
        found = CliRunner().invoke(app, [*names, one.opts[0], *one.nargs * [""]])
        assert (found.exit_code, f"'{one.opts[0]}': it must not be empty" in found.stderr) == (2, True), one.opts


@pytest.mark.parametrize(
    ("flags", "before", "after"),
    [
        ("fpu avx512bw avx512vl", None, "SkylakeX"),
        ("fpu avx512bw avx512vl", "Haswell", "Haswell"),
        ("fpu avx512bw", None, None),
        ("fpu avx512vl", None, None),
        (None, None, None),
    ],
)
def test_kernels_and_streams_are_chosen_before_the_command_runs(
    monkeypatch: pytest.MonkeyPatch, flags: str | None, before: str | None, after: str | None
) -> None:
    """OpenBLAS is told of a processor that it may not know; what a terminal's encoding lacks is written out."""

    def read_text(path: Path, **_: str) -> str:
        assert str(path) == "/proc/cpuinfo"
        if flags is None:
            raise FileNotFoundError
        return flags

    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_THREAD_TIMEOUT"):
        monkeypatch.delenv(name, raising=False)
    if before:
        monkeypatch.setenv("OPENBLAS_CORETYPE", before)
    streams = {name: TextIOWrapper(BytesIO(), "ascii") for name in ("stdout", "stderr")}
    found: list[str | None] = []

    def app() -> None:
        found.extend(os.environ.get(f"OPENBLAS_{name}") for name in ("CORETYPE", "THREAD_TIMEOUT"))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", read_text)
        patch.setattr(command, "app", app)
        for name, stream in streams.items():
            patch.setattr(sys, name, stream)
        command.main()
    assert found == [after, "14"]
    for stream in streams.values():
        print("naïve", file=stream, flush=True)
        assert stream.buffer.getvalue() == b"na\\xefve\n"  # type: ignore[attr-defined]


def test_a_plan_of_many_systems_says_which_pairs_it_takes(tmp_path: Path) -> None:
    """All together without a column; those of a column with one; and what is known of a benchmark of this name."""
    rng = np.random.default_rng(5)
    for folder in ("swebench_verified", "mine"):
        (tmp_path / folder).mkdir()
        rights = {f"s{k}": (rng.random(40) < 0.3 + k / 8).astype(int).tolist() for k in range(5)}
        write_wide(f"{folder}/right.csv", rights)
    pd.DataFrame({"system": [f"s{k}" for k in range(5)], "group": list("xxyyy")}).to_csv("systems.csv", index=False)
    together = "all pairs are analysed together; --systems with a column, and --by, separate pairs within a family"
    known = "The shipped study leaderboards has this benchmark: results/leaderboards."
    options = ["--metric", "accuracy", "--gain", "20", "--simulate", "0", "--draws", "0"]

    def notes(path: str, *more: str) -> list[str]:
        said = as_json(path, *options, *more, command="plan")["notes"]
        return [note for note in said if note in (together, known)]

    assert notes("swebench_verified/right.csv") == [known, together]
    assert notes("mine/right.csv", "--systems", "systems.csv") == []
    write_wide("pair.csv", {"a": [1] * 20 + [0] * 20, "b": [1] * 30 + [0] * 10})
    assert notes("pair.csv") == []
