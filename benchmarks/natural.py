"""How long comparisons of real systems take, from files to the table of all pairs.

- SWE-bench Verified: 123 systems x 500 instances, resolved or not; loading, and all 7,503 pairs by the bootstrap: by
  its limit for infinitely many resamples where that is to be had, and by resampling.
- TREC-8 and Robust 2004: all pairs by the default test, beside drawing 2^18 flips for all of them.
- WMT24 English-German: 25 systems x 997 segments, BLEU; from files to statistics beside sacrebleu's own extraction, and
  all 300 pairs.
- The first answer: CPU seconds of the command on two of these files, beside starting Python and importing pandas, and
  beside sacrebleu's own command with its approximate randomization, by the best of five starts.
- ImageNet: 34 systems x 50,000 images, right or wrong, and its first 500 and 5,000 images: what a pair and resample
  costs as the test set grows.

Each case runs in a process of its own. The data is none of ours: without a folder that holds it nothing is run.

    python benchmarks/natural.py --data-dir DIR [--resamples 1000000] [--jobs 2]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from all_pairs import Result, in_a_fresh_process, peak_memory, seconds
from plans import started
from sacrebleu.metrics.bleu import BLEU

from simstudy.comparisons.comparing import compare
from simstudy.files.datasets import folder_at_hand
from simstudy.outputs import Outputs
from simstudy.readers.load import load

SWE_BENCH = "swebench/swebench_verified.csv.gz"
IMAGENET = "imagenet_cifar/imagenet_val_wide.csv.gz"
WMT = "wmt24_en-de"
RETRIEVAL = (("adhoc8", "ap"), ("adhoc8", "rr"), ("adhoc8", "p10"), ("robust2004", "ap"), ("web2010", "err20"))
# One of two submissions that are all but identical.
LEFT_OUT = "CycleL2.de"


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def compared(outputs: Outputs, n_resamples: int, n_jobs: int, monte_carlo: Any) -> float:
    """Seconds for all pairs, compiled code at hand."""
    options: dict[str, Any] = {"test": "bootstrap", "unit": "item", "n_jobs": n_jobs, "monte_carlo": monte_carlo}
    compare(outputs, n_resamples=64, **options)
    return timed(lambda: compare(outputs, n_resamples=n_resamples, **options))[1]


def row(case: str, what: str, wall: float, each: float | None = None) -> str:
    cost = "" if each is None else f"{each:.3f}"
    return f"| {case} | {what} | {wall:.2f} | {cost} | {peak_memory():.0f} |"


def resampled(case: str, outputs: Outputs, n_resamples: int, n_jobs: int) -> str:
    wall = compared(outputs, n_resamples, n_jobs, monte_carlo=True)
    n_pairs = outputs.n_systems * (outputs.n_systems - 1) / 2
    return row(case, f"all pairs, {n_resamples:,} resamples", wall, 1e9 * wall / n_pairs / n_resamples)


def swe_bench(folder: Path, n_resamples: int, n_jobs: int) -> list[str]:
    columns = {"item": "instance_id", "score": "resolved", "domain": "repo"}
    loaded, reading = timed(lambda: load(folder / SWE_BENCH, "accuracy", columns=columns))
    outputs = loaded.outputs
    case = f"SWE-bench Verified, {outputs.n_systems} x {outputs.n_items:,}"
    return [
        row(case, "load", reading),
        row(case, "all pairs, limit", compared(outputs, n_resamples, n_jobs, monte_carlo=False)),
        resampled(case, outputs, n_resamples, n_jobs),
    ]


def wmt(folder: Path, n_resamples: int, n_jobs: int) -> list[str]:
    files = [path for path in sorted((folder / WMT / "sys").iterdir()) if path.name != LEFT_OUT]
    reference = folder / WMT / "ref.A.de"

    def by_sacrebleu() -> None:
        metric = BLEU(references=[lines(reference)])
        for path in files:
            metric._extract_corpus_statistics(lines(path), None)

    outputs = load(files, "bleu", references=reference).outputs
    case = f"WMT24 en-de, {outputs.n_systems} x {outputs.n_items:,}, BLEU"
    return [
        row(case, "files to statistics, sacrebleu", seconds(by_sacrebleu)),
        row(case, "files to statistics", seconds(lambda: load(files, "bleu", references=reference))),
        resampled(case, outputs, n_resamples, n_jobs),
    ]


def retrieval(folder: Path, n_jobs: int) -> list[str]:
    """A row each of the measures: seconds of the default test and of 2^18 flips, and their ratio."""
    rows = []
    for collection, measure in RETRIEVAL:
        scores = pd.read_csv(folder / "trec_urbano" / f"{collection}.csv.gz").query("measure == @measure")
        outputs = Outputs.from_scores(scores.pivot(index="topic", columns="system", values="score").dropna())
        default = seconds(partial(compare, outputs, n_jobs=n_jobs))
        drawn = seconds(partial(compare, outputs, n_jobs=n_jobs, monte_carlo=True))
        case = f"{collection} {measure}, {outputs.n_systems} x {outputs.n_items}"
        rows.append(f"| {case} | {default:.2f} | {drawn:.2f} | {default / drawn:.2f} |")
    return rows


def first_answer(folder: Path) -> list[str]:
    """A row each of the command, of sacrebleu's, and of the least: CPU seconds, and their ratio to the least."""
    files = [str(folder / WMT / "sys" / name) for name in ("GPT-4.de", "Claude-3.5.de")]
    reference = str(folder / WMT / "ref.A.de")
    asked = {
        "import pandas": ["-c", "import pandas"],
        "simstudy compare": ["-m", "simstudy", "compare", *files, "--metric", "bleu", "--references", reference],
        "sacrebleu --paired-ar": ["-m", "sacrebleu", reference, "-i", *files, "-m", "bleu", "--paired-ar"],
    }
    cost = {name: min(started(*arguments) for _ in range(5)) for name, arguments in asked.items()}
    least = cost["import pandas"]
    return [f"| {name} | {seconds:.2f} | {seconds / least:.1f} |" for name, seconds in cost.items()]


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")


def imagenet(folder: Path, n_resamples: int, n_jobs: int, n_items: int | None = None) -> list[str]:
    columns = {"domain": "domain", "class": "class_idx"}
    loaded, reading = timed(lambda: load(folder / IMAGENET, "accuracy", columns=columns))
    outputs = loaded.outputs if n_items is None else loaded.outputs.head(n_items)
    case = f"ImageNet, {outputs.n_systems} x {outputs.n_items:,}"
    told = [row(case, "load", reading)] if n_items is None else []
    return [*told, resampled(case, outputs, n_resamples, n_jobs)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, help="or SIMSTUDY_DATA_DIR")
    parser.add_argument("--resamples", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folder = folder_at_hand(options.data_dir)
    needed = [SWE_BENCH, IMAGENET, f"{WMT}/sys"]
    if folder is None or not all((folder / name).exists() for name in needed):
        print(f"skipped: --data-dir or SIMSTUDY_DATA_DIR must name a folder that holds {', '.join(needed)}")
        return
    cases: list[Callable[[Path, int, int], list[str]]] = [
        swe_bench, wmt, partial(imagenet, n_items=500), partial(imagenet, n_items=5_000), imagenet
    ]  # fmt: skip
    print(f"{options.jobs} cores")
    print("| real systems | what | s | ns a pair, resample | peak MiB so far |")
    print("|---|---|---|---|---|")
    for case in cases:
        for line in in_a_fresh_process(case, folder, options.resamples, options.jobs):
            print(line, flush=True)
    print("\n| real systems | default test, s | 2^18 flips, s | ratio |")
    print("|---|---|---|---|")
    print("\n".join(retrieval(folder, options.jobs)))
    print("\n| first answer, 2 x 997 segments | CPU s | ratio |")
    print("|---|---|---|")
    print("\n".join(first_answer(folder)))


if __name__ == "__main__":
    main()
