"""What would not fit is said before it begins, with what it needs and what to do."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from simstudy.engines import memory
from simstudy.engines.comparisons import compare
from simstudy.outputs import Outputs

PEAK = """
import resource
import numpy as np
import simstudy as ss
from simstudy.engines import memory
rng = np.random.default_rng(0)
shape = ({systems}, {items})
right = rng.random(shape) < np.linspace(0.4, 0.9, shape[0])[:, None]
outputs = ss.Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy")
ss.compare(outputs.head(20).select(outputs.names[:3]))   # compiled loops are read in
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pairs = ss.compare(outputs, test="{test}")
compared = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
pairs = ss.corrected(pairs.assign(relation="all pairs"))
for analysis in (ss.thresholds, ss.significant_gains, ss.curve):
    analysis(pairs)
print(before, compared, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, memory.needed(*shape, 2, len(pairs)) / 1024)
"""


def peaks(systems: int, items: int, test: str = "sign_flips") -> list[float]:
    """KiB: before, after `compare`, after the analyses; and what is said to be needed."""
    script = PEAK.format(systems=systems, items=items, test=test)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def test_what_would_not_fit_is_said_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    right = np.random.default_rng(0).random((40, 30)) < 0.5
    outputs = Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy")
    begun: list[int] = []
    monkeypatch.setattr(memory, "available", lambda: memory.needed(40, 30, 2, 780) - 1)
    with pytest.raises(ValueError, match=r"'bootstrap' of 780 pairs of 40 systems on 30 units needs about 0\.\d GiB"):
        compare(outputs, test="bootstrap", monte_carlo=True, n_resamples=100, progress=begun.append)
    assert not begun
    for enough in (memory.needed(40, 30, 2, 780), None):
        monkeypatch.setattr(memory, "available", lambda enough=enough: enough)
        assert len(compare(outputs)) == 780


def test_what_is_available_is_no_more_than_a_limit() -> None:
    """A limit of the process counts, less what it has taken."""
    script = (
        "import resource; from simstudy.engines import memory; import simstudy.engines.comparisons\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**34, 2**34)); print(memory._of_process(), memory.available())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    of_process, available = map(int, done.stdout.split())
    assert 0 < available <= of_process < 2**34


@pytest.mark.slow
def test_analyses_take_little_more_than_the_comparison() -> None:
    """And the estimate is no less than what is taken, nor more than three times."""
    before, compared, all_of_it, said = peaks(1000, 1000)
    assert all_of_it < 1.5 * compared
    assert compared - before < said < 3 * (compared - before)


@pytest.mark.slow
def test_two_thousand_systems_take_less_than_two_gibibytes() -> None:
    assert peaks(2000, 100)[2] < 2 * 2**20


@pytest.mark.slow
def test_differences_of_units_are_looked_at_a_few_at_a_time() -> None:
    before, compared, _, _ = peaks(200, 50_000, "mcnemar")
    # The statistics are 20 million numbers: 160 MB in the engine's own type.
    assert compared - before < 1.5 * 2**20
