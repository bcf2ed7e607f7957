"""The commits that were ingested into a space, in `cache/<space>.commits`.

The first line has the digest of the rules, the fingerprint of the space and the state of its sources; then there is one
line for each commit, with its number of memories.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress

from memcli.codec.canonical import decode
from memcli.errors import MemcliError
from memcli.ports import Snapshot
from memcli.record import Record
from memcli.store.atomic import append_line, make_folder, read_regular, replace_file
from memcli.store.layout import Layout

_MAX_BYTES, _MOST_OF_HEADER = 1 << 30, 1 << 10


class FileCommits(Record):
    """The ingested commits of the spaces of one store. `open` opens a space, and `rules` returns the digest of everything that
    decides which memories a commit yields there."""

    _layout: Layout
    _open: Callable[[str], Snapshot]
    _rules: Callable[[str], str]

    def load(self, space: str) -> Mapping[str, int]:
        """The number of memories of each commit that was ingested by the present rules and whose memories are all still in
        the space. Raises CorruptError, StoreError."""
        header, commits = self._read(space)
        if not commits:
            return {}
        with closing(self._open(space)) as snapshot:
            if header[1:2] == [snapshot.fingerprint]:
                return commits
            counts = _counted(snapshot)
        # A commit of which a memory was deleted or changed since is ingested again.
        return {commit: n for commit, n in commits.items() if counts[commit] == n}

    def rules(self, space: str) -> str:
        """A digest of everything that decides which memories a commit yields in the space now; empty if that cannot be read."""
        with suppress(MemcliError, OSError):
            return self._rules(space)
        return ""

    def add(self, space: str, commits: Mapping[str, int], rules: str) -> None:
        """Adds commits that were read by these `rules`, each with the number of memories that were just stored for it. If others
        are in force by now, the commits are read once more. Never raises."""
        if not commits:
            return
        with suppress(MemcliError, OSError):
            if rules != self._rules(space):
                return
            path = self._layout.cache(f"{space}.commits")
            header, _ = self._read(space)
            if not header:
                make_folder(self._layout.cache(""))
                # Nothing is flushed: a commit whose line is lost is read once more.
                replace_file(path, f"{rules}\n".encode())
            append_line(path, _lines(commits).encode())

    def settle(self, space: str, state: str = "") -> None:
        """Records the present fingerprint of the space, so that the next `load` need not count its memories, and the `state`
        of its sources. Never raises."""
        with suppress(MemcliError, OSError):
            header, commits = self._read(space)
            with closing(self._open(space)) as snapshot:
                if header[1:] == [snapshot.fingerprint, state]:
                    return
                counts = _counted(snapshot) if commits else Counter[str]()
            known = {commit: n for commit, n in commits.items() if counts[commit] == n}
            first = f"{self._rules(space)} {snapshot.fingerprint} {state}\n"
            make_folder(self._layout.cache(""))
            replace_file(self._layout.cache(f"{space}.commits"), f"{first}{_lines(known)}\n".encode())

    def is_settled(self, space: str, state: str) -> bool:
        """Whether neither the space nor the `state` of its sources has changed since `settle`."""
        # The first line alone: this is asked behind every write of the space `main`.
        header, _ = self._read(space, _MOST_OF_HEADER)
        with closing(self._open(space)) as snapshot:
            return header[1:] == [snapshot.fingerprint, state]

    def _read(self, space: str, limit: int = _MAX_BYTES) -> tuple[list[str], dict[str, int]]:
        """The words of the first line, and the commits, from the first `limit` bytes of the file; both empty if the rules have
        changed since."""
        with suppress(OSError, ValueError):
            data = read_regular(self._layout.cache(f"{space}.commits"), limit) or b""
            header = data[: data.index(b"\n")].decode("ascii").split(" ")
            if header[0] == self._rules(space):
                words = (
                    data[data.index(b"\n") : data.rindex(b"\n")].decode("ascii").split()
                )  # the last line may be torn
                return header, dict(zip(words[::2], map(int, words[1::2]), strict=True))
        return [], {}


def _counted(snapshot: Snapshot) -> Counter[str]:
    """The number of active memories of each commit."""
    found = (decode(data, snapshot.space) for data, _ in snapshot.records())
    return Counter(
        one.get("provenance", {}).get("commit", "")
        for one in found
        if one["kind"] == "diff" and one.get("active", True)
    )


def _lines(commits: Mapping[str, int]) -> str:
    return "\n".join(f"{commit} {n}" for commit, n in commits.items())
