"""Names of metrics, and metrics of other packages."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import simstudy as ss
from simstudy.metrics import METRICS, FBeta, find_metric, get_metric, label
from simstudy.metrics.mean import Mean
from simstudy.running.plug_ins import installed_entries

MODULE = """
import simstudy as ss
from simstudy.metrics import Ratio

NAME = "jaccard"
JACCARD = Ratio(
    NAME, ("correct", "guessed", "gold"), numerator=(1, 0, 0), denominator=(-1, 1, 1), of_item=("gold",),
    label="Jaccard index", unit="percent",
)
TOTAL = ss.metric("total", lambda hits: hits)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a folder of installed packages, whose one package has these entry points."""

    def with_entry_points(entries: str) -> None:
        about = tmp_path / "jaccards-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: jaccards\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[simstudy.metrics]\n{entries}\n")
        (tmp_path / "jaccards.py").write_text(MODULE)
        importlib.invalidate_caches()
        installed_entries.cache_clear()

    monkeypatch.syspath_prepend(tmp_path)
    yield with_entry_points
    installed_entries.cache_clear()
    sys.modules.pop("jaccards", None)


def test_a_package_adds_metrics(install: Callable[[str], None], tmp_path: Path) -> None:
    """Of its own class or made by `ss.metric`; tables, files and messages know them by name."""
    shipped = list(METRICS)
    install("jaccard = jaccards:JACCARD\ntotal = jaccards:TOTAL")
    assert list(METRICS) == [*shipped, "jaccard", "total"]
    (tmp_path / "counts.csv").write_text("system,item,correct,guessed,gold\na,1,3,4,6\nb,1,2,4,6\n")
    outputs = ss.load(tmp_path / "counts.csv", "jaccard").outputs
    assert outputs.scores().tolist() == [pytest.approx(100 * 3 / 7), 25]
    assert label("jaccard") == "Jaccard index"
    outputs.save(tmp_path / "kept.parquet")
    assert ss.Outputs.load(tmp_path / "kept.parquet").metric == METRICS["jaccard"]
    with pytest.raises(ValueError, match="did you mean 'jaccard'"):
        get_metric("jacard")


@pytest.mark.parametrize(
    "entry",
    [
        "f1 = jaccards:JACCARD", "F1 = jaccards:JACCARD", "ndcg@20 = jaccards:JACCARD", "auc = jaccards:JACCARD",
        "acc = jaccards:JACCARD", "jaccard = jaccards:NAME", "jaccard = jaccards:NO", "another = jaccards:JACCARD",
        "jaccard = jaccards:JACCARD\njaccard = jaccards:JACCARD ",
    ],
)  # fmt: skip
def test_a_package_whose_metric_is_wrong_is_named_in_one_line(install: Callable[[str], None], entry: str) -> None:
    """A name that simstudy has, an object of another kind or of another name, and none."""
    install(entry)
    with pytest.raises(ValueError, match=f"entry point '{entry.split()[0]}' of package jaccards") as error:
        get_metric("another" if entry.startswith("another") else "jaccard")
    assert "\n" not in str(error.value)
    for name in ("F1", "ndcg@10", "auc", "pass@2", "macro_f1", "acc"):
        assert get_metric(name), "metrics of simstudy do without"
    assert label("my own") == "my own", "and so do metrics of users"


@pytest.mark.parametrize(
    ("other", "name"),
    [
        ("BLEU", "bleu"), ("ChrF++", "chrf++"), ("ROUGEL", "rougeL"), ("rougelsum", "rougeLsum"), ("F1", "f1"),
        ("Macro_F1", "macro_f1"), ("Pass@5", "pass@5"), ("ACC", "accuracy"), ("exact_match", "accuracy"),
        ("MAP", "ap"), ("recip_rank", "rr"), ("P_10", "precision@10"), ("nDCG@10", "ndcg@10"), ("ndcg_cut_5", "ndcg@5"),
        ("R@100", "recall@100"), ("MRR@10", "rr@10"), ("map_cut_3", "ap@3"), ("P@5:rel=2", "precision@5:rel=2"),
        ("hit@1", "success@1"), ("mrr", "rr"), ("rprec", "rprecision"), ("em", "accuracy"), ("pass@1", "accuracy"),
        ("balanced_acc", "balanced_accuracy"), ("f1_macro", "macro_f1"), ("roc_auc", "auc"),
    ],
)  # fmt: skip
def test_other_names_are_of_the_metrics_of_tables(other: str, name: str) -> None:
    """In any case, and as trec_eval and ir_measures write them."""
    assert find_metric(other) is None
    assert get_metric(other).name == name


@pytest.mark.parametrize(
    ("typed", "hint"),
    {
        "acuracy": "(did you mean 'accuracy'?): one of accuracy, mean",
        "macro f1": "(did you mean 'macro_f1'?)",
        "ndgc@10": "(did you mean 'ndcg@10'?)",
        "blue-ish": ": one of accuracy, mean",
        "eval_loss": "; errors that files have as numbers are 'mean' with lower_is_better=True",
        "RMSE": "; errors that files have as numbers are 'mean' with lower_is_better=True",
    }.items(),
)
def test_the_nearest_name_is_offered_before_the_list_of_all(typed: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"^metric must be a known name, not '{typed}' ?{re.escape(hint)}"):
        get_metric(typed)


def test_a_name_of_simstudy_is_of_its_metric_alone() -> None:
    """A fraction that is called precision would be shown in percent, and read back as another metric."""
    for other in (
        Mean("precision", low=0, high=1),
        Mean("ap", low=0, high=2),
        Mean("ndcg@5", low=0, high=1, scale=100),
        FBeta(2, "f1"),
    ):
        with pytest.raises(ValueError, match=f"'{other.name}' is a metric of simstudy"):
            get_metric(other)
    for same in (Mean("ap", low=0, high=1), Mean("ndcg@5", low=0, high=1), FBeta(1), Mean("mine", low=0)):
        assert get_metric(same) is same
    with pytest.raises(ValueError, match=r"^metric must be a name or a Metric, not \['f1'\]$"):
        get_metric(["f1"])  # type: ignore[arg-type]
