"""What a study.toml names is read from the folder of data files, what a study writes goes into its own folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.files.datasets import DataError, find, find_all
from simstudy.pages.report import Page
from simstudy.pages.sections import Figure, Section
from simstudy.running.program_files import ProgramError
from simstudy.studies import load_study, make_study, run_study
from simstudy.studies.definition import StudyError
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.sources import read_all

SCORES = "system,item,score\n" + "".join(
    f"{name},q{i},{i % (k + 2)}\n" for k, name in enumerate("ab") for i in range(9)
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of data, and beside it files that are not meant for anybody."""
    folder = tmp_path / "data"
    (folder / "set" / "sub").mkdir(parents=True)
    (folder / "set" / "scores.csv").write_text(SCORES)
    (folder / "set" / "sub" / "more.csv").write_text(SCORES)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "scores.csv").write_text(SCORES)
    (tmp_path / "data-beside").mkdir()
    (tmp_path / "data-beside" / "scores.csv").write_text(SCORES)
    return folder


def study(**keys: Any) -> NaturalStudy:
    test_set = {"name": "s", "metric": "mean", "paths": ["set/scores.csv"], "by": [], **keys}
    content = {"name": "x", "kind": "natural", "title": "T", "question": "Q?", "test_sets": [test_set]}
    made = make_study(content, "here")
    assert isinstance(made, NaturalStudy)
    return made


def read(data: Path, allow_outside: bool = False, **keys: Any) -> dict[str, str]:
    asked = study(**keys)
    _, hashes = read_all(asked.name, asked.test_sets, data, lambda _: None, allow_outside=allow_outside)
    return hashes


_OUTSIDE = ["../secret/scores.csv", "set/../../secret/scores.csv", "{secret}/scores.csv", "../data-beside/scores.csv"]


@pytest.mark.parametrize("name", _OUTSIDE)
@pytest.mark.parametrize("key", ["paths", "references", "items", "systems"])
def test_names_that_lead_out_are_refused(name: str, key: str, data: Path) -> None:
    name = name.replace("{secret}", str(data.parent / "secret"))
    given: Any = {"paths": [name], "references": [name], "items": name, "systems": {"file": name}}[key]
    told = f"^'{name}': not inside {data}, or a link that leads out of it; allow_outside=True lets it be read$"
    with pytest.raises(DataError, match=told):
        read(data, **{key: given})


def test_what_is_filled_in_is_looked_at_too(data: Path) -> None:
    with pytest.raises(DataError, match="not inside"):
        read(data, paths=["{}/scores.csv"], name="s{}", each=["../secret"])


@pytest.mark.parametrize("name", ["../secret", "set/..", "/", "", "//", "a\0b", "set/../../secret"])
def test_folders_that_lead_out_are_refused(name: str, data: Path) -> None:
    for find_paths in (find, find_all):
        with pytest.raises(DataError, match="not inside"):
            find_paths(name, data)
        with pytest.raises(DataError, match="no public address|not inside"):
            find_paths(name)


def test_links_that_lead_out_are_refused_and_others_are_not(data: Path) -> None:
    (data / "set" / "out.csv").symlink_to(data.parent / "secret" / "scores.csv")
    (data / "set" / "in.csv").symlink_to("sub/more.csv")
    (data / "away").symlink_to(data.parent / "secret")
    for name in ("set/out.csv", "away/scores.csv"):
        with pytest.raises(DataError, match=r"not inside .*allow_outside"):
            read(data, paths=[name])
    for data_dir, home in ((data, None), (None, data)):
        with pytest.raises(DataError, match="'set/out.csv': not inside"):
            find_all("set", data_dir, home)
    assert find("set/in.csv", data).read_text() == SCORES
    # The folder of data may be a link itself: the user named it.
    link = data.parent / "link"
    link.symlink_to(data)
    assert find("set/scores.csv", link).read_text() == SCORES


def test_the_user_can_allow_it(data: Path) -> None:
    (data / "away").symlink_to(data.parent / "secret")
    for name in ("../secret/scores.csv", "../secret", str(data.parent / "secret" / "scores.csv"), "away/scores.csv"):
        assert len(read(data, allow_outside=True, paths=[name])) == 1


@given(
    st.lists(
        st.sampled_from(["..", ".", "set", "sub", "scores.csv", "more.csv", "", "~", "secret", "away"]), max_size=6
    )
)
@settings(max_examples=60, deadline=None)
def test_whatever_is_found_is_inside(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    root = tmp_path_factory.getbasetemp() / "inside"
    folder = root / "data"
    if not root.exists():
        (folder / "set" / "sub").mkdir(parents=True)
        (root / "secret").mkdir()
        for place in ("data/set/scores.csv", "data/set/sub/more.csv", "secret/scores.csv"):
            (root / place).write_text(SCORES)
        (folder / "away").symlink_to(root / "secret")
    for find_paths in (find, find_all):
        try:
            found = find_paths("/".join(parts), folder)
        except DataError:
            continue
        for path in [found] if isinstance(found, Path) else found:
            assert path.resolve().is_relative_to(folder.resolve())


def test_the_command_refuses_in_one_line_and_writes_nothing(data: Path, tmp_path: Path) -> None:
    toml = (
        'kind = "natural"\ntitle = "T"\nquestion = "Q?"\n[[test_sets]]\nname = "s"\nmetric = "mean"\nby = []\n'
        'paths = ["../secret/scores.csv"]\n'
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "study.toml").write_text(toml)
    before = sorted(tmp_path.rglob("*"))
    arguments = ["run", str(tmp_path / "mine"), "--out", str(tmp_path / "out"), "--data-dir", str(data)]
    result = CliRunner().invoke(app, arguments)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("simstudy: ")]
    assert result.exit_code == 2
    assert "'../secret/scores.csv': not inside" in line
    assert line.endswith("; --allow-outside lets it be read")
    assert sorted(tmp_path.rglob("*")) == before


_BROKEN = {
    "brackets": "title = " + "[" * 5_000,
    "a number of thousands of digits": "seed = " + "9" * 5_000,
    "a NUL byte": 'title = "a\0b"',
    "no UTF-8": b'title = "\xff"',
    "nothing": "kind = ",
    "a byte order mark": b"\xef\xbb\xbfkind = ",
}


@pytest.mark.parametrize("content", _BROKEN.values(), ids=_BROKEN)
def test_files_that_are_no_toml_are_told_in_one_line(content: str | bytes, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(StudyError, match="is not TOML: "):
        load_study(tmp_path)
    result = CliRunner().invoke(app, ["run", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith("simstudy: ")
    assert result.stderr.count("\n") == 1


def test_a_study_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "study.toml")
    for name in (tmp_path, tmp_path / "study.toml", "/dev/zero", "\0", ""):
        with pytest.raises(StudyError, match=r"no study and no file is called|there is no study at"):
            load_study(name)


_NAMES = ["../../x", "/x", "a/b", "..", ".x", "", "a.b", "a b", "x\n", "x\0", "ä", "x" * 101, 3, None]


def page(name: Any, kind: str) -> Page:
    """A page with a table or a figure of this name."""
    tables = {name: pd.DataFrame({"x": [1]})} if kind == "table" else {}
    sections = [Section("H", "T", figure=Figure(name, lambda: None))] if kind == "figure" else []
    return Page(title="T", question="Q?", command="c", facts={}, sections=sections, tables=tables, closing="End.")


@pytest.mark.parametrize("kind", ["table", "figure"])
@pytest.mark.parametrize("name", _NAMES)
def test_names_that_are_no_names_of_files_are_refused(name: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=rf"^{kind} must have a name of letters \(a-z\), digits, _ and -, at most 100"):
        page(name, kind)


@pytest.mark.parametrize("kind", ["table", "figure"])
def test_names_of_files_are_allowed(kind: str) -> None:
    for name in ("x", "_x", "9", "a-B_c", "x" * 100):
        page(name, kind)


def test_tables_and_figures_that_would_share_a_file_are_refused() -> None:
    with pytest.raises(ValueError, match="table must have a name of its own, not 'A' again"):
        Page(
            title="",
            question="",
            command="",
            facts={},
            sections=[],
            closing="",
            tables=dict.fromkeys("aA", pd.DataFrame()),
        )
    twice = page("x", "figure").sections * 2
    with pytest.raises(ValueError, match="figure must have a name of its own, not 'x' again"):
        Page(title="", question="", command="", facts={}, sections=twice, closing="", tables={})


def test_a_study_writes_no_table_outside_its_folder(tmp_path: Path) -> None:
    """Neither where a name is given, nor where it is put in later."""
    folder = tmp_path / "deep" / "mine"
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text('kind = "program"\ntitle = "T"\nquestion = "Q?"\n')
    for tables, later in (("{'../../x': table}", ""), ("{}", "found.tables['../../x'] = table")):
        (folder / "study.py").write_text(
            "import pandas as pd\nfrom simstudy.studies import Findings, Study\nclass Settings(Study): ...\n"
            "def run(study, context):\n    table = pd.DataFrame({'n': [1]})\n"
            f"    found = Findings(tables={tables})\n    {later}\n    return found\n"
        )
        with pytest.raises(ProgramError, match=r"study.py: InputError: table must have a name .*not '../../x'$"):
            run_study(folder, out=tmp_path / "deep" / "out", n_jobs=1)
    assert sorted(path.name for path in tmp_path.rglob("*") if "__pycache__" not in path.parts) == [
        "deep", "mine", "study.py", "study.toml"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["../x", "/x", "a/b", "..", "."])
def test_a_study_has_the_name_of_one_folder(name: str) -> None:
    with pytest.raises(StudyError, match=f"here: name: it must be the name of one folder, not '{name}'"):
        make_study({"name": name, "title": "T", "question": "Q?", "kind": "natural", "test_sets": []}, "here")
