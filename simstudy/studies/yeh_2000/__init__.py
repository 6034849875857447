"""The study of Yeh 2000: the modifier example, what correlation costs, all tests side by side, dependent items."""
