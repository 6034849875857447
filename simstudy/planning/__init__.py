"""How large a test set must be, and what one can tell: plans from guesses, from pilot outputs and from last year's.

`plans.plan` is the way in: guesses and pilots make cases (`cases.Case`), of which `answers` asks differences. Read
`cases.py` and `differences.py` first. `judged` and `sampled` change cases, `simulating` holds a plan against drawn test
sets, and `leaderboards` predicts what test sets show of the same systems.
"""

import lazy_loader

# The command reads its options from the nouns, and guesses do not need the engines: both are imported when first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
