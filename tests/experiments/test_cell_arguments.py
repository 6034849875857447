"""Arguments of the cells of shipped programs: words for the page are not among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simstudy.studies import RunContext, load_study, make_study, shipped_studies
from tests.conftest import SHARED
from tests.experiments.programs import Seen, known, program

# How many parts of a run are looked at: up to the first one that needs results of others.
N_PARTS = {
    "chinchor_1992": 1, "error_rates": 1, "evert_2004": 1, "fitted_truth": 1, "many_tasks": 1, "multiple_systems": 4,
    "planning_validation": 1, "published_numbers": 1, "repeated_gates": 3, "samples": 1, "tools_bench": 2,
    "urbano_2019": 2, "yeh_2000": 1,
}  # fmt: skip
# All cells of these compare outputs, or train systems.
OTHERS = {"berg_kirkpatrick_2012", "power_tables"}
OF_DATA = {"fitted_truth", "samples", "urbano_2019"}
# Instead of a whole run, where cells come after long computations.
PARTS: dict[str, Callable[[Any, RunContext], Any]] = {
    "evert_2004": lambda study, context: program("evert_2004", "section_4").simulated_check(
        study.simulated, study.alpha, study.seed, context
    ),
    "planning_validation": lambda study, context: program("planning_validation")._margins(study, context),
    "yeh_2000": lambda study, context: program("yeh_2000", "dependence").dependence(
        study.dependence, study.seed, context
    ),
}


class Recorded(RunContext):
    """A run whose cells are kept and not computed; it ends after some parts."""

    def __init__(self, n_parts: int) -> None:
        super().__init__(Path("unused"), 1, SHARED)
        self.n_parts, self.parts = n_parts, list[list[list[str]]]()

    def run(self, title: str, function: Any, cells: Any, **options: Any) -> list[Any]:
        self.parts.append([known(cell) for cell in cells])
        if len(self.parts) == self.n_parts:
            raise Seen
        return []


def arguments(name: str, study: Any) -> list[list[list[str]]]:
    """What each cell is known by, part by part."""
    run = Recorded(N_PARTS[name])
    with pytest.raises(Seen):
        PARTS.get(name, program(name).run)(study, run)
    assert all(run.parts)
    return run.parts


def retitled(value: Any) -> Any:
    """Keys and values of a study.toml, with another title of the study and of each section."""
    if isinstance(value, dict):
        return {name: "Other words" if name in ("title", "question") else retitled(own) for name, own in value.items()}
    return [retitled(own) for own in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", N_PARTS)
def test_cells_are_the_same_whatever_the_titles_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in OF_DATA and not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    study = load_study(name)
    if name == "samples":
        monkeypatch.setattr(program(name), "_measured", lambda *_: {})
    if name == "published_numbers":
        study = study.model_copy(update={"simulated": 9})
    other = make_study({**retitled(study.model_dump()), "name": "other"}, "here", type(study))
    assert other != study
    assert arguments(name, other) == arguments(name, study)


def test_every_program_is_looked_at() -> None:
    programs = {name for name in shipped_studies() if load_study(name).kind == "program"}
    assert programs == N_PARTS.keys() | OTHERS
