"""That the space for what is read from the repository is being built, so that a build that was interrupted goes on."""

from __future__ import annotations

from typing import NamedTuple

from memcli.codec.canonical import encode
from memcli.store.atomic import remove_quietly, write_file
from memcli.store.layout import Layout
from memcli.store.reading import read_json


class Build(NamedTuple):
    """A build that is under way, of the commits that led to `head`."""

    head: str


class BuildState:
    """The state of the build of one space, in `local/`."""

    def __init__(self, layout: Layout, space: str) -> None:
        self._path = layout.local(f"{space}.build.json")

    def load(self) -> Build | None:
        """The build that is under way; None when there is none."""
        data = read_json(self._path)
        head = data.get("head") if isinstance(data, dict) else None
        return Build(head) if isinstance(head, str) else None

    def save(self, build: Build) -> None:
        """Notes it. Raises StoreError."""
        write_file(self._path, encode(build._asdict()), 0o600)

    def clear(self) -> None:
        """Notes that the space is built."""
        remove_quietly(self._path)
