"""Gates of `simstudy compare`: their options, and how pipelines are told what came out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simstudy.cli.errors import say
from simstudy.notes import Words
from simstudy.planning.settings import option
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.cli.compare_options import HowTested
    from simstudy.cli.files import Files
    from simstudy.examination import Examination
    from simstudy.gates.asked import Gate
    from simstudy.gates.verdicts import Verdict
    from simstudy.readers.long_table import Loaded

Pairs = list[tuple[str, str]] | None

# Options of the test that the sequential test has no use for, and settings that all looks of a file have in common.
_OF_THE_TEST = ("test", "alternative", "convention", "strata")
_IN_COMMON = ("metric", "domain", "unit", "test", "alternative", "convention", "strata", "resamples", "seed",
              "average", "score_range")  # fmt: skip


def _gate(help: str) -> Any:
    return typer.Option(metavar="A B", help=f"{help} It may be repeated.")


@dataclass(frozen=True)
class Gates:
    """Questions to pairs of systems that decide about the exit code."""

    fail_unless_better: Annotated[
        Pairs,
        _gate(
            "Exit code 1 unless A is significantly better than B in the comparison that the first line answers (for "
            "logs of several tasks: the average that is asked for, on these tasks). With several metrics or domains: "
            "in each of their comparisons."
        ),
    ] = None
    fail_if_worse: Annotated[
        Pairs, _gate("Exit code 1 if A is significantly worse than B, in any of several comparisons.")
    ] = None
    fail_unless_not_worse: Annotated[
        Pairs, _gate("Exit code 1 unless A is shown not to be worse than B by --margin or more (non-inferiority).")
    ] = None
    fail_unless_equivalent: Annotated[
        Pairs, _gate("Exit code 1 unless A and B are shown to differ by less than --margin (two one-sided tests).")
    ] = None
    looks: Path | None = option(
        None,
        "File that keeps the looks of gates that are asked again and again. Each look is a new question, such as a "
        "new system on the same test set, and may use a part of --alpha.",
    )
    planned_looks: int | None = option(
        None, "With --looks: number of looks that share --alpha equally (default: look k may use alpha / (k (k + 1)))."
    )
    sequential: bool = option(
        False,
        "A test that holds at every look while items of the same systems arrive (the items in the order of the file). "
        "--looks keeps its looks.",
    )
    score_range: float | tuple[float, float] | None = option(
        None, "With --sequential and --metric mean: the least and the largest score of an item, such as 1:10."
    )
    junit: Path | None = option(None, "Write a JUnit report with a test case for each gate to this file.")
    annotations: str | None = option(
        None, "github (annotations and summary of GitHub Actions) or none (default: github in GitHub Actions)."
    )

    def ask(self, how: HowTested) -> list[Gate]:
        """The gates; the report of an earlier run is removed, and a ValueError names an option that does not fit."""
        from simstudy.gates.asked import BETTER, EQUIVALENT, NOT_WORSE, WORSE, gates_of
        from simstudy.validation import check_choice, check_whole

        every = (
            (BETTER, self.fail_unless_better or ()),
            (WORSE, self.fail_if_worse or ()),
            (NOT_WORSE, self.fail_unless_not_worse or ()),
            (EQUIVALENT, self.fail_unless_equivalent or ()),
        )
        gates = gates_of(every, how.margin)
        given = {"--looks": self.looks, "--sequential": self.sequential or None, "--junit": self.junit}
        for name, value in given.items():
            if value is not None and not gates:
                raise InputError(f"{name} needs a gate, such as --fail-unless-better A B")
        if self.planned_looks is not None:
            check_whole("planned_looks", self.planned_looks, 1)
            if self.looks is None or self.sequential:
                other = "with --sequential" if self.looks else "without --looks"
                raise InputError("planned_looks", f"must not be given {other}")
        if self.looks is not None and self.looks.is_dir():
            raise InputError("looks", f"must be a file, but {self.looks} is a folder")
        if self.annotations is not None:
            check_choice("annotations", self.annotations, ("github", "none"))
        self._check_sequential(how)
        if self.junit is not None:
            from simstudy.gates.reports import clear_junit

            clear_junit(self.junit)
        return gates

    def _check_sequential(self, how: HowTested) -> None:
        if self.score_range is not None and not self.sequential:
            raise InputError("score_range", "must not be given without --sequential")
        if isinstance(self.score_range, float):
            raise InputError("score_range", "must be two scores, such as 1:10", self.score_range)
        for name in _OF_THE_TEST:
            if self.sequential and getattr(how, name) not in (None, "default"):
                raise InputError(name, "must not be given with --sequential, which has a test of its own")

    @property
    def annotates(self) -> bool:
        """Whether annotations of GitHub are printed."""
        from simstudy.gates.reports import runs_here

        return self.annotations == "github" or (self.annotations is None and runs_here())

    def check(self, asked: Sequence[Gate], every: Sequence[Loaded], files: Files, test: str | None) -> None:
        """Raise a ValueError for what is wrong with gates of these outputs; nobody reads the notes of a gate."""
        from simstudy.comparisons.arrivals import Arrivals
        from simstudy.engines.registry import TESTS
        from simstudy.readers.load import direction_doubt

        for gate, loaded in ((gate, loaded) for loaded in every for gate in asked):
            gate.check(loaded.outputs.names)
            if test in ("sign", "wilcoxon") and loaded.outputs.metric.name != "accuracy":
                rule = f"must be about the scores with {gate.kind.option}, such as 'sign_flips'"
                raise InputError("test", rule, test, f": it asks whether {TESTS[test].null}")
            if files.lower_is_better is None and (in_doubt := direction_doubt(loaded)):
                raise InputError(Words("{gate}: {doubt}", gate=gate.kind.option, doubt=in_doubt))
            if self.sequential:
                arrived = Arrivals.of(loaded.outputs, gate.a, gate.b, unit=files.unit, score_range=self._range)
                arrived.over_range(gate.margin or 0.0)

    @property
    def _range(self) -> tuple[float, float] | None:
        return self.score_range if isinstance(self.score_range, tuple) else None

    def decide(
        self, asked: Sequence[Gate], parts: Sequence[Examination], how: HowTested, settings: dict[str, Any]
    ) -> list[Verdict]:
        """The verdicts of all gates, kept in the file of looks."""
        if not asked:
            return []
        from simstudy.gates.deciding import decide
        from simstudy.gates.looks import SEQUENTIAL, SPENDING, Plan

        plan = Plan(
            rule=SEQUENTIAL if self.sequential else SPENDING, alpha=how.alpha, planned_looks=self.planned_looks,
            settings={name: settings[name] for name in _IN_COMMON},
        )  # fmt: skip
        verdicts = decide(asked, parts, plan, self.looks, score_range=self._range)
        if self.junit is not None:
            from simstudy.gates.reports import write_junit

            write_junit(verdicts, self.junit)
        return verdicts

    def noted(self, parts: Sequence[Examination], verdicts: Sequence[Verdict]) -> list[Examination]:
        """The examinations with a note where their p-values are not those of the gates."""
        from simstudy.gates.verdicts import notes_of

        notes = notes_of(verdicts)
        return [replace(part, test_set=replace(part.test_set, notes=(*part.notes, *notes))) for part in parts]


@contextmanager
def around(gates: Gates, verdicts: Sequence[Verdict], *, as_json: bool) -> Iterator[None]:
    """The block that prints tables: within it the runner of GitHub takes no name for a command."""
    quoted = bool(verdicts) and gates.annotates and not as_json
    if not quoted:
        yield
        return
    from simstudy.gates.reports import annotation, without_commands

    begin, end = without_commands()
    print(begin)
    yield
    print(end)
    for verdict in verdicts:
        print(annotation(verdict))


def tell(gates: Gates, verdicts: Sequence[Verdict], *, as_json: bool) -> None:
    """Say what the gates asked and decided, a line each; exit with code 1 where one was not met."""
    if not verdicts:
        return
    if gates.annotates:
        from simstudy.gates.reports import add_summary, annotation

        add_summary(verdicts)
        if as_json:
            # Standard output is JSON.
            for verdict in verdicts:
                typer.echo(annotation(verdict), err=True)
    else:
        for verdict in verdicts:
            say(f"gate: {verdict.sentence()}")
    if not all(verdict.passed for verdict in verdicts):
        raise typer.Exit(1)
