"""Source text: definitions, symbols, anchors, diffs and globs, from text alone. Pure: whoever calls reads the files, and what
asks git belongs in `git/`."""
