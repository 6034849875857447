"""A comparison that would not fit into memory is refused before it begins, by an estimate that is measured here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.engines import memory
from simstudy.examination import asking
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from tests.engines.pairs import by_item
from tests.oracles import compared

PEAK = """
import re
from pathlib import Path
import numpy as np
import simstudy as ss
from simstudy.engines import memory
def peak():
    # Unlike getrusage's, which a process inherits from the one that starts it.
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
rng = np.random.default_rng(0)
shape = ({systems}, {items})
right = rng.random(shape) < np.linspace(0.4, 0.9, shape[0])[:, None]
guessed = [1 + (rng.random(shape) < 0.3)] if "{metric}" == "f1" else []
outputs = ss.Outputs.from_statistics(np.stack([right, *guessed, np.ones_like(right)], -1), "{metric}")
ss.compare(outputs.head(20).select(outputs.names[:3]))   # compiled loops are read in
before = peak()
pairs = ss.compare(outputs, test="{test}").frame
compared = peak()
pairs = ss.comparisons.corrected(pairs.assign(relation="all pairs"))
for analysis in (ss.comparisons.thresholds, ss.comparisons.significant_gains, ss.comparisons.curve):
    analysis(pairs)
estimate = memory.needed("{test}", outputs.statistics.shape, len(pairs), 1, answers=not guessed)
print(before, compared, peak(), estimate / 1024)
"""


def peaks(systems: int, items: int, test: str = "sign_flips", metric: str = "accuracy") -> list[float]:
    """KiB: before, after `compare`, after the analyses; and the estimate of what is needed."""
    script = PEAK.format(systems=systems, items=items, test=test, metric=metric)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


@pytest.fixture
def forty() -> Outputs:
    return Outputs.from_statistics(by_item(np.random.default_rng(0).integers(0, 2, size=(40, 30))), "accuracy")


def test_a_comparison_that_does_not_fit_is_refused(forty: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    progress: list[int] = []
    enough = memory.needed("bootstrap", (40, 30, 2), 780, 1)
    monkeypatch.setattr(memory, "available", lambda: enough - 1)
    with pytest.raises(ValueError, match=r"'bootstrap' of 780 pairs of 40 systems on 30 units needs about 0\.\d GiB"):
        compared(forty, test="bootstrap", monte_carlo=True, n_resamples=100, progress=progress.append)
    assert not progress
    for free in (enough, float("inf")):
        monkeypatch.setattr(memory, "available", lambda free=free: free)
        assert len(compared(forty, test="bootstrap", monte_carlo=True, n_resamples=100)) == 780


@pytest.mark.parametrize("duplicates", ["keep", "drop"])
def test_an_examination_that_does_not_fit_begins_nothing(
    forty: Outputs, monkeypatch: pytest.MonkeyPatch, duplicates: str
) -> None:
    """What is made of the pairs counts too: there is enough for the comparison alone."""
    begun: list[object] = []
    enough = memory.needed("sign", (40, 30, 2), 780, 1)
    monkeypatch.setattr(memory, "available", lambda: enough)
    monkeypatch.setattr(asking, "compare", lambda *given, **options: begun.append(options))
    if duplicates == "keep":
        monkeypatch.setattr(asking, "distinct", lambda *given: begun.append(given))
    with pytest.raises(ValueError, match=r"'sign' of 780 pairs of 40 systems on 30 units needs about 0\.\d GiB"):
        asking.examine(Loaded(forty), duplicates=duplicates, test="sign")
    assert not begun


def test_memory_is_that_of_the_operating_system() -> None:
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 2**20 < memory.available() < physical


@pytest.mark.slow
@pytest.mark.parametrize(
    ("systems", "items", "test", "metric"),
    [(1000, 1000, "sign_flips", "accuracy"), (200, 2000, "sign_flips", "f1"), (200, 50_000, "mcnemar", "accuracy")],
)
def test_the_estimate_is_no_less_than_what_is_taken(systems: int, items: int, test: str, metric: str) -> None:
    """Nor much more; and analyses take little more than the comparison."""
    before, compared, analysed, estimate = peaks(systems, items, test, metric)
    assert analysed < 1.5 * compared
    assert compared - before < estimate < 3 * (compared - before) + 200 * 1024


COMMAND = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "simstudy", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.slow
def test_ten_thousand_systems_are_refused_in_one_line_before_work_begins(tmp_path: Path) -> None:
    """Nearly fifty million pairs: some 50 GiB, which few machines have."""
    if memory.available() > 2**35:
        pytest.skip("more memory than this takes")
    right = np.random.default_rng(0).random((20, 10_000)) < np.linspace(0.4, 0.9, 10_000)
    table = pd.DataFrame(right.astype(int), columns=[f"system {k}" for k in range(10_000)])
    table.rename_axis("item").to_csv(tmp_path / "scores.csv")
    options = [str(tmp_path / "scores.csv"), "--metric", "accuracy", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", COMMAND, "compare", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, peak = (int(number) for number in done.stdout.split())
    assert (code, done.stderr.count("\n")) == (2, 1)
    assert "49,995,000 pairs of 10,000 systems" in done.stderr
    assert "select fewer systems" in done.stderr
    assert peak < 2**20
    assert not (tmp_path / "out").exists()
