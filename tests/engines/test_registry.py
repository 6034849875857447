"""What the registry says of its tests, and tests of other packages."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.running.plug_ins import installed_entries
from tests.oracles import compared

MODULE = """
import numpy as np

from simstudy.engines.needs import MEAN
from simstudy.engines.question import SignificanceResult
from simstudy.engines.registry import SignificanceTest


def by_wins(question):
    wins, losses = question.won
    return SignificanceResult.analytic((losses + 1) / (wins + losses + 2), wins - losses, wins - losses)


NAME = "succession"
TEST = SignificanceTest(NAME, "rule of succession", by_wins, needs=(MEAN,), source="Laplace 1774", cites=())
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a folder of installed packages, whose one package has this entry point."""

    def with_entry_point(entry: str) -> None:
        about = tmp_path / "laplace-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: laplace\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[simstudy.tests]\n{entry}\n")
        (tmp_path / "laplace.py").write_text(MODULE)
        importlib.invalidate_caches()
        installed_entries.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield with_entry_point
    installed_entries.cache_clear()
    sys.modules.pop("laplace", None)


def test_a_package_adds_a_test(install: Callable[[str], None], answered: Outputs) -> None:
    shipped = list(TESTS)
    install("succession = laplace:TEST")
    assert list(TESTS) == [*shipped, "succession"]
    assert len(TESTS) == len(shipped) + 1
    pairs = compared(answered, test="succession", unit="item")
    expected = (pairs["losses"] + 1) / (pairs["wins"] + pairs["losses"] + 2)
    assert pairs["p_value"].tolist() == expected.tolist()
    assert set(pairs["computation"]) == {"approximated"}
    with pytest.raises(ValueError, match="did you mean 'succession'"):
        compared(answered, test="sucession")


@pytest.mark.parametrize("entry", ["bootstrap = laplace:TEST", "succession = laplace:NAME", "succession = laplace:NO"])
def test_a_package_whose_test_is_wrong_is_named_in_one_line(
    install: Callable[[str], None], answered: Outputs, entry: str
) -> None:
    """A name that simstudy has, an object of another kind, and none."""
    install(entry)
    with pytest.raises(ValueError, match=f"entry point '{entry.split()[0]}' of package laplace") as error:
        compared(answered, test="succession")
    assert "\n" not in str(error.value)
    assert len(compared(answered)) == 10, "tests of simstudy do without"
