"""The real test sets: found, read, and split in halves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.files import datasets
from simstudy.studies import RunContext
from simstudy.truth.scores import Fitted, fit

from .settings import RealSet


def found(of: RealSet, context: RunContext) -> tuple[tuple[str, ...], ...]:
    """Where the files of a set are: its paths, its references, its items."""
    items = [of.items] if of.items else []
    return tuple(
        tuple(str(path) for name in names for path in _named(name, context))
        for names in (of.paths, of.references, items)
    )


def hashes(files: Sequence[Sequence[str]]) -> list[str]:
    """What identifies the files of a set."""
    return [sha256(Path(path).read_bytes()).hexdigest() for kind in files for path in kind]


def _named(name: str, context: RunContext) -> list[Path]:
    find = datasets.find if Path(name).suffix else datasets.find_folder
    got = find(name, context.data_dir, allow_outside=context.allow_outside)
    return got if isinstance(got, list) else [got]


@lru_cache(maxsize=2)
def _read(settings: str, files: tuple[tuple[str, ...], ...]) -> ss.Outputs:
    of = RealSet.model_validate_json(settings)
    paths, references, items = files
    if of.where:
        rows = pd.read_csv(paths[0])
        for column, value in of.where.items():
            rows = rows[rows[column] == value]
        item, score = of.columns.get("item", "item"), of.columns.get("score", "score")
        outputs = ss.Outputs.from_scores(rows.pivot(index=item, columns="system", values=score), of.metric)
    else:
        loaded = ss.load(
            list(paths),
            of.metric,
            references=list(references),
            items=items[0] if items else None,
            columns=of.columns,
            missing=of.missing,
        )
        outputs = loaded.outputs
    kept = [name for name in outputs.names if name not in of.leave_out]
    return _unlike(outputs.select(kept))


def read(of: RealSet, files: tuple[tuple[str, ...], ...]) -> ss.Outputs:
    """The outputs of a set; of systems that are alike on every item the first."""
    return _read(of.model_dump_json(), files)


@lru_cache(maxsize=2)
def _whole(settings: str, files: tuple[tuple[str, ...], ...]) -> Fitted:
    return fit(_read(settings, files))


def fitted_to_all(of: RealSet, files: tuple[tuple[str, ...], ...]) -> Fitted:
    """The model fitted to a whole set."""
    return _whole(of.model_dump_json(), files)


def _unlike(outputs: ss.Outputs) -> ss.Outputs:
    flat = outputs.statistics.reshape(outputs.n_systems, -1)
    _, first = np.unique(flat, axis=0, return_index=True)
    return outputs.select([outputs.names[k] for k in sorted(first)])
