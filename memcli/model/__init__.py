"""Frozen values and the functions that need nothing else: what a memory, a space, a recall and a session are.

A module here imports only others of this folder and the ground (`record`, `errors`, `clock`, ...); texts are parsed in `text/`,
formats in `codec/`.
"""
