"""Chromium, and the pages that are looked at in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss
from simstudy.examination import Examination
from simstudy.examination.several import Several
from simstudy.outputs import Outputs
from simstudy.suites import across_tasks
from tests.browser.made import ATTACKS, named, of_tasks

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

CHARTS = "[...document.querySelectorAll('.drawn .chart')]"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium from the system's packages; tests are skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (the extra dev-browser)")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


Opened = Callable[..., Any]


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    """Opens a file without a network; the test fails where the page asks for anything, or says anything on the console.

    Keywords are those of a browser's context, such as viewport, color_scheme and java_script_enabled.
    """
    contexts, said = [], []

    def open_page(path: Path, **how: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, "offline": True, **how})
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith(allowed) else None)
        allowed = (path.as_uri(), "data:", "blob:")
        page.goto(path.as_uri())
        if how.get("java_script_enabled", True):
            # Charts are drawn when they have been given their width.
            page.wait_for_function(f"{CHARTS}.every((chart) => chart.children.length)")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


@pytest.fixture(scope="session")
def many() -> Examination:
    """Twenty-six systems in two groups, some of whose names attack whoever shows them."""
    outputs = ss.truth.correlated_accuracies(np.linspace(0.55, 0.85, 26).tolist(), 300, seed=3)
    names = [*ATTACKS, *(f"system-{k}" for k in range(26 - len(ATTACKS)))]
    return ss.examine(named(outputs, names, groups=["x", "y"] * 13), by="group")


@pytest.fixture(scope="session")
def pages(many: Examination, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    two = ss.truth.correlated_accuracies([0.7, 0.8], 300)
    tasks = of_tasks(ss.truth.correlated_accuracies([0.6, 0.7, 0.75], 400), 5)
    found = {
        "many": many,
        "two": ss.examine(two, margin=2.0),
        "tasks": with_tasks(tasks),
        "two_tasks": with_tasks(tasks.select(tasks.names[:2])),
        "several": Several((ss.examine(two), ss.examine(replace(two.head(150), test_set="first half")))),
        "plan": ss.plan(metric="bleu", gain=1),
    }
    made = {name: folder / f"{name}.html" for name in found}
    for name, one in found.items():
        one.to_html(made[name])
    two_folder = folder / "folder"
    ss.examine(two).write(two_folder)
    return {**made, "folder": two_folder / "index.html"}


def with_tasks(outputs: Outputs) -> Examination:
    """An examination whose answer are averages of tasks."""
    return replace(ss.examine(outputs), tasks=across_tasks(outputs, by="domain"))
