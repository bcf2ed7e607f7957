"""The commands that create, list, configure and delete spaces.

Policies are defined and enforced in the core (`policy/`); counts and indexes of a space are in `app/space.py`.
"""
