"""Fixtures of the tests of experiments."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.layout_engine
import pytest


@pytest.fixture(scope="module", autouse=True)
def figures_without_layout() -> Iterator[None]:
    """Finding room for labels is half of the time of a figure; tests/plot shows that they have room."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matplotlib.layout_engine.ConstrainedLayoutEngine, "execute", lambda *_: None)
        yield
