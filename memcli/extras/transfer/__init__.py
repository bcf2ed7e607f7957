"""What a store takes in from elsewhere: exports of memcli, the private state of another clone, what other tools remember.

With what only that needs, such as signatures; how an export is made and what it looks like is in the core.
"""
