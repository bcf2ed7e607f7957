"""JSON Schemas of what memcli writes, for other programs.

They are made from the tables of fields that the core reads (`model/shapes.py`), and say nothing that these do not.
"""
