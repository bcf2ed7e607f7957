"""What a policy lets live, go and come back, and what the audit log has of it, through the command line."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli import Memory
from memcli.app.remember import prepare, remember
from memcli.errors import StoreError
from memcli.store.layout import Layout
from tests.cli.conftest import git
from tests.conftest import NOW, ROOT, Run, open_at

LATER = "2026-06-01T00:00:00Z"
MAIN = ".memory/spaces/main.json"
EMPTY_TRASH = "the trash is empty\n"


def memories(tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Each memory of the main space by its path, as it stands in the file."""
    return {one["path"]: one for one in json.loads((tmp_path / MAIN).read_bytes())["objects"]}


def policy(run: Run, *pairs: str, space: str = "main") -> None:
    assert run("space", "policy", space, *(word for pair in pairs for word in ("--set", pair))).code == 0


def fill(run: Run, *paths: str) -> None:
    for path in paths:
        assert run("remember", f"The text of {path}.", "--path", path, "--kind", path.partition("/")[0]).code == 0


def purge(run: Run, *paths: str) -> None:
    assert run("forget", *paths, "--purge", "--yes").code == 0


def acts(run: Run, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run("store", "audit", "--json", "--limit", "0", *arguments).json
    return found


ROUTES: dict[str, Callable[[Run], object]] = {
    "purge": lambda run: purge(run, "log/a", "fact/b"),
    "gc": lambda run: run("gc", "--ttl-days", "30", "--freeze-clock", LATER),
    "reset": lambda run: run("space", "create", "main", "--reset"),
    "delete": lambda run: run("space", "delete", "main"),
    "compaction": lambda run: (policy(run, "max_objects=1"), fill(run, "fact/new")),
    "import": lambda run: (
        run("remember", "Another.", "--path", "x", "--space", "other"),
        run("export", "other", "--out", "other.json"),
        run("import", "other.json", "--space", "main", "--mode", "replace"),
    ),
}


@pytest.mark.parametrize("route", ROUTES)
def test_whatever_removes_can_be_undone_byte_for_byte(run: Run, tmp_path: Path, route: str) -> None:
    fill(run, "log/a", "fact/b")
    policy(run, "allow_delete=true")
    before, whole = memories(tmp_path), (tmp_path / MAIN).read_bytes()
    ROUTES[route](run)
    assert (tmp_path / MAIN).exists() == (route != "delete")
    left = memories(tmp_path) if route != "delete" else {}
    assert not before.keys() & left.keys()
    (removed,) = run("restore", "--list", "--json").json
    assert sorted(m["path"] for m in removed["memories"]) == ["fact/b", "log/a"]
    if route == "compaction":
        policy(run, "max_objects=null")
    assert run("restore", "--run", removed["run"][:20]).code == 0
    assert memories(tmp_path) == left | before
    if route == "delete":
        assert (tmp_path / MAIN).read_bytes() == whole
    assert run("restore", "--list").out == EMPTY_TRASH
    gone = [c["path"] for act in acts(run) for c in act["changes"] if not c["after"]]
    assert sorted(gone) == ["fact/b", "log/a"]
    assert run("store", "audit", "--verify").code == 0


def test_one_memory_comes_back_from_where_it_was_last(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a")
    purge(run, "log/a")
    fill(run, "log/a")
    run("edit", "log/a", "--set", "raw=The newer text.")
    newer = memories(tmp_path)
    purge(run, "log/a")
    assert run("restore", "log/a", "--json").json["restored"][0]["path"] == "log/a"
    assert memories(tmp_path) == newer


def test_what_is_taken_again_is_a_conflict(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a", "log/b")
    purge(run, "log/a", "log/b")
    fill(run, "log/a")
    run("edit", "log/a", "--set", "raw=Other.")
    refused = run("restore", "log/a", "log/b")
    assert (refused.code, "belongs to" in refused.err) == (4, True)
    run("edit", "log/a", "--set", "path=log/moved")
    run("remember", "Somebody else.", "--path", "log/b", "--id", "mem_else")
    refused = run("restore", "log/b")
    assert (refused.code, "belongs to mem_else" in refused.err) == (4, True)
    assert sorted(memories(tmp_path)) == ["log/b", "log/moved"]
    codes = [run("restore", *words).code for words in (["log/none"], ["--run", "1999"], [], ["x", "--list"])]
    assert codes == [3, 3, 2, 2]


def test_a_crash_between_the_trash_and_the_space_does_no_harm(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a")
    before = (tmp_path / MAIN).read_bytes()
    for undo, says in ((("restore", "log/a"), "exists already "), (("gc",), "")):
        purge(run, "log/a")
        (tmp_path / MAIN).write_bytes(before)  # as if the write of the space had never come
        assert run(*undo).out.startswith(says)
        assert ((tmp_path / MAIN).read_bytes(), run("restore", "--list").out) == (before, EMPTY_TRASH)


def test_what_cannot_be_kept_is_not_removed(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a")
    policy(run, "allow_delete=true")
    before = (tmp_path / MAIN).read_bytes()
    (tmp_path / ".memory" / "local" / "trash").write_text("")
    for line in ("forget log/a --purge --yes", "space delete main", "space create main --reset"):
        assert run(*line.split()).code == 8
    assert (tmp_path / MAIN).read_bytes() == before


def test_what_goes_is_kept_before_it_goes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(run, "log/a")
    before = (tmp_path / MAIN).read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise StoreError("no")

    with monkeypatch.context() as broken:
        broken.setattr("memcli.store.file.write_file", fail)
        assert run("forget", "log/a", "--purge", "--yes").code == 8
    assert "log/a" in run("restore", "--list").out
    assert (tmp_path / MAIN).read_bytes() == before
    assert "exists already" in run("restore", "log/a").out


def _remember_many(folder: str, worker: int) -> None:
    workspace = open_at(Path(folder))
    for n in range(12):
        remember(workspace, [prepare(workspace, {"raw": f"Text {worker} {n}.", "path": f"w{worker}/{n}"})])


@pytest.mark.slow
def test_writers_at_once_lose_nothing_to_compaction(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a")
    policy(run, "allow_delete=true", "max_objects=5", "compaction=fifo")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_remember_many, args=(str(tmp_path), n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    kept = memories(tmp_path).keys()
    gone = [m["path"] for removed in run("restore", "--list", "--json").json for m in removed["memories"]]
    assert len(kept) == 5
    assert sorted([*kept, *gone]) == sorted(["log/a", *(f"w{w}/{n}" for w in range(3) for n in range(12))])
    assert sorted(c["path"] for act in acts(run) for c in act["changes"] if not c["before"]) == sorted([*kept, *gone])
    assert run("store", "audit", "--verify").code == 0


def test_grace_ends(run: Run) -> None:
    fill(run, "log/a", "log/b")
    policy(run, "allow_delete=true", "grace_days=3")
    purge(run, "log/a")
    run("gc", "--freeze-clock", "2026-02-02")
    assert "log/a" in run("restore", "--list").out
    assert "would erase 1 from the trash" in run("gc", "--dry-run", "--freeze-clock", "2026-02-08").out
    assert "erased 1 from the trash" in run("gc", "--freeze-clock", "2026-02-08").out
    assert run("restore", "log/a").code == 3
    assert acts(run)[-1]["action"] == "erase"
    policy(run, "grace_days=0")
    purge(run, "log/b")
    assert run("restore", "--list").out == EMPTY_TRASH


def test_the_trash_of_a_space_that_is_gone_is_emptied_too(run: Run) -> None:
    fill(run, "log/a")
    policy(run, "allow_delete=true")
    run("space", "delete", "main")
    run("remember", "Another.", "--space", "other")
    run("gc", "--space", "other")
    assert "log/a" in run("restore", "--list").out
    run("gc", "--space", "other", "--freeze-clock", "2026-03-01")
    assert run("restore", "--list").out == EMPTY_TRASH


@pytest.mark.parametrize("at", ["2024-01-31T09:30:00Z", "2028-01-31T09:30:00Z"])
def test_a_clock_that_jumps_removes_nothing(run: Run, tmp_path: Path, at: str) -> None:
    fill(run, "log/a")
    policy(run, "allow_delete=true", "ttl_days=30", "grace_days=1")
    fill(run, "log/b")
    purge(run, "log/b")
    before = (tmp_path / MAIN).read_bytes()
    refused = run("gc", "--freeze-clock", at)
    assert (refused.code, "the clock says" in refused.err) == (5, True)
    assert (tmp_path / MAIN).read_bytes() == before
    assert "log/b" in run("restore", "--list").out
    assert "would be refused" in run("gc", "--dry-run", "--freeze-clock", at).out
    assert run("gc", "--freeze-clock", at, "--trust-clock").code == 0


def test_a_collection_of_the_future_is_remembered(run: Run) -> None:
    fill(run, "log/a")
    assert run("gc", "--freeze-clock", "2026-08-01").code == 0
    refused = run("gc")
    assert (refused.code, "collected on 2026-08-01" in refused.err) == (5, True)


def test_a_dry_run_is_what_is_done(run: Run) -> None:
    fill(run, "log/a", "fact/b", "guide/c")
    policy(run, "allow_delete=true", "ttl_days=90", "retention.log=7", "max_objects=1", "retention.fact=4000")
    planned = run("gc", "--dry-run", "--json", "--freeze-clock", "2026-03-01").json
    done = run("gc", "--json", "--freeze-clock", "2026-03-01").json
    assert [(m["path"], m["why"]) for m in done["purged"]] == [("log/a", "retention.log"), ("fact/b", "max_objects")]
    assert {**planned, "dry_run": False, "run": done["run"]} == done
    policy(run, "ttl_days=1", "max_objects=null")
    assert "expire at the next gc" in run("restore", "log/a", "--freeze-clock", LATER).err


def test_a_full_space_takes_what_it_may(run: Run, tmp_path: Path) -> None:
    fill(run, "decision/a", "inferred/b")
    policy(run, "max_objects=2")
    again = run("remember", "The text of decision/a.", "--json").json  # needs no room
    assert (again["status"], "compacted" in again) == ("deduplicated", False)
    line = json.dumps({"raw": "One of a batch.", "path": "batch/one", "kind": "inferred"})
    batch = run("remember", "--batch", "-", "--json", stdin=line).json
    assert (batch["compacted"], ["compacted" in memory for memory in batch["memories"]]) == (1, [False])
    more = run("remember", "One more.", "--path", "fact/c", "--json").json
    assert (more["compacted"], sorted(memories(tmp_path))) == (1, ["decision/a", "fact/c"])
    lines = "\n".join(json.dumps({"raw": f"Text {n}.", "path": f"batch/{n}"}) for n in range(3))
    refused = run("remember", "--batch", "-", stdin=lines)
    assert (refused.code, "policy.max_objects" in refused.err) == (5, True)
    run("pin", "decision/a", "fact/c")
    assert run("remember", "No room.", "--path", "fact/d").code == 5
    assert sorted(memories(tmp_path)) == ["decision/a", "fact/c"]


def test_a_restore_does_not_overfill(run: Run) -> None:
    fill(run, "log/a", "log/b")
    purge(run, "log/a")
    policy(run, "max_objects=1")
    refused = run("restore", "log/a")
    assert (refused.code, "policy.max_objects" in refused.err) == (5, True)


def test_rules_pin_what_is_new(run: Run, tmp_path: Path) -> None:
    fill(run, "constraint/before")
    policy(run, 'auto_pin=[{"kind":"constraint"},{"under":"ops","pattern":"(?i)\\\\bnever\\\\b"}]')
    fill(run, "constraint/a")
    run("remember", "We never deploy on Fridays.", "--path", "ops/deploy")
    run("remember", "Nevertheless we deploy.", "--path", "ops/other")
    run("remember", "Not this one.", "--path", "constraint/free", "--kind", "constraint", "--set", "pinned=false")
    assert {path for path, m in memories(tmp_path).items() if m.get("pinned")} == {"constraint/a", "ops/deploy"}


def test_every_way_takes_detectors_as_a_list_and_a_part_of_a_part(run: Run, tmp_path: Path) -> None:
    wanted = {"pii_redaction": {"detectors": ["email"]}, "quota": {"openai": {"tokens_per_day": 5}}}
    fill(run, "log/a")
    policy(run, 'pii_redaction=["email"]', "quota.openai.tokens_per_day=5")
    assert run("space", "policy", "main").json == wanted
    given = {"pii_redaction": ["email"], "quota.openai.tokens_per_day": 5}
    (tmp_path / "p.json").write_text(json.dumps(given))
    run("space", "policy", "main", "--unset", "pii_redaction", "--unset", "quota.openai.tokens_per_day")
    assert run("space", "policy", "main").json == {}
    assert run("space", "policy", "main", "--file", "p.json").json == wanted
    with Memory(tmp_path) as memory:
        assert memory.space_policy("main", unset=["quota.openai", "pii_redaction"]) == {}
        assert memory.space_policy("main", set=given) == wanted
    refused = run("space", "policy", "main", "--set", "quota.openai.tokens_per_day=many")
    assert (refused.code, "policy.quota.openai.tokens_per_day must be a whole number" in refused.err) == (2, True)


def test_policies_are_set_whole_in_part_and_taken_back(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a")
    policy(run, "retention.log=7", "retention.fact=9", "ttl_days=3")
    unset = run("space", "policy", "main", "--unset", "ttl_days", "--unset", "retention.fact")
    assert unset.json == {"retention": {"log": 7}}
    (tmp_path / "p.json").write_text('{"grace_days": 0, "x_team": 1}')
    refused = run("space", "policy", "main", "--file", "p.json")
    assert (refused.code, "policy.x_team" in refused.err) == (2, True)
    (tmp_path / "p.json").write_text('{"grace_days": 0}')
    assert run("space", "policy", "main", "--file", "p.json").json == {"grace_days": 0}
    assert run("space", "policy", "main", "--file", "p.json", "--unset", "ttl_days").code == 2
    for bad in ("retention.log=often", "retention=7", "visibility=public", "nothing=1", "ttl_days.x=1"):
        assert run("space", "policy", "main", "--set", bad).code == 2
    assert [act["policy"]["fields"] for act in acts(run) if act["action"] == "govern"] == [
        ["retention", "ttl_days"], ["retention", "ttl_days"], ["grace_days", "retention"],
    ]  # fmt: skip


def test_a_private_space_stays_here(run: Run, tmp_path: Path) -> None:
    ignore = tmp_path / ".memory" / ".gitignore"
    fill(run, "fact/public")
    before = ignore.read_bytes()
    run("remember", "The salary of the text.", "--space", "hr", "--path", "fact/salary")
    policy(run, "visibility=private", "allow_delete=true", space="hr")
    assert ignore.read_bytes() == before + b"spaces/hr.json\n"
    assert "fact/salary" not in run("recall", "salary of the text", "--all-spaces", "--json").out
    assert "fact/salary" in run("recall", "salary of the text", "--space", "hr", "--json").out
    refused = run("export", "hr", "--out", "-")
    assert (refused.code, "policy.visibility" in refused.err, refused.out) == (5, True, "")
    run("space", "delete", "hr")
    assert ignore.read_bytes() == before
    run("restore", "--run", run("restore", "--list", "--json").json[0]["run"])
    assert ignore.read_bytes() == before + b"spaces/hr.json\n"
    policy(run, "visibility=project", space="hr")
    assert ignore.read_bytes() == before


def test_a_gitignore_that_cannot_be_written_denies_no_write(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(run, "fact/a")
    policy(run, "visibility=private")

    def fail(*_: object, **__: object) -> None:
        raise StoreError("cannot write .gitignore: Input/output error", "nothing was changed")

    monkeypatch.setattr("memcli.store.pending.set_ignored", fail)
    done = run("space", "policy", "main", "--set", "visibility=project")
    assert done.code == 0
    assert "saved, but git still ignores space 'main': cannot write .gitignore" in done.err
    assert run("space", "policy", "main", "--json").json.get("visibility", "project") == "project"


def test_the_audit_says_who_did_what(run: Run) -> None:
    fill(run, "log/a")
    run("pin", "log/a")
    run("pin", "log/none")
    policy(run, "ttl_days=3")
    run("list")
    shown = run("store", "audit").out
    assert [line.split("  ")[1:3] for line in shown.splitlines()] == [
        ["ann", "remember: create"], ["ann", "pin: update"], ["ann", "space policy: govern"],
    ]  # fmt: skip
    assert shown.startswith(NOW)
    first, second = acts(run, "--id", "log/a")
    assert (first["changes"][0]["after"], first["n"]) == (second["changes"][0]["before"], 1)
    assert acts(run, "--since", "2027-01-01") == []
    assert len(run("store", "audit", "--limit", "1").out.splitlines()) == 1
    assert run("store", "audit", "--since", "soon").code == 2
    assert run("store", "audit", "--space", "none").out == "no entries\n"


def test_a_changed_torn_or_foreign_line_of_the_log_is_found(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a")
    run("pin", "log/a")
    policy(run, "ttl_days=3")
    checked = run("store", "audit", "--verify", "--json").json
    assert (checked["acts"], checked["torn"], checked["unchecked"], checked["head"][:2]) == (3, [], 0, "3:")
    log = tmp_path / ".memory" / "local" / "audit" / "main.jsonl"
    data = log.read_bytes()
    first, second, third = data.splitlines(keepends=True)
    unread = "it cannot be read ({} intact; do not rely on the rest)"
    for changed, code, told in (
        (data[:-40], 0, "main.jsonl:3: this line was cut short"),
        (data.replace(b'"pin"', b'"tag"'), 6, "audit/main.jsonl:2: it does not match its hash"),
        (b"x\n", 6, unread.format("no entry before it is")), (first + b"x\n", 6, unread.format("the entry before it is")),
        (first + second + b"x\n" + third, 6, unread.format("the 2 entries before it are")),
        (data + b"x\n", 6, unread.format("the 3 entries before it are")),
    ):  # fmt: skip
        log.write_bytes(changed)
        done = run("store", "audit", "--verify")
        assert (done.code, told in done.err) == (code, True), done.err


def test_a_log_of_a_development_version_is_not_called_tampered(run: Run, tmp_path: Path) -> None:
    run("init")
    log = Path(Layout(str(tmp_path / ".memory")).audit("main.jsonl"))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes((ROOT / "golden" / "codec" / "audit" / "1.jsonl").read_bytes())
    told = "all 2 entries were written by an earlier development version: their hashes cannot be checked"
    checked = run("store", "audit", "--verify")
    assert (checked.code, told in checked.err, checked.out.startswith("0 entries verified")) == (0, True, True)
    assert run("store", "audit", "--verify", "--json").json["unchecked"] == 2
    sound = run("check", "store")
    assert (sound.code, told in sound.out) == (0, True)
    fill(run, "log/a")
    assert run("store", "audit", "--verify").out.startswith("1 entry verified")
    copied = run("store", "copy", ".", "elsewhere")
    assert (copied.code, "the first 2 of 3 entries" in copied.err) == (0, True)


def test_only_what_git_tracks_is_to_be_checked_out(run: Run, repository: Path) -> None:
    fill(run, "log/a")
    git(repository, "add", ".memory")
    log = repository / ".git" / "memcli" / ".memory" / "audit" / "main.jsonl"
    data = log.read_bytes()
    log.write_bytes(data.replace(b"ann", b"bob"))
    damaged = run("check", "store")
    assert (damaged.code, "git checkout" in damaged.err) == (6, False)
    assert "restore audit/main.jsonl from a backup" in damaged.err
    log.write_bytes(data)
    (repository / MAIN).unlink()
    (repository / MAIN).symlink_to(log)
    damaged = run("check", "store")
    assert (damaged.code, "restore the file with `git checkout`" in damaged.err) == (6, True)


def test_what_governs_is_not_done_without_its_record(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a")
    policy(run, "allow_delete=true")
    log = tmp_path / ".memory" / "local" / "audit" / "main.jsonl"
    log.unlink()
    log.mkdir()
    before = (tmp_path / MAIN).read_bytes()
    for line in ("forget log/a --purge --yes", "space delete main", "space policy main --set ttl_days=1"):
        refused = run(*line.split())
        assert (refused.code, "audit log" in refused.err) == (8, True)
    assert (tmp_path / MAIN).read_bytes() == before
    told = run("remember", "All the same.")
    assert (told.code, "not yet in the audit log" in told.err) == (0, True)


def test_a_purge_is_undone_with_its_references(run: Run, tmp_path: Path) -> None:
    run("remember", "Old choice.", "--path", "db")
    run("remember", "New choice.", "--supersedes", "db")
    run("remember", "It follows.", "--path", "follows", "--link", "depends_on:db")
    before = memories(tmp_path)
    purged = run("forget", "db", "--purge", "--yes")
    assert ("current again" in purged.out, "db-superseded" in purged.out) == (True, True)
    assert run("check", "store").code == 0
    assert memories(tmp_path)["follows"].get("links") is None
    assert memories(tmp_path)["db-superseded"].get("superseded_by") is None
    run("restore", "db")
    assert run("check", "store").code == 0
    after = memories(tmp_path)
    assert after["follows"]["links"] == before["follows"]["links"]
    assert after["db-superseded"]["superseded_by"] == after["db"]["id"]
    assert after["db-superseded"]["valid_until"] == NOW


@pytest.mark.parametrize(("gone", "back"), [((0, 1), (1, 0)), ((1, 0), (0, 1)), ((0, 1), (0, 1))])
def test_the_order_of_purges_and_restores_does_not_matter(
    run: Run, tmp_path: Path, gone: tuple[int, int], back: tuple[int, int]
) -> None:
    run("remember", "Ansible deploys.", "--path", "db")
    run("remember", "Terraform deploys.", "--supersedes", "db")
    run("remember", "It follows.", "--path", "follows", "--link", "depends_on:db")
    before = memories(tmp_path)
    ids = [before[path]["id"] for path in ("db", "db-superseded")]
    for words in (*(["forget", ids[n], "--purge", "--yes"] for n in gone), *(["restore", ids[n]] for n in back)):
        assert run(*words).code == 0
        assert run("check", "store").code == 0
    after = memories(tmp_path)
    for path in ("db", "db-superseded", "follows"):
        for field in ("superseded_by", "valid_until", "links"):
            assert after[path].get(field) == before[path].get(field), (path, field)


def test_what_comes_back_refers_to_nothing_that_has_gone_meanwhile(run: Run, tmp_path: Path) -> None:
    fill(run, "log/a", "log/b")
    run("remember", "It follows.", "--path", "follows", "--link", "depends_on:log/a", "--link", "depends_on:log/b")
    purge(run, "follows")
    purge(run, "log/a")
    run("restore", "follows")
    assert [link["to"] for link in memories(tmp_path)["follows"]["links"]] == [memories(tmp_path)["log/b"]["id"]]
    assert run("check", "store").code == 0
    run("restore", "log/a")
    assert run("check", "store").code == 0


def test_a_space_that_was_created_with_reset_may_be_reset_again(run: Run, tmp_path: Path) -> None:
    for _ in range(3):
        assert run("space", "create", "scratch", "--reset", "--metadata", "team=core").code == 0
        assert run("remember", "Some text.", "-s", "scratch").code == 0
    assert run("space", "create", "scratch", "--reset").code == 0
    assert run("space", "show", "scratch", "--json").json["objects"] == 0
    assert run("restore", "--list", "-s", "scratch").out, "what was removed can be brought back"
    run("remember", "Some text.", "-s", "scratch")
    (tmp_path / ".memory/local").rename(tmp_path / "elsewhere")  # as in a clone that nobody accepted
    assert run("space", "create", "scratch", "--reset").code == 5


def test_no_other_space_is_reset_without_its_policy(run: Run) -> None:
    run("space", "create", "plain")
    run("space", "create", "plain", "--reset")  # it is empty: nothing is removed, and nothing granted
    run("remember", "Some text.", "-s", "plain")
    run("space", "create", "plain", "--meta", "reset=true")  # a text, which is not the mark
    assert run("space", "create", "plain", "--reset").code == 5
    assert run("space", "show", "plain", "--json").json["objects"] == 1


def test_the_current_space_is_meant_where_none_is_named(run: Run, tmp_path: Path) -> None:
    run("init")
    assert run("space", "policy").code == 3
    run("remember", "Some text.", "-s", "notes", "--created-at", "2020-01-01", "--set", "updated_at=2020-01-01")
    assert run("space", "policy", "-s", "notes", "--set", "ttl_days=5", "--set", "allow_delete=true").code == 0
    assert run("space", "policy", "notes", "--json").json["ttl_days"] == 5
    assert run("space", "show", "-s", "notes", "--json").json["space"] == "notes"
    assert run("gc", "notes", "--dry-run", "--json").json == run("gc", "-s", "notes", "--dry-run", "--json").json
    assert "purged 1 under" in run("gc", "notes", "--freeze-clock", LATER).out
    assert run("space", "show", "notes", "--json").json["objects"] == 0
    assert run("gc", "nots").code == 3
    assert run("space", "delete").code == 2, "what deletes everything is named"
    policy(run, "grace_days=0")
    assert json.loads((tmp_path / MAIN).read_text())["policy"]["grace_days"] == 0, "a policy makes the space"
    assert run("space", "policy", "other", "--set", "ttl_days=often").code == 2
    assert not (tmp_path / ".memory/spaces/other.json").exists()


def test_an_id_in_the_trash_is_taken(run: Run, tmp_path: Path) -> None:
    run("remember", "The first text.", "--path", "n/a")
    run("edit", "n/a", "--set", "path=n/c")
    purge(run, "n/c")
    run("remember", "Another text.", "--path", "n/a")
    assert run("restore", "n/c").code == 0
    texts = {path: one["raw"] for path, one in memories(tmp_path).items()}
    assert texts == {"n/c": "The first text.", "n/a": "Another text."}
    purge(run, "n/c")
    run("forget", "n/a", "--purge", "--now", "--yes")
    assert "n/c" in run("restore", "--list").out


def test_what_is_in_the_trash_can_be_erased_at_once(run: Run, tmp_path: Path) -> None:
    run("remember", "The leaked sablefish.", "--path", "a/a")
    purge(run, "a/a")
    assert run("forget", "a/a", "--purge", "--now").code == 5
    assert run("forget", "a/a", "--purge", "--now", "--yes").out.startswith("erased from the trash mem_")
    assert run("restore", "--list").out == EMPTY_TRASH
    assert not [f for f in (tmp_path / ".memory").rglob("*") if f.is_file() and b"sablefish" in f.read_bytes()]
    assert run("forget", "a/a", "--purge", "--now", "--yes").code == 3
    assert run("store", "audit", "--verify").code == 0


def test_recall_of_a_missing_space_leaves_no_index(run: Run, tmp_path: Path) -> None:
    run("remember", "The cache is Redis.")
    assert run("recall", "cache", "-s", "nothere").code == 0
    assert not list((tmp_path / ".memory/cache").glob("nothere*"))
    run("recall", "cache")
    (tmp_path / MAIN).unlink()
    run("recall", "cache")
    assert not (tmp_path / ".memory/cache/main.index").exists()
