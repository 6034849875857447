"""Macro-F1, balanced accuracy and MCC, against scikit-learn and all shuffles."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef

import simstudy as ss
from simstudy.metrics.labels import PER_CLASS

OTHERS = {
    "macro_f1": lambda gold, said: 100 * f1_score(gold, said, labels=np.unique(gold), average="macro", zero_division=0),
    "balanced_accuracy": lambda gold, said: 100 * balanced_accuracy_score(gold, said),
    "mcc": matthews_corrcoef,
}


def labels(n: int, seed: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Gold labels with a rare class, and two systems, one of which says what nobody else does."""
    rng = np.random.default_rng(seed)
    gold = rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05])
    said = [np.where(rng.random(n) < p, gold, rng.choice(list(known), n)) for p, known in ((0.6, "abcd"), (0.5, "abx"))]
    return gold, pd.DataFrame(dict(zip(["one", "two"], said, strict=True)))


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:.*number of unique classes:UserWarning")
@pytest.mark.parametrize("name", PER_CLASS)
def test_scores_are_those_of_scikit_learn_on_every_resample(name: str, rng: np.random.Generator) -> None:
    """Resamples of 12 items lack classes of the whole test set."""
    gold, said = labels(12, 3)
    outputs = ss.Outputs.from_labels(gold, said, name)
    for _ in range(15):
        drawn = rng.integers(0, 12, size=12)
        expected = [OTHERS[name](gold[drawn], said[system].to_numpy()[drawn]) for system in said]
        np.testing.assert_allclose(outputs.take(drawn).scores(), expected, atol=1e-12)


def test_nothing_predicted_and_one_class_are_zeros_of_scikit_learn() -> None:
    said = pd.DataFrame({"wrong": ["b", "b"], "right": ["a", "a"]})
    assert ss.Outputs.from_labels(["a", "a"], said).scores().tolist() == [0, 100]
    assert ss.Outputs.from_labels(["a", "a"], said, "mcc").scores().tolist() == [0, 0]


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


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("name", PER_CLASS)
def test_the_p_value_is_the_share_of_all_swaps(name: str) -> None:
    gold, said = labels(6, 33)
    outputs = ss.Outputs.from_labels(gold, said, name)
    pair = ss.compare(outputs, test="randomization").frame.iloc[0]
    both, gains = said.to_numpy(), list[float]()
    for swaps in product((False, True), repeat=6):
        swapped = np.where(np.array(swaps)[:, None], both[:, ::-1], both)
        gains.append(OTHERS[name](gold, swapped[:, 0]) - OTHERS[name](gold, swapped[:, 1]))
    expected = np.mean(np.abs(gains) >= np.abs(gains[0]) - 1e-9)
    assert pair["p_value"] == pytest.approx(expected)


def test_the_classes_are_kept_in_the_file(tmp_path: Path) -> None:
    outputs = ss.Outputs.from_labels(*labels(30, 1))
    outputs.save(tmp_path / "kept.parquet")
    back = ss.Outputs.load(tmp_path / "kept.parquet")
    assert back.metric == outputs.metric
    assert back.fingerprint() == outputs.fingerprint()
    gold, said = labels(30, 1)
    same = back.with_metric("mcc")
    assert same.scores().tolist() == pytest.approx([matthews_corrcoef(gold, said[system]) for system in said])


def test_tables_and_lines_of_labels_say_the_same(tmp_path: Path) -> None:
    gold, said = labels(40, 2)
    expected = ss.Outputs.from_labels(gold, said).scores().tolist()
    wide = said.assign(label=gold)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    long = wide.reset_index(names="item").melt(["item", "label"], var_name="system", value_name="prediction")
    long.to_csv(tmp_path / "long.csv", index=False)
    # Blanks around a label are no part of it.
    wide.assign(one=" " + wide["one"], label=wide["label"] + " ").to_csv(tmp_path / "blanks.csv", index=False)
    for path in ("wide.csv", "long.csv", "blanks.csv"):
        loaded = ss.load(tmp_path / path, "macro_f1")
        assert loaded.outputs.scores().tolist() == expected
        assert loaded.outputs.answers is not None
    (tmp_path / "gold.txt").write_text("\n".join(gold) + "\n")
    for system in said:
        (tmp_path / f"{system}.txt").write_text("\n".join(said[system]) + "\n")
    files = [tmp_path / f"{system}.txt" for system in said]
    assert ss.load(files, "macro_f1", references=tmp_path / "gold.txt").outputs.scores().tolist() == expected
    right = [100 * float((said[system] == gold).mean()) for system in said]
    assert ss.load(tmp_path / "wide.csv", "acc").outputs.scores().tolist() == pytest.approx(right)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"two": "text"}, "column 'two' is a system, but none of its labels is a gold one; columns={'two':"),
        ({"label": ""}, "line 2: no gold label"),
    ],
)
def test_what_tables_of_labels_must_have(change: dict[str, str], problem: str, tmp_path: Path) -> None:
    gold, said = labels(10, 4)
    said.assign(label=gold, item=range(10)).assign(**change).to_csv(tmp_path / "bad.csv", index=False)
    with pytest.raises(ValueError, match=problem.replace("(", r"\(").replace("{", r"\{")):
        ss.load([tmp_path / "bad.csv"], "macro_f1")


def test_what_labels_must_be() -> None:
    said = pd.DataFrame({"one": ["a", "b"]})
    with pytest.raises(ValueError, match="^gold must be 2, one for each row of the answers, not 1$"):
        ss.Outputs.from_labels(["a"], said)
    with pytest.raises(ValueError, match="^gold must have a label for every item; number 2 has none$"):
        ss.Outputs.from_labels(["a", None], said)  # type: ignore[list-item]
    with pytest.raises(
        ValueError, match="^metric must be one of accuracy, macro_f1, balanced_accuracy, mcc for labels"
    ):
        ss.Outputs.from_labels(["a", "b"], said, "f1")
    with pytest.raises(ValueError, match="^metric 'mcc' needs the classes of its labels: Outputs.from_labels finds"):
        ss.Outputs.from_statistics(np.ones((1, 2, 3), dtype=int), "mcc")
    assert ss.Outputs.from_labels([1, 0], pd.DataFrame({"one": [1.0, 1.0]}), "accuracy").scores().tolist() == [50]
