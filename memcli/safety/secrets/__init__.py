"""Secrets: the rules, what tells them from look-alikes, and the redaction of memories."""
