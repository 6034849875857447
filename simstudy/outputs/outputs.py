"""Outputs: what K systems did on one test set of n items, reduced to numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from simstudy.metrics import Metric, get_metric
from simstudy.metrics.direction import directed
from simstudy.metrics.labels import PER_CLASS, PerClass
from simstudy.outputs.answers import checked_answers, checked_samples, read_only
from simstudy.outputs.checks import check_axes, note_exchanged, warn_of_errors
from simstudy.outputs.frames import Table, wide_scores
from simstudy.outputs.parts import OutputsParts
from simstudy.outputs.statistics import (
    check_statistics,
    label_statistics,
    response_statistics,
    score_values,
    statistics_array,
)
from simstudy.outputs.tables import complete_systems, keyed_table, matched_table
from simstudy.validation import InputError, check_text

# Statistics that are checked together.
_TOGETHER = 2**24


@dataclass(frozen=True, eq=False, repr=False)
class Outputs(OutputsParts):
    """What K systems did on one test set of n items, as numbers. Make one with `from_…`.

    Examples
    --------
    >>> import pandas as pd
    >>> outputs = Outputs.from_scores(pd.DataFrame({"old": [1, 0, 0, 1], "new": [1, 1, 0, 1]}), "accuracy")
    >>> outputs.scores().tolist(), outputs.head(2).scores().tolist()
    ([50.0, 75.0], [50.0, 100.0])
    """

    @classmethod
    def from_statistics(
        cls,
        statistics: ArrayLike,
        metric: str | Metric,
        systems: Sequence[str] | pd.DataFrame | None = None,
        items: Sequence[Hashable] | pd.DataFrame | None = None,
        *,
        answers: ArrayLike | None = None,
        samples: ArrayLike | None = None,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from an array of per-item statistics.

        Parameters
        ----------
        statistics
            (K systems, n items, S statistics of the metric), finite numbers.
        metric
            A name in `simstudy.metrics.METRICS` or a Metric.
        systems
            K names, or a table with a column ``name``, in the order of the array; by default system-1 … system-K.
        items
            n identifiers, or a table with a column ``id``, in the order of the array; by default 0 … n-1.
        answers
            (K, n) whole numbers, equal where two systems gave an item the same answer; `near_duplicates` reads them.
        samples
            (K, n, 2): the number of samples that an item's score is the mean of, and the unbiased variance of one of
            them (NaN for one sample), in the unit of the statistics; `noises` reads them.

        Raises
        ------
        ValueError
            For a wrong shape, an empty axis, NaN or infinite statistics, names or ids that are missing or
            occur twice, and statistics that break the metric's rules.

        Examples
        --------
        >>> outputs = Outputs.from_statistics([[[1, 1], [0, 1]], [[1, 1], [1, 1]]], "accuracy", ["a", "b"])
        >>> outputs.scores().tolist()
        [50.0, 100.0]
        """
        metric = get_metric(metric)
        check_text("task", task)
        check_text("test_set", test_set)
        array = statistics_array(statistics)
        check_statistics(array, metric)
        system_table = keyed_table(
            systems, array.shape[0], "systems", "name", [f"system-{k + 1}" for k in range(array.shape[0])]
        )
        item_table = keyed_table(items, array.shape[1], "items", "id", [str(i) for i in range(array.shape[1])])
        names, ids = system_table["name"].tolist(), item_table["id"].array
        # Some systems at a time: what a metric makes of all may be many times as large.
        some = max(1, _TOGETHER // array[0].size)
        for first in range(0, len(names), some):
            metric.check(array[first : first + some], names[first:], ids)
        metric.check_shared(array, names, ids)
        known = None if answers is None else checked_answers(answers, array.shape[:2])
        drawn = None if samples is None else checked_samples(samples, array.shape[:2])
        return cls(read_only(array), metric, complete_systems(system_table), item_table, task, test_set, known, drawn)

    @classmethod
    def from_scores(
        cls,
        scores: Table,
        metric: str | Metric = "mean",
        systems: pd.DataFrame | None = None,
        items: pd.DataFrame | None = None,
        *,
        lower_is_better: bool | None = None,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from one score per item: a table in memory, of pandas, polars or pyarrow.

        Parameters
        ----------
        scores
            Numbers. *Wide*: a row for each item and a column for each system; a column ``item`` names the items, or
            else the index. *Long*: a row for each system and item, with ``system``, ``item`` and ``score``. Columns or
            index levels ``domain`` and ``cluster`` go with the items; of further columns `simstudy.load` makes more.
            Or a dictionary: system -> list of scores, or Series, or dictionary of scores by item. A warning says where
            rows and columns look as if they were exchanged: many systems on few items.
        metric
            "mean" (the scale of the scores), "accuracy" (0/1 scores, in percent), "median", or a metric of your own of
            the items' scores (``ss.metric(…, resample=True)``).
        systems
            A table with a column ``name``, a row for each column of the scores, in any order.
        items
            A table with a column ``id``, a row for each row of the scores, in any order. Where the scores have no
            index of their own (0, 1, 2, …), and other ids stand in the table, its rows are those of the scores in
            their order.
        lower_is_better
            True for errors (word error rates, losses): the mean is then the metric "mean (lower is better)". With None
            the columns' own name (``scores.columns.name``) is looked at, and a warning says so where it sounds like
            an error.

        Raises
        ------
        ValueError
            For a metric of other statistics than one score per item, lower_is_better with another metric than
            "mean", an item without a name (NaN in the index), a score that is missing, tables of other systems or
            items than the scores have, and as `from_statistics`.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"a": [1, 0, 1, 1], "b": [1, 0, 0, 1]})
        >>> Outputs.from_scores(frame, "accuracy").scores().tolist()
        [75.0, 50.0]
        >>> Outputs.from_scores(frame, lower_is_better=True).best_first().names
        ['b', 'a']
        >>> long = pd.DataFrame({"system": ["a", "a", "b", "b"], "item": ["q1", "q2"] * 2, "score": [1, 0, 1, 1]})
        >>> Outputs.from_scores(long, "accuracy").scores().tolist()
        [50.0, 100.0]
        """
        metric = directed(get_metric(metric), lower_is_better)
        alone = not metric.of_sums and len(metric.statistics) == 1
        if metric.item_range is None and not alone:
            raise InputError("metric", "must be 'mean' or 'accuracy' for one score per item", metric.name)
        frame, known = wide_scores(scores)
        values = score_values(frame)
        note_exchanged(values.shape[1], values.shape[0])
        check_axes(frame)
        names = [str(name) for name in frame.columns]
        if lower_is_better is None and metric.higher_is_better:
            warn_of_errors(frame.columns)
        statistics = values.T[..., None] if alone else np.stack([values.T, np.ones_like(values.T)], axis=-1)
        ids = [str(item) for item in frame.index]
        described: list[str] | pd.DataFrame = ids if known is None else known
        if items is not None:
            described = matched_table(items, ids, "items", "id", frame.index)
            if known is not None:
                # What is said beside the scores goes first.
                described = described.join(known[[name for name in known if name not in described]])
        return cls.from_statistics(
            statistics,
            metric,
            names if systems is None else matched_table(systems, names, "systems", "name", frame.columns),
            described,
            task=task,
            test_set=test_set,
        )

    @classmethod
    def from_labels(
        cls,
        gold: Sequence[Hashable] | pd.Series[Any],
        predicted: pd.DataFrame,
        metric: str | Metric = "macro_f1",
        systems: pd.DataFrame | None = None,
        items: pd.DataFrame | None = None,
        *,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from labels: a gold label for each item, and a column of predicted ones for each system.

        Parameters
        ----------
        gold
            n labels, in the order of the frame's rows: text, numbers or truth values.
        predicted
            (n items, K systems). The index names the items, the columns name the systems.
        metric
            "accuracy", "macro_f1", "balanced_accuracy" or "mcc". The classes are all labels that occur.
        systems, items
            As in `from_scores`.

        Raises
        ------
        ValueError
            For a label that is missing, another number of gold labels than rows, and a metric that takes no labels.

        Examples
        --------
        >>> import pandas as pd
        >>> predicted = pd.DataFrame({"a": ["cat", "dog", "cat", "cow"], "b": ["cat", "dog", "dog", "dog"]})
        >>> outputs = Outputs.from_labels(["cat", "dog", "dog", "cow"], predicted)
        >>> outputs.scores().round(2).tolist()   # b: F1 of 100, 80 and 0
        [77.78, 60.0]
        """
        metric = get_metric(metric)
        if not (isinstance(metric, PerClass) or metric.name == "accuracy"):
            raise InputError("metric", f"must be one of accuracy, {', '.join(PER_CLASS)} for labels", metric.name)
        _check_frame("predicted", predicted)
        statistics, metric, answers = label_statistics(gold, predicted, metric)
        described = _described(predicted, systems, items)
        return cls.from_statistics(statistics, metric, *described, answers=answers, task=task, test_set=test_set)

    @classmethod
    def from_texts(
        cls,
        references: Sequence[str | Sequence[str]],
        texts: pd.DataFrame,
        metric: str | Metric = "bleu",
        systems: pd.DataFrame | None = None,
        items: pd.DataFrame | None = None,
        *,
        tokenize: str | None = None,
        lowercase: bool = False,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs from texts: one or several references for each item, and a column of texts for each system.

        Parameters
        ----------
        references
            n texts, or lists of texts, in the order of the frame's rows.
        texts
            (n items, K systems). The index names the items, the columns name the systems.
        metric
            "bleu", "chrf", "chrf++", "ter", "wer", "cer", "rouge1" and other metrics of texts.
        systems, items
            As in `from_scores`.
        tokenize, lowercase
            How BLEU and chrF count, as in sacrebleu (see `simstudy.Texts`).

        Raises
        ------
        InputError
            For a text that is missing, another number of references than rows, and a metric that takes no texts.

        Examples
        --------
        >>> import pandas as pd
        >>> texts = pd.DataFrame({"a": ["the cat sat", "hello word"], "b": ["a cat sat", "hello world"]})
        >>> Outputs.from_texts(["the cat sat", "hello world"], texts, "wer").scores().tolist()
        [20.0, 20.0]
        """
        metric = get_metric(metric)
        if not metric.of_texts:
            raise InputError("metric", "must be a metric of texts, such as bleu, chrf or wer", metric.name)
        _check_frame("texts", texts)
        if len(references) != len(texts):
            raise InputError("references", f"must be {len(texts):,}, one for each row of texts", len(references))
        for name, column in texts.items():
            if not all(isinstance(text, str) for text in column):
                raise InputError("texts", f"must be text for each item, unlike a value of system '{name}'")
        each = [[one] if isinstance(one, str) else list(one) for one in references]
        counter = metric.text_counter(each, tokenize=tokenize, lowercase=lowercase)
        assert counter is not None
        codes, _ = pd.factorize(texts.to_numpy(dtype=object).T.ravel())
        return cls.from_statistics(
            np.stack([counter.statistics(column.tolist()) for _, column in texts.items()]),
            metric.signed(counter.signature),
            *_described(texts, systems, items),
            answers=codes.reshape(texts.shape[1], -1),
            task=task,
            test_set=test_set,
        )

    @classmethod
    def from_responses(
        cls,
        gold: Iterable[Hashable],
        responses: Mapping[str, Iterable[Hashable]],
        metric: str | Metric = "f1",
        *,
        task: str = "",
        test_set: str = "",
    ) -> Outputs:
        """Outputs of systems that find things (relations, names): each distinct response is an item.

        A randomization test that swaps single items of these Outputs is that of Yeh (2000, section 3.3), who
        shuffles the responses that only one of two systems gave: those found by both or by neither do not differ.

        Parameters
        ----------
        gold
            What should be found: text, numbers or tuples, each once.
        responses
            System's name -> what it found, each once.
        metric
            One of (correct, guessed, gold): "precision", "recall", "f1" …

        Returns
        -------
        outputs
            Items are the gold responses in their order, then the spurious ones as they appear (those of a set in the
            order of their texts); ids are their texts. Statistics (correct, guessed, gold) are (1, 1, 1) where found
            and gold, (0, 0, 1) where only gold, (0, 1, 0) where only found, else (0, 0, 0).

        Raises
        ------
        ValueError
            For a response that one list has twice or that is not hashable, two that read alike, no system or no
            response, and a metric of other statistics.

        Examples
        --------
        >>> outputs = Outputs.from_responses(["cat", "dog"], {"a": ["dog", "cow"], "b": ["cat", "dog", "cow", "elk"]})
        >>> outputs.items["id"].tolist(), outputs.with_metric("precision").scores().tolist()
        (['cat', 'dog', 'cow', 'elk'], [50.0, 50.0])
        """
        metric = get_metric(metric)
        if metric.statistics != ("correct", "guessed", "gold"):
            raise InputError("metric", f"must use (correct, guessed, gold) for responses, unlike '{metric.name}'")
        statistics, texts = response_statistics(gold, responses)
        return cls.from_statistics(statistics, metric, list(responses), texts, task=task, test_set=test_set)


def _check_frame(argument: str, frame: object) -> None:
    """Raise an InputError if this is no frame with a row for each item and a column for each system."""
    if not isinstance(frame, pd.DataFrame) or frame.shape[1] == 0:
        raise InputError(argument, "must be a pandas DataFrame (items x systems)", frame)


def _described(
    frame: pd.DataFrame, systems: pd.DataFrame | None, items: pd.DataFrame | None
) -> tuple[list[str] | pd.DataFrame, list[str] | pd.DataFrame]:
    """The systems and the items of a frame (items x systems): their names, or the tables that describe them."""
    names, ids = ([str(name) for name in axis] for axis in (frame.columns, frame.index))
    return (
        names if systems is None else matched_table(systems, names, "systems", "name", frame.columns),
        ids if items is None else matched_table(items, ids, "items", "id", frame.index),
    )
