"""Names of columns: ours, which users may map to those in their files, and what others call them, in one place."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

from simstudy.metrics import Metric
from simstudy.outputs.item_columns import NUMBERS, describes_items
from simstudy.validation import InputError, brief, check_text, nearest

T = TypeVar("T")

# Our names of columns, whatever the format, those of them that a task may choose for itself (score@gsm8k), and how much
# alike (difflib) another name is to one that is a slip in it.
_OURS = (
    "system", "item", "id", "sample", "n_samples", "score", "gold", "predicted", "reference", "domain", "cluster",
    "filter", "tag",
)  # fmt: skip
OF_TASKS = ("score", "filter")
_SLIP = 0.75

#: Our name -> what others call it.
USUAL: Mapping[str, tuple[str, ...]] = {
    "system": (
        "model", "model_name", "model_id", "system_name", "system_id", "run", "run_name", "run_id", "submission",
        "key1",
    ),
    "item": (
        "question_id", "instance_id", "task_id", "doc_id", "example_id", "problem_id", "prompt_id", "query_id", "qid",
        "item_id", "uid", "id",
    ),
    "score": (
        "correct", "is_correct", "resolved", "is_resolved", "passed", "is_passed", "pass", "solved", "success",
        "acc", "accuracy", "exact_match", "em", "f1", "value",
    ),
}  # fmt: skip

#: Names that may also number the runs of one system.
RUNS = ("run", "run_name", "run_id")

#: What is taken for the item where nothing else is: numbers of rows as programs write them, and keys of JSON.
INDEX = ("index", "idx", "unnamed:_0", "level_0", "sample_id", "key", "key2")

#: What is taken for the item last: these columns may also name clusters.
QUESTIONS = ("question", "prompt", "problem", "query", "example", "instance")

#: Wide tables have columns of these names that are no systems: numbers of rows, and lengths.
ASIDE = re.compile(r"unnamed: ?\d+|level_\d+|index|idx|id|row|length|len|n_?(?:chars|words|tokens)", re.IGNORECASE)

#: What columns of gold labels (or of gold scores), and of predicted labels are called, in any case; ours come first.
GOLD = (
    "gold", "label", "gold_label", "true_label", "target", "reference", "ground_truth", "truth", "y_true", "expected",
    "human", "human_score",
)  # fmt: skip
PREDICTED = ("predicted", "prediction", "pred", "predicted_label", "y_pred", "answer")

#: Those that nobody calls a system; answers to questions with choices are gold labels too.
NO_SYSTEM = ({*GOLD} - {"human", "human_score"}) | {"answer", "correct_answer"}

#: Last rows of a table that are no items -> what they have of the others.
SUMMARIES: Mapping[str, str] = {
    **dict.fromkeys(("mean", "average", "avg", "avg.", "overall", "total", "all"), "mean or sum"),
    **dict.fromkeys(("macro average", "macro avg", "sum"), "mean or sum"),
    **dict.fromkeys(("std", "sd", "stdev"), "std"),
    **{name: name for name in ("median", "min", "max", "count")},
    **dict.fromkeys(("se", "sem", "stderr", "std err", "standard error"), "standard error"),
    **dict.fromkeys(("var", "variance"), "variance"),
    "n": "count",
    **dict.fromkeys(("ci", "ci95", "95% ci", "95%-ci", "±", "rank", "p", "p-value", "p value"), "none of these"),
    **dict.fromkeys(("ci low", "ci high", "ci_low", "ci_high", "lower", "upper", "low", "high"), "none of these"),
}

#: Those that items may be called too: they tell of a summary only below another one.
MAY_BE_ITEMS = {"se", "var", "variance", "n", "ci", "±", "rank", "p", "lower", "upper", "low", "high"}


def summary_of(item: object) -> str:
    """What the name of a last row says that it has of the others (`SUMMARIES`); empty if nothing."""
    return SUMMARIES.get(str(item).strip().casefold(), "")


def first_named(columns: Iterable[T], names: Sequence[str]) -> T | None:
    """The column with the first of these names, in any case; None where none has one."""
    known = {str(column).lower(): column for column in reversed([*columns])}
    return next((known[name] for name in names if name in known), None)


def usually_named(
    columns: Iterable[T], names: Collection[str], fits: Callable[[T], bool] = lambda column: True
) -> list[T]:
    """The columns with one of these names, in whatever spelling, else those whose dotted name ends in one."""
    columns = [*columns]
    for part in (plain, lambda column: plain(column).rpartition(".")[2]):
        if found := [column for column in columns if part(column) in names and fits(column)]:
            return found
    return []


def says_labels(names: Iterable[object], columns: Mapping[str, str], metric: Metric) -> bool:
    """Whether `columns` says that accuracy is of labels: it names some, and the table has predicted ones."""
    if metric.name != "accuracy" or "score" in columns or {"gold", "predicted"}.isdisjoint(columns):
        return False
    others = (name for name in names if name not in columns.values())
    return "predicted" in columns or first_named(others, PREDICTED) is not None


def has_predicted(names: Iterable[object]) -> bool:
    """Whether a table has a column of predicted labels by its name; an answer may be the gold label."""
    return first_named(names, [name for name in PREDICTED if name != "answer"]) is not None


# Words in the names of first or last rows that may have averages. Items are called so too: the scores decide.
_AVERAGES = {
    *USUAL["score"], "score", "scores", "exact", "match", "macro", "micro", "result", "aggregate", "percent",
    "percentage", "%", "rate", "summary", "gesamt", "durchschnitt", "mittelwert", "ø", "bleu", "chrf", "rouge",
    "rouge1", "rouge2", "rougel", *(word for name in SUMMARIES for word in name.split()),
}  # fmt: skip


def may_name_averages(item: object) -> bool:
    """Whether the name of a row may be that of averages: "accuracy", "Macro F1", "f1 (macro)"."""
    return all(word.strip("()") in _AVERAGES for word in plain(item).split("_"))


def may_sum_up(item: object) -> bool:
    """Whether the name of a row may be that of a summary."""
    return bool(summary_of(item)) or may_name_averages(item)


# Systems are often called run1, run2.
_ONE_OF_SEVERAL = re.compile(rf"(?:(?:score|{'|'.join(NUMBERS)})[ _.#-]?|run[ _.#-])([0-9]+)", re.IGNORECASE)


def sample_columns(columns: Iterable[object]) -> dict[str, str]:
    """The columns that have one sample each, such as ``score_1`` and ``score_2``, with their numbers; none of one."""
    found = {str(name): match[1] for name in columns if (match := _ONE_OF_SEVERAL.fullmatch(str(name)))}
    return found if len(found) > 1 else {}


def _is_aside(column: object) -> bool:
    """Whether a column of a wide table has a usual name of items or of numbers that are no scores: it is no system."""
    return ASIDE.fullmatch(str(column)) is not None or plain(column) in (*USUAL["item"], *INDEX)


def system_columns(
    columns: Iterable[str], known: Container[str], no_names: Container[str] = ()
) -> tuple[list[str], list[str]]:
    """The columns of a wide table that are systems, and those that are put aside, as their names tell.

    A column is put aside that has a usual name of items or of numbers that are no scores, or whose name is in
    `no_names`. Columns that are `known` or describe items are neither.
    """
    others = [name for name in columns if not (name in known or describes_items(name))]
    aside = [name for name in others if _is_aside(name) or name.strip() in no_names]
    return [name for name in others if name not in aside], aside


def names_anything(column: object) -> bool:
    """Whether a column has our name or a usual one for systems, items or scores."""
    name = plain(column)
    return any(name == ours or name in usual for ours, usual in USUAL.items())


def plain(column: object) -> str:
    """A name in lower case, with underscores for blanks and hyphens: usual names are compared so."""
    return re.sub(r"[ -]", "_", str(column).strip().lower())


def check_columns(columns: object, metric: Metric | None = None) -> None:
    """Raise a ValueError where this is neither None nor a mapping of our names of columns to those in the files.

    Names that are not ours are those of further columns of the items, but for those that look like a slip in one.
    """
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise InputError(f"columns must map our names of columns to those in the files, not {brief(columns)}")
    for ours, theirs in columns.items():
        for name in (ours, theirs):
            check_text("columns", name, "names of columns")
        known = [*_OURS, *(metric.statistics if metric else ())]
        name, at, task = ours.partition("@")
        if at and task and name in OF_TASKS:
            continue
        if ours not in (theirs, *known) and get_close_matches(ours, known, n=1, cutoff=_SLIP):
            raise InputError(
                f"columns must map our names ({', '.join(known)}, or one of your own that is unlike these), "
                f"not '{ours}'{nearest(ours, known)}"
            )
