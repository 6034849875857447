"""The answer to a gate while items arrive, by a test that may be asked after every item."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from simstudy.comparisons.arrivals import Arrivals
from simstudy.engines.betting import confidence_sequence, largest, log_e_values
from simstudy.gates.asked import BETTER, EQUIVALENT, WORSE, Gate
from simstudy.gates.findings import Finding, comparison_of, equals
from simstudy.text.numerals import units_text

if TYPE_CHECKING:
    from simstudy.examination import Examination


def find_sequentially(gate: Gate, found: Examination, arrived: Arrivals, level: float) -> Finding:
    """The answer to a gate in one comparison, at a level of all looks together; each side has half of it.

    The largest e-value so far counts, after whichever unit it was.
    """
    d, scale = arrived.differences, arrived.scale
    edge = 0.0 if gate.margin is None else arrived.over_range(gate.margin)
    # Against the null hypotheses that the mean gain is at most `null`, and that the mean loss is.
    e_better, e_worse = (float(largest(log_e_values(sign * d, -edge))[-1]) for sign in (1.0, -1.0))
    e_value = {BETTER: e_better, WORSE: e_worse, EQUIVALENT: min(e_better, e_worse)}.get(gate.kind, e_better)
    # Two-sided p-values are twice the one-sided ones.
    p_value = min((1 if gate.kind.with_margin else 2) / e_value, 1.0)
    threshold = level / 2 if gate.kind.with_margin else level
    low, high = (scale * float(end[0]) for end in confidence_sequence(d, level, np.array([len(d)])))
    of, told = comparison_of(found)
    pair = found.pairs.frame.iloc[0]
    mean = "" if arrived.same_weights else ", each of the same weight"
    return Finding(
        gate, of, f"{told} on {units_text(len(d), str(pair['unit']))}{mean}", p_value,
        equals(p_value, threshold), level, p_value <= threshold, gain=scale * float(d.mean()), gain_low=low,
        gain_high=high, interval=f"{100 * (1 - level):g} % interval of all looks", metric_unit=str(pair["metric_unit"]),
        n_units=len(d), e_value=e_value, units=fingerprint(arrived),
    )  # fmt: skip


def fingerprint(arrived: Arrivals, n: int | None = None) -> str:
    """A hash of the first n units: their names and differences."""
    ids = "".join(f"{len(name)}:{name}" for name in arrived.ids[:n])
    digest = sha256(ids.encode("utf-8", "surrogatepass"))
    digest.update(arrived.differences[:n].astype("<f8").tobytes())
    return digest.hexdigest()
