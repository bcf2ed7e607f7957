"""Git and the work tree: the only package that runs git, with its hooks, the merge driver and the ignore rules. Memories are made
from commits and files in `ingest/`. No program that a repository configures may be run."""

DEFAULT = ("post-commit", "post-merge", "post-checkout", "post-rewrite", "prepare-commit-msg")
NAMES = (*DEFAULT, "pre-push")
"""All git hooks of memcli, and above, those that are installed by default."""
