"""One reader of prose: words with their stems, lines and blocks of Markdown, sentences, passages, periods.

Pure functions of strings and of the texts of a memory. The packages above interpret a text for a summary, a claim or a
conversation: they read moods and clauses themselves, as each needs different ones. `code/` reads source code.
"""
