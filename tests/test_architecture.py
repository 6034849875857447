"""The house: imports only point down, and each room keeps what only it may know."""

from __future__ import annotations

import ast
import functools
import importlib
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from types import FrameType, ModuleType

import numpy as np
import pandas as pd
import pytest

import simstudy
from simstudy import planning, plot
from simstudy.studies import load_study

PACKAGE = Path(simstudy.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

# Floors from the ground up. A room imports strictly lower floors, or itself.
FLOORS = [
    {"notes", "schema", "compiled"},
    {"validation"},
    {"pairs"},
    {"text", "files"},
    {"tables"},
    {"running", "statistics"},
    {"metrics"},
    {"outputs"},
    {"rankings"},
    {"engines", "plot", "readers"},
    {"pages"},
    {"papers"},
    {"comparisons"},
    {"suites"},
    {"truth", "training", "examination"},
    {"planning", "gates"},
    {"studies"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


@functools.cache
def imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            if node.module == "simstudy":
                names |= {f"simstudy.{alias.name}" for alias in node.names}
    return frozenset(names)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize(
    "path", [f for f in FILES if f != PACKAGE / "__init__.py"], ids=lambda f: str(f.relative_to(PACKAGE))
)
def test_imports_point_down(path: Path) -> None:
    room = room_of(path)
    for name in imported(path):
        if name.startswith("simstudy."):
            other = name.split(".")[1]
            assert other == room or FLOOR[other] < FLOOR[room], f"{room} imports {name}"


def test_few_modules_stand_beside_the_rooms() -> None:
    beside = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    assert len(beside) <= 6, sorted(beside)
    assert beside <= FLOOR.keys()


@pytest.mark.parametrize(
    ("library", "only"),
    [
        ("joblib", {"running/parallel", "running/keys", "running/fingerprints"}),
        ("cloudpickle", {"running/parallel"}),
        ("filelock", {"running/folders", "gates/looks"}),
        ("seaborn", {"plot"}),
        ("matplotlib", {"plot"}),
        ("networkx", set()),
        ("typer", {"cli"}),
        ("experiments", set()),
        ("simstudy_learners", set()),
    ],
)
def test_libraries_stay_in_their_rooms(library: str, only: set[str]) -> None:
    """In whole rooms, or in modules of one."""
    users = [path for path in FILES if any(name.split(".")[0] == library for name in imported(path))]
    modules = {str(path.relative_to(PACKAGE).with_suffix("")) for path in users if room_of(path) not in only}
    assert modules <= only


# What experiments stand on: the public names, and what a study that is a program is made of.
PUBLIC = {
    "simstudy",
    "simstudy.comparisons",
    "simstudy.files",
    "simstudy.files.datasets",
    "simstudy.truth",
    "simstudy.planning",
    "simstudy.pages.sections",
    "simstudy.studies",
}
ALL = sorted((PACKAGE.parent / "experiments").glob("*/*.py"))
EXPERIMENTS = [path for path in ALL if path.name != "task.py"]
TASKS = [path for path in ALL if path.name == "task.py"]
LEARNERS = sorted((PACKAGE.parent / "experiments" / "learners").rglob("*.py"))


def test_experiments_are_programs_of_studies() -> None:
    programs = {path.parent for path in EXPERIMENTS}
    assert len(programs) > 5
    for folder in programs:
        assert {"study.toml", "study.py", "README.md"} <= {path.name for path in folder.iterdir()}, folder.name


def test_tasks_come_with_their_studies() -> None:
    """The package has one of its own, which needs no data."""
    brought = [load_study(path.parent).task for path in TASKS]  # type: ignore[attr-defined]
    assert sorted([name.removeprefix("task.py:") for name in brought] + ["digits"]) == simstudy.training.task_names()


@pytest.mark.parametrize("path", [*TASKS, *LEARNERS], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_tasks_train_knows_no_tests_and_no_studies(path: Path) -> None:
    """Tasks stand on training, files, metrics and readers, and no experiment on another one."""
    rooms = {name.split(".")[1] for name in imported(path) if name.startswith("simstudy.")}
    assert rooms <= {"training", "files", "metrics", "readers", "running", "validation", "notes"}
    assert path in LEARNERS or not any(name.startswith("experiments") for name in imported(path))


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_experiments_import_only_what_is_public(path: Path) -> None:
    """Names of `simstudy` that are in its list, and the modules that are documented for studies."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            ours = {alias.name for alias in node.names if alias.name.split(".")[0] == "simstudy"}
            assert ours <= PUBLIC
        elif isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "simstudy":
            assert node.module in PUBLIC, f"{path} imports from {node.module}"
            names = {alias.name for alias in node.names}
            assert node.module != "simstudy" or names <= {*dir(simstudy)}
            module = sys.modules.get(str(node.module)) or importlib.import_module(str(node.module))
            assert node.module == "simstudy" or names <= set(getattr(module, "__all__", dir(module)))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ss":
            assert node.attr in dir(simstudy), f"{path} uses ss.{node.attr}"
        assert not (isinstance(node, ast.Attribute) and node.attr.startswith("_")), f"{path} uses what is private"


def test_no_room_is_called_utils() -> None:
    assert not [path for path in FILES if path.stem in ("utils", "util", "helpers", "common", "misc")]


def test_import_is_light_and_has_no_side_effects() -> None:
    """No numpy, no processes, no threads, no changed environment; what is heavy waits until it is used."""
    # joblib and scikit-learn set variables of OpenMP when they are imported: that is their own.
    code = """
import os, sys, threading
import simstudy
from simstudy import plot
assert "numpy" not in sys.modules and "sklearn" not in sys.modules, "import simstudy loads numpy or scikit-learn"
simstudy.examine(simstudy.Outputs.from_statistics([[[1, 1]] * 9, [[0, 1]] * 9], "accuracy", ["a", "b"])).text
late = sys.modules.keys() & {"scipy.stats", "scipy.optimize", "scipy.sparse", "numba"}
assert not late, f"a second of imports before a first answer: {late}"
import joblib, sklearn
before = dict(os.environ)
for name in dir(simstudy):
    getattr(simstudy, name)
assert threading.active_count() == 1, threading.enumerate()
assert "multiprocessing.process" not in sys.modules or not sys.modules["multiprocessing.process"].active_children()
assert dict(os.environ) == before, "importing changed the environment"
assert "matplotlib" not in sys.modules, "only figures are drawn with matplotlib"
for name in simstudy.plot.__all__:
    assert callable(getattr(simstudy.plot, name)), name
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_the_first_answer_of_the_command_waits_for_no_heavy_module(tmp_path: Path) -> None:
    """Two systems, and a plan from guesses: such imports would be half of the time of a first answer."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{k}" for k in range(200)])
    texts = {"ref": rng.choice(words, (100, 12))}
    for name, wrong in (("old", 0.3), ("new", 0.25)):
        texts[name] = np.where(rng.random((100, 12)) < wrong, rng.choice(words, (100, 12)), texts["ref"])
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
    scores = pd.DataFrame(rng.random((100, 2)).round(4), columns=["old", "new"])
    scores.to_csv(tmp_path / "means.csv", index_label="item")
    (scores > 0.5).astype(int).to_csv(tmp_path / "right.csv", index_label="item")
    code = """
import sys
from simstudy.cli import main
heavy = "numba joblib asyncio multiprocessing sklearn matplotlib scipy.stats scipy.optimize".split()
for line in sys.argv[1:]:
    sys.argv = ["simstudy", *line.split()]
    try:
        main()
    except SystemExit as end:
        assert not end.code
    print("late:", *sys.modules.keys() & heavy)
"""
    commands = [
        "compare old.txt new.txt --metric bleu --references ref.txt",
        "compare means.csv --metric mean",
        "compare right.csv --metric accuracy",
        # It searches for the size.
        "plan --metric accuracy --gain 1 --score 80 --agreement 0.9",
    ]
    line = [sys.executable, "-c", code, *commands]
    run = subprocess.run(line, check=True, timeout=120, cwd=tmp_path, capture_output=True, text=True)
    for command, names in zip(commands, re.findall(r"^late:(.*)$", run.stdout, flags=re.MULTILINE), strict=True):
        assert set(names.split()) <= ({"scipy.optimize"} if command.startswith("plan") else set()), command


@pytest.mark.parametrize("package", [simstudy, plot, planning])
def test_public_names_are_what_the_stub_lists(package: ModuleType) -> None:
    """One list, for type checkers and for what is imported when it is first used; each name is found, not a module."""
    tree = ast.parse(Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    stub = {alias.asname: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert set(dir(package)) == set(stub)
    for name, module in stub.items():
        assert isinstance(getattr(package, str(name)), ModuleType) == (module is None), name
    with pytest.raises(AttributeError, match="nonsense"):
        package.nonsense  # noqa: B018 - the access is what is tested


def test_the_public_face_fits_on_a_page() -> None:
    assert len(dir(simstudy)) <= 35, "what makes a table from Comparisons belongs into simstudy.comparisons"
    shown = pydoc.render_doc(simstudy, renderer=pydoc.plaintext)
    assert "ss.compare(outputs)" in shown
    assert len(shown.splitlines()) < 100


def test_a_table_crosses_few_functions_on_its_way_to_a_verdict() -> None:
    """From `compare` on: who reads the code of one can hold it all."""
    crossed = set()

    def seen(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and "simstudy" in code.co_filename:
            given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
            if any(isinstance(getattr(value, "frame", value), pd.DataFrame) for value in given):
                crossed.add(code.co_qualname)

    pairs = simstudy.compare(simstudy.truth.correlated_accuracies([0.6, 0.7, 0.8], 300))
    sys.setprofile(seen)
    try:
        pairs.verdict("system-1", "system-3")
    finally:
        sys.setprofile(None)
    assert "Decision.significant" in crossed
    assert len(crossed) <= 9, crossed
