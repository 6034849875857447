"""What training makes of annotated trees: symbols, shares and rules by a walk over the trees as they are written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
import pytest

from simstudy.readers.trees import parse_trees
from simstudy.training import Examples
from simstudy_learners.constituency.binary_trees import Symbols
from simstudy_learners.constituency.coarse_pass import forward
from simstudy_learners.constituency.constituents import GoldTrees, Sentences, Vocabulary
from simstudy_learners.constituency.parsers import LatentStates, Parser, TreebankGrammar
from tests.learners.handed import handed

TAGS, LABELS = ("a", "b", "c"), ("X", "Y", "Z")
Nested = tuple[str, Any]
VOCABULARY = Vocabulary.of(parse_trees("((a w0) (a w1) (a w2) (a w3))", "made up"))
# What a symbol knows, its plain symbol's name first.
Knows = tuple[Any, ...]


def random_tree(rng: np.random.Generator, depth: int, above: str = "") -> Nested:
    """A label and children, or a tag and a word; no node is right below its own like."""
    if not depth or rng.random() < 0.3:
        return str(rng.choice(TAGS)), f"w{rng.integers(4)}"
    label = str(rng.choice([label for label in LABELS if label != above]))
    return label, [random_tree(rng, depth - 1, label) for _ in range(rng.integers(1, 6))]


def written(tree: Nested) -> str:
    label, below = tree
    return f"({label} {below if isinstance(below, str) else ' '.join(map(written, below))})"


class Corpus(NamedTuple):
    trees: list[list[Nested]]
    weights: np.ndarray
    examples: Examples


def corpus_of(trees: list[list[Nested]], weights: np.ndarray, like: Examples | None = None) -> Corpus:
    """With the symbols of its own trees, or of other examples."""
    parsed = parse_trees("\n".join(f"( {' '.join(map(written, roots))} )" for roots in trees), "made up")
    symbols = like.gold.symbols if like else Symbols.of(parsed)
    return Corpus(trees, weights, Examples(Sentences.of(parsed, VOCABULARY), GoldTrees.of(parsed, symbols)))


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    rng = np.random.default_rng(4)
    trees = [[random_tree(rng, 3) for _ in range(rng.integers(1, 4))] for _ in range(40)]
    return corpus_of(trees, rng.integers(0, 4, len(trees)))


def fields_of(one: Any) -> list[Any]:
    return list(one) if isinstance(one, tuple) else list(vars(one).values())


class Counts(NamedTuple):
    symbols: Counter[Knows]
    rules: Counter[tuple[Knows, ...]]


def counts_of(corpus: Corpus, horizontal: int, vertical: int) -> Counts:
    """How often each annotated symbol is there, and each rule, whose first is the parent."""
    found = Counts(Counter(), Counter())

    def walk(tree: Nested, above: str, weight: int) -> Knows:
        label, below = tree
        up = above if vertical > 1 else ""
        own = (label, (), up)
        found.symbols[own] += weight
        if isinstance(below, str):
            return own
        names = [child[0] for child in below]
        children = [walk(child, label, weight) for child in below]
        # Over the children from the last but one on, then over more and more of them.
        right = children[-1]
        for k in range(len(below) - 2, 0, -1):
            intermediate = (f"@{label}", tuple(names[max(0, k - horizontal) : k]), up)
            found.symbols[intermediate] += weight
            found.rules[intermediate, children[k], right] += weight
            right = intermediate
        found.rules[(own, children[0], right) if len(below) > 1 else (own, right)] += weight
        return own

    for roots, weight in zip(corpus.trees, corpus.weights.tolist(), strict=True):
        top = walk(("TOP", roots), "", weight)
        assert top == ("TOP", (), "")
    return found


def trained(corpus: Corpus, base: TreebankGrammar | LatentStates) -> Parser:
    parser = base.train(corpus.examples, corpus.weights, 0)
    assert isinstance(parser, Parser)
    return parser


def shares(parser: Parser) -> dict[str, list[float]]:
    names = [parser.symbols.name(plain) for plain in parser.fine.coarse.tolist()]
    found = defaultdict(list)
    for name, share in zip(names, parser.fine.share.tolist(), strict=True):
        found[name].append(share)
    return {name: sorted(own) for name, own in found.items()}


@pytest.mark.parametrize(("horizontal", "vertical"), [*product((0, 1, 2), (1, 2))])
def test_horizontal_is_of_siblings_and_vertical_of_the_label_above(
    corpus: Corpus, horizontal: int, vertical: int
) -> None:
    """A symbol's share is its count over that of its plain symbol; a rule's weight, over that of its parent."""
    parser = trained(corpus, TreebankGrammar(horizontal, vertical, False))
    counts = counts_of(corpus, horizontal, vertical)
    plain: Counter[str] = Counter()
    for symbol, n in counts.symbols.items():
        plain[symbol[0]] += n
    expected = defaultdict(list)
    for symbol, n in counts.symbols.items():
        expected[symbol[0]].append(n / max(plain[symbol[0]], 1))
    found = shares(parser)
    assert found.keys() == expected.keys()
    for name, own in expected.items():
        np.testing.assert_allclose(found[name], sorted(own), err_msg=name)
    for size, weights in ((3, parser.fine.weight), (2, parser.fine.unary_weight)):
        rules = [n / counts.symbols[rule[0]] for rule, n in counts.rules.items() if n and len(rule) == size]
        np.testing.assert_allclose(sorted(weights), sorted(rules))


def test_no_two_parameters_make_the_same_grammar(corpus: Corpus) -> None:
    settings = [TreebankGrammar(*one) for one in product((0, 1, 2), (1, 2), (False, True))]
    assert len({repr(sorted(shares(trained(corpus, one)).items())) for one in settings}) == len(settings)


@pytest.mark.parametrize(("vertical", "splits"), [(1, False), (1, True), (2, False), (2, True)])
def test_words_are_counted_with_tags_that_know_the_label_above_where_they_are_to(
    corpus: Corpus, vertical: int, splits: bool
) -> None:
    """And by the plain grammar, which prunes, with plain tags."""
    parser = trained(corpus, TreebankGrammar(0, vertical, splits))
    expected: dict[bool, Counter[Knows]] = {knows: Counter() for knows in (False, True)}

    def walk(tree: Nested, above: str, weight: int) -> None:
        label, below = tree
        if isinstance(below, str):
            for knows, counts in expected.items():
                counts[label, below, above if knows else ""] += weight
        else:
            for child in below:
                walk(child, label, weight)

    for roots, weight in zip(corpus.trees, corpus.weights.tolist(), strict=True):
        walk(("TOP", roots), "", weight)
    for found, knows in ((parser.fine_tags, splits or vertical == 2), (parser.coarse_tags, False)):
        assert sorted(found.count) == sorted(n for n in expected[knows].values() if n)


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_every_symbol_but_top_is_halved_in_each_round_and_halves_are_merged_by_their_share(
    corpus: Corpus, rounds: int
) -> None:
    """Where none is merged there are 2^rounds states of each; where all are, one; their shares sum to one."""
    plain = corpus.examples.gold.symbols.size
    for share_merged, n_states in ((0.0, 2**rounds), (1.0, 1)):
        parser = trained(corpus, LatentStates(rounds, 1, share_merged))
        np.testing.assert_array_equal(np.bincount(parser.fine.coarse), [1, *[n_states] * (plain - 1)])
        seen = {symbol[0] for symbol, n in counts_of(corpus, 0, 1).symbols.items() if n}
        for name, own in shares(parser).items():
            np.testing.assert_allclose(sum(own), 1 if name in seen else 0)


@pytest.mark.parametrize("base", [TreebankGrammar(1, 2, True), LatentStates(1, 2, 0.5)])
def test_a_grammar_of_weighted_trees_is_that_of_copies(corpus: Corpus, base: Any) -> None:
    """The plain one, which prunes, with what it knows of neighbouring tags; and the annotated one."""
    copies = np.repeat(np.arange(len(corpus.trees)), corpus.weights)
    copied = corpus_of([corpus.trees[k] for k in copies], np.ones(len(copies), np.int64), corpus.examples)
    one, other = trained(corpus, base), trained(copied, base)
    for part in ("coarse", "coarse_tags"):
        pairs = zip(fields_of(getattr(one, part)), fields_of(getattr(other, part)), strict=True)
        for own, same in pairs:
            np.testing.assert_allclose(own, same, atol=1e-12)
    if isinstance(base, TreebankGrammar):
        np.testing.assert_allclose(sorted(one.fine.weight), sorted(other.fine.weight))
        np.testing.assert_allclose(sorted(one.fine_tags.count), sorted(other.fine_tags.count))


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_states_share_the_counts_of_their_plain_symbols(corpus: Corpus, rounds: int) -> None:
    """Counts of a word with a tag's states sum to those with the tag; of its words, to the state's share of it."""
    parser = trained(corpus, LatentStates(rounds, 2, 0.5))
    plain, states = parser.coarse_tags, parser.fine_tags
    counts: Counter[tuple[int, int]] = Counter()
    of_state, of_tag = np.zeros(states.n_tags), np.zeros(plain.n_tags)
    for word, state, n in zip(states.word.tolist(), states.tag.tolist(), states.count.tolist(), strict=True):
        counts[word, int(parser.fine.coarse[1 + state]) - 1] += n
        of_state[state] += n
    for word, tag, n in zip(plain.word.tolist(), plain.tag.tolist(), plain.count.tolist(), strict=True):
        assert counts.pop((word, tag)) == pytest.approx(n)
        of_tag[tag] += n
    assert sum(counts.values()) == pytest.approx(0)
    for state, n in enumerate(of_state, start=1):
        assert parser.fine.share[state] == pytest.approx(n / of_tag[parser.fine.coarse[state] - 1])


def test_what_stands_beside_a_span_says_what_may_be_in_it(corpus: Corpus) -> None:
    """Caraballo and Charniak (1998): by the tags of the words before and behind, with forward probabilities."""
    parser = trained(corpus, TreebankGrammar(1, 1, False))
    sentences: Sentences = corpus.examples.inputs
    symbols = parser.symbols
    names = [symbols.name(k) for k in range(symbols.size)]
    # What was never seen counts a thousandth.
    tables = [np.full((len(names), 1 + len(symbols.tags)), 1e-3) for _ in range(2)]
    following = np.full((1 + len(symbols.tags),) * 2, 1e-3)

    def spans(tree: Nested, start: int) -> Iterator[tuple[str, int, int]]:
        """All nodes, those of chains among them; a tree's own is the last."""
        label, below = tree
        ends = [start]
        for child in [] if isinstance(below, str) else below:
            nodes = [*spans(child, ends[-1])]
            ends.append(nodes[-1][2])
            yield from nodes
        yield from ((f"@{label}", first, ends[-1]) for first in ends[1:-2])
        yield label, start, ends[-1] + isinstance(below, str)

    for roots, weight in zip(corpus.trees, corpus.weights.tolist(), strict=True):
        nodes = [*spans(("TOP", roots), 0)]
        tags = [0, *(names.index(name) for name, _, _ in nodes if name in TAGS), 0]
        for one, other in pairwise(tags):
            following[one, other] += weight
        for name, start, end in nodes:
            for table, beside in zip(tables, (tags[start], tags[end + 1]), strict=True):
                table[names.index(name), beside] += weight
    following[0, 0] = 0
    np.testing.assert_allclose(parser.coarse.before, tables[0] / tables[0].sum(axis=0))
    np.testing.assert_allclose(parser.coarse.after, tables[1] / tables[1].sum(axis=1, keepdims=True))
    np.testing.assert_allclose(parser.coarse.transition, following / following.sum(axis=1, keepdims=True))
    given = handed(lambda: parser(corpus.examples), "constituency.parsers:coarse_pass")
    word = sentences.word[: sentences.bounds[1]]
    likely = np.concatenate([parser.coarse_tags.scores(sentences.forms, np.array([w], np.int32)) for w in word])
    np.testing.assert_allclose(likely.max(axis=1), 500)
    prefix = forward(likely, parser.coarse.transition)
    n = len(word)
    for i, symbol in product(range(n + 1), range(parser.symbols.size)):
        before, after = parser.coarse.before[symbol], parser.coarse.after[symbol]
        said = sum(likely[i - 1] * before[1:]) / sum(likely[i - 1]) if i else before[0]
        behind = sum(likely[i] * after[1:]) if i < n else after[0]
        np.testing.assert_allclose(given["before"][i, symbol], said * prefix[i], rtol=1e-9, atol=1e-11 * prefix[i])
        np.testing.assert_allclose(
            given["after"][i, symbol], behind / prefix[i + 1], rtol=1e-9, atol=1e-11 / prefix[i + 1]
        )
