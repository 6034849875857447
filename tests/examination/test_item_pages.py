"""Items and sizes on pages: the data of a browser say what `deciding_items` says, and texts stay text."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.examination import Examination
from simstudy.examination.widgets import item_data as module
from simstudy.examination.widgets.item_data import item_data
from simstudy.examination.widgets.items import item_sections, item_tables
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs, TestSet
from simstudy.outputs.test_set import ItemTexts
from simstudy.text.plain_text import csv_name
from tests.metrics.test_influence import statistics_of

ATTACK = "</script><script>window.hacked = 1</script> | # {{ x }} \u202e"


def told(metric: str, k: int = 4, n: int = 120, *, length: int = 3) -> Examination:
    """Systems that answer "<system> says <item>", many times over."""
    rng = np.random.default_rng(11)
    statistics = np.concatenate([statistics_of(METRICS[metric], n, rng) for _ in range(k // 2)])
    items = pd.DataFrame({"id": [f"q{i}" for i in range(n)], "domain": [f"d{i % 3}" for i in range(n)]})
    names = [f"s{j}" for j in range(k)]
    outputs = Outputs.from_statistics(statistics, metric, names, items)
    answers = {name: {item: f"{name} says {item} " * length for item in items["id"]} for name in names}
    inputs, references = ({item: f"{item}{end}" for item in items["id"]} for end in "?!")
    texts = ItemTexts(inputs, references, answers)
    return ss.examine(TestSet(outputs, texts=texts))


def numbers(text: str, kind: str) -> Any:
    return np.frombuffer(b64decode(text), dtype=kind)


def listed(data: dict[str, Any], p: int) -> dict[str, float]:
    """The items of a pair with their contributions, as a script of the page reads them."""
    wins, losses = np.array(data["wins"]), np.array(data["losses"])
    start = (wins + losses)[:p].sum()
    own = slice(start, start + wins[p] + losses[p])
    items = numbers(data["items"], "<u4" if data["wide"] else "<u2")[own]
    sizes = numbers(data["parts"], "<u2")[own] / 65535 * data["top"][p]
    signs = np.repeat([1, -1], [wins[p], losses[p]])
    return dict(zip(np.array(data["ids"])[items].tolist(), (signs * sizes).tolist(), strict=True))


@pytest.mark.parametrize("metric", ["accuracy", "bleu"])
def test_the_data_of_every_pair_are_its_deciding_items(metric: str) -> None:
    found = told(metric)
    data = json.loads(json.dumps(item_data(found)))
    names = data["systems"]
    assert names == found.leaderboard["system"].tolist()
    scores = numbers(data["scores"]["at"], f"<u{data['scores']['bytes']}").reshape(len(names), -1)
    levels = np.array([np.nan, *data["scores"]["of"]])
    assert [data[name] for name in ("n_items", "left_out", "battles", "points")] == [120, 0, False, True]
    domains = found.outputs.items.set_index("id")["domain"]
    assert [data["about"]["domain"]["of"][k] for k in data["about"]["domain"]["at"]] == domains[data["ids"]].tolist()
    assert data["decimals"] == {"gain": 2 if max(data["gains"]) >= 1 else 4, "part": 2 if max(data["top"]) >= 1 else 4}
    exactly = "" if metric == "accuracy" else "nearly "
    assert item_sections(found)[0].text.endswith(f" Contributions are in points and {exactly}add up to the gain.")
    for p, (i, j) in enumerate(zip(*np.triu_indices(len(names), 1), strict=True)):
        expected = found.deciding_items(names[i], names[j], 200)
        rows = expected.items.set_index("id")
        own = listed(data, p)
        assert {*own} == {*rows.index[rows["contribution"] != 0]}
        largest = rows["contribution"].abs().max()
        np.testing.assert_allclose(list(own.values()), rows.loc[list(own), "contribution"], atol=largest / 60_000)
        counts = np.array(data["counts"]).reshape(3, -1)[:, p].tolist()
        assert counts == expected.counts[["wins", "losses", "ties"]].iloc[0].tolist()
        at = [data["ids"].index(name) for name in own]
        for k, end in ((i, "a"), (j, "b")):
            np.testing.assert_allclose(levels[scores[k, at]], rows.loc[list(own), f"score_{end}"], rtol=1e-3)
        assert data["gains"][p] == pytest.approx(abs(expected.gain), rel=1e-4, abs=1e-6)
    for item, own in data["texts"]["of"].items():
        name = data["ids"][int(item)]
        assert (own.pop("-2"), own.pop("-1")) == (f"{name}?", f"{name}!")
        assert own == {k: f"{names[int(k)]} says {name} " * 3 for k in own}


@pytest.mark.parametrize(("length", "whole"), [(100, True), (300, False)])
def test_the_file_of_items_has_texts_of_up_to_2000_characters(length: int, whole: bool) -> None:
    """A page cuts them sooner: there they stand in a table."""
    found = told("accuracy", k=2, length=length)
    rows = item_tables(found)["deciding_items"]
    one, other = found.leaderboard["system"]
    assert rows["id"].tolist() == found.deciding_items(one, other, 100).items["id"].tolist()
    for row in rows.itertuples():
        text = f"{row.system_a} says {row.id} " * length
        assert (row.answer_a == text) == whole
        if not whole:
            assert row.answer_a == f"{text[:2000]} … [{len(text):,} characters]"


def test_what_is_left_out_where_there_is_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest of each side stay; texts of the first two systems come first, until there is no more room."""
    found = told("bleu", length=400)
    monkeypatch.setattr(module, "_BYTES", 2 * 4 * 6 * 5)
    monkeypatch.setattr(module, "_MORE_TEXT_BYTES", 45_000)
    monkeypatch.setattr(module, "_SCORE_BYTES", 10)
    data = item_data(found)
    assert data["most"] == 5
    assert data["scores"] is None
    names = data["systems"]
    rows = found.deciding_items(names[0], names[1], 200).items
    for sign in (1, -1):
        side = rows[np.sign(rows["contribution"]) == sign].head(5)
        assert {*side["id"]} <= {*listed(data, 0)}
    counts = np.array(data["counts"]).reshape(3, -1)[:, 0].tolist()
    assert counts == [(np.sign(rows["contribution"]) == sign).sum() for sign in (1, -1, 0)], "of all, listed or not"
    assert min(counts[:2]) > 5
    texts = data["texts"]["of"]
    first = str(data["ids"].index(rows["id"].iloc[0]))
    whole = f"{names[0]} says {rows['id'].iloc[0]} " * 400
    assert texts[first]["0"] == (whole[:4000], len(whole))
    monkeypatch.setattr(module, "_BYTES", 10**6)
    monkeypatch.setattr(module, "_MOST", 9)
    assert item_data(found)["most"] == 9, "whatever room there is"
    assert 7 <= sum(len(own.keys() - {"-1", "-2"}) for own in texts.values()) <= 11


def test_texts_come_in_the_order_of_what_readers_see_first_until_one_has_no_room() -> None:
    """Each pair has a win and a loss: those of pair p are items 10 p and 10 p + 1."""
    i, j = np.triu_indices(4, 1)
    one_each = [(np.array([10 * p]), np.array([10 * p + 1])) for p in range(6)]
    wanted = list(module._in_order((i, j), one_each, np.arange(60)))
    # The first two; the best and all others, and neighbours; then those of the pair in place 1 and 3.
    expected = [(10 * p + k, s) for p in (0, 1, 2, 3, 5, 4) for k in (0, 1) for s in (int(i[p]), int(j[p]))]
    assert wanted == expected
    known = {(0, -2): "ab", (0, 0): "cd", (1, -2): "x" * 9, (2, -1): "r", (2, 1): "e", (2, -2): None}
    found = module._within([(0, 0), (1, 0), (0, 3), (2, 1)], known, 8)
    assert found == {"of": {"0": {"-2": "ab", "0": "cd"}, "2": {"-1": "r", "1": "e"}}, "left": 1}
    assert module._shortened("a\tb\n" + "c" * 4000) == ("a    b\n" + "c" * 3996, 4004)


def test_a_page_has_the_first_two_systems_and_files_of_neighbours(tmp_path: Path) -> None:
    found = told("accuracy")
    found.write(tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text("utf-8")
    names = found.leaderboard["system"].tolist()
    part = text.split("## Where they differ\n")[1].split("\n## ")[0]
    assert f"most of the gain of {names[0]} and {names[1]}, the first two systems: the first 10 in the order" in part
    assert "These items were chosen by their outcome" in part
    assert f"| input | reference | answer of {names[0]} | answer of {names[1]} |" in part
    row = found.deciding_items(names[0], names[1], 10).items.iloc[0]
    scores = [f"{row[name]:.2f}" for name in ("score_a", "score_b")]
    assert f"| --- |\n| {' | '.join([row['id'], row['domain'], *scores])} | " in part
    said = " | ".join(" ".join([f"{name} says {row['id']}"] * 3) for name in names[:2])
    assert f" | {row['id']}? | {row['id']}! | {said} |" in part
    items = pd.read_csv(tmp_path / "out" / "deciding_items.csv")
    assert items["answer_a"].map(csv_name).str.fullmatch(r"(s\d says q\d+ ){3}").all()
    pairs = items[["system_a", "system_b"]].drop_duplicates().to_numpy().tolist()
    assert pairs == [names[k : k + 2] for k in range(3)]
    first = found.deciding_items(names[1], names[2], 10).items
    own = items[items["system_a"] == names[1]]
    assert own["id"].tolist() == first["id"].tolist()
    np.testing.assert_allclose(own["contribution"], first["contribution"], rtol=1e-5)
    sizes = pd.read_csv(tmp_path / "out" / "sizes.csv")
    pd.testing.assert_frame_equal(sizes, found.sizes, check_dtype=False)
    pairs_by_size = pd.read_csv(tmp_path / "out" / "sizes_pairs.csv")
    assert (pairs_by_size["n_items"].notna() == (found.by_size.directions[0] == 1)).all()
    assert f"| {sizes['n_items'].iloc[-1]} |" in text


def test_texts_stay_text_on_every_page(tmp_path: Path) -> None:
    for name, lines in {"new": [ATTACK, "a b c d"], "old": ["a b", "a b x d"], "ref": ["a b c d", "a b c d"]}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = ss.examine([tmp_path / "new", tmp_path / "old"], "bleu", references=tmp_path / "ref")
    found.write(tmp_path / "out")
    html = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "window.hacked" in html
    assert "<script>window.hacked" not in html
    assert "\u202e" not in html
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "</script>" in page.replace("\\", "")
    assert "<script>" not in page.replace("\\<", "")
    assert "\u202e" not in page


def test_items_without_texts_have_their_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """And their domains and clusters; systems that are left out are counted."""
    scores = pd.DataFrame({"a": [2, 0, 1, 0.5], "b": [0, 0, 0, 1], "c": [0, 0, 0, 0.5]})
    items = pd.DataFrame({"id": range(4), "domain": [*"xxyy"], "cluster": [*"rsst"]})
    found = ss.examine(Outputs.from_scores(scores, "mean", items=items))
    monkeypatch.setattr(module, "MOST_SYSTEMS", 2)
    (section,) = item_sections(found)
    assert section.text.endswith(" Contributions are on the scale of the scores and add up to the gain.")
    assert section.table is not None
    table = section.table.text()
    assert table.columns.tolist() == ["item", "domain", "cluster", "score of a", "score of b", "contribution"]
    assert table.iloc[:2].to_numpy().tolist() == [
        ["0", "x", "r", "2.00", "0.00", "0.5000"], ["2", "y", "s", "1.00", "0.00", "0.2500"],
    ]  # fmt: skip
    data = item_data(found)
    assert [data[name] for name in ("texts", "left_out", "points", "n_items")] == [None, 1, False, 4]
    assert data["ids"] == ["0", "2", "3"]
    assert {name: [own["of"][k] for k in own["at"]] for name, own in data["about"].items()} == {
        "domain": ["x", "y", "y"], "cluster": ["r", "s", "t"],
    }  # fmt: skip


def test_metrics_of_arrays_are_told_of_two_systems_only(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    gold = np.arange(40) % 2
    statistics = np.stack([np.stack([gold, gold + rng.normal(size=40)], axis=1) for _ in range(3)])
    outputs = Outputs.from_statistics(statistics, "auc", list("abc"))
    for k, there in ((3, False), (2, True)):
        found = ss.examine(outputs.select(list("abc")[:k]), n_resamples=100)
        found.write(tmp_path / str(k))
        text = (tmp_path / str(k) / "README.md").read_text("utf-8")
        assert ("## Where they differ" in text) == there
        assert (tmp_path / str(k) / "deciding_items.csv").exists() == there


@pytest.mark.parametrize("n", [2, 254, 255, 256, 65_535, 65_536])
def test_scores_of_any_number_of_values_come_back(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As places from 1 on, in as few bytes as hold them; four digits tell so many values apart by their size."""
    monkeypatch.setattr(module, "_SCORE_BYTES", 1 << 30)
    scores = (np.arange(1000, 1000 + n) % 9000 + 1000.0) * 10.0 ** (np.arange(n) // 9000)
    found = module._levels(np.array([[*scores, np.nan]]))
    assert found is not None
    places = np.frombuffer(b64decode(found["at"]), f"<u{found['bytes']}")
    # 0 stands for none.
    assert np.flatnonzero(places == 0).tolist() == [n]
    np.testing.assert_allclose(np.array(found["of"])[places[:-1].astype(int) - 1], scores, rtol=1e-9)


def test_items_that_add_the_same_are_not_called_the_largest() -> None:
    """Of 40 items 14 decide: each adds or takes 100 / 40 points, and the first ten are listed."""
    right = pd.DataFrame({"new": [1] * 30 + [0] * 10, "old": [0] * 12 + [1] * 20 + [0] * 8})
    (section,) = item_sections(ss.examine(Outputs.from_scores(right, "accuracy")))
    start = (
        "Items that add or take most of the gain of new and old: the first 10 in the order of the files. Each adds or "
        "takes 2.50 points."
    )
    assert section.text.startswith(f"{start} Wins, losses and ties of new: 12, 2 and 26 of 40 items.")
    assert section.table is not None
    assert section.table.rows["id"].tolist() == [str(k) for k in range(10)]


def test_of_samples_questions_are_listed() -> None:
    """Each question has two samples; new wins one sample of the first two, and both of the third."""
    table = pd.DataFrame({"question": np.repeat(range(30), 2), "new": 0, "old": 0})
    table.loc[[0, 2, 4, 5], "new"] = 1
    rows = table.melt(id_vars="question", var_name="system", value_name="score")
    rows["sample"] = rows.groupby(["question", "system"]).cumcount()
    found = ss.load(rows, "accuracy", columns={"item": "question"})
    (section,) = item_sections(ss.examine(found))
    start = (
        "The questions with the largest contributions to the gain of new and old. Wins, losses and ties of new: 3, 0"
    )
    assert section.text.startswith(f"{start} and 27 of 30 questions.")
    assert section.table is not None
    shown_rows = section.table.rows.head(3)
    assert shown_rows["cluster"].astype(str).tolist() == ["2", "0", "1"]
    assert shown_rows["contribution"].tolist() == pytest.approx([100 * 2 / 60, 100 / 60, 100 / 60])
