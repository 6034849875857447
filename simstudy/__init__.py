"""simstudy: how significance tests behave when systems are compared.

Is this gain real, and how large must a test set be to tell? ::

    import simstudy as ss

    found = ss.examine("runs/", metric="accuracy")          # files of outputs: everything about one test set
    outputs = ss.Outputs.from_scores(table)                 # or scores of your own, items x systems
    pairs = ss.compare(outputs)                             # every pair: gain, interval, p-value
    pairs.verdict("new", "old")                             # one pair in words
    pairs.significant(); pairs.groups(); pairs.thresholds() # and more, by tab
    ss.leaderboard(outputs)                                 # scores with intervals and places
    ss.across_tasks(outputs)                                # several tasks: each, and their averages
    ss.plan(metric="accuracy", gain=1, guess=ss.Guess(score=80, agreement=0.9))
    ss.run_study("quickstart")                              # what the command does

``ss.comparisons`` has more tables, ``ss.plot`` figures, ``ss.truth`` simulated data whose true gains are known,
``ss.training`` systems that are trained on resampled data, ``ss.rankings`` candidates and n-best lists (Evert 2004).
"""

import lazy_loader

__version__ = "0.2.0"

# What is public is listed in __init__.pyi, for type checkers too. It is imported when it is first used, so that the
# command's --help does not wait for scikit-learn and matplotlib. There is no __all__: help(simstudy) would print the
# documentation of all names.
__getattr__, __dir__, _ = lazy_loader.attach_stub(__name__, __file__)
