"""Annotated corpora as files have them: trees, CoNLL-U, alignments, tagged words. Loaders and learners read them."""
