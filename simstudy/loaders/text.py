"""Plain text: one file for each system, one line for each item. The metric decides what lines mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import assemble
from simstudy.loaders.base import Loaded, Source, SystemOutputs, noting
from simstudy.loaders.direction import all_errors
from simstudy.loaders.item_scores import number
from simstudy.loaders.items import items_in_order, numbered
from simstudy.loaders.lengths import note_lengths
from simstudy.loaders.lines import read_lines
from simstudy.loaders.references import References, check_lengths, is_table, read_references, unmarked
from simstudy.loaders.scripts import note_script
from simstudy.metrics import METRICS, Metric
from simstudy.metrics.base import Array


@noting
def read_text(source: Source) -> Loaded:
    """Outputs from files with a line for each item, in the same order in every file.

    - "bleu", "chrf", "chrf++", "rouge1", "rouge2", "rougeL": lines are texts. References are plain text files, one for
      the first references of all items, one for the second ones, …, where an empty line is no further reference; or
      one table (.csv, .tsv) with columns ``item`` and ``reference`` (by default the first and the last one), in which
      rows of one item are its references, items in the order of their first rows.
    - "accuracy": lines are labels, right where they equal the line of the one reference file; blanks around them do
      not count.
    - "mean", and any other `Mean`: lines are numbers. There are no references.

    A system's line may be empty where it is text or a label; a note counts such lines, and those that are far longer or
    shorter than their references (`simstudy.loaders.lengths`). Items' ids are those of the table of references, which
    the items table must have then, in any order; else those of the items table, or "1", "2", … Lines have no ids by
    which one could tell which of them is missing, so that `Source.missing` does not matter.
    """
    _check(source)
    named, metric = source.systems(), source.metric
    gold = read_references(source) if metric.counts_texts else None
    files = [unmarked(read_lines(path), source) for path in source.paths]
    n = _common_length([(path, len(lines)) for path, lines in zip(source.paths, files, strict=True)], gold)
    known = pd.DataFrame({"id": gold.ids}) if gold and gold.ids else numbered(n)
    items = items_in_order(source, known, named=bool(gold and gold.ids))
    ids = items["id"].tolist()
    how = source.texts
    counter = metric.text_counter(gold.texts, tokenize=how.tokenize, lowercase=how.lowercase) if gold else None
    if counter is not None:
        source = replace(source, metric=metric.signed(counter.signature))
    systems = []
    for (name, path), lines in zip(named.items(), files, strict=True):
        if counter is None:
            systems.append(SystemOutputs(name, str(path), ids, _scores(lines, path, metric)))
            continue
        # Blanks around a label do not count.
        said = lines if metric.of_texts else [line.strip() for line in lines]
        systems.append(SystemOutputs(name, str(path), ids, counter.statistics(said), said))
    if gold:
        note_script(gold.texts, source)
        note_lengths(dict(zip(source.paths, files, strict=True)), gold.texts, texts=metric.of_texts)
    outputs = assemble(systems, source, expected=ids, items=items)
    return Loaded(outputs, scored_by=() if gold else all_errors(path.name for path in source.paths))


def _check(source: Source) -> None:
    """Raise a ValueError where a source asks for what plain text has not."""
    metric = source.metric
    if not source.paths:
        raise ValueError("paths must name at least one file of system outputs")
    if not (metric.counts_texts or metric.item_range):
        known = ", ".join(["mean", *(name for name, one in METRICS.items() if one.counts_texts)])
        raise ValueError(f"metric must be one of {known} for plain text, not '{metric.name}'")
    if source.texts.lowercase and not metric.of_texts:
        raise ValueError(f"lowercase is for metrics of texts, not for '{metric.name}'")
    if source.texts.tokenize is not None and not metric.tokenizers:
        raise ValueError(f"tokenize is for metric 'bleu', not for '{metric.name}'")
    if source.references and not metric.counts_texts:
        raise ValueError(f"metric '{metric.name}' takes no references: lines of plain text are the scores")
    tabled = source.items is not None or any(is_table(path) for path in source.references)
    if source.columns and not tabled:
        ours, theirs = next(iter(source.columns.items()))
        raise ValueError(f"plain text has no columns, so none '{theirs}' for {ours}: give a table of the items")


def _common_length(files: Sequence[tuple[Path, int]], gold: References | None) -> int:
    """How many items there are: as many as have references, or else as most files have."""
    if gold is not None:
        n, origin = len(gold.texts), gold.origin
    else:
        n = Counter(count for _, count in files).most_common(1)[0][0]
        origin = next(path for path, count in files if count == n)
    check_lengths(files, origin, n)
    return n


def _scores(lines: Sequence[str], path: Path, metric: Metric) -> Array:
    """Statistics (n, 2) of a file's lines, where these are scores."""
    low, high = metric.item_range or (-np.inf, np.inf)
    values = np.array([number(line) for line in lines])
    for wrong, rule in (
        (~np.isfinite(values), "a number"),
        (values < low, f"at least {low:g}"),
        (values > high, f"at most {high:g}"),
    ):
        if wrong.any():
            line = int(wrong.argmax())
            raise ValueError(f"{path}, line {line + 1}: {metric.name} must be {rule}, not '{lines[line]}'")
    return np.stack([values, np.ones_like(values)], axis=-1)
