"""The result of a plan: its tables, sentences and notes, printed, as a figure, as JSON and as a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy import plot
from simstudy.metrics import label
from simstudy.planning.answers import power_curve
from simstudy.planning.cases import Case, Target
from simstudy.planning.printed import show, size_rows
from simstudy.tables import records
from simstudy.text.plain_text import json_text
from simstudy.text.printing import text_of
from simstudy.text.reprs import ReprMixin
from simstudy.validation import InputError, check_whole

if TYPE_CHECKING:
    from simstudy.papers.document import Paper
    from simstudy.planning.simulated import Simulated

#: The tables of a plan, by the names of their attributes.
TABLES = ("answers", "sizes", "designs", "predicted")


@dataclass(frozen=True, repr=False, eq=False)
class Plan(ReprMixin):
    """The target of a plan, and the answers; `text` tells them, `figure` draws them.

    Attributes
    ----------
    target
        Metric, gain, items, power, level and margin.
    cases
        Of which systems: as guessed, a pilot's two, or relation classes.
    answers
        A row for each case and each goal ("better", "not worse", "equivalent"): relation, goal, gain, margin; unit,
        n_units and n_items that reach the power; at_units and at_items, which are those that were given, or else the
        planned ones. For test sets of at_units: minimum_detectable_gain (the true gain that is detected with the
        power), power (to detect `gain`), wrong_winner (the share of test sets where the truly worse system scores
        higher),
        wrong_sign (the share of significant gains that are the worse system's, type S) and exaggeration (the mean
        significant gain over the true one, type M). Each of them has _low and _high, the ends of the case's range; NaN
        where there is no number. Also least_p (of sign flips of so many units), kurtosis (of a pilot's differences) and
        margin_seen (the margin on judges' verdicts); the numbers between which 80 % of a case's pairs lie (single_gain,
        single_items and single_power, each with _low and _high), and those of a benchmark's next edition (next_gain,
        next_items).
    sizes
        The same for more sizes: relation, n_units, n_items, minimum_detectable_gain, power, wrong_winner, wrong_sign,
        exaggeration; with a margin also shown_not_worse and shown_equivalent, the probabilities to show that.
    designs
        Where items come in clusters whose likeness is known: what fewer or more items a cluster make of it, and what
        that costs (items_per_unit, which, design_effect, n_units, n_items, cost, at_units, minimum_detectable_gain,
        relation). Where items have several samples: the same for fewer or more samples (samples, which,
        items_per_unit, n_units, n_items, n_samples, cost, at_units, minimum_detectable_gain, relation). The samples are
        those of an item by one system. n_samples counts those of both systems.
    predicted
        Of many systems: what test sets of these sizes show of the same systems; else empty.
    simulated
        What the default test finds on test sets drawn from a fitted model, beside the closed form; or None.
    sentences
        How many items are needed, and sentences for a paper's methods section.
    assumptions
        What was taken to be so.
    notes
        What else should be known.
    settings
        What was asked for, as JSON and the manifest have it.
    files
        SHA-256 of the files that were read, by path.
    """

    target: Target
    cases: tuple[Case, ...]
    answers: pd.DataFrame
    sizes: pd.DataFrame
    designs: pd.DataFrame
    predicted: pd.DataFrame
    simulated: Simulated | None
    sentences: tuple[str, ...]
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What the command prints for people: the answers, their simulation, tables, what was assumed, and notes."""
        return text_of(partial(show, self))

    def power_curve(self, n_sizes: int = 40) -> pd.DataFrame:
        """Power by size, for a figure: relation, gain, n_units, n_items, power, power_low, power_high.

        Raises
        ------
        ValueError
            Where the plan has no gain.
        """
        check_whole("n_sizes", n_sizes, 2)
        if self.target.gain is None or self.target.gain <= 0:
            raise InputError("the plan must have a gain for a power curve")
        units = self.sizes["n_units"]
        at = np.unique(np.geomspace(max(2, units.min() / 2), units.max(), n_sizes).astype(np.int64))
        return power_curve(self.cases, self.target, at.tolist())

    def figure(self) -> Any:
        """Power and minimum detectable gain by size: matplotlib's Figure."""
        has_gain = self.target.gain is not None and self.target.gain > 0
        counted = self.cases[0].items
        titles = ["Power", "Detectable gain"] if has_gain else ["Detectable gain"]
        drawn, axes = plot.panels([f"{title}, {label(self.target.metric.name)}" for title in titles])
        if has_gain:
            curve = self.power_curve()
            plot.planned_power(curve, self.answers, power=self.target.power, counted=counted, ax=axes[0])
        plot.planned_gains(self.sizes, counted=counted, ax=axes[-1])
        return drawn

    def to_json(self, settings: Mapping[str, Any] | None = None) -> str:
        """The plan as a JSON object, what the command prints with ``--json``; null: not known.

        `settings` are put in the place of the plan's own.
        """
        content = {
            "simstudy": version("simstudy"),
            "settings": dict(self.settings if settings is None else settings),
            "sentences": self.sentences,
            **{name: records(getattr(self, name)) for name in TABLES},
            "simulated": None if self.simulated is None else records(pd.DataFrame([asdict(self.simulated)]))[0],
            "assumptions": self.assumptions,
            "notes": self.notes,
        }
        return json_text(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2, default=str))

    def paper(self) -> Paper:
        """The tables and sentences for a paper, as data: `to_latex` and `to_markdown` write them."""
        # Who only asks for numbers does not wait for what writes papers.
        from simstudy.planning.paper import paper

        return paper(self)

    def to_latex(self, table: str | None = None) -> str:
        """The table of sizes and the sentences for a methods section in LaTeX, as the command prints with ``--latex``.

        The table is "sizes"; None is everything, with the assumptions and what is cited.
        """
        from simstudy.papers.written import in_latex

        return in_latex(self.paper(), table)

    def to_markdown(self, table: str | None = None) -> str:
        """The same in Markdown (`to_latex`)."""
        from simstudy.papers.written import in_markdown

        return in_markdown(self.paper(), table)

    def write(
        self,
        folder: str | Path,
        *,
        command: str = "simstudy.plan",
        settings: Mapping[str, Any] | None = None,
        figures: str | None = None,
    ) -> None:
        """Write tables, the figure, a page (README.md) and a manifest: what the command writes with ``--out``.

        The folder ``paper`` in it has the table and the sentences of `to_latex`, and with `figures` ("pdf", "svg" or
        "png") the figure as wide as a column. `command` is how the page says that it was made, and `settings` are put
        in the place of the plan's own.

        Raises
        ------
        ValueError
            Where the folder holds anything but an earlier plan.
        """
        # Who only asks for numbers does not wait for what writes folders.
        from simstudy.pages.report import write_results
        from simstudy.papers.written import files
        from simstudy.planning.page import page_of
        from simstudy.running.folders import results_folder

        asked = dict(self.settings if settings is None else settings)
        with results_folder(Path(folder), "a plan") as results:
            manifest = {"plan": asked, "data": {"files": dict(self.files)}}
            page = replace(page_of(self, command), paper=files(self.paper()), paper_figures=figures)
            write_results(results, page, manifest, {})

    def to_html(self, path: str | Path, *, command: str = "simstudy.plan") -> None:
        """Write the page as one HTML file that loads nothing: what the command writes with ``--out plan.html``.

        `command` is how the page says that it was made.

        Raises
        ------
        ValueError
            For a path that does not end in .html or .htm, or where a file is that simstudy did not write.
        """
        from simstudy.pages.html import write_html
        from simstudy.planning.page import page_of

        write_html(page_of(self, command), path)

    def _summary(self) -> tuple[str, str]:
        warning = "" if self.simulated is None else self.simulated.warning
        return "Plan of a test set", " ".join(filter(None, [warning, *self.sentences]))

    def _table(self) -> pd.DataFrame:
        return size_rows(self).text()
