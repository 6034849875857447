"""Word alignment: statistical translation models that find which words of two sentences translate each other."""
