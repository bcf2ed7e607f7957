"""Frozen values and pure functions: what a memory, a space and a recall are."""
