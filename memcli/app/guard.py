"""Guard: finds the memories whose triggers match a change, and those to show in its commit message."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.app.recall import recall
from memcli.app.usage import note_bundle
from memcli.app.workspace import Workspace, opened
from memcli.model.anchors import FileEdit
from memcli.model.memory import TRIGGERED_KINDS, Json, Memory
from memcli.model.recall import Query
from memcli.model.usage import INJECT
from memcli.policy.triggers import TriggerSet
from memcli.record import Record
from memcli.safety.screening import inspect, is_accepted

_MAX_LINE = 200


class GuardFinding(Record):
    """A memory, and the line of a change that its trigger matches. `is_enforced`: the check of the commit fails."""

    file: str
    line: int
    memory: Memory
    space: str
    trigger: str
    is_enforced: bool

    @property
    def text(self) -> str:
        """The first line of the text of the memory."""
        memory = self.memory
        line = next((line for line in memory.raw.splitlines() if line.strip()), memory.summary_micro).strip()
        return line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 1]}…"

    def to_json(self) -> dict[str, Json]:
        return {
            "file": self.file, "line": self.line, "kind": self.memory.kind, "id": self.memory.id,
            "path": self.memory.path, "space": self.space, "text": self.text, "trigger": self.trigger,
            "enforced": self.is_enforced,
        }  # fmt: skip


class GuardVerdict(Record):
    """The result of checking a change: findings by file and line, enforced ones first. `memories` is the number of memories
    with triggers; `withheld` of them matched, but contain instructions; `unchecked`: the ids of enforced ones with an invalid trigger;
    `is_from_clone`: nobody here has accepted the store, so that no memory is enforced.
    """

    findings: tuple[GuardFinding, ...] = ()
    files: int = 0
    lines: int = 0
    memories: int = 0
    withheld: int = 0
    unchecked: tuple[str, ...] = ()
    is_from_clone: bool = False

    @property
    def enforced(self) -> int:
        """The number of enforced findings."""
        return sum(finding.is_enforced for finding in self.findings)

    def to_json(self) -> dict[str, Json]:
        return {
            "files": self.files, "lines": self.lines, "memories": self.memories, "enforced": self.enforced,
            "withheld_untrusted": self.withheld, "unchecked": list(self.unchecked),
            "findings": [finding.to_json() for finding in self.findings],
        }  # fmt: skip


def guard(workspace: Workspace, edits: Sequence[FileEdit]) -> GuardVerdict:
    """Checks a change against the triggers of the spaces to read and of the user-wide store. Raises CorruptError, StoreError."""
    parts = [_check(workspace, name, name, edits) for name in workspace.spaces_to_read]
    if (other := workspace.elsewhere) is not None:
        parts += [_check(other, name, f"global/{name}", edits) for name in other.store.spaces()]
    return GuardVerdict(
        findings=tuple(
            sorted(
                (finding for part in parts for finding in part[0]),
                key=lambda f: (f.file, f.line, not f.is_enforced, f.space, f.memory.id),
            )
        ),
        files=len(edits),
        lines=sum(len(edit.added) for edit in edits),
        memories=sum(part[1] for part in parts),
        withheld=sum(part[2] for part in parts),
        unchecked=tuple(name for part in parts for name in part[3]),
        is_from_clone=not workspace.trust.is_accepted,
    )


def _check(
    workspace: Workspace, space: str, label: str, edits: Sequence[FileEdit]
) -> tuple[list[GuardFinding], int, int, list[str]]:
    """The findings in one space, the number of its memories with triggers, of those that matched but are untrusted, and the ids
    of those that are enforced, but have an invalid trigger."""
    from memcli.app.living import living

    with opened(workspace, space) as (_, view):
        session = living(workspace) if view.has_sessions() else ""
        visible = view.visible(Query(topic="", now=workspace.clock(), session=session))
        triggered = view.fetch([row for row in view.triggers if row in visible])
        memories = [memory for memory in triggered if memory.kind in TRIGGERED_KINDS or memory.enforce]
        policy = workspace.in_force(view.policy)
    # A rule that came with a clone must not stop commits before somebody here has reviewed it.
    binding = {n for n, one in enumerate(memories) if one.enforce and workspace.trust.is_reviewed(space, one.id)}
    triggers = TriggerSet([memory.triggers for memory in memories])
    for owner, text in triggers.refused:
        workspace.warn(
            f"{memories[owner].path} has a trigger that is not a valid RE2 pattern and never matches: {text}"
        )
    found = [(edit.file, match) for edit in edits for match in triggers.matches(edit)]
    matched = sorted({owner for _, (owner, _, _) in found})
    trusted = []  # without instructions to an agent, or accepted here with them
    for owner in matched:
        memory, instructs = memories[owner], inspect(memories[owner])
        is_reviewed = workspace.trust.is_reviewed(space, memory.id)
        if instructs is None or (is_reviewed and is_accepted(memory, instructs)):
            trusted.append(owner)
    shown = dict(zip(trusted, workspace.redactor.show([memories[n] for n in trusted], policy), strict=True))

    findings = []
    for file, (owner, line, text) in found:
        if owner in shown:
            memory = shown[owner]
            trigger = memory.triggers[memories[owner].triggers.index(text)]
            findings.append(GuardFinding(file, line, memory, label, trigger, owner in binding))
    unchecked = [memories[n].id for n in sorted(binding & {owner for owner, _ in triggers.refused})]
    return findings, len(memories), len(matched) - len(trusted), unchecked


ADVICE_BACKEND = "basic"
"""By words alone: a change is no question, and a hook that waits for vectors would delay the commit."""
ADVICE_KINDS = ("constraint", "negative", "decision")
_MIN_POINTS = 5.0  # reached by two words of the change in summary and text, or one in the path and either of them


def consult(workspace: Workspace, edits: Sequence[FileEdit], limit: int) -> list[str]:
    """At most `limit` lines about a change, constraints first. The backend of the workspace must be ADVICE_BACKEND. Raises as
    recall."""
    # Without the weight of importance, which would let a memory reach _MIN_POINTS without a word of the change.
    query = Query(
        topic="", now=workspace.clock(), limit=limit, kinds=ADVICE_KINDS, min_score=_MIN_POINTS,
        weights={"importance": 0.0}, edits=tuple(edits),
    )  # fmt: skip
    # The recall itself notes nothing: nobody asked a question, and what is shown counts as injected.
    (bundle,) = recall(workspace.copy_with(is_noted=False), [query], with_global=False)
    note_bundle(workspace, bundle, INJECT)
    found = sorted((section.memory for section in bundle.sections), key=lambda memory: ADVICE_KINDS.index(memory.kind))
    return [f"{memory.kind} [{memory.id}] {memory.summary_micro or memory.raw}" for memory in found]
