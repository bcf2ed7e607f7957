"""Coding agents: the files installed for each of them, and the commands that their hooks run.

Hooks query the memory by `app/recall.py`, as every command does; readers of the agents' transcripts are in `extras/transcripts/`.
"""
