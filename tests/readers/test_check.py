"""What `simstudy check` says that files support."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from simstudy.cli.command import app
from simstudy.notes import Argument
from simstudy.readers.load import support
from tests.cli.command import as_json
from tests.readers.line_files import loaded


def parts(folder: Path, files: dict[str, str], metric: str = "accuracy", **options: Any) -> dict[str, tuple[str, Any]]:
    """Part -> what was found of it, and what it supports."""
    table = support(loaded(folder, files, metric, **options))
    return {part: (found, supports) for part, found, supports in table.itertuples(index=False)}


def test_what_files_lack_has_the_option_that_names_it(tmp_path: Path) -> None:
    text = "item,conversation,old,new\nq1,x,1,0\nq2,x,0,0\nq3,y,1,1\n"
    found = parts(tmp_path, {"s.csv": text})
    assert {part for part, (what, _) in found.items() if what} == {"systems", "items"}
    assert (found["systems"][0], found["items"][0]) == ("2 (old, new)", "3")
    fields = [*found["clusters"][1].fields.values()]
    assert fields[0] == Argument("columns", {"cluster": "NAME"})
    assert fields[1:2] == [Argument("items", "FILE")]
    assert fields[2].fields["unit"] == Argument("unit", "conversation")
    for part, ours in (("domains", "domain"), ("samples", "sample"), ("factor", "factor")):
        assert [*found[part][1].fields.values()][0] == Argument("columns", {ours: "NAME"})


def test_what_files_have(tmp_path: Path) -> None:
    rows = [f"{s},{q},{k},{q % 2},d{q // 2},law,Why?" for s in "ab" for q in range(4) for k in range(1 + (q > 0))]
    text = "\n".join(["system,item,sample,score,doc,domain,question", *rows])
    (tmp_path / "systems.csv").write_text("system,group,family\na,x,\nb,y,\n")
    found = parts(tmp_path, {"s.csv": text}, missing="drop", systems=tmp_path / "systems.csv")
    assert {part: what for part, (what, _) in found.items() if what} == {
        "systems": "2 (a, b)", "items": "7", "clusters": "2 clusters",
        "samples": "1 to 2 of each question", "classes of systems": "group", "texts": "questions",
    }  # fmt: skip
    crossed = "system,item,prompt,score\n" + "".join(f"a,{i},{p},1\na,{i},{p}b,0\n" for i in (1, 2) for p in "uv")
    found = parts(tmp_path, {"s.csv": crossed}, columns={"factor": "prompt"})
    assert (found["factor"][0], found["clusters"][0]) == ("u, ub, v, vb", "2 clusters")
    assert found["systems"][1].startswith("any comparison needs the outputs of a second system")
    tasks = "item,a\nlaw/1,1\nlaw/2,1\nart/1,0\n"
    (tmp_path / "items.csv").write_text("id,domain\nlaw/1,law\nlaw/2,law\nart/1,art\n")
    assert parts(tmp_path, {"s.csv": tasks}, items=tmp_path / "items.csv")["tasks"][0] == "2"


def test_the_command_prints_what_was_read_and_stops(tmp_path: Path) -> None:
    """In words, with its own options, and as JSON, the first note of which says what was read."""
    (tmp_path / "s.csv").write_text("item,note,old,new\nq1,x,1,0\nq2,x,0,0\nq3,y,1,1\n")
    result = CliRunner().invoke(app, ["check", str(tmp_path / "s.csv")])
    assert result.exit_code == 0
    for part in ("Read ", "2 (old, new)", "--columns cluster=NAME, --items FILE or --unit note", "--metric"):
        assert part in result.stdout
    content = as_json(str(tmp_path / "s.csv"), command="check")
    assert content["notes"][0].startswith(f"Read {tmp_path}/s.csv as a table with a column for each system: old, new")
    assert content["metric"] == "accuracy"
    assert [row["part"] for row in content["parts"] if row["found"]] == ["systems", "items"]
