"""``python -m simstudy`` is the command ``simstudy``."""

from simstudy.cli import main

main()
