"""Figures of examples are closed, whichever folders pytest is told to look in."""

from __future__ import annotations

import sys

import pytest


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Close what the package's own examples draw, of which pyplot holds some twenty without a warning."""
    if item.nodeid.startswith("simstudy/") and "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
