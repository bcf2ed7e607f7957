"""Git and the work tree: the only package that runs git, with its hooks, the merge driver and the ignore rules. Memories are made
from commits and files in `ingest/`. No program that a repository configures may be run."""

from __future__ import annotations

from memcli.errors import UsageError

DEFAULT = ("post-commit", "post-merge", "post-checkout", "post-rewrite", "prepare-commit-msg")
NAMES = (*DEFAULT, "pre-push")
"""All git hooks of memcli, and above, those that are installed by default."""


def check_name(hook: str) -> None:
    """Raises UsageError for the name of a hook that memcli does not install."""
    if hook not in NAMES:
        raise UsageError(f"no hook {hook!r}", f"choose one of {', '.join(NAMES)}")
