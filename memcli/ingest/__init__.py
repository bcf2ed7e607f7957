"""Where memories come from: files and commits.

`commits.CommitSource` and `files.FileSource` yield candidates, the fields of one memory each, for
the semantic layer to complete.
Nothing here trusts what it reads: a repository and its configuration belong to strangers.
"""
