"""The file that keeps looks: levels, repeated and contradicting looks, damaged files, and several writers at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from simstudy.gates.asked import BETTER, Gate
from simstudy.gates.findings import Finding
from simstudy.gates.looks import SPENDING, Plan, looks_file, read_looks
from simstudy.gates.verdicts import Verdict
from tests.cli.command import compare, write_wide

GATE = ("--fail-unless-better", "new", "old")
LOOKS = ("--looks", "looks.json")


def commit(wins: int, losses: int, n: int = 60, **names: str) -> str:
    """A file of a new system that wins and loses so many items against the old one."""
    new, old = names.get("new", "new"), names.get("old", "old")
    rights = {old: [0] * wins + [1] * losses + [1] * (n - wins - losses)}
    return write_wide("scores.csv", {**rights, new: [1] * wins + [0] * losses + [1] * (n - wins - losses)})


def kept() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path("looks.json").read_text("utf-8"))["looks"]
    return found


def asked(path: str, *more: str) -> tuple[int, str, str]:
    return compare(path, "--metric", "accuracy", *GATE, *LOOKS, *more)


# Each look is a new question


@pytest.mark.parametrize("gate", [GATE, ("--fail-if-worse", "old", "new")])
def test_looks_share_the_level_and_a_look_that_shows_its_claim_hands_its_level_on(gate: tuple[str, ...]) -> None:
    """alpha / 2, / 6, / 12; the third shows it, so that the fourth has / 12 + / 20, and the fifth / 30 again.

    That old is worse than new has the p-values of new being better, and shown it stops the pipeline.
    """
    alpha, levels, shown = 0.05, [1 / 2, 1 / 6, 1 / 12, 1 / 12 + 1 / 20, 1 / 30], [False, False, True, False, False]
    # Signs: 9 of 11, 9 of 10, 10 of 10, 10 of 12, 11 of 13.
    for (wins, losses), level, claim in zip([(9, 2), (9, 1), (10, 0), (10, 2), (11, 2)], levels, shown, strict=True):
        p_value = stats.binomtest(losses, wins + losses).pvalue
        assert (p_value <= alpha * level) == claim
        code, _, err = compare(commit(wins, losses), "--metric", "accuracy", *gate, *LOOKS)
        assert (code == 0) == (claim == (gate == GATE)), err
    assert [one["level"] for one in kept()] == pytest.approx([alpha * level for level in levels])
    assert [one["number"] for one in kept()] == [1, 2, 3, 4, 5]
    assert [one["claimed"] for one in kept()] == shown
    assert [one["passed"] for one in kept()] == [one == (gate == GATE) for one in shown]
    assert "[look 5 of looks.json, with 0.0017 of the level 0.05]" in err


def test_planned_looks_have_equal_shares_until_they_are_used() -> None:
    """The second shows its claim: its level is there for one more."""
    planned = ("--planned-looks", "2")
    assert [asked(commit(*signs), *planned)[0] for signs in ((7, 2), (10, 0), (8, 2))] == [1, 0, 1]
    assert [one["level"] for one in kept()] == [0.025] * 3
    code, out, err = asked(commit(20, 2), *planned)
    assert (code, out) == (2, "")
    assert err.startswith(
        "simstudy: looks.json: all 2 planned looks are used, and with them the level; more looks need"
    )
    assert len(kept()) == 3


def test_the_same_look_is_not_counted_twice_and_has_its_level_again() -> None:
    assert [asked(commit(9, 2))[0], asked(commit(10, 1))[0], asked(commit(9, 2))[0]] == [1, 1, 1]
    assert len(kept()) == 2
    *_, err = asked(commit(9, 2))
    assert "[look 1 of looks.json again: the same outputs, with 0.025 of the level 0.05]" in err
    # Other names are another look: nobody knows that they are the same systems.
    path = commit(9, 2, new="abc123")
    assert compare(path, "--metric", "accuracy", "--fail-unless-better", "abc123", "old", *LOOKS)[0] == 1
    assert len(kept()) == 3
    # So is the other system, asked about on the same items; a third system beside the two is none.
    assert compare(commit(9, 2), "--metric", "accuracy", "--fail-unless-better", "old", "new", *LOOKS)[0] == 1
    assert len(kept()) == 4
    pd.read_csv(commit(9, 2)).assign(third=1).to_csv("scores.csv", index=False)
    assert "[look 1 of looks.json again: the same outputs" in asked("scores.csv")[2]


def test_another_margin_is_another_look() -> None:
    how = (commit(9, 2), "--metric", "accuracy", *LOOKS, "--fail-unless-not-worse", "new", "old", "--margin")
    for margin in ("5", "9", "5"):
        compare(*how, margin)
    assert [(one["number"], one["margin"], one["claimed"]) for one in kept()] == [(1, 5, True), (2, 9, True)]
    (gate,) = json.loads(compare(*how, "9", "--json")[1])["gates"]
    part = {"of": "accuracy", "n_units": 60, "p_value": gate["p_value"], "e_value": None, "units": ""}
    assert kept()[1]["parts"] == [part]


def test_every_gate_of_a_call_is_a_look_and_comparisons_share_its_level() -> None:
    path = commit(12, 0)
    table = pd.read_csv(path).assign(domain=["x"] * 30 + ["y"] * 30)
    table.to_csv(path, index=False)
    code, out, _ = asked(path, "--by-domain", "--fail-if-worse", "new", "old", "--json")
    assert code == 1
    found = json.loads(out)
    assert [gate["look"]["level"] for gate in found[0]["gates"]] == pytest.approx([0.05 / 2, 0.05 / 6])
    # Each must pass: the whole level for each. Any fails: half of it for each of two.
    assert [[gate["alpha"] for gate in part["gates"]] for part in found] == [pytest.approx([0.05 / 2, 0.05 / 12])] * 2
    assert any("use a part of the level at each" in note for note in found[0]["notes"])


# Files


def test_a_plan_must_not_change() -> None:
    asked(commit(9, 2))
    before = Path("looks.json").read_bytes()
    for more, said in (
        (
            ("--alpha", "0.1"),
            "begun with --alpha 0.05, not with --alpha 0.1: a plan must not change once somebody has looked",
        ),
        (("--sequential",), "begun without --sequential, not with --sequential: a plan"),
        (("--planned-looks", "9"), "begun without --planned-looks, not with --planned-looks 9: a plan"),
        (("--seed", "1"), "begun with --seed 0, not with --seed 1: a plan"),
        (("--test", "t_paired"), "begun with --test sign_flips, not with --test t_paired: a plan"),
        (("--unit", "item"), "begun without --unit, not with --unit item: a plan"),
        (("--alternative", "greater"), "begun without --alternative, not with --alternative greater: a plan"),
        (("--resamples", "99"), "begun without --resamples, not with --resamples 99: a plan"),
    ):
        code, out, err = asked("scores.csv", *more)
        assert (code, out) == (2, "")
        assert err.startswith(f"simstudy: looks.json: {said}")
        assert Path("looks.json").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not a file of looks ("),
        (b"item,old,new\n", "not a file of looks ("),
        (b"\xff\xfe", "not a file of looks (it is not UTF-8)"),
        (b"[]", "not a file of looks ("),
        (b'{"schema": {"name": "simstudy-looks", "version": 2}, "plan": {}, "looks": []}', "not a file of looks ("),
        (b"[" * 100_000, "not a file of looks ("),
    ],
)
def test_other_files_are_left_as_they_are(content: bytes, said: str) -> None:
    Path("looks.json").write_bytes(content)
    code, out, err = asked(commit(9, 2))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"simstudy: looks.json: {said}")
    assert Path("looks.json").read_bytes() == content


def test_a_file_that_was_changed_by_hand_is_refused() -> None:
    asked(commit(9, 2))
    asked(commit(10, 1))
    content = json.loads(Path("looks.json").read_text())
    for damage in (
        lambda c: c["looks"].pop(0),
        lambda c: c["looks"][0].update(level=2),
        lambda c: c["looks"][0].update(more=1),
        lambda c: c["plan"].update(alpha="0.05"),
    ):
        other = json.loads(json.dumps(content))
        damage(other)
        Path("looks.json").write_text(json.dumps(other))
        code, _, err = asked(commit(11, 1))
        assert (code, err.startswith("simstudy: looks.json: ")) == (2, True)


def test_looks_that_come_at_once_are_all_kept() -> None:
    """Sixteen threads, each with a lock of its own, as processes have."""
    plan, gate, path = (
        Plan(rule=SPENDING, alpha=0.05, planned_looks=None, settings={}),
        Gate(BETTER, "a", "b"),
        Path("l.json"),
    )

    def look(k: int) -> None:
        with looks_file(path, plan) as looks:
            found = looks.ask(f"inputs {k}")
            finding = Finding(gate, "x", "x", 0.5, "= 0.5", found.level, False, 0, 0, 0, "", "", 9)
            looks.keep(Verdict(gate, (finding,), found), f"inputs {k}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(look, range(16)))
    found = read_looks(path, plan)
    assert [one.number for one in found] == [*range(1, 17)]
    assert {one.inputs for one in found} == {f"inputs {k}" for k in range(16)}
    assert [one.level for one in found] == pytest.approx([0.05 / (k * (k + 1)) for k in range(1, 17)])


def test_a_look_that_fails_leaves_the_file_as_it_was_and_one_at_a_time_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simstudy.gates.looks._PATIENCE", 0)
    plan, path = Plan(rule=SPENDING, alpha=0.05, planned_looks=None, settings={}), Path("l.json")
    with pytest.raises(ZeroDivisionError), looks_file(path, plan) as looks:
        looks.changed = bool(1 / 0)
    assert not path.exists()
    with looks_file(path, plan) as looks:
        assert looks.kept == []
        with pytest.raises(ValueError, match="^l.json: another process has held it for 0 seconds$"):
            looks_file(path, plan).__enter__()
