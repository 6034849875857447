"""Samples of one question in tables: a column for each, or a column that says how many samples a score is the mean of.

Columns: a table that has no ``score``, but ``score_1``, ``score_2`` … or ``sample_1``, ``run_1``, ``attempt_1`` … has a
row for each sample once they are stacked. Its system is in a column ``system``; without one, each file is one system.
In JSON a score may be the list of the samples' scores. An empty cell, or a null in a list, is a sample that was not
taken.

Means: a tidy table with a column ``n_samples`` (other names: `NUMBERS_OF_SAMPLES`; ``columns={"n_samples": "k"}`` names
it) has means of so many right or wrong answers. How much one answer varies follows from the binomial.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from simstudy.loaders.entries import Entries
from simstudy.loaders.items import HINT
from simstudy.loaders.tables import Where, first_of, numbers, takes_one_score
from simstudy.loaders.usual_names import USUAL, plain, sample_columns
from simstudy.metrics import Metric
from simstudy.metrics.of_samples import of_samples
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.outputs.answers import Samples, of_shares
from simstudy.outputs.samples import SAMPLE_OF, has_samples, per_question
from simstudy.text.numerals import counted
from simstudy.validation import InputError

#: What columns are called that say how many samples a score is the mean of.
NUMBERS_OF_SAMPLES = ("n_samples", "num_samples", "number_of_samples", "n_repeats", "n_attempts", "n_trials")

# Tables round scores: how far a score times its number of samples may be from a whole number.
_ROUNDED = 0.02


def stacked(frame: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """A tidy table whose samples have a column each, with a row for each sample; any other table as it is."""
    columns = sample_columns(frame)
    if not columns or "score" in frame or "system" not in frame or not takes_one_score(metric):
        return frame
    others = frame.drop(columns=list(columns))
    parts = [others.assign(sample=number, score=frame[name]) for name, number in columns.items()]
    return _taken(pd.concat(parts), "score")


def _taken(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The rows of samples that were taken: they have a score in this column. A note tells of rows without any."""
    taken = rows[rows[column].notna() & (rows[column].astype(str).str.strip() != "")]
    if lost := rows.index.nunique() - taken.index.nunique():
        note("text", text=f"{counted(lost, 'row')} left out: none of the samples was taken")
    return taken


def of_lists(frame: pd.DataFrame, columns: Mapping[str, str], metric: Metric) -> pd.DataFrame:
    """A table whose score is a list in every row, with a row and a number for each sample; any other table as it is."""
    usual = (str(name) for name in frame if plain(name) in ("score", *USUAL["score"]))
    column = columns.get("score") or next(usual, None)
    if column is None or column not in frame or "sample" in {*frame, *columns} or not takes_one_score(metric):
        return frame
    if frame[column].dtype != object or not all(isinstance(cell, list) and cell for cell in frame[column]):
        return frame
    numbered = np.concatenate([np.arange(len(cell)) + 1 for cell in frame[column]])
    return _taken(frame.explode(column).assign(sample=numbered), column)


def samples_of_means(entries: Entries, frame: pd.DataFrame, metric: Metric, where: Where) -> Samples | None:
    """The samples (N, 2) that the score of each entry is the mean of; None where no column says how many they are.

    A note says what was read, or why a column was not.
    """
    column = next((name for name in NUMBERS_OF_SAMPLES if name in entries.others), None)
    if column is None or metric.item_range != (0, 1) or not takes_one_score(metric):
        return None
    number = numbers(frame[column].iloc[entries.row])
    share = entries.statistics[:, 0].astype(np.float64)
    if (i := first_of(~((number >= 1) & (number == np.rint(number)) & np.isfinite(number)))) is not None:
        shown = frame[column].iloc[entries.row[i]]
        note(
            "text",
            text=f"column '{column}' is not used as the number of samples: {where(entries.row[i])} has '{shown}'",
        )
        return None
    off = np.abs(share * number - np.rint(share * number))
    # A score that is rounded to four digits is off by so much.
    if (i := first_of(off > np.maximum(_ROUNDED, 1e-4 * number))) is not None:
        note(
            "text",
            text=(
                f"column '{column}' is not used as the number of samples: the score in {where(entries.row[i])} is no "
                f"share of {number[i]:g} right answers"
            ),
        )
        return None
    if number.max() == 1:
        return None
    some = f"{number.min():,.0f}" if number.min() == number.max() else f"{number.min():,.0f} to {number.max():,.0f}"
    note("text", text=f"scores are means of {some} samples (column '{column}')")
    return of_shares(share, np.asarray(number, dtype=np.float64))


def of_questions(outputs: Outputs, metric: str, missing: str) -> Outputs:
    """The outputs with one item a question, where the metric is of samples or questions have unlike many of them."""
    if of_samples(metric):
        if not has_samples(outputs):
            raise InputError(f"metric '{metric}' needs several samples of each question; {HINT}")
        return per_question(outputs, metric)
    # Who drops samples, or scores missing ones, looks at samples.
    if SAMPLE_OF not in outputs.items or not takes_one_score(outputs.metric) or missing != "error":
        return outputs
    counts = outputs.items[SAMPLE_OF].value_counts()
    if counts.min() == counts.max() or not (outputs.statistics[..., 1] == 1).all():
        return outputs
    note(
        "text",
        text=(
            f"questions have {counts.min()} to {counts.max()} samples. The score of a question is the mean of its "
            "samples."
        ),
    )
    return per_question(outputs)
