"""The full-screen browser. Only `memcli browse` imports it, since Textual is an extra.

It shows the values of `present/` and calls use cases; it decides nothing that a command would have to decide too.
"""
