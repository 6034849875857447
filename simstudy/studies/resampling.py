"""Running a study: train, compare, analyse, draw, report. Every finished piece is kept and found again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import pandas as pd

from simstudy import report
from simstudy.analyses.calibration import calibration
from simstudy.analyses.curves import curve
from simstudy.analyses.thresholds import size_fit, thresholds
from simstudy.engines.comparisons import compare
from simstudy.files import atomic_path
from simstudy.generators.redrawn import redraw
from simstudy.generators.resampled import resample_training, variants
from simstudy.outputs import Outputs
from simstudy.runner import Cell, derived_seed, n_workers, progress_bar, run_cells
from simstudy.studies import test_sets
from simstudy.studies.definition import Comparison, Study, StudyError, load_study, make_study, shipped_studies
from simstudy.studies.manifest import manifest_of
from simstudy.tasks import Task, load_task


@dataclass(frozen=True)
class Results:
    """What a study wrote, and the tables that it wrote it from.

    Attributes
    ----------
    folder
        README.md, manifest.json, tables as CSV, figures/, comparisons.parquet and the finished cells.
    tables
        Name -> table, as in the CSV files, unrounded.
    comparisons
        All pairs on all test sets.
    """

    folder: Path
    tables: dict[str, pd.DataFrame]
    comparisons: pd.DataFrame


def run_study(
    study: str | Path | Study,
    *,
    out: str | Path | None = None,
    n_jobs: int = -1,
    seed: int | None = None,
    data_dir: str | Path | None = None,
) -> Results:
    """Run a study, or what is left of it, and write its tables, figures, page and manifest.

    Parameters
    ----------
    study
        The name of a shipped study, the path of a study.toml or of its folder, or a Study.
    out
        Folder of the results; results/<name> below the working directory by default. Finished cells are kept in
        its cells/, so that a stopped study goes on where it was.
    n_jobs
        Processes and threads; -1 for all cores.
    seed
        Instead of the study's own.
    data_dir
        Folder of data files; see `simstudy.datasets.fetch`.

    Raises
    ------
    simstudy.studies.StudyError
        Where the study is unknown or its definition is wrong.
    simstudy.datasets.DataError
        Where its data cannot be had.
    simstudy.runner.CellsFailed
        Where systems failed to train; the others have finished and are kept.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> study = make_study({"name": "tiny", "title": "T", "question": "Q?", "task": "digits",
    ...     "training": {"fractions": [0.1], "replicates": [2]}, "comparison": {"n_resamples": 1000},
    ...     "home": {"test_set": "test", "sizes": [100, 200]}}, "here")
    >>> results = run_study(study, out=mkdtemp(), n_jobs=1)
    >>> len(results.comparisons), sorted(results.tables)   # 8 systems, 28 pairs, two sizes
    (56, ['curves', 'points', 'systems', 'thresholds'])
    """
    definition = study if isinstance(study, Study) else load_study(study)
    if seed is not None:
        definition = make_study({**definition.model_dump(), "seed": seed}, definition.name)
    folder = Path(out) if out is not None else Path("results") / definition.name
    jobs = n_workers(n_jobs)
    clock = _Clock()
    with clock("data"):
        task = load_task(definition.task, data_dir)
    test_sets.check(definition, task)
    cells = folder / "cells"
    try:
        cells.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StudyError(f"out: can not write to {folder} ({error.strerror})") from None
    with clock("training"):
        outputs = _train(definition, task, cells, jobs)
    with clock("comparisons"):
        pairs = _compare_all(definition, outputs, cells, jobs)
    redrawn = None
    if definition.calibration:
        with clock("redrawn test sets"):
            redrawn = _compare_redrawn(definition, outputs, cells, jobs)
    with clock("analyses and figures"):
        tables = _analyse(definition, outputs, pairs, redrawn)
        report.write_tables(tables, folder)
        with atomic_path(folder / "comparisons.parquet") as temporary:
            pairs.to_parquet(temporary, index=False)
        drawn = report.write_figures(
            tables,
            folder,
            home=definition.home.test_set,
            home_size=definition.home.sizes[-1],
            domain_size=definition.domains.size if definition.domains else None,
        )
    manifest = manifest_of(definition, task, tables, folder, clock.seconds)
    report.write_page(
        folder,
        title=definition.title,
        question=definition.question,
        command=_command(definition, seed),
        facts=_facts(definition, outputs),
        tables=tables,
        drawn=drawn,
    )
    report.remove_stale(folder, tables, drawn)
    with atomic_path(folder / "manifest.json") as temporary:
        temporary.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return Results(folder, tables, pairs)


def _train(study: Study, task: Task, cells: Path, n_jobs: int) -> dict[str, Outputs]:
    fractions, replicates = study.training.fractions, study.training.replicates
    with progress_bar("training systems", len(variants(task, fractions, replicates))) as advance:
        return resample_training(
            task,
            fractions=fractions,
            replicates=replicates,
            seed=study.seed,
            n_jobs=n_jobs,
            cache=cells,
            finished=lambda _: advance(1),
        )


def _compare_all(study: Study, outputs: dict[str, Outputs], cells: Path, n_jobs: int) -> pd.DataFrame:
    """The home test set at all sizes, and the domains (and home) at one."""
    home = test_sets.find(outputs, study.home.test_set)
    segments = [home.head(size) for size in study.home.sizes]
    if study.domains:
        names = study.domains.curves or study.domains.test_sets
        others = [home, *(test_sets.find(outputs, name) for name in names)]
        segments += [other.head(study.domains.size) for other in others]
        # Home at the domains' size is one more of its nested sizes.
        segments.sort(key=lambda segment: (segment.test_set != home.test_set, segment.n_items))
    distinct = {(segment.test_set, segment.n_items): segment for segment in segments}
    compared = _run_comparisons(
        "comparing systems", list(distinct.values()), study.comparison, [study.seed] * len(distinct), cells, n_jobs
    )
    return pd.concat(compared, ignore_index=True)


def _compare_redrawn(study: Study, outputs: dict[str, Outputs], cells: Path, n_jobs: int) -> pd.DataFrame:
    """The redrawn test sets, numbered in the column ``draw``; each has resamples of its own."""
    assert study.calibration
    population, size = _population(study, outputs), study.calibration.size
    draws = range(1, study.calibration.n_draws + 1)
    settings = study.comparison.model_copy(update={"n_resamples": study.calibration.n_resamples})
    compared = _run_comparisons(
        "redrawn test sets",
        [redraw(population, size, draw, unit=study.comparison.unit, seed=study.seed) for draw in draws],
        settings,
        [derived_seed(study.seed, "redrawn", draw) % 2**64 for draw in draws],
        cells,
        n_jobs,
    )
    return pd.concat([pairs.assign(draw=draw) for pairs, draw in zip(compared, draws, strict=True)], ignore_index=True)


def _population(study: Study, outputs: dict[str, Outputs]) -> Outputs:
    assert study.calibration
    return reduce(Outputs.join_items, (test_sets.find(outputs, name) for name in study.calibration.population))


def _run_comparisons(
    title: str, tests: Sequence[Outputs], settings: Comparison, seeds: Sequence[int], cells: Path, n_jobs: int
) -> list[pd.DataFrame]:
    """Compare on each test set, one after the other, each with all threads."""
    options = settings.model_dump()
    todo = [
        Cell(
            label=f"comparing on {outputs.test_set}, {outputs.n_items} items",
            description={
                "kind": "comparison",
                "outputs": outputs.fingerprint(),
                "settings": options,
                "seed": seed,
            },
            arguments=(outputs, seed),
        )
        for outputs, seed in zip(tests, seeds, strict=True)
    ]
    with progress_bar(title, settings.n_resamples * len(todo)) as advance:
        reported = 0

        def step(amount: int) -> None:
            nonlocal reported
            reported += amount
            advance(amount)

        def finished(_: Cell) -> None:
            # A cell that was found has not reported its resamples.
            nonlocal reported
            advance(settings.n_resamples - reported)
            reported = 0

        def compared(outputs: Outputs, seed: int) -> pd.DataFrame:
            return compare(outputs, seed=seed, n_jobs=n_jobs, progress=step, **options)

        return run_cells(compared, todo, cache=cells, finished=finished)


def _analyse(
    study: Study, outputs: dict[str, Outputs], pairs: pd.DataFrame, redrawn: pd.DataFrame | None
) -> dict[str, pd.DataFrame]:
    home, sizes = study.home.test_set, study.home.sizes
    at_home = pairs["test_set"] == home
    by_size = size_fit(thresholds(pairs[at_home], seed=study.seed))
    tables = {"systems": _systems(outputs), "thresholds": by_size}
    if not at_home.all():
        elsewhere = thresholds(pairs[~at_home], seed=study.seed)
        tables["thresholds"] = pd.concat([by_size, elsewhere], ignore_index=True)
    tables["curves"] = curve(pairs)
    tables["points"] = report.thinned(pairs, home, sizes[-1])
    if redrawn is not None:
        population = _population(study, outputs)
        tables["calibration_identical"] = calibration(redrawn, {"population": population}, seed=study.seed)
    if study.domains:
        others = {name: test_sets.find(outputs, name) for name in study.domains.test_sets}
        whole = pairs[at_home & (pairs["n_items"] == sizes[-1])]
        tables["calibration_domains"] = calibration(whole, others, seed=study.seed)
    return tables


def _systems(outputs: dict[str, Outputs]) -> pd.DataFrame:
    """Every system with its score on every test set."""
    table = next(iter(outputs.values())).systems
    return table.assign(**{f"score on {name}": found.scores() for name, found in outputs.items()})


def _command(study: Study, seed: int | None) -> str:
    """How the study was asked for; the manifest has all of a study that is not a shipped one."""
    name = study.name if study.name in shipped_studies() else f"{study.name}/study.toml"
    return f"simstudy run {name}" + (f" --seed {seed}" if seed is not None else "")


def _facts(study: Study, outputs: dict[str, Outputs]) -> dict[str, str]:
    home = test_sets.find(outputs, study.home.test_set)
    systems = home.systems
    families = systems["family"].value_counts(sort=False)
    sizes = ", ".join(f"{size:,}" for size in sorted(systems["train_size"].unique(), reverse=True))
    return {
        "Systems": f"{len(systems)}: " + ", ".join(f"{count} {name}" for name, count in families.items()),
        "Training items drawn with replacement": sizes,
        "Test": f"{study.comparison.test}, {study.comparison.n_resamples:,} resamples, {study.comparison.alternative}, "
        f"convention {study.comparison.convention}, resampled unit {study.comparison.unit}",
        "Metric": home.metric.name,
        "Seed": str(study.seed),
    }


class _Clock:
    """Wall time of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[stage] = round(time.perf_counter() - start, 1)
