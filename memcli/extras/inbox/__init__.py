"""The review of proposed memories: to list, show, accept, reject and edit those in the inbox.

How a memory gets into the inbox is in `app/inbox.py`; nothing here proposes anything.
"""
