"""Every option of `simstudy run` arrives; `--list` tells of each cell, and `simstudy verify` of each file."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.cli.terminal import print_cells
from simstudy.running.folders import results_folder
from simstudy.running.keys import RULE
from simstudy.studies import Results, load_study, shipped_studies

GIVEN = ["--out", "there", "--seed", "7", "--data-dir", "data", "--allow-outside"]
ARRIVES: dict[str, Any] = {"out": Path("there"), "seed": 7, "data_dir": Path("data"), "allow_outside": True}
USUAL: dict[str, Any] = {"out": None, "seed": None, "data_dir": None, "allow_outside": False}

CELLS = pd.DataFrame(
    {
        "part": ["training"] * 4 + ["comparing"] * 2,
        "cell": ["one", "two", "three", "[red]four"] + ["five", "six"],
        "state": ["done", "failed", "missing", "done", "done", "done"],
        "bytes": pd.array([1_200_000, None, None, 34_000, 5, 6], dtype="Int64"),
    }
)


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, dict[str, Any]]]:
    """What `run_study` or `study_cells` is called with."""
    found: list[tuple[str, str, dict[str, Any]]] = []

    def run_study(study: str, **options: Any) -> Results:
        found.append(("run", study, options))
        summary = {"In short": pd.DataFrame({"gain": ["1.5"]})}
        return Results(Path("where it is"), {}, pd.DataFrame(), summary)

    def study_cells(study: str, **options: Any) -> pd.DataFrame:
        found.append(("list", study, options))
        return CELLS

    monkeypatch.setattr("simstudy.studies.run_study", run_study)
    monkeypatch.setattr(import_module("simstudy.studies.run"), "study_cells", study_cells)
    return found


@pytest.mark.parametrize(
    ("given", "arrives"),
    [([], {"out": None, "seed": None}), (["--out", "there", "--seed", "7"], {"out": Path("there"), "seed": 7})],
)
def test_every_option_of_page_arrives(monkeypatch: pytest.MonkeyPatch, given: list[str], arrives: Any) -> None:
    called: list[Any] = []

    def rewrite_page(study: str, **options: Any) -> tuple[Path, dict[str, Any]]:
        called.append((study, options))
        return Path("there"), {}

    monkeypatch.setattr(import_module("simstudy.studies.written"), "rewrite_page", rewrite_page)
    code, out, _ = run("page", "mine", *given)
    assert (code, called) == (0, [("mine", arrives)])
    assert out.endswith("Figures and report: there/index.html\n")


@pytest.mark.parametrize(
    ("given", "n_jobs", "arrives"),
    [([], -1, USUAL), ([*GIVEN, "--jobs", "3"], 3, ARRIVES), (["--jobs", "1"], 1, USUAL)],
)
def test_every_option_of_run_arrives(asked: list[Any], given: list[str], n_jobs: int, arrives: Any) -> None:
    code, out, _ = run("run", "mine", *given)
    ((called, study, options),) = asked
    assert (code, called, study, options) == (0, "run", "mine", {**arrives, "n_jobs": n_jobs, "executor": None})
    assert "In short\n" in out
    assert "1.5" in out
    assert out.endswith("\nFigures and report: where it is/index.html\n")


def test_every_option_of_a_list_arrives(asked: list[Any]) -> None:
    for given in ([], GIVEN):
        code, out, _ = run("run", "mine", "--list", *given)
        assert code == 0
        assert " ".join(out.split()).endswith(RULE)
    assert asked == [("list", "mine", USUAL), ("list", "mine", ARRIVES)]
    parameters = set(inspect.signature(import_module("simstudy.cli.run").run).parameters)
    assert parameters == {"study", "jobs", "cluster", "shard", "listed", "verbose", "every", "from_nothing", *USUAL}


def test_a_list_says_of_each_part_and_cell_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_cells(CELLS)
    first, training, comparing, last, _, _, head, *rows = [
        line.rstrip() for line in capsys.readouterr().out.splitlines()
    ]
    assert first == "4 of 6 known cells (pieces of work) are done; 1 missing, 1 failed."
    assert training == "training: 2 done, 1 missing, 1 failed; 1.2 MB so far"
    assert comparing == "comparing: 2 done; 0.0 MB so far"
    assert head.split() == ["part", "cell", "state", "bytes"]
    assert [row.split() for row in rows] == [
        ["training", "one", "done", "1,200,000"],
        ["training", "two", "failed"],
        ["training", "three", "missing"],
        ["training", "[red]four", "done", "34,000"],
        ["comparing", "five", "done", "5"],
        ["comparing", "six", "done", "6"],
    ]
    assert last == "Parts that need these cells are not listed yet."
    for state, told in (("done", False), ("failed", True), ("missing", True)):
        print_cells(CELLS.assign(state=["done"] * 5 + [state]))
        assert ("not listed yet" in capsys.readouterr().out) == told


def test_of_many_cells_the_failed_ones_come_first(capsys: pytest.CaptureFixture[str]) -> None:
    state = ["done"] * 60
    state[20], state[40] = "missing", "failed"
    cells = pd.DataFrame({"part": "training", "cell": [f"cell-{k}" for k in range(60)], "state": state})
    print_cells(cells.assign(bytes=pd.array([1] * 60, dtype="Int64")))
    rows = [line.split()[1] for line in capsys.readouterr().out.splitlines() if "cell-" in line]
    assert rows[:3] == ["cell-40", "cell-20", "cell-0"]


def test_studies_are_listed_with_their_kind_and_title() -> None:
    _, out, _ = run("list")
    known = list(shipped_studies())
    first, _, _, head, *rows = [line.split() for line in out.splitlines()]
    assert first[:2] == [str(len(known)), "studies"]
    assert head == ["study", "kind", "title"]
    assert [row[0] for row in rows] == known
    for name, kind, *title in rows:
        study = load_study(name)
        assert kind == study.kind
        assert study.title.startswith(title[0])


def test_verify_prints_each_problem_and_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with results_folder(tmp_path / "out", "study x") as results:
        for name in ("a.csv", "b.csv"):
            (results.gathered / name).write_text("1")
        results.publish({})
    monkeypatch.chdir(tmp_path)
    assert run("verify", "out") == (0, "out: all files match the manifest\n", "")
    (tmp_path / "out" / "a.csv").unlink()
    (tmp_path / "out" / "b.csv").write_text("2")
    assert run("verify", "out") == (1, "out: 2 problems\na.csv is missing\nb.csv has been changed\n", "")
    code, out, err = run("verify", "none")
    assert (code, out, err) == (2, "", "simstudy: no such folder: none\n")


@pytest.mark.parametrize("typed", ["3", "0/2", "3/2", "a/b", "1/2/3", "²/3"])
def test_what_is_no_shard_is_refused(asked: list[Any], typed: str) -> None:
    code, _, err = run("run", "mine", "--shard", typed)
    assert (code, asked) == (2, [])
    assert err == f"simstudy: --shard must be K/N, such as 3/20 for the third of twenty shares, not '{typed}'\n"


def test_a_shard_and_a_cluster_arrive(asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    cells = []

    def run_shard(study: str, shard: tuple[int, int], **options: Any) -> pd.DataFrame:
        cells.append((study, shard, options))
        return CELLS

    @contextmanager
    def cluster(address: str) -> Iterator[str]:
        yield f"workers at {address}"

    monkeypatch.setattr(import_module("simstudy.studies.run"), "run_shard", run_shard)
    monkeypatch.setattr("simstudy.running.parallel.cluster", cluster)
    code, out, _ = run("run", "mine", *GIVEN, "--shard", "3/20", "--cluster", "tcp://there:1", "--jobs", "2")
    assert (code, asked) == (0, [])
    assert cells == [("mine", (3, 20), {**ARRIVES, "n_jobs": 2, "executor": "workers at tcp://there:1"})]
    assert out.startswith("Shard 3/20 has ended. 2 of all 6 known cells are missing.\n")
    code, _, _ = run("run", "mine", "--cluster", "local:2")
    assert asked[0][2]["executor"] == "workers at local:2"


@pytest.mark.parametrize(("failed", "code"), [({}, 0), ({"first": 3}, 1)])
def test_all_that_is_ready_runs_and_what_failed_is_said(
    monkeypatch: pytest.MonkeyPatch, failed: dict[str, int], code: int
) -> None:
    every, calls = import_module("simstudy.studies.every"), []
    studies = pd.DataFrame(
        {
            "study": ["first", "absent", "last"], "state": ["ready", "cannot be made: no data", "ready"],
            "cells_done": [0] * 3, "cells_known": [1200] * 3, "wall_seconds": [60.0, 7.0, 30.0],
            "memory_mb": [2.0] * 3, "disk_mb": [3.0] * 3,
        }
    )  # fmt: skip

    def needs(*given: object) -> pd.DataFrame:
        calls.append(given)
        return studies

    def run_every(names: list[str], *given: object) -> list[Any]:
        calls.append((names, *given))
        return [every.Taken(name, 40, 70, 2, 3, False, failed.get(name, 0)) for name in names]

    monkeypatch.setattr(every, "needs", needs)
    monkeypatch.setattr(every, "run_every", run_every)
    monkeypatch.setattr(every, "begin_anew", lambda *given: calls.append(given))
    found, out, _ = run("run", "--all", "--from-nothing", "--out", "there", "--data-dir", "data", "--jobs", "3")
    assert found == code
    assert calls == [
        (Path("there"),), (Path("there"), Path("data")),
        (["first", "last"], Path("there"), ["--jobs", "3", "--data-dir", "data"]),
    ]  # fmt: skip
    assert "2 of 3 studies are to be made, in some 1 min 30 s." in out
    assert ("first: 40 s; it failed with exit code 3" in out, "Not made: first." in out) == (bool(failed),) * 2
    del calls[:]
    assert run("run", "--all", "--out", "there", "--list")[0] == 0
    assert calls == [(Path("there"), None)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "run needs the name of a study, or --all"),
        (["quickstart", "--all"], "run needs the name of a study, or --all"),
        (["--all", "--seed", "0"], "--seed must not be given with --all"),
        (["quickstart", "--from-nothing"], "--from-nothing needs --all without --list"),
        (["--all", "--list", "--from-nothing"], "--from-nothing needs --all without --list"),
    ],
)
def test_options_that_exclude_each_other_are_refused(given: list[str], said: str) -> None:
    code, _, err = run("run", *given)
    assert code == 2
    assert said in err
