"""The data with which a reader of an HTML page looks at any two systems, item by item: small, and texts up to a limit.

Of each pair the page has the items with the largest contributions, wins and losses apart, and the numbers of wins,
losses and ties among all items. Arrays are base64 of little-endian numbers.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from simstudy.comparisons.deciding_items import contributions_of_pairs, item_scores
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs
from simstudy.outputs.test_set import ItemTexts
from simstudy.outputs.units import are_battles
from simstudy.text.numerals import score_format
from simstudy.text.plain_text import printable, shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination

# Systems of which a page has all pairs; items that it lists of a pair and side, as many as this many bytes have room
# for. Scores of items and texts may take so many bytes, and a text so many characters.
MOST_SYSTEMS = 150
_FEWEST, _MOST, _BYTES = 5, 500, 150_000
_SCORE_BYTES, _TEXT_BYTES, _LONGEST = 200_000, 250_000, 4_000
# Few systems leave room for more texts.
_FEW_SYSTEMS, _MORE_TEXT_BYTES = 10, 600_000
# What text there is for an item costs at least so many bytes: more are not looked at.
_SHORTEST = 8


def item_data(found: Examination) -> dict[str, Any]:
    """Everything that the browser of items shows."""
    names = found.leaderboard["system"].tolist()[:MOST_SYSTEMS]
    outputs = found.outputs.select(names)
    i, j = (side.astype(np.int64) for side in np.triu_indices(len(names), 1))
    most = int(np.clip(_BYTES / (len(i) * 2 * 4), _FEWEST, _MOST))
    listed, parts, counts = _largest(outputs, i, j, most)
    items = np.unique(np.concatenate([np.concatenate(both) for both in listed]))
    place = np.zeros(outputs.n_items, dtype=np.int64)
    place[items] = np.arange(len(items))
    kept = outputs.take(items) if len(items) else outputs.take([0])
    scores = item_scores(kept)
    gains = np.abs(outputs.gains(i, j))
    return {
        "systems": [shown(name) for name in names],
        "left_out": found.outputs.n_systems - len(names),
        "n_items": outputs.n_items,
        # A battle of other systems adds to a gain, but neither of the two wins it.
        "battles": are_battles(outputs.items),
        "points": outputs.metric.unit in ("percent", "points"),
        "most": most,
        "ids": [shown(name) for name in kept.items["id"]],
        "about": {name: _column(kept, name) for name in ("domain", "cluster") if name in kept.items},
        "scores": _levels(scores),
        "wins": [len(both[0]) for both in listed],
        "losses": [len(both[1]) for both in listed],
        "counts": [*counts.T.ravel().tolist()],
        "wide": len(items) > 2**16,
        "items": _packed(place[_flat(listed)], "<u4" if len(items) > 2**16 else "<u2"),
        **_contributions(parts),
        "gains": [float(f"{gain:.6g}") for gain in gains],
        "decimals": {
            "gain": _decimals(gains),
            "part": _decimals(np.concatenate([own for both in parts for own in both])),
        },
        "texts": _texts(found.test_set.texts, kept, (i, j), listed, place),
    }


def _largest(
    outputs: Outputs, i: IntArray, j: IntArray, most: int
) -> tuple[list[tuple[IntArray, IntArray]], list[tuple[FloatArray, FloatArray]], IntArray]:
    """Of each pair the items of its largest wins and losses, their contributions, and (P, 3) wins, losses and ties."""
    listed, parts, counts = [], [], []
    for own in contributions_of_pairs(outputs, i, j):
        wins, losses = (_top(sign * own, most) for sign in (1, -1))
        listed.append((wins, losses))
        parts.append((own[wins], own[losses]))
        counts.append([(own > 0).sum(), (own < 0).sum(), (own == 0).sum()])
    return listed, parts, np.array(counts, dtype=np.int64)


def _top(values: FloatArray, most: int) -> IntArray:
    """The places of the largest values above 0; equal ones in their order."""
    own = np.flatnonzero(values > 0)
    if len(own) > most:
        own = own[values[own] >= np.partition(values[own], -most)[-most]]
    return own[np.argsort(-values[own], kind="stable")][:most]


def _flat(of_pairs: list[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
    return np.concatenate([side for both in of_pairs for side in both])


def _contributions(parts: list[tuple[FloatArray, FloatArray]]) -> dict[str, Any]:
    """Sizes of contributions in parts of 65,535 of the largest one of their pair (top)."""
    sizes = [np.abs(np.concatenate(both)) for both in parts]
    top = [float(f"{own.max(initial=0.0):.6g}") for own in sizes]
    scaled = [np.rint(own / most * 65535) if most else own for own, most in zip(sizes, top, strict=True)]
    return {"top": top, "parts": _packed(np.minimum(np.concatenate(scaled), 65535), "<u2")}


def _column(outputs: Outputs, name: str) -> dict[str, Any]:
    """A column of the items as its distinct texts and their places."""
    texts = ["" if value is None or value != value else shown(value) for value in outputs.items[name]]
    distinct = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return {"of": [*distinct], "at": [distinct[text] for text in texts]}


def _levels(scores: FloatArray) -> dict[str, Any] | None:
    """Scores (K, n) of items as places among their distinct values, rounded to four digits; 0 stands for none.

    None where no item has a score, or they would take too much room.
    """
    rounded = np.array([float(f"{score:.4g}") for score in scores.ravel()])
    values, places = np.unique(rounded, return_inverse=True)
    known = np.isfinite(values)
    # What is no number comes last.
    codes = np.where(known[places], places + 1, 0)
    n_bytes = 1 if known.sum() < 2**8 - 1 else 2 if known.sum() < 2**16 - 1 else 4
    if not known.any() or n_bytes * codes.size > _SCORE_BYTES:
        return None
    return {"of": values[known].tolist(), "bytes": n_bytes, "at": _packed(codes, f"<u{n_bytes}")}


def _packed(numbers: NDArray[Any], kind: str) -> str:
    return b64encode(np.ascontiguousarray(numbers, dtype=kind).tobytes()).decode()


def _decimals(numbers: FloatArray) -> int:
    """How many decimals tell numbers of this size."""
    form = score_format(np.abs(numbers).max(initial=0.0))
    return int(form.removeprefix("z.").removesuffix("f")) if form.startswith("z.") else 6


def _texts(
    texts: ItemTexts | None,
    kept: Outputs,
    pairs: tuple[IntArray, IntArray],
    listed: list[tuple[IntArray, IntArray]],
    place: IntArray,
) -> dict[str, Any] | None:
    """Texts of the items that a reader sees first, as many as there is room for, by item and by system and item.

    The first items of the first two systems come first, then those of the best against all others and of neighbours,
    then those of other pairs. None where nothing is known.
    """
    if texts is None:
        return None
    room = _MORE_TEXT_BYTES if kept.n_systems <= _FEW_SYSTEMS else _TEXT_BYTES
    wanted = list(islice(_in_order(pairs, listed, place), room // _SHORTEST))
    ids = kept.items["id"].astype(str).tolist()
    about = sorted({item for item, _ in wanted})
    own = [ids[item] for item in about]
    known: dict[tuple[int, int], str | None] = {}
    for kind, found in ((-2, texts.inputs_of(own)), (-1, texts.references_of(own))):
        known |= {(item, kind): text for item, text in zip(about, found, strict=True)}
    of_system: dict[int, list[int]] = {}
    for item, system in wanted:
        of_system.setdefault(system, []).append(item)
    for system, items in of_system.items():
        found = texts.answers_of(kept.names[system], [ids[item] for item in items])
        known |= {(item, system): text for item, text in zip(items, found, strict=True)}
    return _within(wanted, known, room)


def _in_order(
    pairs: tuple[IntArray, IntArray], listed: list[tuple[IntArray, IntArray]], place: IntArray
) -> Iterator[tuple[int, int]]:
    """Items and systems in the order in which their texts are wanted, each once."""
    i, j = pairs
    importance = np.where((i == 0) & (j == 1), 0, np.where((i == 0) | (j == i + 1), 1, 2))
    seen = set()
    for level in range(3):
        own = np.flatnonzero(importance == level)
        longest = max((max(len(listed[p][0]), len(listed[p][1])) for p in own), default=0)
        for rank in range(longest):
            for p in own:
                for side in listed[p]:
                    if rank < len(side):
                        for system in (int(i[p]), int(j[p])):
                            one = int(place[side[rank]]), system
                            if one not in seen:
                                seen.add(one)
                                yield one


def _within(
    wanted: list[tuple[int, int]], known: dict[tuple[int, int], str | None], room: int
) -> dict[str, Any] | None:
    """The texts, long ones cut, as far as there is room: so many bytes."""
    found: dict[int, dict[str, Any]] = {}
    n_left = 0
    for item, system in wanted:
        keys = [(item, kind) for kind in (-2, -1, system) if known.get((item, kind)) is not None]
        new = [key for key in keys if str(key[1]) not in found.get(item, {})]
        texts = {str(kind): _shortened(str(known[item, kind])) for _, kind in new}
        size = sum(len((text if isinstance(text, str) else text[0]).encode()) for text in texts.values())
        if size > room:
            n_left += 1
            continue
        room -= size
        if texts:
            found.setdefault(item, {}).update(texts)
    return {"of": {str(item): own for item, own in found.items()}, "left": n_left} if found else None


def _shortened(text: str) -> str | tuple[str, int]:
    """A text that can be shown; where it is cut, also how many characters the whole has."""
    lines = "\n".join(printable(line.replace("\t", "    ")) for line in text[:_LONGEST].split("\n"))
    return lines if len(text) <= _LONGEST else (lines, len(text))
