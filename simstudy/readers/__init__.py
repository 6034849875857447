"""From files to Outputs: each format is one file, an adapter from paths to rows of one long table.

Read `request` (what a format is handed), `long_table` (what it gives, and how that becomes Outputs) and `load` (the
public door) first, then `scores`, the format of tables. `text_files`, `tables`, `columns` and `items` are what formats
share; `formats` says how one is added.
"""
