"""Studies of training-set resampling, and papers' studies, say all that is wrong before anything is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simstudy as ss
from simstudy.files.datasets import DataError, registry
from simstudy.running.program_files import ProgramError
from simstudy.studies import StudyError, load_study, make_study
from simstudy.studies.catalogue import blaming_program
from simstudy.studies.problems import Problems, stand_in
from simstudy.training import load_task
from simstudy.training.resampling import variants
from tests.experiments.programs import small
from tests.studies.test_written import PROGRAM

# What is drawn is looked at in test_study.py, test_resampling.py and tests/plot.
pytestmark = pytest.mark.usefixtures("empty_figures")

DIGITS: dict[str, Any] = {
    "name": "small", "title": "T", "question": "Q?", "task": "digits",
    "training": {"fractions": [0.1], "replicates": [2]}, "comparison": {"n_resamples": 1000},
    "home": {"test_set": "test", "sizes": [100, 200]},
}  # fmt: skip


def problem(out: Path, content: dict[str, Any]) -> str:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("simstudy.studies.resampling.study.train", lambda *_: pytest.fail("something was trained"))
        with pytest.raises(StudyError) as error:
            ss.run_study(make_study(content, "here"), out=out / "out", n_jobs=1)
    assert not (out / "out").exists()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_everything_that_a_task_has_not_is_said_at_once(tmp_path: Path) -> None:
    said = problem(
        tmp_path,
        {
            **DIGITS,
            "comparison": {"unit": "writer"},
            "home": {"test_set": "test", "sizes": [100, 4000, 5000]},
            "domains": {"test_sets": ["noise", "rotated 10°", "rotated 10°"], "size": 3000, "curves": ["blur"]},
            "calibration": {"population": ["test", "tset"], "size": 50},
            "training": {"fractions": [0.0001], "replicates": [1]},
        },
    )
    assert said.startswith("study 'small': ")
    for part in (
        "domains.test_sets: task 'digits' has no test set 'noise'",
        "domains.test_sets: 'rotated 10°' is there twice",
        "domains.curves: 'blur' is not in domains.test_sets",
        "calibration.population: task 'digits' has no test set 'tset' (did you mean 'test'?)",
        "home.sizes: 4000 is more than the ",
        "home.sizes: 5000 is more than the ",
        "domains.size: 3000 is more than the ",
        "comparison.unit: the items of test set 'test' have no column 'writer'; they have id",
        "training: fractions must leave at least one of ",
    ):
        assert part in said


def test_a_test_that_is_not_for_the_metric_is_told_before_training(tmp_path: Path) -> None:
    """Accuracy of digits: systems do not accept some images and reject others."""
    said = problem(tmp_path, {**DIGITS, "comparison": {"test": "fisher"}})
    assert said.startswith("study 'small': home.sizes 100, home.sizes 200: test 'fisher' needs systems that accept or ")


def test_systems_to_come_are_of_the_kind_that_stands_in_for_them() -> None:
    """Trained digits' classifiers can be asked the tests that their stand-ins can."""
    task = load_task("digits")
    (first, *_) = variants(task, [0.1], [2])
    outputs = ss.training.resample_training(task, fractions=[0.1], replicates=[2])["test"]
    ahead = stand_in(task, "test")
    assert first.name in outputs.names
    assert ss.comparisons.applicable(ahead) == ss.comparisons.applicable(outputs)
    assert (ahead.items.equals(outputs.items), ahead.metric) == (True, outputs.metric)
    assert ahead.scores()[0] == 100


@pytest.mark.parametrize(
    ("name", "section", "key", "value"),
    [
        ("error_rates", "", "tests", ["sign", "sign"]),
        ("evert_2004", "tests", "lengths", [100, 100]),
        ("evert_2004", "parts", "n_parts", [5, 5]),
        ("yeh_2000", "dependence", "within", [0.1, 0.1]),
        ("chinchor_1992", "muc", "metrics", ["muc_f", "muc_f"]),
    ],
)
def test_what_is_listed_twice_would_be_counted_twice(name: str, section: str, key: str, value: list[Any]) -> None:
    content = load_study(name).model_dump()
    changes = {section: {**content[section], key: value}} if section else {key: value}
    with pytest.raises(StudyError) as error:
        small(name, **changes)
    where = f"{section}.{key}" if section else key
    assert f"here: {where}: it must have each value once, not {value}" in str(error.value)


def test_a_study_whose_classes_have_too_few_pairs_for_a_share_ends_all_the_same(tmp_path: Path) -> None:
    """All pairs together have a share, pairs of a relation none: there is nothing to draw, and all else is kept."""
    calibration = {"population": ["test"], "size": 20, "n_draws": 2}
    comparison = {"test": "t_paired"}
    study = make_study({**DIGITS, "comparison": comparison, "calibration": calibration}, "here")
    results = ss.run_study(study, out=tmp_path / "out", n_jobs=1)
    table = results.tables["calibration_identical"]
    assert table.loc[table["relation"] == "all pairs", "share"].notna().any()
    assert table.loc[table["relation"] != "all pairs", "share"].isna().all()
    assert (tmp_path / "out" / "README.md").is_file()
    assert not (tmp_path / "out" / "figures" / "calibration_identical.png").exists()


@pytest.mark.parametrize("study", [None, 3, ["quickstart"]])
def test_what_is_no_study_is_said(study: Any) -> None:
    with pytest.raises(StudyError, match="study must be a name, a path or a Study, not "):
        ss.run_study(study)


def test_all_files_that_a_task_lacks_are_named(tmp_path: Path) -> None:
    home = {"test_set": "EWT test", "sizes": [100]}
    study = make_study({**DIGITS, "task": "tagging", "home": home}, "here")
    with pytest.raises(DataError) as error:
        ss.run_study(study, out=tmp_path / "out", data_dir=tmp_path, n_jobs=1)
    wanted = [name for name in registry() if name.startswith("ud_english_") and "sent_segmented" not in name]
    named = [name for name in wanted if name in str(error.value)]
    assert f" more: no such file in {tmp_path}; without data_dir" in str(error.value)
    assert len(named) == 5
    assert "ud_english_ewt/en_ewt-ud-train.conllu" in named
    assert all(str(error.value).count(name) == 1 for name in named)


def test_one_thing_wrong_in_many_places_is_one_sentence() -> None:
    problems = Problems("mine")
    for k in range(8):
        for _ in range(2):
            problems.add(f"test set {k}", "it is empty")
    problems.add("seed", "it is odd")
    with pytest.raises(StudyError) as error:
        problems.raise_any()
    listed = ", ".join(f"test set {k}" for k in range(5))
    assert str(error.value) == f"study 'mine': {listed} and 3 more: it is empty; seed: it is odd"


def test_a_program_is_blamed_for_what_does_not_say_by_itself_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\n')
    (tmp_path / "study.py").write_text(PROGRAM + "\ndef show(study, tables): ...\n")
    study = load_study(tmp_path)
    for error in (MemoryError(), OSError("no disk"), DataError("no data"), StudyError("a key")):
        with pytest.raises(type(error)) as found, blaming_program(study):
            raise error
        assert found.value is error
    with pytest.raises(ProgramError, match=r"study.py: KeyError: 'x'$"), blaming_program(study):
        raise KeyError("x")
    with pytest.raises(ProgramError, match=r"study.py: TypeError: show must return simstudy.studies.Shown, not NoneTy"):
        ss.run_study(study, out=tmp_path / "out", n_jobs=1)
    (tmp_path / "study.py").write_text(PROGRAM + "\ndef show(tables): ...\n")
    with pytest.raises(StudyError, match=r"study.py must define show\(settings, tables\), not show\(tables\)$"):
        load_study(tmp_path)
