"""Clashes: which memories of a space contradict or repeat each other, or are on the same matter."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from memcli.app.check import is_claim
from memcli.app.workspace import Workspace
from memcli.claims.claim import claim_of, neighbours, terms_of
from memcli.claims.comparison import Relation, compare
from memcli.model.memory import Memory
from memcli.ports import Snapshot
from memcli.record import Record


class Clash(Record):
    """Two active memories of a space that contradict each other, say the same, or are related. `is_accepted`: somebody wants
    both."""

    finding: Relation
    newer: Memory
    older: Memory
    is_accepted: bool = False

    @property
    def is_linked(self) -> bool:
        """Whether one of them has a link to the other."""
        ends = ((self.newer, self.older), (self.older, self.newer))
        return any(link["to"] == other.id for one, other in ends for link in one.links)


def scan(workspace: Workspace, space: str | None = None, *, by_meaning: bool = False) -> list[Clash]:
    """All contradictions, near-duplicates and related pairs of a space, in order of the newer memory.

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
        finding = compare(claim_of(newer.raw), claim_of(older.raw), cosines.get((newer.id, older.id)))
        if finding is not None:
            found.append(Clash(finding, newer, older, is_accepted(newer, older)))
    return sorted(found, key=lambda one: (one.newer.created_at, one.newer.id, one.older.id))


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
