"""The command `graph`: what it reads, its formats, and the page that shows a graph.

Nodes and edges are defined in the core (`graph/`), since other screens show them too.
"""
