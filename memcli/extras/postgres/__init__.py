"""Spaces on a PostgreSQL server: the store, its index, trash, audit log and ledger. Loaded only where a server is configured.

Every statement names the space, which is part of every key, so that an engine such as Citus can distribute the tables by it.
"""
