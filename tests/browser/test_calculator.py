"""The planning calculator of the documentation: its numbers are those of `simstudy.plan`, in a browser and in node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss

SCRIPT = Path(__file__).parents[2] / "docs" / "_static" / "calculator.js"
NODE = shutil.which("node")


def questions(n: int) -> list[dict[str, Any]]:
    """Questions of both kinds about both metrics: levels, powers, sides and sizes from few items to millions."""
    rng = np.random.default_rng(34)
    asked: list[dict[str, Any]] = []
    while len(asked) < n:
        one: dict[str, Any] = {
            "metric": ("accuracy", "mean")[len(asked) % 2],
            "ask": ("items", "gain")[len(asked) // 2 % 2],
            "alternative": ("two-sided", "greater")[len(asked) // 4 % 2],
            "alpha": float(rng.choice([0.001, 0.01, 0.05, 0.1])),
            "power": float(rng.choice([0.5, 0.8, 0.9, 0.95])),
            "comparisons": int(rng.choice([1, 1, 10])),
            "items": int(round(10 ** rng.uniform(0.7, 5))),
            "sd": float(f"{10 ** rng.uniform(-1, 1.5):.3g}"),
            "score": float(rng.integers(20, 99)),
        }
        room = 100 - one["score"]
        one["gain"] = float(f"{rng.uniform(0.01, 0.5) * (room if one['metric'] == 'accuracy' else one['sd']):.2g}")
        apart = one["gain"] / 100 if one["ask"] == "items" else 0.0
        worse = one["score"] / 100
        least = 1 - min(2 * worse + apart, 2 - 2 * worse - apart)
        one["agreement"] = float(f"{least + rng.uniform(0.05, 0.98) * (1 - apart - least):.3f}")
        if least < one["agreement"] < 1 - apart:
            asked.append(one)
    return asked


def planned(question: dict[str, Any]) -> float:
    """What `simstudy.plan` answers; NaN where no gain is detected."""
    if question["metric"] == "accuracy":
        guess = ss.Guess(score=question["score"], agreement=question["agreement"])
    else:
        guess = ss.Guess(sd_difference=question["sd"])
    level = ss.Level(question["alpha"], question["alternative"], question["comparisons"])
    asked = {"gain": question["gain"]} if question["ask"] == "items" else {"n_items": question["items"]}
    try:
        plan = ss.plan(metric=question["metric"], guess=guess, alpha=level, power=question["power"], sizes=[], **asked)
    except ValueError as error:
        if "no test set of up to 10,000,000 items" not in str(error):
            raise
        return np.nan
    return float(plan.answers["n_items" if question["ask"] == "items" else "minimum_detectable_gain"].item())


def assert_equal(asked: list[dict[str, Any]], answers: list[float | None]) -> None:
    """To three digits, with the room of half a unit of the third; at most one item apart where there are few."""
    numbers = 0
    for question, answer in zip(asked, answers, strict=True):
        expected = planned(question)
        if answer is None:
            assert np.isnan(expected), question
            continue
        numbers += 1
        assert answer == pytest.approx(expected, rel=5e-4), (question, answer, expected)
    assert numbers > 0.8 * len(asked)


ASK = "(q) => (q.ask === 'items' ? simstudyPlan.items(q) : simstudyPlan.minimumDetectableGain(q))"


@pytest.mark.skipif(NODE is None, reason="there is no node here")
def test_the_calculator_has_the_numbers_of_plan() -> None:
    asked = questions(24)
    program = f"const simstudyPlan = require({json.dumps(str(SCRIPT))}); const asked = {json.dumps(asked)}; " + (
        f"console.log(JSON.stringify(asked.map({ASK})))"
    )
    assert NODE is not None
    done = subprocess.run([NODE, "-e", program], capture_output=True, text=True, check=True)
    assert_equal(asked, json.loads(done.stdout))


def page(browser: Any, tmp_path: Path, body: str) -> Any:
    """A browser's page with the calculator's script."""
    (tmp_path / "calculator.js").write_text(SCRIPT.read_text("utf-8"), encoding="utf-8")
    (tmp_path / "page.html").write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><script src="calculator.js"></script><body>{body}</body>', "utf-8"
    )
    opened = browser.new_page()
    opened.goto((tmp_path / "page.html").as_uri())
    return opened


@pytest.mark.browser
def test_the_calculator_has_the_numbers_of_plan_in_a_browser(browser: Any, tmp_path: Path) -> None:
    asked = questions(200)
    opened = page(browser, tmp_path, "")
    assert_equal(asked, opened.evaluate(f"(asked) => asked.map({ASK})", asked))
    opened.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({}, "You need 8,032 items to detect a true gain of 1 point of accuracy with power 0.8."),
        ({"score": "99.5"}, "gain must be at most 0.5 where the score is 99.5 %, not 1"),
        ({"agreement": "0.995"}, "agreement must be from 0.61 to 0.99, not 0.995"),
        ({"power": ""}, "power must be above 0.025 and below 1, not NaN"),
        (
            {"metric": "mean", "sd": "0.3", "ask": "gain for a number of items"},
            "With 1,000 items, you detect a true gain of 0.0266 of the mean with power 0.8.",
        ),
    ],
)
def test_the_form_answers_what_is_typed(browser: Any, tmp_path: Path, typed: dict[str, str], said: str) -> None:
    opened = page(browser, tmp_path, '<div class="planning-calculator">no script</div>')
    form = opened.locator("form")
    form.wait_for()
    assert opened.get_by_text("no script").count() == 0
    for name, value in typed.items():
        field = form.locator(f"[name={name}]")
        if field.evaluate("(field) => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    assert said in opened.locator("output").inner_text()
    opened.close()
