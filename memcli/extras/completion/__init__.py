"""Completion in shells: the scripts, made of the declarations of commands, and the values that they ask for.

`values.py` is run at every press of a key, and imports almost nothing.
"""
