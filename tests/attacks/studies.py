"""Three small studies, of three kinds, each run by a process of its own; and a toy, whose cells take no time."""

from __future__ import annotations

import sys
from pathlib import Path

import simstudy as ss
from simstudy.studies import make_study
from simstudy.studies.definition import Study
from tests.experiments.error_rates.small import study as error_rates
from tests.studies.natural.conftest import exam

KINDS = ("resampling", "natural", "error_rates")

_TOY = """
import time
import numpy as np
import pandas as pd
from simstudy.pages.sections import Table
from simstudy.studies import Cell, Findings, Shown, Study
class Settings(Study):
    seconds: list[float]
def run(study, context):
    cells = [Cell(f"cell {s}", (s, study.seed)) for s in study.seconds]
    found = context.run("cells", drawn, cells)
    table = pd.concat(found, ignore_index=True)
    tables = {"drawn": table, "means": table.mean().to_frame("mean")}
    return Findings(tables=tables)
def show(study, tables):
    return Shown(sections=[], summary={"All": Table(tables["drawn"], {"drawn": "{drawn:.3f}"})})
def drawn(seconds, seed):
    time.sleep(seconds)
    return pd.DataFrame({"drawn": np.random.default_rng(seed).normal(size=9) + seconds})
"""


def toy(folder: Path, *seconds: float) -> Path:
    """The folder of a study that is a program: a cell for each number of seconds that one takes."""
    folder.mkdir()
    (folder / "study.py").write_text(_TOY)
    (folder / "study.toml").write_text(f'kind = "program"\ntitle = "T"\nquestion = "Q?"\nseconds = {list(seconds)}\n')
    return folder


def study(kind: str) -> Study:
    if kind == "error_rates":
        page = {"shown": [40], "bands": [[40, 50]], "aims": {"from_units": 40}}
        replicates = {"most": 72, "block": 12}
        return error_rates(["accuracy", "f1", "f1_gain"], [40], page, replicates=replicates, n_resamples=99)
    content: dict[str, object] = {"name": "small", "title": "A small study", "question": "Does it run?", "seed": 3}
    if kind == "natural":
        tests = [{"name": f"exam {v}", "metric": "accuracy", "paths": [f"exam_{v}.csv"], "by": []} for v in "ab"]
        return make_study({**content, "kind": kind, "test_sets": tests, "comparison": {"n_resamples": 20_000}}, "here")
    return make_study(
        {
            **content,
            "task": "digits",
            "training": {"fractions": [0.2, 0.1], "replicates": [1, 1]},
            "comparison": {"n_resamples": 2_000},
            "home": {"test_set": "test", "sizes": [100, 300]},
        },
        "here",
    )


def data(folder: Path) -> Path:
    """The files of the natural study."""
    folder.mkdir(exist_ok=True)
    for value in "ab":
        exam(value)[["system", "item", "score"]].to_csv(folder / f"exam_{value}.csv", index=False)
    return folder


if __name__ == "__main__":
    kind, out, data_dir = sys.argv[1:]
    ss.run_study(study(kind), out=out, n_jobs=2, data_dir=data_dir)
