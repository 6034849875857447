"""What known benchmarks are like: the shipped table and its ranges, sizes of clusters, factors of next editions."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy
import simstudy as ss
from simstudy.metrics import METRICS
from simstudy.planning.benchmarks import CLUSTERS, EDITIONS, central_range, known_as, near_chance, next_edition, typical
from simstudy.readers.load import load
from tests.planning.options import SHIPPED

RESULTS = Path(simstudy.__file__).parents[1] / "results"


def test_the_table_is_what_the_study_wrote() -> None:
    written = RESULTS / "power_tables" / "benchmarks.csv"
    if not written.is_file():
        pytest.skip("results of the shipped studies are not at hand")
    assert SHIPPED.read_bytes() == written.read_bytes()


def test_detectable_gains_are_about_those_of_a_normal_difference_of_the_median_sd() -> None:
    """(1.96 + 0.84) sd / sqrt(n), but that it is an average over pairs, and of t where there are few units."""
    table = pd.read_csv(SHIPPED)
    factor = stats.t.isf(0.025, table["n_units"] - 1) + stats.norm.isf(0.2)
    ratio = table["minimum_detectable_gain"] / (factor * table["sd"] / np.sqrt(table["n_units"]))
    # Where pairs differ much in sd, the noisiest weigh more.
    assert ratio.between(0.9, 1.5).all(), ratio.describe()
    assert ratio.median() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("quantity", ["r12", "sd"])
def test_a_range_holds_80_percent_of_a_mixture(quantity: str) -> None:
    """Two benchmarks, by drawing from both."""
    rng = np.random.default_rng(0)
    ends = np.array([[0.1, 0.5], [0.3, 0.6], [0.4, 0.8]])
    x = np.arctanh(ends) if quantity == "r12" else np.log(ends)
    z = rng.normal(size=(400_000, 2)) / stats.norm.isf(0.1)
    drawn = x[1] + np.where(z < 0, z * (x[1] - x[0]), z * (x[2] - x[1]))
    back = np.tanh(drawn) if quantity == "r12" else np.exp(drawn)
    assert central_range(*ends, quantity=quantity) == pytest.approx(np.percentile(back, [10, 90]), rel=0.01)


def test_a_range_of_equal_pairs_is_a_number() -> None:
    assert central_range(*np.full((3, 2), 0.5), quantity="sd") == pytest.approx((0.5, 0.5), rel=1e-4)
    low, high = central_range(*np.full((3, 1), 1.0), quantity="r12")
    assert low == pytest.approx(1)
    assert high == pytest.approx(1)


def test_typical_is_of_the_metric_or_of_all() -> None:
    table = pd.read_csv(SHIPPED)
    rows = table[(table["metric"] == "accuracy") & (table["relation"] == "same family") & table["right_or_wrong"]]
    found = typical("accuracy", "same family", "r12")
    assert found.low < found.middle < found.high < 1
    assert (found.n_test_sets, found.middle) == (len(rows), rows["r12"].median())
    assert rows["r12_10"].min() <= found.low <= rows["r12_10"].max()
    assert (found.metric, found.relation) == ("accuracy", "same family")
    every = typical("no_such_metric", "same family", "r12")
    assert every.n_test_sets == (table["relation"] == "same family").sum()
    assert (every.metric, every.relation) == ("", "same family")
    assert set(every.studies) <= set(table["study"])


@pytest.mark.parametrize("quantity", ["r12", "sd"])
def test_variants_that_no_benchmark_has_are_as_unlike_systems(quantity: str) -> None:
    assert typical("bleu", "same family", quantity) == typical("bleu", "different families", quantity)


def test_variants_are_more_alike_under_every_metric_that_has_both() -> None:
    """Which makes it careful to take unlike systems for them."""
    middles = pd.read_csv(SHIPPED).groupby(["metric", "relation"])[["r12", "sd"]].median().unstack().dropna()
    assert len(middles) >= 4
    assert (middles["r12", "same family"] > middles["r12", "different families"]).all()
    assert (middles["sd", "same family"] < middles["sd", "different families"]).all()


def test_shipped_studies_are_found_by_the_name_of_a_benchmark() -> None:
    told = "The shipped study {0} has this benchmark: results/{0}.".format
    assert known_as(["SWE-bench Verified", "", "swebench verified", "mbpp++"]) == [told("leaderboards")]
    assert known_as(["en_ewt", "WMT24 en-de"]) == [told("natural_parsing"), told("natural_mt")]


@pytest.mark.slow
def test_guesses_are_less_alike_than_usual(shared_data: Path) -> None:
    """Pairs in doubt of AGIEval English, four options: hardly any has the usual r12 near 25 %, most have above 40 %."""
    scores = pd.read_csv(shared_data / "eval_arena" / "main" / "agi_english.csv.gz")
    right = scores.pivot_table(index="item", columns="system", values="score").dropna(axis="columns")
    usual = typical("accuracy", "different families", "r12")

    def held(systems: list[str]) -> float:
        inside = []
        for one, other in combinations(systems, 2):
            gain = (right[one] - right[other]).mean()
            if abs(gain) < 2 * 1.96 * (right[one] - right[other]).std() / len(right) ** 0.5:
                inside.append(usual.low <= right[one].corr(right[other]) <= usual.high)
        return float(np.mean(inside))

    mean = right.mean()
    assert held(list(mean.index[(mean - 0.25).abs() < 0.05])) < 0.2
    assert held(list(mean.index[mean > 0.4])) > 0.7


@pytest.mark.parametrize(("score", "options"), [(48, 2), (33, 3), (28, 4), (18, 5), (12, 10), (65, 0), (90, 0)])
def test_a_plan_for_a_score_near_chance_says_so(score: float, options: int) -> None:
    said = ss.plan(metric="accuracy", n_items=200, sizes=[], guess=ss.Guess(score=score, relation="same family")).notes
    assert len(said) == (options > 0)
    assert all(f"of guesses among {options} options" in note for note in said)
    # Who knows how alike systems are needs no warning.
    for known in ({"agreement": 0.85}, {"r12": 0.5}):
        assert not near_chance(METRICS["accuracy"], ss.Guess(score=score, **known))  # type: ignore[arg-type]


MEASURES = {"AP": ("ap", "ap"), "P@10": ("p10", "ap"), "nDCG@20": ("ndcg20", "ap"), "accuracy": ("score", "accuracy")}


def wide(scores: pd.DataFrame, item: str, score: str, metric: str) -> ss.Outputs:
    frame = scores.pivot_table(index=item, columns="system", values=score, aggfunc="first").dropna(axis="columns")
    return ss.Outputs.from_scores(frame.reset_index(drop=True), metric)


def edition(data: Path, benchmark: str, name: str, measure: str) -> ss.Outputs:
    """The outputs of one edition, as the files have them."""
    if benchmark == "WMT general task":
        folder = data / {"21": "wmt21_de-en", "22": "wmt22_ja-en", "24": "wmt24_en-de"}[name[:2]]
        items = folder / "meta.tsv"
        documents: dict[str, Any] = {"items": items, "columns": {"cluster": "doc"}} if items.exists() else {}
        systems = sorted(path for path in (folder / "sys").iterdir() if path.stem != "AIST")
        references = sorted(folder.glob("ref.*")) if name[:2] == "21" else [next(iter(sorted(folder.glob("ref.A*"))))]
        return load(systems, "bleu", references=references, format="text", **documents).outputs
    column, metric = MEASURES[measure]
    if benchmark == "LiveCodeBench":
        scores = {v: pd.read_csv(data / "eval_arena" / "main" / f"lcb_codegen_{v}.csv.gz") for v in ("v5", "v6")}
        new = ~scores["v6"]["item"].isin(scores["v5"]["item"])
        return wide(scores["v5"] if name == "v5" else scores["v6"][new], "item", column, metric)
    if benchmark == "AIME":
        scores_of = pd.read_csv(data / "eval_arena" / "highk_temp0.7" / f"aime{name}_cot.csv.gz")
        return wide(scores_of, "item", column, metric)
    if benchmark == "TREC-COVID":
        return wide(pd.read_csv(data / "trec_covid" / f"round{name}.csv.gz"), "topic", column, metric)
    file = f"adhoc{name}" if benchmark == "TREC ad hoc" else f"web{name}"
    scores_of = pd.read_csv(data / "trec_urbano" / f"{file}.csv.gz")
    return wide(scores_of[scores_of["measure"] == column], "topic", "score", metric)


def detectable(outputs: ss.Outputs, n_items: int) -> float:
    plan = ss.plan(ss.Pilot(outputs, n_sets=0, n_draws=0), n_items=n_items, sizes=[])
    return float(plan.answers.set_index("relation")["minimum_detectable_gain"]["all pairs"])


@pytest.mark.slow
@pytest.mark.parametrize("row", EDITIONS, ids=lambda row: " ".join(row[:4]))
def test_a_factor_is_the_later_editions_gain_over_the_planned_one(
    row: tuple[str, str, str, str, float], shared_data: Path
) -> None:
    benchmark, earlier, later, measure, factor = row
    source, target = (edition(shared_data, benchmark, name, measure) for name in (earlier, later))
    n = target.n_items
    found = detectable(target, n) / detectable(source, n)
    print(f"    {(benchmark, earlier, later, measure, round(found, 3))},")
    assert found == pytest.approx(factor, abs=0.002)


def test_the_range_is_that_of_the_factors() -> None:
    """By sorting: of 26 numbers the tenth and ninetieth percentile lie half way beyond the third and the 23rd."""
    factors = sorted(row[4] for row in EDITIONS)
    low, middle, high = next_edition()
    assert len(factors) == 26
    assert low == pytest.approx((factors[2] + factors[3]) / 2)
    assert middle == pytest.approx((factors[12] + factors[13]) / 2)
    assert high == pytest.approx((factors[22] + factors[23]) / 2)
    assert low < 0.9 < 1.1 < high


def sizes_in(data: Path, name: str) -> list[int]:
    """Items of each cluster of a known test set, counted in its files."""
    if name.startswith("WMT"):
        file = {"WMT22 ja-en": "wmt22_ja-en", "WMT24 en-de": "wmt24_en-de"}[name]
        meta = pd.read_csv(data / file / "meta.tsv", sep="\t", quoting=3)
        return meta.groupby(["domain", "doc"]).size().tolist()
    if name.startswith("SWE-bench"):
        split = {"(full)": "test", "Verified": "verified", "Lite": "lite"}[name.split()[1]]
        items = pd.read_csv(data / "swebench" / f"swebench_{split}.csv.gz").drop_duplicates("instance_id")
        return items.groupby("repo").size().tolist()
    if name.startswith("UD"):
        file = "ud_english_ewt/en_ewt-ud-test.conllu" if "EWT" in name else "ud_english_other/en_pud-ud-test.conllu"
        documents = (data / file).read_text(encoding="utf-8").split("# newdoc")
        return [document.count("# sent_id") for document in documents if "# sent_id" in document]
    if name.startswith("CRAFT"):
        folder = data / "craft_treebank"
        articles = (folder / "articles" / "ids" / "craft-ids-test.txt").read_text().split()
        texts = [(folder / "penn" / f"{article}.tree").read_text(encoding="utf-8") for article in articles]
        return [sum(bool(line.strip()) for line in text.splitlines()) for text in texts]
    brown = name == "Brown"
    with ZipFile(data / "nltk" / ("brown.zip" if brown else "treebank.zip")) as archive:
        named = [file for file in archive.namelist() if re.search(r"/c[a-r]\d\d$" if brown else r"\.mrg$", file)]
        found = [re.findall(r"(?m)^.*\S.*$" if brown else r"(?m)^\(", archive.read(file).decode()) for file in named]
    return [len(lines) for lines in found]


@pytest.mark.slow
@pytest.mark.parametrize("name", CLUSTERS)
def test_the_sizes_of_known_clusters_are_those_of_the_files(name: str, shared_data: Path) -> None:
    sizes = np.array(sizes_in(shared_data, name))
    n, mean, cv = CLUSTERS[name]
    assert len(sizes) == n
    assert sizes.mean() == pytest.approx(mean, abs=0.005)
    assert sizes.std() / sizes.mean() == pytest.approx(cv, abs=0.001)
