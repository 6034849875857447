"""Word alignment of English and French, learnt from words alone."""

from __future__ import annotations

from pathlib import Path

from simstudy.training import Task, mixed_order
from simstudy_learners.alignment.hansards import FAST_ALIGN, HMM, JOINT_HMM, Corpus, alignment_task, read_hansards


def alignment_unsupervised(data_dir: Path | None = None) -> Task:
    """Word alignment learnt from words alone, tested on all 447 hand-aligned sentence pairs of `alignment`.

    Trained on the 2,383 sentence pairs without links. Aligners are often trained on the text of the test set, too. Not
    here: whether a test sentence is in a resampled training set would then be a part of its own score. The test set is
    in a fixed mixed order.
    """
    text, aligned, links, files = read_hansards(data_dir)
    test = mixed_order([""] * len(aligned))
    return alignment_task(
        "alignment_unsupervised",
        train=Corpus(text, [None] * len(text)),
        test=Corpus([aligned[k] for k in test], [links[k] for k in test]),
        ids=[str(1 + k) for k in test],
        systems={"joint HMM": JOINT_HMM, "HMM": HMM, "fast_align": FAST_ALIGN},
        files=files,
    )
