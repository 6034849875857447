"""The study of Evert 2004: precision of n-best lists, which differ significantly, and a model of how they vary."""
