from __future__ import annotations

import pytest

from simstudy.loaders.trees import parse_trees
from simstudy.metrics.parseval import bracket_counts, counted_label

GOLD = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (PRT (RP down))) (. .)))"


@pytest.mark.parametrize(
    ("guessed", "gold", "counts"),
    [
        pytest.param(GOLD, GOLD, (4, 4, 4), id="itself"),
        pytest.param(GOLD.replace("(TOP ", "(ROOT "), GOLD.replace("(TOP ", "( "), (4, 4, 4), id="roots"),
        pytest.param(GOLD.replace("PRT", "ADVP"), GOLD, (4, 4, 4), id="PRT is ADVP"),
        pytest.param(GOLD.replace("NP", "NP-SBJ-1=2"), GOLD.replace("NP", "NP|QP"), (4, 4, 4), id="function tags"),
        pytest.param(GOLD.replace("NP", "NX"), GOLD, (3, 4, 4), id="label"),
        pytest.param(GOLD.replace("NN cat", "JJ cat"), GOLD, (4, 4, 4), id="tags of words do not count"),
        pytest.param(
            "(S (NP (DT the) (NN cat)) (VP (VP (VBD sat)) (PRT (RP down))) (. .))", GOLD, (4, 5, 4), id="a bracket more"
        ),
        pytest.param(
            "(S (NP (DT the) (NN cat)) (VP (VBD sat) (PRT (RP down)) (. .)))", GOLD, (4, 4, 4), id="punctuation"
        ),
        pytest.param("(S (DT the) (NN cat) (VBD sat) (RP down) (. .))", GOLD, (1, 1, 4), id="flat"),
        pytest.param(
            "(S (NP (NP (NP (NN it)))) (VP (VBD is)))",
            "(S (NP (NP (NN it))) (VP (VBD is)))",
            (4, 5, 4),
            id="each counts",
        ),
        pytest.param(
            "(S (VP (TO to) (VP (VB go))))",
            "(S (NP-SBJ (-NONE- *)) (VP (TO to) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*-1))))))",
            (3, 3, 3),
            id="traces",
        ),
        pytest.param(
            "(NP (NN x) (PRN (-LRB- -LRB-) (NN y) (-RRB- -RRB-)))",
            "(NP (NN x) (-LRB- -LRB-) (PRN (NN y) (-RRB- -RRB-)))",
            (1, 2, 2),
            id="round brackets are words",
        ),
        pytest.param(
            "(S (NP (NN cat) (NN ,)) (VP (VBZ sits)))",
            "(S (NP (NN cat)) (, ,) (VP (VBZ sits)))",
            (3, 3, 3),
            id="what is punctuation, gold tags say",
        ),
        pytest.param("(S (NP (. .)))", "(S (. .))", (0, 0, 0), id="nothing but punctuation"),
    ],
)
def test_hand_counted(guessed: str, gold: str, counts: tuple[int, int, int]) -> None:
    trees = [parse_trees(text, "test")[0] for text in (guessed, gold)]
    assert bracket_counts(*trees) == counts
    # What is right, and what is guessed and gold, are symmetric where punctuation is tagged the same.
    if [tag for tag in trees[0].tags if tag in ".,"] == [tag for tag in trees[1].tags if tag in ".,"]:
        assert bracket_counts(*trees[::-1]) == (counts[0], counts[2], counts[1])


def test_labels_count_without_their_functions() -> None:
    labels = ("NP-SBJ-2", "NP=1", "ADJP|ADVP", "-LRB-", "PRT", "PRT|ADVP", "TOP", "ROOT", "S1", "", ",")
    assert [counted_label(label) for label in labels] == ["NP", "NP", "ADJP", "-LRB-", "ADVP", "ADVP", *[None] * 5]


def test_other_words() -> None:
    own, gold = parse_trees("(NP (DT the) (NN dog)) (NP (DT the) (NN cat) (NNS s))", "test")
    message = "trees must be of the same words; the first that differs is 'dog', in the gold tree 'cat'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        bracket_counts(own, gold)
