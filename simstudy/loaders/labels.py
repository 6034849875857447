"""Tables of labels: gold labels beside the predicted ones, as entries of a table of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from simstudy.loaders.base import Source
from simstudy.loaders.entries import Entries
from simstudy.loaders.gold_labels import label_text, one_spelling
from simstudy.loaders.tables import NO_NAMES, Where, coded, is_right_or_wrong, no_column, numbers
from simstudy.loaders.text_notes import note_labels
from simstudy.loaders.usual_names import GOLD, PREDICTED, first_named, plain, says_labels, system_columns
from simstudy.metrics import Metric
from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import IntArray
from simstudy.metrics.per_class import PerClass, label_counts
from simstudy.notes import note
from simstudy.outputs.item_columns import describes_items
from simstudy.validation import InputError

# What a cell of a wide table says where a system has no label, unless a gold label is written so.
_BLANK = ("", "NA", "NaN", "nan")

_RIGHT_OR_WRONG = {"0", "1"}

# Our names of columns of labels, and what others call them.
_LABELS: Mapping[str, Sequence[str]] = {"gold": GOLD, "predicted": PREDICTED}

# What to say where a row has no predicted label.
_PREDICTED = "predicted label"
_NO_ANSWER = "; if the system gave no answer, write a word that is no gold label, such as 'none': it counts as wrong"

# Statistics (N, S) of so many numbers are held at most: 1 GiB.
_MOST = 2**30


def with_our_names(frame: pd.DataFrame, metric: Metric, columns: Mapping[str, str]) -> pd.DataFrame:
    """A table for a metric of labels or of arrays with our names of columns, and with ids where it has none."""
    if not (isinstance(metric, PerClass | ArrayMetric) or metric.name == "accuracy"):
        return frame
    kinds = _LABELS
    if isinstance(metric, ArrayMetric):
        kinds = {"gold": GOLD} if "gold" in metric.statistics else {}
    elif metric.name == "accuracy":
        scored = "score" in frame and not says_labels(frame.columns, columns, metric)
        if scored or set(metric.statistics) <= set(frame):
            return frame
    renamed = frame.rename(columns={theirs: ours for ours, theirs in _found(frame, kinds).items()})
    if metric.name == "accuracy" and not of_labels(renamed, metric, columns):
        return frame
    if "item" not in renamed and "system" not in renamed and "predicted" not in renamed:
        renamed = renamed.assign(item=[str(i) for i in range(1, len(frame) + 1)])
    return renamed


def _found(frame: pd.DataFrame, kinds: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Our names that a table lacks, and its columns that have usual names for them."""
    found = {ours: first_named(frame.columns, names) for ours, names in kinds.items() if ours not in frame}
    return {ours: theirs for ours, theirs in found.items() if theirs is not None}


def check_scores_or_labels(
    frame: pd.DataFrame, origin: str, given: Mapping[str, str], guessed: Mapping[str, str], metric: Metric
) -> None:
    """Raise a ValueError where accuracy may be of scores or of labels, and nothing tells which.

    Scores are right or wrong answers, or no prediction equals its gold label, or `given` names columns. Else scores may
    as well be confidences. `guessed` has the table's own names of columns.
    """
    if metric.name != "accuracy" or "score" not in frame or not {"score", "gold", "predicted"}.isdisjoint(given):
        return
    ours = {name: name for name in ("gold", "predicted") if name in frame} | _found(frame, _LABELS)
    scores = numbers(frame["score"])
    if len(ours) < len(_LABELS) or not np.isfinite(scores).any() or is_right_or_wrong(scores):
        return
    gold, predicted = (frame[ours[name]].astype(str).str.strip().str.casefold() for name in ("gold", "predicted"))
    if not (gold == predicted).any():
        return
    score, label, wanted = guessed.get("score", "score"), ours["predicted"], ours["gold"]
    raise InputError(
        f"{origin}: column '{score}' has other numbers than 0 and 1, and columns '{label}' and '{wanted}' have labels: "
        f"say columns={{'gold': '{wanted}'}} to compare labels, or columns={{'score': '{score}'}} to compare means of "
        f"'{score}'"
    )


def check_has_gold(frame: pd.DataFrame, origin: str, metric: Metric) -> None:
    """Raise a ValueError where a table has predicted labels, no gold ones and no scores, but the metric needs some."""
    if not (isinstance(metric, PerClass) or metric.name == "accuracy") or {"gold", "score"} & {*frame}:
        return
    found = _found(frame, _LABELS)
    label = "predicted" if "predicted" in frame else found.get("predicted")
    # Answers to questions with choices may be gold labels, and numbers from 0 to 1 scores.
    if "gold" in found or label is None or plain(label) == "answer":
        return
    there = numbers(frame[label])
    there = there[~np.isnan(there)]
    if metric.name == "accuracy" and there.size and there.min() >= 0 and there.max() <= 1:
        return
    raise InputError(
        f"{origin}: column '{label}' has predicted labels, but no column has gold ones: add a column 'gold', name the "
        "column with columns={'gold': 'NAME'}, or give a table of ids and gold labels with references='FILE'"
    )


def of_labels(frame: pd.DataFrame, metric: Metric, columns: Mapping[str, str]) -> bool:
    """Whether a table with our names has labels to count; of accuracy, whether gold labels are there, and no scores."""
    if isinstance(metric, PerClass):
        return True
    if metric.name != "accuracy" or "gold" not in frame:
        return False
    if "score" in frame:
        return says_labels(frame.columns, columns, metric)
    # Numbers may be scores too: only who names the gold column says that they are labels.
    return "predicted" in frame or "gold" in columns or bool(np.isnan(numbers(frame["gold"])).any())


def label_entries(frame: pd.DataFrame, origin: str, source: Source, where: Where) -> tuple[Entries, Metric]:
    """Entries of a table of labels, tidy (a column ``predicted``) or wide, and the metric of their classes."""
    if "gold" not in frame:
        no_column(origin, "gold", frame.columns, "Name it with columns={'gold': 'NAME'}.")
    gold = _labels(frame["gold"], np.arange(len(frame)), "gold label", where)
    item, items = coded(frame["item"], "item", where)
    if "predicted" in frame:
        if "system" not in frame:
            no_column(origin, "system", frame.columns, "Name it with columns={'system': 'NAME'}.")
        system, systems = coded(frame["system"], "system", where)
        row = np.arange(len(frame))
        if not {*NO_NAMES} & {*gold}:
            # How programs write that there is none, as in wide tables.
            frame = frame.assign(predicted=frame["predicted"].mask(frame["predicted"].isin(NO_NAMES)))
        said = _labels(frame["predicted"], row, _PREDICTED, where)
        others = [name for name in frame.columns if name not in ("system", "item", "gold", "predicted")]
        note_labels({name: [said[i] for i in np.flatnonzero(system == k)] for k, name in enumerate(systems)}, gold)
    else:
        known = {"item", "gold", *source.columns}
        others = [name for name in frame.columns if name not in ("item", "gold")]
        systems, _ = system_columns(others, known)
        if not systems or "system" in frame:
            no_column(origin, "predicted", frame.columns, "Name it with columns={'predicted': 'NAME'}.")
        rows, parts = [], []
        blank = [text for text in _BLANK if text not in gold]
        for name in systems:
            there = np.flatnonzero(~(frame[name].isna() | frame[name].isin(blank)))
            rows.append(there)
            parts.append(_labels(frame[name], there, "label", where))
            _check_system(name, parts[-1], gold)
        row, said = np.concatenate(rows), [*chain(*parts)]
        system = np.repeat(np.arange(len(rows)), [len(there) for there in rows])
        others = [name for name in others if name in known or describes_items(name)]
    if set(said) <= _RIGHT_OR_WRONG and not set(gold) <= _RIGHT_OR_WRONG:
        note(
            "text",
            text=(
                "systems have the labels 0 and 1 only, and gold labels are others too. If 1 says that a system is "
                "right, take metric='accuracy' and columns={'answer': 'gold'} for the gold labels"
            ),
        )
    metric = source.metric
    spelled = one_spelling(gold, item)
    gold = [spelled.get(label, label) for label in gold]
    if isinstance(metric, PerClass):
        metric = metric.of_classes([*gold, *(spelled.get(label, label) for label in said)])
        if (size := len(said) * len(metric.statistics)) > _MOST:
            raise InputError(
                f"{origin}: metric '{metric.name}' would need {size:,} numbers for {len(metric.classes):,} classes; at "
                f"most {_MOST:,} are held"
            )
    counts = label_counts(metric, [gold[i] for i in row], [spelled.get(label, label) for label in said])
    return Entries(systems, items, system, item[row], row, counts, list(dict.fromkeys(others)), said), metric


def _labels(cells: pd.Series[Any], rows: IntArray, what: str, where: Where) -> list[str]:
    """The labels of some rows, without blanks around them; ValueError where one is empty."""
    found = []
    whole = cells.dtype.kind == "f"
    for row, cell in zip(rows, cells.iloc[rows], strict=True):
        if not (text := label_text(cell, whole)):
            raise InputError(f"{where(int(row))}: no {what}{_NO_ANSWER if what == _PREDICTED else ''}")
        found.append(text)
    return found


def _check_system(name: str, said: Sequence[str], gold: Sequence[str]) -> None:
    """Raise a ValueError where a column has no label that is one of the gold ones."""
    if set(said).isdisjoint(gold):
        raise InputError(
            f"column '{name}' is used as a system, but none of its labels is a gold one; columns={{'{name}': "
            f"'{name}'}} makes it a column of the items"
        )
