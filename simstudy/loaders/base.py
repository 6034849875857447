"""What loaders take and give: files in; Outputs, and what there is to say about them, out."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from os.path import abspath
from pathlib import Path
from typing import ParamSpec, Self, TypeVar

import pandas as pd

from simstudy.files.unpacking import plain_name
from simstudy.loaders.naming import folders_that_differ
from simstudy.loaders.usual_names import check_columns
from simstudy.metrics import Metric
from simstudy.metrics.direction import sounds_like_error
from simstudy.metrics.mean import MEAN
from simstudy.notes import note, notes_kept
from simstudy.outputs import Outputs
from simstudy.outputs.texts import ItemTexts
from simstudy.rankings.candidates import TIES
from simstudy.text.reprs import FieldsMixin, ReprMixin, listed
from simstudy.validation import InputError, check_choice, check_flag, check_seed, check_text, check_utf8

P = ParamSpec("P")
T = TypeVar("T", bound="Noted")

#: What to do where some system lacks an item that others (or the references) have.
MISSING = ("error", "drop", "zero")

#: Suffixes that say what is in a file; others may be part of a system's name ("gpt-4.1-mini").
_KNOWN_SUFFIX = re.compile(
    r"\.(txt|text|csv|tsv|parquet|json|jsonl|ndjson|conll|conllu|bio|iob|wa|talp|mrg|ptb|run|trec|out|hyp|pred)", re.I
)


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
        "jitter": broken at random. "keep": an n-best list has all that tie with its last.
    seed
        Of the jitter.

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
class Source:
    """Files of system outputs, in the order of the systems, and how to read them: what every loader is handed.

    Folders among the paths have been opened already. All else is as for `simstudy.load`.
    """

    paths: tuple[Path, ...]
    metric: Metric
    references: tuple[Path, ...] = ()
    items: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    missing: str = "error"
    texts: Texts = Texts()
    ties: Ties = Ties()
    #: The only domain of candidates that are to be ranked. Other items can be cut when they are loaded.
    domain: str | None = None
    #: What stands between the sentences of a text and is not part of it.
    mark: str = ""
    #: What logs of one task may differ in (`simstudy.loaders.mixtures.DIFFERENCES`).
    allow_different: tuple[str, ...] = ()
    #: File -> the name that its system is given; others have the names that the files tell.
    names: Mapping[Path, str] = field(default_factory=dict)
    #: The metric as it was typed: a log may have one of this name, such as acc, or acc_norm, which is none of ours.
    asked: str = ""
    #: Whether texts of the items are kept beside the numbers, for people.
    keeps_texts: bool = False
    #: Columns of a table of scores that describe the items, if the table has them: other arguments name them.
    item_columns: tuple[str, ...] = ()
    #: Whether tables are held in the fewest bytes that hold them exactly.
    narrow: bool = False

    def __post_init__(self) -> None:
        known = set()
        for path in self.paths:
            if abspath(path) in known:
                raise InputError(f"{path} is given twice")
            known.add(abspath(path))
        check_columns(self.columns, self.metric)
        if self.missing == "zero" and self.metric.zero_is_best:
            raise InputError(
                f"missing must be 'error' or 'drop' for metric '{self.metric.name}', not 'zero': 0 would be the best "
                "score for an item that a system lacks"
            )

    def systems(self) -> dict[str, Path]:
        """The files by the names of their systems, for formats with a file for each system."""
        return system_files(self.paths, self.names)

    def gold(self, what: str, metrics: Sequence[str]) -> Path:
        """The gold file of a format that has one and takes these metrics."""
        check_choice(f"metric of {what}", self.metric.name, metrics)
        if len(self.references) != 1:
            raise InputError(f"references of {what} must be one gold file, not {len(self.references)}")
        return self.references[0]


@dataclass(frozen=True, repr=False)
class Noted(ReprMixin):
    """What was read from files, with notes: what a user should know, such as items dropped, line ends converted."""

    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def _summary(self) -> tuple[str, str]:
        return f"{type(self).__name__}: {self._what()}", f"notes: {'; '.join(self.notes) or 'none'}"

    @abstractmethod
    def _what(self) -> str:
        """What it is that was read, in a few words."""


@dataclass(frozen=True, repr=False)
class Loaded(Noted):
    """What a loader gives, with `notes` on it.

    Attributes
    ----------
    outputs
        The systems' Outputs, in the order of the files.
    scored_by
        What the files call numbers that they have as scores: columns, fields, files. Empty where items were scored
        against gold answers.
    texts
        What the items ask and what the systems answered, for people; None where files have scores only.
    """

    outputs: Outputs
    scored_by: tuple[str, ...] = ()
    texts: ItemTexts | None = None

    def named(self, *, test_set: str = "", task: str = "") -> Self:
        """The same with names that appear in every table."""
        check_text("test_set", test_set)
        check_text("task", task)
        return replace(self, outputs=replace(self.outputs, task=task, test_set=test_set))

    def _what(self) -> str:
        return self.outputs._summary()[0]

    def _table(self) -> pd.DataFrame:
        return self.outputs._table()


def noting(read: Callable[P, T]) -> Callable[P, T]:
    """A loader that adds the notes that are said while it reads."""

    @wraps(read)
    def loaded(*args: P.args, **kwargs: P.kwargs) -> T:
        with notes_kept() as notes:
            found = read(*args, **kwargs)
        return replace(found, notes=(*found.notes, *notes))

    return loaded


def system_files(paths: Sequence[Path], given: Mapping[Path, str] | None = None) -> dict[str, Path]:
    """The files by the names of their systems: the given one, or the file's without its format's suffix.

    Such a suffix is well known (.txt, .conllu), or all files have it; one that begins with a digit is part of a name.
    Files of one name are called after the folders that differ, and a note says so.
    """
    given = given or {}
    check_utf8(map(str, paths), "files")
    files = [Path(plain_name(path)) for path in paths]
    shared = {file.suffix for file in files}
    names: dict[Path, str] = {}
    called: dict[str, list[Path]] = {}
    for file, path in zip(files, paths, strict=True):
        says_what = _KNOWN_SUFFIX.fullmatch(file.suffix) or len(shared) == 1
        names[path] = given.get(path) or (file.stem if says_what and not file.suffix[1:2].isdigit() else file.name)
        if path not in given:
            called.setdefault(names[path], []).append(path)
    for name, same in called.items():
        if len(same) > 1 and (folders := folders_that_differ(same)):
            names |= dict(zip(same, folders, strict=True))
            note(
                "text",
                text=(
                    f"{len(same)} files are called '{name}': the systems have the names of their folders, "
                    f"{listed(folders)}"
                ),
            )
    named: dict[str, Path] = {}
    for path, name in names.items():
        if name in named:
            hint = "a system is one file" if path in given else "rename one of the files, or name the systems"
            raise InputError(f"{named[name]} and {path} would both be system '{name}': {hint}")
        named[name] = path
    return named


def all_errors(names: Iterable[str]) -> tuple[str, ...]:
    """Names that all sound like errors, else none: one system of many may be called after its loss."""
    listed = tuple(names)
    return listed if all(map(sounds_like_error, listed)) else ()


def doubt(loaded: Loaded) -> str:
    """Why lower may be better of these scores, although higher is taken to be so; empty where nothing suggests it."""
    metric = loaded.outputs.metric
    suspects = [name for name in (*loaded.scored_by, metric.name) if sounds_like_error(name)]
    if not suspects or not metric.higher_is_better:
        return ""
    means = "" if metric.name == MEAN else f" with metric='{MEAN}'"
    return (
        f"say lower_is_better=True{means} if lower is better, or lower_is_better=False if higher is better. "
        f"Scores are called '{suspects[0]}', but higher numbers win by default."
    )


def note_doubt(loaded: Loaded, lower_is_better: bool | None) -> None:
    """Note that lower may be better, where the caller did not say and the names of the scores suggest it."""
    if lower_is_better is None and (said := doubt(loaded)):
        note("text", text=said)
