"""Modules that are files of their own, outside of any package: how they are loaded, here and in worker processes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

#: Modules that were loaded from files, which worker processes load too: name -> path.
LOADED: dict[str, str] = {}


def load_file(name: str, path: str | Path) -> ModuleType:
    """The module of a file that cannot be imported by name; its functions and classes work in worker processes too."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(sys.modules[name])
        except BaseException:
            del sys.modules[name]
            raise
    LOADED[name] = str(path)
    return sys.modules[name]
