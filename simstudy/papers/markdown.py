"""A paper's tables and sentences in Markdown: nothing of a name is a link, an image or a column."""

from __future__ import annotations

from simstudy.papers.document import Cell, Cite, Code, Paper, PValue, Table, Text, cells
from simstudy.papers.references import entry
from simstudy.text.plain_text import code, markdown, markdown_rows


def document(paper: Paper) -> str:
    """Everything of a paper."""
    blocks = [*map(table, paper.tables), sentences(paper)]
    if paper.notes:
        blocks.append("\n".join(f"- Note: {markdown(note)}" for note in paper.notes))
    blocks.append("References:\n\n" + "\n".join(f"- {markdown(entry(key).whole)}" for key in paper.cited))
    return "\n\n".join(blocks)


def sentences(paper: Paper) -> str:
    """The sentences for both sections."""
    told = {"Results": paper.results, "Methods": paper.methods}
    return "\n\n".join(f"{name}: {text(said)}" for name, said in told.items() if said)


def table(one: Table) -> str:
    """A table with its caption below."""
    head = [markdown(heading) for heading, _ in one.columns]
    rows = markdown_rows(head, [[_cell(cell) for cell in cells(row)] for row in one.rows])
    return f"{rows}\n\n{text(one.caption)}"


def _cell(cell: Cell) -> str:
    written = markdown(cell.text)
    return (f"**{written}**" if cell.bold and written else written) + markdown(cell.mark)


def text(said: Text) -> str:
    """Sentences with citations in words."""
    return "".join(map(_part, said))


def _part(part: str | Cite | Code | PValue) -> str:
    if isinstance(part, Cite):
        return " (" + "; ".join(markdown(entry(key).short) for key in part.keys) + ")"
    if isinstance(part, Code):
        return code(part.text)
    return f"p {part.text}" if isinstance(part, PValue) else markdown(part)
