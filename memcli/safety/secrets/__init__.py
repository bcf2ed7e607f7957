"""Secrets: rules that find them, checks that distinguish them from look-alikes, and the redaction of texts and memories. A new
kind is a row in `formats.jsonl`; code that stores or sends text belongs elsewhere."""

from __future__ import annotations


def mark_of(kind: str) -> str:
    """The mark in a text in place of a secret of this kind."""
    return f"[REDACTED:{kind}]"
