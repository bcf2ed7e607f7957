"""Files as they are in git's objects: at a commit, in the whole history, or staged; read without touching the work tree."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memcli.errors import NotFoundError, ProviderError
from memcli.git.repository import Repository, find_repository
from memcli.model.changes import HistoryCommit
from memcli.model.names import readable
from memcli.record import Record

_FILE_MODES = ("100644", "100755")


class StoreHistory(Record):
    """A folder in a repository over time. `folder` is relative to the root of the work tree, with `/`."""

    repository: Repository
    folder: str

    def commit(self, revision: str) -> str:
        """The full hash of the one commit that `revision` names. Raises UsageError, NotFoundError, ProviderError."""
        return self.repository.resolve(revision)

    def files(self, commit: str) -> dict[str, str]:
        """The names of the plain files right in the folder at this commit, each with the hash of what it held."""
        listed = self.repository.run(
            "--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", f"{self.folder}/"
        )
        found = {}
        for entry in listed.split("\0")[:-1]:
            facts, _, path = entry.partition("\t")
            mode, _, blob = facts.split(" ")
            if mode in _FILE_MODES:
                found[path.rpartition("/")[2]] = blob
        return found

    def read(self, blob: str) -> bytes:
        """What the file of this hash held."""
        with self.repository.objects() as objects:
            return objects.read(blob) or b""

    @contextmanager
    def reading(self) -> Iterator[Callable[[str, str], bytes | None]]:
        """What the file of a name held at a commit, None where it was not there; for as many as are asked for."""
        with self.repository.objects() as objects:
            yield lambda commit, name: objects.read(f"{commit}:{self.path(name)}")

    def commits(self, start: str, name: str) -> list[HistoryCommit]:
        """The commits up to `start` that changed the file `name` of the folder, newest first."""
        told = self.repository.run(
            "--literal-pathspecs", "log", "-z", "--topo-order", "--parents", "--no-notes", "--no-mailmap",
            "--encoding=UTF-8", "--format=tformat:%H%x00%P%x00%an%x00%aI%x00%s", start, "--", self.path(name),
        )  # fmt: skip
        parts = iter(told.split("\0"))
        return [
            HistoryCommit(c, tuple(p.split()), a, d, s)
            for c, p, a, d, s in zip(parts, parts, parts, parts, parts, strict=False)
        ]

    def renamed_from(self, commit: str, name: str) -> tuple[str, str] | None:
        """The name that the file `name` had before `commit`, and the parent that it had it in; None for a new file."""
        parents = self.repository.run("rev-list", "--parents", "-n", "1", commit).split()[1:]
        for parent in parents:
            told = self.repository.run(
                "--literal-pathspecs", "diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--no-ext-diff", "--no-textconv",
                "--name-status", parent, commit, "--", f"{self.folder}/",
            )  # fmt: skip
            parts = told.split("\0")
            for status, old, new in zip(parts[0::3], parts[1::3], parts[2::3], strict=False):
                if status.startswith("R") and new == self.path(name):
                    return old.rpartition("/")[2], parent
        return None

    def path(self, name: str) -> str:
        """Where the file `name` of the folder is, from the root of the work tree."""
        return f"{self.folder}/{name}"


def open_history(folder: str) -> StoreHistory:
    """The history of the folder at `folder`, which need not be there any more. Raises NotFoundError, ProviderError."""
    base, missing = folder, []
    while not os.path.isdir(base):
        base, leaf = os.path.split(base)
        missing.append(leaf)
    repository = find_repository(base)
    prefix = Repository(base).run("rev-parse", "--show-prefix").removesuffix("\n").rstrip("/")
    inside = "/".join(part for part in (prefix, *reversed(missing)) if part)
    return StoreHistory(repository, inside)


_LOG = (
    "log", "--all", "--full-history", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-show-signature", "--no-decorate", "--no-notes", "--format=%H", "--diff-filter=AMT",
)  # fmt: skip
_BLOCK = 1 << 20

Version = tuple[str, str, bytes]
"""The file, the commit that brought this version of it (empty for the index), and its bytes."""


def history(folder: str) -> Iterator[Version]:
    """Every version of every file in the folder in any branch, each once, newest first. Raises NotFoundError, ProviderError."""
    repository = find_repository(os.path.dirname(folder))
    versions = _versions(repository, folder)
    with repository.objects() as objects:
        for (file, blob), commit in versions.items():
            yield readable(file), commit, objects.read(blob) or b""


def commits_with(folder: str, is_wanted: Callable[[Iterator[bytes]], bool]) -> Iterator[str]:
    """The commits in any branch that brought a version of a file in the folder which `is_wanted`, oldest first; it is given
    the bytes of each version once, in blocks, all of which it takes. None where there is no repository.

    Raises MemcliError, after the last of them where it is for versions that are not in this clone.
    """
    try:
        repository = find_repository(os.path.dirname(folder))
    except NotFoundError:
        return
    blobs: dict[str, str] = {}
    for (_, blob), commit in _versions(repository, folder).items():
        blobs[blob] = commit
    missing = 0
    commits = set[str]()
    with repository.objects() as objects:
        for blob, commit in reversed(blobs.items()):
            blocks = objects.blocks(blob, _BLOCK)
            if blocks is None:
                missing += 1
            elif is_wanted(blocks) and commit not in commits:
                commits.add(commit)
                yield commit
    if missing:
        what = "1 version of a file is" if missing == 1 else f"{missing} versions of files are"
        raise ProviderError(f"{what} not in this clone", "run `git fsck`")


def _versions(repository: Repository, folder: str) -> dict[tuple[str, str], str]:
    """The files in the folder in any branch, each with the hash of every version, newest first, and the first commit that
    had it."""
    found: dict[tuple[str, str], str] = {}
    commit = ""
    for line in repository.run(*_LOG, "--", _pathspec(repository, folder)).split("\n"):
        if not line.startswith(":"):
            commit = line.strip() or commit
            continue
        head, _, file = line.partition("\t")
        _, mode, _, blob, _ = head.split(" ")
        if mode in _FILE_MODES:
            found[file, blob] = commit  # the oldest commit that has it is met last
    return found


def staged(folder: str) -> Iterator[Version]:
    """The files in the folder that are staged and differ from the last commit. Raises NotFoundError, ProviderError."""
    repository = find_repository(os.path.dirname(folder)).at_commit()
    listed = repository.run(
        "diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--diff-filter=AMT", "--",
        _pathspec(repository, folder),
    )  # fmt: skip
    with repository.objects() as objects:
        for file in listed.split("\0"):
            if file and "\n" not in file:
                yield readable(file), "", objects.read(f":{file}") or b""


def _pathspec(repository: Repository, folder: str) -> str:
    inside = os.path.relpath(os.path.realpath(folder), os.path.realpath(repository.root)).replace(os.sep, "/")
    return f":(top,literal){inside}"
