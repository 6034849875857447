"""Pairs that are written while they are made: the table of all pairs, within a given memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet
from scipy import stats
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.comparisons import fitting, streaming
from simstudy.comparisons.comparing import table_of
from simstudy.comparisons.streaming import write_pairs
from simstudy.metrics import get_metric
from simstudy.readers import load as door


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (7, {}),
        (1000, {}),
        (1, {"n_jobs": 3}),
        (7, {"against": ["b", "e"]}),
        (1, {"against": "neighbours"}),
        (7, {"test": "bootstrap", "monte_carlo": True}),
        (7, {"test": "t_paired"}),
    ],
)
def test_the_file_has_the_table(
    outputs: ss.Outputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, options: dict[str, Any]
) -> None:
    """Whatever the blocks are: rows, order, types and bits, and the corrected p-values of all."""
    monkeypatch.setattr(streaming, "block_size", lambda *_: size)
    options = options | ({"n_resamples": 200} if "monte_carlo" in options else {})
    expected = ss.compare(outputs, **options).corrected()
    n, significant = write_pairs(outputs, tmp_path / "pairs.parquet", **options)
    found = ss.Comparisons(pd.read_parquet(tmp_path / "pairs.parquet"), outputs.systems)
    pd.testing.assert_frame_equal(found.frame, expected.frame, check_exact=True)
    assert (n, significant) == (len(expected), len(expected.significant(corrected="holm")))
    assert parquet.ParquetFile(tmp_path / "pairs.parquet").num_row_groups == -(-n // size)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.parquet"]


def test_a_pair_whose_test_prefers_the_worse_system_is_not_counted(tmp_path: Path) -> None:
    """Three large wins and twenty small losses: the first has the better score, the sign test prefers the other."""
    scores = pd.DataFrame({"first": [0.9] * 3 + [0.1] * 20, "other": [0.1] * 3 + [0.15] * 20})
    counts = write_pairs(ss.Outputs.from_scores(scores), tmp_path / "pairs.parquet", test="sign")
    assert counts == (1, 0)
    assert pd.read_parquet(tmp_path / "pairs.parquet")[["better", "p_value"]].to_numpy().tolist() == [
        ["other", pytest.approx(stats.binomtest(3, 23).pvalue)]
    ]


@pytest.mark.parametrize(
    ("options", "alpha"), [({"test": "bootstrap", "strata": "domain", "n_resamples": 200}, 0.05), ({}, 0.8)]
)
def test_the_file_is_of_the_strata_and_the_level_that_were_asked(
    outputs: ss.Outputs, tmp_path: Path, options: dict[str, Any], alpha: float
) -> None:
    scores = pd.DataFrame(outputs.statistics[:, :, 0].T, columns=outputs.names)
    halves = pd.DataFrame(
        {"id": scores.index.astype(str), "domain": np.where(scores.mean(axis=1) > 0.5, "easy", "hard")}
    )
    of_two = ss.Outputs.from_scores(scores, "mean", items=halves)
    expected = ss.compare(of_two, **options).corrected()
    _, significant = write_pairs(of_two, tmp_path / "pairs.parquet", alpha=alpha, **options)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "pairs.parquet"), expected.frame, check_exact=True)
    assert significant == len(expected.significant(alpha, corrected="holm"))
    # Each of the two makes a difference here.
    other = ss.compare(of_two, **(options | {"strata": None})).corrected()
    assert other["p_value"].tolist() != expected["p_value"].tolist() or not options
    assert alpha == 0.05 or significant > len(expected.significant(corrected="holm"))


@pytest.mark.parametrize(("part", "n_jobs"), [("benjamini_hochberg", 1), ("table_of", 1), ("table_of", 2)])
def test_a_run_that_fails_leaves_nothing(
    outputs: ss.Outputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str, n_jobs: int
) -> None:
    """The first block is made, and what follows it fails."""
    monkeypatch.setattr(streaming, "block_size", lambda *_: 4)
    (tmp_path / "pairs.parquet").write_text("earlier")
    calls = iter(range(100))

    def failing(*given: Any) -> pd.DataFrame:
        if part == "table_of" and not next(calls):
            return table_of(*given)
        raise ZeroDivisionError

    monkeypatch.setattr(streaming, part, failing)
    with pytest.raises(ZeroDivisionError):
        write_pairs(outputs, tmp_path / "pairs.parquet", n_jobs=n_jobs)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("pairs.parquet", "earlier")]


def test_what_the_process_has_taken_is_part_of_its_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 GiB for the whole process, of which nearly all is gone already, is no room for a block."""
    outputs = ss.truth.correlated_accuracies([0.5, 0.6, 0.7], 40)
    monkeypatch.setattr(fitting, "available", lambda: float("inf"))
    monkeypatch.setattr(fitting, "taken", lambda: 0)
    assert write_pairs(outputs, tmp_path / "pairs.parquet", memory="1GiB")[0] == 3
    monkeypatch.setattr(fitting, "taken", lambda: 2**30 - 1)
    with pytest.raises(ValueError, match=r"memory must be at least 1.\d GiB for 3 pairs .*, not 1GiB"):
        write_pairs(outputs, tmp_path / "pairs.parquet", memory="1GiB")


def test_too_little_memory_is_said(outputs: ss.Outputs, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"memory must be at least \d[0-9.]* [MG]iB for 15 pairs.*, not 1M"):
        write_pairs(outputs, tmp_path / "pairs.parquet", memory="1M")
    with pytest.raises(ValueError, match="memory must be a size such as 500M or 4G"):
        write_pairs(outputs, tmp_path / "pairs.parquet", memory="much")


def _table(path: Path, kind: str) -> str:
    """A wide table of this kind, and the metric that it is for."""
    rng, n = np.random.default_rng(2), 90
    columns: dict[str, object] = {"item": np.arange(n), "doc": np.arange(n) // 3}
    for k, name in enumerate("abcd"):
        if kind == "bleu":
            total = rng.integers(4, 30, n)[:, None] - np.arange(4)
            correct = rng.binomial(total, 0.4 + 0.05 * k)
            columns |= {f"{name}:correct_{o + 1}": correct[:, o] for o in range(4)}
            columns |= {f"{name}:total_{o + 1}": total[:, o] for o in range(4)} | {f"{name}:hyp_length": total[:, 0]}
            columns["ref_length"] = np.full(n, 16)
        else:
            chance = rng.random(n)
            columns[name] = chance if kind == "mean" else (chance < 0.5 + 0.1 * k).astype(np.int64)
    pd.DataFrame(columns).to_parquet(path)
    return kind


@pytest.mark.parametrize(("kind", "bytes_each"), [("accuracy", 1), ("bleu", 4), ("mean", 8)])
@pytest.mark.parametrize("unit", ["item", "cluster"])
def test_narrow_tables_have_the_same_pairs(tmp_path: Path, kind: str, bytes_each: int, unit: str) -> None:
    """Scores in the fewest bytes: rows, types and bits of the pairs are those of scores as they are read otherwise."""
    metric = _table(tmp_path / "scores.parquet", kind)
    wide, narrow = (ss.load(tmp_path / "scores.parquet", metric, narrow=narrow) for narrow in (False, True))
    assert (wide.outputs.statistics.itemsize, narrow.outputs.statistics.itemsize) == (8, bytes_each)
    assert wide.notes == narrow.notes
    write_pairs(narrow.outputs, tmp_path / "pairs.parquet", unit=unit)
    found, expected = pd.read_parquet(tmp_path / "pairs.parquet"), ss.compare(wide.outputs, unit=unit).corrected()
    pd.testing.assert_frame_equal(found, expected.frame, check_exact=True)


def test_a_table_that_would_not_fit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says it in one line; fewer pairs fit where all do not."""
    systems = 3000
    scores = np.random.default_rng(0).integers(0, 2, (2, systems))
    pd.DataFrame(scores, columns=[f"s{k}" for k in range(systems)]).assign(item=[1, 2]).to_parquet(
        tmp_path / "s.parquet"
    )
    fits = fitting.taken() + 2**28
    metric = get_metric("accuracy")
    fitting.check_tables([tmp_path / "s.parquet"], metric, memory=fits, against="s1")
    with pytest.raises(
        ValueError, match=r"memory must be at least \d[0-9.]* [MG]iB for 4,498,500 pairs of 3,000 systems"
    ):
        fitting.check_tables([tmp_path / "s.parquet"], metric, memory=fits)
    monkeypatch.setattr(door, "outputs_of", lambda *given, **options: 1 / 0)
    arguments = ["compare", str(tmp_path / "s.parquet"), "--metric", "accuracy", "--out", str(tmp_path / "p.parquet")]
    run = CliRunner().invoke(app, [*arguments, "--memory", str(fits)])
    assert run.exit_code == 2
    assert "compare fewer systems at a time" in " ".join(run.stderr.split())


_PROGRAM = """
import sys
from simstudy.cli import main
sys.argv[0] = "simstudy"
try:
    main()
finally:
    # What this process took at most; getrusage counts what the one took that began it.
    (peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    print(int(peak) * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is told in other units elsewhere")
@pytest.mark.parametrize(("systems", "items", "memory"), [(1000, 60, 450), (20, 1_000_000, 900)])
def test_memory_is_kept(tmp_path: Path, systems: int, items: int, memory: int) -> None:
    """Many pairs, or many answers, that are read, compared and written: of the memory libraries take 250 MiB."""
    rng, path, scores = np.random.default_rng(1), tmp_path / "pairs.parquet", tmp_path / "scores.parquet"
    right = {f"s{k}": (rng.random(items) < 0.3 + 0.5 * k / systems).astype(np.int64) for k in range(systems)}
    pd.DataFrame({"item": np.arange(items)} | right).to_parquet(scores)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM, "compare", str(scores), "--metric", "accuracy", "--out",
         str(path), "--memory", f"{memory}MiB", "--jobs", "1"],
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    assert int(run.stdout.split()[-1]) <= memory * 2**20
    table = pd.read_parquet(path, columns=["gain", "p_holm"])
    assert len(table) == systems * (systems - 1) // 2
    assert np.isfinite(table["p_holm"]).all()
