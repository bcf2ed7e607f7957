"""HTTP: the memory for browsers and programs, and the inspector.

It calls verbs through a `Backend`, as the other interfaces do, and has no use case of its own.
"""
