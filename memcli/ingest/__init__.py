"""Where memories come from: files, commits, and what a watcher sees of both.

`commits.CommitSource` and `files.FileSource` yield candidates, the fields of one memory each, for
the semantic layer to complete. `watch.Watcher` says what to read again.
Nothing here trusts what it reads: a repository and its configuration belong to strangers.
"""
