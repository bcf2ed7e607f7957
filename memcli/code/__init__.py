"""Analysis of source text: definitions, symbols, anchors, diffs and globs. Pure: callers read the files, and `git/` runs git."""
