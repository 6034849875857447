"""Tables of candidates: scoring functions as systems, their n-best lists as outputs (Evert 2004, sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray
from simstudy.metrics.registry import sounds_like_error
from simstudy.notes import Argument, Note, Words, note, notes_kept
from simstudy.rankings.candidates import Candidates
from simstudy.readers.columns import (
    USUAL,
    check_columns,
    first_of,
    is_blank,
    joined,
    no_column,
    numbers,
    place,
    placed,
)
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable, coded
from simstudy.readers.request import Request, column
from simstudy.readers.scores import read_scores
from simstudy.readers.tables import TABLE_FILES, read_table
from simstudy.text.numerals import counted
from simstudy.text.reprs import ReprMixin, listed
from simstudy.validation import InputError, check_choice, check_path, check_text


@dataclass(frozen=True, repr=False)
class LoadedCandidates(ReprMixin):
    """Candidates from a file, with a row of `items` for each, and `notes`: what was read, candidates dropped.

    The columns of `items` are id, true, and those of the file that are no scores.
    """

    candidates: Candidates
    items: pd.DataFrame
    notes: tuple[Note, ...] = field(default=(), kw_only=True)

    def _summary(self) -> tuple[str, str]:
        functions, n = counted(len(self.candidates.names), "scoring function"), self.candidates.n_candidates
        what = f"LoadedCandidates: {counted(n, 'candidate')} ranked by {functions}"
        return what, f"notes: {'; '.join(self.notes) or 'none'}"

    def _table(self) -> pd.DataFrame:
        return self.items


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

    Every column with numbers is a scoring function, except those that `columns` names, ``domain``, ``cluster`` and
    columns of documents.

    Parameters
    ----------
    path
        A file .csv or .tsv, packed (.gz, .zst) or not, .json, .jsonl or .parquet.
    columns
        Our name -> the name in the file: ``gold`` says which candidates are true, ``item`` what they are called, and
        what else is named is no score: ``{"gold": "is_idiom", "length": "length"}``.
    ties, seed
        As for `Candidates.from_scores`.
    missing
        What to do if a candidate lacks a score: "error", or "drop" the candidate.
    test_set
        A name that appears in every table.

    Raises
    ------
    InputError
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
    with notes_kept() as notes:
        scores, items = _read_table(Path(path), dict(columns or {}), missing)
    candidates = Candidates.from_scores(scores, items["true"].to_numpy(), ties=ties, seed=seed, test_set=test_set)
    first = Note("candidates", {"path": path, "n": len(items), "functions": listed(candidates.names, 12)})
    return LoadedCandidates(candidates, items.reset_index(drop=True), notes=(first, *notes))


def read(request: Request) -> LongTable:
    """Rows of the n-best lists of scoring functions: whether each candidate is in the list, and true.

    The request's metric is "precision@n". Higher scores are better; inf and -inf rank first and last. Lists are those
    of the candidates of the request's domain, if it has one. A table without candidates has the scores of topics.
    Answers of systems are not compared: most candidates are in no list, so that lists agree by chance.
    """
    names = {*read_table(request.paths[0]).columns}
    ours = (names - {*request.columns.values()}) | {*request.columns}
    if "gold" not in ours or ours & {"system", "score"}:
        return read_scores(request)
    kind, _, length = request.metric.name.partition("@")
    if kind != "precision" or not length.isdigit():
        raise InputError("metric", "must be precision@n for candidates, such as precision@100", request.metric.name)
    if len(request.paths) != 1:
        rule = "must be one table of candidates, with a column for each scoring function"
        raise InputError("paths", rule, len(request.paths))
    path, n = request.paths[0], int(length)
    scores, items = _read_table(path, request.columns, request.missing)
    if request.domain is not None:
        domains = items["domain"].astype(str) if "domain" in items else pd.Series("", items.index)
        check_choice("domain", request.domain, sorted(set(domains)))
        kept = (domains == request.domain).to_numpy()
        scores, items = scores[kept], items[kept]
    true, ties = items["true"].to_numpy(), request.ties
    candidates = Candidates.from_scores(scores, true, ties=ties.how, seed=ties.seed)
    if n > candidates.n_candidates:
        rule = f"must be precision@n with n at most {candidates.n_candidates:,}, the number of candidates"
        raise InputError("metric", rule, request.metric.name, at=path)
    if errors := [f"'{name}'" for name in candidates.names if sounds_like_error(name)]:
        note("candidates by errors", names=listed(errors))
    with_ties = {name: candidates.accepted(name, candidates.threshold(name, n)).sum() for name in candidates.names}
    most = max(with_ties, key=with_ties.__getitem__)
    if with_ties[most] > n:
        kind = "ties kept" if candidates.ties == "keep" else "ties broken"
        keep = Argument("ties", "keep")
        note(kind, name=most, n=f"{n:,}", accepted=f"{with_ties[most]:,}", seed=candidates.seed, keep=keep)
    lists = candidates.outputs(n)
    parts = [
        pd.DataFrame(statistics, items.index, lists.metric.statistics).assign(system=name, item=candidates.ids)
        for name, statistics in zip(candidates.names, lists.statistics, strict=True)
    ]
    expected = items.rename(columns={"id": "item"}).reset_index(drop=True)
    return LongTable(pd.concat(parts), lists.metric.statistics, lists.metric, expected)


def _read_table(path: Path, columns: Mapping[str, str], missing: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Scores of the candidates, and their items: id, true, and columns that are no scores.

    The index of the scores is the id, the index of the items is the place in the file.
    """
    check_choice("missing", missing, ("error", "drop"))
    table = joined(read_table(path), columns, path)
    ours = {"gold": "gold", **columns}
    for name, in_file in ours.items():
        if in_file not in table:
            no_column(path, in_file, table.columns, Words("name it with {columns}", columns=column(name)))
    others = table.drop(columns=[name for name in {*ours, *ours.values()} if name in table])
    frame = placed(others.assign(**{name: table[in_file] for name, in_file in ours.items()}), path)
    described = {"gold", "item", "id", "domain", "cluster", *USUAL["cluster"], *columns}
    scores = {str(name): _scores(cells) for name, cells in frame.items() if name not in described}
    scores = {name: values for name, values in scores.items() if np.isfinite(values).any()}
    if not scores:
        raise InputError(f"no column of scores among {listed([*map(str, frame.columns)], 12)}", at=path)
    gold = numbers(frame["gold"])
    if (row := first_of(~np.isin(gold, (0, 1)))) is not None:
        what, cell = f"column '{columns.get('gold', 'gold')}'", str(frame["gold"].iloc[row])
        raise InputError(what, "must be 1 or 0 (true or false)", cell, at=place(frame, row))
    descriptions = frame.drop(columns=[name for name in ("gold", "true", *scores) if name in frame])
    items = pd.DataFrame({"id": _ids(descriptions), "true": gold == 1}, frame.index)
    items = items.join(descriptions.drop(columns=["item", "id"], errors="ignore"))
    kept = np.ones(len(frame), dtype=bool)
    for name, values in scores.items():
        blank = is_blank(frame[name])
        if (row := first_of(np.isnan(values) & ~blank)) is not None:
            remedy = Words("{described} makes it a column of the items", described=column(name, name))
            cell, rule = str(frame[name].iloc[row]), "has scores, and each must be a number"
            raise InputError(f"column '{name}'", rule, cell, remedy, at=place(frame, row))
        if missing == "error" and (row := first_of(blank)) is not None:
            remedy = Words("{drop} leaves such candidates out", drop=Argument("missing", "drop"))
            raise InputError(f"column '{name}' is empty", remedy=remedy, at=place(frame, row))
        kept &= ~blank
    if not kept.all():
        first = items["id"].iloc[int(np.argmin(kept))]
        note("candidates dropped", n=f"{int((~kept).sum()):,}", all=counted(len(frame), "candidate"), first=first)
    items = items[kept]
    if items["true"].nunique() < 2:
        rule = "must have true and false candidates" if len(items) else "has no candidate with all scores"
        raise InputError(rule, at=path)
    return pd.DataFrame({name: values[kept] for name, values in scores.items()}, items["id"]), items


def _scores(cells: pd.Series[Any]) -> FloatArray:
    """The scores of a column (n,), NaN for a cell that is none; true and false are no scores."""
    return numbers(cells.mask(cells.astype(str).str.lower().isin(("true", "false"))))


def _ids(items: pd.DataFrame) -> list[str]:
    """The ids of candidates: ``item`` or ``id``, else the words of their text if all differ, else their numbers."""
    key = next((name for name in ("item", "id") if name in items), None)
    if key is None:
        texts = [items[name].fillna("").astype(str) for name in items if np.isnan(_scores(items[name])).all()]
        ids = [" ".join(" ".join(cells).split()) for cells in zip(*texts, strict=True)]
        all_differ = ids and "" not in ids and len({*ids}) == len(ids)
        return ids if all_differ else [str(row) for row in range(1, len(items) + 1)]
    codes, names = coded(items, key)
    if (row := first_of(pd.Series(codes).duplicated())) is not None:
        raise InputError(f"candidate '{names[codes[row]]}' again", at=place(items, row))
    return [str(name) for name in names[codes]]


FORMAT = Format("candidates", "a table of candidates", read, TABLE_FILES, metrics=("precision@n",), scored=True)
