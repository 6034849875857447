"""What loaders take and give: files in; Outputs, and what there is to say about them, out. Items meet by their ids."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import abspath
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.fingerprints import number_of
from simstudy.inputs import check_utf8
from simstudy.metrics import Metric
from simstudy.metrics.base import Array
from simstudy.outputs import Outputs
from simstudy.showing import Shown

#: What to do where some system lacks an item that others (or the references) have.
MISSING = ("error", "drop", "zero")

#: Suffixes that say what is in a file; others may be part of a system's name ("gpt-4.1-mini").
_KNOWN_SUFFIX = re.compile(
    r"\.(txt|text|csv|tsv|parquet|json|jsonl|conll|conllu|bio|iob|wa|talp|mrg|ptb|run|trec|out|hyp|pred)", re.I
)


@dataclass(frozen=True)
class Source:
    """Files of system outputs and how to read them: what every loader is handed.

    Attributes
    ----------
    paths
        Files, in the order of the systems; folders have been opened already.
    metric
        What the items are scored by.
    references
        Files of gold answers, for formats that need them.
    items
        A table (CSV or TSV) of the items: one row an item, in the order of the files' items. Columns ``domain``,
        ``cluster`` and whatever else the test set's items are known by; with a column ``id``, their ids.
    columns
        Our name -> the name of the column (or field) in the files, where they differ: ``{"score": "resolved"}``.
    missing
        "error", "drop" (items that not every system has) or "zero" (a system gets the score of saying nothing).
    tokenize
        A tokenizer of sacrebleu; None for the metric's own.
    lowercase
        Whether texts are lower-cased first.
    ties, seed
        What becomes of candidates with equal scores, as for `simstudy.Candidates`.
    domain
        The only domain of candidates that are to be ranked. Other items can be cut when they are loaded.

    Raises
    ------
    ValueError
        Where one file is given twice, and for missing="zero" with a mean of which lower is better.
    """

    paths: tuple[Path, ...]
    metric: Metric
    references: tuple[Path, ...] = ()
    items: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    missing: str = "error"
    tokenize: str | None = None
    lowercase: bool = False
    ties: str = "jitter"
    seed: int = 0
    domain: str | None = None

    def __post_init__(self) -> None:
        _check_once(self.paths)
        if self.missing == "zero" and self.metric.item_range and not self.metric.higher_is_better:
            raise ValueError(
                f"missing must be 'error' or 'drop' for metric '{self.metric.name}', not 'zero': 0 would be the best "
                "score for an item that a system lacks"
            )


@dataclass(frozen=True)
class SystemOutputs:
    """One system's statistics, as a loader found them.

    Attributes
    ----------
    name
        The system.
    origin
        The file, for messages.
    ids
        Of its n items, each once.
    statistics
        (n, S) of the source's metric.
    answers
        What the system said about each item, as text or tuples of it: two systems are duplicates where these are
        equal. None where the files have scores only.
    """

    name: str
    origin: str
    ids: Sequence[str]
    statistics: Array
    answers: Sequence[Hashable] | None = None


@dataclass(frozen=True, repr=False)
class Loaded(Shown):
    """What a loader gives.

    Attributes
    ----------
    outputs
        The systems' Outputs, in the order of the files.
    notes
        What a user should know: items dropped, line ends converted.
    scored_by
        What the files call numbers that they have as scores: columns, fields, files. Empty where items were scored
        against gold answers.
    """

    outputs: Outputs
    notes: tuple[str, ...] = ()
    scored_by: tuple[str, ...] = ()

    def _summary(self) -> tuple[str, str]:
        return f"Loaded: {self.outputs._summary()[0]}", f"notes: {'; '.join(self.notes) or 'none'}"

    def _table(self) -> pd.DataFrame:
        return self.outputs._table()


def system_names(paths: Sequence[Path]) -> list[str]:
    """A name for the system of each file: the file's own, without .gz and without a suffix that says what is in it.

    Such a suffix is well known (.txt, .conllu), or all files have it; one that begins with a digit is part of a name.

    Raises
    ------
    ValueError
        Where one file is given twice, or two files give one name.

    Examples
    --------
    >>> system_names([Path("sys/GPT-4.de"), Path("sys/Claude-3.5.de")])
    ['GPT-4', 'Claude-3.5']
    >>> system_names([Path("claude-3.5-sonnet"), Path("gpt-4.1-mini"), Path("baseline.txt.gz")])
    ['claude-3.5-sonnet', 'gpt-4.1-mini', 'baseline']
    """
    _check_once(paths)
    check_utf8(map(str, paths), "files")
    files = [Path(path.stem if path.suffix.lower() == ".gz" else path.name) for path in paths]
    shared = {file.suffix for file in files}
    names: list[str] = []
    for file, path in zip(files, paths, strict=True):
        says_what = _KNOWN_SUFFIX.fullmatch(file.suffix) or len(shared) == 1
        name = file.stem if says_what and not file.suffix[1:2].isdigit() else file.name
        if name in names:
            first = paths[names.index(name)]
            raise ValueError(f"{first} and {path} would both be system '{name}': rename one of the files")
        names.append(name)
    return names


def counted(n: int, noun: str) -> str:
    """A number of things, for messages.

    Examples
    --------
    >>> counted(1, "line"), counted(1200, "line")
    ('1 line', '1,200 lines')
    """
    return f"{n:,} {noun}" + "s" * (n != 1)


def _check_once(paths: Sequence[Path]) -> None:
    known = set()
    for path in paths:
        if abspath(path) in known:
            raise ValueError(f"{path} is given twice")
        known.add(abspath(path))


def assemble(
    systems: Sequence[SystemOutputs],
    source: Source,
    *,
    expected: Sequence[str] | None = None,
    nothing: Callable[[str], Array] | None = None,
    items: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> Loaded:
    """Outputs of systems whose items are matched by id.

    Parameters
    ----------
    systems
        At least one; names differ.
    source
        Says the metric, and what to do about missing items.
    expected
        Ids of the references' items, in their order. By default every item that any system has, in the order in
        which they appear.
    nothing
        The (S,) statistics that a system gets for the item of this id where it said nothing, for missing="zero".
    items
        A row for each item, with a column ``id``; more rows than items that are used do no harm.
    notes
        What the loader has to say already.

    Raises
    ------
    ValueError
        Where ids occur twice, systems have the same name, and, for missing="error", where items are missing or
        unexpected: every file is named with its counts and the first such item.

    Examples
    --------
    >>> from simstudy.metrics import get_metric
    >>> a = SystemOutputs("a", "a.csv", ["x", "y"], np.array([[1, 1], [0, 1]]))
    >>> b = SystemOutputs("b", "b.csv", ["y"], np.array([[1, 1]]))
    >>> source = Source((), get_metric("accuracy"), missing="drop")
    >>> loaded = assemble([a, b], source)
    >>> loaded.outputs.items["id"].tolist(), loaded.notes
    (['y'], ("1 of 2 items dropped that not every system has: 'x'",))
    """
    if not systems:
        raise ValueError("no system: at least one file of outputs is needed")
    _check_names(systems)
    rows = _positions(systems)
    for system, positions in zip(systems, rows, strict=True):
        if len(positions) < len(system.ids):
            ids = pd.Series(list(system.ids))
            raise ValueError(f"{system.origin}: item '{ids[ids.duplicated()].iloc[0]}' occurs twice")
    wanted = list(dict.fromkeys(expected if expected is not None else (i for s in systems for i in s.ids)))
    kept, told = _matched(systems, rows, wanted, source.missing)
    if not kept:
        raise ValueError("no item is left that every system has; look at the ids, or say missing='zero'")
    width = len(source.metric.statistics)
    floats = any(system.statistics.dtype.kind == "f" for system in systems)
    statistics = np.zeros((len(systems), len(kept), width), dtype=np.float64 if floats else np.int64)
    numbers: dict[Hashable, int] = {}
    known = all(system.answers is not None for system in systems)
    answers = np.full((len(systems), len(kept)), -1, dtype=np.int64) if known else None
    for k, (system, positions) in enumerate(zip(systems, rows, strict=True)):
        if k == 0 or positions is not rows[k - 1]:
            there = [i for i, item in enumerate(kept) if item in positions]
            own = [positions[kept[i]] for i in there]
        if len(there) < len(kept):
            if nothing is None:
                raise ValueError(f"missing='zero' is not defined for this format; {system.origin} lacks items")
            for i, item in enumerate(kept):
                if item not in positions:
                    statistics[k, i] = nothing(item)
        statistics[k, there] = system.statistics[own]
        if answers is not None and system.answers is not None:
            for answer in system.answers:
                if answer not in numbers:
                    numbers[answer] = number_of(answer)
            answers[k, there] = [numbers[system.answers[i]] for i in own]
    outputs = Outputs.from_statistics(
        statistics, source.metric, [system.name for system in systems], _item_table(kept, items), answers=answers
    )
    return Loaded(outputs, (*notes, *told))


def _positions(systems: Sequence[SystemOutputs]) -> list[Mapping[str, int]]:
    """Where each system has each item: one mapping for systems beside each other that have the same items."""
    rows: list[Mapping[str, int]] = []
    for k, system in enumerate(systems):
        same = k > 0 and list(system.ids) == list(systems[k - 1].ids)
        rows.append(rows[-1] if same else {item: i for i, item in enumerate(system.ids)})
    return rows


def _check_names(systems: Sequence[SystemOutputs]) -> None:
    first: dict[str, SystemOutputs] = {}
    for system in systems:
        if system.name in first:
            raise ValueError(f"system '{system.name}' is in {first[system.name].origin} and again in {system.origin}")
        first[system.name] = system


def _matched(
    systems: Sequence[SystemOutputs], rows: Sequence[Mapping[str, int]], wanted: list[str], missing: str
) -> tuple[list[str], list[str]]:
    """The items to use, and notes on those that are not used or made up."""
    known = set(wanted)
    problems, extras = [], []
    for system, positions in zip(systems, rows, strict=True):
        lacking = [item for item in wanted if item not in positions]
        extra = [item for item in system.ids if item not in known]
        if lacking:
            of = counted(len(wanted), "item")
            problems.append(
                f"{system.origin} lacks {len(lacking)} of {of}, first '{lacking[0]}' (system '{system.name}')"
            )
        if extra:
            extras.append(f"{system.origin} has {len(extra)} that the references lack, first '{extra[0]}'")
    if missing == "error" and (problems or extras):
        differences = [*problems, *extras]
        more = f", and {counted(len(differences) - 3, 'more file')}" if len(differences) > 3 else ""
        raise ValueError(
            f"items differ: {'; '.join(differences[:3])}{more}; --missing drop leaves such items out, "
            "--missing zero scores a missing one as no answer"
        )
    left_out = [f"left out: {extra}" for extra in extras]
    if missing == "zero" or not problems:
        return wanted, [*(f"scored as no answer: {problem}" for problem in problems), *left_out]
    kept = [item for item in wanted if all(item in positions for positions in rows)]
    everywhere = set(kept)
    dropped = [item for item in wanted if item not in everywhere]
    told = f"{len(dropped)} of {len(wanted)} items dropped that not every system has: '{dropped[0]}'" if dropped else ""
    return kept, [told + (" …" if len(dropped) > 1 else "")] * bool(told) + left_out


def _item_table(kept: Sequence[str], items: pd.DataFrame | None) -> pd.DataFrame:
    if items is None:
        return pd.DataFrame({"id": list(kept)})
    return items.set_index("id").loc[list(kept)].reset_index()
