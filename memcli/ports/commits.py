"""The protocol of what is noted of the commits that were ingested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class KnownCommits(Protocol):
    """The commits that a space has, so that nobody reads them again. It may be lost at any time: then they are read again."""

    def load(self, space: str) -> Mapping[str, int]:
        """Each commit that was ingested as it would be now, and whose memories are all in the space still, with how many
        these are. Raises CorruptError, StoreError."""

    def add(self, space: str, commits: Mapping[str, int]) -> None:
        """Notes commits, each with how many memories were just stored of it. Never fails."""

    def settle(self, space: str, state: str = "") -> None:
        """Notes that the space, as it is now, has what was added, so that the next `load` need not look; and the `state` of
        all else that it was brought into step with. Never fails."""

    def is_settled(self, space: str, state: str) -> bool:
        """Whether neither the space nor this state of all else has changed since it was settled."""


class NoCommits:
    """Notes nothing."""

    def load(self, space: str) -> Mapping[str, int]:  # noqa: ARG002
        return {}

    def add(self, space: str, commits: Mapping[str, int]) -> None: ...

    def settle(self, space: str, state: str = "") -> None: ...

    def is_settled(self, space: str, state: str) -> bool:  # noqa: ARG002
        return False
