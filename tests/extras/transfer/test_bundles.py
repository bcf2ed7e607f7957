"""Imports into a space that has something already: of other tools, of bundles, and of what was deleted here."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from memcli.app.export import export_space
from memcli.codec.bundle import Export
from memcli.errors import CorruptError, RefusedError, UsageError
from memcli.extras.restore.restoring import restore
from memcli.extras.transfer.adopting import Adopted, adopt, foreign_source
from memcli.extras.transfer.bundles import import_bundle
from tests.app.conftest import Project
from tests.safety.secrets_corpus import secret

SAMPLES = Path(__file__).with_name("samples")


def exported(project: Project, **selection: Any) -> Export:
    return export_space(project.over(), "main", **selection)


def take(project: Project, export: Export, space: str | None = None, **options: Any) -> Any:
    return import_bundle(project.over(), export, "x.json", into=space, **options)


def read(project: Project, file: Path, *, dry_run: bool = False, now: str = "") -> Adopted:
    """What another tool has in a file or folder, imported."""
    over = project.over(now=now)
    source = foreign_source(over, str(file), None if file.is_dir() else file.read_bytes(), "auto")
    return adopt(over, source, dry_run)


def counts(done: Adopted) -> tuple[int, int, int]:
    return done.created, done.updated, done.deduplicated


def test_a_dry_run_changes_nothing(project: Project) -> None:
    project.fill("db", "rules/log")
    project.policy(ttl_days=9)
    export = exported(project)
    project.edit("db", raw="We chose SQLite.", now="2025-01-01")
    before = project.bytes()
    told = take(project, export, dry_run=True).to_json()
    assert (told["updated"], told["unchanged"], take(project, export, "new", dry_run=True).plan.policy) == (
        1,
        1,
        "taken",
    )
    assert (project.bytes(), project.stored("new")) == (before, {})
    assert take(project, export).to_json()["updated"] == 1
    assert take(project, export).to_json()["unchanged"] == 2


def test_what_replacing_would_delete_needs_the_policy_and_a_whole_export(project: Project) -> None:
    project.fill("a/b")
    whole, part = exported(project), exported(project, under="a")
    project.fill("more")
    before = project.bytes()
    for dry_run in (False, True):
        with pytest.raises(RefusedError, match="allow_delete"):
            take(project, whole, mode="replace", dry_run=dry_run)
    assert project.bytes() == before
    project.policy(allow_delete=True)
    with pytest.raises(UsageError, match=r"a part of space 'main' \(under a\)"):
        take(project, part, mode="replace")
    assert take(project, whole, mode="replace").to_json()["removed"] == 1


@pytest.mark.parametrize("grace", [14, 0])
def test_what_an_import_replaces_can_be_restored(project: Project, grace: int) -> None:
    project.add("What the bundle says.", "a/b")
    project.fill("a/c")
    export = exported(project)
    project.edit("a/b", raw="What was here.")
    before = project.stored()["a/b"]
    project.policy(grace_days=grace)
    take(project, export, mode="replace")
    assert ("1 memory is in the trash" in str(project.notes)) is bool(grace)
    assert (project.stored()["a/b"].raw, project.damage()) == ("What the bundle says.", [])
    if not grace:
        assert project.trashed() == []
        return
    for text in ("What was here.", "What the bundle says.", "What was here."):  # one takes the place of the other
        restore(project.over(), ["a/b"])
        assert (project.stored()["a/b"].raw, project.damage()) == (text, [])
    assert (project.stored()["a/b"], project.trashed()) == (before, ["a/b"])


def test_what_was_purged_is_not_imported_again(project: Project) -> None:
    project.add("The staging host is called blue-falcon.", "hosts/staging")
    project.fill("tools/uv")
    export = exported(project)
    project.purge("hosts/staging", now=True)
    project.purge("tools/uv")  # which the trash still has
    for space, options in ((None, {"dry_run": True}), (None, {}), (None, {"mode": "replace"}), ("other", {})):
        take(project, export, space, **options)
        assert project.notes[-1].startswith("1 memory that was purged here left out: 'hosts/staging'")
    assert not any("blue-falcon" in file.read_text() for file in (project.root / "spaces").glob("*.json"))
    assert "tools/uv" in project.stored()
    project.add("The staging host is called blue-falcon.", "hosts/staging")
    project.notes.clear()
    take(project, export)
    assert project.notes == []


@pytest.mark.parametrize(
    ("name", "form", "created"),
    [("vault", "markdown", 5), ("adr", "adr", 6), ("agents", "agents", 11), ("mcp/memory.jsonl", "mcp", 3)],
)
def test_what_other_tools_remember(project: Project, name: str, form: str, created: int) -> None:
    would, done = (read(project, SAMPLES / name, dry_run=dry_run) for dry_run in (True, False))
    assert (counts(would), counts(done), form in done.found) == ((created, 0, 0), (created, 0, 0), True)
    before = project.bytes()
    assert counts(read(project, SAMPLES / name, now="2027-01-01")) == (0, 0, created)
    assert project.bytes() == before
    assert {memory.provenance["source"] for memory in project.stored().values()} == {"imported"}
    assert take(project, exported(project), "copy").to_json()["created"] == created


def test_links_lead_to_memories(project: Project) -> None:
    for name in ("adr", "vault", "mcp/memory.jsonl"):
        read(project, SAMPLES / name)
    found = project.stored()
    ids = {memory.id: path for path, memory in found.items()}
    assert ids[found["adr/0002-use-mysql"].superseded_by or ""] == "adr/0004-use-postgresql"
    active = [found[f"adr/{name}"].active for name in ("0002-use-mysql", "0003-use-xml", "0005-build-with-make")]
    assert active == [True, False, False]
    for path, links in {
        "adr/0004-use-postgresql": [("supersedes", "adr/0002-use-mysql")],
        "vault/Caching": [("relates_to", "vault/Deploy"), ("relates_to", "vault/Projects/Shop")],
        "entities/orders-service": [("depends_on", "entities/PostgreSQL")],
    }.items():
        assert [(link["relation"], ids[link["to"]]) for link in found[path].links] == links


def test_an_import_leaves_alone_what_came_from_elsewhere(project: Project) -> None:
    project.add("Mine.", "notes/a")
    notes = project.folder / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Theirs. [[b]]")
    (notes / "b.md").write_text("See [a](a.md).")
    assert [counts(read(project, notes)) for _ in range(2)] == [(2, 0, 0), (0, 0, 2)]
    assert project.stored()["notes/a"].raw == "Mine."
    (notes / "a.md").write_text("Theirs, changed.")
    assert [counts(read(project, notes, dry_run=dry_run)) for dry_run in (True, False)] == [(0, 1, 1), (0, 1, 1)]
    (notes / "a.mdx").write_text("Another a.")
    assert [counts(read(project, notes)) for _ in range(2)] == [(1, 0, 2), (0, 0, 3)]


def test_an_export_of_mem0_is_taken_in_once_and_updated_by_a_later_one(project: Project, tmp_path: Path) -> None:
    token = secret("github_token")[1]
    first = {"id": "0b1f", "memory": f"Alice prefers tabs, with {token}.", "user_id": "alice@corp.net", "hash": "9e"}
    other = {"id": "2", "memory": "Bob deploys on Tuesdays.", "user_id": "bob"}
    knows = {"source": "alice", "relationship": "knows", "target": "bob"}

    def given(tree: object) -> tuple[int, int, int]:
        (tmp_path / "a.json").write_text(json.dumps(tree))
        return counts(read(project, tmp_path / "a.json"))

    assert given({"results": [first, other], "relations": [knows]}) == (3, 0, 0)
    before = project.bytes()
    assert not any(word in before for word in (token.encode(), b"alice@corp.net"))
    assert given({"results": [first, other], "relations": [knows]}) == (0, 0, 3)
    assert given([first, other]) == (0, 0, 2)
    assert project.bytes() == before
    assert given({"memories": [first, {**other, "memory": "Bob deploys on Fridays."}]}) == (0, 1, 1)
    with pytest.raises(CorruptError, match="memory 2 is not an object"):
        given([{"id": "1", "memory": "A text.", "user_id": "a"}, 3])


HEAD = "# {n}. {title}\n\n## Status\n\n{status}\n\n## Context\n\nWe need one.\n\n## Decision\n\nWe use {title}.\n"
RECORDS = {
    "0001-mysql.md": HEAD.format(n=1, title="MySQL", status="Accepted"),
    "0002-postgresql.md": HEAD.format(n=2, title="PostgreSQL", status="Accepted\n\nSupersedes 1"),
    "0003-redis.md": HEAD.format(n=3, title="Redis", status="Superseded by [Valkey](0004-valkey.md)"),
    "0004-valkey.md": HEAD.format(n=4, title="Valkey", status="Accepted"),
}


@pytest.mark.parametrize("order", [None, *list(permutations(range(4)))[::5]])
def test_decisions_supersede_each_other_in_whichever_order_they_come(
    project: Project, order: tuple[int, ...] | None
) -> None:
    folder = project.folder / "docs" / "adr"
    folder.mkdir(parents=True)
    for name, text in RECORDS.items():
        (folder / name).write_text(text)
    for file in [folder] if order is None else [folder / sorted(RECORDS)[n] for n in order]:
        read(project, file)
    for _ in range(2):
        found = {path.rpartition("/")[2][:4]: memory for path, memory in project.stored().items()}
        number = {memory.id: n for n, memory in found.items()}
        assert {n: number.get(memory.superseded_by or "") for n, memory in found.items()} == {
            "0001": "0002", "0002": None, "0003": "0004", "0004": None,
        }  # fmt: skip
        assert {n: [number[link["to"]] for link in m.links] for n, m in found.items() if m.links} == {
            "0002": ["0001"], "0004": ["0003"],
        }  # fmt: skip
        assert all(memory.active for memory in found.values())
        assert project.damage() == []
        read(project, folder)
