"""From the test sets of a study.toml to Outputs: files found, read, described, and put in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics import get_metric
from simstudy.notes import Note, kind_of, notes_kept
from simstudy.outputs import Outputs, TestSet
from simstudy.readers.columns import no_column
from simstudy.readers.items import describe_systems, read_systems
from simstudy.readers.load import read
from simstudy.readers.request import Request, Texts, system_files, without_others
from simstudy.readers.text_files import Reading, reading
from simstudy.studies.natural.definition import NaturalTestSet, SystemsTable
from simstudy.studies.natural.files import TABLES, DataFiles
from simstudy.studies.natural.kept import KeptReads
from simstudy.studies.problems import Problems
from simstudy.validation import InputError, check_choice


def read_all(
    study: str,
    test_sets: Sequence[NaturalTestSet],
    data_dir: str | Path | None,
    advance: Callable[[int], None],
    *,
    allow_outside: bool = False,
    duplicates: str = "drop",
    home: Path | None = None,
    kept: KeptReads | None = None,
) -> tuple[list[TestSet], dict[str, str]]:
    """All test sets of a study, each by each metric, and the SHA-256 of every file that was read.

    Files are looked for in the study's own folder (`home`) first. What an earlier run has read (`kept`) is taken
    where no byte of its files has changed; what is read now is added to it.
    `duplicates` is for test sets that do not say what is done with near-duplicates; these are all there still.
    A DataError names all files that are not at hand, before any is read; a StudyError all that cannot be read.
    """
    found: list[TestSet] = []
    files = DataFiles(data_dir, allow_outside, home)
    problems = Problems(study)
    readers = [
        _Reader(settings, files, value=value, written=written, metric=metric)
        for settings in test_sets
        for value in settings.each
        for written, metric in zip(settings.written, settings.metrics, strict=True)
    ]
    for reader in readers:
        for file in reader.files():
            with problems.at(f"test set '{reader.name}'"):
                files.named(file)
    problems.raise_any()
    with reading(keep=True) as read:
        earlier = kept or KeptReads(None)
        keys = earlier.keys(_Reader.outputs, [(one.description(study), one.paths()) for one in readers], read)
        last_readers = {path: reader for reader in readers for path in reader.paths()}
        for reader, key in zip(readers, keys, strict=True):
            with problems.at(f"test set '{reader.name}'"):
                found.append(reader.read(study, duplicates, read, earlier, key))
            for path in reader.paths():
                if last_readers[path] is reader:
                    read.parsed.pop(path, None)
            advance(1)
    problems.raise_any()
    return found, dict(sorted((files.names[path], digest) for path, digest in read.hashes.items()))


def n_test_sets(test_sets: list[NaturalTestSet]) -> int:
    """How many test sets there are, counting each metric."""
    return sum(len(settings.each) * len(settings.metrics) for settings in test_sets)


class _Reader:
    """Reads one test set under one metric."""

    def __init__(self, settings: NaturalTestSet, files: DataFiles, *, value: str, written: str, metric: str) -> None:
        self.settings, self.name = settings, settings.name.replace("{}", value)
        self._value, self._written, self._metric = value, written, metric
        self._files = files

    def files(self) -> list[str]:
        """The data files that it needs, as the definition names them."""
        own = self.settings
        tables = [own.items] if own.items else []
        tables += [own.systems.file] if own.systems else []
        return [self._filled(file) for file in [*own.paths, *own.references, *tables]]

    def paths(self) -> list[Path]:
        """Where these are, each once."""
        return list(dict.fromkeys(path for file in self.files() for path in self._files.named(file)))

    def description(self, task: str) -> dict[str, Any]:
        """What the definition says of the test set, its files, and what of it is read."""
        names = [self._files.names[path] for path in self.paths()]
        said = self.settings.model_dump(mode="json", exclude={"each", "metric", "name"})
        return {**said, "task": task, "name": self.name, "value": self._value, "metric": self._metric, "names": names}

    def read(self, task: str, duplicates: str, read: Reading, earlier: KeptReads, key: str) -> TestSet:
        """The test set, as the definition has it: what an earlier run has read, or what is read now."""
        settings, files = self.settings, self.paths()
        found = earlier.found(key, files)
        if found is None:
            outputs, notes = self.outputs(task)
            used = [path for path in files if path in read.hashes]
            earlier.add(key, f"{self.name}, {self._metric}", (outputs, notes, used), files, read)
        else:
            outputs, notes, used = found
            read.hashes |= {path: read.digest(path) for path in used}
        return TestSet(
            outputs,
            by=tuple(settings.by),
            settings={"n_resamples": settings.n_resamples} if settings.n_resamples else {},
            sizes=tuple(settings.sizes),
            duplicates=settings.duplicates or duplicates,
            notes=notes,
        )

    def outputs(self, task: str) -> tuple[Outputs, tuple[str, ...]]:
        """The outputs of the systems, described and in order, and the notes on them."""
        settings = self.settings
        with notes_kept() as notes:
            paths = self._outputs_files()
            tables = all(Path(path.name.removesuffix(".gz")).suffix in TABLES for path in paths)
            if settings.where and not tables:
                raise InputError(f"where is for tables of scores ({', '.join(TABLES)})")
            if tables:
                self._check_tabled()
            elif settings.leave_out:
                paths = self._left(paths)
            request = self._request(paths, leave_out=settings.leave_out if tables else [])
            loaded = read(request, settings.format, settings.lower_is_better, frozenset(self._files.inside))
            outputs = self._described(replace(loaded.outputs, task=task, test_set=self.name))
        told = tuple(self._told(note) for note in (*loaded.notes, *notes))
        return _mixed(outputs) if settings.mixed else outputs, told

    def _described(self, outputs: Outputs) -> Outputs:
        """The systems with what the definition says of them."""
        settings = self.settings
        if settings.systems:
            outputs = describe_systems(outputs, self._table(settings.systems))
        elif len(settings.by) == 1:
            group = {system: group for group, members in settings.groups.items() for system in members}
            for system in group:
                check_choice("groups", system, [*outputs.names, *settings.leave_out])
            table = pd.DataFrame({"system": outputs.names, settings.by[0]: [group.get(n, n) for n in outputs.names]})
            outputs = describe_systems(outputs, table)
        for column in settings.by:
            check_choice("by", column, [str(known) for known in outputs.systems if known != "name"])
        return outputs

    def _told(self, note: str) -> Note:
        """A note by the names of data files: where they lie is of one machine."""

        def named(value: Any) -> Any:
            text = str(value) if isinstance(value, Path) else value
            for path, name in self._files.names.items():
                text = text.replace(str(path), name) if isinstance(text, str) else text
            return text

        fields = note.fields if isinstance(note, Note) else {"text": note}
        return Note(kind_of(note), {name: named(value) for name, value in fields.items()})

    def _filled(self, text: str) -> str:
        return text.replace("{}", self._value).replace("{metric}", self._written)

    def _named(self, files: Iterable[str]) -> list[Path]:
        return [path for file in files for path in self._files.named(self._filled(file))]

    def _outputs_files(self) -> list[Path]:
        """The files of outputs, without those of folders that are references or tables."""
        own = self.settings
        others = {
            "references": self._named(own.references),
            "items": self._named([own.items] if own.items else []),
            "systems": self._named([own.systems.file] if own.systems else []),
        }
        found = dict.fromkeys(self._named(own.paths))
        return [*without_others(found, self._files.inside, others)]

    def _check_tabled(self) -> None:
        """Raise a ValueError for keys that mean nothing of tables of scores."""
        own = self.settings
        given = {"references": own.references, "mark": own.mark, "lowercase": own.lowercase}
        given["format"] = own.format not in (None, "scores")
        for key, value in given.items():
            if value:
                raise InputError(f"{key} is not for tables of scores ({', '.join(TABLES)})")

    def _left(self, paths: list[Path]) -> list[Path]:
        """The files of systems that are not left out."""
        with notes_kept():
            # The files that are read are named again, and then the notes are told.
            named = system_files(paths)
        for name in self.settings.leave_out:
            check_choice("leave_out", name, [*named])
        return [path for name, path in named.items() if name not in self.settings.leave_out]

    def _request(self, paths: list[Path], leave_out: Sequence[str]) -> Request:
        settings = self.settings
        return Request(
            tuple(paths),
            get_metric(self._metric),
            tuple(self._named(settings.references)),
            self._named([settings.items])[0] if settings.items else None,
            {ours: self._filled(theirs) for ours, theirs in settings.columns.items()},
            settings.missing,
            Texts(lowercase=settings.lowercase),
            mark=settings.mark,
            where={column: self._filled(value) for column, value in settings.where.items()},
            leave_out=tuple(leave_out),
        )

    def _where(self, rows: pd.DataFrame, values: Mapping[str, str], path: Path) -> pd.DataFrame:
        for column, wanted in values.items():
            if column not in rows:
                no_column(path.name, column, rows.columns)
            rows = rows[rows[column] == self._filled(wanted)]
        return rows

    def _table(self, table: SystemsTable) -> pd.DataFrame:
        (path,) = self._named([table.file])
        rows = self._where(read_systems(path), table.where, path)
        for theirs in table.columns.values():
            if theirs not in rows:
                no_column(path.name, theirs, rows.columns)
        # A column that has one of our names already gives way to the one that is said to be it.
        taken = [ours for ours, theirs in table.columns.items() if ours in rows and ours != theirs]
        kept = rows[[name for name in rows if name not in taken]]
        return kept.assign(**{ours: rows[theirs] for ours, theirs in table.columns.items()})


def _mixed(outputs: Outputs) -> Outputs:
    """Items in the order of a hash of their ids: every initial segment is a random sample, the same in each run."""
    return outputs.take(np.argsort([sha256(item.encode()).hexdigest() for item in outputs.items["id"]], kind="stable"))
