"""Commits that a rebase or an amend has replaced."""

from __future__ import annotations

import re

from memcli.git.repository import Repository

MAX_COMMITS = 200
_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def gone(repository: Repository, pairs: str) -> list[str]:
    """Of the commits that `pairs` (lines of an old and a new one, as git tells post-rewrite) replace, those that no
    branch and no tag leads to any more; none where there are too many. Raises NotFoundError, ProviderError."""
    old = [words[0] for line in pairs.splitlines() if len(words := line.split()) > 1 and _HASH.fullmatch(words[0])]
    if not old or len(old) > MAX_COMMITS:
        return []
    told = repository.run("rev-list", *old, "--not", "HEAD", "--branches", "--tags", "--remotes").split()
    return [commit for commit in old if commit in frozenset(told)]
