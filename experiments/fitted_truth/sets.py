"""The real test sets: found, read, and split in halves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.files import datasets
from simstudy.studies import DataFile, RunContext
from simstudy.truth import Fitted, fit

from .settings import RealSet


@dataclass(frozen=True)
class Files:
    """The files of a set, known by their contents and names."""

    paths: tuple[DataFile, ...]
    references: tuple[DataFile, ...] = ()
    items: tuple[DataFile, ...] = ()

    @property
    def hashes(self) -> list[str]:
        """The SHA-256 of each file."""
        return [file.sha256 for file in (*self.paths, *self.references, *self.items)]

    def fingerprint(self) -> str:
        """The SHA-256 and the name of each file: systems are called after the names of their files."""
        kinds = (self.paths, self.references, self.items)
        return "\n\n".join("\n".join(f"{file.sha256} {file.path.name}" for file in kind) for kind in kinds)


def found(of: RealSet, context: RunContext) -> Files:
    """The files of a set."""
    items = [of.items] if of.items else []
    return Files(
        *(
            tuple(
                DataFile.of(path)
                for name in names
                for path in datasets.find_all(name, context.data_dir, allow_outside=context.allow_outside)
            )
            for names in (of.paths, of.references, items)
        )
    )


@lru_cache(maxsize=2)
def _read(settings: str, files: Files) -> ss.Outputs:
    of = RealSet.model_validate_json(settings)
    paths, references, items = (
        [str(file.path) for file in kind] for kind in (files.paths, files.references, files.items)
    )
    if of.where:
        rows = pd.read_csv(paths[0])
        for column, value in of.where.items():
            rows = rows[rows[column] == value]
        item, score = of.columns.get("item", "item"), of.columns.get("score", "score")
        outputs = ss.Outputs.from_scores(rows.pivot(index=item, columns="system", values=score), of.metric)
    else:
        loaded = ss.load(
            paths,
            of.metric,
            references=references,
            items=items[0] if items else None,
            columns=of.columns,
            missing=of.missing,
        )
        outputs = loaded.outputs
    kept = [name for name in outputs.names if name not in of.leave_out]
    return _unlike(outputs.select(kept))


def read(of: RealSet, files: Files) -> ss.Outputs:
    """The outputs of a set; of systems that are alike on every item the first."""
    return _read(of.model_dump_json(), files)


@lru_cache(maxsize=2)
def _whole(settings: str, files: Files) -> Fitted:
    return fit(_read(settings, files))


def fitted_to_all(of: RealSet, files: Files) -> Fitted:
    """The model fitted to a whole set."""
    return _whole(of.model_dump_json(), files)


def _unlike(outputs: ss.Outputs) -> ss.Outputs:
    flat = outputs.statistics.reshape(outputs.n_systems, -1)
    _, first = np.unique(flat, axis=0, return_index=True)
    return outputs.select([outputs.names[k] for k in sorted(first)])
