"""Sources of memories: files, commits, the index, and exports of other tools, as candidates, which are the fields of one memory
each. It reads and never stores, and trusts nothing that it reads: a repository and its configuration belong to strangers."""
