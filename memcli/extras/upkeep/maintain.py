"""Carries out the plan of upkeep, space by space, each in one write that `restore --run` undoes.

In the background, only spaces that git does not track are maintained; for a tracked space, a plan is put into the inbox.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby

from memcli.app.candidate import note_of, with_note
from memcli.app.check import is_claim
from memcli.app.inbox import PLAN
from memcli.app.remember import Outcome
from memcli.app.space import clusters
from memcli.app.workspace import Workspace, load_space
from memcli.claims.claim import claim_of, neighbours, terms_of
from memcli.claims.comparison import Relation, compare
from memcli.clock import days_between
from memcli.codec.space import memory_digest
from memcli.errors import UsageError
from memcli.extras.upkeep.plan import TASKS, Maintained, UpkeepPlan, plan
from memcli.extras.upkeep.step import (
    REASONS,
    Given,
    Ledger,
    MemoryPair,
    Pending,
    ledger_from_json,
    ledger_to_json,
    use_key,
)
from memcli.extras.upkeep.tasks import ARCHIVE_NAME, CLUSTERS_NAME, REVIEW_NAME, USAGE_NAME
from memcli.model.findings import RELATED
from memcli.model.links import elsewhere
from memcli.model.memory import Json, Memory
from memcli.model.names import text_hash
from memcli.model.space import Change, Space
from memcli.model.usage import JUDGEMENTS
from memcli.ports import Shelf, Snapshot
from memcli.record import defaults, replace


def check_tasks(names: Sequence[str]) -> frozenset[str]:
    """The names as a set; all tasks if there are none. Raises UsageError for an unknown name."""
    for name in names:
        if name not in TASKS:
            raise UsageError(f"no task {name[:40]!r}", f"tasks: {', '.join(TASKS)}")
    return frozenset(names or TASKS)


def preview(workspace: Workspace, tasks: Collection[str], spaces: Sequence[str] | None = None) -> list[Maintained]:
    """What `maintain` would do now, by space; changes nothing. Raises CorruptError, StoreError."""
    ledger = _load(workspace)
    done = []
    for name in workspace.spaces_to_read if spaces is None else spaces:
        pairs = _unsettled(workspace, name) if REVIEW_NAME in tasks else ()
        with closing(workspace.store.open(name)) as snapshot:
            digests: dict[str, str] = {}
            known, objects = ledger.known(name), list[Memory]()
            for memory in snapshot.memories():
                if memory.id in known:
                    digests[memory.id] = memory_digest(memory)
                objects.append(replace(memory, **_UNSEEN))
            space = replace(snapshot.header(), objects=tuple(objects))
            found = plan(objects, _given(workspace, space, digests, pairs, tasks, ledger), tasks)
            changed = {memory.id for step in found.steps for memory in step.memories}
            whole = {memory.id: memory for memory in snapshot.memories() if memory.id in changed} if changed else {}
        done.append(Maintained(name, found.with_parts(whole, tuple(_UNSEEN))))
    return done


# These fields take most of the space in memory, so a preview drops them, and reads them again for the memories that would change.
_UNSEEN: Mapping[str, Json] = {
    name: default
    for name, default in defaults(Memory).items()
    if name.startswith("summary_")
    or name in ("content", "metadata", "procedure", "chunks", "context", "anchors", "extra")
}
"""The fields that no task reads, with their defaults."""


def maintain(
    workspace: Workspace,
    tasks: Collection[str],
    spaces: Sequence[str] | None = None,
    only: Collection[str] | None = None,
) -> Iterator[Maintained]:
    """Carries out the tasks in one space after the other, each in one write. A run that was killed is finished by the next
    call. With `only`, no memories but those with these ids are changed.

    Raises LockedError while another process maintains the store, CorruptError, StoreError.
    """
    with workspace.upkeep.turn(workspace.clock()):
        for name in workspace.spaces_to_read if spaces is None else spaces:
            _settle(workspace, name)
            yield _maintain(workspace, name, tasks, only)


def _maintain(
    workspace: Workspace, name: str, tasks: Collection[str], only: Collection[str] | None = None
) -> Maintained:
    """Maintains one space; the turn is held. Raises LockedError, CorruptError, StoreError."""
    ledger = _load(workspace)
    # Before the space is loaded, so that the memory that the two take does not add up.
    pairs = _unsettled(workspace, name) if REVIEW_NAME in tasks else ()
    space = load_space(workspace.store, name)
    given = _given(workspace, space, _digests(space, ledger), pairs, tasks, ledger)
    if only is not None:
        given = _without(given, frozenset(memory.id for memory in space.objects if memory.id not in only))
    planned = plan(space.objects, given, tasks)
    if not planned.after:
        _fold(workspace, name, given, tasks)
        return Maintained(name, planned)
    seen = {memory.id: memory for memory in space.objects}
    done = planned

    def change(shelf: Shelf) -> Change:
        nonlocal done, given
        now = shelf.load()
        changed = frozenset(memory.id for memory in now.objects if seen.get(memory.id) != memory)
        # Only a space that changed meanwhile is planned again, so that the lock is held for as short as possible.
        if changed or len(now.objects) != len(seen):
            given = _without(given, changed | given.fixed)
            done = plan(now.objects, given, tasks)
        if not done.after:
            return Change()
        before = {name: memory_digest(memory) for name, memory in done.before.items()}
        after = {name: memory_digest(memory) for name, memory in done.after.items()}
        judged = {step.id for step in done.steps if step.task == USAGE_NAME}
        others = {memory.id for step in done.steps if step.task != USAGE_NAME for memory in step.memories}
        folded = map(use_key, given.uses if USAGE_NAME in tasks else ())
        # Before the write: the next run compares these digests with the memories, and so knows whether it was made.
        pending = Pending(before, after, frozenset(judged - others), frozenset(folded))
        _save(workspace, _load(workspace).begin(name, pending))
        return Change(tuple(done.after.values()), now=given.now, displaced=frozenset(done.after), tasks=_touched(done))

    # The uses are folded behind the write: a run that is killed in between folds them in `_settle`.
    receipt = workspace.store.update(name, change)
    _fold(workspace, name, given, tasks)
    _save(workspace, _load(workspace).finish(name))
    if given.clusters:
        clusters(workspace, name)  # the cached ones belong to the space before the write
    carried_out = {(step.task, step.id) for step in done.steps}
    skipped = tuple(step for step in planned.steps if step.memories and (step.task, step.id) not in carried_out)
    return Maintained(name, done, skipped, receipt.run)


def _given(
    workspace: Workspace,
    space: Space,
    digests: Mapping[str, str],
    pairs: Sequence[MemoryPair],
    tasks: Collection[str],
    ledger: Ledger,
) -> Given:
    """The input of these tasks beside the memories of a space. `digests` are those of the memories in the ledger."""
    name = space.name
    uses = [use for use in workspace.usage.read() if use.space == name]
    pending = ledger.pending.get(name)
    if pending is not None and pending.is_written(digests):
        uses = [use for use in uses if use_key(use) not in pending.uses]
    # Only where none are known of this state of the space: to find them takes seconds in a large one.
    has_new_clusters = CLUSTERS_NAME in tasks and bool(clusters(workspace, name, only_known=True).reason)
    return Given(
        watched_since=ledger.seen(name, uses).since.get(name, ""),
        now=workspace.clock(), policy=workspace.in_force(space.policy), is_derived=space.policy.is_derived, uses=uses, accesses=workspace.usage.counts(name),
        undone=ledger.undone(name, digests),
        reasons=_rested_on(workspace, name) if ARCHIVE_NAME in tasks else frozenset(),
        clusters=clusters(workspace, name).found if has_new_clusters else (),
        pairs=pairs,
    )  # fmt: skip


def _unsettled(workspace: Workspace, name: str) -> Sequence[MemoryPair]:
    """The contradictions and duplicates of a space, without pairs that the user decided to keep; and the most similar related
    pairs that are not linked."""
    if workspace.store.policy(name).is_derived:
        return ()  # the user cannot settle them there: the next `ingest` would undo it
    claimed, related = [], []
    for relation, newer, older in scan(workspace, name, by_meaning=True):
        ends = ((newer, older), (older, newer))
        is_linked = any(link["to"] == other.id for one, other in ends for link in one.links)
        if relation.kind != RELATED and not keeps_both(newer, older):
            claimed.append((relation, newer, older))
        elif relation.kind == RELATED and not is_linked:
            related.append((relation, newer, older))
    related.sort(key=lambda found: -found[0].score)
    pairs = (*claimed, *related[:_MOST_RELATED])
    return [MemoryPair(relation.kind, newer.id, older.id, relation.reason) for relation, newer, older in pairs]


_MOST_RELATED = 10
"""The most related pairs that are listed for a space."""


def scan(
    workspace: Workspace, space: str | None = None, *, by_meaning: bool = False
) -> list[tuple[Relation, Memory, Memory]]:
    """All contradictions, near-duplicates and related pairs of active memories of a space, each with the newer memory first,
    in order of the newer memory.

    With `by_meaning`, texts that may be about one matter are embedded and compared. Raises CorruptError, StoreError.
    """
    with closing(workspace.store.open(space or workspace.space)) as snapshot:
        now = workspace.clock()
        claiming = (memory for memory in snapshot.memories() if is_claim(memory, now))
        known = sorted(((m.created_at, m.id, terms_of(m.raw)) for m in claiming), key=lambda one: one[:2])
        # The terms alone decide which pairs are compared, so that few of the texts are in memory at once.
        places = list(neighbours([terms for *_, terms in known]))
        wanted = {known[place][1] for pair in places for place in pair}
        read = {memory.id: memory for memory in snapshot.memories() if memory.id in wanted} if wanted else {}
        near = [(read[known[later][1]], read[known[earlier][1]]) for later, earlier in places]
        cosines = _cosines(workspace, snapshot, near) if by_meaning else {}
    found = []
    for newer, older in near:
        relation = compare(claim_of(newer.raw), claim_of(older.raw), cosines.get((newer.id, older.id)))
        if relation is not None:
            found.append((relation, newer, older))
    return sorted(found, key=lambda one: (one[1].created_at, one[1].id, one[2].id))


def keeps_both(one: Memory, other: Memory) -> bool:
    """Whether the user decided to keep both memories, although they contradict or repeat each other."""
    return any(link["to"] == other.id and link.get("accepted") for link in one.links)


def _cosines(
    workspace: Workspace, snapshot: Snapshot, near: Sequence[tuple[Memory, Memory]]
) -> dict[tuple[str, str], float]:
    """The cosine of the texts of each pair, by their ids, for pairs that may be related; empty without embeddings."""
    # Embedding is slow: a pair that would be unrelated even at this cosine is left out.
    likely = [two for two in near if compare(claim_of(two[0].raw), claim_of(two[1].raw), _LIKELY) is not None]
    found: dict[tuple[str, str], float] = {}
    with closing(workspace.index.view(snapshot)) as view:
        rows = {entry.id: row for row, entry in view.entries().items()} if likely else {}
        for newer in {memory.id: memory for memory, _ in likely}.values():
            dense = view.dense([newer.raw])
            if not dense:
                return {}
            others = [older for one, older in likely if one.id == newer.id]
            # By name, since an index on a server measures only the nearest of a very large space unasked.
            best = dense[0].including([rows[one.id] for one in others if one.id in rows]).by_row()
            found.update(((newer.id, one.id), best[rows[one.id]]) for one in others if rows.get(one.id) in best)
    return found


_LIKELY = 0.95


def _rested_on(workspace: Workspace, name: str) -> frozenset[str]:
    """The ids of the memories of a space to which memories of other spaces link as their reason."""
    others = [other for other in workspace.store.spaces() if other != name]
    objects = (
        memory
        for other in others
        if not workspace.store.policy(other).is_derived  # their memories link to no other space
        for memory in load_space(workspace.store, other).objects
    )
    links = (link for memory in objects for link in memory.links if link["relation"] in REASONS)
    places = (elsewhere(link["to"]) for link in links)
    return frozenset(place[1] for place in places if place is not None and place[0] == name)


def _digests(space: Space, ledger: Ledger) -> dict[str, str]:
    """The digests of the memories of a space that are in the ledger, by id."""
    known = ledger.known(space.name)
    return {memory.id: memory_digest(memory) for memory in space.objects if memory.id in known}


def _settle(workspace: Workspace, name: str) -> None:
    """Finishes the run that was killed in a space: if its write was made, folds the uses that it took in."""
    ledger = _load(workspace)
    pending = ledger.pending.get(name)
    if pending is None:
        return
    space = load_space(workspace.store, name)
    is_written = pending.is_written(_digests(space, ledger))
    if is_written:
        workspace.usage.fold([use for use in workspace.usage.read() if use_key(use) in pending.uses])
    _save(workspace, ledger.finish(name, is_written=is_written))


def _fold(workspace: Workspace, name: str, given: Given, tasks: Collection[str]) -> None:
    """Folds the uses that the run took in, if `usage` was among its tasks. Raises StoreError."""
    if USAGE_NAME not in tasks or not given.uses:
        return
    ledger = _load(workspace)
    if (seen := ledger.seen(name, given.uses)) is not ledger:
        _save(workspace, seen)
    workspace.usage.fold(given.uses)


def _without(given: Given, fixed: frozenset[str]) -> Given:
    """The input of the tasks when the memories `fixed` must not change."""
    # A judgement of one of them is left for the next run, with the memories that were judged together with it.
    waiting = {use_key(use) for use in given.uses if use.act in JUDGEMENTS and not fixed.isdisjoint(use.ids)}
    return replace(given, fixed=fixed, uses=[use for use in given.uses if use_key(use) not in waiting])


def _touched(done: UpkeepPlan) -> Mapping[str, tuple[str, ...]]:
    """The ids of the memories that each task changed, sorted."""
    touched: dict[str, dict[str, None]] = {}
    for step in done.steps:
        if step.memories:
            touched.setdefault(step.task, {}).update(dict.fromkeys(memory.id for memory in step.memories))
    return {task: tuple(sorted(ids)) for task, ids in touched.items()}


def _load(workspace: Workspace) -> Ledger:
    return ledger_from_json(workspace.upkeep.load())


def _save(workspace: Workspace, ledger: Ledger) -> None:
    workspace.upkeep.save(ledger_to_json(ledger))


AUTO = "auto"
_LEAST_DAYS = 1 / 24  # an hour between two runs in the background
# One id for all plans: a newer plan takes the place of the one that waits.
_ID, _PATH = "mem_upkeep", "upkeep/plan"
_MOST_LISTED = 20


def is_due(workspace: Workspace) -> bool:
    """Whether upkeep may begin in the background now: the policy of the main space enables it, and the last attempt began an
    hour ago or more."""
    # As it is in force: in a clone that nobody accepted, a policy starts nothing.
    policy = workspace.in_force(workspace.store.policy(workspace.main))
    if policy.upkeep != AUTO:
        return False
    tried, now = workspace.upkeep.tried(), workspace.clock()
    return not tried or days_between(tried, now) >= _LEAST_DAYS


def maintain_behind(workspace: Workspace) -> list[Maintained]:
    """If upkeep is due, maintains the spaces that git does not track, and proposes a plan for each tracked one. Returns what
    was done. Raises LockedError, CorruptError, StoreError.
    """
    if not is_due(workspace):
        return []
    # Before the work: an attempt that fails is not repeated by every command.
    workspace.upkeep.try_at(workspace.clock())
    done: list[Maintained] = []
    for name in workspace.spaces_to_read:
        policy = workspace.store.policy(name)
        if workspace.in_force(policy).grace_days == 0:
            continue  # without a grace period nothing can be undone: only the user may start this
        if policy.is_tracked:
            _propose(workspace, name)
        else:
            done += maintain(workspace, TASKS, [name])
    return done


def _propose(workspace: Workspace, name: str) -> None:
    """Puts a plan for a space into the inbox, unless the plan that waits there has all memories that this one would change by
    more than feedback."""
    steps = [step for one in preview(workspace, TASKS, [name]) for step in one.plan.steps]
    wanted = {memory.id for step in steps if step.task != USAGE_NAME for memory in step.memories}
    waiting = next((m for m in load_space(workspace.inbox, name).objects if m.id == _ID), None)
    if not wanted - (_ids(waiting) if waiting else set()):
        return
    changing = [step for step in steps if step.memories]
    ids = sorted({memory.id for step in changing for memory in step.memories})
    by_task = [(task, list(found)) for task, found in groupby(changing, key=lambda step: step.task)]
    counts = ", ".join(f"{task} {len(found)}" for task, found in by_task)
    many = "1 memory" if len(ids) == 1 else f"{len(ids)} memories"
    micro = f"Upkeep would change {many} of space {name}: {counts}."
    lines = []
    for task, found in by_task:
        lines += [f"- {task} {step.path}: {step.reason}" for step in found[:_MOST_LISTED]]
        if len(found) > _MOST_LISTED:
            lines.append(f"- {task}: {len(found) - _MOST_LISTED} more")
    raw, now = "\n".join([micro, "", *lines]), workspace.clock()
    memory = Memory(
        id=_ID, path=_PATH, kind="custom", raw=raw, summary_micro=micro, summary_short=micro,
        metadata={"hash": text_hash(raw, b""), "space": name}, created_at=now, updated_at=now,
    )  # fmt: skip
    proposed = with_note(memory, {PLAN: ids})
    workspace.inbox.update(name, lambda _: Change((proposed,), now=now))


def carry_out(workspace: Workspace, plan: Memory) -> list[Outcome]:
    """Carries out an accepted plan: maintains the memories that it names, by their current state. Returns an outcome for each
    changed memory. Raises LockedError, CorruptError, StoreError."""
    done = list(maintain(workspace, TASKS, [workspace.space], _ids(plan)))
    after = [memory for one in done for memory in one.plan.after.values()]
    found = sorted(after, key=lambda memory: (memory.path, memory.id))
    return [Outcome("updated", memory.id, memory.path, workspace.space, memory.version) for memory in found]


def turn_down(workspace: Workspace, plan: Memory) -> None:
    """Records that a plan was rejected: its memories are not proposed again until they change. Raises LockedError,
    StoreError."""
    name, ids = workspace.space, _ids(plan)
    with workspace.upkeep.turn(workspace.clock()):
        digests = {m.id: memory_digest(m) for m in load_space(workspace.store, name).objects if m.id in ids}
        _save(workspace, _load(workspace).with_done(name, digests))


def _ids(plan: Memory) -> set[str]:
    """The ids of the memories that a plan in the inbox would change."""
    noted = note_of(plan).get(PLAN)
    return {str(name) for name in noted} if isinstance(noted, list) else set()
