"""What pytest does after each example of a docstring, whichever folders it is told to look in."""

from __future__ import annotations

import sys

import pytest


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Close what the package's own examples draw, of which pyplot holds some twenty without a warning."""
    if item.nodeid.startswith("simstudy/") and "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
