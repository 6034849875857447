"""Several tasks in `simstudy compare`: options, and when their averages are the answer."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from simstudy.planning.settings import option
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.cli.compare_options import HowTested
    from simstudy.examination import Examination
    from simstudy.suites import TaskGroup


@dataclass(frozen=True)
class SeveralTasks:
    """How several tasks are averaged."""

    each: str | None = option(
        None, "Column of the items: a table for each value, such as a task, and averages (default: tasks of logs)."
    )
    average: str | None = option(None, "The average that is printed first: macro (of task scores; default) or micro.")
    groups: Path | None = option(None, 'TOML file of further averages, a line each: name = ["task", "task"].')

    @property
    def asked(self) -> str | None:
        """The first of these options that was given, as it is typed."""
        return next((f"--{name}" for name in ("each", "average", "groups") if getattr(self, name) is not None), None)


def with_tasks(found: Examination, asked: SeveralTasks, how: HowTested, paths: Sequence[Path]) -> Examination:
    """The examination with averages of tasks, if they are asked for or the files are logs of several tasks.

    A ValueError says which other option does not go with those that ask for averages.
    """
    from simstudy.notes import Note, notes_kept
    from simstudy.readers.long_table import of_several_tasks
    from simstudy.suites import across_tasks
    from simstudy.suites.harness_groups import harness_groups

    outputs = found.outputs
    logs = of_several_tasks(outputs)
    if asked.asked is None and not logs:
        return found
    if asked.each is None and not logs:
        raise InputError(f"{asked.asked} needs --each COLUMN: which column of the items says of which task they are?")
    if other := _other_question(how):
        if asked.asked is None:
            return found
        raise InputError(asked.asked, f"must not be given with {other}: averages of tasks have the default test")
    by = asked.each or "domain"
    if asked.each is not None:
        outputs.labels(by, "--each")
    with notes_kept() as told:
        known: dict[str, TaskGroup | Sequence[str]] = {}
        if logs and by == "domain":
            known |= harness_groups(paths, set(outputs.labels(by)))
        if asked.groups is not None:
            known |= read_groups(asked.groups)
        try:
            tasks = across_tasks(
                outputs, by=by, average=asked.average or "macro", groups=known or None, unit=found.test_set.unit,
                alpha=how.alpha, n_resamples=how.resamples, seed=how.seed, n_jobs=how.jobs,
            )  # fmt: skip
        except InputError as error:
            if asked.asked is not None:
                raise
            # Logs were compared before they had averages: whatever is wrong with these, all items still can be.
            test_set = replace(found.test_set, notes=(*found.notes, Note("no averages of tasks", {"why": error})))
            return replace(found, test_set=test_set)
    return replace(found, tasks=tasks, test_set=replace(found.test_set, notes=(*found.notes, *told)))


def _other_question(how: HowTested) -> str | None:
    """An option that asks for another test than averages of tasks have."""
    given = {
        f"--test {how.test}": how.test != "sign_flips",
        f"--alternative {how.alternative}": how.alternative not in (None, "two-sided"),
        f"--convention {how.convention}": how.convention != "default",
        "--strata": how.strata is not None,
        "--margin": how.margin is not None,
    }
    return next((name for name, other in given.items() if other), None)


def read_groups(path: Path) -> dict[str, Sequence[str]]:
    """Names of groups and their tasks from a TOML file; ValueError for a file that is none."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not a TOML file ({error})", at=path) from None
    for name, tasks in content.items():
        if not isinstance(tasks, list) or not all(isinstance(task, str) for task in tasks):
            raise InputError(f"group '{name}'", f'must be a list of tasks, as in {name} = ["task", "task"]', at=path)
    return content
