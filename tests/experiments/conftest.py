"""Fixtures of the tests of experiments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib.layout_engine
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from simstudy import plot


@pytest.fixture(scope="module", autouse=True)
def quick_figures() -> Iterator[None]:
    """Finding room for labels, the second format and small files take three quarters of the time of a figure.

    tests/plot shows that labels have room, and what files hold.
    """

    def save(figure: Figure, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path.with_name(f"{path.name}.png"))
        path.with_name(f"{path.name}.svg").touch()
        plt.close(figure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matplotlib.layout_engine.ConstrainedLayoutEngine, "execute", lambda *_: None)
        patch.setattr(plot, "save", save)
        yield
