"""How work is done once and kept: cells on any executor, a folder a run, and what program made a result.

Read first: `runner` (cells in parallel), `cells` (finished work as files), `provenance` (what a key is made of), then
`results_folder` and `folder_contents`.
"""
