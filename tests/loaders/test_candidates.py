from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.base import Loaded, Ties
from simstudy.loaders.candidates import has_candidates, load_candidates
from simstudy.loaders.door import load

#: By t the best are a, b, c, d; by mi d, c, b, a; a and b are true.
TABLE = "id,gold,t,mi,kind\na,1,9,1,x\nb,true,8,2,y\nc,0,7,3,x\nd,False,6,4,y\n"

KRENN = Path(__file__).resolve().parents[3] / "shared/data/colloc_krenn/KrennPPV.tsv"


def written(folder: Path, text: str, name: str = "c.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def read(folder: Path, text: str, metric: str = "precision@2", *, name: str = "c.csv", **options: object) -> Loaded:
    return load(written(folder, text, name), metric, format="candidates", **options)  # type: ignore[arg-type]


def check_error(message: str, folder: Path, text: str, metric: str = "precision@2", **options: object) -> None:
    """The whole message, one line, in which {c} is the file."""
    with pytest.raises(ValueError, match=f"^{re.escape(message.replace('{c}', str(folder / 'c.csv')))}$"):
        read(folder, text, metric, **options)


def made(n: int, seed: int) -> pd.DataFrame:
    """Candidates a third of which are true, with two scores that know something of it, and no ties."""
    rng = np.random.default_rng(seed)
    gold = rng.random(n) < 1 / 3
    scores = {name: rng.normal(size=n) + much * gold for name, much in (("good", 1.5), ("poor", 0.5))}
    return pd.DataFrame({"id": [f"c{i}" for i in range(n)], "gold": gold.astype(int), **scores})


def test_scores_are_the_precision_of_the_best_as_pandas_sorts_them(tmp_path: Path) -> None:
    frame = made(200, 1)
    frame.to_csv(tmp_path / "c.csv", index=False)
    for n in (1, 30, 200):
        outputs = load(tmp_path / "c.csv", f"precision@{n}").outputs
        expected = [frame.nlargest(n, name)["gold"].mean() for name in ("good", "poor")]
        assert outputs.names == ["good", "poor"]
        assert outputs.scores() == pytest.approx(expected, abs=1e-12)
        assert outputs.statistics[..., 1].sum(axis=1).tolist() == [n, n]


def test_columns_with_numbers_are_scores_but_for_those_that_describe(tmp_path: Path) -> None:
    """Declared ones, ``domain``, clusters and truth values describe; inf ranks first, -inf last; 0 and 1 are told."""
    text = "word,idiom,svc,t,mi,domain,doc,sure,kind\na,1,1,inf,2,1,7,true,x\nb,0,0,3,-inf,1,7,false,y\n"
    text += "c,0,1,-inf,4,2,8,true,x\nd,1,0,2,3,2,8,true,y\n"
    loaded = read(tmp_path, text, "precision@1", columns={"item": "word", "gold": "idiom", "support": "svc"})
    outputs = loaded.outputs
    assert (outputs.names, outputs.scores().tolist(), outputs.answers) == (["t", "mi"], [1, 0], None)
    assert outputs.items.drop(columns="cluster").to_dict("list") == {
        "id": ["a", "b", "c", "d"],
        "true": [True, False, False, True],
        "domain": ["1", "1", "2", "2"],
        "doc": ["7", "7", "8", "8"],
        "sure": ["true", "false", "true", "true"],
        "kind": ["x", "y", "x", "y"],
        "support": ["1", "0", "1", "0"],
    }
    assert outputs.items["cluster"].tolist() == ["7", "7", "8", "8"]
    told = "used as scores, although they are only 0 and 1: 'svc'; columns={'svc': 'svc'} makes 'svc' a column of"
    assert told not in str(loaded.notes)
    assert told in " ".join(read(tmp_path, text, "precision@1", columns={"item": "word", "gold": "idiom"}).notes)


def test_all_kinds_of_tables_say_the_same(tmp_path: Path) -> None:
    frame = made(50, 3)
    frame.to_csv(tmp_path / "c.csv", index=False)
    first = load(tmp_path / "c.csv", "precision@9").outputs
    kept = frame.astype({"gold": bool})
    for name in ("c.tsv", "c.csv.gz", "c.tsv.gz", "c.parquet"):
        if name == "c.parquet":
            kept.to_parquet(tmp_path / name)
        else:
            kept.to_csv(tmp_path / name, index=False, sep="\t" if "tsv" in name else ",")
        assert load(tmp_path / name, "precision@9").outputs.fingerprint() == first.fingerprint(), name


def test_candidates_are_one_table_for_precision_at_no_more_than_all(tmp_path: Path) -> None:
    check_error("{c}: n of precision@5 must be at most 4, the number of candidates", tmp_path, TABLE, "precision@5")
    assert read(tmp_path, TABLE, "precision@4").outputs.scores().tolist() == [0.5, 0.5]
    for metric in ("ap", "ndcg@10", "accuracy"):
        message = f"metric must be precision@n for candidates, such as precision@100, not '{metric}'"
        check_error(message, tmp_path, TABLE, metric)
    path, other = written(tmp_path, TABLE), written(tmp_path, TABLE, "d.csv")
    message = "candidates are one table with a column for each scoring function, not 2 files"
    with pytest.raises(ValueError, match=message):
        load([path, other], "precision@2")
    message = "references must not be given for a table of candidates, which says which candidates are true"
    with pytest.raises(ValueError, match=message):
        load(path, "precision@2", references=other)


# Ties

TIED = "id,gold,t,freq,flat\na,1,4,1,0\nb,0,3,2,0\nc,0,3,1,0\nd,1,1,1,0\n"


def test_ties_are_told(tmp_path: Path) -> None:
    loaded = read(tmp_path, TIED, "precision@2", ties=Ties("jitter", seed=7))
    assert loaded.outputs.statistics[..., 1].sum(axis=1).tolist() == [2, 2, 2]
    assert loaded.notes == (
        "all candidates have the same score by 'flat': its ranking is by chance",
        "3 of 4 candidates have the score of another by 'freq', fewer by 1 other: ties broken at random (seed 7); "
        "ties='keep' accepts all that tie",
    )


def test_ties_that_are_kept_make_longer_lists(tmp_path: Path) -> None:
    loaded = read(tmp_path, TIED, "precision@2", ties="keep")
    # a, b, c by t; all by the others.
    assert loaded.outputs.statistics[..., 1].sum(axis=1).tolist() == [3, 4, 4]
    assert loaded.outputs.scores() == pytest.approx([1 / 3, 1 / 2, 1 / 2])
    assert loaded.notes == (
        "all candidates have the same score by 'flat': its ranking accepts all",
        "ties kept: the list of 'freq' has 4 candidates, not 2, fewer by 1 other",
    )
    assert len(read(tmp_path, TIED, "precision@1", ties="keep", columns={"flat": "flat"}).notes) == 0


# A table of the items


def test_a_table_of_the_items_is_joined_by_id(tmp_path: Path) -> None:
    items = written(tmp_path, "word,genre,true\nd,news,?\nb,web,?\na,news,?\nc,web,?\ne,web,?\n", "items.csv")
    path = written(tmp_path, TABLE.replace("id,", "word,"))
    loaded = load(path, "precision@2", items=items, columns={"item": "word", "domain": "genre"})
    table = loaded.outputs.items
    assert table["id"].tolist() == ["a", "b", "c", "d"]
    assert table["domain"].tolist() == ["news", "web", "web", "news"]
    assert table["kind"].tolist() == ["x", "y", "x", "y"]
    assert table["true"].tolist() == [True, True, False, False]
    assert loaded.outputs.domain("web").n_items == 2
    with pytest.raises(ValueError, match=r"no column 'gener' \(columns"):
        load(path, "precision@2", items=items, columns={"item": "word", "domain": "gener"})


# Near-duplicates


@pytest.mark.skipif(not KRENN.is_file(), reason="needs ../shared/data")
def test_the_candidates_of_the_paper() -> None:
    """5,102 pairs, 11.09 % of them true (section 1)."""
    columns = {"gold": "is.colloc", "svc": "is.SVC", "figurative": "is.figur"}
    loaded = load(KRENN, "precision@500", columns=columns)
    frame = pd.read_csv(KRENN, sep="\t")
    assert loaded.outputs.n_items == 5102
    assert round(100 * loaded.outputs.items["true"].mean(), 2) == 11.09
    assert loaded.outputs.items["id"].iloc[0] == "in:Jahr abbauen"
    best = frame.nlargest(500, "log.like", keep="all")
    assert len(best) == 500, "no scores tie at the 500th"
    assert loaded.outputs.scores()[loaded.outputs.names.index("log.like")] == best["is.colloc"].mean()


# The object itself


def test_candidates_themselves(tmp_path: Path) -> None:
    path = written(tmp_path, "word,idiom,n,t,mi\na,1,3,9,1\nb,0,3,8,\nc,0,4,7,3\n")
    columns = {"gold": "idiom", "item": "word", "n": "n"}
    loaded = load_candidates(path, columns=columns, missing="drop", ties="keep", seed=3, test_set="idioms")
    candidates = loaded.candidates
    assert loaded.notes == ("1 of 3 candidates dropped that lack a score, first 'b'",)
    assert repr(loaded).startswith("LoadedCandidates: 2 candidates ranked by 2 scoring functions\nnotes: 1 of 3 cand")
    assert loaded.items.to_dict("list") == {"id": ["a", "c"], "true": [True, False], "n": ["3", "4"]}
    assert (candidates.names, candidates.ids) == (["t", "mi"], ["a", "c"])
    assert candidates.true.tolist() == [True, False]
    assert candidates.scores.tolist() == [[9, 7], [1, 3]]
    assert (candidates.ties, candidates.seed, candidates.test_set) == ("keep", 3, "idioms")
    with pytest.raises(ValueError, match=r"no column 'length' \(columns: word, idiom"):
        load_candidates(path, columns={"gold": "idiom", "length": "length"})
    with pytest.raises(FileNotFoundError):
        load_candidates(tmp_path / "nothing.csv")


# Which tables are tables of candidates


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("id,gold,t\n", {}, True),
        ("\ufeffgold,t\n", {}, True),
        ("id,is_good,t\n", {}, False),
        ("id,is_good,t\n", {"gold": "is_good"}, True),
        ("id,is_good,t\n", {"gold": "is_god"}, True),
        ("id,gold,t\n", {"label": "gold"}, False),
        ("system,item,score,gold\n", {}, False),
        ("model,item,resolved,gold\n", {"score": "resolved"}, False),
        ("item,a,b\n", {}, False),
        ("", {}, False),
    ],
)
def test_candidates_are_known_by_the_header(
    text: str, columns: Mapping[str, str], expected: bool, tmp_path: Path
) -> None:
    assert has_candidates(written(tmp_path, text), columns) == expected
    assert has_candidates(written(tmp_path, text.replace(",", "\t"), "c.tsv"), columns) == expected
    packed = tmp_path / "c.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert has_candidates(packed, columns) == expected


def test_what_cannot_be_read_is_no_table_of_candidates(tmp_path: Path) -> None:
    for name in ("c.csv.gz", "c.parquet", "gold.txt", "none.csv"):
        if name != "none.csv":
            written(tmp_path, "gold,t\n1,2\n", name)
        assert not has_candidates(tmp_path / name, {})


def test_item_scores_under_precision_at_n_are_read_as_before(tmp_path: Path) -> None:
    wide = load(written(tmp_path, "item,a,b\nx,0.5,1\ny,0.3,0\n"), "precision@10").outputs
    tidy = "system,item,score,gold\na,x,0.5,1\nb,x,1,1\nb,y,0,0\na,y,0.3,0\n"
    other = load(written(tmp_path, tidy), "precision@10").outputs
    for outputs in (wide, other):
        assert outputs.names == ["a", "b"]
        assert outputs.items["id"].tolist() == ["x", "y"]
        assert outputs.scores() == pytest.approx([0.4, 0.5])


def test_odd_tables_are_read_or_refused_in_one_line(tmp_path: Path) -> None:
    """Cells drawn from what people write: nothing but a ValueError of one line comes of it."""
    rng = np.random.default_rng(8)
    odd = ["", "NA", "inf", "-inf", "nan", "x", "1e999", "0x1F", "1_0", "٣", " ", "true", '"a\nb"', "-0", "1e-400"]
    names = ["id", "gold", "item", "t", "f", "f1", "f2", "N", "O11", "true", "name", "score", "domain"]
    outcomes = set()
    for _ in range(50):
        columns = ["gold", *rng.choice(names, rng.integers(1, 6)).tolist()]
        n, share = rng.integers(1, 8), rng.choice([0, 0.02, 0.3])
        plain = [[str(rng.integers(0, 2 if c == "gold" else 50)) for c in columns] for _ in range(n)]
        rows = [[str(rng.choice(odd)) if rng.random() < share else cell for cell in row] for row in plain]
        text = "\n".join(",".join(row) for row in [columns, *rows]) + "\n"
        missing = str(rng.choice(["error", "drop"]))
        try:
            lengths, said = read(tmp_path, text, missing=missing).outputs.statistics[..., 1].sum(axis=1), ""
        except ValueError as error:
            lengths, said = np.array([2]), str(error)
        outcomes.add(bool(said))
        assert "\n" not in said, text
        assert (lengths == 2).all(), text
    assert outcomes == {True, False}
