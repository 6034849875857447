"""The study of repeated gates, small: its tests against scipy, its levels, and the shares of a level."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Study, StudyError
from tests.experiments.programs import program, small

SMALL: dict[str, Any] = {
    "growing": {"step": 20, "n_looks": [1, 5], "sets": 7, "most": 3, "block": 4},
    "conditions": {
        "answers": {"title": "answers", "kind": "answers", "differ": 0.3, "gains": [0.1]},
        "graded": {"title": "graded", "kind": "graded", "width": 0.5},
        "topics": {"title": "topics", "kind": "answers", "differ": 0.5, "by_topic": 0.4},
    },
    "commits": {
        "n_items": 200, "n_commits": 10, "score": 0.7, "differ": 0.2, "changed": 0.1, "better_every": 5,
        "n_looks": [1, 5, 10], "sets": 6, "block": 3,
    },
}  # fmt: skip


def study(**changes: Any) -> Study:
    return small("repeated_gates", **{**SMALL, **changes})


@pytest.mark.parametrize("kind", ["answers", "graded", "rare"])
@pytest.mark.parametrize("gain", [0.0, 0.03])
def test_differences_have_the_mean_and_the_variance_that_plans_rest_on(kind: str, gain: float) -> None:
    condition = program("repeated_gates", "settings").Condition(title="", kind=kind, differ=0.1, width=0.6)
    drawn = condition.draw((400, 500), gain, np.random.default_rng(2))
    assert np.abs(drawn).max() <= 1
    se = np.sqrt(condition.variance(gain) / drawn.size)
    assert abs(drawn.mean() - gain) < 5 * se
    assert drawn.var() == pytest.approx(condition.variance(gain), rel=0.03)


def test_a_two_sided_rejection_takes_an_e_value_of_two_over_alpha() -> None:
    growing = program("repeated_gates", "growing")
    differences = np.random.default_rng(2).choice([-1, 0, 1], 400, p=[0.1, 0.6, 0.3])
    for sign in (1, -1):
        e = ss.comparisons.e_values(differences)
        first = {alpha: next(k + 1 for k, value in enumerate(e) if value >= 2 / alpha) for alpha in (0.05, 0.01)}
        assert 1 < first[0.05] < first[0.01]
        assert {alpha: growing.first_rejection(sign * differences, alpha) for alpha in first} == first
    assert growing.first_rejection(np.array([1, -1, 0]), 0.05) == np.inf


def test_a_sequential_rejection_counts_from_the_look_at_its_item_on() -> None:
    """The first system wins every item. Looks come just at the item that rejects, one item earlier, and one later."""
    growing = program("repeated_gates", "growing")
    item = int(growing.first_rejection(np.ones(100), 0.05))
    wins = SimpleNamespace(kind="answers", draw=lambda shape, gain, rng: np.ones(shape))
    for step, rejected in ((item, [3, 3]), (item - 1, [0, 3]), (item + 1, [3, 3])):
        looks = SimpleNamespace(step=step, n_looks=[1, 2])
        of = SimpleNamespace(conditions={"wins": wins}, growing=looks, seed=0, alpha=0.05)
        rows = growing.look_again(of, "wins", 0, 3)
        assert [row["n_rejected"] for row in rows if row["method"] == growing.SEQUENTIAL] == rejected


def test_levels_of_looks_add_up_to_alpha_and_are_handed_on() -> None:
    """The same as in the file of looks: 1/2, 1/6 and, after a pass, 1/6 + 1/12 of alpha; or 1/10 of ten looks each.

    The usual test has the whole level each time. No level passes what is not ahead, or is handed on from there.
    """
    commits, settings = program("repeated_gates", "commits"), study()
    for rule, levels in (
        (commits.SHARES, [1 / 2, 1 / 6, 1 / 6 + 1 / 12, 1 / 6 + 1 / 12 + 1 / 20]),
        (commits.PLANNED, [0.1, 0.1, 0.2, 0.3]), (commits.USUAL, [1, 1, 1, 1]),
    ):  # fmt: skip
        below = 0.05 * np.array(levels) + [1e-9, -1e-9, -1e-9, 1e-9]
        p = np.array([below, [*below[:3], 0.05 * levels[3] - 1e-9], [0, 0, 0, 0]])
        ahead = np.array([[True] * 4, [True] * 4, [False] * 4])
        passed = commits.gate(p, ahead, rule, settings)
        assert passed.tolist() == [[False, True, True, False], [False, True, True, True], [False] * 4], rule
    whole = sum(commits.share(settings, commits.SHARES, k) for k in range(1, 10**4))
    assert whole == pytest.approx(0.05, rel=1e-3)
    assert commits.times_items(settings, 0.05) == 1
    assert [a < b for a, b in pairwise(commits.times_items(settings, x) for x in (0.05, 0.01, 0.001))] == [True, True]


def test_a_change_is_kept_where_it_raises_the_score_of_what_was_kept_before() -> None:
    """By a loop over sets, changes and items, with the same random numbers."""
    settings: Any = study()
    of, n_sets = settings.commits, 20
    p, ahead = program("repeated_gates", "commits").kept(settings, n_sets, np.random.default_rng(3))
    rng, shape = np.random.default_rng(3), (n_sets, of.n_items)
    baseline = (rng.random(shape) < of.score).tolist()
    current = [list(own) for own in baseline]
    for k in range(of.n_commits):
        changed, fresh = rng.random(shape) < of.changed, rng.random(shape) < of.score
        for m, first in enumerate(baseline):
            tried = [int(new) if anew else old for old, new, anew in zip(current[m], fresh[m], changed[m], strict=True)]
            wins, losses = (sum(a > b for a, b in zip(*pair, strict=True)) for pair in ((tried, first), (first, tried)))
            assert ahead[m, k] == (wins > losses)
            assert p[m, k] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1)
            if sum(tried) > sum(current[m]):
                current[m] = tried


@pytest.mark.usefixtures("empty_figures")
def test_the_page_says_what_it_measured(tmp_path: Path) -> None:
    ss.run_study(study(), out=tmp_path, n_jobs=1)
    page = (tmp_path / "README.md").read_text()
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"{name}.{suffix}" for name in ("growing", "commits") for suffix in ("png", "svg")
    }
    assert "nan" not in page.lower()


@pytest.mark.parametrize(
    ("of", "message"),
    [
        ({"kind": "answers", "differ": 0.1, "gains": [0.05, 0.1]}, "gains must be below 0.1"),
        ({"kind": "graded", "width": 0.3, "gains": [0.3]}, "gains must be below 0.3"),
        ({"kind": "rare", "width": 0.5, "differ": 0.2, "gains": [0.4]}, "gains must be below 0.4"),
        ({"kind": "answers", "differ": 0.3, "by_topic": 0.3}, "gains must be below 0.3"),
        ({"kind": "graded", "by_topic": 0.1}, "topics are of answers"),
    ],
)
def test_gains_that_cannot_be_are_refused(of: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError, match=message):
        study(conditions={"x": {"title": "", **of}})


@pytest.mark.slow
@pytest.mark.parametrize("null", [0.0, -0.1])
@pytest.mark.parametrize("differ", [0.15, 0.5])
def test_the_sequential_test_holds_its_level_after_any_of_many_items(null: float, differ: float) -> None:
    """Its rate of rejections at any of 3,000 items is at most alpha; so is that of intervals that miss the truth."""
    rng, n_sets = np.random.default_rng(6), 3000
    wins = (differ + null) / 2
    rejected = 0
    for _ in range(n_sets):
        drawn = rng.random(3000)
        d = (drawn < wins).astype(float) - (drawn >= 1 - (differ - wins))
        sides = [ss.comparisons.e_values(sign * d, sign * null).max() for sign in (1, -1)]
        rejected += max(sides) >= 40
    assert rejected <= stats.binom.ppf(1 - 1e-6, n_sets, 0.05)
    assert rejected >= 0.005 * n_sets
