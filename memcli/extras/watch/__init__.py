"""The work tree followed as it changes, in batches: what the operating system reports, what a scan finds, what was
seen before.

`watcher.Watcher` drives it. `app/watch.py` stores what the batches name.
"""
