"""Approved tables of all studies. Read `tables.py` first; `WHY.md` says why each table is what it is."""
