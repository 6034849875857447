"""The taggers, chunkers, parsers, aligners, translators and generators that the shipped tasks train.

There is a folder for each kind of answer. The `task.py` of an experiment says what is trained on what; begin there.
"""

from simstudy.running.program_files import LOADED

# Worker processes find it as they find programs.
LOADED[__name__] = __file__
