"""The status of a store at one look: what is stored, what waits for somebody, and which command helps.

It counts and names what other parts find, and finds nothing itself.
"""
