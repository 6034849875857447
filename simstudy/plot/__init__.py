"""Figures: tables in, matplotlib Axes out. Each function draws one panel and says in its error what it needs.

The only room that knows matplotlib and seaborn, which are imported when something is drawn: a comparison without
figures, and the processes that compute, do not wait for them. `panels` makes a figure in the house style and `save`
writes it; `gains` draws what the analyses of Berg-Kirkpatrick et al. 2012 return, `pairs` the matrix and the groups of
Chinchor 1992, `agreement` how tests differ, and why (Yeh 2000), `rates` and `truths` how often they are wrong and what
they find where the truth is known, `significant_gains` the gains that are significant on many test sets, `plans` how
large one must be, `rankings` those of Evert 2004. A figure of one study is drawn in that study's `drawing.py`, with
`styled`.
"""

import lazy_loader

# No module is called as what it has: once imported it would stand in that one's place.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
