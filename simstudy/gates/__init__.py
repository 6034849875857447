"""Gates of pipelines: what is asked of two systems, what was decided, and how programs are told.

Read `asked` first, then `findings` (one look at a fixed number of items) and `sequential` (looks while items arrive).
`looks` keeps the looks of a gate that is asked again and again; `verdicts`, `junit` and `github` say what came out.
"""
