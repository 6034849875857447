"""Pages of simulation studies: the figure of rates, the template, and what a study.py adds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import load_study, make_study
from simstudy.studies.run import study_cells
from simstudy.studies.simulation.definition import Replicates, Simulation
from simstudy.studies.simulation.page import at_first_alpha, rates_figure, sections
from simstudy.studies.templates import new_study
from tests.studies.simulation.folders import GOOD, folder_of, tables_of


def test_lines_are_called_after_what_differs_and_panels_may_be_another_column() -> None:
    factors = {"n_units": [20, 50], "pair": {"x": {"title": "alike"}, "y": {"title": "unlike"}}}
    base = {"name": "small", "kind": "simulation", "title": "T", "question": "Q", "tests": ["sign_flips"]}
    study: Any = make_study(base | {"factors": factors, "replicates": {"most": 500}}, "here", Simulation)
    rows = pd.DataFrame(
        [(n, pair, method) for n in (20, 50) for pair in factors["pair"] for method in ("none", "Holm")],
        columns=["n_units", "pair", "method"],
    ).assign(quantity="any claim", share=np.linspace(0.1, 0.8, 8), low=0.0, high=1.0)
    left, right = rates_figure(rows, study, "n_units", "method").axes
    assert [ax.get_title(loc="left") for ax in (left, right)] == ["none", "Holm"]
    assert left.get_ylabel() == "share: any claim"
    shares = {str(bars.get_label()): bars[0].get_ydata().tolist() for bars in right.containers}
    assert shares == {"alike": pytest.approx([0.2, 0.6]), "unlike": pytest.approx([0.4, 0.8])}
    (ax,) = rates_figure(rows.query("pair == 'x' and method == 'Holm'"), study, "n_units").axes
    assert [bars.get_label() for bars in ax.containers] == ["Holm"]
    assert 0.05 in {y for line in ax.get_lines() for y in line.get_ydata()}, "the level"


def test_the_figure_of_the_page_has_the_rates_at_the_first_level(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 'alphas = [0.5, 0.05]\nx = "n_units"\n' + GOOD)
    tables = tables_of(folder)
    study: Any = load_study(folder)
    (figure,) = [part.figure for part in sections(tables, study) if part.figure]
    (ax,) = figure.draw().axes
    (bars,) = ax.containers
    rates = tables["rates"].query("quantity == 'p_value'").pivot(index="n_units", columns="alpha", values="share")
    assert (rates[0.5] > rates[0.05]).all()
    assert bars[0].get_ydata().tolist() == rates[0.5].tolist()


def test_rates_without_a_level_are_shown_beside_those_at_the_first_level(tmp_path: Path) -> None:
    """A function returns a p-value and a statement: the page has the p-value once, and the statement."""
    program = "def mine(replicate): return {'p_value': replicate.rng.random(), 'is_high': True}\n"
    keys = GOOD.replace("t_paired", "mine").replace("[5, 9]", "[5]")
    folder = folder_of(tmp_path, "alphas = [0.1, 0.2]\n" + keys, program)
    rates, study = tables_of(folder)["rates"], cast(Simulation, load_study(folder))
    assert rates["quantity"].tolist() == ["p_value", "p_value", "is_high"]
    assert at_first_alpha(rates, study).index.tolist() == [0, 2]


def test_a_line_without_the_first_level_begins_at_the_second_place() -> None:
    """Three levels are at 0, 1 and 2; the lines a and b are beside each other, half of 0.12 apart."""
    base = {"name": "small", "kind": "simulation", "title": "T", "question": "Q", "tests": ["sign_flips"]}
    factors = {"n_units": [20, 50, 90]}
    study: Any = make_study(base | {"factors": factors, "replicates": {"most": 500}}, "here", Simulation)
    rows = pd.DataFrame([(20, "a"), (50, "a"), (90, "a"), (50, "b"), (90, "b")], columns=["n_units", "method"]).assign(
        quantity="any claim", share=0.5, low=0.0, high=1.0
    )
    (ax,) = rates_figure(rows, study, "n_units").axes
    places = {str(bars.get_label()): bars[0].get_xdata().tolist() for bars in ax.containers}
    assert places == {"a": pytest.approx([-0.03, 0.97, 1.97]), "b": pytest.approx([1.03, 2.03])}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["20", "50", "90"]


HOOKS = """
from simstudy.studies import Cell, Findings

def summarise(study, tables, context):
    assert set(tables) == {"conditions", "rates", "coverage", "means", "failures"}
    cells = [Cell(str(n), (n, context.data_dir)) for n in study.page["aims"]]
    aims = pd.DataFrame({"aim": study.page["aims"], "square": context.run("squares", square, cells)})
    return Findings(tables={"rates": tables["rates"], "aims": aims}, facts={"Aims": "two"}, answers=["Nine."])

def square(n, data_dir):
    with open(data_dir / "log", "a") as file:
        file.write("square\\n")
    return n**2
"""


def with_hooks(tmp_path: Path, aims: str = "[2, 3]") -> Path:
    keys = GOOD.replace("t_paired", "mine") + f"page = {{ aims = {aims}, title = 'Aims' }}\n"
    program = "from .page import show\nfrom .tables import summarise\n"
    program += "def mine(replicate): return {'p_value': replicate.rng.random()}\n"
    folder = folder_of(tmp_path, keys, program)
    (folder / "tables.py").write_text("import pandas as pd\n" + HOOKS)
    (folder / "page.py").write_text(
        "from simstudy.pages.sections import Section, Table\nfrom simstudy.studies import Shown\n"
        "def show(study, tables):\n    table = Table(tables['aims'], {'square': '{square}'})\n"
        "    return Shown(sections=[Section(study.page['title'], 'All aims.', table=table)])\n"
    )
    return folder


def test_summarise_of_study_py_adds_tables_facts_and_answers_and_has_cells(tmp_path: Path) -> None:
    folder = with_hooks(tmp_path)
    results = ss.run_study(folder, out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    assert results.tables["aims"]["square"].tolist() == [4, 9]
    assert set(results.tables) == {"rates", "aims"}
    assert results.answers == ("Nine.",)
    page = (results.folder / "README.md").read_text("utf-8")
    assert "- **Aims**: two" in page
    assert "- **Seed**: 0" in page
    assert (tmp_path / "log").read_text().count("square") == 2
    (folder / "tables.py").write_text((folder / "tables.py").read_text().replace("return n**2", "return n**3"))
    results = ss.run_study(folder, out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    assert results.tables["aims"]["square"].tolist() == [8, 27]


def test_tables_that_summarise_adds_are_beside_those_of_the_kind_and_the_page_is_the_kinds(tmp_path: Path) -> None:
    program = "import pandas as pd\n\ndef summarise(study, tables, context):\n"
    program += "    return tables | {'more': pd.DataFrame({'x': [len(tables['rates']), len(tables['failures'])]})}\n"
    tables = tables_of(folder_of(tmp_path, GOOD, program))
    assert set(tables) == {"conditions", "rates", "coverage", "means", "more"}
    assert tables["more"]["x"].tolist() == [4, 0]
    assert "## Coverage" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_show_of_study_py_replaces_the_page(tmp_path: Path) -> None:
    ss.run_study(with_hooks(tmp_path), out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert [line for line in page.splitlines() if line.startswith("## ")] == ["## Aims", "## Tables"]


def test_values_of_page_and_files_that_work_on_tables_compute_no_replicates_again(tmp_path: Path) -> None:
    folder = with_hooks(tmp_path)
    ss.run_study(folder, out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
    with_hooks(tmp_path, "[2, 5]")
    for name in ("page.py", "drawing.py", "tables.py"):
        with (folder / name).open("a") as file:
            file.write("# edited\n")
    cells = study_cells(folder, out=tmp_path / "out", data_dir=tmp_path).groupby("part")["state"].agg(list)
    assert cells["replicates"] == ["done"] * 4
    # An edit of tables.py may change these.
    assert cells["squares"] == ["missing"] * 2
    with (folder / "study.py").open("a") as file:
        file.write("# edited\n")
    assert set(study_cells(folder, out=tmp_path / "out", data_dir=tmp_path)["state"]) == {"missing"}


def test_without_rates_of_tests_that_apply_there_is_no_figure(tmp_path: Path) -> None:
    """McNemar's test is of right and wrong answers; cautions are no line of the figure."""
    tables = tables_of(folder_of(tmp_path, 'x = "n_units"\n' + GOOD.replace("t_paired", "mcnemar")))
    assert set(tables["rates"]["quantity"]) == {"caution"}
    assert "figures" not in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_the_template_explains_every_key_and_runs_as_it_is(tmp_path: Path) -> None:
    text = new_study(tmp_path / "mine", "simulation")[0].read_text("utf-8")
    every = tomllib.loads(re.sub(r"^#(?=[a-z_]+ = |\[)", "", text, flags=re.MULTILINE))
    assert {*every, "name"} == {*Simulation.model_fields}
    assert {*every["replicates"]} == {*Replicates.model_fields}
    results = ss.run_study(tmp_path / "mine", out=tmp_path / "out", n_jobs=1)
    rates = results.tables["rates"].query("alpha == 0.05").set_index(["method", "pair"])["share"]
    assert set(rates.index.get_level_values(0)) == {"t_paired", "wilcoxon", "trimmed_t"}
    # Differences of the same distribution are symmetric.
    assert rates["trimmed_t", "alike"].between(0.02, 0.09).all()
    assert (rates["trimmed_t", "skewed"] > 0.075).all()
    page = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert 'src="data:image/svg+xml;base64,' in page
