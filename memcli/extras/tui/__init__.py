"""The full-screen browser of memories. Only `memcli browse` imports it, since Textual is an extra.

It shows the values of `present/` and calls use cases; what a command has to decide, too, does not belong here.
"""
