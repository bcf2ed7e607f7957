"""JSON Schemas of what memcli writes, for other programs.

They are built from the tables of fields that the core validates with (`model/shapes.py`); rules of their own do not belong here.
"""
