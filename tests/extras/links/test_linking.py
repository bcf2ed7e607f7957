"""Links: every relation between memories of every kind of space, and what else is done to these."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from memcli.app.export import export_space
from memcli.app.trash import collect
from memcli.codec.bundle import ENCODERS
from memcli.errors import NotFoundError, RefusedError, UsageError
from memcli.extras.links.linking import link
from memcli.extras.restore.restoring import restore, restore_run
from memcli.extras.spaces import managing as spaces
from memcli.extras.transfer.bundles import import_bundle
from memcli.model.names import text_hash
from memcli.model.shapes import RELATIONS
from memcli.model.space import Policy, Space
from memcli.record import replace
from tests.app.conftest import LATER, Project
from tests.conftest import NOW, memory, rewrite

MUTUAL = ("contradicts", "relates_to")
PLAN = "diary:x/secret/plan"


@pytest.fixture
def store(project: Project) -> Project:
    """Memories in `main`, in another shared space, in a private and in a derived one."""
    project.fill("x/a", "x/b")
    project.fill("x/n", space="notes")
    project.fill("x/secret/plan", space="diary")
    project.policy("diary", visibility="private")
    read = memory("read", path="x/read", metadata={"hash": text_hash("The text of read.")})
    derived = Space("repo", policy=Policy(visibility="derived"))
    rewrite(project.over().store, lambda _: derived.put([read], NOW), "repo")
    return project


def links(store: Project, path: str, space: str = "main") -> list[Any]:
    return list(store.stored(space)[path].links)


def places(store: Project, path: str, space: str = "main") -> list[tuple[str, str]]:
    return [(one["relation"], one["to"]) for one in links(store, path, space)]


def ident(store: Project, path: str, space: str = "main") -> str:
    return store.stored(space)[path].id


def towards(*to: str, relation: str = "relates_to") -> dict[str, Any]:
    return {"links": [{"to": one, "relation": relation} for one in to]}


@pytest.mark.parametrize(
    ("relation", "form"), list(zip(RELATIONS, ("x/b", "{0}", "{0:.9}", "main:x/b", "main:{0}"), strict=True))
)
def test_within_a_space(store: Project, relation: str, form: str) -> None:
    b = form.format(ident(store, "x/b"))
    assert [store.link("x/a", b, relation).changed for _ in range(2)] == [True, False]
    assert places(store, "x/a") == [(relation, ident(store, "x/b"))]
    assert places(store, "x/b") == ([(relation, ident(store, "x/a"))] if relation == "contradicts" else [])
    assert relation not in MUTUAL or not store.link(b, "x/a", relation).changed
    assert store.damage() == []
    assert [store.unlink("x/a", b).relations for _ in range(2)] == [(relation,), ()]
    assert places(store, "x/a") == places(store, "x/b") == []


@pytest.mark.parametrize("relation", [one for one in RELATIONS if one != "supersedes"])
def test_across_shared_spaces(store: Project, relation: str) -> None:
    store.link("x/a", "notes:x/n", relation)
    a, n = ident(store, "x/a"), ident(store, "x/n", "notes")
    assert places(store, "x/a") == [(relation, f"notes:{n}")]
    assert places(store, "x/n", "notes") == ([(relation, f"main:{a}")] if relation == "contradicts" else [])
    assert store.damage() == []
    ends = ("notes:x/n", "x/a") if relation in MUTUAL else ("x/a", n)  # what is mutual goes from either end
    assert store.unlink(*ends).relations == (relation,)
    assert places(store, "x/a") == places(store, "x/n", "notes") == []


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_shared_file_names_what_is_private(store: Project, relation: str) -> None:
    refused = UsageError if relation == "supersedes" else None
    with nullcontext() if relation in MUTUAL else pytest.raises(refused or RefusedError):
        store.link("x/a", PLAN, relation)
    plan, a = ident(store, "x/secret/plan", "diary"), ident(store, "x/a")
    assert places(store, "x/secret/plan", "diary") == ([(relation, f"main:{a}")] if relation in MUTUAL else [])
    with pytest.raises(refused) if refused else nullcontext():
        store.link(PLAN, "x/a", relation)
    assert store.damage() == []
    export = b"".join(ENCODERS["json"](export_space(store.over(), "main")))
    assert not any(word in data for data in (store.bytes(), export) for word in (plan.encode(), b"diary"))


@pytest.mark.parametrize(("relation", "turned"), [(one, n % 2 == 0) for n, one in enumerate(RELATIONS)])
def test_what_was_read_is_copied(store: Project, relation: str, turned: bool) -> None:
    ends = ("repo:x/read", "x/a") if turned else ("x/a", "repo:x/read")
    assert store.link(*ends, relation).changed
    assert "copied x/read into space 'main'" in str(store.notes)
    copy, a = ident(store, "x/read"), ident(store, "x/a")
    start, end = ("x/read", a) if turned else ("x/a", copy)
    assert (relation, end) in places(store, start)
    assert (store.damage(), store.link(*ends, relation).changed, store.unlink(*ends).changed) == ([], False, True)
    assert places(store, start) == []


def test_what_is_stored_and_edited_takes_links_to_other_spaces(store: Project) -> None:
    n = ident(store, "x/n", "notes")
    store.add("A text.", "x/c", **towards("notes:x/n"))
    assert places(store, "x/c") == [("relates_to", f"notes:{n}")]
    both = [{"to": f"notes:{n}", "relation": "relates_to"}, {"to": "notes:x/n", "relation": "depends_on"}]
    store.edit("x/c", links=both)
    assert places(store, "x/c") == [("relates_to", f"notes:{n}"), ("depends_on", f"notes:{n}")]
    store.edit("x/c", kind="decision")
    for to, error in ((PLAN, RefusedError), ("nots:x/n", NotFoundError), ("notes:x/none", NotFoundError)):
        for act in (
            lambda to=to: store.add("B.", "x/d", **towards(to)),
            lambda to=to: store.edit("x/b", **towards(to)),
        ):
            with pytest.raises(error):
                act()
    with pytest.raises(UsageError):
        store.add("B text.", "x/d", **towards("notes:x/n", relation="supersedes"))
    store.add("R text.", "x/r", **towards("repo:x/read"))
    assert places(store, "x/r") == [("relates_to", ident(store, "x/read"))]
    assert store.damage() == []


def test_a_proposal_is_looked_at_when_it_is_accepted(store: Project) -> None:
    for number, to in enumerate(("notes:x/n", PLAN, "nots:x/n", "notes:x/none")):
        store.propose(f"Text {number}.", f"p/{number}", **towards(to))
        store.accept(f"p/{number}")
    n = ident(store, "x/n", "notes")
    assert [places(store, f"p/{number}") for number in range(4)] == [[("relates_to", f"notes:{n}")], [], [], []]
    assert (b"secret" in store.bytes(), store.damage()) == (False, [])


def test_superseding_is_what_remember_does(store: Project) -> None:
    store.add("The new text.", "x/new", supersedes="x/b")
    by_remember = store.stored()["x/b"]
    store.unlink("x/new", "x/b")
    now = store.stored()["x/b"]
    assert (now.superseded_by, now.valid_until) == (None, None)
    store.link("x/new", "x/b", "supersedes")
    assert replace(store.stored()["x/b"], version=by_remember.version) == by_remember
    assert "x/b" not in store.listed()
    store.edit("x/new", links=[])  # it stays superseded, without a link
    assert store.unlink("x/new", "x/b").relations == ("supersedes",)
    assert ("x/b" in store.listed(), store.stored()["x/b"].valid_until) == (True, None)
    store.link("x/a", "x/b", "supersedes")
    with pytest.raises(UsageError, match="would supersede itself"):
        store.link("x/b", "x/a", "supersedes")


def test_of_two_that_supersede_the_last_does(store: Project) -> None:
    store.add("The new text.", "x/new")
    for path in ("x/a", "x/new", "x/a"):  # again changes nothing
        store.link(path, "x/b", "supersedes")
    for path in ("x/new", "x/a"):
        now = store.stored()["x/b"]
        assert (now.superseded_by, now.valid_until) == (ident(store, path), NOW)
        store.unlink(path, "x/b")
    assert "x/b" in store.listed()


def test_which_memory_a_name_is_of(store: Project) -> None:
    store.add("Once more.", "x/n", space="other")
    with pytest.raises(UsageError, match="is in spaces 'notes' and 'other'"):
        store.link("x/a", "x/n")
    store.add("A path like a reference.", "notes:x/n", id="notes:mem_1")
    store.link("x/a", "notes:x/n")  # of this space first
    assert places(store, "x/a") == [("relates_to", "notes:mem_1")]
    store.purge("notes:mem_1")
    assert places(store, "x/a") == []


def test_the_date_stays_and_the_weight_changes(store: Project) -> None:
    for ends, now, weight, stored in (
        (("x/a", "notes:x/n"), NOW, 0.3, 0.3), (("x/a", "notes:x/n"), LATER, None, 0.3), (("notes:x/n", "x/a"), LATER, 0.8, 0.8),
    ):  # fmt: skip
        link(store.over(now=now), *ends, "relates_to", weight)
        assert [(one["created_at"], one["weight"]) for one in links(store, "x/a")] == [(NOW, stored)]
    assert links(store, "x/n", "notes") == []


GOING = {
    "purge": lambda store: store.purge("x/n", space="notes"),
    "gc": lambda store: collect(store.over("notes", LATER), 1),
    "delete": lambda store: spaces.delete(store.over(), "notes"),
    "reset": lambda store: spaces.create(store.over(), "notes", {}, reset=True),
}


@pytest.mark.parametrize("way", GOING)
def test_links_go_and_come_back_with_what_they_lead_to(store: Project, way: str) -> None:
    store.link("x/a", "notes:x/n", "depends_on")
    store.link(PLAN, "notes:x/n")
    store.policy("notes", allow_delete=True)
    before = links(store, "x/a"), links(store, "x/secret/plan", "diary")
    GOING[way](store)
    assert (links(store, "x/a"), links(store, "x/secret/plan", "diary"), store.damage()) == ([], [], [])
    (run,) = store.over().trash.runs()
    restore_run(store.over(), run.name)
    assert ((links(store, "x/a"), links(store, "x/secret/plan", "diary")), store.damage()) == (before, [])


def test_what_is_gone_takes_its_links_along(store: Project) -> None:
    store.link("x/a", "notes:x/n")
    store.purge("x/a")
    store.purge("x/n", space="notes")
    restore(store.over(), ["x/a"])
    assert (links(store, "x/a"), store.damage()) == ([], [])
    restore(store.over("notes"), ["x/n"])
    store.link("x/a", "notes:x/n")
    n = ident(store, "x/n", "notes")
    store.purge("x/n", space="notes", now=True)
    assert (links(store, "x/a"), n.encode() in store.bytes()) == ([], False)


def test_export_and_import_keep_links_between_spaces(store: Project) -> None:
    store.link("x/a", "notes:x/n", "contradicts")
    other = Project(store.folder / "other")
    for name in ("main", "notes"):
        import_bundle(other.over(), export_space(store.over(), name), name)
        assert other.damage() == []  # also while the other space is not there
    assert [other.bytes(name) for name in ("main", "notes")] == [store.bytes(name) for name in ("main", "notes")]
