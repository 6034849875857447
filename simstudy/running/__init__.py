"""How work is done once and kept: cells on joblib's loky or any executor, and folders of results.

Read first: `keys` (when a result is found again), `parallel` (cells at work), `cell_files` (finished work as files),
then `folders` (a folder of results) and `progress`.
"""
