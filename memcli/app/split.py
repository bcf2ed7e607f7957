"""Split: what older versions of memcli read from files and commits into `main` goes to the derived space."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memcli.app.opening import load
from memcli.app.repo import COPIED, Lost, sync_repo
from memcli.app.workspace import Workspace
from memcli.codec.audit import entries
from memcli.errors import MemcliError
from memcli.model.memory import Memory, telling_line
from memcli.model.names import memory_id
from memcli.model.references import removal, renamed, without_dangling
from memcli.model.shapes import OBSERVED
from memcli.model.space import Change, Space
from memcli.policy.draft import is_auto_pinned
from memcli.ports import Shelf
from memcli.record import Record, replace
from memcli.settings import REPO

_BY_HAND = frozenset(
    ["browse", "edit", "feedback", "forget", "inbox", "link", "pin", "remember", "tag", "trust", "unlink", "unpin"]
)
"""The commands by which people change a memory."""


class Split(Record):
    """What goes to the derived space, what is removed because its source no longer has it, and how many memories that
    were read stay in `main`, because somebody changed, pinned or linked them. `run` is where the trash has what went."""

    moved: tuple[Memory, ...]
    dropped: tuple[Memory, ...]
    kept: int
    run: str = ""


def plan(workspace: Workspace, find_lost: Lost = lambda _: ()) -> Split:
    """What a split would do. Raises CorruptError, StoreError, and what `find_lost` raises."""
    space = load(workspace, workspace.main)
    read = {memory.id: memory for memory in space.objects if memory.provenance.get("source") == OBSERVED}
    kept = _kept(workspace, space, read.values(), find_lost)
    left = [memory for name, memory in read.items() if name not in kept]
    return Split(tuple(m for m in left if m.active), tuple(m for m in left if not m.active), len(read) - len(left))


def split(workspace: Workspace, find_lost: Lost = lambda _: ()) -> Split:
    """Moves what `plan` says: first into the derived space, then out of `main`, so that it can be done again wherever it
    ends. Raises what `plan` raises, LockedError."""
    planned = plan(workspace, find_lost)
    gone = {memory.id: memory for memory in (*planned.moved, *planned.dropped)}
    if not gone:
        return planned
    now = workspace.clock()
    workspace.store.update(REPO, lambda shelf: Change(_arriving(shelf, planned.moved), now=now))

    def leave(shelf: Shelf) -> Change:
        unchanged = {name for name, memory in gone.items() if shelf.get(name) == memory}
        return removal(shelf, unchanged, now)

    receipt = workspace.store.update(workspace.main, leave)
    sync_repo(workspace, find_lost)
    return replace(planned, run=receipt.run)


def _arriving(shelf: Shelf, moved: Iterable[Memory]) -> tuple[Memory, ...]:
    """The memories as those of the derived space, but for those that were read into it already."""
    ids = {m.id: known.id if (known := shelf.at(m.path)) else memory_id(REPO, m.path) for m in moved}
    new = [renamed(m, ids) for m in moved if shelf.at(m.path) is None and shelf.get(ids[m.id]) is None]
    names = {memory.id for memory in new}
    sound = (without_dangling(m, lambda name: name in names or shelf.get(name) is not None) for m in new)
    return tuple(replace(m, metadata=_metadata(m)) for m in sound)


def _metadata(memory: Memory) -> dict[str, object]:
    return {**{name: value for name, value in memory.metadata.items() if name != COPIED}, "space": REPO}


def _kept(workspace: Workspace, space: Space, read: Iterable[Memory], find_lost: Lost) -> frozenset[str]:
    """The ids of the memories that stay: what was told, what somebody did something to, and what these refer to."""
    by_id = {memory.id: memory for memory in space.objects}
    by_hand = _changed_by_hand(workspace)
    read = list(read)
    lost = frozenset(find_lost({_commit(memory) for memory in read if _commit(memory)}))
    touched = {m.id for m in read if m.id in by_hand or _is_touched(workspace, space, m, lost)}
    kept: set[str] = set()
    waiting = [name for name, memory in by_id.items() if memory.provenance.get("source") != OBSERVED or name in touched]
    while waiting:
        name = waiting.pop()
        if name in by_id and name not in kept:
            kept.add(name)
            memory = by_id[name]
            waiting += [*(link["to"] for link in memory.links), *filter(None, [memory.superseded_by])]
    return frozenset(kept)


def _changed_by_hand(workspace: Workspace) -> frozenset[str]:
    """The ids of what people changed on this machine, as the audit log says."""
    acts = entries(workspace.audit.read(workspace.main))
    changes = (
        change for act in acts if str(act.get("command")).partition(" ")[0] in _BY_HAND for change in act["changes"]
    )
    return frozenset(str(change.get("id")) for change in changes if change.get("before"))


def _is_touched(workspace: Workspace, space: Space, memory: Memory, lost: Collection[str]) -> bool:
    """Whether the memory shows that somebody did something to it."""
    if memory.triggers or memory.enforce or COPIED in memory.metadata:
        return True
    if memory.pinned and not is_auto_pinned(replace(memory, pinned=False), space.policy):
        return True
    if _commit(memory):
        # What is read from a commit never changes; without one version more, nobody has forgotten it.
        return memory.version > 1 or (not memory.active and _commit(memory) not in lost)
    return not memory.active and _is_in_file(workspace, memory)


def _is_in_file(workspace: Workspace, memory: Memory) -> bool:
    """Whether the file still says what an inactive memory says, so that somebody must have forgotten it."""
    code = workspace.load_code()
    try:
        text = code.text(str(memory.metadata.get("source"))) if code else ""
    except MemcliError:
        return False
    line = telling_line(memory.raw)
    return bool(line) and line in text


def _commit(memory: Memory) -> str:
    commit = memory.provenance.get("commit") if memory.kind == "diff" else None
    return commit if isinstance(commit, str) else ""
