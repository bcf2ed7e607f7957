"""The command `restore`: restores memories from the trash, single ones or all that one command removed or changed.

The trash itself is in the core (`store/trash.py`, `app/trash.py`).
"""
