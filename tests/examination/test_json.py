from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from math import comb

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.equivalence import BOTH
from simstudy.examination import Examination, examine
from simstudy.examination.json import as_json
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from simstudy.suites import across_tasks
from simstudy.truth import correlated_accuracies

KEYS = [
    "schema", "simstudy", "settings", "verdict", "notes", "systems", "pairs", "groups", "thresholds",
    "significant_gains", "near_duplicates",
]  # fmt: skip

#: Of a pair.
COLUMNS = [
    "p_value", "p_low", "p_high", "p_two_sided", "p_floor", "p_holm", "p_bh", "gain", "gain_se", "gain_low",
    "gain_high", "score_a", "n_items", "n_units", "unit", "wins", "losses", "ties", "better", "n_extreme",
    "n_resamples", "computation", "exact_level",
]  # fmt: skip


def written(found: Examination, settings: dict[str, object]) -> str:
    return "".join(as_json(found, settings))


def test_an_object_of_everything(loaded: Loaded) -> None:
    found = examine(loaded, alpha=0.1, duplicates="note")
    text = written(found, {"alpha": 0.1})
    content = json.loads(text)
    assert text == json.dumps(content, ensure_ascii=False, indent=2)
    assert list(content) == KEYS
    assert content["simstudy"] == version("simstudy")
    assert content["settings"] == {"alpha": 0.1}
    assert content["verdict"] is None
    assert content["notes"] == list(found.notes)
    assert [(row["system"], row["score"]) for row in content["systems"]] == [
        ("best", 90), ("twin", 87.5), ("good", 82.5), ("fair", 70), ("worst", 20),
    ]  # fmt: skip
    assert "name" not in content["systems"][0]
    members = found.groups.groupby("group")["system"].agg(list)
    assert content["groups"] == members.tolist() != [sorted(group) for group in members]
    assert [row["system_b"] for row in content["near_duplicates"]] == ["twin"]
    none = examine(Loaded(loaded.outputs.select(["best", "worst"])), duplicates="note")
    assert json.loads(written(none, {}))["near_duplicates"] == [], "looked for, and not found"


def test_numbers_are_those_of_the_comparison_to_the_last_bit(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are made into text three at a time."""
    monkeypatch.setattr("simstudy.examination.json._TOGETHER", 3)
    found = examine(loaded, n_resamples=3000, monte_carlo=True)
    content = json.loads(written(found, {}))
    rows = {(row["system_a"], row["system_b"]): row for row in content["pairs"]}
    assert len(rows) == len(found.pairs) == 10
    for pair in found.pairs.frame.to_dict("records"):
        row = rows[pair["system_a"], pair["system_b"]]
        for name in COLUMNS:
            assert row[name] == pair[name]
            assert type(row[name]) is type(pair[name])
    p_values = [row["p_value"] for row in content["pairs"]]
    assert p_values == sorted(p_values)


def test_a_margin_and_what_pairs_say_of_it(loaded: Loaded) -> None:
    pairs = json.loads(written(examine(loaded, margin=12), {}))["pairs"]
    for row in pairs:
        assert row["margin"] == 12
        assert (row["p_equivalence"] <= 0.025) == (max(-row["gain_low"], row["gain_high"]) < 12)
        assert (row["p_noninferiority"] <= 0.025) == (-row["gain_low"] < 12)
        assert row["p_equivalence"] <= row["p_equivalence_holm"] >= row["p_noninferiority_holm"]
        assert (row["p_equivalence_holm"] <= 0.025) == (row["conclusion"] in ("equivalent", BOTH))
    assert len({row["conclusion"] for row in pairs}) > 1


def test_a_very_small_p_value_is_not_0() -> None:
    """All of 80 items won: the sign test's p is 2^-80."""
    outputs = Outputs.from_statistics([[[1, 1]] * 80, [[0, 1]] * 80], "accuracy", ["new", "old"])
    (row,) = json.loads(written(examine(Loaded(outputs), test="sign"), {}))["pairs"]
    assert row["p_value"] == pytest.approx(comb(80, 80) / 2**80 * (2 if row["alternative"] == "two-sided" else 1))


def test_what_is_not_known_is_null(loaded: Loaded) -> None:
    """No statistic of a bootstrap, no threshold of ten pairs, an infinite t where all items differ alike."""
    content = json.loads(written(examine(loaded), {}))
    assert {row["statistic"] for row in content["pairs"]} == {None}
    assert content["thresholds"][0]["threshold"] is None
    systems = loaded.outputs.systems.assign(group=["x", None, None, None, None])
    outputs = Outputs.from_statistics(loaded.outputs.statistics, "accuracy", systems)
    rows = json.loads(written(examine(Loaded(outputs)), {}))["systems"]
    assert sorted(str(row["group"]) for row in rows) == ["None"] * 4 + ["x"]
    assert not any("train_size" in row for row in rows), "nothing is known of any"
    far = Outputs.from_scores(pd.DataFrame({"a": [2.0, 3.0, 4.0], "b": [1.0, 2.0, 3.0]}))
    text = written(examine(Loaded(far), test="t_paired"), {})
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_names_stay_as_they_are(loaded: Loaded) -> None:
    statistics = loaded.outputs.statistics[:2]
    outputs = Outputs.from_statistics(statistics, "accuracy", ['süß "x"', "日本\\n"])
    text = written(examine(Loaded(outputs)), {})
    assert "süß" in text
    assert {row["system"] for row in json.loads(text)["systems"]} == {'süß "x"', "日本\\n"}


@pytest.mark.parametrize("k", [2, 3])
def test_the_answer_of_an_average_is_of_two_systems_or_of_all_pairs(k: int) -> None:
    outputs = correlated_accuracies([0.5, 0.6, 0.8][:k], 60)
    outputs = replace(outputs, items=outputs.items.assign(domain=np.arange(60) // 20))
    tasks = across_tasks(outputs, by="domain", n_resamples=200)
    answer = json.loads(written(replace(examine(outputs), tasks=tasks), {}))["answer"]
    assert (answer["average"], answer["tasks"]) == ("macro", 3)
    rows = answer["pairs"] if k > 2 else [answer]
    columns = ["system_a", "system_b", "gain", "gain_low", "p_value"]
    assert [[row[name] for name in columns] for row in rows] == tasks.answer[columns].to_numpy().tolist()
    assert len(rows) == k * (k - 1) // 2
