"""The graph of memories as a picture: what is read for it, its formats, and the page that shows it.

What nodes and edges are is in the core (`graph/`), since screens show them too.
"""
