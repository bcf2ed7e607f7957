"""Maintain: carry out the plan of upkeep, space by space, each in one write that `restore --run` undoes.

Upkeep in the background: private and derived spaces are maintained, for the others a plan waits in the inbox.
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
    """The tasks of these names, or all. Raises UsageError."""
    for name in names:
        if name not in TASKS:
            raise UsageError(f"no task {name[:40]!r}", f"tasks: {', '.join(TASKS)}")
    return frozenset(names or TASKS)


def preview(workspace: Workspace, tasks: Collection[str], spaces: Sequence[str] | None = None) -> list[Maintained]:
    """What `maintain` would do now. Changes nothing."""
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


_UNSEEN: Mapping[str, Json] = {
    name: default
    for name, default in defaults(Memory).items()
    if name.startswith("summary_")
    or name in ("content", "metadata", "procedure", "chunks", "context", "anchors", "extra")
}
"""What no task looks at, empty: most of what a memory takes. A preview holds a whole space without it."""


def maintain(
    workspace: Workspace,
    tasks: Collection[str],
    spaces: Sequence[str] | None = None,
    only: Collection[str] | None = None,
) -> Iterator[Maintained]:
    """Does the tasks in one space after the other, each whole or not at all: interrupted, the next call goes on. With
    `only`, changes no other memories than these.

    Raises LockedError while another process is at it, CorruptError, StoreError.
    """
    with workspace.upkeep.turn(workspace.clock()):
        for name in workspace.spaces_to_read if spaces is None else spaces:
            _settle(workspace, name)
            yield _maintain(workspace, name, tasks, only)


def _maintain(
    workspace: Workspace, name: str, tasks: Collection[str], only: Collection[str] | None = None
) -> Maintained:
    ledger = _load(workspace)
    pairs = _unsettled(workspace, name) if REVIEW_NAME in tasks else ()  # before all of the space is in memory
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
        if changed or len(now.objects) != len(seen):  # else the plan holds, and the lock is held for less long
            given = _without(given, changed | given.fixed)
            done = plan(now.objects, given, tasks)
        if not done.after:
            return Change()
        was = {name: memory_digest(memory) for name, memory in done.before.items()}
        becomes = {name: memory_digest(memory) for name, memory in done.after.items()}
        judged = {step.id for step in done.steps if step.task == USAGE_NAME}
        others = {memory.id for step in done.steps if step.task != USAGE_NAME for memory in step.memories}
        folded = map(use_key, given.uses if USAGE_NAME in tasks else ())
        pending = Pending(was, becomes, frozenset(judged - others), frozenset(folded))
        _save(workspace, _load(workspace).begin(name, pending))
        return Change(tuple(done.after.values()), now=given.now, displaced=frozenset(done.after), tasks=_touched(done))

    receipt = workspace.store.update(name, change)
    _fold(workspace, name, given, tasks)
    _save(workspace, _load(workspace).finish(name))
    if given.clusters:  # the cache has them by what the space was before
        clusters(workspace, name)
    kept = {(step.task, step.id) for step in done.steps}
    skipped = tuple(step for step in planned.steps if step.memories and (step.task, step.id) not in kept)
    return Maintained(name, done, skipped, receipt.run)


def _given(
    workspace: Workspace,
    space: Space,
    digests: Mapping[str, str],
    pairs: Sequence[MemoryPair],
    tasks: Collection[str],
    ledger: Ledger,
) -> Given:
    """What these tasks are to look at beside the memories of a space."""
    name = space.name
    uses = [use for use in workspace.usage.read() if use.space == name]
    pending = ledger.pending.get(name)
    if pending is not None and pending.is_written(digests):
        uses = [use for use in uses if use_key(use) not in pending.uses]
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
    """What contradicts or repeats itself in a space, and nobody has said that both are to be kept; and the nearest of those on the
    same matter that nobody has linked."""
    if workspace.store.policy(name).is_derived:
        return ()
    claimed, related = [], []
    for relation, newer, older in scan(workspace, name, by_meaning=True):
        ends = ((newer, older), (older, newer))
        is_linked = any(link["to"] == other.id for one, other in ends for link in one.links)
        if relation.kind != RELATED and not is_accepted(newer, older):
            claimed.append((relation, newer, older))
        elif relation.kind == RELATED and not is_linked:
            related.append((relation, newer, older))
    related.sort(key=lambda found: -found[0].score)
    pairs = (*claimed, *related[:_MOST_RELATED])
    return [MemoryPair(relation.kind, newer.id, older.id, relation.reason) for relation, newer, older in pairs]


_MOST_RELATED = 10
"""So many pairs on the same matter are listed."""


def scan(
    workspace: Workspace, space: str | None = None, *, by_meaning: bool = False
) -> list[tuple[Relation, Memory, Memory]]:
    """All contradictions, near-duplicates and related pairs of active memories of a space, the newer memory of each first, in
    order of that one.

    By meaning this embeds the texts of those that may be about the same. Raises CorruptError, StoreError.
    """
    with closing(workspace.store.open(space or workspace.space)) as snapshot:
        now = workspace.clock()
        claiming = (memory for memory in snapshot.memories() if is_claim(memory, now))
        known = sorted(((m.created_at, m.id, terms_of(m.raw)) for m in claiming), key=lambda one: one[:2])
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


def is_accepted(one: Memory, other: Memory) -> bool:
    """Whether somebody has said that both are to be kept."""
    return any(link["to"] == other.id and link.get("accepted") for link in one.links)


def _cosines(
    workspace: Workspace, snapshot: Snapshot, near: Sequence[tuple[Memory, Memory]]
) -> dict[tuple[str, str], float]:
    """How near the two of each pair are that may have something to do with each other."""
    likely = [two for two in near if compare(claim_of(two[0].raw), claim_of(two[1].raw), _LIKELY) is not None]
    found: dict[tuple[str, str], float] = {}
    with closing(workspace.index.view(snapshot)) as view:
        rows = {entry.id: row for row, entry in view.entries().items()} if likely else {}
        for newer in {memory.id: memory for memory, _ in likely}.values():
            dense = view.dense([newer.raw])
            if not dense:
                return {}
            others = [older for one, older in likely if one.id == newer.id]
            best = dense[0].including([rows[one.id] for one in others if one.id in rows]).by_row()
            found.update(((newer.id, one.id), best[rows[one.id]]) for one in others if rows.get(one.id) in best)
    return found


_LIKELY = 0.95
"""Pairs that have nothing to do with each other even by this cosine are not looked at by meaning."""


def _rested_on(workspace: Workspace, name: str) -> frozenset[str]:
    """The memories of a space that those of other spaces rest on."""
    others = [other for other in workspace.store.spaces() if other != name]
    objects = (
        memory
        for other in others
        if not workspace.store.policy(other).is_derived  # what is read links to nothing elsewhere
        for memory in load_space(workspace.store, other).objects
    )
    links = (link for memory in objects for link in memory.links if link["relation"] in REASONS)
    places = (elsewhere(link["to"]) for link in links)
    return frozenset(place[1] for place in places if place is not None and place[0] == name)


def _digests(space: Space, ledger: Ledger) -> dict[str, str]:
    """The digests of the memories that the ledger speaks of."""
    known = ledger.known(space.name)
    return {memory.id: memory_digest(memory) for memory in space.objects if memory.id in known}


def _settle(workspace: Workspace, name: str) -> None:
    """Finishes what a run that was killed has begun in a space: it wrote all of it, or nothing."""
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
    """Folds the uses that the run took in, which it did if `usage` is among its tasks."""
    if USAGE_NAME not in tasks or not given.uses:
        return
    ledger = _load(workspace)
    if (seen := ledger.seen(name, given.uses)) is not ledger:
        _save(workspace, seen)
    workspace.usage.fold(given.uses)


def _without(given: Given, fixed: frozenset[str]) -> Given:
    """What is given when `fixed` are to be left alone: a judgement of one of them, and what was judged with it, waits."""
    waiting = {use_key(use) for use in given.uses if use.act in JUDGEMENTS and not fixed.isdisjoint(use.ids)}
    return replace(given, fixed=fixed, uses=[use for use in given.uses if use_key(use) not in waiting])


def _touched(done: UpkeepPlan) -> Mapping[str, tuple[str, ...]]:
    """The ids that each task changed."""
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
_LEAST_DAYS = 1 / 24
_ID, _PATH = "mem_upkeep", "upkeep/plan"
_MOST_LISTED = 20


def is_due(workspace: Workspace) -> bool:
    """Whether upkeep may be begun in the background now: the policy wants it, and it was not begun within the hour."""
    policy = workspace.in_force(workspace.store.policy(workspace.main))
    if policy.upkeep != AUTO:
        return False
    tried, now = workspace.upkeep.tried(), workspace.clock()
    return not tried or days_between(tried, now) >= _LEAST_DAYS


def maintain_behind(workspace: Workspace) -> list[Maintained]:
    """Maintains what git does not see, if it is due, and proposes a plan for the rest; what was done.

    What cannot be undone, since the policy grants no grace, waits for somebody to ask for it. Raises LockedError,
    CorruptError, StoreError.
    """
    if not is_due(workspace):
        return []
    workspace.upkeep.try_at(workspace.clock())
    done: list[Maintained] = []
    for name in workspace.spaces_to_read:
        policy = workspace.store.policy(name)
        if workspace.in_force(policy).grace_days == 0:
            continue
        if policy.is_tracked:
            _propose(workspace, name)
        else:
            done += maintain(workspace, TASKS, [name])
    return done


def _propose(workspace: Workspace, name: str) -> None:
    """Puts a plan for a space into the inbox, unless the one that waits there says as much."""
    steps = [step for one in preview(workspace, TASKS, [name]) for step in one.plan.steps]
    wanted = {memory.id for step in steps if step.task != USAGE_NAME for memory in step.memories}
    waiting = next((m for m in load_space(workspace.inbox, name).objects if m.id == _ID), None)
    if not wanted - (_ids(waiting) if waiting else set()):
        return
    changing = [step for step in steps if step.memories]
    ids = sorted({memory.id for step in changing for memory in step.memories})
    told = [(task, list(found)) for task, found in groupby(changing, key=lambda step: step.task)]
    counts = ", ".join(f"{task} {len(found)}" for task, found in told)
    many = "1 memory" if len(ids) == 1 else f"{len(ids)} memories"
    micro = f"Upkeep would change {many} of space {name}: {counts}."
    lines = []
    for task, found in told:
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
    """Does what an accepted plan said, as far as it still fits; what became of each memory."""
    done = list(maintain(workspace, TASKS, [workspace.space], _ids(plan)))
    after = [memory for one in done for memory in one.plan.after.values()]
    found = sorted(after, key=lambda memory: (memory.path, memory.id))
    return [Outcome("updated", memory.id, memory.path, workspace.space, memory.version) for memory in found]


def turn_down(workspace: Workspace, plan: Memory) -> None:
    """Leaves alone what a rejected plan was to change, until that changes. Raises LockedError, StoreError."""
    name, ids = workspace.space, _ids(plan)
    with workspace.upkeep.turn(workspace.clock()):
        digests = {m.id: memory_digest(m) for m in load_space(workspace.store, name).objects if m.id in ids}
        _save(workspace, _load(workspace).with_done(name, digests))


def _ids(plan: Memory) -> set[str]:
    noted = note_of(plan).get(PLAN)
    return {str(name) for name in noted} if isinstance(noted, list) else set()
