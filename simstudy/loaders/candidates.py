"""Candidates in files: scoring functions as systems, their n-best lists as outputs (Evert 2004, sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.base import Loaded, Noted, Source, Ties, noting
from simstudy.loaders.candidate_tables import read_candidate_table
from simstudy.loaders.items import items_by_id
from simstudy.loaders.tables import read_header
from simstudy.loaders.usual_names import check_columns
from simstudy.metrics.direction import sounds_like_error
from simstudy.notes import note
from simstudy.rankings.candidates import Candidates
from simstudy.text.numerals import counted
from simstudy.validation import InputError, check_path, check_text


@dataclass(frozen=True, repr=False)
class LoadedCandidates(Noted):
    """Candidates from a file, with a row of `items` for each, and `notes`: candidates dropped, columns like labels.

    The columns of `items` are id, true, and those of the file that are no scores.
    """

    candidates: Candidates
    items: pd.DataFrame

    def _what(self) -> str:
        functions, n = counted(len(self.candidates.names), "scoring function"), self.candidates.n_candidates
        return f"{counted(n, 'candidate')} ranked by {functions}"

    def _table(self) -> pd.DataFrame:
        return self.items


@noting
def load_candidates(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    ties: str = "jitter",
    seed: int = 0,
    missing: str = "error",
    test_set: str = "",
) -> LoadedCandidates:
    r"""Candidates from a file: a table with a row for each, columns of scores, and columns that describe them.

    Every column with numbers is a scoring function but those that `columns` names, ``domain``, and ``cluster`` or
    another name of clusters (`simstudy.loaders.clusters`); from contingency tables (O11 … O22, or f, f1, f2, N) come
    association measures.

    Parameters
    ----------
    path
        A file .csv or .tsv, either may be packed (.gz), or .parquet.
    columns
        Our name -> the name in the file: ``gold`` says which candidates are true, ``item`` what they are called, and
        what else is named is no score: ``{"gold": "is_idiom", "length": "length"}``.
    ties, seed
        As for `Candidates.from_scores`.
    missing
        Where a candidate lacks a score: "error", or "drop" the candidate.
    test_set
        A name that appears in every table.

    Returns
    -------
    loaded
        ``candidates``; ``items``, a row for each with id, true, and the columns that are no scores; and ``notes``.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For anything in the file that is not as described, with file and line, and for unknown names.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "candidates.csv"
    >>> _ = path.write_text("word,gold,t,mi\nput up,1,9,3\nsay so,0,7,1\neat fish,0,2,5\n")
    >>> candidates = load_candidates(path).candidates
    >>> candidates.names, candidates.ids
    (['t', 'mi'], ['put up', 'say so', 'eat fish'])
    """
    check_path("path", path)
    check_columns(columns)
    check_text("test_set", test_set)
    candidates, items = read_candidate_table(Path(path), dict(columns or {}), missing, Ties(ties, seed))
    return LoadedCandidates(replace(candidates, test_set=test_set), items)


def read_candidates(source: Source) -> Loaded:
    """Scoring functions as systems, from one table with a row for each candidate, as for `load_candidates`.

    Without ``item`` or ``id`` a candidate is called by the words of its columns of text, where no two have the same,
    else by the number of its row. Higher scores are better; inf and -inf rank first and last.

    The systems' outputs are the n-best lists of `Source.metric`, "precision@n". Their answers are None: most candidates
    are in no list, so that the lists agree on them by chance.
    """
    kind, _, length = source.metric.name.partition("@")
    if kind != "precision" or not length:
        raise InputError(
            f"metric must be precision@n for candidates, such as precision@100, not '{source.metric.name}'"
        )
    n = int(length)
    if len(source.paths) != 1:
        files = counted(len(source.paths), "file")
        raise InputError(f"candidates are one table with a column for each scoring function, not {files}")
    path = source.paths[0]
    others = source.items is not None
    candidates, own = read_candidate_table(path, source.columns, source.missing, source.ties, others)
    # Which candidates are true, their own table says.
    items = items_by_id(source, own, ("gold", "item", *own)).assign(true=own["true"])
    if source.domain is not None:
        # Candidates of one domain are ranked among themselves.
        kept = replace(candidates.outputs(1), items=items).domain(source.domain).items["id"]
        positions = np.flatnonzero(items["id"].isin(kept))
        candidates, items = candidates.take(positions), items.iloc[positions].reset_index(drop=True)
    if n > candidates.n_candidates:
        most = f"{candidates.n_candidates:,}, the number of candidates"
        raise InputError(f"{path}: n of {source.metric.name} must be at most {most}")
    if errors := [f"'{name}'" for name in candidates.names if sounds_like_error(name)]:
        note(
            "text", text=f"higher scores rank first by {', '.join(errors)} too: negate the column where lower is better"
        )
    _note_ties(candidates, n)
    return Loaded(replace(candidates.outputs(n), items=items))


def has_candidates(path: Path, columns: Mapping[str, str]) -> bool:
    """Whether a file is a table of candidates, as its header tells: ``gold``, and neither system nor score."""
    header = {*read_header(path)}
    names = (header - {*columns.values()}) | {ours for ours in columns if ours == "gold" or columns[ours] in header}
    return bool(header) and "gold" in names and not names & {"system", "score"}


def _note_ties(candidates: Candidates, n: int) -> None:
    """Say what became of candidates with equal scores."""
    tied = {}
    for name, scores in zip(candidates.names, candidates.scores, strict=True):
        _, counts = np.unique(scores, return_counts=True)
        tied[name] = int(counts[counts > 1].sum())
        if len(counts) == 1:
            tied.pop(name)
            chance = "is by chance" if candidates.ties == "jitter" else "accepts all"
            note("text", text=f"all candidates have the same score by '{name}': its ranking {chance}")
    if candidates.ties == "keep":
        longer = {name: int(candidates.n_best(name, n).sum()) for name in tied}
        longer = {name: accepted for name, accepted in longer.items() if accepted > n}
        if longer:
            name = max(longer, key=longer.__getitem__)
            note(
                "text",
                text=f"ties kept: the list of '{name}' has {longer[name]:,} candidates, not {n:,}{_more(longer)}",
            )
    elif any(tied.values()):
        name = max(tied, key=tied.__getitem__)
        alike = {other: count for other, count in tied.items() if count}
        note(
            "text",
            text=f"{tied[name]:,} of {candidates.n_candidates:,} candidates have the score of another by '{name}'"
            f"{_more(alike)}: ties broken at random (seed {candidates.seed}); ties='keep' accepts all that tie",
        )


def _more(functions: Mapping[str, int]) -> str:
    """What is to be said where the worst of several functions was named."""
    return f", fewer by {counted(len(functions) - 1, 'other')}" if len(functions) > 1 else ""
