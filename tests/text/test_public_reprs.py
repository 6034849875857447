"""Every public class shows itself in a few lines, and in a notebook as a table: none is left out, no array is printed.

The classes are found from the public names: those that are public themselves, those that public functions return, and
what these have as fields or return. A new one without an instance here fails.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from sklearn.naive_bayes import GaussianNB

import simstudy as ss
from simstudy import truth as scores
from simstudy.engines.arguments import make_question
from simstudy.engines.registry import TESTS
from simstudy.examination.several import Several
from simstudy.metrics import METRICS, find_metric
from simstudy.outputs.test_set import ItemTexts
from simstudy.papers.document import Cell
from simstudy.planning.arguments import Design
from simstudy.statistics.decisions import Decision
from simstudy.studies.run import Results
from simstudy.suites import TaskGroup
from tests.attacks.names import HOSTILE, acts

# Modules whose names users have. Several comparisons are what the command makes of several metrics.
FACES = ("simstudy", "simstudy.planning", "simstudy.suites", "simstudy.truth", "simstudy.truth",
         "simstudy.training", "simstudy.rankings")  # fmt: skip
SCRIPT, LONG = HOSTILE["html"], "org/model__" + "long-" * 30 + "end"


def ours(value: object) -> bool:
    return isinstance(value, type) and value.__module__.startswith("simstudy.") and not value.__name__.startswith("_")


@cache
def imported(module: str) -> dict[str, str]:
    """Names that a module has from others of ours, also those that only type checkers see."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    every = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    return {
        one.name: str(node.module) for node in every if str(node.module).startswith("simstudy.") for one in node.names
    }


def named(annotation: object, module: str) -> Iterator[type]:
    """Classes of ours that an annotation names."""
    for word in re.findall(r"\w+", str(annotation)):
        value = getattr(sys.modules[module], word, None)
        if value is None and word in imported(module):
            value = getattr(importlib.import_module(imported(module)[word]), word)
        if ours(value):
            yield value


def returned(function: object) -> Iterator[type]:
    function = inspect.unwrap(function) if callable(function) else function
    if inspect.isfunction(function):
        yield from named(function.__annotations__.get("return", ""), function.__module__)


def held(cls: type) -> Iterator[type]:
    """What a class has as fields, and what its properties and methods return."""
    for name, member in inspect.getmembers(cls):
        if not name.startswith("_"):
            yield from returned(getattr(member, "fget", None) or getattr(member, "func", member))
    for base in cls.__mro__:
        for name, annotation in vars(base).get("__annotations__", {}).items():
            if not name.startswith("_") and ours(base):
                yield from named(str(annotation).partition("Callable")[0], base.__module__)


@cache
def public_classes() -> list[type]:
    found: set[type] = set()
    todo: list[type] = [Several]
    for face in map(importlib.import_module, FACES):
        for name in dir(face):
            if not name.startswith("_"):
                value = getattr(face, name)
                todo += (
                    [value] if ours(value) else [type(one) for one in value.values()] if isinstance(value, dict) else []
                )
                todo += returned(value)
    while todo:
        cls = todo.pop()
        if ours(cls) and cls not in found:
            found.add(cls)
            todo += held(cls)
    # Notes are text.
    abstract = [cls for cls in found if inspect.isabstract(cls) or getattr(cls, "_is_protocol", False)]
    kinds = [cls for cls in found if cls not in abstract and not issubclass(cls, str)]
    return sorted(kinds, key=lambda cls: (cls.__module__, cls.__name__))


@cache
def instances() -> list[Any]:
    """One object of every kind at least, as large and as badly named as they come."""
    rng = np.random.default_rng(5)
    names = [SCRIPT, LONG, *(f"system-{k}" for k in range(28))]
    right = pd.DataFrame(rng.random((80, 30)) < np.linspace(0.4, 0.8, 30), columns=names).astype(int)
    items = pd.DataFrame({"id": range(80), "domain": ["a"] * 40 + [SCRIPT] * 40, "cluster": np.arange(80) // 4})
    outputs = ss.Outputs.from_scores(right, "accuracy", items=items, test_set=SCRIPT)
    two = outputs.select([names[0], names[-1]])
    pairs, question = ss.compare(outputs), make_question(two.best_first(), test="sign_flips")
    test_set = ss.TestSet(outputs, notes=("a note " * 60,))
    found, guess = ss.examine(test_set), ss.Guess(score=80, agreement=(0.8, 0.9))
    pilot = ss.Pilot(two, n_sets=200)
    guessed, piloted = ss.plan(metric="accuracy", gain=1, guess=guess), ss.plan(pilot, gain=20)
    tasks = ss.across_tasks(two, by="domain", unit="item", groups={LONG: ("a", SCRIPT)})
    return [
        *(outputs, pairs, pairs.pair(*names[:2]), test_set, found, Several((found, found)), tasks, tasks.main),
        *(question, question.convention, TESTS["sign_flips"].run(question), *TESTS.values()),
        *(need for test in TESTS.values() for need in test.needs),
        *(guess, pilot, piloted, piloted.simulated, *piloted.cases, piloted.target, ss.Level(), ss.Judge(error=0.1)),
        *(guessed, guessed.cases[0].middle, ss.Clusters(5, 0.1), Design(5, 0.1), ss.Costs(item=2), Decision(0.05)),
        *(piloted.cases[0].middle, piloted.cases[0].middle.detection(20.0, 50, ss.Level())),
        *(ss.planning.variance_components(_samples()), TaskGroup(("a", LONG), by_size=True)),
        *(*_loaded(outputs), *_trained()),
        *(*METRICS.values(), find_metric("macro_f1"), find_metric("auc"), find_metric("precision@7")),
        *(ss.metric(LONG, lambda right: right), ss.metric("median of all", lambda right: right[0], resample=True)),
        *(*_models(), Results(Path(LONG), {SCRIPT: right}, right, {})),
        *(found.deciding_items(*names[:2]), found.by_size, *_texts()),
        *(found.paper(), found.paper().tables[0], Cell(LONG, bold=True)),
    ]  # fmt: skip


def _texts() -> list[Any]:
    answers = {str(k): SCRIPT for k in range(80)}
    return [ItemTexts(inputs=answers, answers={LONG: answers, SCRIPT: answers})]


def _samples() -> ss.Outputs:
    right = np.random.default_rng(0).integers(0, 2, size=(120, 2))
    items = pd.DataFrame({"id": range(120), "sample_of": np.arange(40).repeat(3)})
    return ss.Outputs.from_scores(pd.DataFrame(right, columns=["a", "b"]), "accuracy", items=items)


def _loaded(outputs: ss.Outputs) -> list[Any]:
    """What is read from files, and candidates."""
    from simstudy.readers.candidates import LoadedCandidates
    from simstudy.readers.long_table import Loaded

    n = 200
    ranked = pd.DataFrame({SCRIPT: np.arange(n), LONG: np.arange(n)[::-1]})
    candidates = ss.rankings.Candidates.from_scores(ranked, np.arange(n) < 50)
    counter = METRICS["bleu"].text_counter([["a b c"]] * 30)
    return [Loaded(outputs, notes=(SCRIPT, "x " * 900)), candidates, LoadedCandidates(candidates, ranked), counter,
            ss.Texts(lowercase=True), ss.Ties("keep")]  # fmt: skip


def _trained() -> list[Any]:
    features, labels = np.arange(240.0).reshape(120, 2) % 7, np.array(["a", SCRIPT] * 60)
    rows = ss.training.Rows({LONG: features}, np.arange(120))
    task = ss.training.Task.from_arrays(
        SCRIPT, features, labels, test_sets={LONG: (features, labels)}, systems={SCRIPT: GaussianNB()}
    )
    return [task, task.train, rows, ss.training.Classifier(GaussianNB())]


def _models() -> list[Any]:
    rng = np.random.default_rng(3)
    values = np.arange(30.0)
    ordinal = scores.Ordinal(values, np.full(30, 1 / 30))
    empirical = scores.Ordinal.of(rng.integers(0, 30, 200))
    margins = [scores.Bernoulli(0.5), scores.Beta(0.5, 2), scores.BetaBinomial(10, 0.5, 2), scores.LogNormal(1, 1),
               scores.Gamma(1, 1), scores.StudentT(0, 1, 5), ordinal, empirical]  # fmt: skip
    copulas = [scores.Clayton(2.0), scores.Gumbel(2.0), scores.Independent(),
               scores.GaussianCopula(np.eye(40)), scores.TCopula(np.eye(40)), scores.Survival(scores.Clayton(2.0)),
               scores.Gumbel(2.0, (0.3, 0.8))]  # fmt: skip
    clusters = scores.ItemClusters(0.2, tuple(range(1, 60)))
    model = scores.ScoreModel(
        [scores.Bernoulli(p) for p in np.linspace(0.5, 0.9, 30)], scores.Independent(), clusters=clusters
    )
    texts = ss.Outputs.from_statistics(
        np.stack([rng.integers(0, 5, (3, 40)), np.full((3, 40), 5), np.full((3, 40), 9)], axis=-1),
        "precision",
        ["a", "b", SCRIPT],
    )
    corpus = scores.fit(texts)
    known = [scores.Responses((0.6, 0.7), (0.8, 0.8))]
    return [*margins, *copulas, clusters, model, corpus, corpus.model, corpus.model.pool, *known,
            known[0].draw(2, 20, rng)]  # fmt: skip


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        assert not {name for name, _ in attrs if name.startswith("on") or name in ("bgcolor", "color")}
        styles = [value or "" for name, value in attrs if name == "style"]
        assert all(re.fullmatch(r"text-align: \w+;", style) for style in styles), (
            "a dark notebook has colours of its own"
        )

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize(
    "cls", public_classes(), ids=lambda cls: f"{cls.__module__.removeprefix('simstudy.')}.{cls.__name__}"
)
def test_it_shows_itself(cls: type) -> None:
    known = [one for one in instances() if type(one) is cls]
    assert known, f"{cls.__name__} is public: an instance of it belongs to those of this test"
    for one in known:
        text = repr(one)
        lines = text.split("\n")
        assert len(lines) <= 12, text
        assert max(map(cell_len, lines)) <= 100 or max(map(len, text.split())) > 90, text
        assert not acts(text)
        assert "array(" not in text
        assert " object at 0x" not in text
        page = Tags(one._repr_html_())
        assert page.tags <= {"p", "table", "thead", "tbody", "tr", "th", "td"}
        assert len(page.text) < 20_000
        rows = re.search(r"([\d,]+) of ([\d,]+) rows? (?:is|are) not shown", page.text)
        assert one._repr_html_().count("<tr>") <= 23 or rows is None


def test_rows_that_a_notebook_does_not_show_are_counted() -> None:
    outputs, pairs, pair, *_ = instances()
    assert "10 of 30 rows are not shown." in outputs._repr_html_()
    assert "415 of 435 rows are not shown." in pairs._repr_html_()
    assert "not shown" not in pair._repr_html_()
    assert SCRIPT.split()[0] not in outputs._repr_html_()
    assert LONG in Tags(outputs._repr_html_()).text.replace("\n", "")
