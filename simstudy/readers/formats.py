"""Formats of system outputs: what one is, all that are installed, and which one files are of.

A format is a plug-in: an entry point of the group ``simstudy.formats`` whose object is a `Format`. The formats of
simstudy are loaded in the same way; docs/formats.md shows a package of thirty lines that adds one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from simstudy.files.packed import plain_name
from simstudy.metrics import Metric
from simstudy.metrics.ranking import KINDS, ranking_measure
from simstudy.notes import Argument, Words, note
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.running.plug_ins import load_plug_in, usable_entries
from simstudy.text.numerals import counted
from simstudy.validation import InputError, check_choice

#: The group of entry points.
GROUP = "simstudy.formats"

# The formats that come with simstudy: name -> module and object of this room. A table, because a source tree that is
# imported without being installed has no entry points.
_SHIPPED = {
    "text": "text_lines:FORMAT",
    "scores": "scores:FORMAT",
    "conll": "conll:FORMAT",
    "conllu": "conllu:FORMAT",
    "trees": "trees:FORMAT",
    "alignments": "alignments:FORMAT",
    "trec": "trec:FORMAT",
    "trec-eval": "trec:VALUES",
    "candidates": "candidates:FORMAT",
    "segments": "segment_scores:FORMAT",
    "arena": "arena:FORMAT",
    "lm-eval": "lm_eval:FORMAT",
    "inspect": "inspect_logs:FORMAT",
    "helm": "helm:FORMAT",
    "swe-bench": "swe_bench:FORMAT",
    "promptfoo": "promptfoo:FORMAT",
}


# Names of files that are no outputs of systems: figures, pages, programs, and what these log and save.
_NO_OUTPUTS = re.compile(
    r".+\.(png|jpe?g|gif|svg|pdf|html|md|tex|log|err|ipynb|py|sh|ya?ml|toml|pt|pkl|np[yz])", re.IGNORECASE
)


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
        Metrics that only this format has: files whose names say nothing are of this format then. A kind of ranking
        measures, "ndcg" or "precision@n", stands for all of them.
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
    shipped = [EntryPoint(name, f"simstudy.readers.{value}", GROUP) for name, value in _SHIPPED.items()]
    entries = usable_entries([*shipped, *entry_points(group=GROUP)], lambda name: False)
    return {name: load_plug_in(entry, Format) for name, entry in entries.items()}


def format_of(request: Request, name: str | None, inside: Collection[Path]) -> tuple[Format, tuple[Path, ...]]:
    """The format of the files of a request, and the files that are read.

    The format is the one called `name`, else that of the files. Files of two formats are an InputError. But other files
    of folders (`inside`) are left out with a note, if the format is named, they lie beside logs of a harness, or their
    endings are of no format. No note tells of the harness's own files.
    """
    if name is not None:
        check_choice("format", name, formats())
    if not request.paths:
        raise InputError("paths", "must name at least one file or folder of system outputs")
    named = None if name is None else formats()[name]
    default = named or next(iter(_formats_with(request.metric)), formats()["text"])
    outputs = [file for file in request.paths if file not in inside or not _is_of_no_format(file)] or request.paths
    by_file: dict[Path, Format] = {}
    for file in outputs:
        suiting = _suiting_formats(file, request) or [default]
        if named is not None and (named in suiting or file not in inside):
            suiting = [named]
        if len(suiting) > 1 and named is None:
            first, second = (Argument("format", format.name) for format in suiting[:2])
            remedy = Words("{first} or {second} says which", first=first, second=second)
            raise InputError(f"{file} may be of format {first.value} or {second.value}", remedy=remedy)
        by_file[file] = suiting[0]
    first_file = next((file for file, format in by_file.items() if format.is_log), outputs[0])
    chosen = named or by_file[first_file]
    others = [file for file, format in by_file.items() if format is not chosen]
    if chosen.is_log:
        # A damaged file that has the name of a log is left to the reader, which says so.
        others = [file for file in others if not _matches(file, chosen.files[:1])]
    for file in others if named is None else ():
        if not chosen.is_log or by_file[file].is_log or file not in inside:
            rule = f"files of two formats: {first_file} ({chosen.name}) and {file} ({by_file[file].name})"
            remedy = Words("give files of one format, or say by {format} what they are", format=Argument("format"))
            raise InputError(rule, remedy=remedy)
    if len(others) == len(by_file):
        others = []
    others += [file for file in request.paths if file not in by_file]
    if left := [file for file in others if not _matches(file, chosen.beside)]:
        etc = " …" if len(left) > 1 else ""
        note("files of other formats", files=counted(len(left), "file"), what=chosen.what, first=left[0], etc=etc)
    not_read = {*others}
    return chosen, tuple(file for file in request.paths if file not in not_read)


def _suiting_formats(file: Path, request: Request) -> list[Format]:
    """The formats that a file is of by its content, else by the metric, else by its name; none if these say nothing."""
    named = [format for format in formats().values() if _matches(file, format.files)]
    by_content = [
        format
        for format in named
        if format.holds is not None and ({*format.columns} & {*request.columns} or format.holds(file))
    ]
    by_name = [format for format in named if format.holds is None]
    # If two formats share a metric, one has scores in its files and the other compares them with references.
    by_metric = [
        format
        for format in _formats_with(request.metric)
        if format.scored == (not request.references) and (format in by_name or not format.files)
    ]
    # A table of scores is of another format by its metric only.
    return by_content or by_metric or [format for format in by_name if not format.metrics] or by_name


def _is_of_no_format(file: Path) -> bool:
    """Whether a file is no output of a system, by its ending; not if a format has such names or such content."""
    return _NO_OUTPUTS.fullmatch(plain_name(file)) is not None and not any(
        _matches(file, format.files) and (format.holds is None or format.holds(file)) for format in formats().values()
    )


def _formats_with(metric: Metric) -> list[Format]:
    """The formats that have a metric which not all have."""
    return [format for format in formats().values() if metric_key(metric) in format.metrics]


def metric_key(metric: Metric) -> str:
    """What `Format.metrics` calls a metric: its name, or the kind of a ranking measure ("ndcg" for "ndcg@10")."""
    measure = ranking_measure(metric.name)
    return metric.name if measure is None else next(kind for kind in KINDS if kind.partition("@")[0] == measure.kind)


def _matches(file: Path, patterns: Collection[str]) -> bool:
    name = plain_name(file).lower()
    return any(fnmatch(name, pattern) for pattern in patterns)
