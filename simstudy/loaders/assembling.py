"""Outputs of what loaders found of each system, and texts beside them: items meet by their ids."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import pandas as pd

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.tables import MISSING_HINT, takes_one_score
from simstudy.loaders.text_columns import INPUTS, REFERENCES, as_text, text_column
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.notes import note
from simstudy.outputs import Outputs
from simstudy.outputs.checks import note_percent
from simstudy.outputs.samples import SAMPLE_OF, folded, question_table
from simstudy.outputs.tables import check_named
from simstudy.outputs.texts import ItemTexts, PackedTexts
from simstudy.running.fingerprints import number_of
from simstudy.text.numerals import counted
from simstudy.validation import InputError


@dataclass(frozen=True)
class SystemOutputs:
    """One system's statistics (n, S) of the source's metric, as a loader found them; the origin is the file."""

    name: str
    origin: str
    #: Of its n items, each once.
    ids: Sequence[str]
    statistics: Array
    #: The system's answer to each item, as text or tuples of it: two systems are duplicates where these are equal.
    #: None where the files have scores only.
    answers: Sequence[Hashable] | None = None
    #: The number of samples of each item and the variance of one of them, (n, 2), where scores are means of samples.
    samples: Array | None = None
    #: What the system said about each item, as people read it. It is iterated over once, if texts are kept at all.
    texts: Iterable[str | None] | None = None


@dataclass(frozen=True)
class Asked:
    """Inputs and right answers of items, as people read them: by the items' ids, as far as files say so."""

    inputs: Mapping[str, str | None] = field(default_factory=dict)
    references: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, ids: Sequence[str], inputs: Iterable[str | None] = (), references: Iterable[str | None] = ()) -> Self:
        """From texts in the order of these items, or none."""
        return cls(*(dict(zip(ids, texts, strict=False)) for texts in (inputs, references)))


def assemble(
    systems: Sequence[SystemOutputs],
    source: Source,
    items: pd.DataFrame,
    nothing: Callable[[str], Array] | None = None,
    asked: Asked | None = None,
    *,
    unlike: Collection[str] = (),
) -> Loaded:
    """Outputs of systems whose items are matched by id. Notes tell of items that are dropped or made up.

    `items` has a row for each item that is expected, with a column ``id``. `nothing` gives the (S,) statistics of a
    system that said nothing about the item of this id, for missing="zero". Texts are those of systems and of what is
    `asked`, if the source keeps them. A note tells already of systems whose scores are `unlike` those of the others.
    """
    if not systems:
        raise InputError("no system: at least one file of outputs is needed")
    first: dict[str, SystemOutputs] = {}
    for system in systems:
        if system.name in first:
            raise InputError(f"system '{system.name}' is in {first[system.name].origin} and again in {system.origin}")
        first[system.name] = system
    check_named(first, "system")
    check_named({str(name) for name in items["id"]}.union(*(system.ids for system in systems)), "item")
    rows = _positions(systems)
    for system, positions in zip(systems, rows, strict=True):
        if len(positions) < len(system.ids):
            ids = pd.Series(list(system.ids))
            raise InputError(f"{system.origin}: item '{ids[ids.duplicated()].iloc[0]}' occurs twice")
    texts = kept_texts(systems, rows, items, asked) if source.keeps_texts else None
    if are_unlike(systems, items, source):
        systems, items = as_means(systems, items)
        rows = _positions(systems)
    kept = _matched(systems, rows, items["id"].tolist(), source.missing)
    if not kept:
        raise InputError("no item is left that every system has: the ids must be alike")
    floats = any(system.statistics.dtype.kind == "f" for system in systems)
    statistics = np.zeros((len(systems), len(kept), len(source.metric.statistics)), np.float64 if floats else np.int64)
    means = any(system.samples is not None for system in systems)
    # One answer, unless something else is known.
    samples = np.tile([1.0, np.nan], (len(systems), len(kept), 1)) if means else None
    numbers: dict[Hashable, int] = {}
    known = all(system.answers is not None for system in systems)
    answers = np.full((len(systems), len(kept)), -1, dtype=np.int64) if known else None
    for k, (system, positions) in enumerate(zip(systems, rows, strict=True)):
        if k == 0 or positions is not rows[k - 1]:
            there = [i for i, item in enumerate(kept) if item in positions]
            own = [positions[kept[i]] for i in there]
        if len(there) < len(kept):
            if nothing is None:
                raise InputError(f"missing='zero' is not defined for this format; {system.origin} lacks items")
            for i, item in enumerate(kept):
                if item not in positions:
                    statistics[k, i] = nothing(item)
        statistics[k, there] = system.statistics[own]
        if samples is not None and system.samples is not None:
            samples[k, there] = system.samples[own]
        if answers is not None and system.answers is not None:
            for answer in system.answers:
                if answer not in numbers:
                    numbers[answer] = number_of(answer)
            answers[k, there] = [numbers[system.answers[i]] for i in own]
    if source.metric.item_range == (-np.inf, np.inf):
        note_percent(statistics, [*first], unlike)
    used = items.set_index("id").loc[kept].reset_index()
    outputs = Outputs.from_statistics(statistics, source.metric, [*first], used, answers=answers, samples=samples)
    return Loaded(outputs, texts=texts)


def _positions(systems: Sequence[SystemOutputs]) -> list[Mapping[str, int]]:
    """Where each system has each item: one mapping for systems beside each other that have the same items."""
    rows: list[Mapping[str, int]] = []
    for k, system in enumerate(systems):
        same = k > 0 and list(system.ids) == list(systems[k - 1].ids)
        rows.append(rows[-1] if same else {item: i for i, item in enumerate(system.ids)})
    return rows


def _matched(
    systems: Sequence[SystemOutputs], rows: Sequence[Mapping[str, int]], wanted: list[str], missing: str
) -> list[str]:
    """The items to use; notes tell of those that are not used or made up."""
    known = set(wanted)
    problems, extras = [], []
    for system, positions in zip(systems, rows, strict=True):
        lacking = [item for item in wanted if item not in positions]
        extra = [item for item in system.ids if item not in known]
        if lacking:
            of = counted(len(wanted), "item")
            problems.append(
                f"{system.origin} lacks {len(lacking)} of {of}, first '{lacking[0]}' (system '{system.name}')"
            )
        if extra:
            extras.append(f"{system.origin} has {len(extra)} that the references lack, first '{extra[0]}'")
    if missing == "error" and (problems or extras):
        differences = [*problems, *extras]
        others = len(differences) - 3
        more = f"; and {counted(others, 'more file')} {'differs' if others == 1 else 'differ'}" if others > 0 else ""
        raise InputError(
            f"items differ: {'; '.join(differences[:3])}{more}; "
            f"{MISSING_HINT if set.intersection(*map(set, rows)) else 'no item is of all systems: are the ids alike?'}"
        )
    kept = wanted
    if missing == "zero":
        for problem in problems:
            note("text", text=f"scored as no answer: {problem}")
    elif problems:
        kept = [item for item in wanted if all(item in positions for positions in rows)]
        everywhere = set(kept)
        dropped = [item for item in wanted if item not in everywhere]
        etc = " …" if len(dropped) > 1 else ""
        note(
            "text", text=f"{len(dropped)} of {len(wanted)} items dropped that not every system has: '{dropped[0]}'{etc}"
        )
    for unknown in extras:
        note("text", text=f"left out: {unknown}")
    return kept


def are_unlike(systems: Sequence[SystemOutputs], items: pd.DataFrame, source: Source) -> bool:
    """Whether systems lack samples of others, in a way that means of samples can bridge.

    Samples that are dropped, or scored as no answer, stay samples. A sample that no system has a score of is missing.
    """
    if SAMPLE_OF not in items or source.missing != "error" or not takes_one_score(source.metric):
        return False
    wanted = set(items["id"])
    if all(len(system.ids) == len(wanted) for system in systems):
        return False
    if wanted != {name for system in systems for name in system.ids}:
        return False
    return all((system.statistics[:, 1] == 1).all() and system.samples is None for system in systems)


def as_means(systems: Sequence[SystemOutputs], items: pd.DataFrame) -> tuple[list[SystemOutputs], pd.DataFrame]:
    """The systems with one score for each of their items, and the table of these items. A note says so."""
    table, codes = question_table(items, SAMPLE_OF)
    place = pd.Series(codes, index=items["id"])
    found = [_folded(system, place.loc[list(system.ids)].to_numpy(), table["id"].tolist()) for system in systems]
    numbers = np.concatenate([system.samples[:, 0] for system in found if system.samples is not None])
    note(
        "text",
        text=(
            f"systems have different samples of an item, {numbers.min():.0f} to {numbers.max():.0f} each: the score "
            "of an item is the mean of its samples; missing='zero' scores a sample that a system lacks as no answer"
        ),
    )
    return found, table


def _folded(system: SystemOutputs, codes: IntArray, names: Sequence[str]) -> SystemOutputs:
    own, within = np.unique(codes, return_inverse=True)
    scores: FloatArray = system.statistics[None, :, 0].astype(np.float64)
    mean, samples = folded(scores, within)
    statistics = np.stack([mean[0], np.ones_like(mean[0])], axis=-1)
    ids = [names[code] for code in own]
    return replace(system, ids=ids, statistics=statistics, answers=None, samples=samples[0])


def kept_texts(
    systems: Sequence[SystemOutputs], rows: Sequence[Mapping[str, int]], items: pd.DataFrame, asked: Asked | None
) -> ItemTexts | None:
    """The texts of items and systems; None where there are none.

    `rows` say where each system has each item. What no file says of the items themselves, a column of `items` may.
    """
    ids = items["id"].tolist()
    places = {name: i for i, name in enumerate(ids)}
    asked = asked or Asked()
    inputs = _packed(places, asked.inputs) or _of_column(places, items, INPUTS)
    references = _packed(places, asked.references) or _of_column(places, items, REFERENCES)
    answers = {
        system.name: PackedTexts(row, system.texts)
        for system, row in zip(systems, rows, strict=True)
        if system.texts is not None
    }
    if not answers and inputs is None and references is None:
        return None
    samples: dict[str, list[str]] = {}
    if SAMPLE_OF in items:
        for name, question in zip(ids, items[SAMPLE_OF].astype(str), strict=True):
            samples.setdefault(question, []).append(name)
    return ItemTexts(inputs, references, answers, samples)


def _packed(places: Mapping[str, int], texts: Mapping[str, str | None]) -> PackedTexts | None:
    known = any(texts.get(name) for name in places)
    return PackedTexts(places, (texts.get(name) for name in places)) if known else None


def _of_column(places: Mapping[str, int], items: pd.DataFrame, names: Sequence[str]) -> PackedTexts | None:
    column = text_column(items.columns, names, ["id"])
    if column is None:
        return None
    cells: list[Hashable] = items[column].tolist()
    return _packed(places, dict(zip(places, map(as_text, cells), strict=True)))
