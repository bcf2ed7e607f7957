"""Upkeep: what a space that is used and judged should become, as a plan of steps with reasons. Pure."""
