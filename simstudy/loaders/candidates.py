"""Candidates in files: scoring functions as systems, their n-best lists as outputs (Evert 2004, sections 1 and 2)."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from simstudy.choices import check_list, check_path, check_text
from simstudy.loaders.base import Loaded, Source, counted
from simstudy.loaders.candidate_tables import read_candidate_table
from simstudy.loaders.tables import match_items
from simstudy.metrics import Metric
from simstudy.metrics.direction import sounds_like_error
from simstudy.rankings.candidates import Candidates
from simstudy.unpacking import beginning


def load_candidates(
    path: str | Path,
    *,
    gold: str = "gold",
    item: str | None = None,
    others: Sequence[str] = (),
    ties: str = "jitter",
    seed: int = 0,
    missing: str = "error",
    test_set: str = "",
) -> Candidates:
    r"""Candidates from a file: a table with a row for each, as `read_candidates` has it.

    Parameters
    ----------
    path
        A file .csv or .tsv, either may be packed (.gz), or .parquet.
    gold
        The column that says which candidates are true.
    item
        The column of ids.
    others
        Columns of numbers that are no scores.
    ties, seed
        As for `Candidates.from_scores`.
    missing
        Where a candidate lacks a score: "error", or "drop" the candidate.
    test_set
        A name that appears in every table.

    Raises
    ------
    FileNotFoundError, ValueError
        As `read_candidates`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "candidates.csv"
    >>> _ = path.write_text("word,gold,t,mi\nput up,1,9,3\nsay so,0,7,1\neat fish,0,2,5\n")
    >>> candidates = load_candidates(path)
    >>> candidates.names, candidates.ids
    (['t', 'mi'], ['put up', 'say so', 'eat fish'])
    """
    check_path("path", path)
    check_text("gold", gold, "the name of a column")
    check_text("item", item, "the name of a column", or_none=True)
    check_list("others", others, "names of columns")
    for name in others:
        check_text("others", name, "a list of names of columns")
    check_text("test_set", test_set)
    columns = {**{name: name for name in others}, "gold": gold, **({} if item is None else {"item": item})}
    return replace(read_candidate_table(Path(path), columns, missing, ties, seed).candidates, test_set=test_set)


def read_candidates(source: Source) -> Loaded:
    r"""Scoring functions as systems, from one table with a row for each candidate.

    ``gold`` says whether a candidate is true (1 or true) or not (0 or false). ``item`` or ``id`` is its id; without
    these the words of its columns of text, where no two candidates have the same, else the number of its row.
    Every other column with numbers is a scoring function, higher is better (inf and -inf rank first and last), and one
    without describes the candidates. So do ``domain``, ``cluster`` and what `Source.columns` declares, whatever is in
    them. Where there are contingency tables (O11, O12, O21, O22, or f, f1, f2, N), their counts are features, and every
    association measure of them is a scoring function.

    The systems' outputs are the n-best lists of `Source.metric`, "precision@n". Their answers are None: most candidates
    are in no list, so that the lists agree on them by chance.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        For another metric, an n that is larger than the list, more than one file; columns that are not there, an id
        that is empty or there twice, gold that is neither true nor false or the same for all, no scores; cells that
        are no numbers among scores or counts, a score that is missing, unless missing="drop"; and as `read_table`,
        `association` and `match_items`. The message names file and line.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from simstudy.metrics import get_metric
    >>> path = Path(mkdtemp()) / "candidates.csv"
    >>> _ = path.write_text("word,is_idiom,t,mi\nput up,1,9,3\nsay so,0,7,1\neat fish,0,2,5\n")
    >>> outputs = read_candidates(Source((path,), get_metric("precision@1"), columns={"gold": "is_idiom"})).outputs
    >>> outputs.names, outputs.scores().tolist()
    (['t', 'mi'], [1.0, 0.0])
    """
    n = _length(source.metric)
    if len(source.paths) != 1:
        files = counted(len(source.paths), "file")
        raise ValueError(f"candidates are one table with a column for each scoring function, not {files}")
    path = source.paths[0]
    others = source.items is not None
    found = read_candidate_table(path, source.columns, source.missing, source.ties, source.seed, has_items=others)
    candidates, items = found.candidates, found.items
    given = match_items(source, candidates.ids, ("gold", "item", *items))
    if given is not None:
        items = items[["id", "true", *(name for name in items if name not in given and name != "true")]]
        items = items.join(given.drop(columns=[name for name in ("id", "true") if name in given]))
    if source.domain is not None:
        candidates, items = _of_domain(candidates, items, source.domain)
    if n > candidates.n_candidates:
        most = f"{candidates.n_candidates:,}, the number of candidates"
        raise ValueError(f"{path}: n of {source.metric.name} must be at most {most}")
    return Loaded(
        replace(candidates.outputs(n), items=items), notes=(*found.notes, *_errors(candidates), *_ties(candidates, n))
    )


def _of_domain(candidates: Candidates, items: pd.DataFrame, domain: str) -> tuple[Candidates, pd.DataFrame]:
    """The candidates of one domain, to be ranked among themselves, and what describes them."""
    kept = replace(candidates.outputs(1), items=items).domain(domain).items["id"]
    positions = np.flatnonzero(items["id"].isin(kept))
    return candidates.take(positions), items.iloc[positions].reset_index(drop=True)


def has_candidates(path: Path, columns: Mapping[str, str]) -> bool:
    """Whether a file is a table of candidates, as its header tells: ``gold``, and neither system nor score.

    Parameters
    ----------
    path
        Any file; one that cannot be read is no such table.
    columns
        As `Source.columns`.
    """
    header = {*_header(path)}
    names = (header - {*columns.values()}) | {ours for ours in columns if ours == "gold" or columns[ours] in header}
    return bool(header) and "gold" in names and not names & {"system", "score"}


def _header(path: Path) -> Sequence[str]:
    kind = Path(path.name.lower().removesuffix(".gz")).suffix
    try:
        if kind == ".parquet":
            return [str(name) for name in pa.parquet.read_schema(path).names]
        if kind not in (".csv", ".tsv"):
            return []
        text = StringIO(beginning(path).decode("utf-8-sig", errors="replace"), newline="")
        return next(csv.reader(text), []) if kind == ".csv" else text.readline().rstrip("\r\n").split("\t")
    except (OSError, EOFError, zlib.error, csv.Error, pa.ArrowException):
        # Its loader says what is wrong with it.
        return []


def _length(metric: Metric) -> int:
    """The n of "precision@n"."""
    kind, _, n = metric.name.partition("@")
    if kind != "precision" or not n:
        raise ValueError(f"metric must be precision@n for candidates, such as precision@100, not '{metric.name}'")
    return int(n)


def _errors(candidates: Candidates) -> list[str]:
    """A note where a scoring function sounds as if lower were better."""
    errors = [f"'{name}'" for name in candidates.names if sounds_like_error(name)]
    if not errors:
        return []
    return [f"higher scores rank first by {', '.join(errors)} too: negate the column where lower is better"]


def _ties(candidates: Candidates, n: int) -> list[str]:
    """What became of candidates with equal scores."""
    notes, tied = [], {}
    for name, scores in zip(candidates.names, candidates.scores, strict=True):
        _, counts = np.unique(scores, return_counts=True)
        tied[name] = int(counts[counts > 1].sum())
        if len(counts) == 1:
            tied.pop(name)
            chance = "is by chance" if candidates.ties == "jitter" else "accepts all"
            notes.append(f"all candidates have the same score by '{name}': its ranking {chance}")
    if candidates.ties == "keep":
        longer = {name: int(candidates.n_best(name, n).sum()) for name in tied}
        longer = {name: accepted for name, accepted in longer.items() if accepted > n}
        if longer:
            name = max(longer, key=longer.__getitem__)
            notes.append(f"ties kept: the list of '{name}' has {longer[name]:,} candidates, not {n:,}{_more(longer)}")
    elif any(tied.values()):
        name = max(tied, key=tied.__getitem__)
        alike = {other: count for other, count in tied.items() if count}
        notes.append(
            f"{tied[name]:,} of {candidates.n_candidates:,} candidates have the score of another by '{name}'"
            f"{_more(alike)}: ties broken at random (seed {candidates.seed}); --ties keep accepts all that tie"
        )
    return notes


def _more(functions: Mapping[str, int]) -> str:
    """What is to be said where the worst of several functions was named."""
    return f", fewer by {counted(len(functions) - 1, 'other')}" if len(functions) > 1 else ""
