"""Significance tests: a Question about all pairs of systems in, p-values, intervals and cautions out.

Read `question.py` (what is asked, and what a test answers), `registry.py` (all tests) and `asking.py` (arguments).
Then a test: `sign_flips.py`, `randomization.py`, `bootstrap.py`, `classical_tests.py`. They share `resampling.py` and
`tallies.py` (all pairs share their resamples), `ties.py`, and modules of compiled loops (`…kernels.py`).
"""
