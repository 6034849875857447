"""The long table that every format is read into, and what it becomes: Outputs.

A format is an adapter from files to rows: a row for each system and item, or for each sample of an item. All that
formats share is here: names are checked, items are matched by their ids, samples are numbered, missing items are
refused, dropped or scored as no answer, and rows become an array.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.metrics import Metric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.mean import sample_metric
from simstudy.notes import Argument, Note, Words, note
from simstudy.outputs import Outputs
from simstudy.outputs.samples import SAMPLE_OF, has_samples, per_question, unit_in_words
from simstudy.outputs.statistics import read_only
from simstudy.outputs.test_set import ItemTexts
from simstudy.readers.columns import (
    NO_NAMES,
    USUAL,
    first_of,
    how_to_write,
    is_blank,
    narrow,
    no_column,
    numbers,
    on_one_line,
    place,
    plain,
    takes_one_score,
)
from simstudy.readers.items import described
from simstudy.readers.request import Request, column
from simstudy.running.fingerprints import number_of
from simstudy.text.numerals import counted
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, check_text, check_utf8

#: Positions (n,) in a list of names.
Codes = NDArray[np.int32]

#: What to do about questions without samples.
IF_SAMPLES = Words(
    "samples of a question need a column 'sample' with their numbers: {named}, or {rows} for the order of the rows",
    named=column("sample"),
    rows=column("sample", "row"),
)

#: What to do about several rows of a system and item.
IF_AGAIN = Words(
    "{samples}; or say which column has prompts or raters ({factor}), systems ({system}), or ids that begin anew "
    "({joined})",
    samples=IF_SAMPLES,
    factor=column("factor"),
    system=column("system"),
    joined=column("item", "NAME+ID"),
)

# Ids are not those of questions if more than this share of the items differ in their questions between systems, and
# most of these questions stand under another id too; characters of a question that an error shows.
_DIFFERENT, _MOST, _SHOWN = 0.1, 0.5, 40

# Tables round scores: how far a score times its number of samples may be from a whole number.
_ROUNDED = 0.02


@dataclass(frozen=True)
class LongTable:
    """Rows of systems and items, as a format read them.

    Attributes
    ----------
    rows
        A row for each system and item, or sample of an item. Columns: ``system`` and ``item`` (text), the statistics
        (`values`), and where known ``sample`` (its number or name), ``n_samples`` (how many answers a score is the mean
        of), ``task`` (the items of several tasks are called <task>/<item>, and the task is the domain), ``domain``,
        ``cluster``, ``factor`` (a second crossed factor: prompt, rater), and for people ``input`` (what an item asks),
        ``gold`` (what is right; ``reference`` if a statistic is called gold) and ``answer`` (what the system said). A
        row without an answer to be scored is left out. The index says where a row is: its last level has a name such as
        "line", and a level "file" comes first if there are several files.
    values
        The columns of statistics in the order of ``metric.statistics``; or ("score",): one score an item, which is
        checked against the metric's range. Whole numbers stay integers.
    metric
        The metric of the statistics; None: that of the request.
    expected
        The items in their order, where references or a gold file say so: a column ``item``, columns that describe them,
        and the statistics of no answer, under their names, for ``missing="zero"``. None: the items of the rows, in the
        order of their first rows.
    wide
        Whether the files have a column for each system.
    numbered
        Whether items have no ids in the files but an order, "1" to "n": a table of the items may then name them.
    drops_unscored
        Whether expected items that no system has a score of are left out, with a note.
    of_items
        Further columns of the rows that describe the items.
    answers_compare
        Whether two systems with the same ``answer`` to an item gave the same answer, which tells near-duplicates.
        False: answers are for people to read.
    scored_by
        What the files call numbers that they have as scores; empty if items were scored against references.
    read_as, items_by, remarks
        For the first note: what the files were read as, if not what the format is called; the column that names the
        items; and what else was read how: "systems by 'model'".
    if_again
        What to do if two files have a row of one system and item each.
    """

    rows: pd.DataFrame
    values: Sequence[str]
    metric: Metric | None = None
    expected: pd.DataFrame | None = None
    wide: bool = False
    numbered: bool = False
    drops_unscored: bool = False
    of_items: Sequence[str] = ()
    answers_compare: bool = False
    scored_by: tuple[str, ...] = ()
    read_as: str = ""
    items_by: str = ""
    remarks: Sequence[str] = ()
    if_again: str = ""


@dataclass(frozen=True, repr=False)
class Loaded(ReprMixin):
    """Outputs of systems that were read, with notes.

    Attributes
    ----------
    outputs
        The systems' Outputs, in the order of the files.
    scored_by
        What the files call numbers that they have as scores: columns, fields, files. Empty if items were scored against
        references.
    texts
        What the items ask and what the systems answered, for people; None if files have scores only.
    notes
        What a user should know: the first says what was read.
    """

    outputs: Outputs
    scored_by: tuple[str, ...] = ()
    texts: ItemTexts | None = None
    notes: tuple[Note, ...] = field(default=(), kw_only=True)

    def named(self, *, test_set: str = "", task: str = "") -> Self:
        """The same with names that appear in every table."""
        check_text("test_set", test_set)
        check_text("task", task)
        return replace(self, outputs=replace(self.outputs, task=task, test_set=test_set))

    def _summary(self) -> tuple[str, str]:
        outputs, _ = self.outputs._summary()
        return f"{type(self).__name__}: {outputs}", f"notes: {'; '.join(self.notes) or 'none'}"

    def _table(self) -> pd.DataFrame:
        return self.outputs._table()


def if_missing(metric: Metric) -> Words:
    """What to do about an item that a system lacks."""
    drop, zero = Argument("missing", "drop"), Argument("missing", "zero")
    if metric.zero_is_best:
        return Words("{drop} leaves such items out", drop=drop)
    return Words("{drop} leaves such items out, {zero} scores a missing one as no answer", drop=drop, zero=zero)


def coded(rows: pd.DataFrame, name: str) -> tuple[Codes, NDArray[Any]]:
    """The texts of a column (n,) as positions in an array of the different ones, each of which is a name.

    An item of several lines, such as a prompt, is called by all of them on one line. An InputError says where there is
    no name, or a system of several lines.
    """
    cells = rows[name]
    if isinstance(cells.dtype, pd.CategoricalDtype):
        codes, names = cells.cat.codes.to_numpy(), cells.cat.categories
    else:
        try:
            codes, names = pd.factorize(cells.where(cells.isna(), cells.astype(str)))
        except UnicodeEncodeError as error:
            # Half a character, which pandas' strings cannot hold.
            at = place(rows, [*map(str, cells)].index(error.object)).encode(errors="backslashreplace").decode()
            raise InputError(f"{name}s", "must be named in whole characters (UTF-8)", error.object, at=at) from None
    if (row := first_of(codes < 0)) is not None:
        raise InputError(f"no {name}", at=place(rows, row))
    if name == "item":
        code_of_line, names = pd.factorize(pd.Index([on_one_line(text) for text in names], dtype=object))
        codes = code_of_line[codes]
    for code, text in enumerate(names):
        if text.strip() in NO_NAMES:
            rule = f"'{text}' is no name of a {name}" if text.strip() else f"no {name}"
            raise InputError(rule, at=place(rows, int(np.argmax(codes == code))))
        if "\n" in text or "\r" in text:
            raise InputError(name, "must be one line", text, at=place(rows, int(np.argmax(codes == code))))
    check_utf8(names, f"{name}s")
    return codes.astype(np.int32), np.array([str(text) for text in names], dtype=object)


def outputs_of(table: LongTable, request: Request) -> Loaded:
    """Outputs of a long table: systems matched over items, with samples, clusters and texts.

    Raises
    ------
    InputError
        For a name or a score that is none, a row that comes again, items that systems lack (``missing="error"``),
        and statistics that break the metric's rules; each with the place in the file.
    """
    metric = table.metric or request.metric
    rows = _with_scores(table, request)
    system, systems = coded(rows, "system")
    item, items = coded(rows, "item")
    keyed = _of_tasks(_Keyed(rows, system, systems, item, items), request)
    _check_same_questions(keyed, request)
    keyed = _sampled(_crossed(keyed, request), table)
    keyed, table, described = _items_table(keyed, table, request)
    statistics = _statistics(keyed.rows, table.values, metric)
    texts = _texts(keyed, table) if request.keeps_texts else None
    samples = _samples_of_means(keyed, statistics, metric)
    if _unlike_samples(keyed, statistics, metric, request):
        keyed, statistics, samples, described = _question_means(keyed, statistics, described)
    if request.narrow:
        statistics = _narrowed(statistics)
    described, order, present = _matched(keyed, described, request)

    def arranged(values: Array, nothing: object) -> Array:
        """Values (n, ...) of the rows as an array (K, n_items, ...), with `nothing` if a system lacks an item."""
        array = np.empty((*present.shape, *values.shape[1:]), values.dtype)
        array[:] = nothing
        inside = order[keyed.item] >= 0
        array[keyed.system[inside], order[keyed.item[inside]]] = values[inside]
        return array

    array = arranged(statistics, 0)
    if not present.all():
        array = _filled(array, present, described, table, metric)
        array = _narrowed(array) if request.narrow else array
    answers = _answers(keyed.rows) if table.answers_compare else None
    nothing = [] if table.expected is None else [name for name in metric.statistics if name in described]
    outputs = Outputs.from_statistics(
        read_only(array),
        metric,
        keyed.systems.tolist(),
        described.drop(columns=nothing),
        answers=None if answers is None else arranged(answers, -1),
        samples=None if samples is None else arranged(samples, (1, np.nan)),
    )
    return Loaded(_of_questions(outputs, request), table.scored_by, texts)


def of_several_tasks(outputs: Outputs) -> bool:
    """Whether these are outputs of several tasks: the items of each domain are called <domain>/<item>."""
    if "domain" not in outputs.items or outputs.items["domain"].nunique() < 2:
        return False
    pairs = zip(outputs.items["id"].astype(str), outputs.items["domain"].astype(str), strict=True)
    return all(name.startswith(f"{task}/") for name, task in pairs)


@dataclass(frozen=True)
class _Keyed:
    """Rows with the positions (n,) of their systems and items in lists of names."""

    rows: pd.DataFrame
    system: Codes
    systems: NDArray[Any]
    item: Codes
    items: NDArray[Any]
    #: The question of each item, where items are samples of questions.
    question: NDArray[Any] | None = None


def _with_scores(table: LongTable, request: Request) -> pd.DataFrame:
    """The rows with a score. A row without one is an item that the system lacks, if items may be missing."""
    rows = table.rows
    if tuple(table.values) == ("score",):
        blank = is_blank(rows["score"])
        if request.missing == "error" and (row := first_of(blank)) is not None:
            raise InputError("no score", remedy=if_missing(request.metric), at=place(rows, row))
        rows = rows[~blank] if blank.any() else rows
    if rows.empty:
        raise InputError(f"no system has a score in {', '.join(map(str, request.paths))}")
    return rows


def _statistics(rows: pd.DataFrame, values: Sequence[str], metric: Metric) -> Array:
    """The statistics (n, S) of the rows; an InputError names the first that is no number or out of range."""
    parts: list[FloatArray] = []
    for name in values:
        column_of_numbers = numbers(rows[name])
        if (row := first_of(~np.isfinite(column_of_numbers))) is not None:
            cell = rows[name].iloc[row]
            raise InputError(name, "must be a number", cell, how_to_write(cell), at=place(rows, row))
        parts.append(column_of_numbers)
    if tuple(values) == metric.statistics:
        return narrow(np.stack(parts, axis=-1))
    if not takes_one_score(metric):
        other = Words("{mean} compares such scores", mean=Argument("metric", "mean"))
        needs = f"needs {', '.join(metric.statistics)} of each item, but there is one score"
        raise InputError("metric", f"'{metric.name}' {needs}", remedy=other)
    assert metric.item_range is not None
    low, high = metric.item_range
    if (row := first_of((parts[0] < low) | (parts[0] > high))) is not None:
        rule = f"must be between {low:g} and {high:g} for metric '{metric.name}'"
        remedy = Words("{mean} compares the means of other numbers", mean=Argument("metric", "mean"))
        at = f"{place(rows, row)}, system '{rows['system'].iloc[row]}'"
        raise InputError("score", rule, rows["score"].iloc[row], remedy, at=at)
    scores = narrow(parts[0][:, None])[:, 0]
    return np.stack([scores, np.ones_like(scores)], axis=-1)


def _of_tasks(keyed: _Keyed, request: Request) -> _Keyed:
    """Items of several tasks with the names <task>/<item>, and the task as their domain."""
    if "task" not in keyed.rows:
        return keyed
    task, tasks = coded(keyed.rows, "task")
    if len(tasks) == 1 and request.domain not in tasks:
        return keyed
    codes, names, _ = _items_with(keyed, task, tasks, "{value}/{item}")
    return replace(keyed, rows=keyed.rows.assign(domain=keyed.rows["task"]), item=codes, items=names)


def _items_with(
    keyed: _Keyed, value: Codes, values: NDArray[Any], form: str
) -> tuple[Codes, NDArray[Any], NDArray[Any]]:
    """Items that are pairs of an item and a value: the codes of the rows, names, and the item of each pair."""
    codes, keys = pd.factorize(keyed.item.astype(np.int64) * len(values) + value)
    items = keyed.items[keys // len(values)]
    names = [form.format(item=item, value=values[k]) for item, k in zip(items, keys % len(values), strict=True)]
    return codes.astype(np.int32), np.array(names, dtype=object), items


def _check_same_questions(keyed: _Keyed, request: Request) -> None:
    """Raise an InputError if systems have the same questions under other ids: matching by these pairs them wrongly."""
    if "input" not in keyed.rows or len(keyed.systems) < 2:
        return
    question, texts = pd.factorize(keyed.rows["input"].map(as_text))
    asked = pd.DataFrame({"system": keyed.system, "item": keyed.item, "question": question})
    asked = asked[question >= 0].drop_duplicates()
    differ = asked.groupby("item")["question"].transform("nunique") > 1
    moved = asked.groupby("question")["item"].transform("nunique")[differ] > 1
    by_system = asked.groupby("system")["question"].agg(["nunique", "size"])
    # Few may be slips, other texts other ways of asking, and a column of prompts has the same text for many items.
    shared = (by_system["nunique"] < by_system["size"] * _MOST).any()
    if differ.mean() <= _DIFFERENT or moved.mean() <= _MOST or shared:
        return
    item = asked["item"][differ].iloc[0]
    first, other = (f"'{texts[k][:_SHOWN]}'" for k in asked["question"][asked["item"] == item].unique()[:2])
    name = next((str(name) for name in keyed.rows if plain(name) in USUAL["input"]), "NAME")
    raise InputError(
        f"systems have the same questions under other ids: item '{keyed.items[item]}' is {first} and {other}",
        remedy=Words("{columns} matches by '{name}'", columns=column("item", name), name=name),
        at=request.paths[-1] if request.paths else "the table",
    )


def _crossed(keyed: _Keyed, request: Request) -> _Keyed:
    """Rows that cross items with a factor (prompts, raters): each pair is an item, and those of one item a cluster."""
    if "factor" not in keyed.rows or _first_repeat(keyed) is None:
        return keyed
    factor, factors = coded(keyed.rows, "factor")
    codes, names, _ = _items_with(keyed, factor, factors, "{value}/{item}")
    cluster = {}
    if "cluster" not in keyed.rows:
        cluster = {"cluster": keyed.items[keyed.item]}
        note("crossed items", factor=request.columns.get("factor", "factor"), n=f"{len(factors):,}")
    elif (divided := keyed.rows["cluster"].astype(str).groupby(keyed.item).nunique() > 1).any():
        item = keyed.items[int(np.unique(keyed.item)[np.argmax(divided)])]
        raise InputError("cluster", f"must hold all rows of item '{item}', which is crossed with a factor")
    return replace(keyed, rows=keyed.rows.assign(**cluster), item=codes, items=names)


def _sampled(keyed: _Keyed, table: LongTable) -> _Keyed:
    """Rows whose items are samples, if some system has several rows of an item: a column must number them."""
    repeat = _first_repeat(keyed)
    if repeat is None:
        return keyed
    if "sample" not in keyed.rows:
        files = {keyed.rows.index[row][0] if keyed.rows.index.nlevels > 1 else "" for row in repeat}
        raise _comes_again(keyed, *repeat, "item", table.if_again if len(files) > 1 and table.if_again else IF_AGAIN)
    sample, numbers_of = coded(keyed.rows, "sample")
    codes, names, question = _items_with(keyed, sample, numbers_of, "{item}#{value}")
    sampled = replace(keyed, item=codes, items=names, question=question)
    if (repeat := _first_repeat(sampled)) is not None:
        raise _comes_again(sampled, *repeat, "sample", "take one of the two rows out")
    return sampled


def _first_repeat(keyed: _Keyed) -> tuple[int, int] | None:
    """The first two rows of one system and item, the second as early as possible; None if there are none."""
    pairs = keyed.system.astype(np.int64) * len(keyed.items) + keyed.item
    again = first_of(pd.Series(pairs).duplicated())
    return None if again is None else (int(np.argmax(pairs == pairs[again])), again)


def _comes_again(keyed: _Keyed, first: int, again: int, what: str, remedy: str) -> InputError:
    item, system = keyed.items[keyed.item[again]], keyed.systems[keyed.system[again]]
    rule = f"{what} '{item}' of system '{system}' comes again, first in {place(keyed.rows, first)}"
    return InputError(rule, remedy=remedy, at=place(keyed.rows, again))


def _items_table(keyed: _Keyed, table: LongTable, request: Request) -> tuple[_Keyed, LongTable, pd.DataFrame]:
    """The items with a column ``id`` and what describes them, in the order in which they are expected.

    Items that are numbered get the ids of the request's table of the items, here and in the rows.
    """
    question_of_item, names = pd.factorize(keyed.items if keyed.question is None else keyed.question)
    codes = question_of_item[keyed.item].astype(np.int32)
    items = pd.DataFrame({"id": names})
    for name in dict.fromkeys(["domain", "cluster", "factor", *table.of_items]):
        if name in keyed.rows:
            cells = _one_for_each(keyed.rows, name, codes, names, request)
            items = items if cells is None else items.assign(**{name: cells})
    if table.expected is not None:
        expected = table.expected.rename(columns={"item": "id"}).reset_index(drop=True)
        items = expected.merge(items, "left", on="id", suffixes=("", "_of_rows"))
    texts = [name for name in ("input", "gold", "reference") if name in items and name not in table.values]
    numbers_as_ids = items["id"]
    items = described(_with_named_columns(items.drop(columns=texts), request), table.numbered, request)
    if table.numbered and keyed.question is None:
        ids = dict(zip(numbers_as_ids, items["id"], strict=True))
        keyed = replace(keyed, items=np.array([ids.get(item, item) for item in keyed.items], dtype=object))
        if table.expected is not None:
            table = replace(table, expected=table.expected.assign(item=items["id"].to_numpy()))
    if table.drops_unscored:
        scored = items["id"].isin(keyed.items)
        if not scored.all():
            first = items["id"][~scored].iloc[0]
            note("items without scores", n=f"{(~scored).sum():,}", all=f"{len(items):,}", first=first)
        items = items[scored].reset_index(drop=True)
    if keyed.question is not None:
        # A row for each sample, in the order in which samples come.
        samples = items.set_index("id").loc[keyed.question].reset_index()
        cluster = {} if "cluster" in samples else {"cluster": keyed.question}
        items = samples.assign(id=keyed.items, **cluster, **{SAMPLE_OF: keyed.question})
    return keyed, table, items


def _with_named_columns(items: pd.DataFrame, request: Request) -> pd.DataFrame:
    """The items with the domain, cluster or factor that the user names among the columns that a format has of them."""
    for ours in ("domain", "cluster", "factor"):
        name = request.columns.get(ours)
        if name is None or ours in items:
            continue
        if name in items:
            items = items.assign(**{ours: items[name]})
        elif request.items is None:
            no_column("the items", name, items.columns, f"'{name}' cannot be their {ours}")
    return items


def _one_for_each(
    rows: pd.DataFrame, name: str, codes: Codes, items: NDArray[Any], request: Request
) -> pd.Series[Any] | None:
    """The one value of a column for each item, blanks aside; None if some item has two, or cells are lists."""
    cells = rows[name]
    if cells.dtype == object and cells.map(lambda cell: isinstance(cell, list | dict | bytes | np.ndarray)).any():
        return None
    values, texts = pd.factorize(cells)
    filled = np.isin(values, [k for k, text in enumerate(texts) if str(text).strip()])
    by_item = pd.Series(values[filled]).groupby(codes[filled]).agg(["min", "max"])
    differing = by_item[by_item["min"] != by_item["max"]]
    if differing.empty:
        cells_of_items = pd.Series(texts.take(by_item["min"].to_numpy()), by_item.index)
        # A column that the user named may be empty.
        return cells_of_items.reindex(range(len(items))) if len(by_item) or name in request.columns else None
    item = int(differing.index[0])
    first, other = (texts[k] for k in differing.iloc[0])
    if name in request.columns:
        row = int(np.flatnonzero((codes == item) & (values == differing["max"].iloc[0]))[0])
        rule = f"'{request.columns[name]}' of item '{items[item]}' is '{other}' here and '{first}' in another row"
        raise InputError(rule, at=place(rows, row))
    if name in ("domain", "cluster"):
        note("column of items left out", column=name, item=items[item], first=str(first)[:40], other=str(other)[:40])
    return None


def _matched(keyed: _Keyed, items: pd.DataFrame, request: Request) -> tuple[pd.DataFrame, IntArray, NDArray[np.bool_]]:
    """The items that are kept, the position of each item of the rows among them (-1: left out), who has each (K, n)."""
    order = pd.Index(items["id"]).get_indexer(pd.Index(keyed.items))
    present = np.zeros((len(keyed.systems), len(items)), dtype=bool)
    inside = order[keyed.item] >= 0
    present[keyed.system[inside], order[keyed.item[inside]]] = True
    extra = keyed.items[order < 0]
    complete: NDArray[np.bool_] = np.asarray(present.all(axis=0))
    if request.missing == "error" and (not complete.all() or len(extra)):
        raise _items_differ(keyed, items, present, order, request.metric)
    if len(extra):
        note("items left out", items=counted(len(extra), "item"), first=extra[0])
    if complete.all():
        return items, order, present
    if request.missing == "zero":
        lacks = [k for k in range(len(present)) if not present[k].all()]
        first = items["id"].iloc[int(np.argmin(present[lacks[0]]))]
        systems = counted(len(lacks), "system")
        items_lacking = counted(int((~present).sum()), "item")
        note(
            "items scored as no answer",
            items=items_lacking,
            systems=systems,
            first=first,
            system=keyed.systems[lacks[0]],
        )
        return items, order, present
    if not complete.any():
        raise InputError("no item is left that every system has", remedy="the ids must be alike")
    dropped = items.loc[~complete, "id"]
    note("items dropped", n=len(dropped), all=len(items), first=dropped.iloc[0], etc=" …" if len(dropped) > 1 else "")
    kept = items.loc[complete].reset_index(drop=True)
    return kept, pd.Index(kept["id"]).get_indexer(pd.Index(keyed.items)), present[:, complete]


def _items_differ(
    keyed: _Keyed, items: pd.DataFrame, present: NDArray[np.bool_], order: IntArray, metric: Metric
) -> InputError:
    """The error that names the systems that lack items, and items that the references lack."""
    problems = []
    for k in np.flatnonzero(~present.all(axis=1))[:3]:
        lacking = items["id"][~present[k]]
        where = f" ({keyed.rows.index[int(np.argmax(keyed.system == k))][0]})" if keyed.rows.index.nlevels > 1 else ""
        of = counted(len(items), "item")
        problems.append(f"system '{keyed.systems[k]}'{where} lacks {len(lacking):,} of {of}, first '{lacking.iloc[0]}'")
    extra = keyed.items[order < 0]
    if len(extra):
        at = place(keyed.rows, int(np.argmax(keyed.item == np.flatnonzero(order < 0)[0])))
        problems.append(f"the references lack {counted(len(extra), 'item')}, first '{extra[0]}' ({at})")
    shared = present.all(axis=0).any()
    remedy = if_missing(metric) if shared else "no item is of all systems: are the ids alike?"
    return InputError(f"items differ: {'; '.join(problems)}", remedy=remedy)


def _filled(array: Array, present: NDArray[np.bool_], items: pd.DataFrame, table: LongTable, metric: Metric) -> Array:
    """The array with the statistics of no answer where a system lacks an item."""
    names = metric.statistics
    if table.expected is not None and {*names} <= {*table.expected}:
        nothing = items[[*names]].to_numpy(dtype=np.float64)
    elif tuple(table.values) == ("score",):
        nothing = np.tile([0, 1], (len(items), 1))
    elif not metric.of_item:
        rule = f"must be 'error' or 'drop' for metric '{metric.name}', which has no statistics of no answer"
        raise InputError("missing", rule, "zero")
    else:
        # An item keeps what all systems that have it say of it; all else is 0.
        of_item = np.isin(names, metric.of_item)
        low = np.where(present[..., None], array, np.inf).min(axis=0)
        high = np.where(present[..., None], array, -np.inf).max(axis=0)
        if (i := first_of(((low != high) & of_item).any(axis=1))) is not None:
            differ = f"systems differ in {', '.join(metric.of_item)} of item '{items['id'][i]}'"
            raise InputError("missing", "must be 'error' or 'drop'", "zero", differ)
        nothing = np.where(of_item, low, 0)
    # These may be larger than all numbers of the array, which has the fewest bytes for its own.
    return np.where(present[..., None], array, narrow(nothing.astype(np.float64)))


def _narrowed(array: Array) -> Array:
    """Whole numbers in the fewest bytes: -1, 0 and 1 in one, others in four if they fit."""
    if array.dtype.kind != "i":
        return array
    size = np.abs(array).max()
    return array.astype(np.int8 if size <= 1 else np.int32 if size < 2**30 else np.int64)


# Samples -----------------------------------------------------------------------------------------------------------
def _samples_of_means(keyed: _Keyed, statistics: Array, metric: Metric) -> FloatArray | None:
    """The samples (n, 2) that the score of each row is the mean of, by the column ``n_samples``; None without it."""
    if "n_samples" not in keyed.rows or metric.item_range != (0, 1) or keyed.question is not None:
        return None
    number, share = numbers(keyed.rows["n_samples"]), statistics[:, 0].astype(np.float64)
    if (row := first_of(~((number >= 1) & (number == np.rint(number)) & np.isfinite(number)))) is not None:
        shown = keyed.rows["n_samples"].iloc[row]
        raise InputError("n_samples", "must be a whole number of samples", shown, at=place(keyed.rows, row))
    # A score that is rounded to four digits is off by so much.
    off = np.abs(share * number - np.rint(share * number)) > np.maximum(_ROUNDED, 1e-4 * number)
    if (row := first_of(off)) is not None:
        rule = f"must be a share of {number[row]:g} right answers, as n_samples says"
        raise InputError("score", rule, share[row], at=place(keyed.rows, row))
    note("means of samples", n=number_range(number))
    # The unbiased variance of one of n answers with a share p of right ones is p (1 - p) n / (n - 1).
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(number > 1, share * (1 - share) * number / (number - 1), np.nan)
    return np.stack([number, np.maximum(variance, 0)], axis=-1)


def number_range(n_samples: Array | pd.Series[Any]) -> str:
    """Numbers of samples as people read them: "4", or "2 to 4"."""
    low, high = n_samples.min(), n_samples.max()
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"


def _unlike_samples(keyed: _Keyed, statistics: Array, metric: Metric, request: Request) -> bool:
    """Whether systems or questions have unlike samples, so that the score of a question is the mean of its own."""
    if keyed.question is None or request.missing != "error" or sample_metric(request.asked):
        return False
    if not takes_one_score(metric) or (statistics[:, 1] != 1).any():
        return False
    systems_are_alike = len(keyed.rows) == len(keyed.systems) * len(keyed.items)
    return not systems_are_alike or pd.Series(keyed.question).value_counts().nunique() > 1


def _question_means(
    keyed: _Keyed, statistics: Array, samples: pd.DataFrame
) -> tuple[_Keyed, Array, FloatArray, pd.DataFrame]:
    """Rows with one score for each system and question: the mean of its samples, of which each has its own number."""
    assert keyed.question is not None
    question, names = pd.factorize(keyed.question)
    frame = pd.DataFrame({"system": keyed.system, "question": question[keyed.item], "score": statistics[:, 0]})
    groups = frame.astype({"score": float}).reset_index(names="row").groupby(["system", "question"])
    means = groups.agg(
        row=("row", "first"), mean=("score", "mean"), number=("score", "size"), variance=("score", "var")
    ).reset_index()
    note("unlike samples", n=number_range(means["number"].to_numpy()), zero=Argument("missing", "zero"))
    of_questions = _Keyed(
        keyed.rows.iloc[means["row"]],
        means["system"].to_numpy(np.int32),
        keyed.systems,
        means["question"].to_numpy(np.int32),
        np.asarray(names, dtype=object),
    )
    table = samples.drop_duplicates(SAMPLE_OF)
    table = table.assign(id=table[SAMPLE_OF]).drop(columns=SAMPLE_OF)
    if (table["cluster"] == table["id"]).all():
        table = table.drop(columns="cluster")
    scores = np.stack([means["mean"], np.ones(len(means))], axis=-1)
    return of_questions, scores, means[["number", "variance"]].to_numpy(np.float64), table.reset_index(drop=True)


def _of_questions(outputs: Outputs, request: Request) -> Outputs:
    """The outputs with one item a question if the metric is of samples; else a note says what the samples are."""
    if sample_metric(request.asked):
        if not has_samples(outputs):
            raise InputError("metric", f"'{request.asked}' needs several samples of each question", remedy=IF_SAMPLES)
        return per_question(outputs, request.asked)
    if SAMPLE_OF not in outputs.items:
        return outputs
    counts = outputs.items[SAMPLE_OF].value_counts()
    by_question = unit_in_words(outputs, "cluster") == SAMPLE_OF
    note(
        "samples of questions" if by_question else "samples in clusters",
        questions=counted(len(counts), "question"),
        samples=counted(outputs.n_items, "sample"),
        items=Argument("unit", "item"),
    )
    return outputs


# Answers and texts -------------------------------------------------------------------------------------------------
def _answers(rows: pd.DataFrame) -> IntArray | None:
    """Numbers (n,) that stand for the answers in the rows; None if some answer is not known."""
    if "answer" not in rows or rows["answer"].isna().any():
        return None
    codes, texts = pd.factorize(rows["answer"])
    return np.array([number_of(text) for text in texts], dtype=np.int64)[codes]


def as_text(value: object) -> str | None:
    """A value of a file as people read it: text as it is, else JSON; None if there is none."""
    if isinstance(value, str | None):
        return value
    if isinstance(value, float) and value != value:
        return None
    return json.dumps(value, ensure_ascii=False, default=str)


def _texts(keyed: _Keyed, table: LongTable) -> ItemTexts | None:
    """What items ask, what is right and what systems answered, for people; None if the files do not say."""
    rows = keyed.rows.assign(item=keyed.items[keyed.item])
    of_items: dict[str, dict[str, str | None]] = {}
    for name in ("input", "gold", "reference"):
        for frame in (rows,) if table.expected is None else (table.expected, rows):
            if name in of_items or name not in frame or name in table.values:
                continue
            # The first text of an item counts.
            frame = frame[frame[name].notna()].drop_duplicates("item")
            if len(frame):
                of_items[name] = dict(zip(frame["item"], map(as_text, frame[name]), strict=True))
    answers: dict[str, dict[str, str | None]] = {}
    if "answer" in rows and rows["answer"].notna().any():
        for k, name in enumerate(keyed.systems):
            frame = rows[keyed.system == k]
            answers[name] = dict(zip(frame["item"], map(as_text, frame["answer"]), strict=True))
    if not answers and not of_items:
        return None
    samples: dict[str, list[str]] = {}
    for item, question in zip(keyed.items, keyed.question if keyed.question is not None else (), strict=False):
        samples.setdefault(question, []).append(item)
    return ItemTexts(of_items.get("input", {}), of_items.get("gold") or of_items.get("reference", {}), answers, samples)
