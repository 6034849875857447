"""Tables that an earlier reader took for something else, with what is right found another way."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from simstudy.readers.columns import plain
from simstudy.readers.load import load
from tests.oracles import compared
from tests.readers.line_files import loaded, refused, scores

# 60 items: 24 that only b answers, 8 that only a answers, and 28 on which both agree.
A = [1] * 8 + [0] * 24 + [1] * 14 + [0] * 14
B = [0] * 8 + [1] * 24 + [1] * 14 + [0] * 14
MCNEMAR = binomtest(24, 32).pvalue


TAKEN = """
image author user video story session speaker patient repo repository project book article conversation dialogue dialog
thread passage paragraph question problem source answer input tag filter key
"""


@pytest.mark.parametrize("name", TAKEN.split())
def test_systems_called_like_clusters_or_texts_are_systems(tmp_path: Path, name: str) -> None:
    """A reader took their answers for two clusters, and the p-value became 0.5."""
    text = f"item,base,{name}\n" + "".join(f"q{i},{a},{b}\n" for i, (a, b) in enumerate(zip(A, B, strict=True)))
    found = loaded(tmp_path, {"g.csv": text}, "accuracy")
    assert (found.outputs.names, found.outputs.n_items) == (["base", name], 60)
    assert "cluster" not in found.outputs.items
    assert compared(found.outputs)["p_value"].iloc[0] == pytest.approx(MCNEMAR, rel=1e-9)


@pytest.mark.parametrize("name", ["doc", "doc_id", "document", "Document ID", "cluster"])
def test_five_names_are_clusters_whatever_they_hold(tmp_path: Path, name: str) -> None:
    """By hand: gains of the two documents are 2 and 1, so that two of four patterns of signs reach the sum."""
    text = f"item,{name},old,new\n1,0,0,1\n2,0,0,1\n3,1,0,1\n"
    found = loaded(tmp_path, {"g.csv": text}, "accuracy")
    assert (found.outputs.names, found.outputs.items["cluster"].tolist()) == (["old", "new"], ["0", "0", "1"])
    assert compared(found.outputs)["p_value"].iloc[0] == 0.5


def test_doc_id_is_the_item_of_a_long_table_without_another(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"g.csv": "model,doc_id,acc\na,1,1\na,2,0\nb,2,1\nb,1,1\n"}, "accuracy")
    assert (scores(found), "cluster" in found.outputs.items) == ({"a": 50, "b": 100}, False)
    assert "items by 'doc_id'" in found.notes[0]


def test_runs_are_systems(tmp_path: Path) -> None:
    for header in ("run_1,run_2,run_3", "attempt_1,attempt_2,baseline"):
        text = f"item,{header}\n" + "".join(f"q{i},{i % 2},1,0\n" for i in range(8))
        expected = dict(zip(header.split(","), (50, 100, 0), strict=True))
        assert scores(loaded(tmp_path, {"r.csv": text}, "accuracy")) == expected


def test_a_trial_of_a_task_is_a_sample_and_its_reward_a_score(tmp_path: Path) -> None:
    files = {
        f"{name}.csv": f"task_id,trial,reward\nt1,1,{x}\nt1,2,1\nt2,1,1\nt2,2,0\n" for name, x in (("a", 0), ("b", 1))
    }
    found = loaded(tmp_path, files, "accuracy")
    assert (scores(found), found.outputs.items["sample_of"].nunique()) == ({"a": 50, "b": 75}, 2)


def test_last_rows_called_like_an_average_are_refused_and_items_called_so_are_not(tmp_path: Path) -> None:
    text = "item,a,b\nq1,1,0\nmean,0,1\nq2,1,1\nmax,1,0\nmin,0,1\nsum,1,1\n"
    assert loaded(tmp_path, {"s.csv": text}, "accuracy").outputs.n_items == 6


def crossed(rng: np.random.Generator) -> pd.DataFrame:
    """Two models on six items by three prompts: scores go with model and item, whatever the prompt."""
    gains = rng.integers(1, 5, 6)
    rows = [(m, p, f"q{i}", int(gains[i] * (m == "new")) + k) for m in ("old", "new") for i in range(6)
            for k, p in enumerate("uvw")]  # fmt: skip
    return pd.DataFrame(rows, columns=["model", "prompt", "question", "score"])


def test_items_crossed_with_prompts_are_resampled_with_all_their_prompts(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    """Two of 2^6 patterns reach the sum of six items, two of 2^18 that of 18 pairs."""
    frame = crossed(rng)
    files = {"mp.csv": frame.to_csv(index=False)}
    remedy: Any = refused(tmp_path, files, "mean", columns={"item": "question"}).remedy
    assert [*remedy.fields["factor"].value] == ["factor"]
    found = loaded(tmp_path, files, "mean", columns={"factor": "prompt", "item": "question"})
    assert (found.outputs.n_items, found.outputs.items["cluster"].nunique()) == (18, 6)
    assert compared(found.outputs)["p_value"].iloc[0] == pytest.approx(2 / 2**6)
    joined = loaded(tmp_path, files, "mean", columns={"item": "prompt+question"})
    assert compared(joined.outputs)["p_value"].iloc[0] == pytest.approx(2 / 2**18)


def test_a_table_of_items_with_one_segment_a_document_changes_no_p_value(tmp_path: Path) -> None:
    """Domain, tab, document: a reader made two clusters, and .049 became .5."""
    new = "".join(f"{x}\n" for x in [1] * 12 + [0] * 28)
    old = "".join(f"{x}\n" for x in [0] * 12 + [1] * 3 + [0] * 25)
    (tmp_path / "items.tsv").write_text("".join(f"{'news' if i < 20 else 'web'}\tdoc{i}\n" for i in range(40)))
    found = loaded(tmp_path, {"new.txt": new, "old.txt": old}, "mean", items=tmp_path / "items.tsv")
    assert found.outputs.items["domain"].tolist() == ["news"] * 20 + ["web"] * 20
    assert compared(found.outputs)["p_value"].iloc[0] == pytest.approx(binomtest(12, 15).pvalue)


def test_the_work_for_each_column_and_each_file_of_a_zip_file_stays_the_same(tmp_path: Path) -> None:
    """By counting calls for one and for ten times as many; a reader looked through all names for each."""

    def calls(n: int) -> int:
        (tmp_path / "s.csv").write_text(f"item,{','.join(f's{k}' for k in range(n))}\nq1{',1' * n}\nq2{',0' * n}\n")
        before = plain.cache_info()
        assert load(tmp_path / "s.csv", "accuracy").outputs.n_systems == n
        after = plain.cache_info()
        return after.hits + after.misses - before.hits - before.misses

    assert 2000 < calls(2000) <= 12 * calls(200)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for k in range(50):
            archive.writestr(f"s{k}.csv", f"item,score\nq1,{k % 2}\n")
    (tmp_path / "s.zip").write_bytes(buffer.getvalue())
    with patch.object(zipfile, "ZipFile", wraps=zipfile.ZipFile) as opened:
        assert load(tmp_path / "s.zip", "accuracy").outputs.n_systems == 50
    assert opened.call_count <= 2
