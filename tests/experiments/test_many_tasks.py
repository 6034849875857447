"""The study of several tasks, small: its numbers against `across_tasks` on the same answers, and its truths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from tests.experiments.programs import assert_described, program, small

METHODS, SETTINGS = (program("many_tasks", part) for part in ("methods", "settings"))
SHIPPED: Any = small("many_tasks")


def study(**changes: Any) -> Any:
    few: dict[str, Any] = {
        "n_tasks": [5], "n_sets": 30, "block": 20, "suites": [],
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


def test_drawn_flips_count_the_gains_as_they_are(rng: np.random.Generator) -> None:
    """Of 2^30 flips of equal gains two are as extreme: none is drawn, and p is never 0."""
    found = METHODS.like_these(np.full((1, 30), 0.1), study(n_flips=19), rng)
    assert found["p"].tolist() == [1 / 20]


@pytest.mark.parametrize("redrawn", SETTINGS.REDRAWN)
@pytest.mark.parametrize("truth", SETTINGS.TRUTHS)
def test_the_true_gain_is_what_is_said(truth: str, redrawn: str, rng: np.random.Generator) -> None:
    sizes, pairs = SHIPPED.sizes["unequal"], SHIPPED.agreement["usual"]
    tasks = SETTINGS.Tasks.draw(SHIPPED, sizes, pairs, truth, redrawn, (4000, 10), rng)
    assert (tasks.first >= 0).all()
    assert (tasks.second >= 0).all()
    own = (tasks.first - tasks.second).mean(axis=1)
    np.testing.assert_allclose(tasks.gain, own, atol=1e-12)
    if redrawn == SETTINGS.FIXED and truth != SETTINGS.GAIN:
        np.testing.assert_allclose(own, 0, atol=1e-12)
    if redrawn == SETTINGS.DRAWN:
        assert own.mean() == pytest.approx(tasks.population_gain, abs=4 * own.std() / np.sqrt(4000) + 1e-12)
    assert (tasks.n_items.min(), tasks.n_items.max()) >= (30, 9000)


def test_what_changes_the_result_of_a_cell_changes_its_description() -> None:
    base = {"n_sets": 20}
    for change in ({"alpha": 0.2}, {"seed": 1}, {"spread": 0.1}, {"n_flips": 19}, {"most": 0.8}):
        assert_described("many_tasks", study(**base), study(**base, **change))


def test_a_small_run(tmp_path: Any) -> None:
    done = ss.run_study(study(), out=tmp_path / "many_tasks", n_jobs=1)
    rates = done.tables["rates"]
    assert len(rates) == 6 * len(METHODS.METHODS)
    assert (rates["n_sets"] == 30).all()
    assert rates.loc[rates["method"] == METHODS.FLIPS, "n_significant"].eq(0).all()
    assert rates["coverage"].isna().eq(rates["method"] == METHODS.WON).all()
    assert (tmp_path / "many_tasks" / "figures" / "type_1_errors.png").is_file()
