"""Memories as values to display: which parts, in which order, in which words. Text output, the terminal interface, the
inspector's pages and graphs render these values, so that all of them show a field in the same way.

Belongs here: pure functions from memories, changes and graphs to values. Does not: reading a store, escape sequences,
markup, widths, and cleaning of stored text, which each renderer does for its own medium.
"""
