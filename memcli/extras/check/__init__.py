"""Checks of what is stored: against the code, by tests of recall, for secrets, and for damage, with its repair.

Each reads an existing store and reports what is wrong; checks that refuse a write or a commit are in the core.
"""
