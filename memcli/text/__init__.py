"""One reader of prose: words with their stems, sentences, blocks, passages, and moods of English.

Pure functions of strings. Of `model/` it knows memories; what a text means for a memory, a claim or a conversation is decided
in the packages above, and source code is read by `code/`.
"""
