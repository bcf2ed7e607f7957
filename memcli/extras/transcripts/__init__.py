"""Readers of conversations in the files of other programs, one message at a time, and their import.

`formats.conversations` detects the format of a file; `discovery.discover` finds the files of a project. No reader trusts
its file, which may be damaged, huge or made to mislead.
"""
