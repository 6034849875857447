"""A small study of natural comparisons, on files that are made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import Results, make_study
from simstudy.studies.definition import Study
from tests.studies.natural.small import ANSWERS, EXAMS, MEASURES, Make


def exam(value: str) -> pd.DataFrame:
    """14 systems on 120 items of three topics; "copy" is s00 again, and "broken" gets nothing right."""
    rng = np.random.default_rng(len(value) + ord(value))
    ability = np.linspace(-0.6, 0.9, 12)
    difficulty = rng.normal(size=120)
    right = {f"s{k:02}": (rng.normal(size=120) + ability[k] > difficulty).astype(int) for k in range(12)}
    right |= {"copy": right["s00"], "broken": np.zeros(120, dtype=int)}
    items = {"item": [f"{value}{i:03}" for i in range(120)], "topic": np.repeat(["law", "art", "sea"], [60, 40, 20])}
    return pd.concat([pd.DataFrame({"system": name, **items, "score": scores}) for name, scores in right.items()])


def measures() -> pd.DataFrame:
    """Two measures of 8 runs on 60 topics in one table, tidy."""
    rng = np.random.default_rng(5)
    tables = []
    for measure in ("ap", "rr"):
        for k in range(8):
            scores = np.clip(rng.normal(0.3 + k / 40, 0.2, 60), 0, 1).round(4)
            named = {"measure": measure, "run": f"r{k}", "topic": [f"t{i:02}" for i in range(60)]}
            tables.append(pd.DataFrame({**named, "half": ["old", "new"] * 30, "score": scores}))
    return pd.concat(tables)


def systems() -> pd.DataFrame:
    """What is known of the systems of each exam: teams differ, s11 is unknown in exam b, s10 combines others."""
    rows = [
        {
            "exam": value, "system": f"s{k:02}", "team": f"{value}{k // 3}", "base_model": "m" if k % 2 else "n",
            "combination": "true" if k == 10 else "false",
        }
        for value in "ab" for k in range(12) if (value, k) != ("b", 11)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    made = folder / "made"
    (made / "answers" / "late").mkdir(parents=True)
    for value in "ab":
        exam(value).to_csv(made / f"exam_{value}.csv", index=False)
    measures().to_csv(made / "measures.csv", index=False)
    systems().to_csv(made / "systems.csv", index=False)
    rng = np.random.default_rng(9)
    gold = rng.integers(0, 3, 50)
    (made / "gold.txt").write_text("".join(f"{answer}\n" for answer in gold))
    for k, name in enumerate(["one", "two", "three", "late/four"]):
        given = np.where(rng.random(50) < 0.4 + k / 10, gold, rng.integers(0, 3, 50))
        (made / "answers" / f"{name}.txt").write_text("".join(f"{answer}\n" for answer in given))
    return folder


@pytest.fixture(scope="session")
def make() -> Make:
    """A study of these test sets, with other keys where they are given."""

    def made(*test_sets: dict[str, Any], **keys: Any) -> Study:
        content: dict[str, Any] = {
            "name": "small", "kind": "natural", "title": "A small study", "question": "Does it run?", "seed": 3,
            "comparison": {"n_resamples": 500, "monte_carlo": True}, "test_sets": list(test_sets),
        }  # fmt: skip
        return make_study({**content, **keys}, "here")

    return made


@pytest.fixture(scope="session")
def done(make: Make, data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The whole study, run once."""
    study = make(
        EXAMS, MEASURES, ANSWERS, shown=["exam a", "exam b"],
        calibration=[
            {"among": ["exam a", "exam b"], "n_splits": 2, "min_pairs": 3, "bins": [0.0, 0.05, 1.0]},
            {
                "domains_of": "exam a", "least_items": 30, "n_draws": 3, "n_splits": 2, "min_pairs": 3,
                "bins": [0.0, 0.05, 1.0],
            },
            {"domains_of": "runs", "metric": "ap", "n_splits": 2, "min_pairs": 3, "bins": [0.0, 0.05, 1.0]},
            {"domains_of": "runs", "metric": "rr", "n_splits": 2, "min_pairs": 3, "bins": [0.0, 0.05, 1.0]},
        ],
    )  # fmt: skip
    return ss.run_study(study, out=tmp_path_factory.mktemp("done"), data_dir=data_dir, n_jobs=1)
