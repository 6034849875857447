"""A small study of resampled systems, run once for all tests that look at what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.outputs import Outputs
from simstudy.studies import Results, Study, make_study
from simstudy.studies.resampling.definition import with_own_task
from simstudy.studies.resampling.overlay import OverlaidStudy
from simstudy.training import Examples, Task
from tests.training.test_structured import Lookup, count_spans, count_tags

N = 240


def tags(_: Path | None) -> Task:
    """Words with a tag that is noisy, in documents of four sentences; "mixed" has two domains."""
    rng = np.random.default_rng(5)
    vocabulary = np.array([f"w{k}" for k in range(150)])
    usual = np.where(rng.random(150) < 0.4, "B-x", "O")

    def examples(name: str, n: int) -> Examples:
        words = [rng.integers(150, size=length) for length in rng.integers(2, 6, n)]
        noisy = [np.where(rng.random(len(w)) < 0.3, rng.choice(["B-x", "O"], len(w)), usual[w]).tolist() for w in words]
        items = pd.DataFrame({"id": [f"{name}{k}" for k in range(n)], "cluster": [f"{name}{k // 4}" for k in range(n)]})
        items["domain"] = ["xy"[k // 60 % 2] for k in range(n)]
        return Examples([vocabulary[w].tolist() for w in words], noisy, items)

    sets = {name: examples(name, n) for name, n in {"train": 300, "home": N, "away": 100, "mixed": 120}.items()}
    systems = {"one": Lookup(), "other": Lookup("B-x")}
    return Task(
        "tags", sets.pop("train"), sets, systems, {"span_f1": count_spans, "accuracy": count_tags}, {"words": "a hash"}
    )


RESAMPLED: dict[str, Any] = {"fractions": [0.5, 0.2], "replicates": [10, 10], "seed": 1}
COMPARED: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "n_resamples": 2000, "monte_carlo": True}
STUDY: dict[str, Any] = {
    "name": "tags", "title": "A small study", "question": "Does it run?", "task": "task.py:tags", "seed": 1,
    "training": {"fractions": [0.5, 0.2], "replicates": [10, 10]}, "comparison": COMPARED,
    "home": {"test_set": "home", "sizes": [60, 120, N]},
    "domains": {"test_sets": ["away", "mixed / y"], "size": 60, "curves": ["away"], "n_splits": 2},
    "calibration": {"population": ["home", "mixed"], "size": 80, "unit": "item", "n_draws": 3, "n_resamples": 500},
    "tests": {"alpha": 0.2, "n_shown": 5, "n_resamples": 200},
    "natural": {"name": "others", "metric": "span_f1", "paths": ["made/{metric}.csv"], "by": [],
                "columns": {"correct": "c", "guessed": "g", "gold": "n"}, "duplicates": "keep"},
}  # fmt: skip


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> type[Study]:
    """Of a study whose folder has the task of this module."""
    folder = tmp_path_factory.mktemp("tags")
    (folder / "task.py").write_text(f"from {__name__} import tags\n", encoding="utf-8")
    return with_own_task(OverlaidStudy, folder)


@pytest.fixture(scope="session")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve systems of others: the resampled ones of another seed, as a table of counts with documents."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "made").mkdir()
    outputs = ss.training.resample_training(tags(None), fractions=[0.5, 0.2], replicates=[3, 3], seed=9)["home"]
    rows = [
        {"system": name, "item": item, "cluster": document, "c": c, "g": g, "n": n}
        for name, counts in zip(outputs.names, outputs.statistics, strict=True)
        for item, document, (c, g, n) in zip(outputs.items["id"], outputs.items["cluster"], counts, strict=True)
    ]
    pd.DataFrame(rows).to_csv(folder / "made" / "span_f1.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def resampled(tmp_path_factory: pytest.TempPathFactory, others: Path, model: type[Study]) -> Results:
    out = tmp_path_factory.mktemp("done") / "out"
    return ss.run_study(make_study(STUDY, "here", model), out=out, n_jobs=1, data_dir=others)


@pytest.fixture(scope="session")
def trained() -> dict[str, dict[str, Outputs]]:
    """Metric -> test set -> the systems of the study, trained again."""
    task = tags(None)
    return {metric: ss.training.resample_training(task, metric=metric, **RESAMPLED) for metric in task.metrics}
