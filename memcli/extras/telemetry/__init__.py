"""Telemetry: metrics for Prometheus, and traces of commands for OpenTelemetry.

It reads the counters of the core and observes commands through its ports. Neither metrics nor traces have text of memories.
"""
