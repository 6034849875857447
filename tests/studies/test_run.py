"""Studies end to end, small: the command, its files, kills and failures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.studies import Results, StudyError, load_study
from simstudy.studies.catalogue import asked_for
from simstudy.studies.run import study_cells
from simstudy.training import Task

# What is drawn is looked at in test_study.py, test_resampling.py and tests/plot.
pytestmark = pytest.mark.usefixtures("empty_figures")

SMALL = """
title = "A small study"
question = "Does it run?"
task = "digits"
seed = 7
[training]
fractions = [0.3, 0.1]
replicates = [4, 4]
[comparison]
n_resamples = 20_000
[home]
test_set = "test"
sizes = [100, 300]
[domains]
test_sets = ["noise 2/16", "rotated 10°"]
size = 150
curves = ["noise 2/16"]
[calibration]
population = ["test"]
size = 120
n_draws = 3
n_resamples = 2_000
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small" / "study.toml"
    path.parent.mkdir()
    path.write_text(SMALL)
    return path


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("done") / "small"
    folder.mkdir()
    (folder / "study.toml").write_text(SMALL)
    return ss.run_study(folder, out=folder / "out", n_jobs=2)


@pytest.mark.slow
@pytest.mark.parametrize("n_kept", [3, 33])
def test_killed_and_run_again_ends_with_the_same_bytes(done: Results, study: Path, tmp_path: Path, n_kept: int) -> None:
    """kill -9 of the whole process group, once while systems train and once while pairs are compared.

    Kills at any moment are among the attacks.
    """
    out = tmp_path / "out"
    line = [sys.executable, "-m", "simstudy", "run", str(study), "--out", str(out), "--jobs", "2"]
    process = subprocess.Popen(line, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(out.glob("cells/*.npz"))) < n_kept:
        assert process.poll() is None, "finished before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / "manifest.json").exists()
    result = CliRunner().invoke(app, ["run", str(study), "--out", str(out)])
    assert result.exit_code == 0, result.stderr
    assert f"Figures and report: {out}" in result.stdout
    assert tables(out) == tables(done.folder)


def test_out_must_be_a_folder_that_can_be_made(study: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match="out must be a folder, but"):
        ss.run_study(study, out=tmp_path / "file")


class Shaky(ClassifierMixin, BaseEstimator):
    """Naive Bayes that does not converge when its seed is even."""

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, features: np.ndarray, gold: np.ndarray) -> Shaky:
        assert self.random_state is not None
        if self.random_state % 2 == 0:
            raise RuntimeError("did not converge")
        self.model_ = GaussianNB(var_smoothing=0.1).fit(features, gold)
        return self

    def predict(self, features: np.ndarray) -> np.ndarray:
        return np.asarray(self.model_.predict(features))


def shaky(_: Path | None) -> Task:
    """Digits, of which one of two base systems does not always learn."""
    digits = ss.training.load_task("digits")
    train, test = digits.train, digits.test_sets["test"]
    return Task.from_arrays(
        "shaky",
        train.inputs.features["default"],
        train.gold,
        systems={"bayes": GaussianNB(var_smoothing=0.05), "shaky": Shaky()},
        test_sets={"test": (test.inputs.features["default"], test.gold)},
    )


def test_a_failing_system_is_named_the_others_finish_and_only_it_runs_again(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.write_text(SMALL.split("[domains]")[0].replace('"digits"', '"task.py:shaky"'))
    study.with_name("task.py").write_text(f"from {__name__} import shaky\n")
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["run", str(study.parent), "--out", str(out), "--jobs", "1"])
    assert result.exit_code == 1
    assert "failed (training shaky-" in result.stderr
    assert "RuntimeError: did not converge" in result.stderr
    assert "Traceback" not in result.stderr
    failed = len(list(out.glob("cells/*.error.txt")))
    assert 0 < failed < 8
    assert len(list(out.glob("cells/*.npz"))) == 16 - failed
    assert not (out / "README.md").exists()
    monkeypatch.setattr(Shaky, "fit", lambda self, x, y: setattr(self, "model_", GaussianNB().fit(x, y)))
    kept = {path: path.stat().st_mtime_ns for path in out.glob("cells/*.npz")}
    # In this process, where the class is mended.
    ss.run_study(study.parent, out=out, n_jobs=1)
    assert kept.items() <= {path: path.stat().st_mtime_ns for path in out.glob("cells/*.npz")}.items()
    assert not list(out.glob("cells/*.error.txt"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("100, 300]", "100, 798]"), "home.sizes: 798 is more than the 797 items of test set 'test'"),
        (("size = 150", "size = 900"), "domains.size: 900 is more than the 797 items of test set 'test'"),
        (('test_set = "test"', 'test_set = "tset"'), "has no test set 'tset' (did you mean 'test'?); it has test, rot"),
        (
            ('population = ["test"]', 'population = ["test / news"]'),
            "'test' has no items of domain 'news'; its domains are none",
        ),
        (('["test"]', '["test", "noise 2/16"]'), "calibration.population: 'test' and 'noise 2/16' share items"),
        (('curves = ["noise 2/16"]', 'curves = ["test"]'), "domains.curves: 'test' is not in domains.test_sets"),
        (('"rotated 10°"', '"test"'), "domains.test_sets: 'test' and the home test set 'test' share items"),
        (
            ("[home]", 'unit = "document"\n[home]'),
            "comparison.unit: the items of test set 'test' have no column 'document'",
        ),
        (
            ("[home]", 'test = "bootstrap"\nstrata = "genre"\n[home]'),
            "comparison.strata: the items of test set 'test' have no column 'genre'",
        ),
    ],
)
def test_wrong_test_sets_are_named_before_anything_runs(
    study: Path, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    study.write_text(SMALL.replace(*change))
    with pytest.raises(StudyError) as error:
        ss.run_study(study, out=tmp_path / "out")
    assert message in str(error.value)
    assert not (tmp_path / "out").exists()


def test_what_is_left_is_said_and_listed(study: Path, tmp_path: Path) -> None:
    study.write_text(SMALL.split("[domains]")[0].replace("[4, 4]", "[1, 1]"))
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["run", str(study), "--out", str(out), "--list"])
    assert result.exit_code == 0
    first, second, *_ = result.stdout.splitlines()
    assert first == "0 of 8 known cells (pieces of work) are done; 8 missing."
    assert second == "training systems: 8 missing; 0.0 MB so far"
    assert not out.exists()
    ss.run_study(study, out=out, n_jobs=1)
    trained = [path for path in out.glob("cells/*.npz") if b'"label": "training ' in path.read_bytes()]
    trained[0].unlink()
    # With all that the study found it would find its systems.
    (whole,) = [path for path in out.glob("cells/*.npz") if b'"label": "findings"' in path.read_bytes()]
    whole.unlink()
    # What follows from a system that is not there is not known.
    cells = study_cells(study, out=out)
    assert cells.groupby("state").size().to_dict() == {"done": 7, "missing": 1}
    assert set(cells["part"]) == {"training systems"}
    assert cells["bytes"].sum() == sum(path.stat().st_size for path in trained[1:])
    assert (
        "training systems: 7 of 8 cells are done"
        in CliRunner().invoke(app, ["run", str(study), "--out", str(out)]).stderr
    )


def test_seed_nought_is_a_seed_like_any_other() -> None:
    study = load_study("quickstart").model_copy(update={"seed": 5})
    assert [asked_for(study, None, seed)[0].seed for seed in (None, 0, 7)] == [5, 0, 7]
