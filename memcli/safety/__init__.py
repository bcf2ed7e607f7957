"""Secrets, hidden instructions, and what strangers may decide: what keeps memory from doing harm. Pure."""
