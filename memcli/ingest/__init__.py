"""Sources of memories: files, commits and the git index, read as candidates, each the fields of one memory. Nothing is stored
here, and nothing read is trusted: a repository and its configuration may come from a stranger."""
