"""What papers can be written of: objects that have `to_latex` and `to_markdown`, and their files in a folder."""

from __future__ import annotations

from simstudy.papers import latex, markdown
from simstudy.papers.document import Paper
from simstudy.papers.references import bibtex


def in_latex(paper: Paper, table: str | None = None, made_by: str = "") -> str:
    """All of a paper in LaTeX, or one of its tables."""
    return latex.document(paper, made_by) if table is None else latex.table(paper.table(table)).rstrip("\n")


def in_markdown(paper: Paper, table: str | None = None) -> str:
    """All of a paper in Markdown, or one of its tables."""
    return markdown.document(paper) if table is None else markdown.table(paper.table(table))


def files(paper: Paper) -> dict[str, str]:
    """The files of a paper: a .tex file for each table and one of sentences, a .bib file, and all in Markdown."""
    return {
        **{f"{one.name}.tex": latex.table(one) for one in paper.tables},
        "sentences.tex": latex.sentences(paper),
        "references.bib": bibtex(paper.cited),
        "paper.md": f"{markdown.document(paper)}\n",
    }
