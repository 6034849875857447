"""Names of columns: ours, what others call them, and names that are refused because they may mean two things.

A table has our names (``system``, ``item``, ``score`` …), or ``columns`` maps ours to its own, or one of its columns
has a usual name (`USUAL`). Case does not matter, nor do blanks and hyphens; the last part of a dotted name counts too.
Two columns that fit are an error with the options that choose. No number in a table decides what a column is.

Below the names are the cells of columns: as numbers, and what to say of one that is none.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, whole
from simstudy.notes import Argument, Words
from simstudy.outputs.frames import CLUSTERS
from simstudy.readers.request import column
from simstudy.text.reprs import listed
from simstudy.validation import InputError, brief, check_text, nearest

#: Our names of columns, whatever the format.
OURS = (
    "system", "item", "id", "sample", "n_samples", "score", "gold", "predicted", "reference", "domain", "cluster",
    "factor", "input", "answer", "filter", "tag",
)  # fmt: skip

#: Those of them that a task may choose for itself: score@gsm8k.
OF_TASKS = ("score", "filter")

#: Our name -> what others call it; the first of the names that a table has is taken for the last three only.
USUAL: Mapping[str, tuple[str, ...]] = {
    "system": (
        "model", "model_name", "model_id", "system_name", "system_id", "run", "run_name", "run_id", "submission",
    ),
    "item": (
        "question_id", "instance_id", "task_id", "example_id", "problem_id", "prompt_id", "query_id", "qid", "item_id",
        "uid", "id",
    ),
    "score": (
        "correct", "is_correct", "resolved", "is_resolved", "passed", "is_passed", "pass", "solved", "success", "acc",
        "accuracy", "exact_match", "em", "f1", "reward", "value",
    ),
    "predicted": ("prediction", "pred", "predicted_label", "y_pred"),
    "gold": (
        "label", "gold_label", "true_label", "target", "reference", "ground_truth", "truth", "y_true", "expected",
        "human", "human_score",
    ),
    "sample": ("sample_id", "epoch", "repetition", "attempt", "trial"),
    "n_samples": ("num_samples", "number_of_samples", "n_repeats", "n_attempts", "n_trials"),
    "cluster": CLUSTERS[1:],
    "input": (
        "question", "prompt", "instruction", "query", "problem", "problem_statement", "source", "src", "text",
        "sentence", "source_text", "input_text", "context",
    ),
    "answer": (
        "response", "output", "prediction", "completion", "generation", "hypothesis", "hyp", "translation", "summary",
        "model_answer", "model_output", "model_response", "generated_text", "predicted", "predicted_label",
    ),
}  # fmt: skip

#: Names of columns that name the items only if no other column does: documents, numbers of rows, texts of questions.
LAST_ITEMS = (
    "doc_id", "document_id", "index", "idx", "unnamed:_0", "key", "question", "prompt", "problem", "query", "example",
    "instance",
)  # fmt: skip

#: Names of rows and columns that are made of others.
SUMMARIES = frozenset((
    "mean", "average", "avg", "overall", "total", "sum", "std", "stdev", "stderr", "se", "sem", "median", "min", "max",
    "count", "delta", "diff", "difference", "gain", "improvement", "macro_average", "macro_avg", "micro_average",
    "micro_avg",
))  # fmt: skip

#: First and last rows of these names sum up the others. Items may be called max, min or sum.
SUMMARY_ROWS = ("mean", "average", "avg", "overall", "total", "std", "accuracy")

# Keys beside the items of a system in JSON that are no items.
_NO_ITEMS = re.compile(
    r"(n|num|total|avg|mean)_.+|.+_(rate|score|accuracy|acc|avg)|n|score|seed|timestamp|time|elapsed|date|version|model"
)

# Columns of a wide table that may describe the items, or be systems: which, a user says.
_AMBIGUOUS = re.compile(
    r"(is|has|n|num)_.+|.+_(count|length|tokens|chars|words|seconds|time|id|idx|index)|[qu]id|difficulty|complexity|"
    r"perplexity|answerable|seconds|time|duration|latency|length|len|cost|price|tokens|chars|index|idx|id|row|line|rank|"
    r"year|age|grade|turn|fold|weight|level|version|unnamed:_\d+|level_\d+|timestamp|date|seed"
)

#: What numbers the rows in their order, in place of a column.
ROW = "row"

# How alike (difflib) another name is to one of ours that is misspelt.
_MISSPELT = 0.75


@lru_cache(2**17)
def plain(name: object) -> str:
    """A name in lower case, with underscores for blanks and hyphens: usual names are compared so."""
    return re.sub(r"[ -]", "_", str(name).strip().lower())


def usually_named(columns: Iterable[object], usual: Collection[str]) -> list[str]:
    """The columns with one of these names, else those whose dotted name ends in one."""
    names = [*map(str, columns)]
    whole_names = [name for name in names if plain(name) in usual]
    return whole_names or [name for name in names if "." in name and plain(name).rpartition(".")[2] in usual]


def first_named(columns: Iterable[object], usual: Sequence[str]) -> str | None:
    """The column with the first of these names; None if none has one."""
    names = usually_named(columns, usual)
    return min(names, key=lambda name: usual.index(plain(name).rpartition(".")[2]), default=None)


def item_column(columns: Iterable[object]) -> str | None:
    """The column that names the items of a table that describes them; None if none does."""
    names = usually_named(columns, ("item", *USUAL["item"]))
    return names[0] if names else first_named(columns, LAST_ITEMS)


def is_no_item(name: str) -> bool:
    """Whether a key beside the items of a system is called like a summary, a metric or a fact about the run."""
    return plain(name) in {*SUMMARIES, *USUAL["score"]} or _NO_ITEMS.fullmatch(plain(name)) is not None


def may_describe_items(name: str) -> bool:
    """Whether a column of numbers may be no system: it is called like a property of items, gold, or a summary."""
    return _AMBIGUOUS.fullmatch(plain(name)) is not None or plain(name) in {*SUMMARIES, "gold", *USUAL["gold"]}


def check_columns(columns: object, metric: Metric | None = None) -> None:
    """Raise an InputError if this is neither None nor a mapping of our names of columns to those in the files.

    Names that are not ours are those of further columns of the items, except misspelt ones.
    """
    if columns is None:
        return
    if not isinstance(columns, Mapping):
        raise InputError("columns", "must map our names of columns to those in the files", columns)
    names = [*OURS, *(metric.statistics if metric else ())]
    for ours, name_in_files in columns.items():
        for name in (ours, name_in_files):
            check_text("columns", name, "names of columns")
        of_a_task = "@" in ours and ours.partition("@")[0] in OF_TASKS
        if not of_a_task and ours not in (name_in_files, *names) and get_close_matches(ours, names, 1, _MISSPELT):
            rule = f"must map our names ({', '.join(names)}, or one of your own that is unlike these)"
            raise InputError("columns", f"{rule}, not {brief(ours)}{nearest(ours, names)}")


def no_column(at: object, wanted: str, names: Iterable[object], remedy: str | None = None) -> NoReturn:
    """Raise the InputError that lists the columns of a table that has none of this name."""
    others = [str(name) for name in names]
    meant = nearest(wanted, others)
    cure = remedy if remedy is not None else Words("name it with {columns}", columns=column(wanted))
    raise InputError(f"no column '{wanted}' (columns: {listed(others, 12)}){meant}", remedy=cure, at=at)


def joined(frame: pd.DataFrame, columns: Mapping[str, str], at: object) -> pd.DataFrame:
    """The table with the columns that are made of others: ``category+id`` has ``law/1`` if these have law and 1."""
    for name in dict.fromkeys(columns.values()):
        parts = [part.strip() for part in name.split("+")]
        if name in frame or len(parts) < 2 or not any(part in frame for part in parts):
            continue
        for part in parts:
            if part not in frame:
                no_column(at, part, frame.columns, f"'{name}' joins columns")
        blank = frame[parts].isna() | frame[parts].astype(str).apply(lambda cells: cells.str.strip() == "")
        texts = frame[parts].astype(str).agg("/".join, axis=1)
        frame = frame.assign(**{name: texts.mask(blank.any(axis=1))})
    return frame


def may_each_be(at: object, ours: str, names: Sequence[str]) -> InputError:
    """The error that several columns may be one of ours, with the options that choose."""
    options = {f"option{k}": Argument("columns", {ours: name}) for k, name in enumerate(names)}
    return InputError(
        f"{' and '.join(names)} may each be the {ours}",
        remedy=Words("say which: " + " or ".join(f"{{{key}}}" for key in options), **options),
        at=at,
    )


# Cells ---------------------------------------------------------------------------------------------------------------
#: Texts of a cell without a score.
BLANK = ("", "NA", "N/A", "NaN", "nan")

#: Texts of a cell without a name, as programs write it; "NA" and "None" may be names.
NO_NAMES = ("", "NaN", "nan", "<NA>", "NaT")

_BREAK = re.compile(r"\r\n?|\n")

_TRUTH = {"true": 1.0, "false": 0.0}

# How people write right and wrong, wins, and numbers, where simstudy reads plain numbers.
_RIGHT_OR_WRONG = {"yes", "no", "y", "n", "right", "wrong", "correct", "incorrect", "pass", "fail", "passed", "failed"}
_RIGHT_OR_WRONG |= {*"✓✔✅☑✗✘✖❌☒"}
_WIN_OR_LOSS = {"win", "won", "wins", "loss", "lose", "loses", "lost", "tie", "tied", "ties", "draw"}
_DECIMAL_COMMA = re.compile(r"-?\d*,\d+")
_PERCENT = re.compile(r"(-?\d+(?:\.\d+)?)\s*%")
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d*)?|(?:\.\d{3})+,\d*)")


def is_blank(cells: pd.Series[Any]) -> NDArray[np.bool_]:
    """Whether each cell has no score: it is missing, empty, or says NA."""
    missing = cells.isna().to_numpy()
    return missing if is_numeric_dtype(cells) else missing | cells.isin(BLANK).to_numpy()


def on_one_line(text: str) -> str:
    r"""A text whose line breaks are written as \n, so that it may name an item."""
    return _BREAK.sub(r"\\n", text)


def number(text: str) -> float:
    """A text as a number, NaN if it is none: ASCII digits, and no underscores between them."""
    try:
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def numbers(cells: pd.Series[Any]) -> FloatArray:
    """Cells (n,) as numbers, True and False as 1 and 0; NaN for a cell that is no number."""
    if is_bool_dtype(cells) or is_numeric_dtype(cells):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    if cells.dtype.kind in "mM":
        # Times would be taken for their nanoseconds.
        return np.full(len(cells), np.nan)
    try:
        converted = pd.to_numeric(cells, errors="coerce")
    except OverflowError:
        # A whole number of JSON may have thousands of digits.
        too_large = cells.map(lambda cell: isinstance(cell, int) and abs(cell) > sys.float_info.max)
        converted = pd.to_numeric(cells.mask(too_large, np.inf), errors="coerce")
    values = np.asarray(converted.to_numpy(dtype=np.float64, na_value=np.nan)).copy()
    words = np.flatnonzero(np.isnan(values))
    values[words] = [_TRUTH.get(str(cell).lower(), np.nan) for cell in cells.iloc[words]]
    return values


def narrow(values: FloatArray) -> Array:
    """Whole numbers as integers, so that scores that tie are known to tie."""
    return values.astype(np.int64) if values.size and whole(values) else values


def first_of(wrong: Array | pd.Series[bool]) -> int | None:
    """The position of the first of several things that is wrong; None if none is."""
    return int(np.argmax(wrong)) if np.any(wrong) else None


def takes_one_score(metric: Metric) -> bool:
    """Whether items may have one score each: 0 to 1 for accuracy, any number within its range for a mean."""
    return metric.item_range is not None


def how_to_write(cell: object) -> str:
    """How to write a score that is no number, as a remedy; empty if nothing is known."""
    # Signs may be followed by one that asks for colours.
    text = str(cell).strip().removesuffix("\ufe0f")
    if text.casefold() in _RIGHT_OR_WRONG:
        return "write 1 for right and 0 for wrong"
    if text.casefold() in _WIN_OR_LOSS:
        return "write 1 for a win, 0.5 for a tie and 0 for a loss"
    if percent := _PERCENT.fullmatch(text):
        return f"write {float(percent[1]) / 100:.12g} or {percent[1]}, without %"
    if _THOUSANDS.fullmatch(text):
        return "leave out the thousands separator"
    return "write numbers with a decimal point" if _DECIMAL_COMMA.fullmatch(text) else ""


def placed(frame: pd.DataFrame, path: object) -> pd.DataFrame:
    """A file's table whose index also has the file, so that `place` names it."""
    levels: list[Any] = [[str(path)], frame.index]
    codes: list[Any] = [np.zeros(len(frame), dtype=np.int8), np.arange(len(frame))]
    names = ["file", frame.index.name]
    return frame.set_axis(pd.MultiIndex(levels, codes, names=names, verify_integrity=False))


def place(rows: pd.DataFrame, row: int) -> str:
    """Where a row of a long table is: "runs/a.csv, line 3"."""
    index = rows.index
    unit = index.names[-1] or "row"
    values = index[row] if index.nlevels > 1 else (index[row],)
    return ", ".join([*map(str, values[:-1]), f"{unit} {values[-1]}"])
