"""Items that come in units of unequal sizes, and how unequal documents and repositories of known test sets are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simstudy.planning.arguments import Clusters
from simstudy.planning.cases import Case
from simstudy.planning.designs import Design
from simstudy.planning.fields import ends
from simstudy.planning.mixed import ClusteredDifference

#: Test sets whose items come in documents or repositories: their number, items of one on average, and the standard
#: deviation of the sizes over that mean. Counted in the public files: segments of the general WMT tasks (documents),
#: issues of SWE-bench (repositories), sentences of UD 2.16 (documents), trees of CRAFT's articles, and of the texts
#: that NLTK has of the Wall Street Journal and of the Brown corpus, of which Brown's were cut to 2,000 words each. No
#: set with users is among them.
CLUSTERS: dict[str, tuple[int, float, float]] = {
    "WMT22 ja-en": (321, 6.26, 0.770),
    "WMT24 en-de": (170, 5.86, 1.711),
    "SWE-bench (full)": (12, 191.17, 1.165),
    "SWE-bench Verified": (12, 41.67, 1.449),
    "SWE-bench Lite": (12, 25.00, 1.326),
    "UD English EWT, test": (316, 6.57, 1.517),
    "UD English PUD": (397, 2.52, 0.504),
    "CRAFT, test": (30, 303.30, 0.282),
    "Wall Street Journal": (199, 19.67, 1.177),
    "Brown": (500, 114.68, 0.294),
}


def usual_cv() -> tuple[float, float, float]:
    """The median, the 10th and the 90th percentile of the coefficient of variation of sizes, over known test sets.

    Examples
    --------
    >>> [round(cv, 2) for cv in usual_cv()]
    [1.17, 0.29, 1.54]
    """
    found = np.quantile([cv for _, _, cv in CLUSTERS.values()], [0.5, 0.1, 0.9])
    return float(found[0]), float(found[1]), float(found[2])


def in_clusters(case: Case, clusters: Clusters) -> Case:
    """A case of items as one of clusters, whose sizes are as unequal as known ones where nothing is said of that.

    If items of a cluster are unlike (icc at most 0), unequal sizes only make the variance smaller, and equal sizes are
    assumed.
    """
    if clusters.size is None or clusters.icc is None:
        return case
    size, icc = clusters.size, clusters.icc
    if size == 1:
        # These are items; the design is kept for what larger clusters would make of it.
        return replace(case, design=Design(size, icc), item_sd=case.middle.sd_of(0.0))
    if clusters.cv is not None:
        cv, said = ends("Clusters.cv", clusters.cv), "as given"
    else:
        cv, said = usual_cv(), f"as 80 % of {len(CLUSTERS)} known test sets have"
        if icc <= 0:
            cv = (0.0, 0.0, 0.0)
    design, least, most = (Design(size, icc, end) for end in cv)
    low, high = (most, least) if icc < 0 else (least, most)
    unequal = f", of sizes with a coefficient of variation of {cv[0]:.2g}" if cv[0] > 0 else ""
    spans = [case.range]
    if cv[1] < cv[2]:
        spans.append(f"coefficients of variation from {cv[1]:.2g} to {cv[2]:.2g}, {said}")
    return replace(
        case,
        middle=ClusteredDifference(case.middle, design),
        low=ClusteredDifference(case.low, low),
        high=ClusteredDifference(case.high, high),
        known=f"{case.known}, {size:g} items a cluster{unequal}, whose differences correlate by {icc:g}",
        range="; ".join(filter(None, spans)),
        unit="cluster",
        size=size,
        design=design,
        item_sd=case.middle.sd_of(0.0),
    )
