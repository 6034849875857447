"""Studies of natural comparisons: the outputs of shared tasks and leaderboards.

Read first: `definition` (what a study.toml says), `files` (where its data are), `sources` (from these to Outputs), then
`study`.
"""
