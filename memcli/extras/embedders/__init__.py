"""Embedders that are not in the package: the model in a folder (`sentence.py`), and one of a provider (`remote.py`).

The built-in model is in the core (`embed/`); nothing here is loaded unless the configuration names it.
"""
