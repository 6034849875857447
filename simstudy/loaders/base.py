"""What loaders take and give: files in; Outputs, and what there is to say about them, out."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from os.path import abspath
from pathlib import Path
from typing import ParamSpec

import pandas as pd

from simstudy.metrics import Metric
from simstudy.metrics.base import Array
from simstudy.notes import notes_kept
from simstudy.outputs import Outputs
from simstudy.showing import Shown
from simstudy.validation import brief, check_text, check_utf8

P = ParamSpec("P")

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
    mark
        What stands between the sentences of a text and is not part of it.

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
    mark: str = ""

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


def noting(read: Callable[P, Loaded]) -> Callable[P, Loaded]:
    """A loader that adds the notes that are said while it reads."""

    @wraps(read)
    def loaded(*args: P.args, **kwargs: P.kwargs) -> Loaded:
        with notes_kept() as notes:
            found = read(*args, **kwargs)
        return replace(found, notes=(*notes, *found.notes))

    return loaded


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


def gold_file(source: Source, what: str) -> Path:
    """The one file of references of a format that has one.

    Raises
    ------
    ValueError
        Where there are none, or more.
    """
    if len(source.references) != 1:
        raise ValueError(f"references of {what} must be one gold file, not {len(source.references)}")
    return source.references[0]


def check_columns(columns: object) -> None:
    """Raise a ValueError where this is neither None nor a mapping of our names of columns to those in the files."""
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise ValueError(f"columns must map our names of columns to those in the files, not {brief(columns)}")
    for ours, theirs in columns.items():
        for name in (ours, theirs):
            check_text("columns", name, "names of columns")


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
