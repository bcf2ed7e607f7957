"""The status of a store on one screen: what is stored, what waits for review, what is stale, and the command for each.

It counts what other packages find; checks of its own do not belong here.
"""
