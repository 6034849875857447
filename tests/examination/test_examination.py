from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.examination import examine
from simstudy.examination.asking import own_relation
from simstudy.examination.rows import ranking
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from tests.oracles import compared


def with_columns(loaded: Loaded, **columns: object) -> Loaded:
    outputs = loaded.outputs
    return replace(loaded, outputs=replace(outputs, systems=outputs.systems.assign(**columns)))


def test_everything_is_what_the_parts_say(loaded: Loaded) -> None:
    options = {"test": "randomization", "n_resamples": 500, "alternative": "two-sided", "seed": 3}
    found = examine(loaded, alpha=0.1, **options)
    pairs = ss.comparisons.corrected(compared(loaded.outputs, **options)).assign(relation="all pairs")
    pd.testing.assert_frame_equal(found.pairs.frame[pairs.columns], pairs)
    assert len(found.pairs) == 10
    pd.testing.assert_frame_equal(found.groups, ss.comparisons.groups(pairs, alpha=0.1, p="p_holm"))
    pd.testing.assert_frame_equal(found.leaderboard, leaderboard(loaded.outputs, seed=3))
    pd.testing.assert_frame_equal(found.thresholds, ss.comparisons.thresholds(pairs, seed=3))
    pd.testing.assert_frame_equal(found.gains, ss.comparisons.significant_gains(pairs, alpha=0.1))
    assert found.curve.empty
    assert found.outputs is loaded.outputs


def test_the_seed_is_that_of_intervals_too() -> None:
    """Of ninety systems more than a hundred pairs are near p = 0.05: systems are drawn again for the threshold."""
    scores = np.random.default_rng(0).normal(np.linspace(0, 0.5, 90), 1, size=(100, 90))
    outputs = Outputs.from_scores(pd.DataFrame(scores, columns=[f"s{k}" for k in range(90)]))
    asked = {"test": "t_paired"}
    tables = [examine(Loaded(outputs), **{**asked, "seed": seed}).thresholds for seed in (0, 5)]
    pairs = compared(outputs, test="t_paired").assign(relation="all pairs")
    for seed, table in zip((0, 5), tables, strict=True):
        pd.testing.assert_frame_equal(table, ss.comparisons.thresholds(pairs, seed=seed))
    assert tables[0]["low"].notna().all()
    assert tables[0][["low", "high"]].to_numpy().tolist() != tables[1][["low", "high"]].to_numpy().tolist()


def test_by_default_sign_flips_two_sided_at_5_percent_by_document(loaded: Loaded) -> None:
    """What nobody asked for: eight documents of five items are the units of tests, intervals and places."""
    items = loaded.outputs.items.assign(cluster=[f"d{i // 5}" for i in range(40)])
    by_document = replace(loaded, outputs=replace(loaded.outputs, items=items))
    found = examine(by_document)
    for column, value in {"test": "sign_flips", "alternative": "two-sided", "unit": "cluster", "n_units": 8}.items():
        assert set(found.pairs.frame[column]) == {value}
    assert set(found.leaderboard["unit"]) == {"cluster"}
    assert set(found.groups["alpha"]) == {0.05}
    assert "only 8 clusters: tests and intervals are rough with fewer than 20" in found.notes
    by_item = examine(by_document, unit="item")
    assert set(by_item.pairs["unit"]) == set(by_item.leaderboard["unit"]) == {"item"}
    assert not any("rough" in note for note in by_item.notes)
    exact = examine(Loaded(loaded.outputs.head(19)), test="sign")
    assert "only 19 items: intervals are rough with fewer than 20" in exact.notes


def test_groups_are_after_holms_correction() -> None:
    """b to e lose 6 items each to a: p = 2^-5 alone, ten times that among ten pairs."""
    answers = np.ones((5, 40), dtype=int)
    for k in range(1, 5):
        answers[k, 6 * k : 6 * k + 6] = 0
    found = examine(Loaded(Outputs.from_scores(pd.DataFrame(answers.T, columns=list("abcde")), "accuracy")))
    with_a = found.pairs.frame[found.pairs["system_a"] == "a"]
    assert with_a["p_value"].tolist() == [2**-5] * 4
    assert with_a["p_holm"].tolist() == [10 * 2**-5] * 4
    assert found.groups["group"].nunique() == 1
    assert ss.comparisons.groups(found.pairs, p="p_value")["group"].nunique() == 2, "uncorrected"


@pytest.mark.statistical
@pytest.mark.slow
def test_ten_equal_systems_are_rarely_told_apart() -> None:
    """Holm keeps that below 5 % of test sets (a binomial bound that chance breaks once in a million runs).

    One-sided p-values that nothing corrects tell some two apart on most.
    """
    n_runs, told, uncorrected = 300, 0, 0
    for seed in range(n_runs):
        outputs = ss.truth.correlated_accuracies([0.6] * 10, 200, seed=seed)
        told += examine(outputs).groups["group"].nunique() > 1
        if seed < 60:
            one_sided = compared(outputs, alternative="greater")
            uncorrected += ss.comparisons.groups(one_sided, p="p_value")["group"].nunique() > 1
    assert told <= stats.binom.ppf(1 - 1e-6, n_runs, 0.05)
    assert uncorrected > 30


def test_two_or_three_items_never_part_systems() -> None:
    """A bootstrap's p-values are 0 there; swapping can not do better than 2^(1 - 3)."""
    for n in (2, 3):
        outputs = Outputs.from_scores(pd.DataFrame({"new": [1] * n, "old": [0] * n, "older": [0] * n}), "accuracy")
        for comparison in ({"test": "bootstrap"}, {"test": "bootstrap", "n_resamples": 900, "monte_carlo": True}):
            found = examine(Loaded(outputs), **comparison)
            assert found.pairs["p_value"].min() < 0.002
            assert found.groups["group"].nunique() == 1


def test_a_test_that_prefers_the_lower_score_is_told_and_parts_nobody() -> None:
    """b loses three items by 0.8 and wins twenty by 0.05; c is like b."""
    scores = pd.DataFrame({"a": [0.9] * 3 + [0.1] * 20, "b": [0.1] * 3 + [0.15] * 20, "c": [0.1] * 3 + [0.15] * 20})
    found = examine(Loaded(Outputs.from_scores(scores, "mean")), test="sign")
    assert any(
        note.startswith("the sign test prefers the system with the worse score in 2 pairs, first a / b: its null ")
        and note.endswith("either system is as likely to win a unit; these pairs do not count as significant")
        for note in found.notes
    )
    assert found.groups["group"].nunique() == 1
    assert "no interval for 1 pair: the two systems do equally well on every unit" in found.notes
    same = found.pairs.frame[found.pairs["system_a"] == "b"].iloc[0]
    assert np.isnan([same["gain_low"], same["gain_high"]]).all()
    assert (same["wins"], same["losses"], same["ties"]) == (0, 0, 23)


def test_why_pairs_have_no_interval_is_noted() -> None:
    """b does as a does, c is ahead of both by 1 everywhere; a system that guesses on one item only has no spread.

    In documents of two items, b has the scores of a the other way round.
    """
    values = np.arange(50) / 64
    documents = pd.DataFrame({"id": range(50), "cluster": np.arange(50) // 2})
    for items, turned in ((None, values), (documents, values.reshape(25, 2)[:, ::-1].ravel())):
        scores = pd.DataFrame({"a": values, "b": turned, "c": values + 1})
        found = examine(Loaded(Outputs.from_scores(scores, "mean", items=items)))
        assert [note for note in found.notes if "interval" in note] == [
            "no interval for 1 pair: the two systems do equally well on every unit",
            "no interval for 2 pairs: the difference is the same on every unit",
        ]
    once = [[[1, 1, 1]] * 25, [[1, 1, 1]] + [[0, 0, 1]] * 24, [[1, 2, 1]] * 20 + [[0, 1, 1]] * 5]
    found = examine(Loaded(Outputs.from_statistics(once, "precision", ["all", "once", "many"])))
    without = found.pairs.frame[found.pairs["gain_low"].isna()]
    assert set(without["system_a"] + " " + without["system_b"]) == {"all once", "once many"}
    assert [note for note in found.notes if "interval" in note] == [
        "no interval for 2 pairs: without one of the units a score is undefined (0 / 0), so its spread is not known"
    ]


def test_one_sided_p_values_are_noted_where_they_were_asked_for(loaded: Loaded) -> None:
    note = "p-values are one-sided, as you asked: if the better system was not predicted, two equally good systems"
    assert any(said.startswith(note) for said in examine(loaded, alternative="greater").notes)
    assert not any("one-sided" in said for said in examine(loaded).notes)


def test_a_margin_adds_what_each_pair_says_of_it(loaded: Loaded) -> None:
    found = examine(loaded, margin=15, alpha=0.1)
    expected = ss.comparisons.equivalence(examine(loaded).pairs.frame, 15, alpha=0.1)
    pd.testing.assert_frame_equal(found.pairs.frame[expected.columns], expected)
    assert found.pairs["conclusion"].nunique() > 1
    assert "conclusion" not in examine(loaded).pairs.frame
    wide = examine(loaded, margin=80, alpha=0.1)
    said = wide.pairs["conclusion"].value_counts()
    both = said["equivalent"] + said["better by less than the margin"]
    assert both < 10
    sentence = f"(two-sided, Holm). With a margin of 80 points, {both} of 10 pairs are equivalent (Holm)."
    assert sentence in " ".join(wide.text.split())
    assert sentence in " ".join(wide.to_markdown().split())
    assert "margin" not in examine(loaded).text
    two = examine(Loaded(loaded.outputs.select(["best", "twin"])), margin=15)
    assert two.verdict is not None
    assert "The two are equivalent: the true gain is within 15 points either way" in two.verdict


def test_near_duplicates_are_looked_for_on_demand_and_noted_or_dropped(loaded: Loaded) -> None:
    plain = examine(loaded)
    assert plain.duplicates.empty
    assert plain.notes == ("a note of the loader",)
    kept = examine(loaded, duplicates="note")
    assert kept.duplicates[["system_a", "system_b", "n_identical"]].to_numpy().tolist() == [["best", "twin", 39]]
    assert kept.notes == ("a note of the loader", "1 pair of near-duplicates, first best / twin")
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
    names = found.pairs["system_a"] + " " + found.pairs["system_b"]
    relation = dict(zip(names, found.pairs["relation"], strict=True))
    assert relation["best twin"] == relation["good worst"] == "same lab"
    assert relation["best good"] == "different labs"
    assert relation["fair worst"] == "lab unknown"
    assert set(found.thresholds["relation"]) == {"same lab", "different labs", "lab unknown", "all pairs"}
    # Where nothing is said of the groups, they are unknown.
    assert set(examine(loaded, by="group").pairs["relation"]) == {"group unknown"}
    with pytest.raises(ValueError, match="by must be a column of the systems table, not 'labb'"):
        examine(loaded, by="labb")


def test_domains_are_never_mixed_in_silence(loaded: Loaded) -> None:
    items = loaded.outputs.items.assign(domain=["mail"] * 10 + ["news"] * 30)
    mixed = replace(loaded, outputs=replace(loaded.outputs, items=items))
    note = "items of 2 domains are tested together: news 30, mail 10"
    assert note in examine(mixed).notes
    assert note not in examine(mixed, test="bootstrap", strata="domain").notes
    assert note not in examine(Loaded(mixed.outputs.domain("news"))).notes
    many = items.assign(domain=[f"d{i // 4}" for i in range(40)])
    notes = examine(replace(loaded, outputs=replace(loaded.outputs, items=many))).notes
    assert any(n.startswith("items of 10 domains") and n.endswith("and 4 more") for n in notes)


def test_too_many_maximal_groups_are_made_from_the_top(rng: np.random.Generator) -> None:
    """30 systems that differ within ten threes, and in no other pair: 3^10 maximal groups (Moon and Moser 1965)."""
    table = (rng.random((40, 30)) < 0.5).astype(int)
    outputs = Outputs.from_scores(pd.DataFrame(table, columns=[f"s{k}" for k in range(30)]), "accuracy")
    pairs = ss.comparisons.corrected(compared(outputs, n_resamples=10))
    place = {name: k for k, name in enumerate(outputs.best_first().names)}
    three = pairs["system_a"].map(place) // 3 == pairs["system_b"].map(place) // 3
    # Systems of equal score are put apart too: what counts here is the number of groups.
    decided = {"better": pairs["system_a"], "gain": 1.0, "p_floor": 0.0}
    settled = pairs.assign(p_holm=np.where(three, 0.0, 0.9), **decided)
    found = examine(outputs, n_resamples=10)
    assert replace(found, pairs=ss.Comparisons(settled)).groups["rule"].unique().tolist() == ["greedy"]
    assert found.groups["rule"].unique().tolist() == ["maximal"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duplicates": "dropp"}, r"duplicates must be one of keep, note, drop, not 'dropp' \(did you mean 'drop'\?\)"),
        ({"alpha": 5}, "alpha must lie between 0 and 1"),
        ({"test": "bootstrp"}, "did you mean 'bootstrap'"),
        ({"unit": "document"}, "unit must be a column of the items of test set 'exam', not 'document'"),
        ({"margin": 0}, "margin must be a number above 0, on the metric's scale, not 0"),
        ({"margin": float("nan")}, "margin must be a number above 0, on the metric's scale, not nan"),
    ],
)
def test_bad_options(loaded: Loaded, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        examine(loaded, **options)  # type: ignore[arg-type]


def test_the_verdict_on_two_systems_is_that_of_the_row(loaded: Loaded) -> None:
    """8 items won and 2 lost: the sign test has 56 / 1024, and twice that for both tails."""
    table = [[[1, 1]] * 8 + [[0, 1]] * 2, [[0, 1]] * 8 + [[1, 1]] * 2]
    two = Loaded(Outputs.from_statistics(table, "accuracy", ["new", "old"]))
    options = {"test": "sign", "alternative": "greater"}
    found = examine(two, **options)
    assert found.verdict is not None
    assert "p = 0.0547 (one-sided; two-sided p = 0.109)" in found.verdict
    row = compared(two.outputs, **options).iloc[0]
    assert found.verdict == ss.verdict(row)
    assert examine(two, **options, alpha=0.2, margin=30).verdict == ss.verdict(row, alpha=0.2, margin=30)
    assert examine(loaded).verdict is None


@pytest.mark.parametrize(
    ("families", "expected"),
    [(["a", "a", "c"], "family"), (["x", "y", "z"], "family"), (["x", "x", "x"], "family"), (["a", "b", "c"], None)],
)
def test_families_say_something_where_any_system_is_not_its_own(families: list[str], expected: str | None) -> None:
    systems = pd.DataFrame({"name": ["a", "b", "c"], "family": families})
    outputs = Outputs.from_statistics(np.ones((3, 4, 2), dtype=int), "accuracy", systems)
    assert own_relation(outputs) == expected


def test_each_system_of_a_ranking_has_its_own_groups() -> None:
    """The order by name is not that by score."""
    scores = pd.DataFrame({"z": [1, 2] * 30, "a": [0, 1] * 30, "m": [0, 1] * 29 + [1, 0]})
    found = examine(Loaded(Outputs.from_scores(scores)))
    cells = ranking(found).text()
    assert dict(zip(cells["system"], cells["groups"], strict=True)) == {"z": "1", "a": "2", "m": "2"}
    assert cells["system"].iloc[0] == "z"
