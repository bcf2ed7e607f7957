"""Restore: what brings memories back from the trash, one by one or all that one command removed or changed.

What puts them into the trash, and empties it, is in the core (`store/trash.py`, `app/trash.py`).
"""
