"""Evert 2004: figures 1 - 3 and every sentence about them, and section 4 on parts of a corpus and simulated candidates.

Stefan Evert, "Significance tests for the evaluation of ranking methods", COLING 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator
from scipy import stats

import simstudy as ss
from simstudy import datasets
from simstudy.sections import Column, Figure, Section, Table
from simstudy.studies import (
    ARRANGEMENTS,
    EACH_ONCE,
    Cell,
    Comparison,
    Findings,
    Keys,
    Positive,
    Problems,
    Resamples,
    RunContext,
    Size,
    Study,
    StudyError,
    check_comparison,
    clopper_pearson,
    derived_seed,
    one_of,
    particle_sets,
    read_tagged,
    run_comparisons,
)

KRENN, BROWN = "colloc_krenn/KrennPPV.rda", "nltk/brown.zip"

# The columns of Krenn's data -> our names of the same association measures.
MEASURES = {
    **{"log.like": "log_likelihood", "chisq": "chi_squared", "chisq.corr": "chi_squared_yates", "t.score": "t_score"},
    **{"z.score": "z_score", "MI": "mi", "Dice": "dice", "Fisher": "fisher", "freq": "frequency"},
}

# The rankings of figure 1, G2, t, X2 and f; the pair of figures 2 and 3; and what the paper calls them.
RANKINGS = ("log_likelihood", "t_score", "chi_squared", "frequency")
PAIR = ("log_likelihood", "chi_squared")
SYMBOLS = {"log_likelihood": "G2", "chi_squared": "X2", "t_score": "t"}

# What the paper prints. Section 1: the baseline, and which is marginally the better near or from which n on.
BASELINE, T_AHEAD_NEAR, FIRST_AHEAD_FROM = "11.09 %", 800, 1500
# Note 8: the threshold of Church et al. 1991 for t, and its nominal level.
CHURCH, CHURCH_LEVEL = 1.65, 0.05
# Section 3.2: the interval of 200 of 500. Section 3.3, figure 3: up to which n the pair differs.
INTERVAL, INTERVAL_OF, SIGNIFICANT_UP_TO = "35.7 % to 44.4 %", (200, 500), 1250
# Section 4: the observed and the expected standard deviation of 80 precisions, and how many intervals miss the mean.
N_SETS = 80
SD = {"log_likelihood": (0.057, 0.044), "t_score": (0.066, 0.047)}
MISSED = {"log_likelihood": 9, "chi_squared": 9, "t_score": 12}

# Tables and figures have every so many lengths of n-best lists, while claims look at all; the end of a range of n is
# known from a figure to about so many.
STEP, GRID = 5, 50

# Simulated experiments of a cell: finished work that a kill does not lose. What rejects the binomial in one of them.
TOGETHER, REJECTING = 25, ("ks", "dispersion", "missed_test")

Measure = Annotated[str, one_of(MEASURES.values())]
Level = Annotated[float, Field(gt=0, lt=1)]
Clusters = Annotated[tuple[Positive, Annotated[float, Field(ge=0, lt=1)]], Field(strict=False)]


class Figures(Keys):
    """Figures 1 - 3: over which lengths of n-best lists."""

    n_from: Positive
    n_to: Positive
    n_seeds: Positive = 100
    """Ways to break ties that are tried."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        first, last = T_AHEAD_NEAR, FIRST_AHEAD_FROM
        if not self.n_from <= first < last <= self.n_to:
            raise ValueError(
                f"n_from and n_to must hold {first} to {last} between them, not {self.n_from} to {self.n_to}"
            )
        return self


class Beside(Keys):
    """All tests on the same precision at n."""

    tests: Annotated[list[Annotated[str, one_of(ss.TESTS)]], EACH_ONCE] = Field(min_length=1)
    lengths: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    n_resamples: Resamples


class Parts(Keys):
    """Disjoint parts of the Brown corpus."""

    n_parts: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    arrangements: Annotated[list[Annotated[str, one_of(ARRANGEMENTS)]], EACH_ONCE] = Field(min_length=1)
    floor: Positive
    """The least frequency of a candidate in a part."""
    rankings: Annotated[list[Measure], EACH_ONCE] = Field(min_length=1)
    share_accepted: Level
    """How many candidates are accepted on average, as a share of those there are."""


class Simulated(Keys):
    """Repeated evaluations of simulated candidates."""

    n_experiments: Positive
    n_sets: Size
    n_candidates: Size
    share_true: Level
    separation: float
    """Of two scoring functions that are equally good."""
    correlation: Annotated[float, Field(ge=0, le=1)]
    clusters: Annotated[list[Clusters], EACH_ONCE] = Field(min_length=1)
    """Candidates of a cluster, and their latent correlation; one candidate each, or 0: the binomial is true."""
    n_accepted: Positive


class Settings(Study):
    """The keys of study.toml."""

    alpha: Level = 0.05
    figures: Figures
    tests: Beside
    parts: Parts
    simulated: Simulated


def run(study: Settings, context: RunContext) -> Findings:
    """Draw the paper's figures, check its sentences, and do its section 4 again."""
    with context.clock("data"):
        at = datasets.fetch_each((KRENN, BROWN), context.data_dir)
        candidates = krenn_candidates(at[KRENN], study.seed)
        documents = read_tagged(at[BROWN])
    check(study, candidates, len(documents))
    tables: dict[str, pd.DataFrame] = {}
    with context.clock("figures 1 - 3"):
        lengths = range(study.figures.n_from, study.figures.n_to + 1)
        curves = ss.precision_curve(candidates, lengths)
        differences = ss.ranking_differences(candidates, lengths, multiplicity=True)
        tables["ties"] = tie_seeds(candidates, study)
        tables["claims"] = claims(curves[curves["ranking"].isin(RANKINGS)], differences, tables["ties"], study.alpha)
        tables["curves"] = every_so_many(curves)
        tables["differences"] = every_so_many(of_pair(differences, "ranking_1", "ranking_2"))
        tables["pairs"] = shares(differences, study.alpha)
    with context.clock("tests by length"):
        asked = [(n, test) for n in study.tests.lengths for test in study.tests.tests]
        compared = run_comparisons(
            "tests by length",
            [candidates.outputs(n) for n, _ in asked],
            [comparison(test, study.tests) for _, test in asked],
            [study.seed] * len(asked),
            context,
        )
        pairs = pd.concat([t.assign(n=n) for t, (n, _) in zip(compared, asked, strict=True)], ignore_index=True)
        tables["tests"] = beside_fisher(pairs, study)
        columns = ["n", "test", "system_a", "score_a", "score_b", "gain", "p_value", "p_low", "p_high", "exact"]
        chosen = of_pair(pairs, "system_a", "system_b")[columns]
        tables["tests_of_pair"] = chosen.sort_values(["n", "test"]).reset_index(drop=True)
    with context.clock("parts of a corpus"):
        tables["repetitions"], tables["check"], tables["parts"] = parts_of_corpus(documents, study.parts, study.seed)
    with context.clock("simulated evaluations"):
        tables["simulated"] = simulated_check(study, context)
    # As the page has them.
    names = ("claims", "curves", "differences", "pairs", "ties", "tests", "tests_of_pair", "repetitions", "check")
    tables = {name: tables[name] for name in (*names, "parts", "simulated")}
    return Findings(
        tables,
        sections(tables, study),
        {
            "Candidates": f"{candidates.n_candidates:,} PP-verb pairs, {int(candidates.true.sum())} true, "
            f"{len(candidates.names)} rankings",
            "Parts": f"{sum(len(document.sentences) for document in documents):,} sentences of the Brown corpus, "
            f"{len(documents)} documents",
            "Ties": f"broken at random, seed {study.seed}",
            "Seed": str(study.seed),
        },
        "Precisions are fractions in the tables and percentages in figures. All p-values are two-sided. None is "
        "corrected for the number of pairs; p_holm and p_bh of differences.csv, and share_holm and share_bh of "
        "pairs.csv, are corrected for the number of lengths n of one pair. curves.csv and differences.csv have every "
        "fifth n.",
        {"What the paper says, and what comes out": Table(tables["claims"], CLAIMED)},
        {"files": {name: datasets.registry()[name].sha256 for name in (KRENN, BROWN)}},
        comparisons=pairs,
    )


def check(study: Settings, candidates: ss.Candidates, n_documents: int) -> None:
    """Raise a StudyError that says all that cannot be done with these candidates and documents."""
    problems = Problems(study.name)
    longest = max(study.figures.n_to, *study.tests.lengths)
    if longest > candidates.n_candidates:
        problems.add("figures.n_to, tests.lengths", f"must be at most {candidates.n_candidates}, not {longest}")
    else:
        for n in study.tests.lengths:
            for test in study.tests.tests:
                with problems.at(f"tests.tests (n = {n})"):
                    check_comparison(candidates.outputs(n), comparison(test, study.tests))
    if (most := max(study.parts.n_parts)) > n_documents:
        problems.add("parts.n_parts", f"must be at most {n_documents}, the number of documents, not {most}")
    problems.raise_any()


# Figures 1 - 3


def krenn_candidates(path: Path, seed: int = 0) -> ss.Candidates:
    """The candidates of section 1: PP-verb pairs with f >= 30 in the Frankfurter Rundschau Corpus.

    Krenn (2000) says which of them are collocations. The scores are those that Evert stored with the candidates (his R
    package corpora), rounded: chi-squared to whole numbers, so that candidates tie which did not tie in the paper.
    Log-likelihood and the chi-squareds are negative where a pair is rarer than by chance, mi and fisher are base-10
    logarithms, fisher of 1 / p: of every measure higher is better. Ids are such as "in:Jahr abbauen".
    """
    try:
        import pyreadr
    except ImportError:
        raise StudyError("the study of Evert 2004 needs pyreadr to read R's data: pip install 'simstudy[r]'") from None
    frame = pyreadr.read_r(str(path))["KrennPPV"]
    scores = frame[list(MEASURES)].rename(columns=MEASURES)
    scores.index = frame["PP"].astype(str) + " " + frame["verb"].astype(str)
    return ss.Candidates.from_scores(scores, frame["is.colloc"].to_numpy(), seed=seed, test_set="PP-verb pairs")


def every_so_many(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that tables and figures have."""
    return table[table["n"] % STEP == 0].reset_index(drop=True)


def of_pair(table: pd.DataFrame, one: str, other: str) -> pd.DataFrame:
    """The rows of the pair of figures 2 and 3, whose names are in these two columns."""
    return table[table[[one, other]].isin(PAIR).all(axis=1)]


def tie_seeds(candidates: ss.Candidates, study: Settings) -> pd.DataFrame:
    """Up to which n the pair of figure 3 differs significantly, for many ways to break ties and with ties kept."""
    pair = candidates.select(PAIR)
    lengths = range(study.figures.n_from, study.figures.n_to + 1)
    rows = []
    for ties, seed in [*(("jitter", study.seed + k) for k in range(study.figures.n_seeds)), ("keep", study.seed)]:
        table = ss.ranking_differences(replace(pair, ties=ties, seed=seed), lengths).set_index("n")
        significant = table["p_value"] <= study.alpha
        rows.append({"ties": ties, "seed": seed, "significant_up_to": up_to(significant), "share": significant.mean()})
    return pd.DataFrame(rows)


def up_to(significant: pd.Series[bool]) -> int:
    """The last n of the run of significant ones with which a range of n begins; 0 where the first is not."""
    run = significant.to_numpy().cumprod().astype(bool)
    return int(significant.index[run][-1]) if run.any() else 0


def shares(differences: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """For each pair of rankings, for what share of the lengths it differs significantly, and which is better."""
    rows = []
    for (one, other), table in differences.groupby(["ranking_1", "ranking_2"], sort=False):
        significant = table[["p_value", "p_holm", "p_bh"]] <= alpha
        share, share_holm, share_bh = significant.mean()
        lengths = table.loc[significant["p_value"], "n"]
        rows.append(
            {
                "ranking_1": one,
                "ranking_2": other,
                "share_1_better": (table["better"] == one).mean(),
                "share": share,
                "share_holm": share_holm,
                "share_bh": share_bh,
                "n_first": lengths.min(),
                "n_last": lengths.max(),
            }
        )
    return pd.DataFrame(rows).astype({"n_first": "Int64", "n_last": "Int64"})


def claims(curves: pd.DataFrame, differences: pd.DataFrame, ties: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Each sentence of the paper about its figures and numbers, beside what comes out here, in the paper's order."""
    found: list[tuple[str, str, str, str, str]] = []

    def claim(section: str, text: str, paper: str, here: str, whole: object, part: object = False) -> None:
        found.append((section, text, paper, here, "yes" if whole else "in part" if part else "no"))

    def over_n(section: str, text: str, paper: str, here: str, which: pd.Series[bool], more: str = "") -> None:
        claim(section, text, paper, f"{here} {in_ranges(which)}{more}", which.all(), which.any())

    first, second = PAIR
    precision = curves.pivot(index="n", columns="ranking", values="precision")
    n_from, n_to = precision.index[0], precision.index[-1]
    baseline = f"{curves['baseline'].iloc[0]:.2%}".replace("%", " %")
    claim("1", "baseline precision", BASELINE, baseline, baseline == BASELINE)
    best = precision.drop(columns=[first, "t_score"]).max(axis=1)
    ahead = precision[[first, "t_score"]].min(axis=1) >= best
    where = f"n = {n_from} - {n_to:,}"
    over_n("1", "G2 and t are the most useful", where, "both at least as precise as X2 and f for", ahead)
    near, p = T_AHEAD_NEAR, p_values(differences, first, "t_score")
    t_ahead = precision["t_score"] > precision[first]
    around = t_ahead.loc[near - 50 : near + 50]
    of_near = f"{precision['t_score'][near]:.1%} and {precision[first][near]:.1%} at {near:,} (p = {p[near]:.2f})"
    here = f"{of_near}; ahead for {in_ranges(t_ahead)}"
    claim("1", "t is marginally better than G2", f"n near {near:,}", here, around.all(), around.any())
    late = p.loc[FIRST_AHEAD_FROM:]
    first_ahead = (precision[first] > precision["t_score"]).loc[FIRST_AHEAD_FROM:]
    more = f"; p from {late.max():.2f} to {late.min():.2g}"
    over_n("1", "G2 is marginally better than t", f"n >= {FIRST_AHEAD_FROM:,}", "ahead for", first_ahead, more)
    gains = 100 * precision[[first, "t_score"]].sub(precision["frequency"], axis=0).to_numpy()
    both = pd.concat([p_values(differences, name, "frequency") for name in (first, "t_score")], axis=1).max(axis=1)
    least, most, significant = gains.min(), gains.max(), both <= alpha
    here = f"by {least:.1f} to {most:.1f} points; both significantly for {in_ranges(significant)}"
    superior = least > 0 and significant.mean() > 0.95
    claim("1", "both are by far superior to frequency", "figure 1", here, superior, least > 0)
    over_n("1", "G2 is better than X2 (Dunning)", "figure 1", "ahead for", precision[first] > precision[second])

    gamma = stats.norm.isf(CHURCH_LEVEL)
    text = f"t threshold of nominal level {CHURCH_LEVEL:g}"
    claim("2, note 8", text, f"{CHURCH:g}", f"{gamma:.3f}", abs(gamma - CHURCH) < 0.01)

    interval = "{:.1%} to {:.1%}".format(*clopper_pearson(*INTERVAL_OF)).replace("%", " %")
    claim("3.2", "95 % interval of {} of {}".format(*INTERVAL_OF), INTERVAL, interval, interval == INTERVAL)
    a, b = (curves[curves["ranking"] == name].set_index("n") for name in PAIR)
    widths = {n: 50 * float(a["high"][n] - a["low"][n]) for n in sorted({n_from, near, n_to})}
    here = ", ".join(f"+-{width:.1f} points at {n:,}" for n, width in widths.items())
    text = "a repetition may give quite another precision, above all for n < 1,000"
    found.append(("3.2", text, "figure 2", here, "nothing claimed"))
    above = (a["low"] > a["baseline"]) & (b["low"] > a["baseline"])
    over_n("3.2", "G2 and X2 are both substantially above the baseline", "figure 2", "intervals above it for", above)
    overlap = (a["low"] <= b["high"]) & (b["low"] <= a["high"])
    gap = 100 * (a["low"] - b["high"]).max()
    apart = "" if overlap.all() else f"; not for {in_ranges(~overlap)}, by {gap:.1f} points at most"
    over_n("3.3", "intervals of G2 and X2 overlap", "for all n", "for", overlap, apart)
    significant = p_values(differences, first, second) <= alpha
    last, ways = up_to(significant), ties.loc[ties["ties"] == "jitter", "significant_up_to"]
    here = f"up to {last:,} ({ways.min():,} to {ways.max():,} for other ways to break ties); in all for "
    paper, close = f"up to n = {SIGNIFICANT_UP_TO:,}", abs(last - SIGNIFICANT_UP_TO) < GRID
    text = "G2 and X2 differ significantly"
    claim("3.3", text, paper, here + in_ranges(significant), close, last > SIGNIFICANT_UP_TO)

    for name, (s, sigma) in SD.items():
        chance = float(stats.chi2.sf((N_SETS - 1) * (s / sigma) ** 2, N_SETS - 1))
        text, here = f"{SYMBOLS[name]}: s is 20 % to 40 % larger than expected", f"{s / sigma - 1:.0%} larger"
        claim("4", text, f"{s:g} against {sigma:g}", here, 1.195 <= s / sigma < 1.405)
        here = f"so large a variance of {N_SETS} normal precisions has p = {chance:.1g} (chi-square)"
        text = f"{SYMBOLS[name]}: no test rejects the binomial"
        claim("4", text, "Kolmogorov, no p-value printed", here, chance > 0.05)
    for name, missed in MISSED.items():
        chance = float(stats.binomtest(missed, N_SETS, 0.05, alternative="greater").pvalue)
        text, paper = f"{SYMBOLS[name]}: intervals that miss", f"{missed} of {N_SETS}"
        here = f"p = {chance:.2g} (binomial, at least so many)"
        if missed == max(MISSED.values()):
            claim("4", text, f"{paper}, p < .001", here, chance < 0.001)
        else:
            found.append(("4", text, paper, here, "nothing claimed"))
    return pd.DataFrame(found, columns=["section", "claim", "paper", "here", "holds"])


def p_values(differences: pd.DataFrame, one: str, other: str) -> pd.Series[float]:
    """p-values over n of a pair, in whichever order the table has it."""
    pair = differences[["ranking_1", "ranking_2"]].isin([one, other]).all(axis=1)
    return differences[pair].set_index("n")["p_value"]


def in_ranges(which: pd.Series[bool]) -> str:
    """The n for which something is so, as ranges in words: the three longest."""
    if which.all():
        return f"all n from {which.index[0]:,} to {which.index[-1]:,}"
    if not which.any():
        return "no n"
    inside = np.diff(np.r_[0, which.to_numpy().astype(int), 0])
    starts, ends = np.flatnonzero(inside == 1), np.flatnonzero(inside == -1) - 1
    longest = sorted(np.argsort(starts - ends, kind="stable")[:3])
    ranges = [" - ".join(dict.fromkeys(f"{which.index[k]:,}" for k in (starts[i], ends[i]))) for i in longest]
    more = f" and {len(starts) - 3} shorter ranges" if len(starts) > 3 else ""
    return f"n = {', '.join(ranges)}{more} ({which.mean():.0%} of all)"


# Tests by length


def comparison(test: str, settings: Beside) -> Comparison:
    """How pairs are tested: two-sided, for nobody said beforehand which ranking should be better (section 3.3)."""
    drawn = settings.n_resamples if ss.TESTS[test].n_resamples else None
    return Comparison(test=test, alternative="two-sided", n_resamples=drawn)


def beside_fisher(pairs: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """How each test decides beside Fisher's, over all pairs, for each length."""
    kept = ["test", "n_pairs", "n_rejected", "only_test", "only_reference", "median_ratio"]
    tables = {
        n: ss.agreement(of_length, alpha=study.alpha, reference="fisher", seed=study.seed)[kept]
        for n, of_length in pairs.groupby("n", sort=True)
    }
    return pd.concat(tables, names=["n"]).reset_index("n").reset_index(drop=True)


# Section 4


def parts_of_corpus(documents: Sequence[Any], settings: Parts, seed: int) -> tuple[pd.DataFrame, ...]:
    """Each part's precision, the check of the binomial, and the parts themselves, for each way to cut the corpus."""
    found: tuple[list[pd.DataFrame], ...] = ([], [], [])
    for arrangement in settings.arrangements:
        for n_parts in settings.n_parts:
            sets = particle_sets(documents, n_parts, settings.floor, arrangement, settings.rankings, seed)
            wanted = settings.share_accepted * sum(part.n_candidates for part in sets) / n_parts
            table = ss.repetitions(sets, {name: ss.common_threshold(sets, name, wanted) for name in settings.rankings})
            size = [(part.test_set, part.n_candidates, part.baseline) for part in sets]
            key = {"arrangement": arrangement, "n_parts": n_parts}
            size_table = pd.DataFrame(size, columns=["test_set", "n_candidates", "baseline"])
            for tables, rows in zip(found, (table, ss.binomial_check(table), size_table), strict=True):
                tables.append(pd.concat([pd.DataFrame(key, index=rows.index), rows], axis=1))
    return tuple(pd.concat(tables, ignore_index=True) for tables in found)


def simulated_check(study: Settings, context: RunContext) -> pd.DataFrame:
    """Many experiments of many evaluations each, for each dependence of the candidates.

    ratio and ratio_sd are mean and standard deviation of s / sigma. Shares have 95 % intervals: missed are the
    evaluations' intervals that miss the average precision, fisher the evaluations in which the test tells two scoring
    functions apart that are equally good, the others experiments that reject the binomial model.
    """
    settings, described = study.simulated, study.model_dump(include={"simulated", "alpha", "seed"})
    cells = [
        Cell(
            label=f"simulated evaluations, clusters of {size}, correlation {within:g}, experiments from {first + 1}",
            description={**described, "cluster_size": size, "within": within, "first": first},
            arguments=(settings, size, within, study.alpha, study.seed, first),
        )
        for size, within in settings.clusters
        for first in range(0, settings.n_experiments, TOGETHER)
    ]
    found = context.run("simulated evaluations", experiments, cells)
    rows = []
    for (size, within), of_one in pd.concat(found).groupby(["cluster_size", "within"], sort=False):
        row = {"cluster_size": size, "within": within, "n_experiments": len(of_one), "ratio": of_one["ratio"].mean()}
        row["ratio_sd"] = of_one["ratio"].std(ddof=1)
        for name, of in (("missed", settings.n_sets), ("fisher", settings.n_sets), *((test, 1) for test in REJECTING)):
            hits, tried = int(of_one[name].sum()), of * len(of_one)
            low, high = clopper_pearson(hits, tried)
            row |= {name: hits / tried, f"{name}_low": float(low), f"{name}_high": float(high)}
        rows.append(row)
    return pd.DataFrame(rows)


def experiments(
    settings: Simulated, cluster_size: int, within: float, alpha: float, seed: int, first: int
) -> pd.DataFrame:
    """One cell: a row for each experiment from number `first` on."""
    rows = []
    for k in range(first, min(first + TOGETHER, settings.n_experiments)):
        sets = ss.simulated_candidates(
            settings.n_sets,
            n_candidates=settings.n_candidates,
            share_true=settings.share_true,
            separations={"g1": settings.separation, "g2": settings.separation},
            correlation=settings.correlation,
            cluster_size=cluster_size,
            within=within,
            seed=derived_seed(seed, "simulated", cluster_size, within, k) % 2**64,
        )
        table = ss.repetitions(sets, {"g1": ss.common_threshold(sets, "g1", settings.n_accepted)})
        check = ss.binomial_check(table).iloc[0]
        n_best = [min(settings.n_accepted, evaluation.n_candidates) for evaluation in sets]
        told = [ss.ranking_differences(one, [n])["p_value"].iloc[0] for one, n in zip(sets, n_best, strict=True)]
        rows.append(
            {
                "cluster_size": cluster_size,
                "within": within,
                "ratio": check["ratio"],
                "missed": check["n_missed"],
                "fisher": sum(p <= alpha for p in told),
                "ks": check["ks_p"] <= alpha,
                "dispersion": check["dispersion_p"] <= alpha,
                "missed_test": check["missed_p"] <= alpha,
            }
        )
    return pd.DataFrame(rows)


# What the page shows

INTERVAL_CELL = "{{{0}:{1}}} ({{{0}_low:{1}}} – {{{0}_high:{1}}})"
SHARES = {
    "missed": "95 % intervals that miss",
    "dispersion": "dispersion test rejects",
    "ks": "Kolmogorov rejects",
    "missed_test": "test of misses rejects",
    "fisher": "Fisher tells equals apart",
}
CLAIMED = {"§": "{section}", "claim": "{claim}", "the paper": "{paper}", "here": "{here}", "holds?": "{holds}"}
COMPARED: dict[str, str | Column] = {
    "pair": "{ranking_1:words} / {ranking_2:words}",
    "mostly better": "{better:words} ({ahead:.0%})",
    "p <= 0.05": "{share:.0%}",
    "by Holm": "{share_holm:.0%}",
    "by BH": "{share_bh:.0%}",
    "from n": Column("{n_first:,}", missing="–"),
    "to n": Column("{n_last:,}", missing="–"),
}
TESTED = {
    "test": "{test}",
    "tells apart": "{n_rejected:,} of {n_pairs:,}",
    "rejects alone": "{only_test:,}",
    "only Fisher's rejects": "{only_reference:,}",
    "p / Fisher's p": "{median_ratio:.2f}",
}
CHECKED = {
    "parts": "{n_parts} {arrangement}",
    "ranking": "{ranking:words}",
    "accepted": "{mean_accepted:.0f}",
    "precision": "{average_precision:.1%}",
    "s": "{sd_observed:.3f}",
    "sigma": "{sd_binomial:.3f}",
    "s / sigma": INTERVAL_CELL.format("ratio", ".2f"),
    "Kolmogorov p": "{ks_p:.2g}",
    "dispersion p": "{dispersion_p:.2g}",
    "intervals that miss": "{n_missed} of {n_sets}",
    "p of so many": "{missed_p:.2g}",
}
SIMULATED = {
    "clusters of": "{cluster_size}",
    "correlation": "{within:g}",
    "s / sigma": "{ratio:.2f} +- {ratio_sd:.2f}",
    **{words: INTERVAL_CELL.format(name, ".1%") for name, words in SHARES.items()},
}


def sections(tables: dict[str, pd.DataFrame], study: Settings) -> list[Section]:
    """The whole page, in the paper's order."""
    pair = " and ".join(PAIR).replace("_", " ")
    parts, simulated, range_of_n = study.parts, study.simulated, f"{study.figures.n_from} to {study.figures.n_to:,}"

    def curves(rankings: Sequence[str], differences: pd.DataFrame | None = None, *, intervals: bool = False) -> Any:
        rows = tables["curves"][tables["curves"]["ranking"].isin(rankings)]
        drawn: dict[str, Any] = {"intervals": intervals, "alpha": study.alpha, "among": list(RANKINGS)}
        return ss.plot.single(ss.plot.precision_curve, rows, differences, width=5.8, height=3.7, **drawn)

    def by_length() -> Any:
        rows = tables["tests_of_pair"]
        return ss.plot.single(ss.plot.p_values_by_length, rows, title=pair, width=5.6, alpha=study.alpha)

    # Of each pair, the ranking that is the better for more lengths.
    compared = tables["pairs"]
    mostly_1 = compared["share_1_better"] >= 0.5
    better = compared["ranking_1"].where(mostly_1, compared["ranking_2"])
    ahead = compared["share_1_better"].where(mostly_1, 1 - compared["share_1_better"])
    # Over all lengths.
    by_test = tables["tests"].groupby("test", sort=False)
    tested = by_test[["n_pairs", "n_rejected", "only_test", "only_reference"]].sum()
    tested["median_ratio"] = by_test["median_ratio"].median()
    return [
        Section(
            "What the paper says, and what comes out",
            "Each sentence about the figures, and each number of section 4 that follows from others.",
            table=Table(tables["claims"], CLAIMED),
        ),
        Section(
            "Figure 1: precision of n-best lists",
            "Candidates ranked by four association measures; the baseline is a random selection.",
            figure=Figure("figure_1", lambda: curves(RANKINGS)),
        ),
        Section(
            "Figure 2: binomial intervals",
            "95 % Clopper-Pearson intervals of the average precision (section 3.2), for each n by itself.",
            figure=Figure("figure_2", lambda: curves(PAIR, intervals=True)),
        ),
        Section(
            "Figure 3: significant differences",
            f"Triangles: {pair} differ significantly by Fisher's exact test of the difference regions (section 3.3), "
            f"two-sided at {study.alpha:g}. The line: up to there for all n.",
            figure=Figure("figure_3", lambda: curves(PAIR, tables["differences"])),
        ),
        Section(
            "All pairs of rankings",
            f"For what share of the lengths from {range_of_n} a pair differs significantly: as it is, and corrected "
            "for the number of lengths (Holm; Benjamini and Hochberg).",
            table=Table(compared.assign(better=better, ahead=ahead), COMPARED),
        ),
        Section(
            "The same precision by other tests",
            f"p-values of {pair}. Bootstrap and randomization ask how precision over all accepted candidates varies, "
            "Fisher's test looks at the candidates that only one of the two accepts. Chi-square takes the two lists to "
            "be independent samples, as Krenn (2000) did.",
            figure=Figure("tests", by_length),
        ),
        Section(
            "All pairs by all tests",
            f"How many of the {tables['tests']['n_pairs'].iloc[0]} pairs, over all lengths, each test tells apart at "
            f"{study.alpha:g}, and on how many it decides other than Fisher's test.",
            table=Table(tested.reset_index(), TESTED),
        ),
        Section(
            "Section 4 on parts of a corpus",
            "Verb + particle or preposition pairs of disjoint parts of the Brown corpus, frequency at least "
            f"{parts.floor}; true where at least half of a pair's tokens are particles. Thresholds accept "
            f"{parts.share_accepted:.0%} of the candidates on average. Contiguous parts are of different genres; "
            "documents dealt out one by one give every part the same mixture. s is the observed standard deviation "
            "of precision, sigma the binomial's (equation 4). Histograms: the cut into fewest parts.",
            figure=Figure("figure_4", lambda: spread(tables, parts)),
            table=Table(tables["check"], CHECKED),
        ),
        Section(
            "Section 4 where truth is known",
            f"{simulated.n_experiments} experiments of {simulated.n_sets} evaluations each, about "
            f"{simulated.n_accepted} of {simulated.n_candidates:,} candidates accepted. Candidates come in clusters "
            "(of one verb, say) whose truth and scores correlate. With clusters of 1 the model of section 3.1 is "
            "true, at correlation 0 the binomial (equation 2). Shares with 95 % intervals.",
            table=Table(tables["simulated"], SIMULATED),
        ),
    ]


def spread(tables: dict[str, pd.DataFrame], parts: Parts) -> Any:
    """Histograms as in figure 4, for the coarsest cut: a row for each arrangement, a panel for each ranking."""
    panels = [(way, name) for way in parts.arrangements for name in parts.rankings]
    titles = [f"{name}, {way}".replace("_", " ") for way, name in panels]
    columns = len(parts.rankings)
    figure, axes = ss.plot.panels(titles, per_row=columns, width=3.4, height=2.7, shared=False)
    for (way, name), ax in zip(panels, axes, strict=True):
        repeated, check = (
            table[(table["arrangement"] == way) & (table["n_parts"] == min(parts.n_parts))]
            for table in (tables["repetitions"], tables["check"])
        )
        ss.plot.precision_spread(repeated, check, name, ax=ax)
    return figure
