"""From files to Outputs: one file a format; read `formats` first, which leads to all of them, then `base`.

What formats share: `reading` and `tables` open files, `task_logs` puts logs of several tasks together, `items` and
`systems` describe items and systems, and `assembling` matches systems over items.
"""
