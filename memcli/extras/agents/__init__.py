"""Agents: what is installed for each coding agent, and what its hooks get."""
