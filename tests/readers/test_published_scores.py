"""Scores that others published, read from their own files: our figures are theirs."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss


def scores_of(path: Path, metric: str, columns: dict[str, str], missing: str = "error") -> pd.Series:
    outputs = ss.load(path, metric, columns=columns, missing=missing).outputs
    return pd.Series(outputs.scores(), outputs.names)


ANSWERS = {"item": "instance_id", "score": "resolved", "domain": "repo"}
COUNTS = {"item": "sent", "correct": "las", "guessed": "n", "gold": "n_gold"}


@pytest.mark.parametrize(
    ("name", "columns", "rows", "column", "atol"),
    [
        ("swebench/swebench_verified", ANSWERS, "split == 'verified'", "resolved_pct_recomputed", 1e-9),
        ("imagenet_cifar/cifar10_wide", {"class": "class"}, "dataset != 'imagenet'", "acc1_recomputed", 0.005),
        ("conll2018_ud/en_ewt", COUNTS, "treebank == 'en_ewt' and status == 'ok'", "las_f1", 0.005 + 1e-9),
    ],
)
def test_scores_are_those_of_the_publishers(
    name: str, columns: dict[str, str], rows: str, column: str, atol: float, shared_data: Path
) -> None:
    path, metric = shared_data / f"{name}.csv.gz", "f1" if columns is COUNTS else "accuracy"
    found = scores_of(path, metric, columns)
    table = pd.read_csv(path.with_name("scores.csv" if metric == "f1" else "systems.csv")).query(rows)
    assert len(found) == len(table)
    np.testing.assert_allclose(found, table.set_index("system")[column][found.index], atol=atol)


def test_mmlu_pro_has_systems_with_fewer_items(shared_data: Path) -> None:
    folder = shared_data / "mmlu_pro"
    columns = {"item": "question_id", "score": "correct"}
    with pytest.raises(ValueError, match=r"system 'DeepSeek-Coder-V2' .* lacks 1,681 of 12,032 items, first '3872'"):
        scores_of(folder / "mmlu_pro.csv.gz", "accuracy", columns)
    found = scores_of(folder / "mmlu_pro.csv.gz", "accuracy", columns, "zero")
    table = pd.read_csv(folder / "systems.csv").set_index("system").loc[found.index]
    np.testing.assert_allclose(found, 100 * table["acc"] * table["n_items"] / 12032, atol=0.006)
