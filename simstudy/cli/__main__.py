"""`python -m simstudy.cli` is the command too."""

from simstudy.cli import main

main()
