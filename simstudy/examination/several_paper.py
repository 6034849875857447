"""Several comparisons as a paper shows them: one table with a column or a row for each, and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.comparisons.leaderboard import score_interval
from simstudy.comparisons.paper import counted_significant, of_pair
from simstudy.comparisons.verdict import decided, with_shown_names
from simstudy.engines.descriptions import SIDES
from simstudy.examination.rows import may_be_best
from simstudy.examination.several_printed import SIGNIFICANT, answer, called, claims, part_rows, signed, varying
from simstudy.papers import basis, leaderboards, pairs, scores
from simstudy.papers.document import BETTER_MARKS, Cell, Paper, Table, Text, joined
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination.examination import Examination
    from simstudy.examination.several import Several

# Of more comparisons of two systems the table alone has the numbers.
_WITH_NUMBERS = 4


def paper(found: Several, *, baseline: str | None = None) -> Paper:
    """Several comparisons for a paper: a row for each if there are two systems, else a column for each."""
    alpha, first = found.parts[0].alpha, found.parts[0]
    if baseline is not None:
        names = dict.fromkeys(name for one in found.parts for name in one.outputs.names)
        leaderboards.check_baseline(baseline, list(names))
    if found.of_pairs:
        tables = [_of_pairs(found)]
        alone = f"Each {_noun(found)} by itself, not corrected:"
        results = joined([answer(found)], [alone], *(_said_of_pair(found, one) for one in found.parts))
    else:
        columns = [scores.Column(_heading(found, one), one.leaderboard, one.pairs.frame) for one in found.parts]
        what = f"{first.outputs.n_systems:,} systems by {len(found.parts):,} {_noun(found)}s."
        tables = scores.by_system(columns, what, alpha=alpha, baseline=baseline)
        said = [
            f"{called(found, one)}: {may_be_best(one.leaderboard)} {counted_significant(one.pairs.frame, alpha)}"
            for one in found.parts
        ]
        results = [" ".join([*said, claims(found)])]
    notes = list(dict.fromkeys(note for one in found.parts for note in one.notes))
    return Paper(tables=tables, results=results, methods=_methods(found, baseline), notes=notes)


def _of_pairs(found: Several) -> Table:
    """A row for each comparison of two systems."""
    alpha = found.parts[0].alpha
    forms = [pairs.number_format(one.pairs.frame) for one in found.parts]
    rows = part_rows(found, forms).rename(columns={"95 %": "95 % CI"}).drop(columns=SIGNIFICANT)
    signs = [pairs.marks(one.pairs.frame, alpha, "p_value")[0] for one in found.parts]
    words = [name for name in rows if name in ("domain", "metric", "better")]
    head: list[tuple[str, Any]] = [(_capital(name), "left" if name in words else "right") for name in map(str, rows)]
    written: list[list[Cell | str]] = []
    for row, sign in zip(rows.to_dict("records"), signs, strict=True):
        cells = {name: text if name in words else text.replace("-", "−") for name, text in row.items()}
        written.append([Cell(text, mark=sign) if name == "gain" else text for name, text in cells.items()])
    sides = SIDES[found.parts[0].pairs["alternative"].iloc[0]]
    caption = (
        f"Two systems by {len(found.parts):,} {_noun(found)}s. 95 % CI: the interval of each gain by itself. p: "
        f"{sides}, not corrected. p (Holm): corrected for the {len(found.parts):,} {_noun(found)}s."
    )
    caption += pairs.meaning({*signs}, BETTER_MARKS, "the gain is significant", f"{sides}, by p, not corrected", alpha)
    return Table("pairs", head, written, [caption])


def _methods(found: Several, baseline: str | None) -> Text:
    """The test of each comparison: what several have in common is said once."""
    with_intervals = found.of_pairs or len(found.parts) <= scores.WITH_INTERVALS
    told: dict[str, tuple[Text, list[str]]] = {}
    for one in found.parts:
        frame = one.pairs.frame
        said = basis.compared(frame, by="{by}", units=False)
        if with_intervals:
            # The table of more systems has intervals of scores, and none of gains.
            kind = None if found.of_pairs else score_interval(one.outputs, one.test_set.unit)
            said = joined(said, basis.intervals(frame if found.of_pairs else frame.head(0), of_scores=kind))
        told.setdefault(repr(said), (said, []))[1].append(called(found, one))
    several: list[Text] = []
    for said, names in told.values():
        by = "" if len(told) == 1 else f" ({', '.join(names)})"
        several.append([part.replace("{by}", by) if isinstance(part, str) else part for part in said])
    units = {called(found, one): basis.counted_units(one.pairs.frame.iloc[0], of=False) for one in found.parts}
    if len({*units.values()}) == 1:
        each = " in each domain" if "test_set" in varying(found) else ""
        items = f"The units are {next(iter(units.values()))}{each}."
    else:
        items = f"The units are {', '.join(f'{units[name]} ({name})' for name in units)}."
    family = f"the {len(found.parts):,} {_noun(found)}s" if found.of_pairs else f"all pairs of one {_noun(found)}"
    signatures = "; ".join(signed(found).values())
    board = found.parts[0].leaderboard
    return joined(
        *several,
        [items],
        basis.corrected_for(family, column="p (Holm)" if found.of_pairs else ""),
        basis.corrected_with(baseline, f"the pairs with {shown(baseline or '')} of one {_noun(found)}"),
        [] if found.of_pairs else basis.ranks(float(board["level"].iloc[0]), found.parts[0].seed),
        basis.software(signatures),
    )


def _said_of_pair(found: Several, one: Examination) -> Text:
    """The result of a comparison of two systems: with its numbers, if there are few comparisons."""
    frame = one.pairs.frame
    name = [f"{called(found, one)}:"]
    if len(found.parts) > _WITH_NUMBERS:
        return joined(name, decided(with_shown_names(frame.iloc[0]), one.alpha, one.margin))
    return joined(name, of_pair(frame, alpha=one.alpha, form=pairs.number_format(frame), margin=one.margin))


def _noun(found: Several) -> str:
    return {"metric": "metric", "test_set": "domain"}.get(" ".join(varying(found)), "comparison")


def _heading(found: Several, one: Examination) -> str:
    if varying(found) == ["metric"]:
        return pairs.heading(one.test_set.metric, one.outputs.metric.unit)
    return called(found, one)


def _capital(name: str) -> str:
    return name[0].upper() + name[1:] if name in ("domain", "metric", "items", "clusters", "better", "gain") else name
