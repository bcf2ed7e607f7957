"""The store as it was at one commit: read only, and read from wherever the bytes of its files come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from memcli.errors import StoreError
from memcli.git.revisions import open_history
from memcli.model.names import check_space
from memcli.model.space import Policy
from memcli.store.layout import Layout
from memcli.store.snapshot import ByteSnapshot


class RevisionSnapshot(ByteSnapshot):
    """A space file as it was."""

    def __init__(self, space: str, data: bytes, fingerprint: str, where: str) -> None:
        super().__init__(space, fingerprint, where)
        self._data = data

    def read(self) -> bytes:
        return self._data

    view = read

    def part(self, start: int, length: int) -> bytes:
        return self._data[start : start + length]

    def close(self) -> None:
        self._data = b""


class RevisionStore:
    """The spaces of one commit. `files` are the names in its `spaces` folder with the hash of what each held, which
    `read` gives.
    """

    def __init__(self, commit: str, files: Mapping[str, str], read: Callable[[str], bytes]) -> None:
        self.commit = commit
        self._files = files
        self._read = read

    def spaces(self) -> list[str]:
        return sorted(n.removesuffix(".json") for n in self._files if n.endswith(".json") and not n.startswith("."))

    def open(self, space: str) -> RevisionSnapshot:
        name = f"{check_space(space)}.json"
        blob = self._files.get(name, "")
        return RevisionSnapshot(space, self._read(blob) if blob else b"", blob, f"{self.commit[:10]}:spaces/{name}")

    def policy(self, space: str) -> Policy:
        return self.open(space).header().policy

    def update(self, *_: object) -> NoReturn:
        raise self._refusal()

    def submit(self, *_: object) -> NoReturn:
        raise self._refusal()

    def delete(self, *_: object) -> NoReturn:
        raise self._refusal()

    def _refusal(self) -> StoreError:
        return StoreError(f"cannot change the store as of commit {self.commit[:10]}", "omit --rev")


def open_revision(layout: Layout, revision: str, warn: Callable[[str], None]) -> RevisionStore:
    """The store as it was at the commit that `revision` names. Raises UsageError, NotFoundError, ProviderError."""
    history = open_history(layout.spaces)
    commit = history.commit(revision)
    files = history.files(commit)
    if not files:
        warn(f"commit {commit[:10]} has no memories in {history.folder}")
    return RevisionStore(commit, files, history.read)
