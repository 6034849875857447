"""Simulation studies: conditions x draw x analyse x summarise, for tests and systems whose truth is known.

Read first: `definition` (what a study.toml says), `drawing` (what a function of study.py is given), `analyses` (what a
cell keeps), `summaries` (from these to tables), then `study`.
"""
