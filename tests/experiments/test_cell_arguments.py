"""Arguments of the cells of shipped programs: only what the result of a cell depends on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simstudy.studies import RunContext, load_study, make_study, shipped_studies
from tests.conftest import SHARED
from tests.experiments.programs import Seen, known, program

# How many parts of a run are looked at: up to the first one that needs results of others.
N_PARTS = {
    "chinchor_1992": 1, "evert_2004": 1, "fitted_truth": 1, "planning_validation": 1, "published_numbers": 1,
    "samples": 1, "tools_bench": 2, "yeh_2000": 1,
}  # fmt: skip
# All cells of these compare outputs, or train systems.
OTHERS = {"berg_kirkpatrick_2012", "power_tables"}
OF_DATA = {"fitted_truth", "samples"}
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


def prepared(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A shipped study, without long computations before its cells."""
    if name in OF_DATA and not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    study = load_study(name)
    if name == "samples":
        monkeypatch.setattr(program(name), "_measured", lambda *_: {})
    return study.model_copy(update={"simulated": 9}) if name == "published_numbers" else study


@pytest.mark.parametrize("name", N_PARTS)
def test_cells_are_the_same_whatever_the_titles_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepared(name, monkeypatch)
    other = make_study({**retitled(study.model_dump()), "name": "other"}, "here", type(study))
    assert other != study
    assert arguments(name, other) == arguments(name, study)


def first(values: Any, n: int = 1) -> Any:
    """Some of the values of a list, or of a section."""
    return dict(list(values.items())[:n]) if isinstance(values, dict) else values[:n]


def smaller(name: str, of: dict[str, Any]) -> dict[str, Any]:
    """Keys of a shipped study with fewer conditions, sizes and replicates."""
    match name:
        case "evert_2004":
            simulated = of["simulated"]
            return {"simulated": simulated | {"clusters": first(simulated["clusters"]), "n_experiments": 50}}
        case "fitted_truth":
            return {"sets": first(of["sets"], 2), "replicates": of["at_once"], "level": 0.1}
        case "planning_validation":
            return {"margins": first(of["margins"])}
        case "published_numbers":
            return {"few": first(of["few"])}
        case "samples":
            return {"sets": first(of["sets"]), "within": 0.2}
        case "tools_bench":
            sets = {paces: dict.fromkeys(of[paces], of["block"] * of["blocks"]) for paces in ("sets", "sets_with_gain")}
            names = [key for key in of["conditions"] if len(of["conditions"][key]["parameters"]) > 2]
            conditions = {key: of["conditions"][key] for key in names}
            fewer = {key: one | {"parameters": one["parameters"][:2]} for key, one in conditions.items()}
            return {"tools": first(of["tools"], 3), "conditions": fewer, **sets}
        case "yeh_2000":
            return {"dependence": of["dependence"] | {"within": first(of["dependence"]["within"])}}
    return {}


@pytest.mark.parametrize("name", N_PARTS)
def test_cells_are_the_same_with_fewer_conditions_and_replicates(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = prepared(name, monkeypatch)
    content = study.model_dump()
    fewer = make_study({**content, **smaller(name, content)}, "here", type(study))
    for some, every in zip(arguments(name, fewer), arguments(name, study), strict=True):
        assert {json.dumps(cell) for cell in some} <= {json.dumps(cell) for cell in every}


def test_every_program_is_looked_at() -> None:
    programs = {name for name in shipped_studies() if load_study(name).kind == "program"}
    assert programs == N_PARTS.keys() | OTHERS
