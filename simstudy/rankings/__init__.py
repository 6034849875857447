"""Candidates that scoring functions rank, each true or false (Evert 2004): collocations, documents, leads."""
