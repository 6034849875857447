"""What follows from all pairs of a test set's systems: groups, curve, thresholds, words, a page, JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.deciding_items import DecidingItems, deciding_items
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.comparisons.relation_classes import related
from simstudy.engines.registry import default_test
from simstudy.examination import samples
from simstudy.examination.json import as_json
from simstudy.examination.paper import paper
from simstudy.examination.printed import answer, show
from simstudy.examination.rows import ranking
from simstudy.examination.sizes import Sizes, sizes_of
from simstudy.metrics import label
from simstudy.outputs import Outputs, TestSet
from simstudy.pairs import ALL_PAIRS, order_of
from simstudy.papers.document import Paper
from simstudy.papers.pairs import MOST_PAIRS
from simstudy.papers.written import in_latex, in_markdown
from simstudy.suites import AcrossTasks
from simstudy.text.printing import text_of
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError

#: The options of `compare` of all pairs, with their defaults.
OPTIONS = {
    name: one.default for name, one in signature(compare).parameters.items() if name not in ("outputs", "against")
}


@dataclass(frozen=True, eq=False, repr=False)
class Examination(ReprMixin):
    """What `simstudy.examine` found on one test set: everything that its outputs say about the systems.

    ``pairs`` are `Comparisons`, with p_holm and p_bh, and with what they say about a margin. The tables
    ``leaderboard``, ``groups``, ``neighbours``, ``curve``, ``thresholds``, ``gains`` and ``duplicates`` are data
    frames. Scores and gains are on the metric's scale.
    """

    pairs: Comparisons
    """All pairs, with the relation of the two systems."""
    alpha: float = 0.05
    """The level of significance."""
    seed: int = 0
    """Of intervals that draw systems again."""
    _: KW_ONLY
    test_set: TestSet
    """The systems that were compared, how, and what a reader should know about the data."""
    duplicates: pd.DataFrame
    """Near-duplicates among all systems, also those that were dropped; no row where duplicates="keep"."""
    margin: float | None = None
    """The smallest true gain that would matter, where one was given."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of the files that were read, by path."""

    tasks: AcrossTasks | None = None
    """Averages of several tasks, if they are the answer (`simstudy.across_tasks`)."""

    @property
    def outputs(self) -> Outputs:
        """The systems that were compared."""
        return self.test_set.outputs

    @cached_property
    def leaderboard(self) -> pd.DataFrame:
        """Scores with their intervals, and the places that each system may have (`simstudy.leaderboard`)."""
        return leaderboard(self.outputs, unit=self.test_set.unit, seed=self.seed)

    @cached_property
    def groups(self) -> pd.DataFrame:
        """Systems that do not differ significantly after Holm's correction for all pairs (`Comparisons.groups`).

        By the maximal rule of Chinchor 1992, or, where there are too many such groups, from the top ("greedy").
        """
        try:
            return self.pairs.groups(alpha=self.alpha, p="p_holm")
        except InputError:
            # Nobody reads more than 1,000 maximal sets.
            return self.pairs.groups(alpha=self.alpha, p="p_holm", rule="greedy")

    @cached_property
    def neighbours(self) -> pd.DataFrame:
        """Pairs of systems that follow one another by score."""
        return self.pairs.frame[order_of(self.pairs.frame).neighbours]

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Gain against confidence (`Comparisons.curve`)."""
        return self.pairs.curve()

    @cached_property
    def thresholds(self) -> pd.DataFrame:
        """The gain that is usually significant (`Comparisons.thresholds`)."""
        return self.pairs.thresholds(seed=self.seed)

    @cached_property
    def gains(self) -> pd.DataFrame:
        """The gain that is significant by the standard errors (`Comparisons.significant_gains`)."""
        return self.pairs.significant_gains(alpha=self.alpha)

    @cached_property
    def noises(self) -> pd.DataFrame:
        """Standard errors of gains between and within questions (`ss.comparisons.noises`); empty without samples."""
        return samples.noises_of(self, "gains")

    @cached_property
    def score_noises(self) -> pd.DataFrame:
        """The same of scores."""
        return samples.noises_of(self, "scores")

    @cached_property
    def sizes(self) -> pd.DataFrame:
        """How many pairs are significant on the first items of the test set, at nested sizes down to about 50 items.

        Sizes are parts of this one order of the items, and each holds the next smaller one: their results depend on
        each other. Columns: n_items, n_units, pairs, significant (not corrected), significant_holm (Holm, for all pairs
        of that size), agreeing (also on the whole), only_here, and reversed. No row where there are too few items.
        """
        return self.by_size.table

    @cached_property
    def by_size(self) -> Sizes:
        """All pairs and scores at each of these sizes."""
        return sizes_of(self)

    def deciding_items(self, system_a: str, system_b: str, n: int = 20) -> DecidingItems:
        """The items on which two systems differ most, with their texts (`simstudy.comparisons.deciding_items`).

        Contributions, wins and losses are told from the side of the first system. The items are chosen by their
        outcome: they describe this test set.
        """
        how = self.test_set
        return deciding_items(self.outputs, system_a, system_b, n=n, unit=how.unit, texts=how.texts)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know about the data."""
        return self.test_set.notes

    @property
    def title(self) -> str:
        """What was compared, as the page's heading."""
        of = f" on {self.test_set.name}" if self.test_set.name else ""
        return f"{self.outputs.n_systems} systems compared by {label(self.test_set.metric)}{of}"

    @cached_property
    def verdict(self) -> str | None:
        """Of two systems: what `simstudy.verdict` says."""
        return self.pairs.verdict(alpha=self.alpha, margin=self.margin) if len(self.pairs) == 1 else None

    @property
    def text(self) -> str:
        """What the command prints for people: the verdict on two systems, or the answer about many."""
        return text_of(partial(show, self))

    @property
    def settings(self) -> dict[str, Any]:
        """How the systems were compared, as JSON and the manifest have it."""
        how = self.test_set
        asked = {"metric": how.metric, "by": list(how.by), "duplicates": how.duplicates, **OPTIONS, **how.options}
        asked.pop("progress")
        asked["test"] = asked["test"] or default_test(self.outputs.metric)
        return {**asked, "alpha": self.alpha, "margin": self.margin}

    def to_json(self, settings: Mapping[str, Any] | None = None) -> str:
        """Everything that was found as a JSON object: what the command prints with ``--json``.

        `settings` are put in the place of the examination's own.
        """
        return "".join(as_json(self, self.settings if settings is None else settings))

    def paper(self, *, baseline: str | None = None, every_pair: bool = False) -> Paper:
        """The tables and sentences for a paper, as data: `to_latex` and `to_markdown` write them."""
        return paper(self, baseline=baseline, most=None if every_pair else MOST_PAIRS)

    def to_latex(self, table: str | None = None, *, baseline: str | None = None) -> str:
        r"""Tables and sentences for a paper, in LaTeX: what the command prints with ``--latex``.

        The tables need the package booktabs. Their captions say what is tested, corrected and marked.

        Parameters
        ----------
        table
            "leaderboard" or "pairs": only this table. Two systems have "pairs", several tasks "tasks". None:
            everything, with the sentences for results and methods, and what they cite.
        baseline
            The system that marks of the leaderboard compare with, chosen before the results were seen. None: the
            system with the best score.

        Raises
        ------
        ValueError
            If there is no such table or system.

        Examples
        --------
        >>> from simstudy.examination import examine
        >>> from simstudy.truth import correlated_accuracies
        >>> found = examine(correlated_accuracies([0.5, 0.7, 0.9], 400))
        >>> print(found.to_latex("leaderboard").splitlines()[8])
        \textbf{system-3} & \textbf{92.3} & [89.2, 94.5] & 1 (1) \\
        """
        return in_latex(self.paper(baseline=baseline), table)

    def to_markdown(self, table: str | None = None, *, baseline: str | None = None) -> str:
        """The same in Markdown (`to_latex`): what the command prints with ``--markdown``."""
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
        """Write tables, figures, a page (README.md) and a manifest: what the command writes with ``--out``.

        The folder ``paper`` in it has the tables, sentences and references of `to_latex`, whose marks compare with the
        `baseline`. With `figures` ("pdf", "svg" or "png") it has the figures for a paper too: as wide as a column, with
        embedded fonts, and without titles. `command` is how the page says that it was made, and `settings` are put in
        the place of the examination's own.

        Raises
        ------
        ValueError
            Where the folder holds anything but an earlier comparison.
        """
        # Who only asks for numbers does not wait for what writes pages.
        from simstudy.examination import page

        asked = self.settings if settings is None else settings
        page.write(self, Path(folder), command=command, settings=asked, figures=figures, baseline=baseline)

    def to_html(self, path: str | Path, *, command: str = "simstudy.examine") -> None:
        """Write the page as one HTML file that loads nothing: what the command writes with ``--out report.html``.

        `command` is how the page says that it was made.

        Raises
        ------
        ValueError
            For a path that does not end in .html or .htm, or where a file is that simstudy did not write.
        """
        from simstudy.examination import page
        from simstudy.pages.html import write_html

        write_html(page.page_of(self, command), path)

    def _summary(self) -> tuple[str, str]:
        if self.verdict is not None:
            return f"Examination: {self.title}", self.verdict.splitlines()[0]
        return f"Examination: {self.title}", " ".join(answer(self))

    def _table(self) -> pd.DataFrame:
        return ranking(self).text()


def classified(pairs: pd.DataFrame, outputs: Outputs, by: str | None) -> pd.DataFrame:
    """Comparisons with relation classes from a column of the systems table; None: all are one class."""
    return related(pairs, outputs.systems, by) if by else pairs.assign(relation=ALL_PAIRS)
