"""Embedders that are not in the package: the model in a folder (`sentence.py`), and one of a provider (`remote.py`)."""
