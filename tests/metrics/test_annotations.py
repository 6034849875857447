"""Counts of trees, dependency parses, spans and alignments, by hand and by the programs that define them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.metrics import METRICS
from simstudy.metrics.annotations import Span, alignment_counts, bracket_counts, right_attachments, tagged_spans
from simstudy.readers.trees import parse_trees
from simstudy.validation import InputError

GOLD = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (PRT (RP down))) (. .)))"


@pytest.mark.parametrize(
    ("guessed", "gold", "counts"),
    [
        pytest.param(GOLD.replace("(TOP ", "(ROOT "), GOLD.replace("(TOP ", "( "), (4, 4, 4), id="roots"),
        pytest.param(GOLD.replace("PRT", "ADVP"), GOLD, (4, 4, 4), id="PRT is ADVP"),
        pytest.param(GOLD.replace("NP", "NP-SBJ-1=2"), GOLD.replace("NP", "NP|QP"), (4, 4, 4), id="function tags"),
        pytest.param(
            "(S (NP (NN cat) (NN ,)) (VP (VBZ sits)))",
            "(S (NP (NN cat)) (, ,) (VP (VBZ sits)))",
            (3, 3, 3),
            id="gold tags decide about punctuation",
        ),
        pytest.param("(S (NP (. .)))", "(S (. .))", (0, 0, 0), id="nothing but punctuation"),
    ],
)
def test_brackets_by_hand(guessed: str, gold: str, counts: tuple[int, int, int]) -> None:
    trees = [parse_trees(text, "test")[0] for text in (guessed, gold)]
    assert bracket_counts(*trees) == counts


def test_other_words() -> None:
    own, gold = parse_trees("(NP (DT the) (NN dog)) (NP (DT the) (NN cat) (NNS s))", "test")
    message = "trees must be of the same words; the first that differs is 'dog', in the gold tree 'cat'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        bracket_counts(own, gold)


PARSE = [2, 0, 2, 3], ["nsubj:pass", "root", "obj", "punct"]


@pytest.mark.parametrize(
    ("guessed", "right_heads", "right_relations"),
    [
        (PARSE, 4, 4),
        (([2, 0, 2, 3], ["nsubj", "root", "obj:x", "punct"]), 4, 4),  # subtypes do not count
        (([2, 0, 2, 3], ["csubj:pass", "root", "iobj", "punct"]), 4, 2),
        (([2, 0, 2, 2], PARSE[1]), 3, 3),  # punctuation counts
        (([0, 1, 1, 1], PARSE[1]), 0, 0),
    ],
)
def test_words_by_hand(guessed: tuple[list[int], list[str]], right_heads: int, right_relations: int) -> None:
    assert right_attachments(guessed, PARSE, labelled=False) == right_heads
    assert right_attachments(guessed, PARSE) == right_relations


TAGS = st.lists(st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b", "I-a-b", "B-a-b"]), max_size=9)


def conlleval(tags: list[str]) -> set[Span]:
    """Spans by startOfChunk and endOfChunk of conlleval.pl, which ask about a tag and the one before it."""
    split = [("O", ""), *(tuple(tag.split("-", 1)) if tag != "O" else ("O", "") for tag in tags), ("O", "")]
    spans, start = set(), 0
    for i in range(1, len(split)):
        (before, old), (now, new) = split[i - 1], split[i]
        ends = (before in "BI" and now in "BO") or (before != "O" and old != new)
        starts = (before in "BIO" and now == "B") or (before == "O" and now == "I") or (now != "O" and old != new)
        if ends:
            spans.add((old, start, i - 1))
        if starts:
            start = i - 1
    return spans


@given(TAGS)
def test_spans_are_those_of_conlleval(tags: list[str]) -> None:
    assert tagged_spans(tags) == conlleval(tags)


@pytest.mark.parametrize("tag", ["X-person", "B-", "b-person", "", "person", "Bperson"])
def test_other_tags_mark_no_spans(tag: str) -> None:
    with pytest.raises(InputError, match="^tags of spans must be O, or B, I, E, S, L or U"):
        tagged_spans(["O", tag])


LINKS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(LINKS, LINKS, LINKS)
def test_aer_is_one_minus_the_share_of_right_links(guessed, sure, possible) -> None:  # type: ignore[no-untyped-def]
    """Sure links count as possible, whether listed or not."""
    counts = alignment_counts(guessed, sure, possible)
    METRICS["aer"].check(np.array([[counts]]))
    both, possible = len(guessed) + len(sure), possible | sure
    in_sure = sum(link in sure for link in guessed)
    in_possible = sum(link in possible for link in guessed)
    expected = 100 * (1 - (in_sure + in_possible) / both) if both else 0
    assert METRICS["aer"].score(np.array(counts)) == pytest.approx(expected, abs=1e-12)
