"""Fixtures that several rooms' tests share, and short cuts of what most tests do not look at.

What this module imports takes seconds: a process that only spreads tests over others does without (`conftest.py`).
"""

from __future__ import annotations

import functools
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer.testing
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

import simstudy as ss
from simstudy.outputs import Outputs
from simstudy.pages.report import Page
from simstudy.plot import saving
from tests.conftest import SHARED

# The command is built once for all calls of `CliRunner`, which take an eighth of their time for it.
typer.testing._get_command = functools.cache(typer.testing._get_command)


# Where the pixels of figures are looked at, and whether their labels have room.
LOOKED_AT = ("tests/plot/", "simstudy/plot/", "tests/cli/test_compare.py::test_the_folder_has_tables")

# Where their text or its length is looked at too, and where figures are drawn by what is not in `simstudy.plot`.
READ = (
    *LOOKED_AT, "tests/experiments/", "tests/pages/", "simstudy/pages/", "tests/attacks/test_damage.py",
    "tests/attacks/test_text.py", "tests/cli/test_papers.py", "tests/cli/test_compare_direction.py",
    "tests/examination/test_page.py", "tests/studies/natural/test_direction.py",
)  # fmt: skip


class QuickFigures:
    """Elsewhere files of figures are blank, and no room is looked for: that takes most of the time of a figure."""

    quick = blank = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.quick = not item.nodeid.startswith(LOOKED_AT)
        self.blank = not item.nodeid.startswith(READ)

    def pytest_collection_finish(self) -> None:
        def png(figure: Any, path: Path, whole: Any = saving._png) -> None:
            Image.new("1", (1, 1)).save(path, "png") if self.quick else whole(figure, path)

        def svg(figure: Any, path: Path, whole: Any = saving._svg) -> None:
            path.write_text('<svg xmlns="http://www.w3.org/2000/svg"/>') if self.blank else whole(figure, path)

        def execute(engine: Any, figure: Any, whole: Any = ConstrainedLayoutEngine.execute) -> None:
            None if self.quick else whole(engine, figure)

        saving._png, saving._svg = png, svg
        ConstrainedLayoutEngine.execute = execute  # type: ignore[method-assign]


def pytest_configure(config: pytest.Config) -> None:
    """Take the short cuts."""
    config.pluginmanager.register(QuickFigures())


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return SHARED


@pytest.fixture
def empty_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are drawn, and their files are empty: to write them takes half of the time of a small study."""

    def save(figure: Any, path: Path) -> None:
        sys.modules["matplotlib.pyplot"].close(figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix in (".png", ".svg"):
            path.with_name(path.name + suffix).touch()

    monkeypatch.setattr(ss.plot, "save", save)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages and their folders have blank pictures: other tests draw the same figures."""

    def blank(page: Page, drawn: Any = Page.drawn.fget) -> list[Any]:
        return [replace(figure, draw=Figure) for figure in drawn(page)]

    monkeypatch.setattr(Page, "drawn", property(blank))
    monkeypatch.setattr("simstudy.pages.html._drawn", lambda figure: ("image/png", b""))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20120712)


@pytest.fixture
def tagged(rng: np.random.Generator) -> Outputs:
    """Five systems on 60 sentences of different length, with domains, documents and families."""
    total = rng.integers(1, 30, size=60)
    quality = np.array([0.8, 0.82, 0.85, 0.85, 0.9])
    correct = rng.binomial(total, quality[:, None])
    systems = pd.DataFrame({"name": list("abcde"), "family": ["x", "x", "y", "y", "z"]})
    items = pd.DataFrame(
        {
            "id": [f"s{i}" for i in range(60)],
            "domain": ["news", "wiki", "mail"] * 20,
            "cluster": [f"d{i // 4}" for i in range(60)],
        }
    )
    statistics = np.stack([correct, np.broadcast_to(total, correct.shape)], axis=-1)
    return Outputs.from_statistics(statistics, "accuracy", systems, items, task="tagging", test_set="made up")
