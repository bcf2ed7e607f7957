"""Secrets: rules that find them, checks that distinguish them from look-alikes, and the redaction of texts and memories. A new
kind is a row in `formats.jsonl`; code that stores or sends text belongs elsewhere."""
