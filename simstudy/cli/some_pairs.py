"""`simstudy compare` of some pairs, or of millions: their table alone, printed or written as Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.cli.terminal import printer
from simstudy.text.plain_text import shown
from simstudy.text.printing import LEFT_OUT, MOST_LINES, left_out, noted
from simstudy.text.reprs import listed
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.comparisons import Comparisons
    from simstudy.examination import Examination
    from simstudy.outputs import TestSet

_SEEN = "The scores of these data decide which systems are neighbours. Pairs that are not neighbours were not tested."


def is_parquet(path: Path | None) -> bool:
    """Whether a path names a Parquet file."""
    return path is not None and path.suffix.lower() == ".parquet"


def check_some_pairs(out: Path | None, others: Mapping[str, object]) -> None:
    """Raise a ValueError for options that need all pairs, or a page of them."""
    given = next((name for name, value in others.items() if value), None)
    if given is not None:
        of_some = "--out FILE.parquet" if is_parquet(out) else "--against"
        raise InputError(f"{of_some} must not be given with {given}, for which all pairs are compared")
    if out is not None and not is_parquet(out):
        raise InputError("--against with --out needs a file that ends in .parquet: there is a table, but no page")
    if out is not None and out.exists():
        _require_pairs(out)


def _require_pairs(out: Path) -> None:
    """Raise a ValueError where something else than a table of pairs is there."""
    from simstudy.files.parquet import parquet_columns
    from simstudy.schema import OWN

    try:
        ours = {*OWN} <= {*parquet_columns(out)}
    except InputError:
        ours = False
    if not ours:
        raise InputError("out", f"must be new or a table of pairs that simstudy wrote, but {out} is something else")


def show_some_pairs(test_set: TestSet, against: Sequence[str] | None, alpha: float, *, verbose: bool) -> None:
    """Compare these pairs and print how many are significant, the pairs, and what they rest on."""
    from simstudy.comparisons import compare
    from simstudy.examination.examination import classified
    from simstudy.examination.limits import one_by_one
    from simstudy.examination.printed import SPARE_OF_PAIRS
    from simstudy.examination.rows import pair_rows
    from simstudy.papers.basis import differing_intervals

    outputs, by = test_set.outputs, test_set.by[0] if test_set.by else None
    pairs: Comparisons = compare(outputs, against=_chosen(against), **test_set.options).corrected()
    pairs = replace(pairs, frame=classified(pairs.frame, outputs, by))
    found, known = _alone(pairs, test_set, alpha)
    said, every = _said(found, _chosen(against)), noted([*found.notes, *one_by_one(outputs, test_set.unit)])
    title, table = pair_rows(found, len(pairs))
    rows = table.text()
    notes, n = every, len(rows)
    if not verbose:
        notes = every[:1]
        room = MOST_LINES - printer.height(*said, *notes, LEFT_OUT) - printer.facts_height(known)
        n = max(1, printer.rows_fitting(title, rows.head(MOST_LINES), room, SPARE_OF_PAIRS))
    printer.lines(said)
    printer.table(title, rows.head(n), SPARE_OF_PAIRS, verbose=verbose)
    if verbose:
        printer.lines(filter(None, [differing_intervals(table.rows).strip()]))
    printer.facts(known)
    # Of some pairs there is no page that has the rest.
    printer.lines([*notes, *left_out({} if verbose else {"pair": len(rows) - n}, every, notes, said)])


def write_some_pairs(test_set: TestSet, against: Sequence[str] | None, alpha: float, out: Path) -> None:
    """Write these pairs, or all, to a Parquet file, and print how many are significant and what they rest on."""
    from simstudy.comparisons import compare
    from simstudy.comparisons.comparing import NEIGHBOURS
    from simstudy.comparisons.paper import differing
    from simstudy.examination.limits import one_by_one
    from simstudy.files.whole import atomic_path
    from simstudy.text.numerals import counted

    outputs, chosen = test_set.outputs, _chosen(against)
    with atomic_path(out) as whole:
        # Where nothing can be written, Python says it before the work, and names the file.
        whole.touch()
        pairs: Comparisons = compare(outputs, against=chosen, **test_set.options).corrected()
        pairs.frame.to_parquet(whole, index=False)
    _, known = _alone(pairs, test_set, alpha)
    which, seen = f"of {outputs.n_systems:,} systems", []
    if chosen == NEIGHBOURS and NEIGHBOURS not in outputs.names:
        which, seen = "of neighbours", [_SEEN]
    elif against is not None:
        which = f"with {listed([shown(name) for name in against], 3)}"
    n, significant = len(pairs), len(pairs.significant(alpha, corrected="holm"))
    printer.lines([differing(significant, f"{counted(n, 'pair')} {which}", pairs.frame, alpha), *seen])
    last = {"Signature": known.pop("Signature")}
    printer.facts(known | ({"Correction": f"Holm, for these {n:,} pairs"} if n > 1 else {}) | last)
    printer.lines([*noted([*test_set.notes, *one_by_one(outputs, test_set.unit)]), f"Pairs: {out}"])


def _alone(pairs: Comparisons, test_set: TestSet, alpha: float) -> tuple[Examination, dict[str, str]]:
    """Pairs without the analyses that need all of them, and what they rest on."""
    import pandas as pd

    from simstudy.examination.examination import Examination
    from simstudy.examination.rows import facts

    found = Examination(pairs, alpha, test_set=test_set, duplicates=pd.DataFrame())
    return found, {name: fact for name, fact in facts(found).items() if name not in ("Note", "Systems")}


def _chosen(against: Sequence[str] | None) -> Any:
    return against[0] if against is not None and len(against) == 1 else against


def _said(found: Examination, against: Any) -> list[str]:
    from simstudy.comparisons.comparing import NEIGHBOURS
    from simstudy.comparisons.paper import counted_significant
    from simstudy.papers.leaderboards import counted_against

    frame, names = found.pairs.frame, found.outputs.names
    if isinstance(against, str) and against in names:
        return [counted_against(frame, against, found.alpha)]
    return [counted_significant(frame, found.alpha), *([_SEEN] if against == NEIGHBOURS else [])]
