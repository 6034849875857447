"""Formats of system outputs: what one is, all that are installed, and which one files are of.

A format is a plug-in: an entry point of the group ``simstudy.formats`` whose object is a `Format`. The formats of
simstudy are loaded in the same way; docs/formats.md shows a package of thirty lines that adds one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from simstudy.files.packed import plain_name
from simstudy.metrics import Metric
from simstudy.metrics.of_samples import of_samples
from simstudy.notes import Argument, Words, note
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.text.numerals import counted
from simstudy.validation import InputError, check_choice

#: The group of entry points.
GROUP = "simstudy.formats"

# The formats that come with simstudy: name -> module of this room. A table, because a source tree that is imported
# without being installed has no entry points.
_SHIPPED = {
    "text": "text_lines",
    "scores": "scores",
    "conll": "conll",
    "conllu": "conllu",
    "trees": "trees",
    "alignments": "alignments",
    "trec": "trec",
    "candidates": "candidates",
    "segments": "segment_scores",
    "arena": "arena",
    "lm-eval": "lm_eval",
    "inspect": "inspect_logs",
    "helm": "helm",
    "swe-bench": "swe_bench",
}


@dataclass(frozen=True)
class Format:
    """A format of system outputs.

    Attributes
    ----------
    name
        What `--format` calls it.
    what
        What messages call its files: "TREC runs".
    read
        Reads all files of a request into one long table.
    files
        Patterns of names of files: a file of such a name is of this format, if `holds` accepts it. If the names of a
        format say nothing, it has none, and is known by its metrics.
    holds
        Whether a file is of this format, by its content; None: by its name alone.
    metrics
        Metrics that only this format has: files whose names say nothing are of this format then, and a format with
        `holds` has files for these metrics only. "@" stands for precision@n and the like.
    columns
        Our names of columns that only this format has: a user who gives one of them in `columns` has such files.
    scored
        Whether the files have scores already, so that nothing is compared with references.
    is_log
        Whether an evaluation harness writes it: logs may lie in folders of folders, beside other files. Its first
        pattern is then a name that only its logs have.
    beside
        Patterns of the harness's other files, of which no note tells.
    """

    name: str
    what: str
    read: Callable[[Request], LongTable]
    files: tuple[str, ...] = ()
    holds: Callable[[Path], bool] | None = None
    metrics: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    scored: bool = False
    is_log: bool = False
    beside: tuple[str, ...] = ()


@cache
def formats() -> dict[str, Format]:
    """All formats by their names: those of simstudy first, and then those of other packages."""
    shipped = [EntryPoint(name, f"simstudy.readers.{module}:FORMAT", GROUP) for name, module in _SHIPPED.items()]
    loaded: dict[str, Format] = {}
    for entry in [*shipped, *entry_points(group=GROUP)]:
        origin = f"of package {entry.dist.name} " if entry.dist else ""
        try:
            found = entry.load()
        except Exception as error:
            # A package of somebody else may fail in any way.
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"format '{entry.name}' {origin}cannot be loaded: {reason}") from error
        if not isinstance(found, Format) or found.name != entry.name:
            raise InputError(f"entry point '{entry.name}' {origin}must be a Format of this name", found)
        if found.name in loaded:
            raise InputError(f"format '{entry.name}' {origin}has the name of another format")
        loaded[found.name] = found
    return loaded


def is_log(file: Path) -> bool:
    """Whether a file has a name that only an evaluation harness gives, and its content."""
    return any(
        known.is_log and _matches(file, known.files[:1]) and (known.holds is None or known.holds(file))
        for known in formats().values()
    )


def format_of(request: Request, name: str | None, inside: Collection[Path]) -> tuple[Format, tuple[Path, ...]]:
    """The format of the files of a request, and the files that are read.

    The format is the one called `name`; else the one that the content of files says, or their names, or the metric;
    else plain text. Files of two formats are an InputError. But other files of folders (`inside`) are left out with a
    note, if the format is named or they lie beside logs of a harness. Of the harness's own files no note tells.
    """
    known = formats()
    if name is not None:
        check_choice("format", name, known)
    if not request.paths:
        raise InputError("paths", "must name at least one file of system outputs")
    key = metric_key(request.metric)
    default = known[name or next((other for other in known if key in known[other].metrics), "text")]
    suiting = {file: _formats_of_file(file, request) or [default] for file in request.paths}
    if name is not None:
        chosen = default
        others = [file for file in suiting if chosen not in suiting[file] and file in inside]
        if len(others) == len(suiting):
            others = []
    else:
        found = {file: _only(file, suiting[file]) for file in suiting}
        chosen = next((log for log in found.values() if log.is_log), found[request.paths[0]])
        others = [file for file in found if found[file] is not chosen]
        if chosen.is_log:
            # A damaged file that has the name of a log is left to the reader, which says so.
            others = [file for file in others if not _matches(file, chosen.files[:1])]
        for file in others:
            if not chosen.is_log or found[file].is_log or file not in inside:
                first = next(first for first in found if found[first] is chosen)
                rule = f"files of two formats: {first} ({chosen.name}) and {file} ({found[file].name})"
                remedy = Words("give files of one format, or say by {format} what they are", format=Argument("format"))
                raise InputError(rule, remedy=remedy)
    if left := [file for file in others if not _matches(file, chosen.beside)]:
        etc = " …" if len(left) > 1 else ""
        note("files of other formats", files=counted(len(left), "file"), what=chosen.what, first=left[0], etc=etc)
    not_read = set(others)
    return chosen, tuple(file for file in request.paths if file not in not_read)


def _only(file: Path, suiting: list[Format]) -> Format:
    """The one format that a file is of; an InputError if there are several."""
    if len(suiting) > 1:
        first, second = (Argument("format", known.name) for known in suiting[:2])
        remedy = Words("{first} or {second} says which", first=first, second=second)
        raise InputError(f"{file} may be of format {suiting[0].name} or {suiting[1].name}", remedy=remedy)
    return suiting[0]


def _formats_of_file(file: Path, request: Request) -> list[Format]:
    """The formats that a file's content suits, else the metric of the request, else the file's name."""
    every, key = formats().values(), metric_key(request.metric)
    named = [known for known in every if _matches(file, known.files)]
    by_content = [
        known
        for known in named
        if known.holds is not None
        and (key in known.metrics or not known.metrics)
        and (set(known.columns) & set(request.columns) or known.holds(file))
    ]
    by_name = [known for known in named if known.holds is None]
    # If two formats share a metric, one has scores in its files and the other compares them with references.
    by_metric = [
        known
        for known in every
        if key in known.metrics and known.scored == (not request.references) and (known in by_name or not known.files)
    ]
    # A table of scores is of another format by its metric only.
    return by_content or by_metric or [known for known in by_name if not known.metrics] or by_name


def metric_key(metric: Metric) -> str:
    """What `Format.metrics` calls a metric: its name, or "@" for precision@n and the like."""
    return "@" if "@" in metric.name and not of_samples(metric.name) else metric.name


def _matches(file: Path, patterns: Collection[str]) -> bool:
    name = plain_name(file).lower()
    return any(fnmatch(name, pattern) for pattern in patterns)
