"""What is wrong with a study, all of it at once and before anything is trained or compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from simstudy.engines.arguments import make_question
from simstudy.engines.registry import DEFAULT_TEST
from simstudy.files.datasets import DataError
from simstudy.metrics.base import Ratio
from simstudy.notes import Words
from simstudy.outputs import Outputs, TestSet
from simstudy.studies.definition import StudyError
from simstudy.training import Task
from simstudy.training.base import checked_counts

# So many test sets of which one thing is wrong are named.
_NAMED = 5


class Problems:
    """The problems of one study, in the order in which they are found.

    Examples
    --------
    >>> problems = Problems("mine")
    >>> for size in (100, 200):
    ...     with problems.at(f"home.sizes {size}"):
    ...         raise ValueError("more than the 50 items")
    >>> problems.raise_any()
    Traceback (most recent call last):
    simstudy.studies.definition.StudyError: study 'mine': home.sizes 100, home.sizes 200: more than the 50 items
    """

    def __init__(self, study: str) -> None:
        self._study = study
        # What is wrong -> where.
        self._found: dict[str, list[str]] = {}
        # What is wrong with data files, and what to do -> the names of the files.
        self._data: dict[tuple[str, str], list[str]] = {}

    def add(self, where: str, problem: str) -> None:
        """One more problem; of the same thing in several places all places are named together."""
        places = self._found.setdefault(problem, [])
        if where not in places:
            places.append(where)

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """What is raised inside as a ValueError, also by a program, becomes a problem of this key or test set."""
        try:
            yield
        except DataError as error:
            names = self._data.setdefault((error.rule, error.remedy), [])
            if error.at not in names:
                names.append(error.at)
        except ValueError as error:
            self.add(where, str(error))

    def raise_any(self) -> None:
        """Raise what was found, if anything, in one line: a DataError where files are missing, else a StudyError."""
        said = [f"{_places(places)}: {problem}" for problem, places in self._found.items()]
        if self._data:
            missing = [
                DataError(rule, remedy=remedy, at=_places(names)) for (rule, remedy), names in self._data.items()
            ]
            parts = {f"part_{n}": part for n, part in enumerate([*missing, *said])}
            raise DataError(Words("; ".join(f"{{{name}}}" for name in parts), **parts))
        if said:
            raise StudyError(f"study '{self._study}': {'; '.join(said)}")


def _places(places: list[str]) -> str:
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return ", ".join(places[:_NAMED]) + more


def stand_in(task: Task, name: str, metric: str | None = None) -> Outputs:
    """Two systems of the kind that will be trained: one always right, one wrong on every second item of a test set.

    What the wrong one lacks are the statistics that only a right answer adds to; of a metric that has none such, all
    that are not the item's own.
    """
    examples = task.test_sets[name]
    chosen = task.metric if metric is None else task.metrics[metric]
    right = checked_counts(chosen, name, examples, task.statistics[chosen](examples, examples.gold))
    earned = [True] * right.shape[1]
    if isinstance(chosen, Ratio):
        earned = [above != 0 and below == 0 for above, below in zip(chosen.numerator, chosen.denominator, strict=True)]
    if not any(earned) or all(earned):
        earned = [column not in chosen.of_item for column in chosen.statistics]
    wrong = right.copy()
    wrong[1::2, earned] = 0
    return Outputs.from_statistics(
        np.stack([right, wrong]), chosen, ["right", "wrong"], examples.items, task=task.name, test_set=name
    )


def check_comparison(test_set: TestSet) -> None:
    """Raise a ValueError where a test set can not be compared on as its settings say: its test, units, strata."""
    options = {"test": DEFAULT_TEST, **test_set.options}
    options.pop("seed", None)
    make_question(test_set.outputs.best_first(), **options)
