"""Links that somebody makes: to tie two memories of any spaces together, and to take that back.

What a link is, and how links stay sound when memories go, is in the core (`policy/draft.py`, `app/linked_store.py`).
"""
