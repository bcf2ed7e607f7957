"""The commands that link two memories of any spaces, and remove such links.

Links are defined in the core, and kept valid there when memories are deleted (`policy/draft.py`, `app/linked_store.py`).
"""
