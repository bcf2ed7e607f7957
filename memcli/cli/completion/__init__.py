"""Completions for the shells."""
