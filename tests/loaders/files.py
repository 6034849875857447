"""What tests of several formats do with files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.formats import read_source
from simstudy.metrics import get_metric


def read(*paths: Path, format: str, metric: str, gold: Path | tuple[Path, ...] = (), **more: Any) -> Loaded:
    """What the loader of this format makes of the files; `more` is as for `Source`."""
    references = (gold,) if isinstance(gold, Path) else gold
    return read_source(Source(paths, get_metric(metric), references, **more), format)
