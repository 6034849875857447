"""What known benchmarks are like: a table made from the outputs of real systems, sizes of clusters, next editions.

The table benchmarks.csv is what the shipped study ``power_tables`` writes. It has a row for each test set, metric and
relation of two systems. Systems of the "same family" have a base model, a family or a team in common. Systems of
"different families" have none, as far as is known: runs of the TREC ad hoc tracks are anonymous, and two in a hundred
pairs of TREC-COVID's are of one team.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
import pandas as pd
import scipy
from scipy import special

from simstudy.metrics.base import FloatArray, Metric
from simstudy.notes import Argument, Words
from simstudy.planning.arguments import Guess
from simstudy.validation import InputError

# A correlation of 1 has no z.
_MOST_R12 = 1 - 1e-9

# The normal distribution's 90th percentile.
_Z = float(special.ndtri(0.9))

# The numbers of options of multiple-choice tests, and how near to chance systems are less alike, in points.
_OPTIONS, _NEAR = (2, 3, 4, 5, 10), 5.0

# How wide a test set's own distribution is at least, where its percentiles are one number.
_LEAST_WIDTH = 1e-6

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


@dataclass(frozen=True)
class Typical:
    """What a quantity is between two systems of a relation, on known benchmarks."""

    #: Between low and high it is for 80 % of pairs, of a test set taken at random and a pair taken at random there.
    low: float
    #: The median over test sets, of the median of each test set's pairs.
    middle: float
    high: float
    #: How many test sets say so, and the shipped studies that have them.
    n_test_sets: int
    studies: tuple[str, ...]
    #: Whose rows of the table these are: not those that were asked for where there are none (`typical`); an empty
    #: metric is all of them.
    metric: str
    relation: str


def typical(metric: str, relation: str, quantity: str) -> Typical:
    """What r12 or sd is between two systems of a relation (`RELATIONS`), by the benchmarks that are scored by a metric.

    "r12" is the correlation of the two systems' contributions of a unit; where no benchmark has the metric, that of all
    metrics. "sd" is the standard deviation of their difference on one item, on the metric's scale; where units are
    documents, the one that independent items would have for the same standard error, sd / sqrt(n_items).

    The range is that of a mixture (`central_range`): benchmarks differ, and so do the pairs of one benchmark. Held
    against each test set in turn, of which it did not know, it has 0.76 - 0.80 of its pairs on average where there
    are five test sets or more, and 0.45 - 0.73 where there are three or four; of single test sets it may have none
    (results/power_tables, ranges.csv). Of accuracy the test sets are those with one answer to an item; where the mean
    of several counts, systems are less correlated. Where no benchmark has variants under a metric, they are taken to
    be as different families are, which is careful: under every metric with both, variants' r12 is higher and their sd
    lower.
    """
    table = _read()
    rows = table[table["metric"] == metric]
    if rows.empty and quantity == "sd":
        known = ", ".join(dict.fromkeys(table["metric"]))
        remedy = "for others give {sd}, the standard deviation of two systems' difference on one item"
        remedy = Words(remedy, sd=Argument("Guess.sd_difference"))
        raise InputError("metric", f"must be one whose sd is known ({known})", metric, remedy)
    of_metric = "" if rows.empty else metric
    rows = table if rows.empty else rows
    if metric == "accuracy":
        rows = rows[rows["right_or_wrong"]]
    if (rows["relation"] == relation).any():
        rows = rows[rows["relation"] == relation]
    # A test set of documents tells as much as its standard errors say, however many items these have.
    times = np.sqrt(rows["n_items"] / rows["n_units"]) if quantity == "sd" else np.ones(len(rows))
    ends = [(times * rows[f"{quantity}{end}"]).to_numpy() for end in ("_10", "", "_90")]
    low, high = central_range(*ends, quantity=quantity)
    middle, studies = float(np.median(ends[1])), tuple(dict.fromkeys(rows["study"]))
    return Typical(low, middle, high, len(rows), studies, of_metric, str(rows["relation"].iloc[0]))


def near_chance(metric: Metric, guess: Guess) -> list[str]:
    """A note where an accuracy may be that of guesses among a few options, for which the usual r12 does not hold.

    Measured on the shipped benchmarks with options: of systems within 5 points of chance the range of `typical` holds 3
    of 3 close pairs on ARC, and 1 of 32 on AGIEval English, where the median of r12 is 0.06; of systems 15 points
    and more above chance 92 and 91 %.
    """
    score = guess.score
    if metric.name != "accuracy" or score is None or guess.agreement is not None or guess.r12 is not None:
        return []
    options = min(_OPTIONS, key=lambda k: abs(100 / k - score))
    if abs(100 / options - score) > _NEAR:
        return []
    return [
        f"a score of {score:g} % is near the {100 / options:.3g} % of guesses among {options} options: systems that "
        "guess are less alike than the usual range of r12 says, which holds about half of such pairs instead of 80 %; "
        "give agreement or r12 of a pilot"
    ]


def known_as(names: Iterable[str]) -> list[str]:
    """A note where a shipped study has a benchmark of one of these names; letters' case and punctuation are ignored."""
    table = _read()
    own = dict(zip(table["test_set"].map(_plain)[::-1], table["study"][::-1], strict=True))
    studies = dict.fromkeys(study for name in names if name and (study := own.get(_plain(name))))
    return [f"The shipped study {study} has this benchmark: results/{study}." for study in studies]


def usual_cv() -> tuple[float, float, float]:
    """The median, the 10th and the 90th percentile of the coefficient of variation of sizes, over known test sets."""
    middle, low, high = np.quantile([cv for _, _, cv in CLUSTERS.values()], [0.5, 0.1, 0.9]).tolist()
    return middle, low, high


def next_edition() -> tuple[float, float, float]:
    """The 10th percentile, the median and the 90th percentile of the factors."""
    low, middle, high = np.quantile([factor for *_, factor in EDITIONS], [0.1, 0.5, 0.9]).tolist()
    return low, middle, high


def n_pairs() -> int:
    """Of how many pairs of editions the factors are."""
    return len({edition[:3] for edition in EDITIONS})


def central_range(low: FloatArray, middle: FloatArray, high: FloatArray, *, quantity: str) -> tuple[float, float]:
    """The 10th and 90th percentile of a mixture, with equal weights, of T distributions with these percentiles (T,).

    To both sides of its median each is normal with a width of its own: r12 as Fisher's z, sd as its logarithm.
    """
    ends = np.array([low, middle, high], dtype=np.float64)
    below, at, above = np.arctanh(np.clip(ends, -_MOST_R12, _MOST_R12)) if quantity == "r12" else np.log(ends)
    widths = [np.maximum(width / _Z, _LEAST_WIDTH) for width in (at - below, above - at)]

    def share(value: float) -> float:
        """Of the mixture, below a value."""
        z = np.where(value < at, (value - at) / widths[0], (value - at) / widths[1])
        return float(special.ndtr(z).mean())

    first, last = float(below.min()) - 1, float(above.max()) + 1
    found = [
        scipy.optimize.brentq(lambda x, part=part: share(x) - part, first, last, xtol=1e-12) for part in (0.1, 0.9)
    ]
    back = np.tanh(found) if quantity == "r12" else np.exp(found)
    return round(float(back[0]), 9), round(float(back[1]), 9)


def _plain(name: str) -> str:
    """Its letters, digits and plus signs."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == "+")


@cache
def _read() -> pd.DataFrame:
    """The table of known benchmarks: a row for each test set, metric and relation, of ten close pairs or more.

    - study (the shipped study of this test set), test_set (its name there), kind (of task), metric, metric_unit;
    - unit (what is independent: "item", or the column of clusters), right_or_wrong (whether it is an answer that is
      right or wrong), n_items, n_units;
    - relation, n_systems and n_pairs that the row is about, score (the median of these systems');
    - r12_10, r12, r12_90: the 10th percentile, median and 90th percentile, over pairs, of the correlation of the two
      systems' contributions of a unit (`simstudy.comparisons.correlation`);
    - sd_10, sd, sd_90: the same of the standard deviation of the difference on one unit, on the metric's scale, so that
      sd / sqrt(n_units) is the standard error of the gain;
    - minimum_detectable_gain: the true gain that is detected with power 0.8 (two-sided, 0.05) on average over these
      pairs, on the metric's scale. Its 95 % interval, from minimum_detectable_gain_low to minimum_detectable_gain_high,
      holds for other systems on these items (`Comparisons.significant_gains`).

    Near-duplicates are left out, as in the shipped studies, but of SIGMORPHON 2022.
    """
    with resources.files("simstudy.planning").joinpath("benchmarks.csv").open(encoding="utf-8") as table:
        return pd.read_csv(table, keep_default_na=True)
