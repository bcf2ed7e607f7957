"""Which memory a candidate becomes, and what becomes of those around it; on values, without a disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memcli.app.candidate import Candidate
from memcli.app.inbox import offer, waiting
from memcli.app.remember import DROP, Stored, fold, prepare, remember
from memcli.app.upsert import Upserter
from memcli.app.workspace import Workspace
from memcli.codec.canonical import encode
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.memory import Memory
from memcli.model.names import memory_id, text_hash
from memcli.model.space import Change, Policy, Space
from memcli.record import replace
from tests.conftest import NOW, memory, open_at

LATER = "2026-02-01T00:00:00Z"
MONDAYS = "Deploys run on Mondays."


def candidate(raw: str, **given: Any) -> Candidate:
    digest = text_hash(raw)
    fields = {"raw": raw, **given, "metadata": {"hash": digest, **given.get("metadata", {})}}
    derived = {
        "path": f"facts/{raw.split(maxsplit=1)[0].lower()}",
        "kind": "fact",
        "summary_micro": raw,
        "tags": ("derived",),
    }
    return Candidate(fields, derived, digest)


def told(space: Space, *candidates: Candidate, now: str = NOW, **request: Any) -> tuple[Space, list[dict[str, Any]]]:
    """The space after the candidates were remembered in it, and the outcomes."""
    asked = {
        "now": now,
        "candidates": [{"given": c.given, "derived": c.derived, "hash": c.hash} for c in candidates],
        "supersedes": None,
        **request,
    }
    change, outcomes = fold(SpliceShelf(encode_space(space), "main"), asked)
    return space.drop(change.drop, now).put(change.put, now), outcomes


def by_path(space: Space) -> dict[str, Memory]:
    return {memory.path: memory for memory in space.objects}


def moved(space: Space, old: str, new: str) -> Space:
    return space.put([replace(space.find(old), path=new)], NOW)


def test_a_path_that_a_memory_once_had_is_free_and_none_is_given_twice() -> None:
    space, _ = told(Space("main"), candidate("A holds.", path="arch/sessions"))
    space, outcomes = told(
        moved(space, "arch/sessions", "arch/redis-sessions"), candidate("B holds.", path="arch/sessions")
    )
    assert outcomes[0]["status"] == "created"
    assert {path: m.raw for path, m in by_path(space).items()} == {
        "arch/redis-sessions": "A holds.", "arch/sessions": "B holds.",
    }  # fmt: skip
    assert outcomes[0]["id"] == memory_id("main", "arch/sessions", 2)
    space, outcomes = told(moved(space, "arch/sessions", "arch/b"), candidate("C holds.", path="arch/sessions"))
    assert outcomes[0]["id"] == memory_id("main", "arch/sessions", 3)
    assert len(space.objects) == 3
    first, second = (candidate(f"{letter} holds.", path="x", id=f"mem_{letter}") for letter in "ab")
    space, outcomes = told(Space("main"), first, second)
    assert [o["status"] for o in outcomes] == ["created", "created"]
    assert len({m.path for m in space.objects}) == 2
    space = Space("main")
    for n in range(5):
        space, _ = told(space, candidate("Same text.", id=f"mem_{n}", path="x"))
        space, _ = told(space, candidate("Same text."))  # confirms the first that holds
    assert len({m.path for m in space.objects}) == len(space.objects) == 5


def test_what_is_told_again_holds_again() -> None:
    space, _ = told(Space("main"), candidate("MySQL is the database.", path="db"))
    space, _ = told(space, candidate("PostgreSQL is the database."), supersedes="db")
    space, outcomes = told(space, candidate("MySQL is the database."), now=LATER)
    assert outcomes[0]["status"] == "created"
    assert [m.raw for m in space.objects if m.superseded_by is None] == [
        "PostgreSQL is the database.", "MySQL is the database.",
    ]  # fmt: skip
    space, _ = told(Space("main"), candidate("MySQL.", path="db"), candidate("Old.", path="old", valid_until=NOW))
    space, _ = told(space, candidate("PostgreSQL.", path="db2"), supersedes="db")
    space, _ = told(space, candidate("MySQL.", path="db"), candidate("Old.", path="old"), now=LATER)
    after = by_path(space)
    assert (after["db"].superseded_by, after["db"].valid_until) == (None, None)
    assert after["old"].valid_until is None


@pytest.mark.parametrize("source", ["observed", "imported"])
def test_what_is_only_read_again_stays_superseded(source: str):
    read = candidate("MySQL.", path="db", provenance={"source": source})
    space, _ = told(Space("main"), read)
    before, _ = told(space, candidate("PostgreSQL.", path="db2"), supersedes="db")
    after, _ = told(before, read, now=LATER)
    assert after.find("db").superseded_by == before.find("db2").id


def test_a_successor_takes_over_what_it_has_not_of_its_own() -> None:
    old = candidate("MySQL.", path="arch/db", kind="decision", tags=("db",), pinned=True)
    space, (first,) = told(Space("main"), old)
    space, (second,) = told(space, candidate("PostgreSQL."), supersedes=first["id"], now=LATER)
    new, old_now = space.find(second["id"]), space.find(first["id"])
    assert (new.path, new.kind, new.tags, new.pinned) == ("arch/db", "decision", ("db",), True)
    assert new.links == ({"to": first["id"], "relation": "supersedes", "weight": 1.0, "created_at": LATER},)
    assert (old_now.path, old_now.superseded_by) == ("arch/db-superseded", second["id"])
    assert (old_now.valid_until, old_now.raw, old_now.version) == (LATER, "MySQL.", 2)
    space, _ = told(Space("main"), candidate("MySQL.", path="a", kind="decision", tags=("db",), pinned=True))
    own = candidate("PostgreSQL.", path="b", kind="fact", tags=("pg",), pinned=False)
    space, _ = told(space, own, supersedes="a")
    new = space.find("b")
    assert (new.kind, new.tags, new.pinned, space.find("a").superseded_by) == ("fact", ("pg",), False, new.id)


def test_a_chain_of_successors_at_one_path_may_end_with_a_memory_that_is_there() -> None:
    space, _ = told(Space("main"), candidate("One.", path="a"))
    for text in ("Two.", "Three.", "Four."):
        space, _ = told(space, candidate(text), supersedes="a")
    assert by_path(space)["a"].raw == "Four."
    assert len(by_path(space)) == 4
    assert [m.raw for m in space.objects if m.superseded_by is None] == ["Four."]
    stored = candidate("PostgreSQL.", path="b", kind="decision", tags=("db",))
    space, _ = told(Space("main"), candidate("MySQL.", path="a", kind="fact", tags=("old",)), stored)
    space, (outcome,) = told(space, candidate("PostgreSQL."), supersedes="a")
    assert outcome["id"] == space.find("b").id
    assert (space.find("b").kind, space.find("b").tags) == ("decision", ("db",)), "as it was stored"
    assert space.find("a").superseded_by == space.find("b").id
    assert len(space.objects) == 2


def test_nothing_supersedes_itself() -> None:
    space, (one,) = told(Space("main"), candidate("One.", path="a"))
    for again in (candidate("One."), candidate("One.", path="a"), candidate("Two.", id=one["id"])):
        with pytest.raises(UsageError, match="supersede itself"):
            told(space, again, supersedes="a")
    space, _ = told(Space("main"), candidate("One.", path="a"))
    space, _ = told(space, candidate("Two.", path="b"), supersedes="a")
    with pytest.raises(UsageError, match="supersede itself"):
        told(space, candidate("Two!", path="b", superseded_by="a"))
    space, (old,) = told(Space("main"), candidate("Svn is used.", path="vcs/old"))
    once, _ = told(space, candidate("Git is used.", path="vcs/new"), supersedes=old["id"], now=LATER)
    again, _ = told(once, candidate("Git is used.", path="vcs/new"), supersedes=old["id"], now="2026-03-01T00:00:00Z")
    assert once.find(old["id"]).superseded_by
    assert again.find(old["id"]) == once.find(old["id"])


def link(to: str, relation: str = "relates_to", **fields: Any) -> dict[str, Any]:
    return {"to": to, "relation": relation, **fields}


def test_links_lead_to_ids_of_other_memories_that_are_there() -> None:
    first = candidate("One.", path="a", links=(link("b"), link("c")))
    space, _ = told(Space("main"), first, candidate("Two.", path="b"), candidate("Three.", path="c"))
    assert [(one["to"], one["created_at"]) for one in space.find("a").links] == [
        (space.find("b").id, NOW), (space.find("c").id, NOW),
    ]  # fmt: skip
    again, (outcome,) = told(space, candidate("One.", path="a", links=(link("b"), link("c"))), now=LATER)
    assert outcome["status"] == "deduplicated"
    assert again.find("a") == space.find("a")
    space, _ = told(Space("main"), candidate("One.", path="a"))
    with pytest.raises(NotFoundError, match="'nowhere'"):
        told(space, candidate("Two.", links=(link("nowhere"),)))
    with pytest.raises(NotFoundError, match="'nowhere'"):
        told(space, candidate("Two.", superseded_by="nowhere"))
    with pytest.raises(UsageError, match="itself"):
        told(space, candidate("One.", path="a", links=(link("a"),)))
    dropped, _ = told(space, candidate("Two.", path="b", links=(link("nowhere"), link("b"), link("a"))), links=DROP)
    assert [one["to"] for one in dropped.find("b").links] == [space.find("a").id]


def test_a_full_space_makes_room_and_stays_sound():
    space = Space("main", policy=Policy(max_objects=2))
    space, _ = told(space, candidate("Old.", path="old"), now="2020-01-01T00:00:00Z")
    space, _ = told(space, candidate("New.", path="new", links=(link("old", "depends_on"),)))
    space, _ = told(space, candidate("Newest.", path="newest"))
    assert {m.path: m.links for m in space.objects} == {"new": (), "newest": ()}
    pinned = Space("main", policy=Policy(max_objects=1))
    pinned, _ = told(pinned, candidate("Kept.", path="kept", pinned=True))
    with pytest.raises(RefusedError, match="max_objects"):
        told(pinned, candidate("More."))


READ = {"provenance": {"source": "observed"}, "metadata": {"source": "auth.md"}}


def test_what_is_read_overwrites_neither_what_was_told_nor_what_is_of_another_file() -> None:
    space, _ = told(Space("main"), candidate("Told.", path="auth"))
    space, first = told(space, candidate("Read.", path="auth", **READ))
    space, second = told(space, candidate("Read again.", path="auth", **READ))
    assert (first[0]["status"], second[0]["status"]) == ("created", "updated")
    assert first[0]["path"].startswith("auth/")
    assert {path: m.raw for path, m in by_path(space).items()} == {"auth": "Told.", first[0]["path"]: "Read again."}
    space, _ = told(
        Space("main"), candidate("Of tokens.", path="tokens", **READ | {"metadata": {"source": "tokens.md"}})
    )
    space, _ = told(moved(space, "tokens", "auth"), candidate("Read.", path="auth", **READ))
    assert sorted(m.raw for m in space.objects) == ["Of tokens.", "Read."]
    space, _ = told(Space("main"), candidate("Read.", path="auth", **READ))
    space, outcomes = told(space, candidate("Told.", path="auth"))
    assert outcomes[0]["status"] == "updated"
    assert [m.raw for m in space.objects] == ["Told."]


def test_the_hash_is_of_the_text_and_the_content_that_come_out():
    space, _ = told(Space("main"), candidate("A holds.", path="a"))
    space = space.put([replace(space.find("a"), content={"goal": 1})], NOW)
    space, _ = told(space, candidate("B holds.", path="a"), now=LATER)
    found = space.find("a")
    assert (found.content, found.hash) == ({"goal": 1}, text_hash("B holds.", encode({"goal": 1})))


def test_links_of_what_is_superseded_lead_to_it_and_stay() -> None:
    space, _ = told(Space("main"), candidate("A holds.", path="a"))
    old = space.find("a").id
    new = candidate("B holds.", links=[{"to": "a", "relation": "derived_from"}])
    space, outcomes = told(space, new, supersedes="a", now=LATER)
    links = space.find(outcomes[0]["id"]).links
    assert sorted((link["to"], link["relation"]) for link in links) == [(old, "derived_from"), (old, "supersedes")]
    space, _ = told(Space("main"), candidate("A holds.", path="a"), candidate("B holds.", path="b"))
    space, _ = told(space, candidate("C holds.", path="c"), supersedes="a")
    space, _ = told(space, candidate("D holds.", path="c", links=[{"to": "b", "relation": "depends_on"}]))
    assert [link["relation"] for link in space.find("c").links] == ["supersedes", "depends_on"]


def govern(workspace: Workspace, **policy: Any) -> None:
    workspace.store.update("main", lambda shelf: Change(header=replace(shelf.header, policy=Policy(**policy)), now=NOW))


def test_a_review_stores_nothing_and_neither_does_nothing(workspace: Workspace) -> None:
    assert remember(workspace, []) == Stored()
    assert remember(workspace, [], places=[{"under": "facts"}]) == Stored([])
    govern(workspace, review=True)
    assert remember(workspace, [candidate("Wait for it.")], may_wait=True) == Stored(needs_review=True)
    offered = offer(workspace, [candidate("Wait for it.")])
    assert (offered.needs_review, [o.status for o in offered.outcomes]) == (False, ["proposed"])
    assert [memory.raw for memory in waiting(workspace)] == ["Wait for it."]
    assert [o.status for o in remember(workspace, [candidate("Wait for it.")]).outcomes] == ["created"]


def test_what_was_removed_to_make_room_is_of_the_write(workspace: Workspace) -> None:
    remember(workspace, [candidate("Alpha."), candidate("Beta.")])
    govern(workspace, max_objects=2)
    stored = remember(workspace, [candidate("Gamma."), candidate("Delta.")])
    assert ([o.status for o in stored.outcomes], stored.compacted) == (["created", "created"], 2)


def upserter(*memories: Memory, **options: Any) -> Upserter:
    space = Space("main").put(list(memories), NOW)
    return Upserter(SpliceShelf(encode_space(space), "main"), LATER, **options)


def stored(raw: str, path: str, **fields: Any) -> Memory:
    """A memory as the upserter itself would have made it."""
    maker = Upserter(SpliceShelf(encode_space(Space("main")), "main"), NOW)
    (made,) = [maker.changed[str(maker.take(candidate(raw, path=path))["id"])]]
    return replace(made, **fields)


def test_a_new_text_gets_its_derived_path_and_an_id_that_nothing_has() -> None:
    found, name = upserter(), memory_id("main", "facts/deploys")
    outcome = found.take(candidate(MONDAYS))
    assert outcome == {"status": "created", "id": name, "path": "facts/deploys", "version": 1}
    assert found.changed[name].created_at == LATER
    assert found.draft.at("facts/deploys") == found.changed[name]
    marked = upserter(stored("Another text.", "facts/deploys")).take(candidate(MONDAYS))
    assert (marked["status"], str(marked["path"]).startswith("facts/deploys-")) == ("created", True)
    outcome = upserter(is_in_trash=lambda other: other == name).take(candidate(MONDAYS))
    assert outcome["id"] == memory_id("main", "facts/deploys", 2)


def test_the_same_text_without_a_place_makes_the_memory_stronger() -> None:
    old = stored(MONDAYS, "ops/deploy", strength=4, tags=("ops",))
    found = upserter(old)
    outcome = found.take(candidate(MONDAYS, tags=("week",)))
    assert (outcome["status"], outcome["id"]) == ("deduplicated", old.id)
    now = found.changed[old.id]
    assert (now.strength, now.tags, now.updated_at, now.version) == (5, ("ops", "week"), LATER, old.version)
    same = upserter(old)
    assert (same.take(candidate(MONDAYS, path="ops/deploy"))["status"], same.changed) == ("deduplicated", {})


def test_a_new_text_at_a_path_is_an_update_and_keeps_what_it_is_known_by() -> None:
    new = "Deploys run on Tuesdays."
    old = stored(MONDAYS, "ops/deploy", pinned=True, active=False, valid_until=NOW)
    found = upserter(old)
    outcome = found.take(candidate(new, path="ops/deploy"))
    assert (outcome["status"], outcome["id"], outcome["version"]) == ("updated", old.id, 2)
    now = found.changed[old.id]
    assert (now.raw, now.summary_micro, now.hash != old.hash) == (new, new, True)
    assert (now.created_at, now.updated_at, now.pinned) == (NOW, LATER, True)
    assert (now.active, now.valid_until) == (True, None), "it is told again, and holds from now on"


def test_what_a_source_no_longer_tells_is_retired() -> None:
    read = {"provenance": {"source": "observed"}, "metadata": {"source": "docs/a.md", "hash": "x"}}
    kept, gone = memory("kept", path="docs/a/kept", **read), memory("gone", path="docs/a/gone", **read)
    found = upserter(kept, gone, memory("apart", path="docs/a/apart"))
    outcomes = found.retire([{"under": "docs/a", "source": "docs/a.md"}], ["docs/a/kept"])
    assert [(outcome["status"], outcome["id"]) for outcome in outcomes] == [("retired", gone.id)]
    assert {name: m.active for name, m in found.changed.items()} == {gone.id: False}


def test_an_id_is_known_from_space_and_path_alone(tmp_path: Path) -> None:
    """These ids stand in stores and READMEs: they may never change."""
    assert memory_id("main", "decisions/postgresql-mysql-row-level-security") == "mem_kf7afte3devl"
    assert len({memory_id(*key) for key in (("main", "a"), ("main", "b"), ("other", "a"), ("main", "a", 2))}) == 4
    made = []
    for name, user, now in (("one", "ann", "2026-01-01T00:00:00Z"), ("two", "bob", "2027-06-05T04:03:02Z")):
        workspace = open_at(tmp_path / name, MEMCLI_USER=user, MEMCLI_FREEZE_CLOCK=now)
        texts = ("We chose PostgreSQL.", "Never force-push to main.", "To deploy: make release.")
        made.append([remember(workspace, [prepare(workspace, {"raw": text})]).outcomes[0].id for text in texts])
    assert made[0] == made[1]
    assert len(set(made[0])) == 3
