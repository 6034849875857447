"""What is significant on the first items: the same as a comparison of those items, made by hand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons import corrected
from simstudy.examination import Examination
from simstudy.examination.sizes import significant_from, sizes, sizes_of
from simstudy.examination.widgets import sizes as of_page
from simstudy.outputs import Outputs
from simstudy.pages.sections import Chart, Section
from simstudy.statistics.decisions import Decision
from simstudy.text.numerals import p_text

COLUMNS = ["n_items", "n_units", "pairs", "significant", "significant_holm", "agreeing", "only_here", "reversed",
           "reachable"]  # fmt: skip

# A test of documents that is not the usual one; each option changes what is significant.
ASKED: dict[str, Any] = {
    "unit": "doc", "test": "bootstrap", "alternative": "greater", "n_resamples": 60, "monte_carlo": True, "seed": 3,
}  # fmt: skip


def compared(part: Outputs, **options: Any) -> pd.DataFrame:
    return corrected(ss.compare(part, **options).frame)


def by_hand(found: Examination, part: Outputs, n_units: int, pairs: pd.DataFrame) -> list[int]:
    alone = Decision(found.alpha).significant(pairs)
    holm = Decision(found.alpha, p="p_holm").significant(pairs)
    whole = found.pairs.frame
    names = ["system_a", "system_b"]
    there = {tuple(pair) for pair in whole.loc[Decision(found.alpha, p="p_holm").significant(whole), names].to_numpy()}
    ordered = {tuple(pair) for pair in whole[names].to_numpy()}
    here = {tuple(pair) for pair in pairs.loc[holm, names].to_numpy()}
    counts = [part.n_items, n_units, len(pairs), int(alone.sum()), len(here)]
    reachable = sum(one * len(pairs) <= found.alpha for one in pairs["p_floor"])
    return [*counts, len(here & there), len((here & ordered) - there), len(here - ordered), reachable]


def systems(n: int, *, turned: int = 0) -> Outputs:
    """Six systems; on the first `turned` items the order is the other way round."""
    rng = np.random.default_rng(3)
    shares = np.linspace(0.45, 0.75, 6)
    right = rng.random((n, 6)) < np.where(np.arange(n)[:, None] < turned, shares[::-1], shares)
    items = pd.DataFrame({"id": range(n), "doc": [f"d{i // 10}" for i in range(n)], "domain": np.arange(n) * 2 // n})
    return Outputs.from_scores(pd.DataFrame(right.astype(int), columns=list("abcdef")), "accuracy", items=items)


def on_page(found: Examination) -> tuple[Section, Chart]:
    """The section on sizes, and the data of its chart."""
    (section,) = of_page.size_sections(found, found.by_size)
    assert section.figure is not None
    assert section.figure.chart is not None
    return section, section.figure.chart()


@pytest.mark.parametrize(
    ("turned", "seen"), [(250, ["agreeing", "reversed"]), (460, ["only_here", "reversed"])], ids=["third", "half"]
)
def test_each_size_is_the_comparison_of_the_first_items(
    turned: int, seen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the table and in the chart of a page, which has the smallest size first."""
    outputs = systems(800, turned=turned)
    found = ss.examine(outputs)
    table = found.sizes
    assert table["n_items"].tolist() == [800, 600, 400, 266, 200, 100, 50]
    section, chart = on_page(found)
    names = found.leaderboard["system"].tolist()
    ends = [(names[a], names[b]) for a, b in chart.tables["pairs"][["a", "b"]].to_numpy().tolist()]
    assert ends == list(zip(found.pairs["system_a"], found.pairs["system_b"], strict=True))
    for k, row in enumerate(table[COLUMNS].to_numpy().tolist()):
        pairs = compared(outputs.head(row[0]))
        assert row == by_hand(found, outputs.head(row[0]), row[0], pairs)
        sure = pairs[Decision(p="p_holm").significant(pairs)]
        ahead = set(zip(sure["system_a"], sure["system_b"], strict=True))
        marks = ["+" if pair in ahead else "-" if pair[::-1] in ahead else "." for pair in ends]
        assert [at[-1 - k] for at in chart.tables["pairs"]["at"]] == marks
    assert chart.tables["sizes"]["label"].tolist() == [f"{n} items" for n in table["n_items"][::-1]]
    for name in COLUMNS:
        assert chart.tables["sizes"][name].tolist() == table[name].tolist()[::-1]
    assert section.table is not None
    assert (
        section.table.text().to_numpy().tolist()
        == table.drop(columns=["n_units", "pairs"]).astype(str).to_numpy().tolist()
    )
    half, whole = (table["significant_holm"][k] for k in (2, 0))
    assert section.text.startswith(
        f"On the first 400 of 800 items, {half} of 15 pairs differ significantly at 0.05 (Holm); "
        f"on all items {whole} do."
    )
    assert "items have only 1 of 2 domains." in section.text
    # Of many systems the chart has the first.
    monkeypatch.setattr(of_page, "_MOST_SYSTEMS", 4)
    _, fewer = on_page(found)
    inner = chart.tables["pairs"][chart.tables["pairs"][["a", "b"]].max(axis=1) < 4].reset_index(drop=True)
    pd.testing.assert_frame_equal(fewer.tables["pairs"], inner)
    pd.testing.assert_frame_equal(fewer.tables["systems"], chart.tables["systems"].head(4))
    assert (fewer.settings["left_out"], chart.settings["left_out"]) == (2, 0)
    assert (table[seen].sum() > 0).all()
    ranked = found.by_size
    assert chart.tables["systems"]["system"].tolist() == names
    for k, (n, scores) in enumerate(zip(table["n_items"], ranked.scores, strict=True)):
        np.testing.assert_allclose(scores, outputs.head(n).select(names).scores())
        assert chart.tables["systems"][f"s{len(table) - 1 - k}"].tolist() == scores.tolist()
    assert ranked.domains.tolist() == [2, 2, 1, 1, 1, 1, 1]


def test_clusters_stay_whole_and_come_in_the_order_of_their_first_items() -> None:
    outputs = systems(400)
    order = np.random.default_rng(0).permutation(400)
    mixed = replace(outputs.take(order))
    found = ss.examine(mixed, alpha=0.2, **ASKED)
    documents = list(dict.fromkeys(mixed.items["doc"]))
    assert found.sizes["n_units"].tolist() == [40, 30, 20, 13, 10]
    section, chart = on_page(found)
    labels = [f"{row.n_items} items ({row.n_units} clusters (doc))" for row in found.sizes.itertuples()]
    assert chart.tables["sizes"]["label"].tolist() == labels[::-1]
    assert section.table is not None
    assert section.table.text()["clusters"].tolist() == ["40", "30", "20", "13", "10"]
    assert f" (20 clusters (doc)), {found.sizes['significant_holm'][2]} of 15 pairs" in section.text
    told: dict[str, bool] = defaultdict(bool)
    for row in found.sizes[COLUMNS].to_numpy().tolist():
        part = mixed.take(np.flatnonzero(mixed.items["doc"].isin(documents[: row[1]])))
        pairs = compared(part, **ASKED)
        assert row == by_hand(found, part, row[1], pairs)
        # None of the options and of the level may be another one.
        for other in ({"test": "t_paired"}, {"alternative": "two-sided"}, {"seed": 4}, {"n_resamples": 90}):
            told[str(other)] |= row[3:] != by_hand(found, part, row[1], compared(part, **{**ASKED, **other}))[3:]
        told["alpha"] |= row[3:] != by_hand(replace(found, alpha=0.05), part, row[1], pairs)[3:]
    assert all(told.values())
    assert len(told) == 5
    assert (chart.settings["alpha"], chart.settings["lower"], chart.settings["decimals"]) == (0.2, False, 2)


def test_of_two_systems_the_gain_is_told_from_the_side_of_the_better_one() -> None:
    outputs = systems(600, turned=150).select(["a", "f"])
    found = ss.examine(outputs, alpha=0.2)
    assert found.pairs["system_a"].tolist() == ["f"]
    table = found.sizes.set_index("n_items")
    assert table.loc[75, "gain"] < 0 < table.loc[600, "gain"]
    for n in (600, 150, 75):
        row = ss.compare(outputs.head(n)).frame.iloc[0]
        sign = 1 if row["system_a"] == "f" else -1
        ends = sorted(sign * row[end] for end in ("gain_low", "gain_high"))
        expected = [sign * row["gain"], *ends, row["p_value"]]
        np.testing.assert_allclose(table.loc[n, ["gain", "gain_low", "gain_high", "p_value"]], expected)
        assert table.loc[n, "significant"] == (row["p_value"] <= 0.2)
    section, chart = on_page(found)
    assert chart.settings == {"alpha": 0.2, "pair": True}
    drawn = ["n_items", "gain", "gain_low", "gain_high", "significant"]
    pd.testing.assert_frame_equal(chart.tables["sizes"][drawn], found.sizes[drawn][::-1].reset_index(drop=True))
    assert chart.tables["sizes"]["p"].tolist() == [p_text(p, 0.2) for p in found.sizes["p_value"][::-1]]
    assert section.table is not None
    assert section.table.text()["gain"].tolist() == [f"{gain:.2f}" for gain in found.sizes["gain"]]
    assert section.table.text()["95 %"].tolist() == [
        f"{row.gain_low:.2f} to {row.gain_high:.2f}" for row in found.sizes.itertuples()
    ]
    not_yet = "" if table.loc[300, "significant"] else "not "
    ahead = "f over a" if table.loc[300, "gain"] > 0 else "a over f"
    start = f"On the first 300 of 600 items, the gain of {ahead} is {not_yet}significant at 0.2."
    assert section.text.startswith(start)


def test_a_system_that_is_better_on_the_first_half_alone_is_named_there() -> None:
    """60 items on which only a is right, and then 80 on which only b is."""
    scores = {"a": [1] * 60 + [0] * 80, "b": [0] * 60 + [1] * 80}
    found = ss.examine(Outputs.from_scores(pd.DataFrame(scores), "accuracy"))
    assert found.pairs["system_a"].tolist() == ["b"]
    section, _ = on_page(found)
    assert section.text.startswith("On the first 70 of 140 items, the gain of a over b is significant at 0.05.")


def test_the_fewest_items_from_which_on_a_pair_is_significant() -> None:
    found = sizes_of(ss.examine(systems(800)))
    table = found.table["n_items"].to_numpy()
    for pair, fewest in enumerate(significant_from(found)):
        at = dict(zip(table.tolist(), found.directions[:, pair] == 1, strict=True))
        enough = [n for n in at if all(at[m] for m in at if m >= n)]
        assert fewest == min(enough, default=0)


@pytest.mark.parametrize(
    ("n", "clusters", "expected"),
    [
        (1000, False, [1000, 750, 500, 333, 250, 125, 62]),
        (100, False, [100, 75, 50]),
        (60, False, [60]),
        (41, True, [41, 30, 20, 13, 10]),
        (12, True, [12]),
    ],
)
def test_sizes_go_down_to_fifty_items_or_ten_clusters(n: int, clusters: bool, expected: list[int]) -> None:
    assert sizes(n, clusters=clusters) == expected


def test_small_test_sets_and_battles_are_not_cut(tmp_path: object) -> None:
    assert ss.examine(systems(60)).sizes.empty
    winners = ["a", "b", "tie", "a"] * 30
    votes = pd.DataFrame({"model_a": ["x", "y"] * 60, "model_b": ["y", "x"] * 60, "winner": winners})
    votes.to_csv(f"{tmp_path}/votes.csv", index=False)
    assert ss.examine(f"{tmp_path}/votes.csv", "win_rate").sizes.empty


def test_a_size_on_which_the_metric_is_not_defined_is_left_out() -> None:
    """AUC of items of one class: the first half has no other."""
    rng = np.random.default_rng(4)
    gold = (np.arange(240) >= 130).astype(float)
    statistics = np.stack([np.stack([gold, gold + rng.normal(size=240)], axis=1) for _ in range(2)])
    found = ss.examine(Outputs.from_statistics(statistics, "auc", ["a", "b"]), n_resamples=200)
    assert found.sizes["n_items"].tolist() == [240, 180]


def test_so_few_units_that_no_p_value_is_small_enough() -> None:
    """Ten clusters: the least two-sided p-value of sign flips is 2 / 2^10, fifteen times which is above alpha / 2."""
    found = ss.examine(systems(400), alpha=0.02, unit="doc")
    table = found.sizes.set_index("n_units")
    assert table.loc[40, "reachable"] == 15
    assert table.loc[10, "reachable"] == 0 == table.loc[10, "significant_holm"]
    # At fifteen times that it is just small enough, for pairs that differ on each of the ten.
    first = found.outputs.head(100).statistics[..., 0].reshape(6, 10, 10).sum(axis=-1)
    differing = sum(bool((first[i] != first[j]).all()) for i, j in zip(*np.triu_indices(6, 1), strict=True))
    just = ss.examine(systems(400), alpha=15 * 2 / 2**10, unit="doc").sizes.set_index("n_units")
    assert just.loc[10, "reachable"] == differing > 0
