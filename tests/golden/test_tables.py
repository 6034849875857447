"""Today's code makes the approved tables; the comparison names each kind of difference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simstudy.running.program_files import shipped_studies
from tests.golden import tables
from tests.golden.tables import DATA, HERE, Part, compare_folders, equal_cells, listed, load_parts, merge_settings

PARTS = load_parts()


@pytest.mark.slow
@pytest.mark.parametrize("study", PARTS)
def test_tables_are_the_approved_ones(study: str, tmp_path: Path) -> None:
    part = PARTS[study]
    if not DATA.is_dir():
        pytest.skip(f"needs {DATA}")
    if missing := part.missing_packages():
        pytest.skip(f"needs {', '.join(missing)}")
    differences = tables.compare(part, part.make_tables(tmp_path, 2, DATA))
    shown = "\n".join(listed(differences))
    assert not differences, f"{len(differences)} differences; python -m tests.golden.tables {study}\n{shown}"


def test_every_study_has_approved_tables_and_a_reason() -> None:
    reasons = re.findall(r"^\| ([a-z_0-9]+) \|", (HERE / "WHY.md").read_text("utf-8"), flags=re.MULTILINE)
    folders = [path.name for path in HERE.iterdir() if list(path.glob("*.csv"))]
    assert set(PARTS) == set(folders) == set(reasons) - {"study"} == set(shipped_studies())
    assert [name for name, part in PARTS.items() if not part.part] == []


def test_parts_are_valid_studies(tmp_path: Path) -> None:
    for name, part in PARTS.items():
        assert part.reduced_study(tmp_path / name).name == name


def test_tables_are_small() -> None:
    assert sum(path.stat().st_size for path in HERE.rglob("*.csv")) < 3_000_000


APPROVED = {
    "rates": "test,metric,n_items,share,note\nsign,uas,100,0.05,\nt,uas,100,1e-09,few\n",
    "systems": "system,score\na,71.5\n",
}


def _write(folder: Path, contents: dict[str, str]) -> Path:
    folder.mkdir()
    for name, content in contents.items():
        (folder / f"{name}.csv").write_text(content, encoding="utf-8")
    return folder


def _changed(old: str, new: str) -> dict[str, str]:
    assert old in APPROVED["rates"]
    return {**APPROVED, "rates": APPROVED["rates"].replace(old, new)}


@pytest.mark.parametrize(
    ("contents", "lines"),
    [
        (APPROVED, []),
        (_changed("0.05,", "0.0500000001,"), []),
        (_changed("0.05,", "0.051,"), ["rates: row 1 (sign, uas), column share: approved 0.05, today 0.051"]),
        (_changed("1e-09", "0"), ["rates: row 2 (t, uas), column share: approved 1e-09, today 0"]),
        (_changed("uas,100,1", "uas,101,1"), ["rates: row 2 (t, uas), column n_items: approved 100, today 101"]),
        (_changed("few", "many"), ["rates: row 2 (t, uas), column note: approved few, today many"]),
        (_changed("few", ""), ["rates: row 2 (t, uas), column note: approved few, today missing"]),
        (_changed("0.05,", ","), ["rates: row 1 (sign, uas), column share: approved 0.05, today missing"]),
        (_changed("0.05,", "nan,"), ["rates: row 1 (sign, uas), column share: approved 0.05, today nan"]),
        (_changed("few\n", "few\nz,uas,1,0,\n"), ["rates: number of rows: approved 2, today 3"]),
        (_changed("t,uas,100,1e-09,few\n", ""), ["rates: number of rows: approved 2, today 1"]),
        (_changed("note", "notes"), ["rates: columns that only one has: approved note, today notes"]),
        ({"rates": APPROVED["rates"]}, ["systems: table: approved present, today missing"]),
        ({**APPROVED, "more": "a\n1\n"}, ["more: table: approved missing, today present"]),
    ],
)  # fmt: skip
def test_each_difference_is_named(contents: dict[str, str], lines: list[str], tmp_path: Path) -> None:
    folders = _write(tmp_path / "approved", APPROVED), _write(tmp_path / "today", contents)
    assert [str(difference) for difference in compare_folders(*folders)] == lines


def test_other_order_of_columns_is_named_and_cells_are_compared_by_column(tmp_path: Path) -> None:
    today = {**APPROVED, "systems": "score,system\n71.6,a\n"}
    folders = _write(tmp_path / "approved", APPROVED), _write(tmp_path / "today", today)
    assert [str(difference) for difference in compare_folders(*folders)] == [
        "systems: order of columns: approved system, score, today score, system",
        "systems: row 1 (a), column score: approved 71.5, today 71.6",
    ]


def test_columns_and_tables_can_be_left_out(tmp_path: Path) -> None:
    folders = _write(tmp_path / "approved", APPROVED), _write(tmp_path / "today", _changed("0.05,", "0.051,"))
    assert not list(compare_folders(*folders, left_out={"rates": ["share"]}))
    assert not list(compare_folders(*folders, left_out={"rates": []}))
    assert not list(compare_folders(*folders, tolerance={"rates": 0.1}))


def test_whole_numbers_are_compared_exactly() -> None:
    assert not equal_cells("1000000", "1000001", 0.1)
    assert equal_cells("1000000.5", "1000001", 0.1)


def test_a_long_list_of_differences_is_cut(tmp_path: Path) -> None:
    contents = [{"rates": "share\n" + "".join(f"{k + step}\n" for k in range(50))} for step in (0.5, 0.25)]
    folders = _write(tmp_path / "approved", contents[0]), _write(tmp_path / "today", contents[1])
    lines = listed(list(compare_folders(*folders)))
    assert (len(lines), lines[-1]) == (21, "  rates: 30 more, 50 in total")


def test_settings_are_merged_by_key_and_by_position() -> None:
    content = {"a": {"b": 1, "c": [{"d": 1}, {"d": 2}]}, "e": None}
    changes = {"a": {"c": {"1": {"d": 3}}}, "e": {"f": 4}}
    assert merge_settings(content, changes) == {"a": {"b": 1, "c": [{"d": 1}, {"d": 3}]}, "e": {"f": 4}}
    assert content["a"] == {"b": 1, "c": [{"d": 1}, {"d": 2}]}


@pytest.fixture
def part_of_two_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Part:
    monkeypatch.setattr(tables, "HERE", tmp_path)
    monkeypatch.setattr(tables, "WHY", tmp_path / "WHY.md")
    (tmp_path / "WHY.md").write_text("", encoding="utf-8")
    return Part("study", "two tables", left_out={"systems": ["score"]})


def test_approved_tables_and_their_reason_are_stored(part_of_two_tables: Part, tmp_path: Path) -> None:
    part = part_of_two_tables
    assert tables.approve(part, _write(tmp_path / "first", APPROVED), "first") == "first tables"
    assert tables.approve(part, _write(tmp_path / "same", APPROVED), "same") == "as approved"
    assert tables.approve(part, _write(tmp_path / "other", _changed("0.05,", "0.04,")), "other") == "1 cells, 1 tables"
    assert (part.approved / "systems.csv").read_text("utf-8") == "system\na\n"
    assert "0.04" in (part.approved / "rates.csv").read_text("utf-8")
    rows = [re.split(r" \| ", row.strip("| ")) for row in (tmp_path / "WHY.md").read_text("utf-8").splitlines()]
    assert [(row[0], *row[2:]) for row in rows] == [
        ("study", "first tables", "", "first"),
        ("study", "1 cells, 1 tables", "0.2", "other"),
    ]


@pytest.mark.parametrize(
    "arguments", ["--approve quickstart", "--why because", "quickstar", "--approve quickstart --why a|b"]
)
def test_wrong_arguments_are_refused(arguments: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["tables", *arguments.split()])
    with pytest.raises(SystemExit) as error:
        tables.main()
    assert error.value.code == 2
