"""The review of what is proposed: what somebody lists, accepts, rejects or edits of the inbox.

How a memory comes into the inbox, and what waits there, is in `app/inbox.py`; nothing here proposes anything.
"""
