"""What a text states, clause by clause, and whether two texts contradict or repeat each other. Pure; the lexicon is data.

It knows no store and no vector: callers choose which memories to compare, and may give the cosine of two texts.
"""
