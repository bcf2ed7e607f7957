"""Commits that a rebase, an amend or a reset has left behind."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.errors import MemcliError
from memcli.git.repository import Repository

MAX_COMMITS = 200
_HASH = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def gone(repository: Repository, pairs: str) -> list[str]:
    """Of the commits that `pairs` (lines of an old and a new one, as git tells post-rewrite) replace, those that no
    branch and no tag leads to any more; none where there are too many. Raises NotFoundError, ProviderError."""
    old = [words[0] for line in pairs.splitlines() if len(words := line.split()) > 1 and _HASH.fullmatch(words[0])]
    if not old or len(old) > MAX_COMMITS:
        return []
    told = frozenset(_only_in(repository, old))
    return [commit for commit in old if commit in told]


def lost(repository: Repository, commit: str) -> list[str]:
    """The commits that led to `commit`, which HEAD was at, and to where a rebase or a reset began, that no branch and no
    tag leads to any more; none where there are too many, or git cannot tell."""
    try:
        known = [name for name in repository.identify([f"{commit}^{{commit}}", "ORIG_HEAD^{commit}"]) if name]
        told = _only_in(repository, known) if known else []
    except MemcliError:
        return []
    return told if len(told) <= MAX_COMMITS else []


def _only_in(repository: Repository, commits: Sequence[str]) -> list[str]:
    """The commits that lead to these alone, one more than are wanted at most."""
    most = f"--max-count={MAX_COMMITS + 1}"
    return repository.run("rev-list", most, *commits, "--not", "HEAD", "--branches", "--tags", "--remotes").split()
