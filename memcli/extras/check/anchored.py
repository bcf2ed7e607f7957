"""Checks of memories against the code: whether anchored code has changed, and whether path triggers still match files; and
the acceptance of the current code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing

from memcli.app.anchors import Checker, anchors_of, tracked_spaces
from memcli.app.workspace import Workspace, warn_of_missing
from memcli.code.anchors import Anchor, is_inside, read, renewed
from memcli.errors import UsageError
from memcli.ingest.code import WorkTree
from memcli.model.anchors import GONE, Checked
from memcli.model.memory import TRIGGERED_KINDS, Json, Memory, increased
from memcli.model.space import Change
from memcli.policy.triggers import lost_globs, path_triggers
from memcli.ports import Shelf
from memcli.record import Record, replace

# People act on memories of these kinds, whatever the code has become meanwhile.
BINDING_KINDS = ("decision", "constraint", "negative", "procedure")
"""The kinds of which a stale or gone anchor fails the check."""


class AnchorFinding(Record):
    """The result of the check of one anchor. `number` is its index among the anchors of the memory."""

    space: str
    memory: Memory
    number: int
    checked: Checked

    @property
    def file(self) -> str:
        """The file that the anchor names, which may have been renamed since: `checked.file` is its current name."""
        anchor = read(self.memory.anchors[self.number])
        return anchor.file if anchor else ""

    @property
    def is_failure(self) -> bool:
        """Whether the check fails because of this anchor."""
        return self.checked.is_doubtful and self.memory.kind in BINDING_KINDS

    def to_json(self) -> dict[str, Json]:
        memory = self.memory
        about = {"space": self.space, "id": memory.id, "path": memory.path, "kind": memory.kind}
        return {**about, **self.checked.to_json()}


class Unmatched(Record):
    """A path trigger that matched files when its memory was last edited, and matches none now, so that it never fires.

    `file` is one that it matched, `now` the current name of this file if git records a rename, or empty.
    """

    space: str
    memory: Memory
    trigger: str
    file: str
    now: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether the check fails because of this trigger."""
        return self.memory.kind in BINDING_KINDS or self.memory.enforce

    def to_json(self) -> dict[str, Json]:
        memory = self.memory
        about = {"space": self.space, "id": memory.id, "path": memory.path, "kind": memory.kind}
        now = {"now": self.now} if self.now else {}
        return {**about, "state": GONE, "trigger": self.trigger, "file": self.file, **now}


def unmatched_triggers(
    workspace: Workspace,
    code: WorkTree,
    spaces: Sequence[str],
    is_named: Callable[[str], bool] = lambda _: True,
    since: str | None = None,
) -> list[Unmatched]:
    """The path triggers of active memories whose files were all deleted or renamed since the memory was last edited.

    Parameters and errors are those of `verify`.
    """
    triggered: list[tuple[str, Memory]] = []
    for space in spaces:
        shown = _current(workspace, space, "triggers", lambda memory: bool(path_triggers(memory.triggers)))
        found_here = [m for m in shown if m.kind in TRIGGERED_KINDS or m.enforce]
        triggered += [(space, m) for m in sorted(found_here, key=lambda m: (m.path, m.id))]
    lost = lost_globs([m.triggers for _, m in triggered], code.files()) if triggered else []
    if not lost:
        return []
    # A trigger that never matched a file may be meant for files to come: only deleted files make it a finding. One call of
    # git finds them for all memories; each compares them with the time of its own last edit.
    deleted = code.deleted(min(triggered[n][1].updated_at for n, _ in lost))
    changed = code.changed(since, sorted({file for file, _, _ in deleted})) if since is not None else None
    found = []
    for n, trigger in lost:
        space, memory = triggered[n]
        matched = [d for d in deleted if not d[2] or d[2] > memory.updated_at]  # later than the edit, or not committed
        one = next((matched[k] for k in range(len(matched)) if not lost_globs([[trigger]], [matched[k][0]])), None)
        if one and is_named(one[0]) and (changed is None or one[0] in changed):
            found.append(Unmatched(space, memory, trigger, one[0], code.renamed(one[0], one[1]) or ""))
    return found


def _current(workspace: Workspace, space: str, name: str, has: Callable[[Memory], bool]) -> Sequence[Memory]:
    """The active, not superseded memories of a space for which `has` is true, with their id, path, kind and field `name`
    redacted."""
    with closing(workspace.store.open(space)) as snapshot:
        warn_of_missing(workspace, snapshot)
        found = [m for m in snapshot.memories(name) if m.active and m.superseded_by is None and has(m)]
        return workspace.redactor.show(found, snapshot.header().policy, ("id", "path", "kind", name))


def open_code(workspace: Workspace) -> WorkTree:
    """The work tree that the anchors of the store refer to. Raises UsageError if the store is in none."""
    code = workspace.load_code()
    if code is None:
        raise UsageError(
            "this store is not in a work tree: its memories have no anchors", "run the command in a repository"
        )
    return code


def verify(
    workspace: Workspace,
    code: WorkTree,
    spaces: Sequence[str],
    is_named: Callable[[str], bool] = lambda _: True,
    since: str | None = None,
) -> list[AnchorFinding]:
    """Checks the anchors of all active memories, in order of space and path: those in files for which `is_named` is true and,
    with `since`, that changed since this commit.

    Raises CorruptError, StoreError, and the error of git if `since` is no commit.
    """
    anchored: list[tuple[str, Memory, int, Anchor, str]] = []
    for space in spaces:
        shown = _current(workspace, space, "anchors", lambda memory: bool(memory.anchors))
        for memory in sorted(shown, key=lambda m: (m.path, m.id)):
            found = (one for one in anchors_of(memory) if is_named(one[1].file))
            anchored += [(space, memory, number, anchor, commit) for number, anchor, commit in found]
    if since is not None:
        # An anchor of somebody else may name a path that climbs out of the repository, which git would refuse.
        changed = code.changed(since, sorted({one[3].file for one in anchored if is_inside(one[3].file)}))
        anchored = [one for one in anchored if one[3].file in changed]
    # All at once, so that git is asked once, however many commits the anchors name.
    checked = Checker(code).check([(anchor, commit) for *_, anchor, commit in anchored])
    return [
        AnchorFinding(space, memory, number, now)
        for (space, memory, number, _, _), now in zip(anchored, checked, strict=True)
        if now is not None
    ]


def reanchor(workspace: Workspace, code: WorkTree, findings: Sequence[AnchorFinding]) -> list[AnchorFinding]:
    """Renews the anchors that moved or are stale, by the current code, in one write for each space. Returns the findings whose
    anchors were renewed; a memory whose anchors changed since the check is skipped.

    Raises LockedError, CorruptError, StoreError.
    """
    wanted = [f for f in findings if not f.checked.is_fresh and _renewed(code, f) is not None]
    commits = code.commits(sorted({finding.checked.file for finding in wanted}))
    accepted = []
    for space in dict.fromkeys(finding.space for finding in wanted):
        here = [finding for finding in wanted if finding.space == space]
        fresh: dict[str, Memory] = {}
        for finding in here:
            made = _renewed(code, finding) or {}
            if commit := commits.get(finding.checked.file):
                made = {**made, "commit": commit}
            # A memory may have several anchors to renew: each change builds on the one before.
            before = fresh.get(finding.memory.id, finding.memory)
            anchors = (*before.anchors[: finding.number], made, *before.anchors[finding.number + 1 :])
            fresh[before.id] = replace(before, anchors=anchors)
        done = _write(workspace, space, {f.memory.id: f.memory for f in here}, fresh)
        accepted += [finding for finding in here if finding.memory.id in done]
    return accepted


def _renewed(code: WorkTree, finding: AnchorFinding) -> dict[str, Json] | None:
    """The anchor for the current code; None if the code is gone."""
    if finding.checked.state == GONE:
        return None
    return renewed(finding.memory.anchors[finding.number], finding.checked, code.text(finding.checked.file))


def _write(workspace: Workspace, space: str, before: dict[str, Memory], after: dict[str, Memory]) -> frozenset[str]:
    """Stores the anchors of `after` in the memories that still have those of `before`; returns the ids of these memories."""
    now = workspace.clock()
    done: set[str] = set()

    def apply(shelf: Shelf) -> Change:
        found = [m for name in after if (m := shelf.get(name)) is not None and m.anchors == before[name].anchors]
        # A store on a server calls this again when its transaction is repeated.
        done.clear()
        done.update(m.id for m in found)
        changed = (replace(m, anchors=after[m.id].anchors, updated_at=now, version=increased(m.version)) for m in found)
        return Change(tuple(changed), now=now)

    workspace.store.update(space, apply)
    return frozenset(done)


def count_rules(workspace: Workspace) -> tuple[int, int]:
    """The number of enforced memories of tracked spaces, and the number of memories that fail `check code`, for an anchor or
    for a trigger; 0 of these outside of a work tree. Raises CorruptError, StoreError."""
    spaces = tracked_spaces(workspace)
    count = sum(len(_current(workspace, space, "enforce", lambda memory: memory.enforce)) for space in spaces)
    code = workspace.load_code()
    if code is None:
        return count, 0
    stale = {one.memory.id for one in verify(workspace, code, spaces) if one.is_failure}
    stale |= {one.memory.id for one in unmatched_triggers(workspace, code, spaces) if one.is_failure}
    return count, len(stale)
