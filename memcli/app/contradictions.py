"""Links between memories that contradict each other: made in both after a check, removed when a new text ends the
contradiction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcli.claims.claim import claim_of
from memcli.claims.comparison import compare
from memcli.model.findings import Found, Resolution
from memcli.model.links import CHECK, CONTRADICTS, contradicted, is_found, link_key
from memcli.model.memory import Json, Memory, holds
from memcli.model.space import Change
from memcli.policy.draft import Draft
from memcli.ports import Shelf
from memcli.record import replace

if TYPE_CHECKING:
    from memcli.app.workspace import Workspace

Wanted = Sequence[Sequence[Mapping[str, Json]]]
"""For each candidate its contradictions, as `Resolution.wanted` returns them: the `id` of the other memory, or the `place` of
another candidate, its `hash`, whether the newer one `holds`, and whether the user has `accepted` both."""


def linked(shelf: Shelf, outcomes: Sequence[Mapping[str, Any]], wanted: Wanted, now: str) -> Iterator[Memory]:
    """The memories of the outcomes and those that they contradict, with links to each other; only changed ones.

    Lay each over the shelf before you take the next: one memory may change several times.
    """
    for outcome, found in zip(outcomes, wanted, strict=False):
        for one in found:
            name = outcomes[one["place"]]["id"] if one["place"] >= 0 else one["id"]
            new, old = shelf.get(outcome["id"]), shelf.get(name)
            if new is None or old is None or new.id == old.id or old.hash != one["hash"]:
                continue  # changed or removed since the comparison
            if not all(memory.active and holds(memory, now) for memory in (new, old)):
                continue
            marks: dict[str, Json] = {"accepted": True} if one["accepted"] else {}
            of_newer = {**marks, "holds": True} if one["holds"] else marks
            for memory, other, own in ((new, old, of_newer), (old, new, marks)):
                link = {"to": other.id, "relation": CONTRADICTS, "weight": 1.0, "created_at": now, "by": CHECK, **own}
                known = next((each for each in memory.links if link_key(each) == link_key(link)), None)
                # An existing link keeps its date and author: a person may have made it.
                links = [
                    {**known, **own} if known and link_key(each) == link_key(link) else each for each in memory.links
                ]
                after = replace(memory, links=tuple(links if known else [*links, link]))
                if after != memory:
                    yield after


def link_found(workspace: Workspace, memory: Memory) -> list[Found]:
    """Links a memory, whose text has changed, with the memories that it contradicts. Returns the findings, without memories
    that were linked before."""
    from memcli.app.candidate import Candidate
    from memcli.app.check import check
    from memcli.app.repo import over_main

    workspace = over_main(workspace)
    names = ("raw", "id", "path", "kind", "active", "superseded_by", "provenance")
    candidate = Candidate({name: getattr(memory, name) for name in names}, {}, memory.hash)
    resolution = Resolution(check(workspace, [candidate]))
    wanted = resolution.wanted(workspace.space)
    outcomes = [{"status": "updated", "id": memory.id, "path": memory.path}]

    def change(shelf: Shelf) -> Change:
        draft = Draft(shelf)
        for each in linked(draft, outcomes, wanted, workspace.clock()):
            draft.take(Change((each,)))
        return draft.change()

    if any(wanted):
        # The new text is stored by now, and a link can be made later: a failure is a warning.
        with workspace.behind_the_write():
            workspace.store.update(workspace.space, change)
    known = set(contradicted(memory))
    return [one for one in resolution.found_for(outcomes, 0) if one.id not in known]


def settled(shelf: Shelf, memory: Memory) -> Iterator[Memory]:
    """The memory, whose text has changed, and those that it no longer contradicts, without the links of the check between
    them; nothing where all links still hold."""
    gone = []
    for link in memory.links:
        if is_found(link) and (other := shelf.get(link["to"])) is not None:
            old, new = sorted((memory, other), key=lambda one: (one.created_at, one.id))
            finding = compare(claim_of(new.raw), claim_of(old.raw))
            if finding is None or finding.kind != CONTRADICTS:
                gone.append(other)
    if gone:
        yield _without_links(memory, {other.id for other in gone})
        yield from (_without_links(other, {memory.id}) for other in gone)


def _without_links(memory: Memory, names: set[str]) -> Memory:
    links = tuple(link for link in memory.links if not (is_found(link) and link["to"] in names))
    return replace(memory, links=links)
