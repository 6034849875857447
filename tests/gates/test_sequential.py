"""Gates of the same two systems while items arrive: what is kept, and what must not change."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.arrivals import Arrivals
from simstudy.engines.betting import confidence_sequence, largest, log_e_values
from simstudy.gates.asked import BETTER, EQUIVALENT, NOT_WORSE, WORSE, Gate, Kind
from simstudy.gates.sequential import find_sequentially, fingerprint
from tests.cli.command import compare
from tests.gates.test_looks import LOOKS, asked, commit, kept


def grown(n: int, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    old = (rng.random(4000) < 0.7).astype(int)
    new = np.where(rng.random(4000) < 0.1, 1, old)
    pd.DataFrame({"old": old, "new": new})[:n].rename_axis("item").to_csv("scores.csv")
    return "scores.csv"


def test_a_sequential_gate_passes_once_and_for_all_while_items_arrive() -> None:
    codes = [asked(grown(n), "--sequential")[0] for n in (50, 400, 4000)]
    assert codes[0] == 1
    assert codes[1:] == sorted(codes[1:], reverse=True)
    assert codes[-1] == 0
    assert [one["parts"][0]["n_units"] for one in kept()] == [50, 400, 4000]
    assert [one["level"] for one in kept()] == [0.05] * 3
    e_values = [one["parts"][0]["e_value"] for one in kept()]
    assert e_values == sorted(e_values)
    code, out, err = asked(grown(4000), "--sequential", "--json")
    content = json.loads(out)
    (gate,) = content["gates"]
    assert gate["look"] == {"file": "looks.json", "number": 3, "level": 0.05, "again": True}
    assert gate["p_value"] == pytest.approx(2 / gate["e_value"], rel=1e-6, abs=0)
    # As the table of looks has it; the claim is shown as soon as the interval excludes 0.
    row = ss.comparisons.sequential(ss.load("scores.csv", "accuracy").outputs, "new", "old", looks=[4000]).iloc[0]
    names = ["n_units", "gain", "gain_low", "gain_high", "p_value"]
    assert [gate[name] for name in names] == pytest.approx(row[names].tolist(), rel=1e-6, abs=0)
    assert gate["gain_low"] > 0
    assert any("those of the gates (--sequential) hold at every look" in note for note in content["notes"])
    assert "by accuracy on 4,000 items, p < 0.000001 (two-sided); the gain is " in err
    assert "[look 3 of looks.json again: the same outputs]" in err


def test_comparisons_of_a_sequential_gate_have_the_whole_level_and_items_of_their_own() -> None:
    """Clusters of one item and of three, which count the same."""
    table = pd.read_csv(grown(200))
    block = table.index // 4
    table = table.assign(domain=np.where(block % 2, "y", "x"), cluster=2 * block + (table.index % 4 > 0))
    table.to_csv("scores.csv", index=False)
    more = ("--by-domain", "--sequential", "--fail-if-worse", "new", "old")
    _, out, err = asked("scores.csv", *more, "--json")
    gains = table.assign(gain=100 * (table["new"] - table["old"])).groupby(["domain", "cluster"])["gain"].mean()
    for part, domain in zip(json.loads(out), "xy", strict=True):
        assert [(gate["alpha"], gate["n_units"]) for gate in part["gates"]] == [(0.05, 50)] * 2
        assert [gate["gain"] for gate in part["gates"]] == pytest.approx([gains[domain].mean()] * 2)
    assert err.count("on 50 clusters, each of the same weight") == 2
    _, out, err = compare("scores.csv", "--metric", "accuracy", *more, "--unit", "item", "--json")
    assert [gate["n_units"] for part in json.loads(out) for gate in part["gates"]] == [100, 100]
    assert "clusters" not in err
    table["new"] = table["new"].where(table.index < 199, 1 - table["new"])
    table.to_csv("scores.csv", index=False)
    code, _, err = asked("scores.csv", *more)
    assert (code, "the first 50 units are not those of look 1" in err) == (2, True)


def test_other_gates_of_the_same_systems_go_on_with_their_items() -> None:
    asked(grown(500), "--sequential")
    path = grown(800)
    for gate in (("--fail-if-worse", "old", "new"), ("--fail-unless-equivalent", "old", "new", "--margin", "20")):
        assert compare(path, "--metric", "accuracy", "--sequential", *gate, *LOOKS)[0] == (gate[0] == "--fail-if-worse")
    assert [(one["gate"], one["system"]) for one in kept()] == [
        ("better", "new"), ("worse", "old"), ("equivalent", "old"),
    ]  # fmt: skip
    # An equivalence that only the whole test set shows, and a look at the first half of it.
    code, _, err = compare(grown(300), "--metric", "accuracy", "--sequential", "--fail-if-worse", "old", "new", *LOOKS)
    assert (code, "look 1 saw 500 units, and now there are 300: a sequential test must keep all items" in err) == (
        2,
        True,
    )


def test_other_systems_do_not_go_on_with_a_sequential_file() -> None:
    """Each pair has the whole level: commits in files of new names would each have it, too."""
    asked(grown(100), "--sequential")
    before = Path("looks.json").read_bytes()
    pd.read_csv(grown(200)).rename(columns={"new": "newer"}).to_csv("scores.csv", index=False)
    how = ("scores.csv", "--metric", "accuracy", "--sequential", *LOOKS)
    code, out, err = compare(*how, "--fail-unless-better", "newer", "old")
    assert (code, out) == (2, "")
    assert err.startswith("simstudy: looks.json: begun with the systems 'new' and 'old', not 'newer' and 'old': ")
    assert Path("looks.json").read_bytes() == before


@pytest.mark.parametrize("change", ["another score", "another order", "another name"])
def test_earlier_items_must_stay_what_they_were(change: str) -> None:
    asked(grown(100), "--sequential")
    before = Path("looks.json").read_bytes()
    table = pd.read_csv(grown(200))
    if change == "another score":
        table.loc[7, "new"] = 1 - table.loc[7, "new"]
    elif change == "another order":
        table = table.iloc[::-1]
    else:
        table["item"] = table["item"].astype(str) + "x"
    table.to_csv("scores.csv", index=False)
    code, out, err = asked("scores.csv", "--sequential")
    assert (code, out) == (2, "")
    assert err.startswith("simstudy: looks.json: the first 100 units are not those of look 1: new items must come last")
    assert Path("looks.json").read_bytes() == before


def test_averages_of_tasks_have_no_sequential_test() -> None:
    table = pd.read_csv(commit(9, 2)).assign(task=["x", "y"] * 30)
    table.to_csv("scores.csv", index=False)
    code, _, err = asked("scores.csv", "--columns", "domain=task", "--each", "domain", "--sequential")
    assert (code, err) == (
        2,
        "simstudy: --sequential must not be given for averages of tasks; --domain chooses one task\n",
    )


@pytest.mark.parametrize(("kind", "a", "b"), [(BETTER, "new", "old"), (WORSE, "new", "old"), (NOT_WORSE, "old", "new"),
                                              (EQUIVALENT, "new", "old")])  # fmt: skip
def test_a_sequential_answer_is_that_of_bets_on_each_document(kind: Kind, a: str, b: str) -> None:
    """Scores are from 1 to 5, and documents have two items."""
    rng = np.random.default_rng(3)
    old = rng.uniform(2, 4, 120)
    frame = pd.DataFrame({"old": old, "new": old + rng.uniform(-0.6, 0.9, 120)})
    items = pd.DataFrame({"id": range(120), "doc": np.arange(120) // 2})
    ratings = ss.examine(ss.TestSet(ss.Outputs.from_scores(frame, "mean", items=items), unit="doc"))
    gains = (frame[a] - frame[b]).groupby(np.arange(120) // 2).mean().to_numpy()
    margin = 0.5 if kind.with_margin else None
    gate = Gate(kind, a, b, margin)
    arrived = Arrivals.of(ratings.outputs, a, b, unit="doc", score_range=(1, 5))
    # Gains are parts of the range of scores, 4.
    edge = -(margin or 0.0) / 4
    e = [float(largest(log_e_values(sign * gains / 4, edge))[-1]) for sign in (1, -1)]
    e_value = {WORSE: e[1], EQUIVALENT: min(e)}.get(gate.kind, e[0])
    p = min(1.0, (1 if margin else 2) / e_value)
    low, high = (4 * float(end[0]) for end in confidence_sequence(gains / 4, 0.2, np.array([60])))
    one = find_sequentially(gate, ratings, arrived, 0.2)
    assert one.as_json() == {
        "gate": gate.kind.name, "system": a, "other": b, "margin": margin, "of": "mean", "n_units": 60,
        "p_value": pytest.approx(p), "alpha": 0.1 if margin else 0.2, "gain": pytest.approx(gains.mean()),
        "gain_low": pytest.approx(low), "gain_high": pytest.approx(high), "e_value": pytest.approx(e_value),
        "passed": (p <= (0.1 if margin else 0.2)) == gate.kind.unless,
    }  # fmt: skip
    assert (one.told, one.interval) == ("mean on 60 clusters (doc)", "80 % interval of all looks")
    assert (one.metric_unit, one.units) == ("", fingerprint(arrived))
    turned = replace(arrived, ids=[arrived.ids[0] + arrived.ids[1][:1], arrived.ids[1][1:], *arrived.ids[2:]])
    assert fingerprint(turned) != fingerprint(arrived), "names that run together are other names"
