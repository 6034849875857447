"""What `simstudy compare` decides, and on what: directions, few items, defaults, units, margins and exit codes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.examination.limits import one_by_one
from tests.cli.command import as_json, compare, write_wide
from tests.oracles import compared

ALPHA = 0.05


def refused(better: str, worse: str) -> str:
    return f"simstudy: gate: {better} is not significantly better than {worse} at 0.05 by "


# For whom a test speaks


@pytest.fixture
def few_wide() -> str:
    """a wins three items by 0.8 and loses twenty by 0.05: the better score, and most items lost."""
    path = Path("few_wide.csv")
    pd.DataFrame({"a": [0.9] * 3 + [0.1] * 20, "b": [0.1] * 3 + [0.15] * 20}).rename_axis("item").to_csv(path)
    return str(path)


@pytest.mark.parametrize(("test", "alternative"), [("sign", "two-sided"), ("wilcoxon", "greater")])
def test_a_test_that_prefers_the_lower_score_makes_nobody_better(few_wide: str, test: str, alternative: str) -> None:
    options = (few_wide, "--metric", "mean", "--test", test, "--alternative", alternative)
    (pair,) = as_json(*options)["pairs"]
    assert pair["system_a"] == "a"
    assert pair["p_two_sided"] < ALPHA
    code, out, _ = compare(*options)
    assert code == 0
    assert "test prefers b, not a. Its null hypothesis is not that the scores are equal, but that " in out
    assert "The gain is not significant." in out
    assert "gain is significant" not in out
    for names in ("ab", "ba"):
        code, _, err = compare(*options, "--fail-unless-better", *names)
        said = f"simstudy: --test must be about the scores with --fail-unless-better, such as 'sign_flips', not '{test}"
        assert (code, err.startswith(said), err.count("\n")) == (2, True, 1)


@pytest.mark.parametrize("test", ["sign", "wilcoxon"])
def test_a_test_of_something_else_says_what_it_is_about(few_wide: str, test: str) -> None:
    """b wins twenty items of 23; its mean is made the better one by a constant on the other three."""
    frame = pd.read_csv(few_wide)
    frame.loc[:2, "b"] = 0.6
    frame.to_csv("other.csv", index=False)
    _, out, _ = compare("other.csv", "--metric", "mean", "--test", test)
    title = "Wilcoxon signed-rank test" if test == "wilcoxon" else "sign test"
    assert out.startswith(f"The {title} is significant at 0.05 in favour of b. It asks whether ")
    assert "not whether the scores are equal." in out
    assert "is better than" not in out
    right = write_wide("right.csv", {"old": [0] * 8 + [1] * 4, "new": [1] * 12})
    assert compare(right, "--metric", "accuracy", "--test", test)[1].startswith("new is better than old: the gain is ")


# Few items


@pytest.mark.parametrize(
    ("n", "options"),
    [(3, []), (2, ["--alternative", "greater"]), (3, ["--convention", "noreen", "--resamples", "9999"])],
)
def test_two_or_three_items_are_not_enough(n: int, options: list[str]) -> None:
    """All of them for the new system: every resample has the whole gain, and of 2^n swaps one has it."""
    path = write_wide("scores.csv", {"old": [0] * n, "new": [1] * n})
    asked = (path, "--metric", "accuracy", "--test", "bootstrap", *options)
    (pair,) = as_json(*asked)["pairs"]
    assert (pair["p_value"] < 0.001, pair["exact_level"]) == (True, False)
    assert pair["p_floor"] == 2.0**-n * (1 if "greater" in options else 2) > ALPHA
    # The gate of each order is asked beside the answer.
    for names in (("new", "old"), ("old", "new")):
        code, out, err = compare(*asked, "--fail-unless-better", *names)
        assert (code, err.startswith(refused(*names)), err.count("\n")) == (1, True, 1)
    assert "is not significant at 0.05, and cannot be: too few units differ." in out
    assert "the gain is significant" not in out
    assert "exact" not in out
    assert ("95 % Monte Carlo interval 0 to 0.0" in out) == ("noreen" in options)
    assert ("resamples" in out) == ("noreen" in options)
    three = write_wide("three.csv", {"old": [0] * n, "new": [1] * n, "newer": [1] * n})
    content = as_json(three, "--metric", "accuracy", "--test", "bootstrap", *options)
    assert [sorted(group) for group in content["groups"]] == [["new", "newer", "old"]]


@pytest.mark.parametrize(("n", "expected"), [(5, 1), (6, 0)])
def test_six_items_are_enough(n: int, expected: int) -> None:
    """2^(1 - 5) = 0.0625 and 2^(1 - 6) = 0.03125."""
    path = write_wide("scores.csv", {"old": [0] * n, "new": [1] * n})
    for test in ("sign_flips", "bootstrap", "t_paired"):
        options = (path, "--metric", "accuracy", "--test", test, "--fail-unless-better", "new", "old")
        assert compare(*options)[0] == expected


def test_the_gate_wants_the_gain_and_not_only_its_p_value() -> None:
    """Signs: 9 of 10 for new, but the scores are equal."""
    path = Path("scores.csv")
    pd.DataFrame({"new": [1.0] * 9 + [0], "old": [0.0] * 9 + [9]}).rename_axis("item").to_csv(path)
    options = (str(path), "--metric", "mean", "--test", "sign")
    (pair,) = as_json(*options)["pairs"]
    assert (pair["gain"], pair["better"]) == (0, "new")
    assert pair["p_value"] < ALPHA
    for names in (("new", "old"), ("old", "new")):
        assert compare(*options, "--fail-unless-better", *names)[0] == 2
    assert "There is no gain." in compare(*options)[1]


# What nobody asked for


@pytest.fixture
def documents() -> str:
    """60 documents of 5 items that are hard or easy as wholes."""
    rng = np.random.default_rng(1)
    document = np.repeat(rng.normal(size=60), 5)
    new, old = (document + rng.normal(size=(2, 300)) + [[0.3], [0.0]] > 0).astype(int)
    table = pd.DataFrame({"item": range(300), "doc": np.repeat(range(60), 5), "new": new, "old": old})
    table.to_csv("documents.csv", index=False)
    return "documents.csv"


_HOW = ("--metric", "accuracy", "--columns", "cluster=doc")


def test_by_default_two_sided_sign_flips_by_document(documents: str) -> None:
    (pair,) = as_json(documents, *_HOW)["pairs"]
    said = {name: pair[name] for name in ("test", "alternative", "unit", "n_units", "n_items", "convention")}
    assert said == {
        "test": "sign_flips", "alternative": "two-sided", "unit": "cluster", "n_units": 60, "n_items": 300,
        "convention": "default",
    }  # fmt: skip
    code, out, _ = compare(documents, *_HOW)
    assert code == 0
    table = pd.read_csv(documents).groupby("doc")[["new", "old"]].sum()
    better, worse = int((table["new"] > table["old"]).sum()), int((table["new"] < table["old"]).sum())
    counts = f"Wins, losses and ties of new: {better}, {worse} and {60 - better - worse} of "
    assert f"{counts}60 clusters with 300 items in all." in out
    assert "(two-sided" in out
    assert "\nTest: sign-flip test, " in out
    assert "; resampling unit: cluster; " in out
    assert "one-sided" not in out
    # Documents of equal size: the gain's standard error is that of the documents' mean differences.
    difference = (table["new"] - table["old"]) / 5 * 100
    low, high = stats.t.interval(0.95, 59, difference.mean(), stats.sem(difference))
    assert (pair["gain_low"], pair["gain_high"]) == pytest.approx((low, high), rel=1e-9)
    assert f"95 % interval {low:.2f} to {high:.2f} points" in out


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--unit", "item"], {"unit": "item"}),
        (
            ["--test", "bootstrap", "--alternative", "greater", "--resamples", "500", "--seed", "4"],
            {"test": "bootstrap", "alternative": "greater", "n_resamples": 500, "seed": 4},
        ),
        (["--test", "wilcoxon"], {"test": "wilcoxon"}),
        (["--test", "t_paired", "--alpha", "0.01", "--margin", "20"], {"test": "t_paired"}),
        (
            ["--convention", "sacrebleu", "--test", "randomization"],
            {"convention": "sacrebleu", "test": "randomization"},
        ),
    ],
)
def test_notebook_and_command_say_the_same(documents: str, options: list[str], arguments: dict[str, object]) -> None:
    loaded = ss.load(documents, "accuracy", columns={"cluster": "doc"})
    decide = {"alpha": 0.01, "margin": 20} if "--margin" in options else {}
    row = compared(loaded.outputs, **arguments).iloc[0]  # type: ignore[arg-type]
    said = ss.verdict(row, **decide)
    notes = [f"Note: {loaded.notes[0]}"]
    notes += [f"Note: {one}" for one in one_by_one(loaded.outputs, arguments.get("unit"))]  # type: ignore[arg-type]
    assert compare(documents, *_HOW, *options)[1] == "".join(f"{line}\n" for line in [said, *notes])
    if not options:
        assert as_json(documents, *_HOW)["verdict"] == said


def test_every_level_is_5_percent_where_none_is_named() -> None:
    """The command, verdicts, groups, ranks, matrices, equivalence and what is written of them."""
    from simstudy.cli.compare import compare as command
    from simstudy.examination import examine

    defaults = {
        function: {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
        for function in (
            *(
                command,
                examine,
                ss.verdict,
                ss.comparisons.equivalence,
                ss.comparisons.significant_gains,
                ss.comparisons.ranks,
            ),
            *(ss.comparisons.groups, ss.plot.matrix),
        )
    }
    assert {function.__name__: named["alpha"] for function, named in defaults.items()} == {
        function.__name__: ALPHA for function in defaults
    }


# Margins


def test_a_margin_is_decided_by_t_intervals_of_documents(documents: str) -> None:
    """Against scipy's two one-sided t tests on the differences of the documents."""
    table = pd.read_csv(documents).groupby("doc")[["new", "old"]].mean()
    difference = 100 * (table["new"] - table["old"])
    said = set()
    for margin in (1, 5, 20):
        below = stats.ttest_1samp(difference, margin, alternative="less").pvalue
        above = stats.ttest_1samp(difference, -margin, alternative="greater").pvalue
        content = as_json(documents, *_HOW, "--margin", str(margin))
        (pair,), out = content["pairs"], content["verdict"]
        assert pair["p_equivalence"] == pytest.approx(max(below, above), rel=1e-9)
        assert pair["margin"] == margin
        assert ("the two are equivalent (two one-sided tests at 0.025)" in out) == (max(below, above) <= 0.025)
        assert ("is larger than the margin" in out) == (max(below, above) >= 0.975)
        said.add(pair["conclusion"])
    assert said == {"better", "better by less than the margin"}


def test_a_table_of_pairs_has_a_column_for_the_margin(four: str) -> None:
    options = (four, "--metric", "accuracy", "--columns", "domain=genre,cluster=doc", "--margin", "30")
    code, out, _ = compare(*options, "--verbose")
    assert code == 0
    assert " margin 30 " in out
    for pair in as_json(*options)["pairs"]:
        (line,) = [line for line in out.splitlines() if line.split()[:2] == [pair["system_a"], pair["system_b"]]]
        assert line.rstrip().removesuffix(pair["caution"]).rstrip().endswith(pair["conclusion"])


def test_a_margin_is_above_0(two: str) -> None:
    for value, shown in (("0", "0.0"), ("-1", "-1.0"), ("nan", "nan"), ("inf", "inf")):
        code, out, err = compare(two, "--metric", "accuracy", "--margin", value)
        expected = f"simstudy: --margin must be a number above 0, on the metric's scale, not {shown}\n"
        assert (code, out, err) == (2, "", expected)


# p-values of which resamples say only that they are small


@pytest.mark.usefixtures("undrawn")
def test_a_p_value_that_no_resample_reaches_is_printed_as_a_bound() -> None:
    """Of all signs of 20 items one pattern in 2^19 is as extreme, of 999 none: p <= 1/1,000, by Holm 3, by BH 3 / 3."""
    path = write_wide("three.csv", {"new": [1] * 40, "mid": [1] * 20 + [0] * 20, "old": [0] * 40})
    drawn = ("--metric", "accuracy", "--convention", "noreen", "--resamples", "999")
    pairs = as_json(path, *drawn)["pairs"]
    assert [pair["n_extreme"] for pair in pairs] == [0, 0, 0]
    _, out, _ = compare(path, *drawn, "--out", "page", "--verbose")
    page = Path("page/README.md").read_text().replace("\\", "")
    for row in ("40/0", "20/0"):
        (printed,) = {re.sub(" +", " ", text.partition(row)[2]).strip() for text in out.splitlines() if row in text}
        assert printed == "<= 0.001 <= 0.003 <= 0.001"
        assert f"| {row} | <= 0.001 | <= 0.003 | <= 0.001 |" in page.replace("&lt;", "<")
    two = write_wide("two.csv", {"new": [1] * 20 + [0] * 9, "old": [0] * 29})
    two_sided = compare(two, *drawn)[1]
    assert "p <= 0.001 (two-sided, " in two_sided
    assert "Test: sign-flip test, 999 resamples" in two_sided
    one_sided = compare(two, *drawn, "--alternative", "greater")[1]
    assert "p <= 0.001 (one-sided, 95 % Monte Carlo interval 0 to " in one_sided
    assert "two-sided p <= 0.001" in one_sided
    # Without Monte Carlo error p-values are as small as they are.
    assert "p = 0.00000191 (" in compare(two, "--metric", "accuracy")[1]
