"""What becomes of links between spaces where a write of the other space fails."""

from __future__ import annotations

from collections.abc import Callable

from memcli.app.linked_store import LinkedStore
from memcli.app.purge import purge
from memcli.app.workspace import Workspace, load_space
from memcli.errors import LockedError
from memcli.extras.links.linking import link
from memcli.model.space import Change, Receipt
from memcli.ports import Shelf
from tests.conftest import NOW, memory, rewrite


def linked(workspace: Workspace) -> None:
    rewrite(workspace.store, lambda s: s.put([memory("a")], NOW))
    rewrite(workspace.store, lambda s: s.put([memory("n")], NOW), "notes")
    link(workspace, "mem_a", "notes:mem_n", "depends_on")


def test_a_space_that_is_locked_leaves_a_warning(workspace: Workspace, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    linked(workspace)
    told: list[str] = []
    store = workspace.store
    assert isinstance(store, LinkedStore)
    update = store._inner.update

    def locked(space: str, change: Callable[[Shelf], Change]) -> Receipt:
        if space == "main":
            raise LockedError("space 'main' is locked", "wait")
        return update(space, change)

    monkeypatch.setattr(store._inner, "update", locked)
    monkeypatch.setattr(store, "_warn", told.append)
    purge(workspace.copy_with(space="notes", is_space_named=True), ["mem_n"])
    assert load_space(store, "notes").objects == ()
    assert [one["to"] for one in load_space(store, "main").objects[0].links] == ["notes:mem_n"]
    (warning,) = told
    assert "space 'main' is locked" in warning
    assert "check store --repair" in warning


def test_what_nothing_links_to_is_removed_without_writing_elsewhere(workspace: Workspace) -> None:
    linked(workspace)
    rewrite(workspace.store, lambda s: s.put([memory("m")], NOW), "notes")
    before = workspace.store.open("main").fingerprint
    purge(workspace.copy_with(space="notes", is_space_named=True), ["mem_m"])
    assert workspace.store.open("main").fingerprint == before


def test_what_a_hand_put_in_the_place_of_a_link_is_left_as_it_is(workspace: Workspace) -> None:
    linked(workspace)
    odd = ("notes:mem_n", {"relation": "relates_to"}, *load_space(workspace.store, "main").objects[0].links)
    rewrite(workspace.store, lambda s: s.put([memory("a", links=odd)], NOW))
    purge(workspace.copy_with(space="notes", is_space_named=True), ["mem_n"])
    assert load_space(workspace.store, "main").objects[0].links == odd[:2]


def test_a_link_lost_to_a_version_is_not_lost(workspace: Workspace) -> None:
    """What is put anew under its id has not gone."""
    linked(workspace)
    rewrite(workspace.store, lambda s: s.put([memory("n", raw="Other words.")], NOW), "notes")
    assert len(load_space(workspace.store, "main").objects[0].links) == 1
