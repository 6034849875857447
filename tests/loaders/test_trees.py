from __future__ import annotations

import random
import re
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.trees import bracketed, parse_trees
from simstudy.metrics.parseval import bracket_counts
from tests.loaders import files

read = partial(files.read, format="trees", metric="parseval")

GOLD = """\
( (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)) )
( (S (NP-SBJ (-NONE- *))
     (VP (VB go))) )
( (NP (NN end)) )
"""


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.mrg"
    path.write_text(GOLD)
    return path


def read_expression(text: str, at: int = 0) -> tuple[Any, int]:
    """A tree as nested lists, by recursion: (label, children) or (tag, word)."""
    pieces = text if isinstance(text, list) else re.findall(r"[()]|[^\s()]+", text)
    assert pieces[at] == "("
    at += 1
    label = ""
    if pieces[at] not in "()":
        label, at = pieces[at], at + 1
    children: list[Any] = []
    while pieces[at] != ")":
        if pieces[at] == "(":
            child, at = read_expression(pieces, at)
        else:
            child, at = pieces[at], at + 1
        children.append(child)
    return [label, children], at + 1


def written(tree: Any) -> str:
    return tree if isinstance(tree, str) else f"({tree[0]} {' '.join(map(written, tree[1]))})"


def is_leaf(tree: Any) -> bool:
    return isinstance(tree[1][0], str)


def perturbed(tree: Any, rng: random.Random) -> Any:
    """A tree of the same words in which some nodes have other labels, are gone, or are there twice."""
    if is_leaf(tree):
        return tree
    children: list[Any] = []
    for child in tree[1]:
        changed = perturbed(child, rng)
        what = rng.random()
        if is_leaf(child) or what > 0.3:
            children.append(changed)
        elif what < 0.1:
            children += changed[1]
        elif what < 0.2:
            children.append([rng.choice(["NP", "VP", "S-TMP", "PRT", "ADVP"]), changed[1]])
        else:
            children.append([changed[0], [changed]])
    return [tree[0], children]


def by_evalb(guessed: Any, gold: Any) -> tuple[int, int, int]:
    """Counts by the algorithm of evalb.c: words read off with deletion, brackets matched one by one."""

    def brackets(tree: Any) -> list[tuple[str, int, int]]:
        found: list[tuple[str, int, int]] = []
        n_words = 0

        def walk(node: Any) -> None:
            nonlocal n_words
            if is_leaf(node):
                n_words += node[0] not in ("-NONE-", ",", ":", "``", "''", ".")
                return
            start, place = n_words, len(found)
            found.insert(place, ("", 0, 0))
            for child in node[1]:
                walk(child)
            found[place] = (re.sub(r"[-=|].*", "", node[0]), start, n_words)

        walk(tree)
        return [b for b in found if b[1] < b[2] and b[0] not in ("", "TOP", "S1", "ROOT")]

    own, wanted = brackets(guessed), brackets(gold)
    free = [True] * len(own)
    matched = 0
    for label, *extent in wanted:
        for j, (other, *place) in enumerate(own):
            if free[j] and extent == place and (label == other or {label, other} == {"ADVP", "PRT"}):
                free[j] = False
                matched += 1
                break
    return matched, len(own), len(wanted)


def treebank(shared_data: Path) -> list[str]:
    """Trees of the Penn Treebank sample, as texts."""
    with zipfile.ZipFile(shared_data / "nltk" / "treebank.zip") as packed:
        texts = [packed.read(name).decode() for name in sorted(packed.namelist()) if name.endswith(".mrg")]
    return [tree for text in texts for tree in re.split(r"\n(?=\( ?\()", text) if tree.strip()]


def test_trees_that_are_changed_count_as_evalb_says(shared_data: Path) -> None:
    chance = random.Random(20120712)
    total = [0, 0, 0]
    for text in treebank(shared_data)[::6]:
        gold, _ = read_expression(text)
        other = perturbed(gold, chance)
        trees = [parse_trees(written(tree), "test")[0] for tree in (other, gold)]
        counts = bracket_counts(*trees)
        assert counts == by_evalb(other, gold), text
        total = [a + b for a, b in zip(total, counts, strict=True)]
    assert 0.5 < 2 * total[0] / (total[1] + total[2]) < 0.95  # changed enough to tell


def test_a_tree_is_the_same_on_one_line_and_without_its_outer_bracket(shared_data: Path, tmp_path: Path) -> None:
    texts = treebank(shared_data)[::10]
    assert len(texts) == 392, "a tenth of 3,914, as SOURCE.md says"
    (tmp_path / "wsj.mrg").write_text("\n".join(texts), encoding="utf-8")
    lines = [" ".join(text.split()) for text in texts]
    (tmp_path / "lines.mrg").write_text("\n".join(line[1:-1].strip() for line in lines) + "\n", encoding="utf-8")
    loaded = read(tmp_path / "wsj.mrg", tmp_path / "lines.mrg", gold=tmp_path / "wsj.mrg")
    assert loaded.outputs.n_items == 392
    assert loaded.outputs.scores().tolist() == [100, 100]


def test_trees_may_go_over_lines_and_words_may_have_odd_blanks() -> None:
    trees = parse_trees("\n(S\n (NN 1\u00a0000)\n)(X\n y)", "test")
    assert [(tree.words, tree.tags, tree.brackets, tree.line) for tree in trees] == [
        (("1\u00a0000",), ("NN",), (("S", 0, 1),), 2),
        (("y",), ("X",), (), 4),
    ]


def test_trees_are_the_same_answer_whatever_the_line_breaks(gold: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.mrg").write_text(" ".join(GOLD.split()))
    (tmp_path / "c.mrg").write_text(GOLD.replace("(NP (NN", "(VP (NN"))
    paths = [tmp_path / f"{name}.mrg" for name in "abc"]
    loaded = read(*paths, gold=gold)
    assert loaded.outputs.answers is not None
    assert (loaded.outputs.answers[0] == loaded.outputs.answers[1]).all()
    assert (loaded.outputs.answers[0] == loaded.outputs.answers[2]).tolist() == [True, True, False]


@pytest.mark.parametrize(
    "tree", ["(S (NP (D a) (N cat)) (VP (V sat)))", "(TOP (S (X (X (A a))) (B b)) (. .))", "(S (A a) (NP (B b) (C c)))"]
)
def test_trees_are_written_as_they_are_read(tree: str) -> None:
    assert bracketed(parse_trees(tree, "")[0]) == tree
