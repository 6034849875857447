"""Item scores of any margin and any dependence whose true gain is known."""

import lazy_loader

# The names are in __init__.pyi, once each.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
