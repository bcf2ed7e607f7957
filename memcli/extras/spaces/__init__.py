"""The administration of spaces: to create, list, configure and delete them.

What a policy means is in the core (`policy/`), and so is what counts and indexes a space (`app/space.py`).
"""
