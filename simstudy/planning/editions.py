"""How much the next edition of a benchmark differs from what the last one says."""

from __future__ import annotations

import numpy as np

#: Benchmark, earlier and later edition, measure, and the factor: the gain that the later edition detects, by its own
#: systems and items, over the one that the earlier edition's say for as many items. Both are averages over pairs in
#: doubt, and both are estimates, whose errors are in the factor too. Editions have other items and systems; of AIME the
#: systems are the same, of WMT the languages are others. LiveCodeBench v6 is without the problems of v5. SWE-bench Lite
#: and Verified are parts of one benchmark, and ERR@20 changed its scale between the TREC web tracks: both are left out.
EDITIONS: tuple[tuple[str, str, str, str, float], ...] = (
    ("TREC ad hoc", "5", "6", "AP", 1.181),
    ("TREC ad hoc", "6", "7", "AP", 0.737),
    ("TREC ad hoc", "7", "8", "AP", 0.979),
    ("TREC ad hoc", "5", "6", "P@10", 1.028),
    ("TREC ad hoc", "6", "7", "P@10", 0.948),
    ("TREC ad hoc", "7", "8", "P@10", 0.914),
    ("TREC web", "2010", "2011", "AP", 1.588),
    ("TREC web", "2011", "2012", "AP", 0.944),
    ("TREC web", "2012", "2013", "AP", 0.776),
    ("TREC web", "2013", "2014", "AP", 1.001),
    ("TREC web", "2010", "2011", "nDCG@20", 1.179),
    ("TREC web", "2011", "2012", "nDCG@20", 0.836),
    ("TREC web", "2012", "2013", "nDCG@20", 1.076),
    ("TREC web", "2013", "2014", "nDCG@20", 0.927),
    ("TREC-COVID", "1", "2", "AP", 0.943),
    ("TREC-COVID", "2", "3", "AP", 0.800),
    ("TREC-COVID", "3", "4", "AP", 1.277),
    ("TREC-COVID", "4", "5", "AP", 0.884),
    ("TREC-COVID", "1", "2", "nDCG@20", 0.994),
    ("TREC-COVID", "2", "3", "nDCG@20", 0.868),
    ("TREC-COVID", "3", "4", "nDCG@20", 1.085),
    ("TREC-COVID", "4", "5", "nDCG@20", 0.954),
    ("LiveCodeBench", "v5", "v6", "accuracy", 1.112),
    ("AIME", "2024", "2025", "accuracy", 1.163),
    ("WMT general task", "21 de-en", "22 ja-en", "BLEU", 1.282),
    ("WMT general task", "22 ja-en", "24 en-de", "BLEU", 0.911),
)


def next_edition() -> tuple[float, float, float]:
    """The 10th percentile, the median and the 90th percentile of the factors.

    Examples
    --------
    >>> [round(factor, 2) for factor in next_edition()]
    [0.82, 0.97, 1.23]
    """
    low, middle, high = np.quantile([factor for *_, factor in EDITIONS], [0.1, 0.5, 0.9])
    return float(low), float(middle), float(high)


def n_pairs() -> int:
    """Of how many pairs of editions the factors are."""
    return len({edition[:3] for edition in EDITIONS})
