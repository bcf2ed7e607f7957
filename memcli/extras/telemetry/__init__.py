"""Telemetry: the text of metrics, and the traces of commands."""
