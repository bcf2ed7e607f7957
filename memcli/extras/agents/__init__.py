"""Coding agents: what is installed for each of them, and what their hooks are given and report.

What is recalled for a hook is asked of the core as anybody asks it; readers of what agents record are in `extras/transcripts/`.
"""
