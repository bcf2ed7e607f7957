"""The repository around a store: the files of its work tree, and the commits of both.

The protocol of what is noted of the commits that were ingested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memcli.model.changes import HistoryCommit


class History(Protocol):
    """The files of a store in the commits of its repository. Every method raises ProviderError when git fails."""

    def commit(self, revision: str) -> str:
        """The full hash of the one commit that `revision` names. Raises UsageError, NotFoundError."""

    def commits(self, start: str, name: str) -> list[HistoryCommit]:
        """The commits up to `start` that changed the file `name`, each after all that came of it."""

    def renamed_from(self, commit: str, name: str) -> tuple[str, str] | None:
        """The name that the file `name` had before `commit`, and the parent that it had it in; None for a new file."""

    def reading(self) -> AbstractContextManager[Callable[[str, str], bytes | None]]:
        """Gives what the file of a name held at a commit, None where it was not there: (commit, name) to bytes."""


class CodePast(Protocol):
    """What became of the files of a work tree since a commit; paths are from its root, with `/`."""

    def renamed(self, file: str, commit: str) -> str | None:
        """The name now of a file that was renamed since a commit (empty: where git last had it), as far as git knows."""

    def look_back(self, commits: Sequence[str]) -> None:
        """Asks at once what changed since each of the commits; `renamed` and `others` then ask no more."""

    def others(self, file: str, commit: str, limit: int) -> Sequence[str]:
        """At most `limit` other files with the ending of `file`, nearest first, that are not as they were at a commit;
        without a commit, whatever they were."""

    def texts_at(self, places: Sequence[tuple[str, str]]) -> Sequence[str | None]:
        """The text at each commit of a file; None where it was not there, or cannot be told."""

    def changed(self, revision: str, files: Sequence[str]) -> frozenset[str]:
        """Which of the files are not as they were at a commit. Raises UsageError, NotFoundError, ProviderError."""

    def deleted(self, since: str) -> Sequence[tuple[str, str, str]]:
        """The files that were deleted or renamed since a time, the last ones first, each with a commit that had it and when
        that was, empty when it is not committed."""


class CodeReader(CodePast, Protocol):
    """The files of the work tree that memories are anchored to; paths are from its root, with `/`."""

    def name(self, path: str) -> str:
        """The path of what a user names from the working directory; "" for the work tree itself. Raises UsageError."""

    def text(self, file: str) -> str:
        """The text of a file, read once. Raises UsageError, NotFoundError saying why there is none."""

    def commits(self, files: Sequence[str]) -> Mapping[str, str]:
        """The current commit, for each of the files that is just as it is there."""

    def files(self) -> Sequence[str]:
        """All files that are there and not ignored; none where git cannot tell."""

    def time_of(self, name: str) -> tuple[str, str] | None:
        """The tag or commit that a name names, and when it was made, RFC 3339 in UTC; None where it names neither."""


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
