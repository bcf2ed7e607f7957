"""Frozen values and the functions that need nothing else: what a memory, a space, a recall and a session are.

A module here imports only others of this folder and what lies beneath; texts are read in `text/`, formats in `codec/`.
"""
