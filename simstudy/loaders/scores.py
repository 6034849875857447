"""Tables of scores: a row for each system and item (tidy), or for each item with a column for each system (wide)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, assemble, kept_texts
from simstudy.loaders.base import Loaded, Source, all_errors
from simstudy.loaders.column_names import (
    ROW,
    alike,
    guesses,
    with_guesses,
    with_item_columns,
    with_joined,
    with_rows,
)
from simstudy.loaders.entries import (
    Entries,
    by_sample,
    is_of_samples,
    is_tidy,
    own_systems,
    systems_of,
    tidy_entries,
    wide_entries,
)
from simstudy.loaders.gathering import check_rules, item_table, nothing_said, outputs_of_systems, texts_of_entries
from simstudy.loaders.gold_labels import check_gold, with_gold
from simstudy.loaders.items import items_by_id, of_samples
from simstudy.loaders.json_tables import of_each_score
from simstudy.loaders.labels import check_has_gold, check_scores_or_labels, label_entries, of_labels, with_our_names
from simstudy.loaders.sample_columns import of_lists, samples_of_means, stacked
from simstudy.loaders.summaries import entries_of_items
from simstudy.loaders.tables import (
    BLANK,
    JSON,
    Where,
    check_plain,
    ending,
    no_column,
    not_plain,
    places,
    read_table,
    renamed,
)
from simstudy.loaders.text_columns import as_text
from simstudy.loaders.unusual_scores import (
    note_item_column,
    note_unlike_columns,
    note_unusual,
    note_unusual_entries,
    scores_of_systems,
)
from simstudy.loaders.usual_names import RUNS, plain, sample_columns
from simstudy.loaders.wide_tables import whole_table
from simstudy.metrics.base import Array
from simstudy.notes import Note, note, notes_kept, tell
from simstudy.outputs import Outputs
from simstudy.outputs.answers import read_only
from simstudy.outputs.checks import note_exchanged, note_percent
from simstudy.text.reprs import listed
from simstudy.validation import InputError

# What to say of a table without a column of items.
_NO_ITEM = "Name it with columns={'item': 'NAME'}. If the rows have no ids, use columns={'item': 'row'}."


def read_scores(source: Source) -> Loaded:
    """Systems from tables of item scores (`simstudy.loaders.tables.read_table`: CSV, TSV, JSON, Parquet).

    The columns tell the shape. *Tidy*: ``system`` (without it each file is one system, named after it), ``item``, and
    ``score`` or the metric's statistics (``correct``, ``guessed``, ``gold`` for f1). *Wide*: ``item``, and a column of
    scores for each system; of statistics, columns ``<system>:<statistic>``, and ``<statistic>`` for one that all
    systems share. An empty cell of a wide table is an item that the system lacks; of a tidy one it is an error, unless
    items may be missing.

    Where rows of a system and item come again, a column ``sample`` must number them (`simstudy.loaders.items`), or
    ``columns={"sample": "row"}``, in their order. ``{"item": "row"}`` takes rows for the items, in their order.

    Columns under other usual names are found (`simstudy.loaders.column_names`); ``{"item": "category+id"}`` joins two.

    *Labels*, for "accuracy", "macro_f1", "balanced_accuracy" and "mcc": ``gold``, and ``system``, ``item`` and
    ``predicted``, or a column of predicted labels for each system (`simstudy.loaders.labels` has other names).

    Samples may have columns of their own, or a column ``n_samples`` says how many a score is the mean of
    (`simstudy.loaders.sample_columns`).

    Other columns go with the items: of a tidy table those that say the same of an item for every system, of a wide
    one ``domain``, ``cluster`` or another name of clusters (`simstudy.loaders.clusters`), and what `Source.columns`
    declares: our name -> the file's, ``{"item": "instance_id", "score": "resolved", "domain": "repo"}``.
    """
    return scores_from_frame(read_frame(source), str(source.paths[0]), source)


def read_frame(source: Source) -> pd.DataFrame:
    """The tables of a source's files one below the other; the index says file and line.

    Tidy tables without a column ``system``, and tables with a column for each sample, get one: the name of the file.
    """
    if not source.paths:
        raise InputError("no system: at least one table of scores is needed")
    files = [str(path) for path in source.paths]
    read = [_called(read_table(path, source.narrow), path, source) for path in source.paths]
    frames = alike(read, files, source.columns, source.metric)
    units = {str(frame.index.name) for frame in frames}
    names = ["file", units.pop() if len(units) == 1 else "row"]
    if len(frames) == 1:
        # Without a copy.
        frame = frames[0].set_axis(pd.MultiIndex.from_product([files, frames[0].index], names=names))
    else:
        frame = pd.concat(frames, keys=files, names=names)
    columns = {**source.columns, **guesses(frame, files[0], source.columns, source.metric)}
    if source.references:
        frame = with_gold(frame, columns, source)
    named = "+" in columns.get("system", "") or columns.get("system", "system") in frame
    ours = renamed(frame, columns)
    sampled = not named and is_of_samples(ours, source.metric)
    if sampled:
        first, *_, last = sample_columns(ours)
        whose = "the system" if len(files) == 1 else "each file's system"
        note(
            "text",
            text=f"columns '{first}' to '{last}' are samples of {whose}; give them other names if they are systems",
        )
    if sampled or (not named and _shape(with_our_names(ours, source.metric, source.columns), source)[1]):
        frame = frame.assign(system=np.repeat([*source.systems()], [len(own) for own in frames]))
    return frame


def _shape(frame: pd.DataFrame, source: Source) -> tuple[bool, bool]:
    """Whether a table with our names has labels, and whether it is tidy."""
    labels = of_labels(frame, source.metric, source.columns)
    return labels, "predicted" in frame if labels else is_tidy(frame, source.metric)


def _called(frame: pd.DataFrame, path: Path, source: Source) -> pd.DataFrame:
    """A file's table with the name that its one system is given; a ValueError where it names several."""
    if ending(path) in JSON:
        frame = of_lists(of_each_score(frame, source.columns.values()), source.columns, source.metric)
    name = source.names.get(path)
    if name is None:
        return frame
    source = with_item_columns(frame, source)
    columns = {**source.columns, **guesses(frame, str(path), source.columns, source.metric)}
    own = own_systems(renamed(frame, columns), str(path), source)
    if not own:
        return frame
    guessed = "system" not in source.columns and columns.get("system", "")
    if len(own) > 1 and not (guessed and plain(guessed) in RUNS):
        raise InputError(f"{path} already names {len(own)} systems, {listed([*own])}: leave out the name '{name}'")
    system, theirs = next(iter(own.items()))
    if not theirs:
        return frame.assign(**{columns.get("system", "system"): name})
    shared = source.metric.statistics
    return frame.rename(columns={c: name + c.removeprefix(system) for c in theirs if c not in shared})


def scores_from_frame(frame: pd.DataFrame, origin: str, source: Source) -> Loaded:
    """Systems from a table of scores that is read (and perhaps cut to some of its rows) already.

    Its index says where rows are, as `read_frame` leaves it; the origin is what to call a table whose index names no
    file. The paths of the source are not read.
    """
    if frame.empty:
        raise InputError(f"{origin}: no row is left")
    frame = with_joined(frame, source.columns, origin, places(frame, origin))
    as_given = source = with_item_columns(frame, source)
    source = replace(source, columns=with_guesses(frame, origin, source.columns, source.metric))
    _check_columns(frame, origin, source)
    theirs, frame = [*frame.columns], renamed(frame, source.columns)
    frame = with_rows(frame, "item", source.columns, ["system"])
    frame = with_rows(frame, "sample", source.columns, ["system", "item"])
    check_scores_or_labels(frame, origin, as_given.columns, source.columns, source.metric)
    check_has_gold(frame, origin, source.metric)
    frame = with_our_names(frame, source.metric, source.columns)
    frame = stacked(frame, source.metric)
    _check_has_items(frame, origin, as_given.columns, theirs)
    labels, tidy = _shape(frame, source)
    frame = _plain(frame, tidy, source, places(frame, origin))
    if tidy and not labels and source.missing != "error" and "score" in frame:
        frame = frame[frame["score"].notna() & ~frame["score"].isin(BLANK)]
    where = places(frame, origin)
    left_out: list[Note] = []
    unlike: set[str] = set()
    if labels:
        entries, metric = label_entries(frame, origin, source, where)
        source = replace(source, metric=metric)
    elif tidy:
        with notes_kept() as left_out:
            entries = entries_of_items(frame, source, where, lambda own: tidy_entries(frame, origin, own, where))
    else:
        by_system = systems_of(frame, origin, source)
        note_item_column(as_given.columns)
        if whole := whole_table(frame, by_system, source):
            return _of_whole_table(frame, [*by_system], whole, (as_given, source), where)
        with notes_kept() as left_out:
            entries = entries_of_items(
                frame, source, where, lambda own: wide_entries(frame, by_system, origin, own, where)
            )
        if {*by_system} <= {*frame}:
            unlike = note_unlike_columns(*scores_of_systems(entries)[:2])
    of_items, entries, samples = by_sample(entries, frame, source, where)
    if labels:
        check_gold(frame, of_items, where)
    system, row, names = entries.system, entries.row, entries.systems
    check_rules(entries.statistics[None], source.metric, lambda _, i: f"{where(row[i])}, system '{names[system[i]]}'")
    # A table of items may call them otherwise.
    known = item_table(frame, of_items, source, where)
    items = items_by_id(as_given, known, frame.columns)
    # How the columns were read is told first.
    for told in left_out:
        tell(told)
    if samples:
        items = of_samples(items, samples)
    nothing = nothing_said(entries, source.metric) if source.missing == "zero" else None
    means = None if samples or not tidy else samples_of_means(entries, frame, source.metric, where)
    if means is None:
        note_unusual_entries(entries, source.metric, unlike, where)
    texts = texts_of_entries(entries, frame, known.columns) if source.keeps_texts else None
    systems = outputs_of_systems(entries, where, means, texts)
    loaded = assemble(systems, source, items, nothing, _asked(entries, frame, labels), unlike=unlike)
    if not tidy or {"key1", "key2"} <= {*source.columns.values()}:
        note_exchanged(loaded.outputs.n_systems, loaded.outputs.n_items)
    return replace(loaded, scored_by=_scored_by(entries.systems, tidy, source))


def _asked(entries: Entries, frame: pd.DataFrame, labels: bool) -> Asked:
    """The right answers of items: gold labels."""
    gold = frame["gold"].iloc[entries.row] if labels else ()
    return Asked(references={entries.items[i]: as_text(one) for i, one in zip(entries.item, gold, strict=False)})


def _check_has_items(frame: pd.DataFrame, origin: str, given: Mapping[str, str], theirs: Sequence[object]) -> None:
    """Raise a ValueError without a column of items, with advice where it has another name of ours."""
    if "item" not in frame:
        taken = next((ours for ours, named in given.items() if named == "item"), None)
        meant = f" or did you mean columns={{'item': '{taken}'}}?" if taken in theirs else ""
        advice = f"Leave out columns={{'{taken}': 'item'}}{',' if meant else '.'}{meant}" if taken else _NO_ITEM
        no_column(origin, "item", frame.columns, advice)


def _of_whole_table(
    frame: pd.DataFrame, systems: list[str], whole: tuple[Entries, Array], sources: tuple[Source, Source], where: Where
) -> Loaded:
    """What is in a wide table without a missing score, of which nothing has to be matched."""
    (entries, statistics), (as_given, source) = whole, sources
    check_rules(statistics, source.metric, lambda k, i: f"{where(i)}, system '{systems[k]}'")
    unlike = note_unlike_columns(systems, [*statistics[..., 0]]) if {*systems} <= {*frame} else set()
    items = items_by_id(as_given, item_table(frame, entries, source, where), frame.columns)
    if {*systems} <= {*frame}:
        note_unusual(dict(zip(systems, statistics[..., 0], strict=True)), source.metric, unlike, lambda _, i: where(i))
    if source.metric.item_range == (-np.inf, np.inf):
        note_percent(statistics, systems, unlike)
    texts = kept_texts([], [], items, None) if source.keeps_texts else None
    note_exchanged(*statistics.shape[:2])
    outputs = Outputs.from_statistics(read_only(statistics), source.metric, systems, items)
    return Loaded(outputs, _scored_by(systems, False, source), texts)


def _scored_by(systems: Sequence[str], tidy: bool, source: Source) -> tuple[str, ...]:
    """What the tables call the scores; in a wide one each system's column may say it, in any the name of the file."""
    columns = [theirs for ours, theirs in source.columns.items() if ours in ("score", *source.metric.statistics)]
    return (*columns, *(() if tidy else all_errors(systems)), *all_errors(path.name for path in source.paths))


def _check_columns(frame: pd.DataFrame, origin: str, source: Source) -> None:
    named = with_our_names(renamed(frame, source.columns), source.metric, source.columns)
    for ours, theirs in {"item": "item", **source.columns}.items():
        if ours == theirs == "item" and ours in named:
            continue
        numbers_rows = theirs == ROW and ours in ("item", "sample")
        if theirs in frame or numbers_rows or any(str(name).endswith(f":{theirs}") for name in frame.columns):
            continue
        # What is declared of the items may be in a table of its own.
        if source.items is None or ours in ("system", "item", "score", *source.metric.statistics):
            hint = [_NO_ITEM] if ours == theirs else []
            if source.metric.name.startswith("precision@"):
                hint.append("For candidates, name the column of true candidates with columns={'gold': 'NAME'}.")
            no_column(origin, theirs, frame.columns, " ".join(hint))


def _plain(frame: pd.DataFrame, tidy: bool, source: Source, where: Where) -> pd.DataFrame:
    """The frame without columns of lists or bytes that are not asked for; notes name them."""
    asked = {"system", "item", "score", "domain", "cluster", *source.metric.statistics, *source.columns}
    left_out: dict[str, str] = {}
    for name in frame.columns:
        if name in asked or not tidy:
            check_plain(frame[name], source.columns.get(name, name), where)
        elif nested := not_plain(frame[name]):
            left_out[name] = nested[1]
    if len(left_out) == 1:
        ((name, kind),) = left_out.items()
        note("text", text=f"column '{name}' left out: a cell of it is {kind}")
    elif left_out:
        note("text", text=f"columns left out, for they have lists or the like: {listed([*left_out], 12)}")
    return frame.drop(columns=[*left_out])
