"""One reader of prose: words with their stems, lines and blocks of Markdown, sentences, passages, periods.

Pure functions of strings and of the texts of a memory. What a text means for a summary, a claim or a conversation is decided in
the packages above: a mood or a clause is read there, as they want different ones, and source code by `code/`.
"""
