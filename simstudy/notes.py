"""Words for people that name arguments, and notes: objects with fields, worded by whoever shows them.

A `Words` reads as text in which arguments stand as Python writes them. The command words the same object with its
options (`Words.said`). So no code reads a sentence.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

_heard: ContextVar[list[Note] | None] = ContextVar("heard", default=None)

# Files whose lines a warning does not name: those of the package, and of context managers between them.
_INSIDE = (f"{Path(__file__).parent}{os.sep}", contextlib.__file__)

#: Stands for a value where none is given; None may be a value.
UNSAID: Any = type("Unsaid", (), {"__repr__": lambda self: "UNSAID", "__reduce__": lambda self: "UNSAID"})()


@dataclass(frozen=True)
class Argument:
    """An argument of the library, with a value or without, as messages name it.

    Examples
    --------
    >>> print(Argument("missing", "drop"), Argument("columns", {"item": "NAME"}), Argument("Costs.budget"))
    missing='drop' columns={'item': 'NAME'} Costs.budget
    """

    name: str
    value: Any = UNSAID

    def __str__(self) -> str:
        return self.name if self.value is UNSAID else f"{self.name}={self.value!r}"


class Words(str):
    """Text in which arguments stand: a template with fields, as `str.format` fills them.

    Examples
    --------
    >>> words = Words("{drop} leaves item '{item}' out", drop=Argument("missing", "drop"), item="q1")
    >>> print(words)
    missing='drop' leaves item 'q1' out
    >>> words.said(lambda argument: f"--{argument.name} {argument.value}")
    "--missing drop leaves item 'q1' out"
    """

    template: str
    fields: Mapping[str, Any]

    def __new__(cls, template: str, /, **fields: Any) -> Self:
        """Fill the template with the fields; arguments and words in them are worded as Python writes them."""
        words = super().__new__(cls, template.format(**fields))
        words.template, words.fields = template, fields
        return words

    def __reduce__(self) -> tuple[Any, ...]:
        return _words_again, (self.template, dict(self.fields))

    def said(self, wording: Callable[[Argument], str]) -> str:
        """The text with each argument as `wording` has it."""
        return self.template.format(**{name: said(value, wording) for name, value in self.fields.items()})


def _words_again(template: str, fields: Mapping[str, Any]) -> Words:
    return Words(template, **fields)


def said(value: Any, wording: Callable[[Argument], str]) -> Any:
    """A field of words with each argument in it as `wording` has it; any other value as it is."""
    if isinstance(value, Argument):
        return wording(value)
    # Words, or an InputError.
    return value.said(wording) if hasattr(value, "said") else value


class Note(Words):
    """Message to a user about what was read or computed, and no error: its kind, and fields by their names.

    Examples
    --------
    >>> one = Note("items dropped", {"n": 1, "all": 10, "first": "q7", "etc": ""})
    >>> one.kind, one.fields["n"]
    ('items dropped', 1)
    """

    kind: str

    def __new__(cls, kind: str, fields: Mapping[str, Any]) -> Self:
        """Word the fields by the kind's template."""
        words = super().__new__(cls, TEMPLATES[kind], **fields)
        words.kind = kind
        return words

    def __reduce__(self) -> tuple[Any, ...]:
        return Note, (self.kind, dict(self.fields))

    def worded(self, wording: Callable[[Argument], str]) -> Note:
        """The note whose fields have each argument as `wording` has it."""
        return Note(self.kind, {name: said(value, wording) for name, value in self.fields.items()})


def kind_of(note: str) -> str:
    """The kind of a note; "text" for text that is no `Note`."""
    return note.kind if isinstance(note, Note) else "text"


def note(kind: str, **fields: Any) -> None:
    """Tell a user something that is no error. Outside of `notes_kept` it becomes a warning."""
    told = Note(kind, fields)
    heard = _heard.get()
    if heard is None:
        warnings.warn(str(told), stacklevel=_stacklevel_of_caller())
    else:
        heard.append(told)


def _stacklevel_of_caller() -> int:
    """The stack level, counted from the calling function, of the first line outside the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    return level


def tell(told: Note) -> None:
    """Tell a note again that was kept before."""
    note(told.kind, **told.fields)


@contextlib.contextmanager
def notes_kept() -> Iterator[list[Note]]:
    """Within the block, notes are kept in this list, in the order in which they are told."""
    heard: list[Note] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


#: Kind -> the words of its notes. All notes that simstudy has are here, by room.
TEMPLATES: Mapping[str, str] = {
    # Notes that a study's cells keep as text.
    "text": "{text}",
    # Of paths and formats.
    "files about others": "{files} not read as outputs: {names}",
    "file of another argument": "{file} is not read as a system: it is given as {argument}",
    "systems called after folders": (
        "{n} files are called '{name}': the systems have the names of their folders, {folders}"
    ),
    "files of other formats": "{files} not read, not {what}: {first}{etc}",
    # Of logs.
    "older logs": "the newest log of each model and task is read; {n} not, first {first}",
    "invalidated": "{path}: the log is marked as invalidated",
    "logs differ": (
        "logs have different values of {what}, as {reason}: {n} of {all}, first {of} in {place} and {other}"
    ),
    "repositories": (
        "issues are tested one by one, but issues of one repository may depend on each other: {repo} tests repositories"
    ),
    # Of battles and scores of segments.
    "systems called like sides": "winners {names} are the systems of these names, not the sides of the battle",
    "prompts of battles": "battles with the same '{column}' form a cluster ({n} clusters)",
    "draws as zero": ("{n} preferences are 0 among values from 1 to 2: AlpacaEval codes draws so; write 1.5 for them"),
    "win rates": "win rates depend on the opponents that a system met; {metric} allows for them",
    "scores of sentences": "the scores are means over sentences; {metric} of a whole test set is another number",
    "items without scores": "{n} of {all} items left out that no system has a score of, first '{first}'",
    # Of lines of text.
    "empty outputs": "empty outputs: {files}",
    "empty references": "{n} of {all} have an empty text as their reference, first '{first}'",
    "tokenized outputs": (
        "outputs with tokenized periods (' .') or marks of subwords ('@@ ', '\u2581'): {files}; scores are other than "
        "those of plain texts"
    ),
    "labels unlike gold": "none of the labels of {systems} is a gold label{why}",
    "words not counted": (
        "the references have other letters than a-z, or no blanks between words: {metric} finds hardly any words in "
        "them; {cure} does"
    ),
    "several gold answers": (
        "{n} with several gold ones: right if equal to one of them, letter by letter (case, articles and punctuation "
        "count)"
    ),
    "crossed items": "each item with each '{factor}' is tested, and the {n} of one item form a cluster",
    # Of annotated sentences, rankings and candidates.
    "documents as clusters": "documents (newdoc) are clusters: tests resample {n}; {items} resamples sentences",
    "topics unknown": "{path}: {n} not in the qrels are left out, first '{first}'",
    "tokens unlike gold": "{path}: {n} of {all} not spelt as in gold",
    "topics without relevance": (
        "{path}: {n} of {all} topics have no relevant document, first '{first}': they score 0, as in trec_eval"
    ),
    "tied scores": "{n} of {all} topics have tied scores ({systems}): ordered by docno, as trec_eval does",
    "ranks unlike scores": "rank and score disagree in {n} of {all} topics ({systems}): the score counts",
    "candidates": "Read {path} as a table of candidates: {functions}; items ({n}).",
    "candidates dropped": "{n} of {all} dropped that lack a score, first '{first}'",
    "candidates by errors": "higher scores rank first by {names} too: negate a column if lower is better",
    "ties broken": (
        "by '{name}', {accepted} candidates have the {n} best scores: ties are broken at random (seed {seed}); {keep} "
        "accepts all that tie"
    ),
    "ties kept": "ties kept: the list of '{name}' has {accepted} candidates, not {n}",
    # Of all that is read.
    "read": "Read {files} as {what}: {systems}; items{by} ({n}){remarks}.",
    "direction": (
        "say {lower}{mean} if lower is better, or {higher} if higher is better. Scores are called '{name}', but higher "
        "numbers win by default."
    ),
    "items dropped": "{n} of {all} items dropped that not every system has: '{first}'{etc}",
    "items left out": "{items} left out that the references lack, first '{first}'",
    "items scored as no answer": "{items} of {systems} scored as no answer, first '{first}' of '{system}'",
    "column of items left out": "column '{column}' left out: item '{item}' has '{first}' and '{other}'",
    "means of samples": "scores are means of {n} samples",
    "unlike samples": (
        "systems or questions have unlike samples, {n} of a question: the score of a question is the "
        "mean of its samples; {zero} scores a sample that a system lacks as no answer"
    ),
    "samples of questions": (
        "{questions} with {samples}. The samples of a question form one cluster. {items} treats each sample as "
        "independent."
    ),
    "samples as items": (
        "{questions} with {samples}. {items} makes each sample an item of its own. All tests, exact ones too, take "
        "items to be independent. The samples of a question are not, so p-values are too small."
    ),
    "clusters not used": (
        "items of one '{column}' form a cluster ({clusters}). Tests do not use these clusters: the resampling unit is "
        "'{unit}'"
    ),
    "samples in clusters": "{questions} with {samples}.",
    # Of tables.
    "items numbered": "{table} does not name its items: they are numbered, 0 to {last}",
    "columns of samples": "columns '{first}' to '{last}' are {n} samples of the system",
    "more gold labels": "{path} has gold labels of {items} that no system has, first '{first}'",
    "items without a header": "{path} has no header: its lines are the {columns} of the items, in order",
    "clusters of items": "items of one '{column}' form a cluster ({clusters}); {items} treats each item as independent",
    "clusters across domains": "clusters have items of several domains, such as '{cluster}' of '{first}' and '{other}'",
    "clusters of domains": ("{n} clusters, not {names}: '{cluster}' of domain '{first}' and that of '{other}' are two"),
    "systems not described": "{source} has no row for {n} of {all} systems: '{first}'{etc}",
    # outputs
    "called like errors": "the scores are called '{name}', but higher is assumed to be better; say {lower} or False",
    "clusters of one item": (
        "each cluster has one item: the column 'cluster' joins no items, and tests resample items one by one"
    ),
    # plot
    "letters without font": (
        "no known font has some letters of the names ({letters}), so that figures have boxes for them; install one "
        "that has them, such as Noto Sans CJK for Chinese, Japanese and Korean, and delete matplotlib's list of fonts "
        "({cache})"
    ),
    # suites
    "group left out": "group '{group}' of {file} is left out: there are no samples of its task '{task}'",
    "no averages of tasks": "no averages of tasks: {why}",
    # examination
    "domains tested together": "items of {n} domains are tested together: {counts}{more}",
    "few units": "only {units}: {rough} are rough with fewer than {least}",
    "near-duplicates": "{pairs} of near-duplicates, first {first}",
    "near-duplicates dropped": "near-duplicates dropped: {systems}{more}",
    "no interval": "no interval for {pairs}: {why}",
    "one-sided p-values": (
        "p-values are one-sided, as you asked: if the better system was not predicted, two equally good systems have "
        "p <= 0.05 one time in ten; corrected p-values and groups are affected too"
    ),
    "resamples not used": ("the number of resamples is not used: this test computes these p-values without resampling"),
    "small margin": (
        "margin {margin:g} is in points of 100, less than one item of {n_items:,} is worth ({least:.2g}); write "
        "{percent:g} if you mean the fraction {margin:g}"
    ),
    "worse system preferred": (
        "the {test} prefers the system with the worse score in {pairs}, first {first}: its null hypothesis is that "
        "{null}; these pairs do not count as significant"
    ),
    # planning
    "near-duplicates kept": "near-duplicates kept: {n_pairs:,} pairs of systems ({drop} leaves them out)",
    "near-duplicates left out": "near-duplicates left out: {n} of {all} systems ({keep} keeps them)",
    # shipped studies
    "long sentences": ("test set '{test_set}': {n:,} sentences of more than {most} words are translated in pieces"),
}
