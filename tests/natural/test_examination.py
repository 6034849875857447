from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.loaders.base import Loaded
from simstudy.natural import examination, examine
from simstudy.outputs import Outputs


def with_columns(loaded: Loaded, **columns: object) -> Loaded:
    outputs = loaded.outputs
    return replace(loaded, outputs=replace(outputs, systems=outputs.systems.assign(**columns)))


def test_everything_is_what_the_parts_say(loaded: Loaded) -> None:
    options = {"test": "randomization", "n_resamples": 500, "alternative": "two-sided"}
    found = examine(loaded, alpha=0.1, comparison=options)
    pairs = ss.corrected(ss.compare(loaded.outputs, **options)).assign(relation="all pairs")
    pd.testing.assert_frame_equal(found.pairs[pairs.columns], pairs)
    assert len(found.pairs) == 10
    pd.testing.assert_frame_equal(found.groups, ss.groups(pairs, cutoff=0.1))
    pd.testing.assert_frame_equal(found.thresholds, ss.thresholds(pairs))
    assert found.gains["note"].str.startswith("too few").all()
    assert found.curve.empty
    assert found.outputs is loaded.outputs


def test_near_duplicates_are_kept_with_a_note_or_dropped_with_another(loaded: Loaded) -> None:
    kept = examine(loaded)
    assert kept.duplicates[["system_a", "system_b", "n_identical"]].to_numpy().tolist() == [["best", "twin", 39]]
    assert kept.notes == ("a note of the loader", "1 pair of near-duplicates kept, first best / twin")
    assert len(kept.pairs) == 10
    dropped = examine(loaded, duplicates="drop")
    assert dropped.outputs.names == ["best", "good", "worst", "fair"]
    assert len(dropped.pairs) == 6
    assert "twin" not in set(dropped.pairs["system_a"]) | set(dropped.pairs["system_b"]) | set(dropped.groups["system"])
    assert dropped.notes == ("a note of the loader", "near-duplicates dropped: twin")
    pd.testing.assert_frame_equal(dropped.duplicates, kept.duplicates)


def test_systems_that_are_all_alike_can_not_be_dropped() -> None:
    scores = pd.DataFrame({"a": [1, 0, 1], "b": [1, 0, 1], "c": [1, 0, 1]})
    same = Loaded(Outputs.from_scores(scores, "accuracy"))
    with pytest.raises(ValueError, match="duplicates must be 'keep': all 3 systems are near-duplicates"):
        examine(same, duplicates="drop")
    assert (examine(same).pairs["p_value"] == 1).all()


def test_classes_come_from_a_column(loaded: Loaded) -> None:
    found = examine(with_columns(loaded, lab=["x", "x", "y", "y", None]), by="lab")
    relation = dict(zip(found.pairs["system_a"] + " " + found.pairs["system_b"], found.pairs["relation"], strict=True))
    assert relation["best twin"] == relation["good worst"] == "same lab"
    assert relation["best good"] == "different labs"
    assert relation["fair worst"] == "lab unknown"
    assert set(found.thresholds["relation"]) == {"same lab", "different labs", "lab unknown", "all pairs"}
    with pytest.raises(ValueError, match="by must be a column of the systems table, not 'labb'"):
        examine(loaded, by="labb")


def test_groups_of_the_registry_are_unknown_where_nothing_is_said(loaded: Loaded) -> None:
    assert set(examine(loaded, by="group").pairs["relation"]) == {"group unknown"}


def test_domains_are_never_mixed_in_silence(loaded: Loaded) -> None:
    items = loaded.outputs.items.assign(domain=["mail"] * 10 + ["news"] * 30)
    mixed = replace(loaded, outputs=replace(loaded.outputs, items=items))
    note = "items of 2 domains are tested together: news 30, mail 10"
    assert note in examine(mixed).notes
    assert note not in examine(mixed, comparison={"strata": "domain"}).notes
    assert note not in examine(Loaded(mixed.outputs.domain("news"))).notes
    many = items.assign(domain=[f"d{i // 4}" for i in range(40)])
    notes = examine(replace(loaded, outputs=replace(loaded.outputs, items=many))).notes
    assert any(n.startswith("items of 10 domains") and n.endswith("and 4 more") for n in notes)


def test_too_many_maximal_groups_are_made_from_the_top(rng: np.random.Generator) -> None:
    """30 systems that differ within ten threes, and in no other pair: 3^10 maximal groups (Moon and Moser 1965)."""
    table = (rng.random((40, 30)) < 0.5).astype(int)
    outputs = Outputs.from_scores(pd.DataFrame(table, columns=[f"s{k}" for k in range(30)]), "accuracy")
    pairs = ss.compare(outputs, n_resamples=10)
    place = {name: k for k, name in enumerate(outputs.best_first().names)}
    three = pairs["system_a"].map(place) // 3 == pairs["system_b"].map(place) // 3
    settled = pairs.assign(p_value=np.where(three, 0.0, 0.9), n_resamples=0, n_extreme=0)
    assert examination._groups(settled, 0.05)["rule"].unique().tolist() == ["greedy"]
    assert examination._groups(pairs, 0.05)["rule"].unique().tolist() == ["maximal"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duplicates": "dropp"}, r"duplicates must be one of keep, drop, not 'dropp' \(did you mean 'drop'\?\)"),
        ({"alpha": 5}, "alpha must lie between 0 and 1"),
        ({"comparison": {"test": "bootstrp"}}, "did you mean 'bootstrap'"),
        ({"comparison": {"unit": "document"}}, "no column 'document'"),
    ],
)
def test_bad_options(loaded: Loaded, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        examine(loaded, **options)  # type: ignore[arg-type]


def test_one_system_is_none_to_compare(loaded: Loaded) -> None:
    alone = Loaded(loaded.outputs.select(["good"]))
    with pytest.raises(ValueError, match="at least 2 systems to compare, not 1"):
        examine(alone)


def test_the_verdict_on_two_systems_has_the_other_tail(loaded: Loaded) -> None:
    """8 items won and 2 lost: the sign test has 56 / 1024, and twice that for both tails."""
    table = [[[1, 1]] * 8 + [[0, 1]] * 2, [[0, 1]] * 8 + [[1, 1]] * 2]
    two = Loaded(Outputs.from_statistics(table, "accuracy", ["new", "old"]))
    found = examine(two, comparison={"test": "sign", "alternative": "greater"})
    assert found.verdict is not None
    assert "p = 0.055 (sign test, one-sided, exact; two-sided p = 0.109)" in found.verdict
    assert examine(loaded).verdict is None
