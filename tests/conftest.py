"""In which order tests run, and where their fixtures are."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

# First files that compile for long where nothing is compiled yet, in an order in which no two processes compile the
# same at once. Then those that take longest, so that no process is left alone with one at the end; what is said of the
# modules of the package themselves comes last.
LONGEST = [
    f"tests/{name}.py"
    for name in (
        "experiments/tasks/test_translation", "learners/test_cky", "learners/test_graph_parser",
        "engines/test_randomization", "learners/test_transition_parser", "engines/test_compare",
        "approved/test_approved", "learners/test_hidden_markov", "learners/test_aligners", "studies/test_resampling",
        "test_documentation",
        "planning/test_equal_plans", "statistics/test_one_decision",
        "studies/natural/test_study", "studies/test_programs", "attacks/test_kills", "studies/test_reuse",
        "examination/test_page", "running/test_parallel", "test_first_jobs", "experiments/test_yeh_2000",
        "cli/test_plan", "studies/test_run", "engines/test_invariance",
        "attacks/test_text", "planning/test_options", "cli/test_compare_decisions", "loaders/test_text",
        "examination/test_examine", "experiments/test_multiple_systems",
        "planning/test_results", "cli/test_compare", "running/test_folders", "test_architecture",
        "studies/natural/test_cross_domain", "studies/natural/test_own_files", "engines/test_sign_flips",
        "engines/test_bootstrap", "cli/test_compare_several", "experiments/evert_2004/test_study",
        "engines/test_classical", "metrics/test_user_metrics", "statistical/test_null", "truth/test_models",
    )
]  # fmt: skip

# What pytest and the imports hold stays until the end. Looking through it for garbage, again and again, costs a fifth
# of the time that it takes to collect the tests.
gc.set_threshold(50_000, 20, 50)


def pytest_configure(config: pytest.Config) -> None:
    """Load the fixtures, where tests run, and keep xdist from sorting files by their number of tests."""
    if hasattr(config, "workerinput") or not config.getoption("tx", None):
        config.pluginmanager.import_plugin("tests.fixtures")
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and the package's own examples last."""
    places = {name: place for place, name in enumerate(LONGEST)}

    def place(item: pytest.Item) -> int:
        name = item.nodeid.partition("::")[0]
        return len(places) + 1 if name.startswith("simstudy/") else places.get(name, len(places))

    items.sort(key=place)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leave what is there now out of later collections of garbage; and look for no logs, which nothing writes."""
    if logs := session.config.pluginmanager.unregister(name="logging-plugin"):
        logs.log_file_handler.close()
    gc.freeze()
