"""Versions: what git knows of a folder's files: every one in the history, and those that a commit would take now."""

from __future__ import annotations

import os
from collections.abc import Iterator

from memcli.git.repository import Repository, find_repository
from memcli.model.names import readable

_LOG = (
    "log", "--all", "-m", "--root", "--raw", "--no-abbrev", "--no-renames", "--no-color", "--no-ext-diff",
    "--no-show-signature", "--no-decorate", "--no-notes", "--format=%H", "--diff-filter=AMT",
)  # fmt: skip
_FILE_MODES = ("100644", "100755")

Version = tuple[str, str, bytes]
"""The file, the commit that brought this version of it (empty for the index), and its bytes."""


def history(folder: str) -> Iterator[Version]:
    """Every version of every file in the folder in any branch, each once, newest first. Raises NotFoundError, ProviderError."""
    repository = find_repository(os.path.dirname(folder))
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
    with repository.objects() as objects:
        for (file, blob), commit in found.items():
            yield readable(file), commit, objects.read(blob) or b""


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
