"""`memcli watch`: finds the changes of a work tree from events and scans (`watcher.py`), and stores them in batches
(`storing.py`).

Only what a running watch needs belongs here; the core reads memories from files (`ingest/`).
"""
