"""Conversations in the files of other programs, read one message at a time.

`formats.conversations` finds out what a file is; `discovery.discover` finds the files of a project. Nothing here trusts
what it reads: a file may be damaged, huge or made to mislead.
"""
