"""Telemetry: the numbers and text of metrics, and the traces of commands.

It reads what the core counts, and watches commands through its ports; no text of a memory is in what it hands on.
"""
