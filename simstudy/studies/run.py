"""Running a study of any kind: its folder, tables, page and manifest. Finished pieces are kept and found again."""

from __future__ import annotations

import os
import shlex
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from simstudy.comparisons.signature import signatures
from simstudy.files.datasets import folder_at_hand
from simstudy.files.whole import named_in_errors
from simstudy.pages.tables import kinds_of, write_tables
from simstudy.running.folders import CELLS, COMPARISONS, results_folder, shard_folder
from simstudy.running.jobs import n_workers
from simstudy.running.keys import RESULTS_VERSION, CellKeys
from simstudy.running.parallel import sweep
from simstudy.running.program_files import shipped_studies
from simstudy.running.progress import shown
from simstudy.studies.catalogue import asked_for, blaming_program, code_behind, found_by
from simstudy.studies.context import RunContext, Unfinished
from simstudy.studies.definition import Study, place_of
from simstudy.studies.written import publish_page
from simstudy.text.reprs import ReprMixin, listed
from simstudy.validation import check_whole

# Signatures that a page lists; a study of many list lengths or test sets has one for each.
_MOST_SIGNATURES = 10


@dataclass(frozen=True, repr=False)
class Results(ReprMixin):
    """What a study wrote, and the tables that it wrote it from.

    Attributes
    ----------
    folder
        README.md, manifest.json, tables as CSV, figures/, and the finished cells; comparisons.csv.gz where the study
        has comparisons.
    tables
        Name -> table, as in the CSV files, unrounded.
    comparisons
        All pairs on all test sets; empty where the study has no such table.
    summary
        What the command prints at the end: title -> a few rows of text.
    answers
        Sentences that the command prints before these.
    """

    folder: Path
    tables: dict[str, pd.DataFrame]
    comparisons: pd.DataFrame
    summary: dict[str, pd.DataFrame]
    answers: tuple[str, ...] = ()

    def _summary(self) -> tuple[str, str]:
        tables = listed([f"{name} ({len(table):,})" for name, table in self.tables.items()], 12)
        return f"Results in {self.folder}: {len(self.comparisons):,} comparisons", f"tables (rows) {tables}"

    def _table(self) -> pd.DataFrame:
        return pd.DataFrame({"table": self.tables.keys(), "rows": [len(table) for table in self.tables.values()]})


def run_study(
    study: str | Path | Study,
    *,
    out: str | Path | None = None,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    seed: int | None = None,
    data_dir: str | Path | None = None,
    allow_outside: bool = False,
) -> Results:
    """Run a study, or finish a stopped run, and write its tables, figures, page and manifest.

    Parameters
    ----------
    study
        The name of a shipped study, the path of a study.toml or of its folder, or a Study. Naming a folder that has a
        study.py, where study.toml says kind = "program", runs that program.
    out
        Folder of the results; results/<name> below the working directory by default. Finished cells are kept in
        its cells/, so that a stopped study goes on where it was.
    n_jobs
        Processes and threads; -1 for all cores. None for what `joblib.parallel_config` says, else all cores.
    executor
        Computes cells instead of processes of this machine, and is not shut down. Its workers must see the folder of
        the results, unless it is a `simstudy.running.parallel.cluster`.
    seed
        Instead of the study's own.
    data_dir
        Folder of data files; see `simstudy.files.datasets.fetch`.
    allow_outside
        Whether the study may name files outside that folder: by absolute paths, by "..", or by links that lead out.

    Raises
    ------
    simstudy.studies.StudyError
        Where the study is unknown or its definition is wrong.
    simstudy.running.program_files.ProgramError
        Where a study.py fails while it runs: its file and line, and what was raised (``__cause__``).
    simstudy.files.datasets.DataError
        Where its data cannot be had, or lies outside the folder of data files.
    simstudy.running.parallel.CellsFailed
        Where systems failed to train; the others have finished and are kept.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from simstudy.studies import make_study
    >>> study = make_study({"name": "tiny", "title": "T", "question": "Q?", "task": "digits",
    ...     "training": {"fractions": [0.1], "replicates": [2]}, "comparison": {"n_resamples": 1000},
    ...     "home": {"test_set": "test", "sizes": [100, 200]}}, "here")
    >>> results = run_study(study, out=mkdtemp(), n_jobs=1)
    >>> len(results.comparisons), sorted(results.tables)   # 8 systems, 28 pairs, two sizes
    (56, ['confidence_models', 'curves', 'points', 'systems', 'thresholds', 'training_variance'])
    """
    definition, folder = asked_for(study, out, seed)
    # A template of a program's page that does not fit is told when the page is written.
    with shown(), results_folder(folder, of=f"study {definition.name}") as results, blaming_program(definition):
        sweep(results.cells)
        code = code_behind(definition)
        context = RunContext(
            results.cells, n_workers(n_jobs), data_dir, allow_outside, executor, results.cells, place_of(definition),
            keys=CellKeys(code),
        )  # fmt: skip
        found = found_by(definition, context)
        write_tables(found.tables, results.gathered)
        command, place = _command(definition, folder, seed, data_dir, allow_outside)
        manifest = {
            "study": definition.model_dump(),
            "data": found.data,
            "results_version": RESULTS_VERSION,
            "code": code,
            "tables": {name: kinds_of(table) for name, table in found.tables.items()},
            "page": {
                "command": command,
                "place": place,
                "facts": {**found.facts, **_signed(found.comparisons)},
                "answers": list(found.answers),
            },
        }
        unchanged = results.is_unchanged(manifest)
        if len(found.comparisons) and not (unchanged and (folder / COMPARISONS).is_file()):
            unchanged = False
            # Without a time in its header the file is the same whenever it is written.
            how = {"method": "gzip", "compresslevel": 1, "mtime": 1}
            with named_in_errors(results.gathered / COMPARISONS):
                found.comparisons.to_csv(results.gathered / COMPARISONS, index=False, compression=how)
        summary = publish_page(definition, results, manifest, context.clock.seconds, unchanged=unchanged)
    return Results(folder, found.tables, found.comparisons, summary, tuple(found.answers))


def study_cells(
    study: str | Path | Study,
    *,
    out: str | Path | None = None,
    seed: int | None = None,
    data_dir: str | Path | None = None,
    allow_outside: bool = False,
) -> pd.DataFrame:
    """The cells of a study, and how far an earlier run came with them; nothing is computed but what they are made of.

    The arguments, and what is raised for a study or data, are those of `run_study`. A row is a cell: the part of the
    study, the cell's label, its state (done, missing or failed) and its bytes on disk. Parts that follow from a part
    that is not done are not known yet.
    """
    definition, folder = asked_for(study, out, seed)
    cells = folder / CELLS
    keys = CellKeys(code_behind(definition))
    context = RunContext(cells, 1, data_dir, allow_outside, reads=cells, home=place_of(definition), keys=keys)
    return _known_cells(definition, context)


def run_shard(
    study: str | Path | Study,
    shard: tuple[int, int],
    *,
    out: str | Path | None = None,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    seed: int | None = None,
    data_dir: str | Path | None = None,
    allow_outside: bool = False,
) -> pd.DataFrame:
    """Compute shard k of n (k, n) of a study's cells into the folder of its results, and write nothing else there.

    Several processes, on several machines with one disk, each take another shard; then `run_study` finds all cells. A
    part of a study that follows from another one begins when all cells of that one are done: run the shards again.

    The other arguments, and what is raised for a study or data, are those of `run_study`. A ValueError is also raised
    for a shard that is none, and where a run, or the same shard, is at work in the folder already. The result is that
    of `study_cells`: the cells of all shards that are known now.
    """
    definition, folder = asked_for(study, out, seed)
    k, n = shard
    check_whole("shard k/n: n", n, 1)
    check_whole("shard k/n: k", k, 1, n + 1)
    with shown(), shard_folder(folder, f"study {definition.name}", shard) as cells:
        context = RunContext(
            cells, n_workers(n_jobs), data_dir, allow_outside, executor, cells, place_of(definition), shard=shard,
            keys=CellKeys(code_behind(definition)),
        )  # fmt: skip
        return _known_cells(definition, context)


def _known_cells(definition: Study, context: RunContext) -> pd.DataFrame:
    """The cells of a study in a context that lists them: of its parts up to the first that is not done."""
    columns = ["part", "cell", "state", "bytes"]
    context.listed = []
    with blaming_program(definition), suppress(Unfinished):
        found_by(definition, context)
    return pd.concat([pd.DataFrame(columns=columns), *context.listed], ignore_index=True)[columns]


def _signed(comparisons: pd.DataFrame) -> dict[str, list[str]]:
    if comparisons.empty:
        return {}
    found = signatures(comparisons)
    more = [f"… and {len(found) - _MOST_SIGNATURES:,} more"] if len(found) > _MOST_SIGNATURES else []
    return {"Signature": [*found[:_MOST_SIGNATURES], *more]}


def _command(
    study: Study, out: Path, seed: int | None, data_dir: str | Path | None, allow_outside: bool
) -> tuple[str, str]:
    """A command that makes the results again, and where it runs as it stands.

    That of a user's own study goes by paths from the folder of the results, whatever the machine.
    """
    options = [] if seed is None else ["--seed", str(seed)]
    if study.name in shipped_studies() and place_of(study) is None:
        return shlex.join(["simstudy", "run", study.name, *options]), ""
    home = place_of(study) or study.folder
    if home is None:
        return f"simstudy.run_study(study{'' if seed is None else f', seed={seed}'})", "in Python"
    if data := folder_at_hand(data_dir):
        options += ["--data-dir", _from(out, data)]
    options += ["--allow-outside"] * allow_outside
    return shlex.join(["simstudy", "run", _from(out, home), "--out", ".", *options]), "in this folder"


def _from(folder: Path, path: Path) -> str:
    """A path as it is from a folder."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
