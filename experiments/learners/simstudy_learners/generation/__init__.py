"""Text from meaning representations: by retrieval, by templates, and by an n-gram model."""
