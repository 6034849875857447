"""Tables, sentences and citations as authors print them, as data (`document`) and in LaTeX or Markdown.

Read `document` first. `latex` and `markdown` write it, `references` has what it cites, `basis` says in words what
p-values and intervals rest on.
"""
