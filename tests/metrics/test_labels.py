"""Macro-F1, balanced accuracy and MCC, against scikit-learn and all shuffles."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef

import simstudy as ss
from simstudy.metrics.labels import PER_CLASS

pytestmark = [
    pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true"),
    pytest.mark.filterwarnings("ignore:.*number of unique classes:UserWarning"),
    pytest.mark.filterwarnings("ignore:A single label was found:UserWarning"),
]

#: scikit-learn's functions of gold and predicted labels.
THEIRS: dict[str, Any] = {
    "macro_f1": lambda gold, labels: 100 * f1_score(gold, labels, labels=[*{*gold}], average="macro", zero_division=0),
    "balanced_accuracy": lambda gold, labels: 100 * balanced_accuracy_score(gold, labels),
    "mcc": matthews_corrcoef,
}


def labels(n: int, seed: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Gold labels with a rare class, and labels of two systems, of which one predicts a class of its own."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05])
    one, two = (np.where(rng.random(n) < p, gold, rng.choice([*k], n)) for p, k in ((0.6, "abcd"), (0.5, "abx")))
    return gold, pd.DataFrame({"one": one, "two": two})


@pytest.mark.parametrize("name", PER_CLASS)
def test_scores_are_those_of_scikit_learn_on_every_resample(name: str, rng: np.random.Generator) -> None:
    """Resamples of 12 items lack classes of the whole test set, and of the first item have one class."""
    gold, predicted = labels(12, 3)
    outputs = ss.Outputs.from_labels(gold, predicted, name)
    for drawn in [np.zeros(3, dtype=int), *rng.integers(0, 12, size=(15, 12))]:
        expected = [THEIRS[name](gold[drawn], predicted[system].to_numpy()[drawn]) for system in predicted]
        np.testing.assert_allclose(outputs.take(drawn).scores(), expected, atol=1e-12)


@pytest.mark.parametrize("name", PER_CLASS)
def test_a_stray_answer_is_wrong_and_makes_no_class(name: str) -> None:
    """Two systems that differ on 12 of 60 items; three answers of one of them are no gold label."""
    gold = ["pos", "neg"] * 30
    other = [label if i >= 12 else gold[i + 1 - 2 * (i % 2)] for i, label in enumerate(gold)]
    one = ["unknown" if i in (0, 1, 20) else label for i, label in enumerate(other)]
    pair = ss.compare(ss.Outputs.from_labels(gold, pd.DataFrame({"one": one, "other": other}), name)).frame.iloc[0]
    assert pair["p_value"] > 0.1
    assert abs(pair["gain"]) < (0.1 if name == "mcc" else 5)
    assert pair["gain_low"] < 0 < pair["gain_high"]


@pytest.mark.parametrize("name", PER_CLASS)
def test_the_p_value_is_the_share_of_all_swaps(name: str) -> None:
    gold, predicted = labels(6, 33)
    pair = ss.compare(ss.Outputs.from_labels(gold, predicted, name), test="randomization").frame.iloc[0]
    both, gains = predicted.to_numpy(), list[float]()
    for swaps in product((False, True), repeat=6):
        swapped = np.where(np.array(swaps)[:, None], both[:, ::-1], both)
        gains.append(THEIRS[name](gold, swapped[:, 0]) - THEIRS[name](gold, swapped[:, 1]))
    assert pair["p_value"] == pytest.approx(np.mean(np.abs(gains) >= np.abs(gains[0]) - 1e-9))


def test_the_classes_are_kept_in_the_file(tmp_path: Path) -> None:
    gold, predicted = labels(30, 1)
    outputs = ss.Outputs.from_labels(gold, predicted)
    outputs.save(tmp_path / "kept.parquet")
    loaded = ss.Outputs.load(tmp_path / "kept.parquet")
    assert loaded.metric == outputs.metric
    expected = [matthews_corrcoef(gold, predicted[system]) for system in predicted]
    assert loaded.with_metric("mcc").scores().tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("gold", "metric", "message"),
    [
        (["a"], "macro_f1", "gold must be 2, one for each row of the answers, not 1$"),
        (["a", None], "macro_f1", "gold must have a label for every item; number 2 has none$"),
        (["a", "b"], "f1", "metric must be one of accuracy, macro_f1, balanced_accuracy, mcc for labels"),
    ],
)
def test_labels_that_are_refused(gold: list[Any], metric: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        ss.Outputs.from_labels(gold, pd.DataFrame({"one": ["a", "b"]}), metric)


def test_classes_come_from_labels() -> None:
    with pytest.raises(ValueError, match="^metric 'mcc' needs the classes of its labels: Outputs.from_labels finds"):
        ss.Outputs.from_statistics(np.ones((1, 2, 3), dtype=int), "mcc")
    assert ss.Outputs.from_labels([1, 0], pd.DataFrame({"one": [1.0, 1.0]}), "accuracy").scores().tolist() == [50]
