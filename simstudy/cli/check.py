"""`simstudy check`: what files are read as, what they support, and what is missing for what."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from simstudy.cli.files import HEADING, Files, Paths
from simstudy.cli.options import grouped
from simstudy.cli.terminal import print_line
from simstudy.cli.wording import worded_notes, wording


@grouped
def check(
    context: typer.Context,
    paths: Paths,
    *,
    files: Annotated[Files, HEADING],
    metric: Annotated[str | None, typer.Option(help="What the items are scored by, as for simstudy compare.")] = None,
    print_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what the files are read as and what they support, and compare nothing.

    The command prints what was read, and a table of its parts: systems, items, clusters, domains, tasks, samples, a
    crossed factor, classes of systems and texts. For a part that the files lack, the table says which option names it.

    simstudy check results.csv

    simstudy check runs/ --metric bleu --references ref.txt
    """
    from simstudy.notes import said
    from simstudy.readers.load import support

    loaded, _ = files.read(paths, metric)
    notes = worded_notes(loaded.notes, context.command.params)
    table = support(loaded)
    words = wording(context.command.params)
    table["supports"] = [str(said(text, words)) for text in table["supports"]]
    if print_json:
        parts = table.to_dict("records")
        print(json.dumps({"notes": [*map(str, notes)], "metric": loaded.outputs.metric.name, "parts": parts}, indent=1))
        return
    for told in notes:
        print_line(told)
    rows = table.to_dict("records")
    print_line("")
    print_line("The files have")
    for row in (row for row in rows if row["found"]):
        print_line(f"- {row['part']}: {row['found']}. {row['supports'][:1].upper()}{row['supports'][1:]}.")
    print_line("")
    print_line("They lack")
    for row in (row for row in rows if not row["found"] and row["supports"]):
        print_line(f"- {row['part']}, {row['supports']}")
