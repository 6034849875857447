"""One comparison for each of several metrics or domains: shown in one table, and never mixed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy.examination.examination import Examination
from simstudy.examination.json import as_json
from simstudy.examination.several_paper import paper
from simstudy.examination.several_printed import TABLE, answer, claims, part_rows, scores_by_part, show
from simstudy.metrics import label
from simstudy.pages.sections import Section, Table
from simstudy.papers.document import Paper
from simstudy.papers.written import files, in_latex, in_markdown
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import holm
from simstudy.text.plain_text import shown
from simstudy.text.printing import text_of
from simstudy.text.reprs import ReprMixin

if TYPE_CHECKING:
    from simstudy.pages.report import Page

#: What the folder of several comparisons is of.
RESULTS_OF = "several comparisons"


@dataclass(frozen=True, eq=False, repr=False)
class Several(ReprMixin):
    """The same files compared by several metrics, on several domains, or both.

    Attributes
    ----------
    parts
        An `Examination` for each metric and domain, in the order in which they were asked for.

    Examples
    --------
    >>> from simstudy.examination import examine
    >>> from simstudy.truth import correlated_accuracies
    >>> outputs = correlated_accuracies([0.6, 0.7], 400)
    >>> found = Several((examine(outputs), examine(outputs.head(200))))
    >>> found.table[["n_items", "better", "p_value"]].shape
    (2, 3)
    """

    parts: tuple[Examination, ...]

    @property
    def of_pairs(self) -> bool:
        """Whether each part compares the same two systems."""
        return all(part.outputs.n_systems == 2 for part in self.parts) and len(self._systems) == 2

    @property
    def _systems(self) -> list[str]:
        return list(dict.fromkeys(name for part in self.parts for name in part.outputs.names))

    @property
    def table(self) -> pd.DataFrame:
        """A row for each part: its metric, domain and size, and what was found.

        Of two systems: their scores, the gain of the better one with its interval, its p-value, and the p-value after
        Holm's correction for the parts (p_holm_parts). Of more: how many may be the best and which, and how many pairs
        differ significantly after Holm's correction for the pairs of the part.
        """
        return pd.DataFrame(self._of_pairs() if self.of_pairs else self._of_many())

    @property
    def scores(self) -> pd.DataFrame:
        """A row for each system and part: score with its interval, rank, and whether the system may be the best."""
        boards = [
            part.leaderboard.assign(metric=part.test_set.metric, test_set=part.test_set.name) for part in self.parts
        ]
        columns = ["metric", "test_set", "system", "score", "score_low", "score_high", "rank", "may_be_best"]
        return pd.concat(boards, ignore_index=True)[columns]

    @property
    def title(self) -> str:
        """What was compared, as the page's heading."""
        metrics = list(dict.fromkeys(label(part.test_set.metric) for part in self.parts))
        domains = list(dict.fromkeys(part.test_set.name for part in self.parts))
        on = f" on {len(domains)} domains" if len(domains) > 1 else f" on {domains[0]}" if domains[0] else ""
        return f"{len(self._systems)} systems compared by {', '.join(metrics)}{on}"

    @property
    def text(self) -> str:
        """What the command prints for people."""
        return text_of(partial(show, self))

    def as_json(self, settings: Mapping[str, Any], more: Sequence[Mapping[str, Any]] = ()) -> Iterator[str]:
        """A JSON list with an object for each part, in pieces; `more` are further fields of each.

        Of two systems each has ``p_holm_parts``: its p-value after Holm's correction for the parts.
        """
        before = "["
        for k, (part, own) in enumerate(zip(self.parts, self._corrected(), strict=True)):
            yield before
            yield from as_json(part, {**settings, **_own(part)}, {**own, **(more[k] if more else {})})
            before = ",\n"
        yield "]"

    def to_json(self, settings: Mapping[str, Any] | None = None) -> str:
        """A JSON list of what `Examination.to_json` gives for each part."""
        if settings is not None:
            return "".join(self.as_json(settings))
        parts = zip(self.parts, self._corrected(), strict=True)
        found = [json.loads("".join(as_json(part, part.settings, own))) for part, own in parts]
        return json.dumps(found, ensure_ascii=False, indent=2)

    def paper(self, *, baseline: str | None = None, every_pair: bool = False) -> Paper:
        """The tables and sentences for a paper, as data; only one comparison has tables of pairs (`every_pair`)."""
        return paper(self, baseline=baseline)

    def to_latex(self, table: str | None = None, *, baseline: str | None = None) -> str:
        """One table of all comparisons in LaTeX, and the sentences for a paper, as `Examination.to_latex` does.

        The table is "pairs" of two systems and "scores" of more; None is everything.
        """
        return in_latex(self.paper(baseline=baseline), table)

    def to_markdown(self, table: str | None = None, *, baseline: str | None = None) -> str:
        """The same in Markdown (`to_latex`)."""
        return in_markdown(self.paper(baseline=baseline), table)

    def write(
        self,
        folder: str | Path,
        *,
        command: str = "simstudy.examine",
        settings: Mapping[str, Any] | None = None,
        figures: str | None = None,
        baseline: str | None = None,
    ) -> None:
        """Write a folder for each part, as `Examination.write` does, and a page with the table that links them."""
        # Who only asks for numbers does not wait for what writes pages.
        from simstudy.pages.report import write_results
        from simstudy.running.folders import results_folder

        asked = {} if settings is None else dict(settings)
        names = folder_names([_called(part) for part in self.parts])
        with results_folder(folder, RESULTS_OF) as results:
            for name, part in zip(names, self.parts, strict=True):
                part.write(
                    results.path / name, command=command, settings={**part.settings, **asked, **_own(part)},
                    figures=figures, baseline=baseline,
                )  # fmt: skip
            hashes = {path: digest for part in self.parts for path, digest in part.files.items()}
            page = replace(self._page(command, names), paper=files(self.paper(baseline=baseline)))
            write_results(results, page, {"comparison": asked, "data": {"files": hashes}}, {})

    def to_html(self, path: str | Path, *, command: str = "simstudy.examine") -> None:
        """Write the table and the page of each part as one HTML file that loads nothing.

        `command` is how the page says that it was made. Parts for which the file would be too large are left out, and
        the page names them.

        Raises
        ------
        ValueError
            For a path that does not end in .html or .htm, or where a file is that simstudy did not write.
        """
        from simstudy.examination.page import page_of
        from simstudy.pages.html import write_html

        names = [
            " ".join(filter(None, (shown(part.test_set.name), label(part.test_set.metric)))) for part in self.parts
        ]
        parts = {name: page_of(part, command) for name, part in zip(names, self.parts, strict=True)}
        every = [set(part.limits) for part in parts.values()]
        shared = [text for text in next(iter(parts.values())).limits if all(text in own for own in every)]
        page = self._page(command, folder_names(list(parts)))
        write_html(replace(page, links={}, parts=parts, limits=shared), path)

    def _page(self, command: str, names: Sequence[str]) -> Page:
        from simstudy.pages.report import Page

        scores = Section("Scores", "Best first by the first column.", table=Table.of_text(scores_by_part(self)))
        return Page(
            title=self.title,
            question="Which systems are better by each metric and on each domain?",
            command=command,
            facts={"Systems": str(len(self._systems)), "Comparisons": str(len(self.parts))},
            sections=[
                Section(TABLE, claims(self), table=Table.of_text(part_rows(self))),
                *([] if self.of_pairs else [scores]),
            ],
            tables={"comparisons": self.table, "scores": self.scores},
            closing="Each comparison has a page of its own, with its test, its intervals and all pairs.",
            headline=answer(self),
            links={_called(part): f"{name}/README.md" for name, part in zip(names, self.parts, strict=True)},
        )  # fmt: skip

    def _corrected(self) -> list[dict[str, Any]]:
        """What JSON has of each part beside what it is alone: its p-value corrected for the parts, of two systems."""
        if not self.of_pairs:
            return [{} for _ in self.parts]
        return [{"n_parts": len(self.parts), "p_holm_parts": p} for p in self.table["p_holm_parts"].tolist()]

    def _of_pairs(self) -> dict[str, Any]:
        pairs = pd.concat([part.pairs.frame for part in self.parts], ignore_index=True)
        first, second = self._systems
        of_first = (pairs["system_a"] == first).to_numpy()
        a, b = pairs["score_a"].to_numpy(), pairs["score_b"].to_numpy()
        decided = [bool(Decision(part.alpha).significant(part.pairs.frame)[0]) for part in self.parts]
        return {
            **self._parts(),
            "system_1": first,
            "system_2": second,
            "score_1": np.where(of_first, a, b),
            "score_2": np.where(of_first, b, a),
            "better": pairs["system_a"].where(pairs["gain"] > 0),
            **{name: pairs[name] for name in ("gain", "gain_low", "gain_high", "p_value", "n_resamples")},
            "p_holm_parts": holm(pairs["p_value"].to_numpy(dtype=np.float64)),
            "significant": decided,
        }

    def _of_many(self) -> dict[str, Any]:
        best = [part.leaderboard.loc[part.leaderboard["may_be_best"], "system"].tolist() for part in self.parts]
        return {
            **self._parts(),
            "n_systems": [part.outputs.n_systems for part in self.parts],
            "n_may_be_best": [len(names) for names in best],
            "may_be_best": [", ".join(map(shown, names)) for names in best],
            "n_pairs": [len(part.pairs) for part in self.parts],
            "n_significant": [
                int(Decision(part.alpha, p="p_holm").significant(part.pairs.frame).sum()) for part in self.parts
            ],
        }

    def _parts(self) -> dict[str, Any]:
        return {
            "metric": [part.test_set.metric for part in self.parts],
            "test_set": [part.test_set.name for part in self.parts],
            "n_items": [part.outputs.n_items for part in self.parts],
        }

    def _summary(self) -> tuple[str, str]:
        return f"Several: {self.title}", f"comparisons: {'; '.join(map(_called, self.parts))}"

    def _table(self) -> pd.DataFrame:
        return self.table


def folder_names(names: Sequence[str]) -> list[str]:
    """A name of a folder for each of these: letters, digits, _ and -, each once whatever the case."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name.replace("+", "plus")).strip("_")[:80] or "part"
        taken = {other.casefold() for other in (*found, "figures", "cells", "paper")}
        number = next(
            n for n in range(1, len(names) + 3) if (plain if n == 1 else f"{plain}_{n}").casefold() not in taken
        )
        found.append(plain if number == 1 else f"{plain}_{number}")
    return found


def _called(part: Examination) -> str:
    """A part by its domain and metric."""
    return " ".join(filter(None, (shown(part.test_set.name), part.test_set.metric)))


def _own(part: Examination) -> dict[str, Any]:
    """What was asked of this part alone."""
    return {"metric": part.test_set.metric, **({"domain": part.test_set.name} if part.test_set.name else {})}
