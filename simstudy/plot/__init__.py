"""Figures: tables in, matplotlib Axes out. Each function draws one panel and says in its error what it needs.

The only room that knows matplotlib and seaborn, which are imported when something is drawn: a comparison without
figures, and the processes that compute, do not wait for them. Read `style` first (`styled`, `panels`, `save`), then
`parts`, what several figures share. A figure of one study is drawn in that study's `drawing.py`, with `styled`.
"""

import lazy_loader

# No module is called as what it has: once imported it would stand in that one's place.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
