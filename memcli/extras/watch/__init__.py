"""`memcli watch`: follows a work tree as it changes (`watcher.py`, from events and scans) and stores the changes in batches
(`storing.py`).

Nothing that works without a running watch belongs here; what a file says is read by the core (`ingest/`).
"""
