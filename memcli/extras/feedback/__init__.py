"""Feedback on recalled memories, and the list of unanswered questions.

Both are recorded on this machine only. `extras/upkeep/` changes memories by feedback; `app/usage.py` records questions.
"""
