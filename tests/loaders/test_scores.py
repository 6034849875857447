from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.base import Loaded, Source, noting
from simstudy.loaders.formats import read_source
from simstudy.loaders.items import HINT
from simstudy.loaders.scores import read_frame
from simstudy.loaders.scores import scores_from_frame as scores_and_notes
from simstudy.metrics import Ratio, get_metric
from simstudy.metrics.bleu import Bleu
from simstudy.metrics.chrf import Chrf
from simstudy.outputs import Outputs

read_scores = partial(read_source, format="scores")

scores_from_frame = noting(scores_and_notes)

TIDY = "system,item,score,kind,seconds\nold,01,0,x,5\nold,1,1,y,6\nnew,1,1,y,7\nnew,01,1,x,8\n"
F1 = "item,gold,a:correct,a:guessed,b:correct,b:guessed\nx,2,1,2,1,1\ny,1,1,1,,\n"


def read(
    folder: Path,
    *texts: str,
    metric: str = "accuracy",
    columns: Mapping[str, str] | None = None,
    missing: str = "error",
) -> Loaded:
    paths = [folder / f"{name}.csv" for name in "st"[: len(texts)]]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    return read_scores(Source(tuple(paths), get_metric(metric), columns=columns or {}, missing=missing))


def check_error(message: str, folder: Path, *texts: str, **how: object) -> None:
    """The whole message, one line, in which {s} and {t} are the first two files."""
    message = message.replace("{s}", str(folder / "s.csv")).replace("{t}", str(folder / "t.csv"))
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read(folder, *texts, **how)  # type: ignore[arg-type]


def test_tidy(tmp_path: Path) -> None:
    """Ids as written; of the other columns those that belong to the items; systems and items in the file's order."""
    loaded = read(tmp_path, TIDY)
    assert loaded.outputs.names == ["old", "new"]
    assert loaded.outputs.items.to_dict("list") == {"id": ["01", "1"], "kind": ["x", "y"]}
    assert loaded.outputs.statistics.tolist() == [[[0, 1], [1, 1]], [[1, 1], [1, 1]]]
    assert loaded.outputs.statistics.dtype == np.int64
    assert (loaded.outputs.answers, loaded.notes) == (None, ())


def test_wide(tmp_path: Path) -> None:
    """An empty cell is an item that the system lacks."""
    text = "item,class,domain,keras:net,torch:net\n01,7,cat,1,0\n1,8,dog,1,1\n2,8,dog,NA,1\n"
    kept = {how: read(tmp_path, text, columns={"label": "class"}, missing=how).outputs for how in ("drop", "zero")}
    outputs = kept["drop"]
    assert outputs.names == ["keras:net", "torch:net"]
    assert outputs.items.to_dict("list") == {"id": ["01", "1"], "domain": ["cat", "dog"], "label": ["7", "8"]}
    assert outputs.scores().tolist() == [100, 50]
    assert kept["zero"].statistics.tolist() == [[[1, 1], [1, 1], [0, 1]], [[0, 1], [1, 1], [1, 1]]]


def test_a_wide_table_whose_rows_are_systems_is_noted(tmp_path: Path, rng: np.random.Generator) -> None:
    """200 items of two systems, turned round: 200 systems on two items. Turned back, or with a hundred topics, none."""
    frame = pd.DataFrame(rng.random((200, 2)), columns=["old", "new"]).rename_axis("item")
    for given in (frame.T.rename_axis("item"), frame):
        notes = read(tmp_path, given.to_csv(), metric="mean").notes
        assert [note[:24] for note in notes] == ["200 systems on 2 items: "] * (given is not frame)
    retrieval = pd.DataFrame(rng.random((50, 150))).rename_axis("item").add_prefix("run")
    assert read(tmp_path, retrieval.to_csv(), metric="mean").notes == ()
    with pytest.warns(UserWarning, match="^200 systems on 2 items: are rows and columns exchanged"):
        Outputs.from_scores(frame.T)


def test_files_are_one_table_whether_they_name_systems_or_not(tmp_path: Path) -> None:
    """Columns may have other names, and those of a system are joined by item."""
    outputs = read(tmp_path, TIDY, "system,item,score\nnew,2,0\nold,2,1\n").outputs
    assert outputs.items["id"].tolist() == ["01", "1", "2"]
    assert outputs.statistics[..., 0].tolist() == [[0, 1, 1], [1, 1, 0]]
    texts = ("qid,resolved,score,repo\nx,True,7,e\ny,false,8,d\n", "qid,resolved,score,repo\ny,1,7,d\nx,0,8,e\n")
    columns = {"item": "qid", "score": "resolved", "domain": "repo"}
    outputs = read(tmp_path, *texts, columns=columns).outputs
    assert (outputs.names, outputs.statistics[..., 0].tolist()) == (["s", "t"], [[1, 0], [0, 1]])
    assert outputs.items.to_dict("list") == {"id": ["x", "y"], "domain": ["e", "d"]}
    outputs = read(tmp_path, "item,a\nx,1\ny,0\n", "item,b,domain\ny,1,d\nx,0,e\n").outputs
    assert (outputs.names, outputs.statistics[..., 0].tolist()) == (["a", "b"], [[1, 0], [0, 1]])
    assert outputs.items.to_dict("list") == {"id": ["x", "y"], "domain": ["e", "d"]}


def test_wide_counts_under_mapped_names(tmp_path: Path) -> None:
    """Systems may have a colon in their names, and columns that are not asked for are left out."""
    text = "sent,n_gold,t:1:las,t:1:n,t:1:uas,u:las,u:n,u:uas,genre\n1,4,3,4,4,1,5,1,web\n2,6,3,5,6,6,6,6,web\n"
    columns = {"item": "sent", "correct": "las", "guessed": "n", "gold": "n_gold"}
    outputs = read(tmp_path, text, metric="f1", columns=columns).outputs
    assert outputs.names == ["t:1", "u"]
    assert outputs.statistics.tolist() == [[[3, 4, 4], [3, 5, 6]], [[1, 5, 4], [6, 6, 6]]]
    assert outputs.scores() == pytest.approx([100 * 2 * 6 / (9 + 10), 100 * 2 * 7 / (11 + 10)])
    assert outputs.items.to_dict("list") == {"id": ["1", "2"], "genre": ["web", "web"]}


def test_what_a_missing_item_scores_by_counts(tmp_path: Path) -> None:
    """Nothing correct, nothing guessed, and gold as the others have it."""
    assert read(tmp_path, F1, metric="f1", missing="zero").outputs.statistics[1].tolist() == [[1, 1, 2], [0, 0, 1]]
    message = "missing='zero': systems differ in 'total' of item 'y' (1 and 2), so that there is none to give"
    text = "system,item,correct,total\na,x,1,1\na,y,0,1\nb,x,1,1\nb,y,0,2\nc,x,1,1\n"
    check_error(f"{message} to a system that lacks it", tmp_path, text, missing="zero")
    message = "missing='zero': no system has item 'y'"
    check_error(message, tmp_path, "item,a\nx,1\ny,\n", missing="zero")


def test_an_empty_score_is_a_missing_item_where_items_may_be_missing(tmp_path: Path) -> None:
    text = "system,item,score\na,x,1\na,y,1\nb,x,1\nb,y,\n"
    assert read(tmp_path, text, missing="drop").outputs.items["id"].tolist() == ["x"]
    assert read(tmp_path, text, missing="zero").outputs.scores().tolist() == [100, 50]


def test_a_table_may_be_cut_before_and_messages_still_name_the_line(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(TIDY.replace("new,01,1", "new,01,2"))
    source = Source((tmp_path / "s.csv",), get_metric("accuracy"))
    frame = read_frame(source)
    cut = frame[frame["kind"] == "y"]
    assert scores_from_frame(cut, "s.csv", source).outputs.items["id"].tolist() == ["1"]
    with pytest.raises(
        ValueError, match=r"/s\.csv, line 5: a score must be between 0 and 1 for metric 'accuracy', not 2"
    ):
        scores_from_frame(frame[frame["kind"] == "x"], "s.csv", source)
    with pytest.raises(ValueError, match=r"^s\.csv: no row is left$"):
        scores_from_frame(frame[frame["kind"] == "z"], "s.csv", source)


def test_bad_columns(tmp_path: Path) -> None:
    message = "{s}: no column 'scroe' (columns: system, item, score, kind, seconds). Did you mean 'score'?"
    check_error(message, tmp_path, TIDY, columns={"score": "scroe"})
    message = "{s}, line 5: 'seconds' of item '01' is '8', but '5' in {s}, line 2"
    check_error(message, tmp_path, TIDY, columns={"cluster": "seconds"})
    message = f"{{t}}, line 2: item '01' of system 'old' again, first in {{s}}, line 2; {HINT}"
    message += ". If the row is there twice by mistake, take one out"
    check_error(message, tmp_path, TIDY, TIDY)
    with pytest.raises(ValueError, match="no system: at least one table"):
        read(tmp_path)


def test_the_order_of_rows_does_not_matter(tmp_path: Path, rng: np.random.Generator) -> None:
    """A shuffled table with holes says the same as pivoting it does."""
    table = pd.MultiIndex.from_product([[f"s{k}" for k in range(7)], [f"{i:03}" for i in range(90)]])
    tidy = pd.DataFrame({"score": rng.random(len(table))}, index=table.set_names(["system", "item"])).reset_index()
    tidy = tidy.sample(frac=0.95, random_state=1)
    wide = tidy.pivot(index="item", columns="system", values="score").dropna()
    outputs = read(tmp_path, tidy.to_csv(index=False), metric="mean", missing="drop").outputs
    found = pd.DataFrame(outputs.statistics[..., 0].T, index=outputs.items["id"], columns=outputs.names)
    pd.testing.assert_frame_equal(found.sort_index()[wide.columns], wide, check_names=False)


LABELS = "system,item,score,domain,long\na,x,1,law,{0}\na,y,1,art,v\nb,x,1,,w\nb,y,1,{1},v\n"


def test_blank_cells_of_item_columns_do_not_count(tmp_path: Path) -> None:
    items = read(tmp_path, LABELS.format("w", " ")).outputs.items
    assert items.to_dict("list") == {"id": ["x", "y"], "domain": ["law", "art"], "long": ["w", "v"]}
    items = read(tmp_path, LABELS.format("w", "art"), columns={"cluster": "domain"}).outputs.items
    assert items["cluster"].tolist() == ["law", "art"]
    outputs = read(tmp_path, "system,item,score,domain\na,x,1,law\na,y,1,\nb,x,1,law\nb,y,1,\n").outputs
    with pytest.raises(ValueError, match=r"^item 'y' has no domain$"):
        outputs.labels("domain")


def test_a_note_says_that_domains_are_left_out(tmp_path: Path) -> None:
    """One note, of one line, however long the cells and however many the items; none of columns nobody asked for."""
    loaded = read(tmp_path, LABELS.format("w", '"' + "very\n" * 99 + '"').replace("law,w", "law,u"))
    assert list(loaded.outputs.items) == ["id"]
    very = ("very " * 8)[:39]
    assert loaded.notes == (f"column 'domain' left out: item 'y' has 'art' and '{very}…'",)


def read_parquet(folder: Path, frame: pd.DataFrame, columns: Mapping[str, str] | None = None) -> Loaded:
    frame.to_parquet(folder / "s.parquet")
    return read_scores(Source((folder / "s.parquet",), get_metric("mean"), columns=columns or {}, missing="drop"))


PLAIN = pd.DataFrame({"system": ["a", "b"], "item": ["x", "x"], "score": [1.0, 2.0], "tags": ["t", "t"]})


@pytest.mark.parametrize(
    ("column", "cell", "kind"),
    [
        ("system", ["p"], "a list"),
        ("item", {"p": 1}, "a struct"),
        ("score", b"p", "bytes"),
        ("tags", {"p": 1}, "a struct"),
    ],
)
def test_cells_of_lists_and_bytes(tmp_path: Path, column: str, cell: object, kind: str) -> None:
    frame = PLAIN.assign(**{column: [None, cell]})
    message = f"{tmp_path}/s.parquet, row 2: column '{column}' must hold text or numbers, not {kind}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_parquet(tmp_path, frame, {"domain": "tags"})
    if column == "tags":
        loaded = read_parquet(tmp_path, frame)
        assert list(loaded.outputs.items) == ["id"]
        assert loaded.notes == (f"column 'tags' left out: a cell of it is {kind}",)
    wide = pd.DataFrame({"item": ["x", "y"], "a": [1, 2], "b": [None, cell]})
    message = f"{tmp_path}/s.parquet, row 2: column 'b' must hold text or numbers, not {kind}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_parquet(tmp_path, wide)


@pytest.mark.parametrize("times", [pd.to_datetime(["2020-01-01"] * 2), pd.to_timedelta([1, 2])])
def test_times_are_no_scores(tmp_path: Path, times: pd.Index) -> None:
    with pytest.raises(ValueError, match=r"/s.parquet, row 1: a score must be a number, not Time"):
        read_parquet(tmp_path, PLAIN.assign(score=times))
    wide = pd.DataFrame({"item": ["x", "y"], "a": [1, 2], "when": times})
    with pytest.raises(ValueError, match=r"/s.parquet, row 1: column 'when' is used as a system, but has '"):
        read_parquet(tmp_path, wide)


def test_labels_are_in_the_scores_or_in_the_table_of_items(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(TIDY)
    (tmp_path / "items.csv").write_text("id,area\n1,law\n01,art\n")
    declared = {"cluster": "kind", "domain": "area"}
    sources = [
        Source((tmp_path / "s.csv",), get_metric("mean"), items=tmp_path / "items.csv", columns=columns)
        for columns in (declared, declared | {"foo": "aera"})
    ]
    assert read_scores(sources[0]).outputs.items.to_dict("list") == {
        "id": ["01", "1"],
        "domain": ["art", "law"],
        "cluster": ["x", "y"],
    }
    with pytest.raises(ValueError, match=r"items.csv: no column 'aera' \(columns: id, area\). Did you mean 'area'\?$"):
        read_scores(sources[1])


SEGMENTS = [f"the cat number {i} sat on the mat of hall {i}" for i in range(20)]
WORSE = [text.replace("sat", "lay") for text in SEGMENTS]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "f1", "parseval", "aer", "muc_f", "rouge1", "accuracy"])
def test_an_equally_bad_system_that_answers_less_is_worse(metric: str) -> None:
    """What is not answered is scored as an empty answer, which keeps what belongs to the item."""
    known = get_metric(metric)
    references = [[text] for text in SEGMENTS]
    if metric == "bleu":
        all_counts, none = (Bleu().text_counter(references).statistics(lines) for lines in (WORSE, [""] * 20))
    elif metric.startswith("chrf"):
        counter = Chrf(metric.count("+")).text_counter(references)
        all_counts, none = counter.statistics(WORSE), counter.statistics([""] * 20)
    else:
        answered, silent = {
            "f1": ([2, 3, 4], [0, 0, 4]),
            "parseval": ([2, 3, 4], [0, 0, 4]),
            "aer": ([2, 3, 4, 5], [0, 0, 0, 5]),
            "muc_f": ([4, 3, 1, 1], [4, 0, 0, 0]),
            "rouge1": ([0.5, 1], [0, 1]),
            "accuracy": ([2, 3], [0, 3]),
        }[metric]
        all_counts, none = np.array([answered] * 20), np.array([silent] * 20)
    frame = pd.DataFrame(np.vstack([all_counts, all_counts[:5]]), columns=list(known.statistics))
    frame.insert(0, "item", [str(i) for i in (*range(20), *range(5))])
    frame.insert(0, "system", ["all"] * 20 + ["few"] * 5)
    outputs = scores_from_frame(frame, "a frame", Source((), known, missing="zero")).outputs
    np.testing.assert_array_equal(outputs.statistics[1], np.vstack([all_counts[:5], none[5:]]))
    best, worst = outputs.scores() if known.higher_is_better else -outputs.scores()
    assert best > worst


def test_a_metric_that_does_not_say_what_an_item_keeps_has_no_missing_answer() -> None:
    frame = pd.DataFrame({"system": ["a", "a", "b"], "item": ["x", "y", "x"], "hit": [1, 0, 1], "of": [1, 1, 1]})
    own = Ratio("own", ("hit", "of"), numerator=(1, 0), denominator=(0, 1))
    with pytest.raises(ValueError, match=r"^missing='zero' is not defined for metric 'own': its `of_item` names no"):
        scores_from_frame(frame, "a frame", Source((), own, missing="zero"))
    kept = replace(own, of_item=("of",))
    outputs = scores_from_frame(frame, "a frame", Source((), kept, missing="zero")).outputs
    assert outputs.scores().tolist() == [50, 50]
