"""Translation: texts as numbers, word alignment, language models, and the translators made of them."""
