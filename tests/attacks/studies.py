"""Three small studies, of three kinds, each run by a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import simstudy as ss
from simstudy.studies import make_study
from simstudy.studies.definition import Study
from tests.experiments.error_rates.small import study as error_rates
from tests.studies.natural.conftest import exam

KINDS = ("resampling", "natural", "error_rates")


def study(kind: str) -> Study:
    if kind == "error_rates":
        return error_rates(conditions=["accuracy", "f1"], n_units=[40], shown=[40], batches=6)
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
