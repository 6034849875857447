"""Every option of `simstudy compare` changes what is read or how it is compared; none is accepted and forgotten."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

from simstudy.cli.compare_options import HowTested
from simstudy.cli.files import Files
from simstudy.outputs import TestSet
from simstudy.readers.formats import formats
from tests.cli.command import compare

PLAIN = ("plain.csv", "--metric", "mean")
SCORES = ("scores.csv", "--metric", "mean", "--columns", "domain=genre,cluster=doc")
RESAMPLED = (*SCORES, "--test", "bootstrap")
GROUPED = (*SCORES, "--systems", "systems.csv")
HOLES = ("holes.csv", "--metric", "mean")
TEXTS = ("a.txt", "b.txt", "--metric", "accuracy", "--references", "gold.txt")
WITH_IDS = ("ids_a.txt", "ids_b.txt", *TEXTS[2:4], "--references", "ids_gold.txt")
TRANSLATIONS = ("a.txt", "b.txt", "--metric", "bleu", "--references", "gold.txt")
LOGS = ("m1", "m2", "--metric", "accuracy")
RANKED = ("candidates.csv", "--metric", "precision@4")

# What is asked without the option, and the option with a value that matters there.
OPTIONS: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "references": [(TEXTS[:4], ("--references", "gold.txt"))],
    "systems": [(SCORES, ("--systems", "systems.csv"))],
    "by": [(GROUPED, ("--by", "year"))],
    "items": [(PLAIN, ("--items", "items.csv"))],
    "columns": [(PLAIN, ("--columns", "domain=s3"))],
    "ids": [(WITH_IDS, ("--ids", "none"))],
    "format": [(TEXTS, ("--format", "alignments"))],
    "missing": [(HOLES, ("--missing", "drop")), (HOLES, ("--missing", "zero"))],
    "ties": [(RANKED, ("--ties", "keep"))],
    "duplicates": [(SCORES, ("--duplicates", "drop"))],
    "allow_different": [(LOGS, ("--allow-different", "metric,target"))],
    "tokenize": [(TRANSLATIONS, ("--tokenize", "char"))],
    "lowercase": [(TRANSLATIONS, ("--lowercase",))],
    "domain": [(SCORES, ("--domain", "web"))],
    "by_domain": [(SCORES, ("--by-domain",))],
    "lower_is_better": [(SCORES, ("--lower-is-better",))],
    "test": [(SCORES, ("--test", "wilcoxon"))],
    "resamples": [(RESAMPLED, ("--resamples", "300"))],
    "seed": [(RESAMPLED, ("--seed", "5")), (RANKED, ("--seed", "2"))],
    "alternative": [(SCORES, ("--alternative", "greater"))],
    "convention": [(RESAMPLED, ("--convention", "bk2012"))],
    "unit": [(SCORES, ("--unit", "item"))],
    "strata": [((*RESAMPLED, "--unit", "item"), ("--strata", "domain"))],
    "alpha": [(SCORES, ("--alpha", "0.5"))],
    "margin": [(SCORES, ("--margin", "0.3"))],
    "jobs": [(SCORES, ("--jobs", "2"))],
}

# What files of this content are not read as, or are not read at all.
REFUSED = ("--format",)

# Without which these files can not be compared.
NEEDED = ("--references", "--missing", "--allow-different")

# What is done with the numbers, and with how many threads: none of these may change a number. Averages of tasks,
# gates and tables for papers come after the comparison, and have their own tests (test_several_tasks.py,
# test_gates.py, test_papers.py).
GATES = {
    *("fail_unless_better", "fail_if_worse", "fail_unless_not_worse", "fail_unless_equivalent", "looks"),
    *("planned_looks", "sequential", "score_range", "junit", "annotations"),
}
PAPERS = {"latex", "markdown", "figures", "baseline"}
ELSEWHERE = {"paths", "out", "print_json", "verbose", "against", "each", "average", "groups", *GATES, *PAPERS}


@pytest.fixture(autouse=True)
def _files() -> None:
    rng = np.random.default_rng(3)
    scores = pd.DataFrame({f"s{k}": rng.normal(0.5 + k / 30, 0.2, 24).round(3) for k in range(4)}).rename_axis("item")
    scores["twin"] = scores["s1"]
    scores.to_csv("plain.csv")
    scores.assign(genre=["news", "web", "mail"] * 8, doc=[f"d{i // 3}" for i in range(24)]).to_csv("scores.csv")
    (scores > 0.5).astype(int).to_csv("scores01.csv")
    scores.assign(s0=scores["s0"].where(scores.index > 1)).to_csv("holes.csv")
    pd.DataFrame({"id": range(24), "cluster": [i // 4 for i in range(24)]}).to_csv("items.csv", index=False)
    Path("systems.csv").write_text("system,group,year\ns0,X,1\ns1,X,2\ns2,Y,1\ns3,Y,2\ntwin,Y,3\n")
    for model, metric in (("m1", "acc"), ("m2", "acc_norm")):
        Path(model).mkdir()
        log = {"doc_id": 0, "target": model, "metrics": [metric], metric: 1.0}
        Path(model, "samples_quiz_2025-01-31T10-00-00.jsonl").write_text(f"{json.dumps(log)}\n")
    Path("gold.txt").write_text("The cat\nA dog barks\n1-2\nfour\n")
    Path("a.txt").write_text("the cat\nA dog bark\n1-2\nfour\n")
    Path("b.txt").write_text("The cat\na hog\n1-3\nfor\n")
    for name, order in {"a": "1234", "b": "4321", "gold": "1234"}.items():
        Path(f"ids_{name}.txt").write_text("".join(f"q{i}\tlabel {i}\n" for i in order))
    ranked = {"candidate": range(12), "gold": [1, 0] * 6, "m1": [3, 3, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1]}
    pd.DataFrame({**ranked, "m2": [1, 2, 2, 2, 2, 2, 2, 3, 4, 1, 1, 1]}).to_csv("candidates.csv", index=False)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the command would compare, and how, instead of the comparison itself."""
    found: list[Any] = []

    def examine(test_set: TestSet, how: HowTested) -> None:
        outputs = test_set.outputs
        tables = [table.to_json() for table in (outputs.items, outputs.systems)]
        asked = test_set.by, test_set.options, test_set.duplicates, how.alpha, how.margin
        found.append((outputs.metric.name, outputs.statistics.tolist(), tables, asked))
        raise typer.Exit

    monkeypatch.setattr(import_module("simstudy.cli.compare"), "_examine", examine)
    return found


def test_the_help_names_every_format() -> None:
    help_of_format = Files.__dataclass_fields__["format"].metadata["help"]
    assert help_of_format.partition(" (")[0].split(", ") == [*formats()]


def test_every_option_is_tried() -> None:
    assert set(OPTIONS) | ELSEWHERE | {"metric", "context"} == set(
        inspect.signature(import_module("simstudy.cli.compare").compare).parameters
    )


@pytest.mark.parametrize(
    ("without", "option"), [case for cases in OPTIONS.values() for case in cases], ids=lambda case: " ".join(case[-2:])
)
def test_an_option_changes_what_is_compared(
    asked: list[Any], without: tuple[str, ...], option: tuple[str, ...]
) -> None:
    code, _, err = compare(*without, *option)
    before, *_ = compare(*without)
    if option[0] in REFUSED:
        assert (code, before) == (2, 0)
    elif option[0] in NEEDED:
        assert (code, before) == (0, 2), err
    else:
        assert (code, before) == (0, 0), err
        assert asked[0] != asked[1]


def test_the_metric_changes_what_is_compared(asked: list[Any]) -> None:
    for metric in ("mean", "accuracy"):
        assert compare("scores01.csv", "--metric", metric)[0] == 0
    (mean, *_), (accuracy, *_) = asked
    assert (mean, accuracy) == ("mean", "accuracy")


def test_a_seed_breaks_the_ties_of_candidates(asked: list[Any]) -> None:
    for seed in "012345":
        assert compare(*RANKED, "--seed", seed)[0] == 0
    assert len({str(statistics) for _, statistics, *_ in asked}) > 1


def test_missing_items_are_dropped_or_are_0(asked: list[Any]) -> None:
    for how in ("drop", "zero"):
        assert compare(*HOLES, "--missing", how)[0] == 0
    (_, dropped, *_), (_, zero, *_) = asked
    assert [len(dropped[0]), len(zero[0])] == [22, 24]
