"""Word alignment of English and French: the Hansards, with the gold links of the shared task of NAACL 2003."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from simstudy.files.datasets import fetch_each, find
from simstudy.learners.alignment.aligners import LinkClassifier, TextAligner
from simstudy.learners.alignment.bitexts import (
    SentencePair,
    check_sentence_pairs,
    count_aer,
    gold_cells,
    index_bitexts,
)
from simstudy.learners.alignment.models import DiagonalModel, HiddenMarkov, Model1, Stage
from simstudy.learners.examples import BaseSystem, Examples
from simstudy.loaders.alignments import Links, read_links
from simstudy.loaders.lines import read_lines
from simstudy.training.base import Task
from simstudy.training.orders import mixed_order

#: Files of the registry of public data: English and French of three days.
TEXT = [
    tuple(f"hansards_train/hansard.36.1.house.debates.{day}.{language}" for language in "ef")
    for day in ("001", "002", "003")
]

#: Source text, target text and gold links; they have no public address.
GOLD = ("align_enfr/src.en", "align_enfr/tgt.fr", "align_enfr/gold.wa")

# The last 100 hand-aligned sentence pairs are the test set of Haghighi et al. (2009).
_N_TEST = 100

_TO_HMM = (Stage(Model1()), Stage(HiddenMarkov()))
_JOINT_HMM = TextAligner(_TO_HMM, agree=True, combination="posteriors")
_HMM = TextAligner(_TO_HMM, combination="grow-diag-final-and")
_FAST_ALIGN = TextAligner((Stage(DiagonalModel()),), combination="intersection")


def alignment(data_dir: Path | None = None) -> Task:
    """Word alignment, supervised and not, as Berg-Kirkpatrick et al. (2012, section 3.2.4) have it; the metric is AER.

    Trained on 2,383 sentence pairs of the 36th Canadian Parliament without links and the first 347 hand-aligned ones of
    the shared task of NAACL 2003 (Mihalcea and Pedersen 2003), tested on the last 100 in a fixed mixed order.
    Unsupervised aligners read the words of all training pairs, the supervised one the gold links of those that have
    any, too. An item is a sentence pair, its id the number of its line.

    The hand-aligned pairs have no public address: a folder of data files must hold them.

    Raises
    ------
    ValueError
        Where texts have unequal numbers of lines, or a sentence or a link is not as it must be.
    simstudy.files.datasets.DataError
        Where a file cannot be had.
    """
    text, aligned, links, files = _read(data_dir)
    n_gold = len(aligned) - _N_TEST
    test = mixed_order([""] * _N_TEST) + n_gold
    return _task(
        "alignment",
        train=_Corpus([*text, *aligned[:n_gold]], [*[None] * len(text), *links[:n_gold]]),
        test=_Corpus([aligned[k] for k in test], [links[k] for k in test]),
        ids=[str(1 + k) for k in test],
        systems={
            "link classifier": LinkClassifier(_JOINT_HMM),
            "joint HMM": _JOINT_HMM,
            "HMM": _HMM,
            "fast_align": _FAST_ALIGN,
        },
        files=files,
    )


def alignment_unsupervised(data_dir: Path | None = None) -> Task:
    """Word alignment learnt from words alone, tested on all 447 hand-aligned sentence pairs of `alignment`.

    Trained on the 2,383 sentence pairs without links. Aligners are often trained on the text of the test set, too. Not
    here: whether a test sentence is in a resampled training set would then be a part of its own score. The test set is
    in a fixed mixed order.

    Raises
    ------
    ValueError, simstudy.files.datasets.DataError
        As `alignment`.
    """
    text, aligned, links, files = _read(data_dir)
    test = mixed_order([""] * len(aligned))
    return _task(
        "alignment_unsupervised",
        train=_Corpus(text, [None] * len(text)),
        test=_Corpus([aligned[k] for k in test], [links[k] for k in test]),
        ids=[str(1 + k) for k in test],
        systems={"joint HMM": _JOINT_HMM, "HMM": _HMM, "fast_align": _FAST_ALIGN},
        files=files,
    )


class _Corpus(NamedTuple):
    """Sentence pairs, and the gold links of each; None where nobody has aligned it."""

    pairs: Sequence[SentencePair]
    links: Sequence[Links | None]


def _task(
    name: str,
    *,
    train: _Corpus,
    test: _Corpus,
    ids: Sequence[str],
    systems: Mapping[str, BaseSystem],
    files: Mapping[str, str],
) -> Task:
    learnt, tested = index_bitexts([train.pairs, test.pairs])
    return Task(
        name=name,
        train=Examples(learnt, gold_cells(learnt, train.links)),
        test_sets={"test": Examples(tested, gold_cells(tested, test.links), pd.DataFrame({"id": ids}))},
        systems=systems,
        statistics={"aer": count_aer},
        files=files,
    )


def _read(
    data_dir: Path | None,
) -> tuple[list[SentencePair], list[SentencePair], list[Links], dict[str, str]]:
    """The pairs without links, those with, their links, and the SHA-256 of all files."""
    # What has no address is asked for before anything is fetched.
    gold = {name: find(name, data_dir) for name in GOLD}
    at = {**fetch_each(chain(*TEXT), data_dir), **gold}
    text = [
        pair
        for english, french in TEXT
        for pair in check_sentence_pairs(read_lines(at[english]), read_lines(at[french]), (english, french))
    ]
    english, french, links = GOLD
    aligned = check_sentence_pairs(read_lines(at[english]), read_lines(at[french]), (english, french))
    lengths = tuple((len(source), len(target)) for source, target in aligned)
    found = read_links(at[links], lengths).sentences
    if len(aligned) <= _N_TEST or sorted(found) != list(range(1, 1 + len(aligned))):
        raise ValueError(
            f"{at[links]} must have a line for each sentence pair of {english}, more than {_N_TEST}: "
            f"{len(found)} and {len(aligned)}"
        )
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in at.items()}
    return text, aligned, [found[number] for number in sorted(found)], hashes
