"""Metrics of texts: BLEU, chrF, TER, word and character error rates, ROUGE, and perplexities.

sacrebleu counts BLEU, chrF and TER, and rouge-score counts ROUGE. They are imported when texts are counted, as most
studies count none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import compiled
from simstudy.metrics.base import Array, FloatArray, IntArray, Metric, Ratio, References, TextCounter
from simstudy.metrics.mean import Mean
from simstudy.validation import InputError, check_choice


def check_references(references: References) -> None:
    """Raise an InputError if there is no item, or one without a list of references."""
    if not references:
        raise InputError("references", "must hold at least one item")
    for i, texts in enumerate(references):
        if isinstance(texts, str) or not texts:
            rule = f"must hold a list of at least one text for every item, unlike {texts!r} of item number {i}"
            raise InputError("references", rule)


def single_references(metric: str, references: References) -> list[str]:
    """The one reference, or label, of each item; an InputError if an item has several."""
    check_references(references)
    for i, texts in enumerate(references):
        if len(texts) > 1:
            rule = f"metric '{metric}' needs one reference for each item: item number {i + 1} has {len(texts)}"
            raise InputError(rule)
    return [text for (text,) in references]


def sacrebleu_counter(
    metric: type, references: References, arranged: Callable[[Array], Array] = np.asarray, **options: Any
) -> TextCounter:
    """Counter of texts by a metric of sacrebleu, whose counts (n, S) are `arranged` in our order."""
    check_references(references)
    # The first references of all items, the second ones, …; None for missing ones.
    scorer = metric(references=list(zip_longest(*references)), **options)

    def count(hypotheses: Sequence[str]) -> Array:
        # The statistics that sacrebleu.significance resamples. TER's mean of reference lengths need not be whole.
        counts = np.array(scorer._extract_corpus_statistics(hypotheses, None))
        return arranged(counts.astype(np.int64) if (counts == np.rint(counts)).all() else counts)

    return TextCounter(len(references), count, str(scorer.get_signature()))


_ORDERS = (1, 2, 3, 4)

# Factors of the product of precisions if k = 0 … 4 orders have no match: the first counts as 1/2 of a match, the next
# as 1/4, … (sacrebleu's and mteval-v13a's "exp" smoothing); without any match at all the score is 0.
_SMOOTHED = np.array([1, 1 / 2, 1 / 8, 1 / 64, 0])


class Bleu(Metric):
    """Corpus BLEU in percent: sacrebleu's, with its defaults (orders 1 to 4, "exp" smoothing; Post 2018).

    An item has the numbers of its 1- to 4-grams that some reference has (each at most as often as there), the numbers
    of all its 1- to 4-grams, its length in tokens, and the length of the reference that is nearest in length.
    """

    def __init__(self) -> None:
        counts = [f"{kind}_{n}" for kind in ("correct", "total") for n in _ORDERS]
        # Not shared: of several references, the nearest in length depends on the text.
        super().__init__(
            "bleu", (*counts, "hyp_length", "ref_length"), of_item=("ref_length",),
            ascending=(*((f"correct_{n}", f"total_{n}", "hyp_length") for n in _ORDERS), ("ref_length",)),
            label="BLEU", unit="points", of_texts=True, tokenizers=True,
        )  # fmt: skip

    def text_counter(
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        from sacrebleu.metrics.bleu import BLEU

        if tokenize is not None:
            check_choice("tokenize", tokenize, BLEU.TOKENIZERS)
        options = {"lowercase": lowercase, "tokenize": tokenize, "force": True}
        try:
            # From hyp_length, ref_length, correct, total.
            return sacrebleu_counter(BLEU, references, lambda counts: np.roll(counts, -2, axis=1), **options)
        except (ImportError, RuntimeError) as error:
            # It says which package a tokenizer needs.
            raise InputError(f"tokenizer '{tokenize}': {' '.join(str(error).split())}") from None

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums, dtype=np.float64)
        correct, total = ([sums[..., first + n] for n in range(4)] for first in (0, 4))
        hyp_length, ref_length = sums[..., 8], sums[..., 9]
        # At most 10^12 n-grams of each order keep these products in the range of double precision.
        matched = _product([np.maximum(c, 1) for c in correct]) * _SMOOTHED[sum((c <= 0).astype(int) for c in correct)]
        possible = _product(total)
        precisions = np.divide(matched, possible, out=np.zeros_like(possible), where=possible > 0)
        brevity = np.exp(np.minimum(1 - ref_length / np.maximum(hyp_length, 1), 0))
        return np.asarray(100 * np.sqrt(np.sqrt(precisions)) * brevity)


def _product(factors: Sequence[FloatArray]) -> Any:
    return (factors[0] * factors[1]) * (factors[2] * factors[3])


_CHARACTERS = 6
_BETA_SQUARED = 4


class Chrf(Metric):
    """Corpus chrF (beta 2) in percent: sacrebleu's, with its defaults (characters 1 to 6 without blanks).

    Precision and recall are means over the orders that both texts and references have. An item has, for each order,
    the numbers of n-grams that match, of those in the text, and of those in the reference; where it has several
    references, these are of the one with the best score for the item. With word_order 2 it is "chrf++": words and word
    pairs are two more orders.
    """

    def __init__(self, word_order: int = 0) -> None:
        orders = [f"char_{n + 1}" for n in range(_CHARACTERS)] + [f"word_{n + 1}" for n in range(word_order)]
        counts = [f"{kind}_{order}" for kind in ("match", "hyp", "ref") for order in orders]
        # Not shared: of several references, the best one depends on the text.
        plus = "+" * word_order
        super().__init__(
            f"chrf{plus}", tuple(counts), of_item=tuple(f"ref_{order}" for order in orders),
            ascending=tuple((f"match_{order}", f"{kind}_{order}") for order in orders for kind in ("hyp", "ref")),
            label=f"chrF{plus}", unit="points", of_texts=True, words="spaced" if word_order else "",
        )  # fmt: skip

    def text_counter(self, references: References, *, lowercase: bool = False, **_: Any) -> TextCounter:
        from sacrebleu.metrics.chrf import CHRF

        def arranged(counts: Array) -> Array:
            # From hyp, ref, match of each order.
            by_kind = counts.reshape(len(counts), -1, 3)[..., [2, 0, 1]]
            return by_kind.swapaxes(1, 2).reshape(len(counts), -1)

        options = {"char_order": _CHARACTERS, "word_order": self.name.count("+"), "lowercase": lowercase}
        return sacrebleu_counter(CHRF, references, arranged, **options)

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums, dtype=np.float64)
        n_orders = len(self.statistics) // 3
        precision, recall, n_common = (np.zeros(sums.shape[:-1]) for _ in range(3))
        for order in range(n_orders):
            match, hyp, ref = (sums[..., kind * n_orders + order] for kind in range(3))
            precision += match / np.maximum(hyp, 1)
            recall += match / np.maximum(ref, 1)
            n_common += np.minimum(hyp, ref) > 0
        # Sums over orders, not means yet: F of the means is F of the sums by their number.
        below = (_BETA_SQUARED * precision + recall) * n_common
        return 100 * (1 + _BETA_SQUARED) * precision * recall / np.where(below > 0, below, 1)


# Two or more blanks of any kind.
_BLANKS = re.compile(r"\s\s+")


class ErrorRate(Ratio):
    """Edits that turn texts into their references, over the references' length, in percent; lower is better.

    Statistics are the edits and the reference's length. The score of a corpus is the ratio of the sums, not the mean of
    the items' rates. It may exceed 100.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            name, ("errors", "ref_length"), higher_is_better=False, numerator=(1, 0), denominator=(0, 1),
            of_item=("ref_length",), shared=("ref_length",), ascending=(("errors",), ("ref_length",)),
            label=name.upper(), unit="percent", of_texts=True, words="" if name == "cer" else "spaced",
            zero_is_best=True,
        )  # fmt: skip


class EditRate(ErrorRate):
    """Insertions, deletions and substitutions over the length of the one reference (Levenshtein 1966).

    Counts are those of jiwer 4. If the reference is empty (silence), every word of the text is an insertion. Words
    ("wer") stand between spaces. Two or more blanks of any kind that follow each other are one space; a single tab,
    no-break space or other blank inside a word is a part of the word. Characters ("cer") are Unicode code points,
    blanks between words among them. Blanks at both ends do not count. Case and punctuation do; nothing is normalized.
    """

    def text_counter(self, references: References, *, lowercase: bool = False, **_: Any) -> TextCounter:
        split: Callable[[str], Sequence[str]] = _words if self.name == "wer" else str.strip
        numbers: dict[str, int] = {}

        def coded(text: str) -> IntArray:
            tokens = split(text.lower() if lowercase else text)
            return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.int64)

        gold = [coded(text) for text in single_references(self.name, references)]

        def count(hypotheses: Sequence[str]) -> IntArray:
            pairs = zip(map(coded, hypotheses), gold, strict=True)
            return np.array([(edit_distance(codes, wanted), len(wanted)) for codes, wanted in pairs], dtype=np.int64)

        return TextCounter(len(gold), count, f"case:{'lc' if lowercase else 'mixed'}")


def _words(text: str) -> list[str]:
    """The words of a text, as jiwer splits it."""
    return [word for word in _BLANKS.sub(" ", text).strip().split(" ") if word]


@compiled
def edit_distance(one: IntArray, other: IntArray) -> int:
    """The least number of insertions, deletions and substitutions that turn one sequence of numbers into the other."""
    row = np.arange(len(other) + 1)
    for i in range(len(one)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(other)):
            replaced = diagonal + (one[i] != other[j])
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
    return int(row[-1])


class Ter(ErrorRate):
    """Translation edit rate (Snover et al. 2006), as sacrebleu counts by default: shifts of phrases are one edit too.

    Of several references the one with the fewest edits counts, and the length is the mean of their lengths. Case does
    not count.
    """

    def text_counter(self, references: References, **_: Any) -> TextCounter:
        from sacrebleu.metrics.ter import TER

        return sacrebleu_counter(TER, references)


WER, CER, TER = EditRate("wer"), EditRate("cer"), Ter("ter")


#: Single words, word pairs, and the longest common subsequence: of the text, or of each of its sentences.
ROUGE_KINDS = ("rouge1", "rouge2", "rougeL", "rougeLsum")

# End of the name of a metric whose words are not stemmed.
_NO_STEMS = ":stem=no"


class Rouge(Mean):
    """The mean of items' ROUGE F1 of one of the `ROUGE_KINDS`, in percent; of several references the best one counts.

    Words are lower-cased and Porter-stemmed, as by ROUGE-1.5.5 with its usual option -m, unless the name ends in
    ":stem=no", which is the default of other tools. All else is rouge-score's default: words are runs of a-z and 0-9.
    Only "rougeLsum" tells sentences apart, which are lines of a text.
    """

    def __init__(self, kind: str, *, stemmed: bool = True) -> None:
        name = kind if stemmed else f"{kind}{_NO_STEMS}"
        label = f"ROUGE-{kind.removeprefix('rouge')}{'' if stemmed else ' without stemming'}"
        super().__init__(name, low=0, high=1, scale=100, label=label, unit="points", of_texts=True, words="a-z0-9")

    def text_counter(self, references: References, **_: Any) -> TextCounter:
        kind = self.name.removesuffix(_NO_STEMS)
        scorer = _scorer(kind, kind == self.name)
        check_references(references)

        def count(hypotheses: Sequence[str]) -> FloatArray:
            best = [scorer.score_multi(targets, text) for text, targets in zip(hypotheses, references, strict=True)]
            return np.array([(scores[kind].fmeasure, 1.0) for scores in best], dtype=np.float64)

        stemmer = "porter" if kind == self.name else "no"
        return TextCounter(len(references), count, f"stemmer:{stemmer}|rouge-score:{version('rouge-score')}")


@cache
def _scorer(kind: str, stemmed: bool) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer
    except ImportError:
        raise InputError(f"metric {kind} needs the package rouge-score: pip install 'simstudy[rouge]'") from None
    tokenizer = DefaultTokenizer(stemmed)
    if stemmed:
        # Stems take most of the time, so that each distinct word is stemmed once.
        tokenizer._stemmer.stem = lru_cache(maxsize=2**18)(tokenizer._stemmer.stem)
    return RougeScorer([kind], tokenizer=tokenizer)


class Perplexity(Metric):
    """Perplexity of a test set: e to the power of the negative log-likelihood over the length, lower is better.

    Statistics are the negative log-likelihood (in nats) of an item's text and its length in words or bytes. The score
    is of their sums, as in lm-evaluation-harness, and no mean of items. "bits_per_byte" is the exponent in bits.
    """

    def __init__(self, name: str, length: str) -> None:
        super().__init__(
            name, ("loss", length), higher_is_better=False, of_item=(length,), shared=(length,),
            ascending=(("loss",), (length,)), label=name.replace("_", " "), zero_is_best=True,
        )  # fmt: skip

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums, dtype=np.float64)
        length = sums[..., 1]
        rate = np.divide(sums[..., 0], length, out=np.zeros_like(length), where=length > 0)
        # A resample may have texts whose probabilities no float holds.
        with np.errstate(over="ignore"):
            return np.asarray(rate / np.log(2) if self.name == "bits_per_byte" else np.exp(rate))

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.asarray(np.asarray(sums)[..., 1] > 0)


PERPLEXITIES = (
    Perplexity("word_perplexity", "words"),
    Perplexity("byte_perplexity", "bytes"),
    Perplexity("bits_per_byte", "bytes"),
)
