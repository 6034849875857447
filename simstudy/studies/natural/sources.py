"""From the test sets of a study.toml to Outputs: files found, read, described, and put in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.datasets import DataError, find, find_folder, registry
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.formats import load
from simstudy.loaders.scores import read_frame, scores_from_frame
from simstudy.metrics import get_metric
from simstudy.natural import describe_systems
from simstudy.studies.definition import StudyError
from simstudy.studies.natural.definition import NaturalTestSet, SystemsTable


@dataclass(frozen=True)
class Found:
    """A test set of one metric, read, and the part of the definition that it is from."""

    loaded: Loaded
    settings: NaturalTestSet


def read_all(
    test_sets: list[NaturalTestSet], data_dir: str | Path | None, advance: Callable[[int], None]
) -> tuple[dict[tuple[str, str], Found], dict[str, str]]:
    """All test sets by name and metric, and the SHA-256 of every file that was read.

    Raises
    ------
    StudyError
        Where a file can not be read as the definition says; the test set is named.
    DataError
        Where a file is not at hand.
    """
    found: dict[tuple[str, str], Found] = {}
    hashes: dict[str, str] = {}
    for settings in test_sets:
        for value in settings.each:
            for metric in settings.metrics:
                name = settings.name.replace("{}", value)
                reader = _Reader(settings, value, metric, data_dir, hashes)
                try:
                    found[name, metric] = Found(reader.read(name), settings)
                except DataError:
                    raise
                except ValueError as error:
                    raise StudyError(f"test set '{name}': {error}") from None
                advance(1)
    return found, dict(sorted(hashes.items()))


def n_test_sets(test_sets: list[NaturalTestSet]) -> int:
    """How many test sets there are, counting each metric."""
    return sum(len(settings.each) * len(settings.metrics) for settings in test_sets)


class _Reader:
    """Reads one test set under one metric."""

    def __init__(
        self, settings: NaturalTestSet, value: str, metric: str, data_dir: str | Path | None, hashes: dict[str, str]
    ) -> None:
        self._settings = settings
        self._value, self._metric = value, metric
        self._data_dir, self._hashes = data_dir, hashes

    def read(self, name: str) -> Loaded:
        settings = self._settings
        paths = [path for file in settings.paths for path in self._files(self._filled(file))]
        columns = {ours: self._filled(theirs) for ours, theirs in settings.columns.items()}
        if settings.where:
            loaded = self._rows(paths, columns)
        else:
            references = [path for file in settings.references for path in self._files(self._filled(file))]
            loaded = load(
                paths,
                self._metric,
                references=references,
                format=settings.format,
                items=self._files(self._filled(settings.items))[0] if settings.items else None,
                columns=columns,
                missing=settings.missing,
                lowercase=settings.lowercase,
            )
        loaded = self._without(loaded)
        outputs = replace(loaded.outputs, test_set=name)
        if settings.systems:
            outputs, notes = describe_systems(outputs, self._table(settings.systems))
            loaded = replace(loaded, notes=(*loaded.notes, *notes))
        elif settings.by == ["group"]:
            group = {system: group for group, members in settings.groups.items() for system in members}
            table = pd.DataFrame({"system": outputs.names, "group": [group.get(n, n) for n in outputs.names]})
            outputs, _ = describe_systems(outputs, table)
        loaded = replace(loaded, outputs=outputs)
        return _mixed(loaded) if settings.mixed else loaded

    def _filled(self, text: str) -> str:
        return text.replace("{}", self._value).replace("{metric}", self._metric)

    def _files(self, name: str) -> list[Path]:
        """A data file, or the files of a folder."""
        is_file = name in registry() or Path(name).suffix in (".gz", ".csv", ".tsv", ".parquet")
        try:
            paths = [find(name, self._data_dir)]
        except DataError:
            if is_file:
                raise
            paths = find_folder(name, self._data_dir)
        for path in paths:
            key = name if len(paths) == 1 and path.name == Path(name).name else f"{name}/{path.name}"
            self._hashes[key] = sha256(path.read_bytes()).hexdigest()
        return paths

    def _rows(self, paths: list[Path], columns: dict[str, str]) -> Loaded:
        """A table of scores, cut to the rows that the study asks for."""
        source = Source(tuple(paths), get_metric(self._metric), columns=columns, missing=self._settings.missing)
        frame, notes = read_frame(source)
        for column, wanted in self._settings.where.items():
            if column not in frame:
                raise ValueError(f"{paths[0].name} has no column '{column}'; it has {', '.join(frame.columns)}")
            frame = frame[frame[column] == self._filled(wanted)]
        loaded = scores_from_frame(frame, str(paths[0]), source)
        return replace(loaded, notes=(*notes, *loaded.notes))

    def _table(self, table: SystemsTable) -> pd.DataFrame:
        (path,) = self._files(self._filled(table.file))
        rows = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
        for column, wanted in table.where.items():
            rows = rows[rows[column] == self._filled(wanted)]
        return rows.rename(columns={theirs: ours for ours, theirs in table.columns.items()})

    def _without(self, loaded: Loaded) -> Loaded:
        names = loaded.outputs.names
        unknown = set(self._settings.leave_out) - set(names)
        if unknown and len(self._settings.each) == 1:
            raise ValueError(f"leave_out must name systems; there is no '{min(unknown)}'")
        kept = [k for k, name in enumerate(names) if name not in self._settings.leave_out]
        if len(kept) == len(names):
            return loaded
        answers = None if loaded.answers is None else loaded.answers[kept]
        return replace(loaded, outputs=loaded.outputs.select([names[k] for k in kept]), answers=answers)


def _mixed(loaded: Loaded) -> Loaded:
    """Items in the order of a hash of their ids: every initial segment is a random sample, the same in each run."""
    ids = loaded.outputs.items["id"]
    order = np.argsort([sha256(item.encode()).hexdigest() for item in ids], kind="stable")
    answers = None if loaded.answers is None else loaded.answers[:, order]
    return replace(loaded, outputs=loaded.outputs.take(order), answers=answers)
