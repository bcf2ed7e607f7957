"""Spaces on a PostgreSQL server: the store, its index, trash, audit log and ledger. Loaded only where a server is configured.

Every statement names the space, which is in every key, so that engines which spread tables by a column can do it by that.
"""
