"""What a reader is handed: the files of system outputs by the names of their systems, and how to read them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import abspath
from pathlib import Path
from typing import Any, TypeVar

from simstudy.files.packed import as_given, plain_name, unzipped_folder
from simstudy.metrics import Metric
from simstudy.notes import Argument, note
from simstudy.rankings.candidates import TIES
from simstudy.readers.text_files import require_file
from simstudy.text.numerals import counted
from simstudy.text.reprs import FieldsMixin, listed
from simstudy.validation import InputError, check_choice, check_flag, check_list, check_path, check_seed, check_text

T = TypeVar("T")

#: A path, or the name of a system and the path of its file.
Named = str | Path | tuple[str, str | Path]

#: Suffixes that say what is in a file; others may be part of a system's name ("gpt-4.1-mini").
_KNOWN_SUFFIX = re.compile(
    r"\.(txt|text|csv|tsv|parquet|json|jsonl|ndjson|conll|conllu|bio|iob|wa|talp|mrg|ptb|run|trec|out|hyp|pred)", re.I
)

# Files that say what a folder is.
_ABOUT = re.compile(r"(?:readme|licen[cs]e|copying|notice|changelog)(?:\.\w+)?", re.IGNORECASE)

#: What to do if some system lacks an item that others, or the references, have.
MISSING = ("error", "drop", "zero")


@dataclass(frozen=True)
class Texts(FieldsMixin):
    """How BLEU and chrF count in plain texts, as in sacrebleu.

    Attributes
    ----------
    tokenize
        The name of one of sacrebleu's tokenizers, such as "zh"; None: the metric's own.
    lowercase
        Whether texts are put into lower case first.

    Examples
    --------
    >>> import simstudy as ss
    >>> ss.Texts(tokenize="char", lowercase=True)  # for texts= of simstudy.load and simstudy.examine
    Texts(tokenize='char', lowercase=True)
    """

    tokenize: str | None = None
    lowercase: bool = False

    def __post_init__(self) -> None:
        check_text("tokenize", self.tokenize, "the name of a tokenizer", or_none=True)
        check_flag("lowercase", self.lowercase)


@dataclass(frozen=True)
class Ties(FieldsMixin):
    """How candidates with equal scores are ranked.

    Attributes
    ----------
    how
        "jitter": ties are broken at random. "keep": an n-best list has all candidates that tie with its last one.
    seed
        Seed of the jitter.

    Examples
    --------
    >>> import simstudy as ss
    >>> ss.Ties("keep")  # for ties= of simstudy.load and simstudy.examine
    Ties(how='keep')
    """

    how: str = "jitter"
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("ties", self.how, TIES)
        check_seed(self.seed)


@dataclass(frozen=True)
class Request:
    """Files of system outputs, in the order of the systems, and how to read them. Folders are opened already."""

    paths: tuple[Path, ...]
    metric: Metric
    references: tuple[Path, ...] = ()
    #: A table that describes the items.
    items: Path | None = None
    #: Our name of a column -> its name in the files.
    columns: Mapping[str, str] = field(default_factory=dict)
    missing: str = "error"
    texts: Texts = Texts()
    ties: Ties = Ties()
    #: The only domain of candidates that are ranked. Other items are cut after they are read.
    domain: str | None = None
    #: What stands between the sentences of a text and is no part of it.
    mark: str = ""
    #: What logs of one task may differ in (`simstudy.readers.logs.DIFFERENCES`).
    allow_different: tuple[str, ...] = ()
    #: File -> the name that the user gives to its system.
    names: Mapping[Path, str] = field(default_factory=dict)
    #: Whether no metric was given: accuracy if all scores are 0 or 1, else the mean.
    choose_metric: bool = False
    #: The metric as it was typed: a log may have one of this name, such as acc_norm, which is none of ours.
    asked: str = ""
    #: Whether ids that stand in lines of text are read ("auto") or are words like others ("none").
    ids: str = "auto"
    #: Whether texts of the items are kept beside the numbers, for people.
    keeps_texts: bool = False
    #: Columns of a table of scores that describe the items, if the table has them.
    item_columns: tuple[str, ...] = ()
    #: Columns of a wide table that are systems, whatever they are called: names in a table of systems.
    systems: tuple[str, ...] = ()
    #: Column of a table of scores -> its value in the rows that are read.
    where: Mapping[str, str] = field(default_factory=dict)
    #: Systems in tables of scores that are not read.
    leave_out: tuple[str, ...] = ()
    #: Whether scores are held in the fewest bytes that hold them exactly.
    narrow: bool = False

    def __post_init__(self) -> None:
        check_choice("missing", self.missing, MISSING)
        check_choice("ids", self.ids, ("auto", "none"))
        if self.missing == "zero" and self.metric.zero_is_best:
            raise InputError(
                "missing",
                f"must be 'error' or 'drop' for metric '{self.metric.name}'",
                "zero",
                "0 would be the best score for an item that a system lacks",
            )

    def named_files(self) -> dict[str, Path]:
        """The files by the names of their systems, for formats with a file for each system."""
        return system_files(self.paths, self.names)

    def gold_file(self, what: str, metrics: Sequence[str]) -> Path:
        """The one gold file of a format that takes these metrics only."""
        check_choice(f"metric of {what}", self.metric.name, metrics)
        if len(self.references) != 1:
            raise InputError("references", f"of {what} must be one gold file, not {len(self.references)}")
        return self.references[0]


def column(ours: str, in_files: str = "NAME") -> Argument:
    """The argument that names a column, for remedies: ``columns={'item': 'NAME'}``."""
    return Argument("columns", {ours: in_files})


# Paths that users give ----------------------------------------------------------------------------------------------
def name_and_path(argument: Path) -> tuple[str | None, Path]:
    """What ``name=path`` says on a command line; a path that exists as it stands has no name."""
    name, equals, path = str(argument).partition("=")
    if not equals or not path or not name.strip() or argument.exists():
        return None, argument
    return name.strip(), Path(path)


def named_paths(paths: Mapping[str, str | Path] | Named | Sequence[Named]) -> list[tuple[str | None, Path]]:
    """The paths that users give, each with the name that they give to its system, or None."""
    given: Any = [paths] if isinstance(paths, str | Path) else paths
    if isinstance(paths, Mapping):
        given = list(paths.items())
    check_list("paths", given, "paths, or one path")
    named: list[tuple[str | None, Path]] = []
    for argument in given:
        name, path = argument if isinstance(argument, tuple) and len(argument) == 2 else (None, argument)
        check_path("paths", path)
        check_text("paths", name, "named by text", or_none=True)
        if name is not None and (not name.strip() or "\n" in name or "\r" in name):
            raise InputError("paths", "must be named by one line of text", name)
        named.append((name, Path(path)))
    return named


def named_file(argument: str, path: str | Path) -> Path:
    """The path of a file that an argument names, such as `references`."""
    check_path(argument, path)
    _check_name(Path(path))
    require_file(Path(path))
    return Path(path)


def _check_name(path: Path) -> None:
    """Raise an InputError if the name of a file is not UTF-8: no terminal and no page can show it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise InputError(f"the name of a file is not UTF-8: {shown}", remedy="rename it") from None


def opened_files(paths: Sequence[tuple[str | None, Path]]) -> tuple[dict[Path, str | None], frozenset[Path]]:
    """The files with the names of their systems, and those of them that come from folders and zip files."""
    files: dict[Path, str | None] = {}
    places: set[str] = set()
    inside: set[Path] = set()
    for name, path in paths:
        opened = [path]
        if not path.is_dir():
            require_file(path)
        if path.is_dir() or path.suffix.lower() == ".zip":
            opened = _files_below(path if path.is_dir() else unzipped_folder(path), path)
            inside.update(opened)
        for file in opened:
            _check_name(file)
            if abspath(file) in places:
                raise InputError(f"{file} is given twice")
            places.add(abspath(file))
            files[file] = name
    return files, frozenset(inside)


def _files_below(folder: Path, given: Path) -> list[Path]:
    """The files of a folder and its subfolders, but no hidden ones, READMEs and licences. A note names the latter."""
    below = sorted(file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    files = [folder / file for file in below if not any(part.startswith(".") for part in file.parts)]
    outputs = [file for file in files if not _ABOUT.fullmatch(file.name)]
    if not outputs:
        raise InputError(f"{given} has no files of system outputs")
    if about := [str(file) for file in files if _ABOUT.fullmatch(file.name)]:
        note("files about others", files=counted(len(about), "file"), names=listed(about))
    return outputs


def without_others(
    files: Mapping[Path, T], inside: Collection[Path], others: Mapping[str, Sequence[Path]]
) -> dict[Path, T]:
    """The files without those of folders (`inside`) that another argument names: these are no systems' outputs.

    `others` has the files by the arguments that name them. A note says which are left out.
    """
    arguments = {path.resolve(): argument for argument, paths in others.items() for path in paths}
    kept = {}
    for file, value in files.items():
        if file in inside and file.resolve() in arguments:
            note("file of another argument", file=file, argument=arguments[file.resolve()])
        else:
            kept[file] = value
    return kept


def system_files(paths: Sequence[Path], given: Mapping[Path, str] | None = None) -> dict[str, Path]:
    """The files by the names of their systems: the given one, or the file's without its format's suffix.

    Such a suffix is well known (.txt, .conllu), or all files have it; one that begins with a digit is part of a name.
    Files of one name are called after the folders that differ, and a note says so.
    """
    given = given or {}
    suffixes = {Path(plain_name(path)).suffix for path in paths}
    names: dict[Path, str] = {}
    by_name: dict[str, list[Path]] = {}
    for path in paths:
        file = Path(plain_name(path))
        of_format = _KNOWN_SUFFIX.fullmatch(file.suffix) or len(suffixes) == 1
        names[path] = given.get(path) or (file.stem if of_format and not file.suffix[1:2].isdigit() else file.name)
        if path not in given:
            by_name.setdefault(names[path], []).append(path)
    for name, files in by_name.items():
        folders = _differing_folders(files)
        if len(files) > 1 and all(folders) and len(set(folders)) == len(files):
            names |= dict(zip(files, folders, strict=True))
            note("systems called after folders", n=len(files), name=name, folders=listed(folders))
    systems: dict[str, Path] = {}
    for path, name in names.items():
        if name in systems:
            remedy = "a system is one file" if path in given else "rename one of the files, or name the systems"
            raise InputError(f"{systems[name]} and {path} would both be system '{name}'", remedy=remedy)
        systems[name] = path
    return systems


def _differing_folders(paths: Sequence[Path]) -> list[str]:
    """The part of each file's folder that is left without what all have in common at its beginning and end."""
    folders = [Path(abspath(as_given(path))).parent.parts for path in paths]
    while all(folders) and len({parts[0] for parts in folders}) == 1:
        folders = [parts[1:] for parts in folders]
    while all(folders) and len({parts[-1] for parts in folders}) == 1:
        folders = [parts[:-1] for parts in folders]
    return ["/".join(parts) for parts in folders]
