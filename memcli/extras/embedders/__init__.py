"""Embedders besides the built-in one in `embed/`: a model in a folder (`sentence.py`), and one of a provider (`remote.py`).

Nothing here is loaded unless the configuration names such an embedder.
"""
