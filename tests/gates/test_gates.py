"""Decisions of four kinds of gates, against tests of other packages, and the lines that say them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from simstudy.gates.asked import BETTER, EQUIVALENT, NOT_WORSE, WORSE, Gate, Kind
from simstudy.gates.findings import Finding
from simstudy.gates.verdicts import Verdict
from tests.cli.command import compare, write_wide

PLAIN = ("ratings.csv", "--metric", "mean")
FLAT = (*PLAIN, "--test", "t_paired")


@pytest.fixture
def ratings() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    old = rng.normal(3, 1, 200)
    table = pd.DataFrame({"old": old, "new": old + rng.normal(0.1, 0.3, 200), "same": old + rng.normal(0, 0.3, 200)})
    table.rename_axis("item").to_csv("ratings.csv")
    return table


def one_sided(table: pd.DataFrame, a: str, b: str, margin: float) -> float:
    """The p-value of the null hypothesis that a is worse than b by the margin or more."""
    return float(stats.ttest_1samp(table[a] - table[b], -margin, alternative="greater").pvalue)


@pytest.mark.parametrize(
    ("pair", "margin"),
    [(("new", "old"), 0.15), (("old", "new"), 0.15), (("same", "old"), 0.03), (("old", "same"), 0.15)],
)
def test_gates_against_a_margin_are_one_sided_t_tests_at_half_of_alpha(
    ratings: pd.DataFrame, pair: tuple[str, str], margin: float
) -> None:
    a, b = pair
    gain, se = _mean_and_se(ratings, a, b)
    low, high = stats.t.interval(0.95, 199, gain, se)
    expected = {
        "not worse": one_sided(ratings, a, b, margin),
        "equivalent": max(one_sided(ratings, a, b, margin), one_sided(ratings, b, a, margin)),
    }
    asked = ("--fail-unless-not-worse", a, b, "--fail-unless-equivalent", a, b)
    code, out, err = compare(*FLAT, "--margin", str(margin), *asked, "--json")
    assert code == int(max(expected.values()) > 0.025)
    gates = {gate["gate"]: gate for gate in json.loads(out)["gates"]}
    for (kind, p_value), line in zip(expected.items(), err.splitlines(), strict=True):
        gate = gates[kind]
        assert gate["p_value"] == pytest.approx(p_value, rel=1e-6)
        assert (gate["alpha"], gate["margin"]) == (0.025, margin)
        assert [gate[name] for name in ("gain", "gain_low", "gain_high")] == pytest.approx([gain, low, high])
        assert gate["passed"] == (p_value <= 0.025)
        assert "one-sided test" in line
        told = re.findall(r" at 0\.025\); the gain is ([-.\d]+) \(95 % interval: ([-.\d]+) to ([-.\d]+)\)$", line)[0]
        assert [float(number) for number in told] == pytest.approx([gain, low, high], abs=0.005)
    # A p-value that is exactly half of alpha shows the claim.
    exactly = repr(2 * gates["equivalent"]["p_value"])
    assert compare(*FLAT, "--margin", str(margin), *asked, "--alpha", exactly)[0] == 0


def test_a_gate_against_worse_says_what_it_may_have_missed(ratings: pd.DataFrame) -> None:
    low = stats.t.interval(0.95, 199, *_mean_and_se(ratings, "same", "old"))[0]
    code, out, err = compare(*FLAT, "--fail-if-worse", "same", "old", "--json")
    (gate,) = json.loads(out)["gates"]
    assert gate["gain_low"] == pytest.approx(low, rel=1e-9)
    assert code == 0
    assert f"same is not significantly worse than old at 0.05 by mean (one pair, named beforehand: {''}" in err
    assert err.endswith(f" may be worse by {-low:.2f} (95 % interval)\n")
    code, _, err = compare(*FLAT, "--fail-if-worse", "old", "new")
    assert (code, "gate: old is significantly worse than new at 0.05 by mean" in err) == (1, True)
    assert "corrected for the others): new has the better score; " in compare(*FLAT, "--fail-if-worse", "new", "old")[2]
    # A gain whose whole interval is above 0 leaves nothing to be missed.
    assert "may be worse" not in compare(*FLAT, "--fail-if-worse", "new", "old")[2]


@pytest.mark.parametrize(("more", "level"), [(("--alpha", "0.01"), 0.99), (("--planned-looks", "100"), 0.9995)])
def test_the_interval_of_a_gate_has_the_level_of_its_decision(
    ratings: pd.DataFrame, more: tuple[str, str], level: float
) -> None:
    """Student's t, and the ends of Tango's interval, where the score statistic is the normal quantile."""
    gain, se = _mean_and_se(ratings, "same", "old")
    looks = ("--looks", "looks.json") if "looks" in more[0] else ()
    _, out, err = compare(*FLAT, "--fail-if-worse", "same", "old", "--json", *more, *looks)
    (gate,) = json.loads(out)["gates"]
    low, high = stats.t.interval(level, 199, gain, se)
    assert [gate["gain_low"], gate["gain_high"]] == pytest.approx([low, high], rel=1e-9)
    assert f" in this test set, {'and' if gain < 0 else 'but same'} may be worse by {-low:.2f} " in err
    assert f" ({100 * level:g} % interval)" in err
    # New wins 4 of 60 items and loses 9; the statistic is that of a true gain, as a share of the items.
    n, wins, losses = 60, 4, 9
    path = write_wide("right.csv", {"new": [1] * wins + [0] * losses + [1] * 47, "old": [0] * wins + [1] * 56})

    def z(true: float) -> float:
        b = (2 * n - wins + losses) * true - wins - losses
        share = (np.sqrt(b**2 + 8 * n * losses * true * (1 - true)) - b) / (4 * n)
        return float((wins - losses - n * true) / np.sqrt(n * (2 * share + true * (1 - true))))

    worst = -100 * optimize.brentq(lambda true: z(true) - stats.norm.ppf((1 + level) / 2), -0.9, -5 / 60)
    looks = ("--looks", "others.json") if looks else ()
    _, _, err = compare(path, "--metric", "accuracy", "--fail-if-worse", "new", "old", *more, *looks)
    said = f"; it is worse by 8.33 points in this test set, and may be worse by {worst:.2f} points ({100 * level:g} %"
    assert said in err


def _mean_and_se(table: pd.DataFrame, a: str, b: str) -> tuple[float, float]:
    d = table[a] - table[b]
    return float(d.mean()), float(d.std(ddof=1) / np.sqrt(len(d)))


def test_any_number_of_gates_each_has_its_line_and_all_must_pass(ratings: pd.DataFrame) -> None:
    asked = ("--fail-unless-better", "new", "old", "--fail-unless-better", "new", "same", "--fail-if-worse")
    code, out, err = compare(*FLAT, *asked, "same", "old", "--fail-unless-equivalent=same", "old", "--margin", "9")
    assert code == 0
    assert [line.split(" by ")[0] for line in err.splitlines()] == [
        "simstudy: gate: new is significantly better than old at 0.05",
        "simstudy: gate: new is significantly better than same at 0.05",
        "simstudy: gate: same is not significantly worse than old at 0.05",
        "simstudy: gate: same and old are equivalent within 9",
    ]
    code, out, _ = compare(*FLAT, *asked, "old", "new", "--json")
    assert code == 1
    content = json.loads(out)
    assert [gate["passed"] for gate in content["gates"]] == [True, True, False]
    assert content["settings"]["fail_unless_better"] == [["new", "old"], ["new", "same"]]


def test_several_comparisons_are_a_conjunction_or_a_disjunction_by_what_is_asked() -> None:
    """New wins 9 of 9 on x, and loses 9 of 9 on y and 8 of 8 on z: the first that fails is told.

    Tango's statistic of n losses of n is the root of n (1 + gain) / (1 - gain).
    """
    square = stats.norm.ppf(0.95) ** 2
    loss = f"; the gain is -100.00 points (90 % interval: -100.00 to -{100 * (9 - square) / (9 + square):.2f})"
    new = [1] * 9 + [0] * 17
    table = pd.DataFrame({"new": new, "old": [1 - k for k in new], "domain": [*("x" * 9), *("y" * 9), *("z" * 8)]})
    table.rename_axis("item").to_csv("t.csv")
    by_domain = ("t.csv", "--metric", "accuracy", "--by-domain")
    for option, ends in (
        (
            "--fail-unless-better",
            f"by accuracy on y: old has the better score{loss} (fails: 2 of 3 comparisons; each must pass)",
        ),
        (
            "--fail-if-worse",
            f"by accuracy on y, p = 0.00391 (two-sided){loss} (fails: 2 of 3 comparisons; each is tested at 0.1)",
        ),
    ):
        code, _, err = compare(*by_domain, option, "new", "old", "--alpha", "0.1")
        assert (code, err.rstrip().endswith(ends)) == (1, True), err
    _, out, _ = compare(*by_domain, "--fail-if-worse", "new", "old", "--json")
    assert [[gate["passed"] for gate in part["gates"]] for part in json.loads(out)] == [[True], [False], [False]]


def finding(kind: Kind, p_value: float = 0.02, **changed: Any) -> Finding:
    """New is two points ahead of old, between 1.5 and 3."""
    usual: dict[str, Any] = {
        "of": "accuracy", "told": "accuracy", "p": f"= {p_value}", "level": 0.05, "claimed": False, "gain": 2.0,
        "gain_low": 1.5, "gain_high": 3.0, "interval": "95 % interval", "metric_unit": "percent", "n_units": 9,
    }  # fmt: skip
    gate = Gate(kind, "new", "old", 1.0 if kind.with_margin else None)
    return Finding(gate, p_value=p_value, **{**usual, **changed})


BEHIND = {"gain": -0.5, "gain_low": -1.5, "gain_high": 0.5}
GAIN = "; the gain is 2.00 points (95 % interval: 1.50 to 3.00)"
LOSS = "; the gain is -0.50 points (95 % interval: -1.50 to 0.50)"


@pytest.mark.parametrize(
    ("kind", "changed", "said"),
    [
        (BETTER, {"claimed": True}, f"is significantly better than old {{at}}, {{p}} (two-sided){GAIN}"),
        (BETTER, {"why": "; why"}, f"is not significantly better than old {{at}}, {{p}} (two-sided); why{GAIN}"),
        (BETTER, BEHIND, f"is not significantly better than old {{at}}: old has the better score{LOSS}"),
        (BETTER, {"p_value": np.nan}, f"is not significantly better than old {{at}}, without a p-value{GAIN}"),
        (BETTER, {"e_value": 9.0, "sides": "one-sided"}, f"is not significantly better than old {{at}}, {{p}} "
         f"(one-sided){GAIN}"),
        (BETTER, {**BEHIND, "e_value": 9.0}, f"is not significantly better than old {{at}}, {{p}} (two-sided){LOSS}"),
        (WORSE, {**BEHIND, "claimed": True}, f"is significantly worse than old {{at}}, {{p}} (two-sided){LOSS}"),
        (WORSE, {**BEHIND, "why": "; why"}, "is not significantly worse than old {at}, {p} (two-sided); why; it is "
         "worse by 0.50 points in this test set, and may be worse by 1.50 points (95 % interval)"),
        (WORSE, {**BEHIND, "gain": 0.5, "metric_unit": "points"}, "is not significantly worse than old {at}: new has "
         "the better score; the gain is 0.50 in this test set, but new may be worse by 1.50 (95 % interval)"),
        (WORSE, {"gain": 0.0, "gain_low": np.nan}, "is not significantly worse than old {at}, {p} (two-sided); the "
         "gain is 0.00 points (no interval)"),
        (WORSE, {"gain_low": 0.0}, "is not significantly worse than old {at}: new has the better score; the gain is "
         "2.00 points (95 % interval: 0.00 to 3.00)"),
        (NOT_WORSE, {"claimed": True}, f"is not worse than old by 1 point or more by accuracy, {{p}} ({{one}}){GAIN}"),
        (NOT_WORSE, {"metric_unit": "points"}, "may be worse than old by 1 or more by accuracy, {p} ({one}); the gain "
         "is 2.00 (95 % interval: 1.50 to 3.00)"),
        (EQUIVALENT, {"claimed": True}, f"and old are equivalent within 1 point by accuracy, {{p}} ({{two}}){GAIN}"),
        (EQUIVALENT, {"why": "; why"}, "and old are not shown to be equivalent within 1 point by accuracy, {p} "
         f"({{two}}); why{GAIN}"),
    ],
)  # fmt: skip
def test_a_verdict_in_words(kind: Kind, changed: dict[str, Any], said: str) -> None:
    said = said.format(
        at="at 0.05 by accuracy", p="p = 0.02", one="one-sided test at 0.025", two="two one-sided tests at 0.025"
    )
    assert Verdict(Gate(kind, "new", "old"), (finding(kind, **changed),)).sentence() == f"new {said}"


@pytest.mark.parametrize(("kind", "nearest"), [(BETTER, 0.04), (WORSE, 0.01), (NOT_WORSE, 0.04), (EQUIVALENT, 0.04)])
def test_of_several_comparisons_that_pass_the_nearest_to_a_failure_is_told(kind: Kind, nearest: float) -> None:
    parts = tuple(finding(kind, p, claimed=kind.unless, gain=0.0, gain_low=0.0) for p in (0.02, 0.01, 0.04, 0.03))
    which = "largest" if kind.unless else "smallest"
    said = Verdict(parts[0].gate, parts).sentence()
    assert f", p = {nearest} (" in said
    assert said.endswith(f"; p is the {which} of 4 comparisons, which all pass")


def test_a_system_without_an_interval_shows_nothing_about_a_margin() -> None:
    """Equal scores that are no right or wrong answers have no spread."""
    path = write_wide("one.csv", {"old": [2, 2], "new": [2, 2]})
    for claim in ("equivalent", "not-worse"):
        code, _, err = compare(path, "--metric", "mean", f"--fail-unless-{claim}", "new", "old", "--margin", "1")
        assert (code, err.count("\n")) == (1, 1)
        assert "without a p-value" in err
        assert "there is no interval to test a margin by" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--fail-unless-equivalent new old", "--fail-unless-equivalent needs --margin: the smallest true gain that "),
        ("--fail-unless-not-worse new old", "--fail-unless-not-worse needs --margin: "),
        ("--fail-if-worse new odl", "--fail-if-worse: no system 'odl' among old, new, same (did you mean 'old'?)"),
        ("--fail-unless-better nwe old", "--fail-unless-better: no system 'nwe' among old, new, same (did you mean "),
        ("--fail-if-worse new new", "--fail-if-worse must name two different systems, not 'new' twice"),
        (
            "--fail-if-worse new old --fail-if-worse new old",
            "--fail-if-worse must be given once for 'new' and 'old', not twice",
        ),
        ("--fail-if-worse new", "option '--fail-if-worse' requires 2 arguments"),
        ("--fail-if-worse new ''", "invalid value for '--fail-if-worse': it must not be empty"),
        ("--sequential", "--sequential needs a gate, such as --fail-unless-better A B"),
        ("--looks looks.json", "--looks needs a gate, such as --fail-unless-better A B"),
        ("--junit report.xml", "--junit needs a gate, such as --fail-unless-better A B"),
        ("--fail-if-worse new old --planned-looks 5", "--planned-looks must not be given without --looks\n"),
        (
            "--fail-if-worse new old --sequential --looks l.json --planned-looks 5",
            "--planned-looks must not be given with --sequential\n",
        ),
        ("--fail-if-worse new old --looks .", "--looks must be a file, but . is a folder"),
        ("--fail-if-worse new old --looks l.json --planned-looks 0", "--planned-looks must be at least 1, not 0"),
        ("--fail-if-worse new old --annotations gitlab", "--annotations must be one of github, none, not 'gitlab'"),
        ("--fail-if-worse new old --score-range 1:5", "--score-range must not be given without --sequential"),
        ("--fail-if-worse new old --sequential", "--score-range must be given for metric 'mean'"),
        ("--fail-if-worse new old --sequential --score-range 5", "--score-range must be two scores, such as 1:10, not"),
        ("--fail-if-worse new old --sequential --score-range 1:5", "--score-range must hold all scores, unlike "),
        (
            "--fail-if-worse new old --sequential --score-range=-9:9 --test t_paired",
            "--test must not be given with --sequential, which has a test of its own",
        ),
        (
            "--fail-unless-equivalent new old --margin 40 --sequential --score-range=-9:9",
            "--margin must be below 18, the largest gain there can be, not 40",
        ),
    ],
)
@pytest.mark.usefixtures("ratings")
def test_what_does_not_fit_is_one_line_and_exit_code_2(arguments: str, message: str) -> None:
    code, out, err = compare(*PLAIN, *shlex.split(arguments))
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith(f"simstudy: {message}"), err
    assert not Path("looks.json").exists()
