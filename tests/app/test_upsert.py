"""The upserter on values: which memory a candidate becomes, and what one step leaves in the draft."""

from __future__ import annotations

from typing import Any

from memcli.app.upsert import Upserter
from memcli.codec.space import encode_space
from memcli.codec.splice import SpliceShelf
from memcli.model.memory import Memory
from memcli.model.names import memory_id
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


def test_what_a_source_no_longer_tells_is_retired() -> None:
    read = {"provenance": {"source": OBSERVED}, "metadata": {"source": "docs/a.md", "hash": "x"}}
    kept, gone = memory("kept", path="docs/a/kept", **read), memory("gone", path="docs/a/gone", **read)
    apart = memory("apart", path="docs/a/apart")
    found = upserter(kept, gone, apart)
    outcomes = found.retire([{"under": "docs/a", "source": "docs/a.md"}], ["docs/a/kept"])
    assert [(outcome["status"], outcome["id"]) for outcome in outcomes] == [("retired", gone.id)]
    assert {name: m.active for name, m in found.changed.items()} == {gone.id: False}
