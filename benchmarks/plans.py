"""How long a plan takes, in CPU seconds beside the least that there is to do, in the same run; ratios are what counts.

All is done by one thread. From guesses the least is to start Python and import pandas; from a leaderboard it is to
compare all pairs.

    python benchmarks/plans.py [--systems 120] [--items 500] [--gain 5]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from threadpoolctl import threadpool_limits

import simstudy as ss


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def started(*arguments: str) -> float:
    """CPU seconds of a Python process of its own, which finds compiled modules as an installation has them."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, env=environment, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def table(n_systems: int, n_items: int, gain: float) -> None:
    """Rows of seconds."""
    guess = ["-m", "simstudy", "plan", "--metric", "accuracy", "--score", "80", "--gain", "1"]
    started(*guess)
    outputs = ss.truth.correlated_accuracies([0.3 + 0.5 * k / n_systems for k in range(n_systems)], n_items)
    pilot = outputs.select(outputs.names[:2])
    # What compiles does so before.
    ss.plan(pilot, gain=gain)
    for each in (pilot, outputs):
        ss.compare(each)
    rows = [
        ("guesses", started("-c", "import pandas"), started(*guess)),
        (
            "pilot of two systems, simulated",
            seconds(lambda: ss.compare(pilot)),
            seconds(lambda: ss.plan(pilot, gain=gain)),
        ),
        (f"{n_systems} systems", seconds(lambda: ss.compare(outputs)), seconds(lambda: ss.plan(outputs, gain=gain))),
    ]
    print("| plan from | the least, s | plan, s | ratio |")
    print("|---|---|---|---|")
    for name, least, plan in rows:
        print(f"| {name} | {least:.2g} | {plan:.2f} | {plan / least:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", type=int, default=120)
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--gain", type=float, default=5)
    arguments = parser.parse_args()
    # Threads that wait for each other would be counted as work.
    with threadpool_limits(1):
        table(arguments.systems, arguments.items, arguments.gain)


if __name__ == "__main__":
    main()
