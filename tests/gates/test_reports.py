"""JUnit and annotations of GitHub: what servers read, and names from files that must not become commands or markup."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from simstudy.gates.asked import BETTER, Gate
from simstudy.gates.findings import Finding
from simstudy.gates.reports import add_summary, annotation, clear_junit, runs_here, write_junit
from simstudy.gates.verdicts import Verdict
from tests.cli.command import compare, write_wide

#: Names that would be a second command, markup, or no text at all.
NASTY = [
    "\n::set-output name=x::1",
    "::error::x",
    "a%0Ab",
    "<b>&\"'",
    "]]>",
    "x\x00\x1b[31m",
    "\ud800",
    "\uffff",
    "a|b",
]


def verdict(a: str = "new", b: str = "old", *, passed: bool, told: str = "accuracy") -> Verdict:
    gate = Gate(BETTER, a, b)
    finding = Finding(
        gate, "accuracy", told, 0.2, "= 0.2", 0.05, passed, gain=1, gain_low=0, gain_high=2, interval="",
        metric_unit="", n_units=9,
    )  # fmt: skip
    return Verdict(gate, (finding,))


@pytest.fixture
def two() -> tuple[str, ...]:
    return write_wide("scores.csv", {"old": [0] * 9 + [1] * 9, "new": [1] * 18}), "--metric", "accuracy"


def test_a_test_suite_has_a_case_for_each_gate(two: tuple[str, ...]) -> None:
    gates = ("--fail-unless-better", "new", "old", "--fail-if-worse", "old", "new", "--junit", "out/report.xml")
    code, _, err = compare(*two, *gates)
    assert code == 1
    suites = ET.parse("out/report.xml").getroot()
    (suite,) = suites
    for one in (suites, suite):
        assert {name: one.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
            "tests": "2", "failures": "1", "errors": "0", "skipped": "0",
        }  # fmt: skip
    passed, failed = suite
    assert [one.tag for one in (suites, suite, passed, failed)] == ["testsuites", "testsuite", "testcase", "testcase"]
    assert {one.get("classname") for one in suite} == {"simstudy.gates"}
    assert [one.get("name") for one in suite] == ["--fail-unless-better new old", "--fail-if-worse old new"]
    assert [[part.tag for part in one] for one in suite] == [["system-out"], ["failure"]]
    said = [line.removeprefix("simstudy: gate: ") for line in err.splitlines()]
    assert [passed[0].text, failed[0].text, failed[0].get("message")] == [said[0], said[1], said[1]]
    assert failed[0].get("type") == "--fail-if-worse"


@pytest.mark.parametrize("name", NASTY)
def test_any_name_makes_a_report_that_can_be_read(name: str) -> None:
    write_junit([verdict(name, passed=False), verdict("b", passed=True)], Path("report.xml"))
    ((case, _),) = ET.parse("report.xml").getroot()
    assert case.get("name", "").startswith("--fail-unless-better ")
    assert [len(part) for part in case] == [0], "no element comes from a name"
    clear_junit(Path("report.xml"))
    assert not Path("report.xml").exists()


def test_a_report_of_an_earlier_run_does_not_outlive_bad_input_and_other_files_do(two: tuple[str, ...]) -> None:
    gate = (*two, "--fail-unless-better", "new", "old", "--junit")
    assert compare(*gate, "report.xml")[0] == 0
    assert compare(*gate, "report.xml")[0] == 0
    assert compare(*gate, "report.xml", "--unit", "no")[0] == 2
    assert not Path("report.xml").exists()
    before = Path("scores.csv").read_bytes()
    code, _, err = compare(*gate, "scores.csv")
    assert (code, err) == (
        2, "simstudy: --junit must be a new file or one that simstudy wrote, but scores.csv is another file\n",
    )  # fmt: skip
    assert Path("scores.csv").read_bytes() == before
    assert compare(*gate, ".")[2] == "simstudy: --junit must be a file, but . is a folder\n"


def commands(text: str) -> list[str]:
    """The lines that the runner of GitHub takes for commands: between stop-commands and its token there are none."""
    found, stopped = [], ""
    for line in text.splitlines():
        bare = line.lstrip()
        if stopped:
            stopped = "" if bare == f"::{stopped}::" else stopped
        elif bare.startswith("::stop-commands::"):
            stopped = bare.removeprefix("::stop-commands::")
        elif bare.startswith("::"):
            found.append(bare)
    assert not stopped
    return found


@pytest.mark.parametrize("name", NASTY)
def test_a_name_is_no_command(name: str) -> None:
    for passed, command in ((True, "notice"), (False, "error")):
        text = annotation(verdict(name, passed=passed, told=f"accuracy on {name}"))
        (one,) = commands(text)
        assert text == one
        assert one.startswith(f"::{command} title=simstudy --fail-unless-better::")
    if name.isprintable() and len(name) < 8:
        path = write_wide("scores.csv", {"old": [0, 0, 1, 1], name: [1, 1, 1, 1], "third": [0, 1, 1, 0]})
        said = compare(path, "--metric", "accuracy", "--fail-if-worse", name, "old", "--annotations", "github")
        assert len(commands(said[1])) == 1
        assert said[2] == ""


def test_percent_signs_and_line_ends_are_escaped_as_the_runner_reads_them() -> None:
    text = annotation(verdict("a%0Ab", passed=True))
    assert "a%250Ab is significantly better" in text


def test_in_github_actions_gates_are_annotations_and_rows_of_the_summary(
    two: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("# Of another tool\n")
    assert runs_here()
    gates = ("--fail-unless-better", "new", "old", "--fail-if-worse", "old", "new")
    code, out, err = compare(*two, *gates)
    notice, error = commands(out)
    assert (code, err) == (1, "")
    assert notice.startswith("::notice title=simstudy --fail-unless-better::new is significantly better than old")
    assert error.startswith("::error title=simstudy --fail-if-worse::old is significantly worse than new")
    summary = Path("summary.md").read_text().splitlines()
    assert summary.pop(0) == "# Of another tool"
    assert [line.split(" | ")[0] for line in summary] == ["| gate", "|---|---|", "| passed", "| **failed**", ""]
    # JSON stays JSON.
    code, out, err = compare(*two, *gates, "--json")
    assert (code, out.lstrip()[0], len(commands(err)), commands(out)) == (1, "{", 2, [])
    assert len(Path("summary.md").read_text().splitlines()) == 11
    assert compare(*two, *gates, "--annotations", "none")[2].count("simstudy: gate: ") == 2
    assert compare(*two)[1].startswith("new is better than old"), "without a gate nothing is different"


@pytest.mark.parametrize("name", NASTY)
def test_a_row_of_the_summary_is_one_row(name: str) -> None:
    add_summary([verdict(name, passed=True)], {"GITHUB_STEP_SUMMARY": "summary.md"})
    head, rule, row, end = Path("summary.md").read_text().split("\n", 3)
    assert row.replace("\\|", "").count("|") == 3
    assert (rule, end) == ("|---|---|", "\n")
    assert head.startswith("| gate")


def test_a_summary_that_cannot_be_written_decides_nothing() -> None:
    add_summary([verdict(passed=True)], {"GITHUB_STEP_SUMMARY": "no/folder/summary.md"})
    add_summary([verdict(passed=True)], {})
    assert not list(Path().iterdir())


def test_two_systems_whose_names_look_alike_stay_two() -> None:
    text = verdict("a\n", "a⟨U+000A⟩", passed=False).sentence()
    assert text.startswith("a⟨U+000A⟩ is not significantly better than a⟨U+000A⟩ (2)")
