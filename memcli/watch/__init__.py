"""The work tree followed as it changes, in batches: what the operating system reports, what a scan finds, what was
seen before.

`watcher.Watcher` drives it; when to do what is decided in `loop`. `app/watch.py` stores what the batches name.
"""
