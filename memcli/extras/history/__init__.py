"""The history of memories in git: the changes between two commits, and the commit that last changed each field of a memory.

It compares states of a store. Calls of git are in `git/`; the audit log is in `extras/stores/`.
"""
