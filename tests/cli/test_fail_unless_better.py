"""Exit codes: a script asks whether one system is better."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import as_json, compare, write_wide


@pytest.mark.parametrize(
    ("names", "alpha", "expected"),
    [(("new", "old"), "0.05", 0), (("new", "old"), "0.01", 1), (("old", "new"), "0.05", 1)],
)
def test_scripts_can_ask_whether_one_system_is_better(names: tuple[str, str], alpha: str, expected: int) -> None:
    """p = 2^-6: significant at 0.05, not at 0.01, and for one of the two only."""
    path = write_wide("scores.csv", {"old": [0] * 6 + [1] * 4, "new": [1] * 10})
    asked = ("--test", "sign", "--alternative", "greater", "--alpha", alpha)
    options = (path, "--metric", "accuracy", *asked, "--fail-unless-better", *names)
    code, out, err = compare(*options)
    assert code == expected
    assert out.splitlines()[1].startswith("new scores 100.00")
    said = (
        f"simstudy: gate: {names[0]} is {'not ' * expected}significantly better than {names[1]} at {alpha} by accuracy"
    )
    said += ": new has the better score" if names[0] == "old" else ", p = 0.0156 (one-sided)"
    gain, level = "-60.00" if names[0] == "old" else "60.00", 100 - 100 * float(alpha)
    assert err.startswith(f"{said}; the gain is {gain} points (two-sided {level:g} % interval: ")
    code, out, _ = compare(*options, "--json")
    assert code == expected
    content = json.loads(out)
    assert content["pairs"][0]["p_value"] == 2**-6
    (gate,) = content["gates"]
    assert gate == gate | {
        "gate": "better", "system": names[0], "other": names[1], "margin": None, "of": "accuracy", "p_value": 2**-6,
        "alpha": float(alpha), "passed": not expected,
    }  # fmt: skip


def test_a_tie_is_not_better() -> None:
    path = write_wide("scores.csv", {"old": [0, 1], "new": [1, 0]})
    code, out, _ = compare(path, "--metric", "accuracy", "--fail-unless-better", "new", "old")
    assert code == 1
    assert "have the same score" in out


def test_fail_unless_better_decides_as_the_verdict_does() -> None:
    """With 100 resamples the Monte Carlo interval is on both sides of each of these levels."""
    path = write_wide("scores.csv", {"old": [0] * 7 + [1] * 60, "new": [0] * 2 + [1, 1, 1, 1, 1] + [0] * 1 + [1] * 59})
    asked = ("--test", "bootstrap", "--resamples", "100", "--alternative", "greater", "--convention", "noreen")
    options = (path, "--metric", "accuracy", *asked)
    (pair,) = as_json(*options)["pairs"]
    for beyond, expected in (("p_high", 0), ("p_low", 1)):
        alpha = round((pair["p_value"] + pair[beyond]) / 2, 4)
        assert pair["p_low"] < alpha < pair["p_high"]
        code, out, err = compare(*options, "--alpha", f"{alpha}", "--fail-unless-better", "new", "old")
        assert code == expected
        assert ("is not significant at" in out) == bool(code)
        assert "more than 100 resamples may decide otherwise" in out
        said = f"simstudy: gate: new is {'not ' * code}significantly better than old at {alpha:g} by accuracy, p = "
        assert err.startswith(said)
