from __future__ import annotations

import pytest

from tests.running.executors import DEATHS, TRIED


@pytest.fixture(autouse=True)
def _nothing_tried() -> None:
    TRIED.clear()
    DEATHS.clear()
