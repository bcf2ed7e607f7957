from __future__ import annotations

from memcli.app.ingest import FilePlace, ingest, relocate
from memcli.app.remember import prepare, remember
from memcli.app.workspace import Workspace
from memcli.model.memory import Memory
from tests.app.sources import Given


def memories(workspace: Workspace) -> dict[str, Memory]:
    snapshot = workspace.store.open(workspace.space)
    try:
        return {m.path: m for m in snapshot.load().objects}
    finally:
        snapshot.close()


def place(name: str) -> FilePlace:
    return FilePlace(name, name)


def store(workspace: Workspace, *paths: str, source: str = "a.md", **fields: object) -> None:
    one = {"metadata": {"source": source}, "provenance": {"source": "observed", "files": [source]}, **fields}
    ingest(workspace, Given([{"path": path, "raw": f"Text of {path}.", **one} for path in paths]))


def test_all_memories_of_a_file_go_with_it(workspace: Workspace):
    store(workspace, "a.md", "a.md/deploy", anchors=[{"file": "a.md", "hash": "x"}, {"file": "z", "hash": "y"}])
    store(workspace, "b.md", source="b.md")
    before = memories(workspace)
    assert relocate(workspace, [(place("a.md"), place("docs/new.md"))]) == 2
    after = memories(workspace)
    assert sorted(after) == ["b.md", "docs/new.md", "docs/new.md/deploy"]
    moved = after["docs/new.md/deploy"]
    assert (moved.id, moved.created_at) == (before["a.md/deploy"].id, before["a.md/deploy"].created_at)
    assert (moved.version, moved.metadata["source"]) == (2, "docs/new.md")
    assert moved.provenance["files"] == ["docs/new.md"]
    assert [anchor["file"] for anchor in moved.anchors] == ["docs/new.md", "z"]
    assert relocate(workspace, [(place("a.md"), place("docs/new.md"))]) == 0


def test_what_happened_to_a_file_stays_where_it_was(workspace: Workspace):
    store(workspace, "code/a.md/1", kind="diff", provenance={"commit": "1" * 40})
    store(workspace, "code/a.md/2", provenance={"commit": "1" * 40})
    assert relocate(workspace, [(place("a.md"), place("b.md"))]) == 0


def test_one_that_was_put_elsewhere_or_has_no_room_is_marked(workspace: Workspace):
    store(workspace, "a.md", "a.mdx", "topics/deploy")
    store(workspace, "b.md", source="b.md")
    assert relocate(workspace, [(place("a.md"), place("b.md"))]) == 3
    assert {path: m.active for path, m in memories(workspace).items()} == {
        "a.md": False, "a.mdx": False, "topics/deploy": False, "b.md": True,
    }  # fmt: skip


def test_a_new_file_in_the_old_place_gets_a_memory_of_its_own(workspace: Workspace):
    store(workspace, "a.md")
    relocate(workspace, [(place("a.md"), place("b.md"))])
    store(workspace, "a.md")
    store(workspace, "b.md", source="b.md")
    after = memories(workspace)
    assert {path: (m.active, m.metadata["source"]) for path, m in after.items()} == {
        "a.md": (True, "a.md"), "b.md": (True, "b.md"),
    }  # fmt: skip
    assert after["a.md"].id != after["b.md"].id
    again = remember(workspace, [prepare(workspace, {"path": "a.md", "raw": "x", "metadata": {"source": "a.md"}})])
    assert (again.outcomes[0].status, again.outcomes[0].id) == ("updated", after["a.md"].id)


def test_a_secret_in_a_name_is_not_stored(workspace: Workspace):
    secret = "AKIA" + "Z7QX5RMW2KDJ4TNB"
    store(workspace, "a.md")
    relocate(workspace, [(place("a.md"), place(f"of-{secret}.md"))])
    (after,) = memories(workspace).values()
    assert secret not in str(after)
    assert after.active


def test_a_summary_that_begins_with_the_name_begins_with_the_new_one(workspace: Workspace):
    store(workspace, "a", source="a", summary_micro="a: Defines a cat.", summary_short="Feeds a cat.")
    relocate(workspace, [(place("a"), place("b"))])
    moved = memories(workspace)["b"]
    assert (moved.summary_micro, moved.summary_short) == ("b: Defines a cat.", "Feeds a cat.")
