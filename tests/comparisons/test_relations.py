from __future__ import annotations

from itertools import combinations

import pandas as pd
import pytest

from simstudy.comparisons.relation_classes import COMBINATIONS, MIXED, related


def pairs_of(names: str) -> pd.DataFrame:
    return pd.DataFrame(list(combinations(names, 2)), columns=["system_a", "system_b"])


def relations(systems: pd.DataFrame, by: str) -> dict[str, str]:
    """Pair, written ab, -> its relation."""
    table = related(pairs_of("".join(systems["name"])), systems, by)
    return dict(zip(table["system_a"] + table["system_b"], table["relation"], strict=True))


@pytest.mark.parametrize("unknown", [None, float("nan"), pd.NA])
@pytest.mark.parametrize("kind", ["object", "string"])
def test_two_systems_of_which_one_has_no_value_are_of_unknown_relation(unknown: object, kind: str) -> None:
    """Two unknown values are not the same value, however a table holds what it does not know."""
    groups = pd.Series(["x", "x", "y", unknown, unknown], dtype=kind)
    found = relations(pd.DataFrame({"name": list("abcde"), "group": groups}), "group")
    assert {pair for pair, relation in found.items() if relation == "same group"} == {"ab"}
    assert {pair for pair, relation in found.items() if relation == "different groups"} == {"ac", "bc"}
    assert {pair for pair, relation in found.items() if relation == "group unknown"} == set(found) - {"ab", "ac", "bc"}


@pytest.mark.parametrize(
    ("by", "same", "different"),
    [
        ("base_model", "same base model", "different base models"),
        ("day", "same day", "different days"),
        ("model_class", "same model class", "different model classes"),
    ],
)
def test_classes_are_called_after_the_column(by: str, same: str, different: str) -> None:
    found = relations(pd.DataFrame({"name": list("abc"), by: [1, 1, 2]}), by)
    assert found == {"ab": same, "ac": different, "bc": different}


@pytest.mark.parametrize(
    "combination",
    [
        [False, False, True, True],
        ["false", "False", "true", "TRUE"],
        pd.array([pd.NA, False, True, True], dtype="boolean"),
        ["", "0", "1", "true"],
    ],
)
def test_combinations_are_classes_of_their_own(combination: object) -> None:
    """Whether a table has them as truth values, as numbers or as words; a system of which nothing is said is none."""
    systems = pd.DataFrame({"name": list("abcd"), "group": ["x", "x", "x", None], "combination": combination})
    systems = systems.mask(systems.astype(object) == "") if combination == ["", "0", "1", "true"] else systems
    found = relations(systems, "group")
    assert found == {"ab": "same group", "cd": COMBINATIONS} | dict.fromkeys(("ac", "ad", "bc", "bd"), MIXED)


def test_rows_stay_in_their_order_and_the_table_that_was_given_as_it_was() -> None:
    systems = pd.DataFrame({"name": list("dcba"), "group": ["x", "y", "x", "y"]})
    pairs = pairs_of("abcd").assign(relation="other", gain=[3, 1, 2, 6, 5, 4]).set_index(pd.Index([9, 9, 1, 7, 5, 0]))
    before = pairs.copy()
    found = related(pairs, systems, "group")
    pd.testing.assert_frame_equal(pairs, before)
    pd.testing.assert_frame_equal(found.drop(columns="relation"), before.drop(columns="relation"))
    assert found["relation"].tolist() == [f"{'same' if two in ('ac', 'bd') else 'different'} group" + "s" * (
        two not in ("ac", "bd")) for two in ("ab", "ac", "ad", "bc", "bd", "cd")]  # fmt: skip


def test_what_can_not_be_related_is_named() -> None:
    systems = pd.DataFrame({"name": list("ab"), "group": ["x", "y"], "combination": ["yes", None]})
    with pytest.raises(ValueError, match=r"not 'gruop' \(did you mean 'group'\?\); it has group, combination$"):
        related(pairs_of("ab"), systems, "gruop")
    with pytest.raises(ValueError, match="by must be a column of the systems table, not 'name'; it has group"):
        related(pairs_of("ab"), systems, "name")
    with pytest.raises(ValueError, match="it has none for 'c'"):
        related(pairs_of("abc"), systems, "group")
    with pytest.raises(ValueError, match="combination must be true or false, not 'yes'"):
        related(pairs_of("ab"), systems, "group")
    with pytest.raises(ValueError, match="at least one row"):
        related(pairs_of("a"), systems, "group")
