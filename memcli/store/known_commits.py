"""The commits that were ingested into a space, in `cache/`: a header, and a line for each with how many memories it has."""

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
    """The notes of the spaces of one store. `open_space` opens a space of it, and `rules` is a digest of all that decides
    what becomes of a commit there."""

    _layout: Layout
    _open: Callable[[str], Snapshot]
    _rules: Callable[[str], str]

    def load(self, space: str) -> Mapping[str, int]:
        """Each commit that was ingested as it would be now, and whose memories are all in the space still, with how many
        these are. Raises CorruptError, StoreError."""
        header, commits = self._read(space)
        if not commits:
            return {}
        with closing(self._open(space)) as snapshot:
            if header[1:2] == [snapshot.fingerprint]:
                return commits
            counts = _counted(snapshot)
        return {commit: n for commit, n in commits.items() if counts[commit] == n}

    def add(self, space: str, commits: Mapping[str, int]) -> None:
        """Notes commits, each with how many memories were just stored of it. Never fails."""
        if not commits:
            return
        with suppress(MemcliError, OSError):
            path = self._layout.cache(f"{space}.commits")
            header, _ = self._read(space)
            if not header:
                make_folder(self._layout.cache(""))
                replace_file(path, f"{self._rules(space)}\n".encode())
            append_line(path, _lines(commits).encode())

    def settle(self, space: str, state: str = "") -> None:
        """Notes that the space, as it is now, has what was added, so that the next `load` need not look; and the `state` of
        all else that it was brought into step with. Never fails."""
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
        """Whether neither the space nor this state of all else has changed since it was settled."""
        header, _ = self._read(space, _MOST_OF_HEADER)
        with closing(self._open(space)) as snapshot:
            return header[1:] == [snapshot.fingerprint, state]

    def _read(self, space: str, limit: int = _MAX_BYTES) -> tuple[list[str], dict[str, int]]:
        """The rules, the fingerprint and the state that were noted, and the commits; none where other rules hold now.

        They are in the first `limit` bytes of the file."""
        with suppress(OSError, ValueError):
            data = read_regular(self._layout.cache(f"{space}.commits"), limit) or b""
            header = data[: data.index(b"\n")].decode("ascii").split(" ")
            if header[0] == self._rules(space):
                words = data[data.index(b"\n") : data.rindex(b"\n")].decode("ascii").split()  # what is behind is torn
                return header, dict(zip(words[::2], map(int, words[1::2]), strict=True))
        return [], {}


def _counted(snapshot: Snapshot) -> Counter[str]:
    """How many active memories each commit has."""
    found = (decode(data, snapshot.space) for data, _ in snapshot.records())
    return Counter(
        one.get("provenance", {}).get("commit", "")
        for one in found
        if one["kind"] == "diff" and one.get("active", True)
    )


def _lines(commits: Mapping[str, int]) -> str:
    return "\n".join(f"{commit} {n}" for commit, n in commits.items())
