"""Recorded values of the whole package. Read `record.py` first; `WHY.md` says why each value is what it is."""
