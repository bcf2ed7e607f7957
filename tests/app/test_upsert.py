"""The upserter on values: which memory a candidate becomes, and what one step leaves in the draft."""

from __future__ import annotations

from typing import Any

import pytest

from memcli.app.upsert import Upserter
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.model.memory import Memory
from memcli.model.names import marked, memory_id
from memcli.model.shapes import OBSERVED
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests.app.test_remember import LATER, candidate
from tests.conftest import NOW, memory


def upserter(*memories: Memory, policy: Policy | None = None, **options: Any) -> Upserter:
    space = replace(Space("main"), policy=policy or Policy()).put(list(memories), NOW)
    return Upserter(SpliceShelf(encode_space(space), "main"), LATER, **options)


def stored(raw: str, path: str, **fields: Any) -> Memory:
    """A memory as the upserter itself would have made it."""
    maker = Upserter(SpliceShelf(encode_space(Space("main")), "main"), NOW)
    (made,) = [maker.changed[str(maker.take(candidate(raw, path=path))["id"])]]
    return replace(made, **fields)


def test_a_new_text_is_created_at_its_derived_path() -> None:
    found = upserter()
    outcome = found.take(candidate("Deploys run on Mondays."))
    name = memory_id("main", "facts/deploys")
    assert outcome == {"status": "created", "id": name, "path": "facts/deploys", "version": 1}
    assert found.changed[name].created_at == LATER
    assert found.draft.at("facts/deploys") == found.changed[name]


def test_a_derived_path_that_is_taken_is_marked() -> None:
    other = stored("Another text.", "facts/deploys")
    outcome = upserter(other).take(candidate("Deploys run on Mondays."))
    assert outcome["status"] == "created"
    assert str(outcome["path"]).startswith("facts/deploys-")


def test_an_id_in_the_trash_is_not_given_again() -> None:
    first = memory_id("main", "facts/deploys")
    outcome = upserter(is_in_trash=lambda name: name == first).take(candidate("Deploys run on Mondays."))
    assert outcome["id"] == memory_id("main", "facts/deploys", 2)


def test_the_same_text_without_a_place_makes_the_memory_stronger() -> None:
    old = stored("Deploys run on Mondays.", "ops/deploy", strength=4, tags=("ops",))
    found = upserter(old)
    outcome = found.take(candidate("Deploys run on Mondays.", tags=("week",)))
    assert (outcome["status"], outcome["id"]) == ("deduplicated", old.id)
    now = found.changed[old.id]
    assert (now.strength, now.tags, now.updated_at, now.version) == (5, ("ops", "week"), LATER, old.version)


def test_the_same_text_at_its_own_path_changes_nothing() -> None:
    old = stored("Deploys run on Mondays.", "ops/deploy")
    found = upserter(old)
    assert found.take(candidate("Deploys run on Mondays.", path="ops/deploy"))["status"] == "deduplicated"
    assert found.changed == {}


def test_a_new_text_at_a_path_is_an_update_and_keeps_what_it_is_known_by() -> None:
    old = stored("Deploys run on Mondays.", "ops/deploy", pinned=True)
    found = upserter(old)
    outcome = found.take(candidate("Deploys run on Tuesdays.", path="ops/deploy"))
    assert (outcome["status"], outcome["id"], outcome["version"]) == ("updated", old.id, 2)
    now = found.changed[old.id]
    assert (now.raw, now.summary_micro) == ("Deploys run on Tuesdays.", "Deploys run on Tuesdays.")
    assert (now.created_at, now.updated_at, now.pinned) == (NOW, LATER, True)
    assert now.hash != old.hash


def test_what_was_told_again_after_its_time_holds_from_now_on() -> None:
    old = stored("Deploys run on Mondays.", "ops/deploy", active=False, valid_until=NOW)
    found = upserter(old)
    found.take(candidate("Deploys run on Tuesdays.", path="ops/deploy"))
    assert (found.changed[old.id].active, found.changed[old.id].valid_until) == (True, None)


def test_what_supersedes_takes_the_place_over() -> None:
    old = stored("Deploys run on Mondays.", "ops/deploy", tags=("ops",), pinned=True, kind="procedure")
    found = upserter(old)
    outcome = found.supersede("ops/deploy", candidate("Deploys run by themselves."))
    new, ended = found.changed[str(outcome["id"])], found.changed[old.id]
    assert (new.path, new.tags, new.pinned, new.kind) == ("ops/deploy", ("ops",), True, "procedure")
    assert [(link["to"], link["relation"]) for link in new.links] == [(old.id, "supersedes")]
    assert (ended.superseded_by, ended.valid_until) == (new.id, LATER)
    assert ended.path == marked("ops/deploy", "superseded")


def test_nothing_supersedes_itself_or_what_is_not_there() -> None:
    old = stored("Deploys run on Mondays.", "ops/deploy")
    with pytest.raises(UsageError, match="itself"):
        upserter(old).supersede(old.id, candidate("Deploys run on Mondays."))
    with pytest.raises(NotFoundError):
        upserter(old).supersede("gone", candidate("A text."))


def test_links_between_candidates_are_resolved_once_all_are_there() -> None:
    found = upserter()
    one = found.take(candidate("One text.", path="a/one", links=[{"to": "a/two", "relation": "related"}]))
    two = found.take(candidate("Two texts.", path="a/two"))
    found.resolve_links()
    assert [link["to"] for link in found.changed[str(one["id"])].links] == [two["id"]]


def test_a_link_to_nothing_is_refused_or_dropped() -> None:
    linked = candidate("One text.", path="a/one", links=[{"to": "a/gone", "relation": "related"}])
    found = upserter()
    found.take(linked)
    with pytest.raises(NotFoundError):
        found.resolve_links()
    found = upserter()
    outcome = found.take(linked)
    found.resolve_links(drop=True)
    assert found.changed[str(outcome["id"])].links == ()


def test_what_a_source_no_longer_tells_is_retired() -> None:
    read = {"provenance": {"source": OBSERVED}, "metadata": {"source": "docs/a.md", "hash": "x"}}
    kept, gone = memory("kept", path="docs/a/kept", **read), memory("gone", path="docs/a/gone", **read)
    apart = memory("apart", path="docs/a/apart")
    found = upserter(kept, gone, apart)
    outcomes = found.retire([{"under": "docs/a", "source": "docs/a.md"}], ["docs/a/kept"])
    assert [(outcome["status"], outcome["id"]) for outcome in outcomes] == [("retired", gone.id)]
    assert {name: m.active for name, m in found.changed.items()} == {gone.id: False}


def test_room_is_made_but_not_at_the_cost_of_a_pin() -> None:
    old = stored("Deploys run on Mondays.", "ops/deploy", updated_at="2020-01-01T00:00:00Z")
    found = upserter(old, policy=Policy(max_objects=1))
    found.take(candidate("Another text.", path="a/new"))
    assert found.make_room() == ({old.id}, [])
    found = upserter(replace(old, pinned=True), policy=Policy(max_objects=1))
    found.take(candidate("Another text.", path="a/new"))
    with pytest.raises(RefusedError, match="max_objects"):
        found.make_room()
