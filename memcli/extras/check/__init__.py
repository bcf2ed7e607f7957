"""Checks of what is stored: against the code, by tests of recall, for secrets, and for damage, with its repair.

Each looks at a store that is there and says what is wrong; what refuses a write or a commit is in the core.
"""
