from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.base import Loaded, Source, noting
from simstudy.loaders.samples import HINT
from simstudy.loaders.scores import read_frame, read_scores
from simstudy.loaders.scores import scores_from_frame as scores_and_notes
from simstudy.metrics import METRICS, Ratio, get_metric
from simstudy.metrics.bleu import Bleu
from simstudy.metrics.chrf import Chrf
from simstudy.outputs import Outputs

scores_from_frame = noting(scores_and_notes)

TIDY = "system,item,score,kind,seconds\nold,01,0,x,5\nold,1,1,y,6\nnew,1,1,y,7\nnew,01,1,x,8\n"
F1 = "item,gold,a:correct,a:guessed,b:correct,b:guessed\nx,2,1,2,1,1\ny,1,1,1,,\n"


def read(
    folder: Path,
    *texts: str,
    metric: str = "accuracy",
    columns: Mapping[str, str] | None = None,
    missing: str = "error",
    names: tuple[str, ...] = ("s.csv", "t.csv", "u.csv"),
) -> Loaded:
    paths = []
    for name, text in zip(names, texts, strict=False):
        (folder / name).write_text(text)
        paths.append(folder / name)
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


def test_columns_are_mapped(tmp_path: Path) -> None:
    text = "model,qid,resolved,score,repo\na,q1,True,7,r\na,q2,false,8,s\n"
    columns = {"system": "model", "item": "qid", "score": "resolved", "domain": "repo"}
    outputs = read(tmp_path, text, columns=columns).outputs
    assert (outputs.names, outputs.scores().tolist()) == (["a"], [50])
    assert outputs.items.to_dict("list") == {"id": ["q1", "q2"], "domain": ["r", "s"]}


def test_files_are_systems_where_no_column_names_them(tmp_path: Path) -> None:
    outputs = read(tmp_path, "item,score\n1,0.5\n2,1\n", "item,score\n2,0\n1,1\n", metric="mean").outputs
    assert outputs.names == ["s", "t"]
    assert outputs.statistics[..., 0].tolist() == [[0.5, 1], [1, 0]]


def test_files_that_name_systems_are_one_table(tmp_path: Path) -> None:
    more = "system,item,score\nnew,2,0\nold,2,1\n"
    outputs = read(tmp_path, TIDY, more).outputs
    assert outputs.items["id"].tolist() == ["01", "1", "2"]
    assert outputs.statistics[..., 0].tolist() == [[0, 1, 1], [1, 1, 0]]


def test_wide(tmp_path: Path) -> None:
    text = "item,class,domain,keras:net,torch:net\n01,7,cat,1,0\n1,8,dog,1,1\n"
    outputs = read(tmp_path, text, columns={"label": "class"}).outputs
    assert outputs.names == ["keras:net", "torch:net"]
    assert outputs.items.to_dict("list") == {"id": ["01", "1"], "domain": ["cat", "dog"], "label": ["7", "8"]}
    assert outputs.scores().tolist() == [100, 50]


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


def test_wide_files_are_joined_by_item(tmp_path: Path) -> None:
    outputs = read(tmp_path, "item,a\nx,1\ny,0\n", "item,b,domain\ny,1,d\nx,0,e\n").outputs
    assert outputs.statistics[..., 0].tolist() == [[1, 0], [0, 1]]
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


def test_tidy_counts(tmp_path: Path) -> None:
    outputs = read(tmp_path, "system,item,correct,total\na,x,2,3\na,y,0,4\n").outputs
    assert outputs.statistics.tolist() == [[[2, 3], [0, 4]]]


def test_missing_items(tmp_path: Path) -> None:
    text = "item,a,b,c\nx,1,0,1\ny,1,,1\nz,0,NA,0\n"
    how = "missing='drop' leaves such items out, missing='zero' scores a missing one as no answer"
    check_error(f"items differ: {{s}} lacks 2 of 3 items, first 'y' (system 'b'); {how}", tmp_path, text)
    assert read(tmp_path, text, missing="drop").outputs.items["id"].tolist() == ["x"]
    assert read(tmp_path, text, missing="zero").outputs.statistics[1].tolist() == [[0, 1], [0, 1], [0, 1]]


def test_what_a_missing_item_scores_by_counts(tmp_path: Path) -> None:
    """Nothing correct, nothing guessed, and gold as the others have it."""
    assert read(tmp_path, F1, metric="f1", missing="zero").outputs.statistics[1].tolist() == [[1, 1, 2], [0, 0, 1]]
    message = "missing='zero': systems differ in 'total' of item 'y' (1 and 2), so that there is none to give"
    text = "system,item,correct,total\na,x,1,1\na,y,0,1\nb,x,1,1\nb,y,0,2\nc,x,1,1\n"
    check_error(f"{message} to a system that lacks it", tmp_path, text, missing="zero")
    message = "missing='zero': no system has item 'y'"
    check_error(message, tmp_path, "item,a\nx,1\ny,\n", missing="zero")


def test_a_parquet_table(tmp_path: Path) -> None:
    frame = pd.DataFrame({"system": ["a", "b"], "item": [7, 7], "score": [True, False], "domain": ["d", "d"]})
    frame.to_parquet(tmp_path / "s.parquet")
    outputs = read_scores(Source((tmp_path / "s.parquet",), get_metric("accuracy"))).outputs
    assert outputs.scores().tolist() == [100, 0]
    assert outputs.items.to_dict("list") == {"id": ["7"], "domain": ["d"]}
    frame["score"] = [1.0, 2.0]
    frame.to_parquet(tmp_path / "s.parquet")
    with pytest.raises(ValueError, match=r"s\.parquet, row 2: a score must be between 0 and 1"):
        read_scores(Source((tmp_path / "s.parquet",), get_metric("accuracy")))


def test_an_empty_score_is_a_missing_item_where_items_may_be_missing(tmp_path: Path) -> None:
    message = "{s}, line 3: no score; leave out the rows of items that a system lacks"
    check_error(message, tmp_path, HEAD + "a,02,\n", metric="mean")
    (tmp_path / "s.csv").write_text("system,item,score\na,x,1\na,y,1\nb,x,1\nb,y,\n")
    kept = {m: read_scores(Source((tmp_path / "s.csv",), get_metric("accuracy"), missing=m)) for m in ("drop", "zero")}
    assert kept["drop"].outputs.items["id"].tolist() == ["x"]
    assert kept["zero"].outputs.scores().tolist() == [100, 50]


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


def test_frames_of_numbers() -> None:
    frame = pd.DataFrame({"item": ["x", "y"], "a": [1.0, np.nan], "b": [0.5, 0.25]})
    source = Source((), get_metric("mean"), missing="drop")
    assert scores_from_frame(frame, "frame", source).outputs.scores().tolist() == [1, 0.5]


def test_more_about_items_from_a_table_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(TIDY)
    (tmp_path / "items.csv").write_text("id,area\n1,law\n01,art\n")
    source = Source(
        (tmp_path / "s.csv",), get_metric("accuracy"), items=tmp_path / "items.csv", columns={"domain": "area"}
    )
    items = read_scores(source).outputs.items
    assert items.to_dict("list") == {"id": ["01", "1"], "domain": ["art", "law"], "kind": ["x", "y"]}


HEAD = "system,item,score\na,01,1\n"


@pytest.mark.parametrize(
    ("text", "metric", "message"),
    [
        (HEAD + "a,02,x\n", "accuracy", "{s}, line 3: a score must be a number, not 'x'"),
        (HEAD + "a,02,nan\n", "mean", "{s}, line 3: a score must be a number, not 'nan'"),
        (HEAD + "a,02,inf\n", "mean", "{s}, line 3: a score must be a number, not inf"),
        (
            HEAD + "a,02,50\n",
            "accuracy",
            "{s}, line 3: a score must be between 0 and 1 for metric 'accuracy', not 50; metric='mean' takes any "
            "number",
        ),
        (HEAD + "a,02,1.5\n", "ap", "{s}, line 3: a score must be between 0 and 1 for metric 'ap', not 1.5"),
        (
            HEAD + "b,02,1\na,01,0\n",
            "mean",
            f"{{s}}, line 4: item '01' of system 'a' again, first in {{s}}, line 2; {HINT}",
        ),
        (HEAD + "a,02,1_0\n", "mean", "{s}, line 3: a score must be a number, not '1_0'"),
        (HEAD + "a,02,٣\n", "mean", "{s}, line 3: a score must be a number, not '٣'"),
        (HEAD + 'a,"0\n2",1\n', "mean", r"{s}, line 3: the item must be of one line, not '0\n2'"),
        (HEAD + '"a\nb",2,1\n', "mean", r"{s}, line 3: the system must be of one line, not 'a\nb'"),
        (
            "system;item;score\na;1;1\n",
            "mean",
            "{s}: no column 'item' among system;item;score; separated by semicolons?",
        ),
        (HEAD + "a,,1\n", "mean", "{s}, line 3: no item"),
        (HEAD + ",02,1\n", "mean", "{s}, line 3: no system"),
        (HEAD + "a,02\n", "mean", "{s}, line 3: 2 cells, but the header has 3"),
        (
            "system,itm,score\na,1,1\n",
            "mean",
            "{s}: no column 'item' among system, itm, score (did you mean 'itm'?); columns={'item': ...} names it",
        ),
        (
            "system,item,scor\na,1,1\n",
            "mean",
            "{s}: no column 'score' among system, item, scor (did you mean 'scor'?); columns={'score': ...} names it",
        ),
        (
            HEAD,
            "f1",
            "{s}: no column 'correct' among system, item, score (did you mean 'score'?); metric 'f1' "
            "needs <system>:correct, <system>:guessed, <system>:gold",
        ),
        (
            "item,a,note\nx,1,good\n",
            "mean",
            "{s}, line 2: column 'note' is taken for a system, but has 'good'; "
            "columns={'note': 'note'} makes it a column of the items, columns={'system': 'note'} one that names "
            "systems",
        ),
        (
            "item,system,correct\nx,a,1\n",
            "accuracy",
            "{s}: no column 'score' among item, system, correct (did you mean 'correct'?); columns={'score': ...} "
            "names it",
        ),
        (
            "item,correct\nx,1\n",
            "accuracy",
            "{s}: no column 'score' among item, correct (did you mean 'correct'?); columns={'score': ...} names it",
        ),
        ("item,a\nx,1\nx,1\n", "mean", f"{{s}}, line 3: item 'x' of system 'a' again, first in {{s}}, line 2; {HINT}"),
        (
            "item,a\nx,2\n",
            "accuracy",
            "{s}, line 2, system 'a': a score must be between 0 and 1 for metric 'accuracy', not "
            "2; metric='mean' takes any number",
        ),
        (
            F1 + "z,1,3,2,1,1\n",
            "f1",
            "{s}, line 4, system 'a': correct = 3, guessed = 2, gold = 1; metric 'f1' needs "
            "0 <= correct <= guessed and correct <= gold",
        ),
        (F1 + "z,1,1,2,,1\n", "f1", "{s}, line 4: 'b:correct' must be a number, not ''"),
        (
            "item,gold,a:correct,a:guessed,b:correct\nx,1,1,1,1\n",
            "f1",
            "{s}: no column 'b:guessed' among item, gold, a:correct, a:guessed, b:correct (did you mean 'a:guessed'?)",
        ),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, metric: str, message: str) -> None:
    check_error(message, tmp_path, text, metric=metric, missing="drop")


def test_bad_columns(tmp_path: Path) -> None:
    message = "{s}: no column 'scroe' among system, item, score, kind, seconds (did you mean 'score'?)"
    check_error(message, tmp_path, TIDY, columns={"score": "scroe"})
    message = "{s}, line 5: 'seconds' of item '01' is '8', but '5' in {s}, line 2"
    check_error(message, tmp_path, TIDY, columns={"cluster": "seconds"})
    with pytest.raises(ValueError, match="no system: at least one table"):
        read(tmp_path)


def test_a_system_and_item_in_two_files(tmp_path: Path) -> None:
    message = f"{{t}}, line 2: item '01' of system 'a' again, first in {{s}}, line 2; {HINT}"
    check_error(message, tmp_path, HEAD, HEAD)


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


@pytest.mark.parametrize("column", ["system", "item", "score", "tags"])
@pytest.mark.parametrize(("cell", "kind"), [(["p"], "a list"), ({"p": 1}, "a struct"), (b"p", "bytes")])
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


@pytest.mark.parametrize(
    "times", [pd.to_datetime(["2020-01-01"] * 2), pd.to_datetime(["2020"] * 2, utc=True), pd.to_timedelta([1, 2])]
)
def test_times_are_no_scores(tmp_path: Path, times: pd.Index) -> None:
    with pytest.raises(ValueError, match=r"/s.parquet, row 1: a score must be a number, not Time"):
        read_parquet(tmp_path, PLAIN.assign(score=times))
    wide = pd.DataFrame({"item": ["x", "y"], "a": [1, 2], "when": times})
    with pytest.raises(ValueError, match=r"/s.parquet, row 1: column 'when' is taken for a system, but has '"):
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
    with pytest.raises(ValueError, match=r"items.csv: no column 'aera' among id, area \(did you mean 'area'\?\)$"):
        read_scores(sources[1])


# Sets of other hands, against the figures that come with them.


def scores_of(path: Path, metric: str, columns: dict[str, str], missing: str = "error") -> pd.Series:
    outputs = read_scores(Source((path,), METRICS[metric], columns=columns, missing=missing)).outputs
    return pd.Series(outputs.scores(), outputs.names)


def test_swe_bench_verified(shared_data: Path) -> None:
    folder = shared_data / "swebench"
    columns = {"item": "instance_id", "score": "resolved", "domain": "repo"}
    outputs = read_scores(Source((folder / "swebench_verified.csv.gz",), METRICS["accuracy"], columns=columns)).outputs
    assert (outputs.n_systems, outputs.n_items, outputs.items["domain"].nunique()) == (123, 500, 12)
    table = pd.read_csv(folder / "systems.csv").query("split == 'verified'").set_index("system")
    np.testing.assert_allclose(outputs.scores(), table["resolved_pct_recomputed"][outputs.names], atol=1e-9)


def test_imagenet_is_wide_with_colons_in_the_names(shared_data: Path) -> None:
    folder = shared_data / "imagenet_cifar"
    found = scores_of(folder / "cifar10_wide.csv.gz", "accuracy", {"class": "class"})
    table = pd.read_csv(folder / "systems.csv").query("dataset != 'imagenet'").set_index("system")
    np.testing.assert_allclose(found, table["acc1_recomputed"][found.index], atol=0.005)
    found = scores_of(folder / "imagenet_val_wide.csv.gz", "accuracy", {"class": "class_idx"})
    table = pd.read_csv(folder / "systems.csv").query("dataset == 'imagenet'").set_index("system")
    np.testing.assert_allclose(found, table["acc1_recomputed"][found.index], atol=0.005)


def test_mmlu_pro_has_systems_with_fewer_items(shared_data: Path) -> None:
    folder = shared_data / "mmlu_pro"
    columns = {"item": "question_id", "score": "correct"}
    with pytest.raises(ValueError, match=r"lacks 1681 of 12,032 items, first '3872' \(system 'DeepSeek-Coder-V2'\)"):
        scores_of(folder / "mmlu_pro.csv.gz", "accuracy", columns)
    found = scores_of(folder / "mmlu_pro.csv.gz", "accuracy", columns, "zero")
    table = pd.read_csv(folder / "systems.csv").set_index("system").loc[found.index]
    np.testing.assert_allclose(found, 100 * table["acc"] * table["n_items"] / 12032, atol=0.006)


def test_alpaca_eval(shared_data: Path) -> None:
    folder = shared_data / "alpaca_eval"
    columns = {"score": "preference", "domain": "dataset"}
    source = Source(
        (folder / "alpaca_eval2_weighted_gpt4_turbo.csv.gz",), METRICS["mean"], columns=columns, missing="drop"
    )
    outputs = read_scores(source).outputs
    assert (outputs.n_systems, outputs.n_items) == (58, 797)
    assert set(outputs.items["domain"]) == {"selfinstruct", "oasst", "koala", "helpful_base", "vicuna"}


def test_eval_arena(shared_data: Path) -> None:
    index = pd.read_csv(shared_data / "eval_arena" / "index.csv").set_index("file")
    files = sorted((shared_data / "eval_arena" / "main").glob("*.csv.gz"))
    assert files
    for path in files:
        outputs = read_scores(Source((path,), METRICS["mean"])).outputs
        row = index.loc[f"main/{path.name}"]
        assert (outputs.n_systems, outputs.n_items) == (row["systems"], row["items"])


def test_attachment_counts_of_conll_2018(shared_data: Path) -> None:
    folder = shared_data / "conll2018_ud"
    columns = {"item": "sent", "correct": "las", "guessed": "n", "gold": "n_gold"}
    found = scores_of(folder / "en_ewt.csv.gz", "f1", columns)
    table = pd.read_csv(folder / "scores.csv").query("treebank == 'en_ewt'").set_index("system")["las_f1"]
    assert len(found) == 25
    np.testing.assert_allclose(found, table[found.index], atol=0.005 + 1e-9)


def test_overlap_counts_of_sigmorphon_2022(shared_data: Path) -> None:
    folder = shared_data / "sigmorphon2022_segmentation"
    columns = {"correct": "ov", "guessed": "pred", "gold": "n_gold"}
    found = scores_of(folder / "word_mon.csv.gz", "f1", columns)
    table = pd.read_csv(folder / "systems.csv").query("kind == 'word' and language == 'mon'").set_index("system")
    assert len(found) == 14
    np.testing.assert_allclose(found, table["f1_recomputed"][found.index], atol=0.0005 + 1e-9)


def test_average_precision_of_trec_covid(shared_data: Path) -> None:
    folder = shared_data / "trec_covid"
    table = pd.read_csv(folder / "systems.csv")
    for number in range(1, 6):
        found = scores_of(folder / f"round{number}.csv.gz", "ap", {"item": "topic", "score": "ap"})
        own = table[table["round"] == number].set_index("system")["map_recomputed"]
        np.testing.assert_allclose(found, own[found.index], atol=0.00005 + 1e-9)


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
