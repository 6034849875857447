"""What tests of several formats do with files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.door import load
from simstudy.loaders.formats import read_source
from simstudy.metrics import get_metric


def read(*paths: Path, format: str, metric: str, gold: Path | tuple[Path, ...] = (), **more: Any) -> Loaded:
    """What the loader of this format makes of the files; `more` is as for `Source`."""
    references = (gold,) if isinstance(gold, Path) else gold
    return read_source(Source(paths, get_metric(metric), references, **more), format)


def written_csv(folder: Path, text: str) -> Path:
    (folder / "s.csv").write_text(text)
    return folder / "s.csv"


def read_csv(folder: Path, text: str, metric: str = "accuracy", **options: Any) -> Loaded:
    """What `load` makes of a CSV file of this text, `s.csv` in the folder."""
    return load(written_csv(folder, text), metric, **options)


def check_csv_error(folder: Path, text: str, told: str, metric: str = "accuracy", **options: Any) -> None:
    """The file is refused in these words; `{s}` stands for its path."""
    with pytest.raises(ValueError, match=f"^{re.escape(told.replace('{s}', str(folder / 's.csv')))}$"):
        read_csv(folder, text, metric, **options)
