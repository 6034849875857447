from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.metrics.spans import Span, bio_spans, span_counts

TAGS = st.lists(st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b", "I-a-b"]), max_size=9)


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
    assert bio_spans(tags) == conlleval(tags)


@given(TAGS.flatmap(lambda gold: st.tuples(st.just(gold), st.permutations(gold))))
def test_counts_are_those_of_the_sets(pair: tuple[list[str], list[str]]) -> None:
    gold, guessed = pair
    right = [span for span in conlleval(guessed) if span in conlleval(gold)]
    assert span_counts(guessed, gold) == (len(right), len(conlleval(guessed)), len(conlleval(gold)))


def test_a_label_may_have_hyphens() -> None:
    assert bio_spans(["B-creative-work", "I-creative-work", "I-creative"]) == {
        ("creative-work", 0, 2),
        ("creative", 2, 3),
    }


@pytest.mark.parametrize("tag", ["E-person", "B-", "B", "b-person", "", "person"])
def test_other_tags_mark_no_spans(tag: str) -> None:
    with pytest.raises(ValueError, match=f"^tags of spans must be O, B-label or I-label, not '{tag}'$"):
        bio_spans(["O", tag])
