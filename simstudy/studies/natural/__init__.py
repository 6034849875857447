"""Studies of natural comparisons: the outputs of shared tasks and leaderboards."""
