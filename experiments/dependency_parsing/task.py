"""Dependency parsing of English: trained on the English Web Treebank, tested on it and on four other domains."""

from __future__ import annotations

from pathlib import Path

from simstudy.training import Examples, Task
from simstudy_learners.dependencies.parsers import GraphParser, LabelledParser, Reparser, TransitionParser
from simstudy_learners.dependencies.trees import count_las, count_uas, index_sentences, read_dependencies
from simstudy_learners.treebanks import item_table, read_ud_english


def dependencies(data_dir: Path | None = None) -> Task:
    """Dependency trees of UD English; an item is a sentence, the metrics are UAS and LAS as CoNLL 2018 had them.

    The base systems are of the kinds that Berg-Kirkpatrick et al. (2012, section 3.2.2) had: a transition-based parser
    (as the Maltparser), a graph-based one (as the MST parser), and an ensemble that re-parses the votes of both and of
    a transition-based one from right to left (Surdeanu and Manning 2010). All see gold universal part-of-speech tags.

    Trained on the 12,544 sentences of EWT train; the test sets, their order, domains and documents are those of
    `read_ud_english`.

    A ValueError names file, line and sentence where a sentence has no tree with one root.
    """
    treebanks = read_ud_english(data_dir, read_dependencies)
    corpora = [treebanks.train, *treebanks.tests.values()]
    train, *tests = (
        Examples(words, parses, item_table(sentences))
        for sentences, (words, parses) in zip(corpora, index_sentences(corpora), strict=True)
    )
    graph, transition = GraphParser(), TransitionParser()
    # As good as unweighted: the difference only decides where all three heads differ.
    ensemble = Reparser((graph, transition, TransitionParser(right_to_left=True)), votes=(3, 2, 2))
    return Task(
        name="dependencies",
        train=train,
        test_sets=dict(zip(treebanks.tests, tests, strict=True)),
        systems={
            "transition-based": LabelledParser(transition),
            "graph-based": LabelledParser(graph),
            "ensemble": LabelledParser(ensemble),
        },
        statistics={"uas": count_uas, "las": count_las},
        files=treebanks.files,
    )
