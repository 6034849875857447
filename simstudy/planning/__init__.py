"""How large a test set must be, and what one can tell: plans from guesses, from pilot outputs and from last year's."""
