"""HEAD: which commit is checked out, and which commits a rebase, an amend or a reset has left behind."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence

from memcli.errors import MemcliError
from memcli.git.index_file import common_dir
from memcli.git.reading import UnfitError, read_bytes
from memcli.git.repository import Repository


class Head:
    """The current commit, followed without a process for as long as nothing about it changes."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._own = repository.git_dir()
        self._common = common_dir(self._own)
        self._mark: tuple[object, ...] = ()

    def may_have_moved(self) -> bool:
        """Whether the current commit may be another than `since` last returned; costs a read and a few stats."""
        return self._mark != self._marks()

    def since(self, old: str | None) -> tuple[str | None, str | None, str]:
        """The commit now, the range from `old` to it (None when there is nothing new in it), and a warning or nothing.

        `old` is empty when there was no commit yet, and None when none was asked for: then there is no range.
        """
        self._mark = self._marks()
        try:
            new = self._repository.head()
            if not new or old is None or new == old:
                return new or old or "", None, ""
            if not old:
                return new, new, ""
            if not self._repository.has_commit(old):
                return (
                    new,
                    None,
                    f"commit {old[:10]} no longer exists: run `memcli ingest --git HEAD` to ingest the commits since then",
                )
            span = f"{old}..{new}"
            return new, span if self._repository.count(span) else None, ""
        except MemcliError as error:
            return old, None, error.message

    def _marks(self) -> tuple[object, ...]:
        """What differs when the current commit does, and sometimes when it does not."""
        try:
            head = read_bytes(os.path.join(self._own, "HEAD"))
        except UnfitError as unfit:
            return (unfit.reason,)
        named = os.fsdecode(head.strip().removeprefix(b"ref: "))
        places = [(self._own, named), (self._common, named), (self._common, "packed-refs"),
                  (self._own, "reftable/tables.list"), (self._common, "reftable/tables.list")]  # fmt: skip
        return head, *(_stat(os.path.join(*place)) for place in places)


def _stat(file: str) -> tuple[int, int, int] | None:
    try:
        facts = os.stat(file)
    except (OSError, ValueError):
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


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


def unreachable(repository: Repository, commits: Collection[str]) -> frozenset[str]:
    """Those of `commits` that no branch, tag, remote branch or work tree leads to any more, whether git still has them or
    not. Raises ProviderError."""
    heads = _heads(repository)
    listed = repository.run("rev-list", "--branches", "--tags", "--remotes", *heads) if heads else ""
    return frozenset(commits).difference(listed.split())


def tips(repository: Repository) -> list[str]:
    """What every branch, tag, remote branch and work tree leads to, in order: nothing is unreachable anew as long as these
    stay. Raises ProviderError."""
    return [*_heads(repository), *repository.run("for-each-ref", "--format=%(objectname) %(refname)").splitlines()]


def _heads(repository: Repository) -> list[str]:
    """The commits that the work trees are at."""
    told = repository.run("worktree", "list", "--porcelain").splitlines()
    return sorted({line.removeprefix("HEAD ") for line in told if line.startswith("HEAD ")} - {"0" * 40, "0" * 64})


def _only_in(repository: Repository, commits: Sequence[str]) -> list[str]:
    """The commits that lead to these alone, one more than are wanted at most."""
    most = f"--max-count={MAX_COMMITS + 1}"
    return repository.run("rev-list", most, *commits, "--not", "HEAD", "--branches", "--tags", "--remotes").split()
