"""What goes and comes back: purges, collections, resets and what makes room, with the trash and the audit log."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.app.purge import erase_trashed
from memcli.app.trash import collect
from memcli.codec.bundle import seal
from memcli.errors import ConflictError, NotFoundError, RefusedError, StoreError
from memcli.extras.restore.restoring import restore, restore_run
from memcli.extras.spaces import managing as spaces
from memcli.extras.stores.log import check_log
from memcli.extras.transfer.bundles import import_bundle
from memcli.model.space import Space
from tests.app.conftest import LATER, Project
from tests.conftest import NOW, memory, raising

FOREVER: dict[str, object] = {"allow_delete": True}


def bring(project: Project, *refs: str) -> None:
    restore(project.over(), refs)


def compact(project: Project) -> None:
    project.policy(max_objects=1)
    project.fill("fact/new")


def replace_all(project: Project) -> None:
    incoming = seal(Space("other", (memory("x", raw="Another."),), updated_at=NOW))
    import_bundle(project.over(), incoming, "other.json", into="main", mode="replace")


ROUTES: dict[str, Callable[[Project], object]] = {
    "purge": lambda project: project.purge("log/a", "fact/b"),
    "gc": lambda project: collect(project.over(now=LATER), 30),
    "reset": lambda project: spaces.create(project.over(), "main", {}, reset=True),
    "delete": lambda project: spaces.delete(project.over(), "main"),
    "compaction": compact,
    "import": replace_all,
}


@pytest.mark.parametrize("route", ROUTES)
def test_whatever_removes_can_be_undone_byte_for_byte(project: Project, route: str) -> None:
    project.fill("log/a", "fact/b")
    project.policy(**FOREVER)
    before, whole = project.stored(), project.bytes()
    ROUTES[route](project)
    left = project.stored()
    assert (project.over().has_space("main"), before.keys() & left.keys()) == (route != "delete", set())
    (run,) = project.over().trash.runs()
    assert sorted(m.path for m in run.space.objects) == ["fact/b", "log/a"]
    if route == "compaction":
        project.policy(max_objects=None)
    restore_run(project.over(), run.name[:20])
    assert (project.stored(), project.trashed()) == (left | before, [])
    assert route != "delete" or project.bytes() == whole
    gone = [change["path"] for act in project.acts() for change in act["changes"] if not change["after"]]
    assert (sorted(gone), check_log(project.over()).broken) == (["fact/b", "log/a"], 0)


def test_one_memory_comes_back_from_where_it_was_last(project: Project) -> None:
    project.fill("log/a")
    project.purge("log/a")
    project.fill("log/a")
    project.edit("log/a", raw="The newer text.")
    newer = project.stored()
    project.purge("log/a")
    assert [m.path for m in restore(project.over(), ["log/a"]).memories] == ["log/a"]
    assert project.stored() == newer


def test_what_is_taken_again_is_a_conflict(project: Project) -> None:
    project.fill("log/a", "log/b")
    project.purge("log/a", "log/b")
    project.fill("log/a")
    project.edit("log/a", raw="Other.")
    with pytest.raises(ConflictError, match="belongs to"):
        bring(project, "log/a", "log/b")
    project.edit("log/a", path="log/moved")
    project.add("Somebody else.", "log/b", id="mem_else")
    with pytest.raises(ConflictError, match="belongs to mem_else"):
        bring(project, "log/b")
    assert sorted(project.stored()) == ["log/b", "log/moved"]
    with pytest.raises(NotFoundError):
        bring(project, "log/none")
    with pytest.raises(NotFoundError):
        restore_run(project.over(), "1999")


def test_a_crash_between_the_trash_and_the_space_does_no_harm(project: Project) -> None:
    project.fill("log/a")
    before = project.bytes()
    for undo in (lambda: restore(project.over(), ["log/a"]).existing[0].path, lambda: collect(project.over())):
        project.purge("log/a")
        (project.root / "spaces/main.json").write_bytes(before)  # as if the write of the space had never come
        assert undo()
        assert (project.bytes(), project.trashed()) == (before, [])


def test_what_cannot_be_kept_is_not_removed(project: Project) -> None:
    project.fill("log/a")
    project.policy(**FOREVER)
    before = project.bytes()
    (project.root / "local/trash").write_text("")
    for route in ("reset", "delete"):
        with pytest.raises(StoreError):
            ROUTES[route](project)
    with pytest.raises(StoreError):
        project.purge("log/a")
    assert project.bytes() == before


def test_what_goes_is_kept_before_it_goes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.fill("log/a")
    before = project.bytes()
    with monkeypatch.context() as broken:
        broken.setattr("memcli.store.file.write_file", raising(StoreError("no")))
        with pytest.raises(StoreError):
            project.purge("log/a")
    assert (project.trashed(), project.bytes()) == (["log/a"], before)
    assert restore(project.over(), ["log/a"]).existing


def _remember_many(folder: str, worker: int) -> None:
    project = Project(Path(folder))
    for n in range(12):
        project.add(f"Text {worker} {n}.", f"w{worker}/{n}")


@pytest.mark.slow
def test_writers_at_once_lose_nothing_to_compaction(project: Project) -> None:
    project.fill("log/a")
    project.policy(max_objects=5, compaction="fifo", **FOREVER)
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_remember_many, args=(str(project.folder), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    every = sorted([*project.stored(), *project.trashed()])
    assert len(project.stored()) == 5
    assert every == sorted(["log/a", *(f"w{w}/{n}" for w in range(3) for n in range(12))])
    assert sorted(c["path"] for act in project.acts() for c in act["changes"] if not c["before"]) == every
    assert check_log(project.over()).broken == 0


def test_grace_ends(project: Project) -> None:
    project.fill("log/a", "log/b")
    project.policy(grace_days=3, **FOREVER)
    project.purge("log/a")
    assert collect(project.over(now="2026-02-02")).emptied == ()
    late = project.over(now="2026-02-08")
    assert len(collect(late, dry_run=True).emptied) == len(collect(late).emptied) == 1
    assert (project.trashed(), project.acts()[-1]["action"]) == ([], "erase")
    project.policy(grace_days=0)
    project.purge("log/b")
    assert project.trashed() == []


def test_the_trash_of_a_space_that_is_gone_is_emptied_too(project: Project) -> None:
    project.fill("log/a")
    project.policy(**FOREVER)
    spaces.delete(project.over(), "main")
    project.fill("x", space="other")
    for now, left in (("", ["log/a"]), ("2026-03-01", [])):
        collect(project.over("other", now))
        assert project.trashed() == left


@pytest.mark.parametrize("at", ["2024-01-31T09:30:00Z", "2028-01-31T09:30:00Z"])
def test_a_clock_that_jumps_removes_nothing(project: Project, at: str) -> None:
    project.fill("log/a", "log/b")
    project.policy(ttl_days=30, grace_days=1, **FOREVER)
    project.purge("log/b")
    before, jumped = project.bytes(), project.over(now=at)
    with pytest.raises(RefusedError, match="the clock says"):
        collect(jumped)
    assert (project.bytes(), project.trashed()) == (before, ["log/b"])
    assert collect(jumped, dry_run=True).refusal is not None
    collect(jumped, trust_clock=True)


def test_a_collection_of_the_future_is_remembered(project: Project) -> None:
    project.fill("log/a")
    collect(project.over(now="2026-08-01"))
    with pytest.raises(RefusedError, match="collected on 2026-08-01"):
        collect(project.over())


def test_a_dry_run_is_what_is_done(project: Project) -> None:
    project.fill("log/a", "fact/b", "guide/c")
    project.policy(ttl_days=90, retention={"log": 7, "fact": 4000}, max_objects=1, **FOREVER)
    march = project.over(now="2026-03-01")
    planned, done = collect(march, dry_run=True), collect(march)
    assert [(r.memory.path, r.reason) for r in done.plan.removals] == [
        ("log/a", "retention.log"),
        ("fact/b", "max_objects"),
    ]
    assert planned.plan == done.plan
    project.policy(ttl_days=1, max_objects=None)
    assert [m.path for m in restore(project.over(now=LATER), ["log/a"]).due] == ["log/a"]


def test_a_full_space_takes_what_it_may_and_a_restore_does_not_overfill_it(project: Project) -> None:
    project.fill("decision/a", "inferred/b")
    project.policy(max_objects=2)
    assert project.add("The text of decision/a.", "decision/a").status == "deduplicated"  # needs no room
    project.fill("fact/c")
    assert sorted(project.stored()) == ["decision/a", "fact/c"]
    with pytest.raises(RefusedError, match=r"policy\.max_objects"):
        bring(project, "inferred/b")
    project.pin("decision/a", "fact/c")
    with pytest.raises(RefusedError):
        project.fill("fact/d")
    assert sorted(project.stored()) == ["decision/a", "fact/c"]


def test_rules_pin_what_is_new(project: Project) -> None:
    project.fill("constraint/before")
    project.policy(auto_pin=[{"kind": "constraint"}, {"under": "ops", "pattern": r"(?i)\bnever\b"}])
    project.fill("constraint/a")
    project.add("We never deploy on Fridays.", "ops/deploy")
    project.add("Nevertheless we deploy.", "ops/other")
    project.add("Not this one.", "constraint/free", kind="constraint", pinned=False)
    assert {path for path, m in project.stored().items() if m.pinned} == {"constraint/a", "ops/deploy"}


def test_a_private_space_stays_here(project: Project) -> None:
    ignored = project.root / ".gitignore"
    project.fill("fact/public")
    before = ignored.read_bytes()
    project.fill("fact/salary", space="hr")
    project.policy("hr", visibility="private", **FOREVER)
    hidden = before + b"spaces/hr.json\n"
    assert ignored.read_bytes() == hidden
    spaces.delete(project.over(), "hr")
    assert ignored.read_bytes() == before
    restore_run(project.over(), project.over().trash.runs()[0].name)
    assert ignored.read_bytes() == hidden
    project.policy("hr", visibility="project")
    assert ignored.read_bytes() == before


def test_a_gitignore_that_cannot_be_written_denies_no_write(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.fill("fact/a")
    project.policy(visibility="private")
    monkeypatch.setattr(
        "memcli.store.pending.set_ignored",
        raising(StoreError("cannot write .gitignore: Input/output error", "nothing was changed")),
    )
    project.policy(visibility="project")
    assert "saved, but git still ignores space 'main': cannot write .gitignore" in project.notes[-1]
    assert not spaces.show(project.over(), "main").policy.is_private


def test_what_governs_is_not_done_without_its_record(project: Project) -> None:
    project.fill("log/a")
    project.policy(**FOREVER)
    log = project.root / "local/audit/main.jsonl"
    log.unlink()
    log.mkdir()
    before = project.bytes()
    for act in (lambda: project.purge("log/a"), lambda: ROUTES["delete"](project), lambda: project.policy(ttl_days=1)):
        with pytest.raises(StoreError, match="audit log"):
            act()
    assert project.bytes() == before
    project.add("All the same.")
    assert "not yet in the audit log" in project.notes[-1]


def superseded(project: Project) -> None:
    """A choice, what took its place, and what follows from the older one."""
    project.add("Ansible deploys.", "db")
    project.add("Terraform deploys.", supersedes="db")
    project.add("It follows.", "follows", links=[{"to": "db", "relation": "depends_on"}])


def test_a_purge_is_undone_with_its_references(project: Project) -> None:
    superseded(project)
    before = project.stored()
    assert [m.path for m in project.purge("db").current] == ["db-superseded"]
    assert (project.damage(), project.stored()["follows"].links) == ([], ())
    assert project.stored()["db-superseded"].superseded_by is None
    bring(project, "db")
    after = project.stored()
    assert (project.damage(), after["follows"].links) == ([], before["follows"].links)
    old = after["db-superseded"]
    assert (old.superseded_by, old.valid_until) == (after["db"].id, NOW)


@pytest.mark.parametrize(("gone", "back"), [((0, 1), (1, 0)), ((1, 0), (0, 1)), ((0, 1), (0, 1))])
def test_the_order_of_purges_and_restores_does_not_matter(
    project: Project, gone: tuple[int, int], back: tuple[int, int]
) -> None:
    superseded(project)
    before = project.stored()
    ids = [before[path].id for path in ("db", "db-superseded")]
    for act, order in ((project.purge, gone), (lambda ref: bring(project, ref), back)):
        for n in order:
            act(ids[n])
            assert project.damage() == []
    after = project.stored()
    for field in ("superseded_by", "valid_until", "links"):
        assert {path: getattr(m, field) for path, m in after.items()} == {
            path: getattr(m, field) for path, m in before.items()
        }


def test_what_comes_back_refers_to_nothing_that_has_gone_meanwhile(project: Project) -> None:
    project.fill("log/a", "log/b")
    project.add("It follows.", "follows", links=[{"to": f"log/{n}", "relation": "depends_on"} for n in "ab"])
    project.purge("follows")
    project.purge("log/a")
    bring(project, "follows")
    assert [link["to"] for link in project.stored()["follows"].links] == [project.stored()["log/b"].id]
    assert project.damage() == []
    bring(project, "log/a")
    assert project.damage() == []


def test_only_a_space_that_was_created_with_reset_is_reset_without_its_policy(project: Project) -> None:
    def reset(name: str, **metadata: str) -> int:
        spaces.create(project.over(), name, metadata, reset=True)
        return len(project.stored(name))

    for _ in range(3):
        assert reset("scratch", team="core") == 0
        project.add("Some text.", space="scratch")
    assert (reset("scratch"), len(project.trashed("scratch"))) == (0, 3)
    spaces.create(project.over(), "plain", {})
    reset("plain")  # it is empty: nothing is removed, and nothing granted
    project.add("Some text.", space="plain")
    spaces.create(project.over(), "plain", {"reset": "true"})  # a text, which is not the mark
    project.add("Some text.", space="scratch")
    (project.root / "local").rename(project.folder / "elsewhere")  # as in a clone that nobody accepted
    for name in ("plain", "scratch"):
        with pytest.raises(RefusedError):
            reset(name)
    assert len(project.stored("plain")) == 1


def test_an_id_in_the_trash_is_taken(project: Project) -> None:
    project.add("The first text.", "n/a")
    project.edit("n/a", path="n/c")
    project.purge("n/c")
    project.add("Another text.", "n/a")
    bring(project, "n/c")
    texts = {path: one.raw for path, one in project.stored().items()}
    assert texts == {"n/c": "The first text.", "n/a": "Another text."}
    project.purge("n/c")
    project.purge("n/a", now=True)
    assert project.trashed() == ["n/c"]


def test_what_is_in_the_trash_can_be_erased_at_once(project: Project) -> None:
    project.add("The leaked sablefish.", "a/a")
    project.recall("sablefish")  # by an index
    project.purge("a/a")
    assert [m.path for m in erase_trashed(project.over(), ["a/a"])] == ["a/a"]
    assert (project.trashed(), project.holding(b"sablefish")) == ([], [])
    assert check_log(project.over()).broken == 0


def test_recall_of_a_missing_space_leaves_no_index(project: Project) -> None:
    project.add("The cache is Redis.")
    project.recall("cache", space="nothere")
    assert not list((project.root / "cache").glob("nothere*"))
    project.recall("cache")
    (project.root / "spaces/main.json").unlink()
    project.recall("cache")
    assert not (project.root / "cache/main.index").exists()
