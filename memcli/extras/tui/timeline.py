"""Timeline: the history of one memory, in the commits of the repository and in the audit log of this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from memcli.app.workspace import Workspace
from memcli.codec.space import find_memory
from memcli.errors import CorruptError
from memcli.model.changes import HistoryCommit, MemoryChange
from memcli.model.memory import Memory
from memcli.present.changes import memory_change
from memcli.record import Record, replace
from memcli.wiring import extra

if TYPE_CHECKING:
    from memcli.git.revisions import StoreHistory

MAX_COMMITS = 1000
"""So many commits that changed the space are read at most, newest first."""

Read = Callable[[str, str], bytes | None]


class TimelineVersion(Record):
    """What a commit did to the memory; without a commit, what is not committed yet."""

    commit: HistoryCommit | None
    change: MemoryChange


class Timeline(Record):
    """The versions of a memory, newest first, and the acts of the audit log that touched it, newest first.

    `is_cut`: there are older commits that were not read.
    """

    versions: tuple[TimelineVersion, ...]
    acts: tuple[dict[str, Any], ...]
    is_cut: bool = False


def timeline(workspace: Workspace, history: StoreHistory | None, memory: Memory) -> Timeline:
    """The history of a memory of the space; without a repository, of the audit log alone.

    Raises NotFoundError in a repository without commits, CorruptError, StoreError, ProviderError.
    """
    acts = tuple(reversed(extra("stores.log").log(workspace, None, None, memory.id)))
    if history is None:
        return Timeline((), acts)
    with history.reading() as read:
        found, is_cut = _versions(history, read, memory, f"{workspace.space}.json")
    detector = workspace.redactor.on_the_way_out(workspace.store.policy(workspace.space))
    changes = extra("history.changes").clean_changes([version.change for version in found], detector)
    clean = (replace(version, change=change) for version, change in zip(found, changes, strict=True))
    return Timeline(tuple(clean), acts, is_cut)


def _versions(history: StoreHistory, read: Read, memory: Memory, name: str) -> tuple[list[TimelineVersion], bool]:
    start = history.commit("HEAD")
    known: dict[tuple[str, str], Memory | None] = {}

    def at(commit: str, file: str) -> Memory | None:
        if (commit, file) not in known:
            known[commit, file] = _read(read, memory.id, commit, file)
        return known[commit, file]

    now = memory_change(at(start, name), memory)
    found = [TimelineVersion(None, now)] if now else []
    commits = [place for _, place in zip(range(MAX_COMMITS + 1), _commits(history, start, name), strict=False)]
    for commit, file, parents in commits[:MAX_COMMITS]:
        changes = [memory_change(at(*parent), at(commit.hash, file)) for parent in parents or [("", "")]]
        if changes and all(changes):  # a merge that took one side's version changed nothing
            found += [TimelineVersion(commit, change) for change in changes[:1] if change]
    return found, len(commits) > MAX_COMMITS


def _commits(
    history: StoreHistory, start: str, name: str
) -> Iterator[tuple[HistoryCommit, str, list[tuple[str, str]]]]:
    """The commits that changed the file, under all names that it had: each with its name then, and where it was before."""
    places = [(start, name)]
    while places:
        tip, file = places.pop()
        for commit in history.commits(tip, file):
            parents = [(parent, file) for parent in commit.parents]
            if not parents and (origin := history.renamed_from(commit.hash, file)):
                older, parent = origin
                parents = [(parent, older)]
                places.append((parent, older))
            yield commit, file, parents


def _read(read: Read, identifier: str, commit: str, name: str) -> Memory | None:
    data = read(commit, name) if commit else None
    try:
        return find_memory(data, identifier, f"{commit[:10]}:{name}") if data else None
    except CorruptError:  # a file that was broken for a while has no memories
        return None
