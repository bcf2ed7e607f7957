"""The history of memories in git: what changed between two commits, and which commit each field of a memory is of.

It reads states of a store and compares them; what git itself is asked is in `git/`, and the audit log in `extras/stores/`.
"""
