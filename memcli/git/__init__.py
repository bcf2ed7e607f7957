"""Git and the work tree: the only package that starts git, with its hooks, its merge driver, and the rules of what is ignored.
What is made of commits and files belongs in `ingest/`; nothing that a repository configures may be run."""

DEFAULT = ("post-commit", "post-merge", "post-checkout", "post-rewrite", "prepare-commit-msg")
NAMES = (*DEFAULT, "pre-push")
"""The git hooks that memcli has, and those of them that are installed unless others are named."""
