"""Shards of a study: together they are the whole, and they keep out of each other's way."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from simstudy.studies import run_study
from simstudy.studies.run import run_shard

# Two parts, of which the second follows from the first.
_PROGRAM = """
import pandas as pd
from simstudy.studies import Cell, Findings, Study
class Settings(Study):
    pass
def run(study, context):
    first = context.run("first", doubled, [Cell(f"a {k}", (k,)) for k in range(12)])
    total = float(sum(table["x"].sum() for table in first))
    second = context.run("second", doubled, [Cell(f"b {k}", (k + total,)) for k in range(12)])
    return Findings(tables={"all": pd.concat([*first, *second], ignore_index=True)})
def doubled(x):
    return pd.DataFrame({"x": [2.0 * x]})
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "study.py").write_text(_PROGRAM)
    (folder / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\n')
    return folder


def test_shards_compute_what_a_run_finds(study: Path, tmp_path: Path) -> None:
    whole = run_study(study, out=tmp_path / "whole", n_jobs=1)
    out, missing = tmp_path / "shards", []
    for k in (1, 2, 3, 1, 2, 3):
        cells = run_shard(study, (k, 3), out=out, n_jobs=1)
        missing.append([int((rows["state"] != "done").sum()) for _, rows in cells.groupby("part")])
        assert not (out / "manifest.json").exists()
    # Only the last shard of the first round knows of the second part; in the second round all do.
    assert [len(each) for each in missing] == [1, 1, 2, 2, 2, 2]
    assert 12 > missing[0][0] > missing[1][0] > missing[2][0] == 0
    assert 12 > missing[2][1] > missing[3][1] > missing[4][1] == missing[5][1] == 0
    made = {path: path.stat().st_mtime_ns for path in (out / "cells").glob("*.npz")}
    assert len(made) == 24
    found = run_study(study, out=out, n_jobs=1)
    assert found.tables["all"].equals(whole.tables["all"])
    assert (out / "all.csv").read_bytes() == (tmp_path / "whole" / "all.csv").read_bytes()
    assert {path: path.stat().st_mtime_ns for path in made} == made, "nothing is computed again"


def test_nobody_works_where_another_one_does(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_shard(study, (1, 50), out=out, n_jobs=1)
    assert not list(out.glob(".simstudy.*"))
    with (
        FileLock(out / ".simstudy.shard-1-of-50.lock"),
        pytest.raises(ValueError, match=r"^shard 1/50 is at work already in "),
    ):
        run_shard(study, (1, 50), out=out, n_jobs=1)
    with (
        FileLock(out / ".simstudy.shard-2-of-50.lock"),
        pytest.raises(ValueError, match=r"^out: shard 2/50 is still at work in .*: wait for its end"),
    ):
        run_study(study, out=out, n_jobs=1)
    with FileLock(out / ".simstudy.lock"), pytest.raises(ValueError, match=r"^out: a run writes to "):
        run_shard(study, (1, 50), out=out, n_jobs=1)
    (out / "mine.txt").write_text("not ours")
    with pytest.raises(ValueError, match=r"holds mine.txt"):
        run_shard(study, (1, 50), out=out, n_jobs=1)


@pytest.mark.parametrize("shard", [(0, 2), (3, 2), (1, 0)])
def test_what_is_no_shard_is_refused(study: Path, shard: tuple[int, int], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^shard k/n: [kn] must be at least 1"):
        run_shard(study, shard, out=tmp_path / "out")
