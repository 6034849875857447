"""From files to Outputs: one file a format; read `door` and `formats` first, which lead to all of them, then `base`.

What formats share: `reading` and `tables` open files, `task_logs` puts logs of several tasks together, `items` and
`systems` describe items and systems, `clusters` says which items belong together, and `assembling` matches systems over
items. `corpora` reads annotated corpora, for formats and for what studies train.
"""
