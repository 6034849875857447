"""Trees as arrays: counts as the CoNLL 2018 evaluation defines them, and treebanks that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simstudy.metrics.annotations import right_attachments
from simstudy.training import Examples
from simstudy_learners.dependencies import trees
from simstudy_learners.dependencies.trees import Parses, count_las, count_uas, index_sentences, read_dependencies
from tests.learners.trees import examples, invented, sentence, shown


def test_counts_are_those_of_the_metric(rng: np.random.Generator) -> None:
    """Some heads and some relations wrong: sentence by sentence as `right_attachments` has them."""
    some = examples(invented(rng, [1, 2, 3, 4, 5, 6] * 6))
    gold, bounds = some.gold, some.inputs.bounds
    is_word = gold.heads >= 0
    heads = np.where(is_word & (rng.random(len(is_word)) < 0.3), 0, gold.heads)
    relations = np.where(is_word & (rng.random(len(is_word)) < 0.3), 2, gold.relations)
    guessed = Parses(heads, relations)
    for count, labelled in ((count_uas, False), (count_las, True)):
        expected = []
        for own, right in zip(shown(guessed, bounds), shown(gold, bounds), strict=True):
            n = len(right[0])
            expected.append((right_attachments(own, right, labelled=labelled), n, n))
        np.testing.assert_array_equal(count(some, guessed), expected)
        assert 0 < count(some, guessed)[:, 0].sum() < count(some, guessed)[:, 1].sum()


def test_counts_by_the_definition_of_conll_2018() -> None:
    """Punctuation counts, subtypes of relations do not; worked out by hand."""
    gold = sentence("It was done .", "PRON AUX VERB PUNCT", [3, 3, 0, 3], "nsubj:pass aux:pass root punct")
    own = sentence("It was done .", "PRON AUX VERB PUNCT", [3, 3, 0, 2], "nsubj:outer cop root punct")
    right, guessed = index_sentences([[gold], [own]])
    answered = Examples(*right)
    # Heads: It, was and done, not the full stop; of these, `cop` is another relation than `aux`.
    assert count_uas(answered, guessed[1]).tolist() == [[3, 4, 4]]
    assert count_las(answered, guessed[1]).tolist() == [[2, 4, 4]]


GOOD = "# sent_id = a\n1\tI\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tgo\t_\tVERB\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        (["2", "_", "0"], "has a word without a head, 'b'"),
        (["0", "0", "1"], "must have one word whose head is the root, not 2"),
        (["2", "1", "1"], "must have one word whose head is the root, not 0"),
        (["0", "3", "2"], "has a cycle: word 2, 'b', is its own ancestor"),
        (["0", "2", "1"], "has a cycle: word 2, 'b', is its own ancestor"),
    ],
)
def test_a_treebank_without_trees_is_refused(tmp_path: Path, heads: list[str], problem: str) -> None:
    path = tmp_path / "bad.conllu"
    rows = [f"{k}\t{w}\t_\tX\t_\t_\t{h}\tdep\t_\t_\n" for k, w, h in zip("123", "abc", heads, strict=True)]
    path.write_text(GOOD + "\n# sent_id = odd\n" + "".join(rows) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match="bad.conllu, line 5: sentence 'odd'") as error:
        read_dependencies(path)
    assert str(error.value).endswith(problem)


def test_more_tags_than_features_have_room_for_are_refused() -> None:
    many = [sentence("a", f"T{k}", [0], "root", f"s{k}") for k in range(31)]
    with pytest.raises(ValueError, match="at most 30 different part-of-speech tags, not 31"):
        index_sentences([many])
    index_sentences([many[:30]])


def test_words_tags_suffixes_and_relations_are_numbered_together(monkeypatch: pytest.MonkeyPatch) -> None:
    one = sentence("Walking dogs", "V N", [0, 1], "root obj:x", "a")
    other = sentence("sing bang DOGS", "N V N", [2, 0, 2], "nsubj root obj", "b")
    _, (second, gold) = index_sentences([[one], [other, one]])
    assert [column.tolist() for column in (*second.arrays, gold.heads, gold.relations)] == [
        [0, 5, 9], [1, 4, 5, 3, 0, 1, 2, 3, 0], [1, 3, 2, 3, 0, 1, 2, 3, 0], [1, 2, 4, 3, 0, 1, 2, 3, 0],
        [-1, 2, 0, 2, -1, -1, 0, 1, -1], [-1, 2, 0, 1, -1, -1, 0, 1, -1],
    ]  # fmt: skip
    assert [column.tolist() for column in second.mirrored().arrays][1:] == [
        [1, 3, 5, 4, 0, 1, 3, 2, 0], [1, 3, 2, 3, 0, 1, 3, 2, 0], [1, 3, 4, 2, 0, 1, 3, 2, 0],
    ]  # fmt: skip
    assert trees._MOST_FORMS == 262_142
    monkeypatch.setattr(trees, "_MOST_FORMS", 3)
    with pytest.raises(ValueError, match="sentences must have at most 3 different words, not 4"):
        index_sentences([[one], [other]])


def test_mirrored_heads_are_those_of_sentences_read_from_right_to_left() -> None:
    three = sentence("a b c", "A B C", [2, 0, 2], "x root y")
    ((words, gold),) = index_sentences([[sentence("d", "D", [0], "root", "t"), three]])
    ((_, expected),) = index_sentences(
        [[sentence("d", "D", [0], "root", "t"), sentence("c b a", "C B A", [2, 0, 2], "y root x")]]
    )
    mirrored = words.mirrored()
    np.testing.assert_array_equal(words.mirrored_heads(gold.heads), expected.heads)
    skewed = np.array([-1, 0, -1, -1, 0, 1, 2, -1])
    assert words.mirrored_heads(skewed).tolist() == [-1, 0, -1, -1, 2, 3, 0, -1]
    np.testing.assert_array_equal(mirrored.mirrored_heads(words.mirrored_heads(skewed)), skewed)


@pytest.mark.parametrize(("column", "what"), [("VERB", "part-of-speech tag"), ("root", "relation")])
def test_a_word_without_tag_or_relation_is_refused(tmp_path: Path, column: str, what: str) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(GOOD.replace(column, "_") + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=f"line 1: sentence 'a' has a word without a {what}, 'go'"):
        read_dependencies(path)
