"""Ways to make many systems: resampled training sets, redrawn test sets, models of correlated scores."""
