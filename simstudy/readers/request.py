"""The request that every format is handed: files of system outputs in order, and how a user wants them read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simstudy.metrics import Metric
from simstudy.notes import Argument
from simstudy.rankings.candidates import TIES
from simstudy.readers.paths import system_files
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_choice, check_flag, check_seed, check_text

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


def column(ours: str, theirs: str = "NAME") -> Argument:
    """The argument that names a column, for remedies: ``columns={'item': 'NAME'}``."""
    return Argument("columns", {ours: theirs})
