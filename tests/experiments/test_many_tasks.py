"""The study of several tasks, small: its numbers against `across_tasks` on the same answers, and its truths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from tests.experiments.programs import program, small

METHODS, SETTINGS, SUITES = (program("many_tasks", part) for part in ("methods", "settings", "suites"))
SHIPPED: Any = small("many_tasks")


def study(**changes: Any) -> Any:
    few: dict[str, Any] = {
        "n_tasks": [5], "n_sets": 3, "block": 2, "suites": [],
        "agreement": {"usual": SHIPPED.agreement["usual"].model_dump()},
        "sizes": {"unequal": SHIPPED.sizes["unequal"].model_dump() | {"most": 400}},
    }  # fmt: skip
    return small("many_tasks", **{**few, **changes})


def test_methods_are_what_across_tasks_says(rng: np.random.Generator) -> None:
    n = np.array([[30, 55, 90, 160, 300]])
    won, lost = rng.binomial(n, 0.15), rng.binomial(n, 0.1)
    assert (won + lost <= n).all()
    found = dict(METHODS.outcomes(n, won, lost, study(n_flips=9999), rng))
    # Items that only the first, only the second, and none of the two has right.
    answers = [
        np.repeat([[1, 0, 0], [0, 1, 0]], [w, x, size - w - x], axis=1)
        for w, x, size in zip(won[0], lost[0], n[0], strict=True)
    ]
    items = pd.DataFrame({"id": range(int(n.sum())), "domain": np.repeat(list("abcde"), n[0])})
    scores = pd.DataFrame(dict(zip(("first", "second"), np.concatenate(answers, axis=1), strict=True)))
    rows = ss.across_tasks(ss.Outputs.from_scores(scores, "accuracy", items=items)).averages
    rows = rows.set_index(["average", "hypothesis"])
    these, like, pooled = (
        rows.loc[key] for key in (("macro", "these tasks"), ("macro", "tasks like these"), ("micro", "these tasks"))
    )
    sign = 1 if these["system_a"] == "first" else -1
    macro = found[METHODS.MACRO]
    assert 100 * sign * macro["gain"][0] == pytest.approx(these["gain"])
    assert 100 * macro["half"][0] == pytest.approx((these["gain_high"] - these["gain_low"]) / 2)
    assert macro["p"][0] == pytest.approx(these["p_value"], abs=0.02)
    assert found[METHODS.FLIPS]["p"][0] == pytest.approx(like["p_value"])
    assert found[METHODS.T_TASKS]["p"][0] == pytest.approx(like["p_t"])
    assert 100 * found[METHODS.T_TASKS]["half"][0] == pytest.approx((like["gain_high"] - like["gain_low"]) / 2)
    assert found[METHODS.POOLED]["p"][0] == pytest.approx(pooled["p_value"])


def test_tasks_that_are_tied_are_neither_won_nor_lost() -> None:
    """Six of ten won and none lost, 5 to 1, 3 to 2, and all tied: scipy's sign tests of those that decide."""
    counts = np.array([[6, 0], [1, 5], [3, 2], [0, 0]])
    gains = np.array([np.repeat([0.2, -0.1, 0.0], [won, lost, 10 - won - lost]) for won, lost in counts])
    found = METHODS.tasks_won(gains)
    expected = [stats.binomtest(won, won + lost).pvalue if won + lost else 1 for won, lost in counts]
    assert found["p"].tolist() == pytest.approx(expected)
    assert found["gain"].tolist() == pytest.approx([0.12, -0.03, 0.04, 0])


def test_drawn_flips_count_the_gains_as_they_are(rng: np.random.Generator) -> None:
    """Of 2^30 flips of equal gains two are as extreme: none is drawn, and p is never 0."""
    found = METHODS.like_these(np.full((1, 30), 0.1), study(n_flips=19), rng)
    assert found["p"].tolist() == [1 / 20]


def test_real_suites_are_counted_pair_by_pair(rng: np.random.Generator) -> None:
    """At a level of 0.2, which says other things of these pairs than 0.05, and of one task that decides, too."""
    sizes = {"a": 15, "b": 30, "c": 60, "d": 120, "e": 20, "f": 25}
    domain = np.repeat([*sizes], [*sizes.values()])
    chance = np.repeat(rng.uniform(0.3, 0.7, (7, len(sizes))), [*sizes.values()], axis=1)
    scores = pd.DataFrame((rng.random(chance.shape) < chance).astype(int).T, columns=[f"s{k}" for k in range(7)])
    outputs = ss.Outputs.from_scores(scores, "accuracy", items=pd.DataFrame({"id": scores.index, "domain": domain}))
    counts = {}
    for alpha in (0.2, 0.05):
        (row,) = SUITES.disagreements({"mine": outputs}, alpha).to_dict("records")
        found = ss.across_tasks(outputs, alpha=alpha)
        keys = ["average", "hypothesis", "system_a", "system_b"]
        of = found.averages.set_index(keys)
        without = found.without.set_index(["task", "system_a", "system_b"])
        n = dict.fromkeys((name for name in row if name.startswith("n_")), 0)
        n |= {"n_systems": 7, "n_tasks": 6, "n_items": 270, "n_pairs": 21}
        for pair in zip(*(found.answer[side] for side in keys[2:]), strict=True):
            macro, like, micro = (
                of.loc[(*key, *pair)]
                for key in (("macro", "these tasks"), ("macro", "tasks like these"), ("micro", "these tasks"))
            )
            these, flips, pooled = (one["p_value"] <= alpha for one in (macro, like, micro))
            other = macro["gain"] * micro["gain"] < 0
            left = max((abs(without.loc[(task, *pair), "change"]), task) for task in sizes)[1]
            after = without.loc[(left, *pair)]
            for name, yes in {
                "n_these": these, "n_like_flips": flips, "n_like_t": like["p_t"] <= alpha, "n_pooled": pooled,
                "n_these_not_like": these > flips, "n_like_not_these": flips > these,
                "n_these_not_pooled": these > pooled, "n_pooled_not_these": pooled > these, "n_other_order": other,
                "n_opposite": these and pooled and other, "n_all_won": macro["tasks_won"] == 6,
                "n_mixed": macro["tasks_won"] > 0 and macro["tasks_lost"] > 0,
                "n_significance_by_one": (
                    (macro["gain_low"] * macro["gain_high"] > 0) != (after["gain_low"] * after["gain_high"] > 0)
                ),
            }.items():  # fmt: skip
                n[name] += bool(yes)
        assert row == {"suite": "mine", **n}
        counts[alpha] = n
    names = ("n_these", "n_like_flips", "n_like_t", "n_pooled", "n_significance_by_one")
    assert all(counts[0.2][name] != counts[0.05][name] for name in names), counts


def test_test_sets_are_joined_as_the_tasks_of_one_suite() -> None:
    """With the systems that both have, whatever their order is."""
    x, y = {"a": [1, 0], "b": [1, 1], "c": [0, 0]}, {"c": [1, 1], "d": [0, 0], "a": [0, 1]}
    parts = [
        ss.Outputs.from_scores(pd.DataFrame(scores, index=["p", "q"]), "accuracy", test_set=name)
        for name, scores in (("x", x), ("y", y))
    ]
    suite = SETTINGS.RealSuite(name="both", study="s", test_sets=["x", "y"])
    found = SUITES.joined(suite, parts)
    assert (found.names, found.test_set) == (["a", "c"], "both")
    assert found.items.to_dict("list") == {"id": ["x/p", "x/q", "y/p", "y/q"], "domain": ["x", "x", "y", "y"]}
    assert found.statistics[..., 0].tolist() == [[1, 0, 0, 1], [0, 0, 1, 1]]


@pytest.mark.usefixtures("empty_figures")
def test_a_small_run(tmp_path: Any) -> None:
    done = ss.run_study(study(), out=tmp_path / "many_tasks", n_jobs=1)
    rates = done.tables["rates"]
    assert len(rates) == 6 * len(METHODS.METHODS)
    assert (rates["n_sets"] == 3).all()
    assert rates.loc[rates["method"] == METHODS.FLIPS, "n_significant"].eq(0).all()
    assert rates["coverage"].isna().eq(rates["method"] == METHODS.WON).all()
    assert (tmp_path / "many_tasks" / "figures" / "type_1_errors.png").is_file()
