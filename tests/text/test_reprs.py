"""What objects look like at a prompt and in a notebook."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

import simstudy as ss
from simstudy.statistics.decisions import Decision


@pytest.fixture
def outputs() -> ss.Outputs:
    scores = pd.DataFrame({"<b>old</b>": [1, 0, 0, 0], "new": [1, 1, 1, 0]})
    return ss.Outputs.from_scores(scores, "accuracy", test_set="news", task="tagging")


def test_outputs_are_two_lines(outputs: ss.Outputs) -> None:
    assert repr(outputs) == (
        "Outputs: 2 systems on 4 items of test set 'news', task 'tagging', metric accuracy\n"
        "best first: new 75, <b>old</b> 25"
    )
    many = ss.truth.correlated_accuracies([0.5 + k / 100 for k in range(9)], 100)
    assert repr(many).count("\n") == 1
    assert repr(many).endswith(" and 4 more")


def test_a_notebook_shows_systems_best_first_and_names_as_text(outputs: ss.Outputs) -> None:
    page = outputs._repr_html_()
    assert page.index("new") < page.index("&lt;b&gt;old&lt;/b&gt;")
    assert "<b>old" not in page
    assert "75.0" in page


def test_a_notebook_shows_both_ends_of_many_systems() -> None:
    page = ss.truth.correlated_accuracies([0.5 + k / 100 for k in range(30)], 2000)._repr_html_()
    rows = [row for row in page.split("<tr>") if "<td>" in row]
    assert "system-30" in page
    assert "system-1<" in page
    assert len(rows) < 30
    assert "..." in page


def test_texts_are_the_same_in_a_notebook(monkeypatch: pytest.MonkeyPatch, outputs: ss.Outputs) -> None:
    """There rich shows what is printed, and writes nothing into files."""
    plan = ss.plan(metric="accuracy", n_items=100, guess=ss.Guess(score=80, agreement=0.9), sizes=[])
    three = ss.examine(ss.truth.correlated_accuracies([0.5, 0.6, 0.7], 100))
    texts = [plan.text, three.text, ss.examine(outputs).text]
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert [plan.text, three.text, ss.examine(outputs).text] == texts
    assert all(len(text.splitlines()) >= 3 for text in texts)


def test_fields_are_those_that_are_not_as_by_default_or_all_if_none_is() -> None:
    assert repr(Decision(0.1)) == "Decision(alpha=0.1)"
    assert repr(Decision()) == "Decision(alpha=0.05, certainty=None, p='p_value')"


def test_tasks_and_results_are_two_lines(tmp_path: Path) -> None:
    features, labels = np.arange(24.0).reshape(12, 2) % 7, np.arange(12) % 2
    task = ss.training.Task.from_arrays(
        "tiny", features, labels, test_sets={"test": (features, labels)}, systems={"bayes": GaussianNB()}
    )
    assert repr(task) == (
        "Task tiny: 12 training items, metric accuracy\nbase systems bayes; test sets (items) test (12)"
    )
    from simstudy.studies.run import Results

    results = Results(tmp_path, {"curves": pd.DataFrame({"a": [1, 2]})}, pd.DataFrame(), {})
    assert repr(results) == f"Results in {tmp_path}: 0 comparisons\ntables (rows) curves (2)"
    assert "<td>curves</td>" in results._repr_html_()
