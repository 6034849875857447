"""Pilots with several samples of each item: one item a question, and cases for other numbers of samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simstudy.outputs import Outputs
from simstudy.outputs.samples import SAMPLE_OF, has_samples, per_question
from simstudy.planning.arguments import Design
from simstudy.planning.cases import Case
from simstudy.planning.sampling import variance_components
from simstudy.planning.sentences import counted_samples
from simstudy.planning.settings import Pilot
from simstudy.planning.spreads import widened
from simstudy.text.numerals import units_name


def called(outputs: Outputs, unit: str) -> str:
    """The unit as `simstudy.text.numerals.units_name` has it: `SAMPLE_OF` for items that are questions with samples."""
    return SAMPLE_OF if unit == "item" and outputs.samples is not None and has_samples(outputs) else unit


def by_question(pilot: Pilot) -> Pilot:
    """The pilot with one item a question, where its outputs have several samples of each."""
    outputs = pilot.outputs
    of_rows = has_samples(outputs) and outputs.samples is None and pilot.unit != "item"
    scored = outputs.metric.item_range is not None and bool((outputs.statistics[..., 1:] == 1).all())
    if pilot.samples is None and not (of_rows and scored):
        return pilot
    means = per_question(outputs)
    # The samples of a question were a cluster, which is now an item.
    return replace(pilot, outputs=means, unit=pilot.unit if pilot.unit in means.items else None)


def for_samples(case: Case, pilot: Pilot) -> Case:
    """A case of outputs whose items are means of samples, planned for the number of samples that is asked for."""
    two = pilot.outputs if pilot.outputs.n_systems == 2 else pilot.outputs.select(list(case.example))
    if pilot.samples is None and not np.isfinite(two.samples[..., 1]).any(axis=1).all():  # type: ignore[index]
        return case
    known = variance_components(two, cluster=None if case.unit in ("item", "cluster") else case.unit)
    samples = max(1, round(known.samples)) if pilot.samples is None else pilot.samples
    case = replace(case, components=known, samples=samples)
    if pilot.samples is None:
        return case
    factor = known.factor(samples)
    case = case.changed(lambda difference: widened(difference, factor))
    single = None if case.single is None else (widened(case.single[0], factor), widened(case.single[1], factor))
    middle, low, high = (end.sd_of(0.0) for end in (case.middle, case.low, case.high))
    of = f"the outputs have {known.samples:.3g}, and a spread {1 / factor:.3g} times as large"
    one = units_name(case.called, 1)
    what = f"a standard deviation of {middle:.3g} of the difference on one {one} with {counted_samples(samples)}"
    design = case.design
    if design is not None:
        variance = known.cluster + known.question + known.sample / samples
        icc = known.cluster / variance if variance > 0 else 0.0
        design = Design(design.size, min(max(icc, 0.99 * Design.least_icc(design.size, design.cv)), 1.0), design.cv)
    return replace(
        case, known=f"{what} ({of})", range=f"{low:.3g} to {high:.3g}, the 95 % interval of the outputs times the same",
        single=single, design=design, item_sd=case.item_sd if design is None else middle / design.unit_sd,
    )  # fmt: skip
