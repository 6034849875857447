"""What is wrong with a study, all of it at once: nobody mends a file line by line, with an hour of training between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simstudy.files.datasets import DataError, NotPublicError
from simstudy.studies.definition import StudyError

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
        self._missing: list[str] = []
        # Files without a public address, by the folder that lacks them.
        self._not_public: dict[Path | None, list[str]] = {}

    def add(self, where: str, problem: str) -> None:
        """One more problem; of the same thing in several places all places are named together."""
        places = self._found.setdefault(problem, [])
        if where not in places:
            places.append(where)

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """What is raised inside as a ValueError becomes a problem of this key or test set."""
        try:
            yield
        except NotPublicError as error:
            names = self._not_public.setdefault(error.folder, [])
            names += [name for name in error.names if name not in names]
        except DataError as error:
            if str(error) not in self._missing:
                self._missing.append(str(error))
        except ValueError as error:
            self.add(where, str(error))

    def raise_any(self) -> None:
        """Raise what was found, if anything, in one line: a DataError where files are missing, else a StudyError."""
        said = [f"{_places(places)}: {problem}" for problem, places in self._found.items()]
        missing = [*(str(NotPublicError(names, folder)) for folder, names in self._not_public.items()), *self._missing]
        if missing:
            raise DataError("; ".join([*missing, *said]))
        if said:
            raise StudyError(f"study '{self._study}': {'; '.join(said)}")


def _places(places: list[str]) -> str:
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return ", ".join(places[:_NAMED]) + more
