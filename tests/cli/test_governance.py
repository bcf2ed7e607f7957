"""`space policy`, `gc`, `restore` and `store audit`: what is printed, and how the commands end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memcli import Memory
from memcli.store.layout import Layout
from tests.cli.conftest import git, wrong
from tests.conftest import NOW, ROOT, Run

LATER = "2026-06-01T00:00:00Z"
MAIN = ".memory/spaces/main.json"


def policy(run: Run, *pairs: str, space: str = "main") -> None:
    assert run("space", "policy", space, *(word for pair in pairs for word in ("--set", pair))).code == 0


def fill(run: Run, *paths: str) -> None:
    for path in paths:
        assert run("remember", f"The text of {path}.", "--path", path, "--kind", path.partition("/")[0]).code == 0


def acts(run: Run, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run("store", "audit", "--json", "--limit", "0", *arguments).json
    return found


def test_a_purge_and_a_collection_are_told_and_undone(run: Run) -> None:
    fill(run, "log/a", "fact/b", "pin/c")
    run("remember", "New choice.", "--supersedes", "fact/b")
    run("pin", "pin/c")
    assert "nothing expires in space 'main'" in run("gc").out
    purged = run("forget", "fact/b", "--purge", "--yes")
    assert ("current again" in purged.out, "fact/b-superseded" in purged.out) == (True, True)
    assert run("restore", "fact/b", "--json").json["restored"][0]["path"] == "fact/b"
    whole = Path(MAIN).read_bytes()
    run("forget", "log/a", "--purge", "--yes")
    Path(MAIN).write_bytes(whole)  # as if the write of the space had never come
    assert run("restore", "log/a").out.startswith("exists already ")
    policy(run, "ttl_days=30")
    assert wrong(run, [(f"gc --freeze-clock {LATER}", 5, "allow_delete")]) == ""
    policy(run, "allow_delete=true")
    planned = run("gc", "--dry-run", "--json", "--freeze-clock", LATER).json
    done = run("gc", "--json", "--freeze-clock", LATER).json
    assert {**planned, "dry_run": False, "run": done["run"]} == done
    assert (sorted(m["path"] for m in done["purged"]), len(done["pinned"])) == (
        ["fact/b", "fact/b-superseded", "log/a"],
        1,
    )
    assert "purged 0 under ttl_days=30; 1 expired but pinned" in run("gc", "--freeze-clock", LATER).out
    assert "would be refused" in run("gc", "--dry-run", "--freeze-clock", "2040-01-01").out
    assert done["run"] in run("restore", "--list").out
    back = run("restore", "log/a", "--freeze-clock", LATER)
    assert (back.out.startswith("restored mem_"), "expire at the next gc" in back.err) == (True, True)
    assert "erased 2 from the trash" in run("gc", "--freeze-clock", "2026-07-10", "--ttl-days", "900").out
    assert run("restore", "--list").out == "the trash is empty\n"
    refused = [
        ("restore log/none", 3, ""), ("restore --run 1999", 3, ""), ("restore", 2, ""), ("restore x --list", 2, ""),
    ]  # fmt: skip
    assert wrong(run, refused) == ""


def test_what_is_in_the_trash_is_erased_by_a_yes(run: Run) -> None:
    fill(run, "log/a")
    run("forget", "log/a", "--purge", "--yes")
    line = "forget log/a --purge --now"
    assert wrong(run, [(line, 5, "--yes")]) == ""
    assert run(*line.split(), "--yes").out.startswith("erased from the trash mem_")
    assert wrong(run, [(f"{line} --yes", 3, "")]) == ""
    (Path(".memory/local/trash")).rmdir()
    Path(".memory/local/trash").write_text("")
    fill(run, "log/b")
    assert wrong(run, [("forget log/b --purge --yes", 8, "")]) == ""


def test_a_full_space_says_what_it_let_go(run: Run) -> None:
    fill(run, "decision/a", "inferred/b")
    policy(run, "max_objects=2")
    again = run("remember", "The text of decision/a.", "--json").json  # needs no room
    assert (again["status"], "compacted" in again) == ("deduplicated", False)
    line = json.dumps({"raw": "One of a batch.", "path": "batch/one", "kind": "inferred"})
    batch = run("remember", "--batch", "-", "--json", stdin=line).json
    assert (batch["compacted"], ["compacted" in memory for memory in batch["memories"]]) == (1, [False])
    assert run("remember", "One more.", "--path", "fact/c", "--json").json["compacted"] == 1
    lines = "\n".join(json.dumps({"raw": f"Text {n}.", "path": f"batch/{n}"}) for n in range(3))
    refused = run("remember", "--batch", "-", stdin=lines)
    assert (refused.code, "policy.max_objects" in refused.err) == (5, True)


def test_policies_are_set_whole_in_part_and_taken_back_in_every_way(run: Run, tmp_path: Path) -> None:
    """How fields are put together is tested in tests/policy/test_fields.py."""
    fill(run, "log/a")
    policy(run, "retention.log=7", "retention.fact=9", "ttl_days=3")
    assert run("space", "policy", "main", "--unset", "ttl_days", "--unset", "retention.fact").json == {
        "retention": {"log": 7}
    }
    bad = ["--file p.json", "--file p.json --unset ttl_days", "--set quota.openai.tokens_per_day=many"]
    bad += [
        f"--set {pair}"
        for pair in ("retention.log=often", "retention=7", "visibility=public", "nothing=1", "ttl_days.x=1")
    ]
    (tmp_path / "p.json").write_text('{"grace_days": 0, "x_team": 1}')
    assert wrong(run, [(line, 2, "") for line in bad], "space", "policy", "main") == ""
    given = {"pii_redaction": ["email"], "quota.openai.tokens_per_day": 5}
    wanted = {"pii_redaction": {"detectors": ["email"]}, "quota": {"openai": {"tokens_per_day": 5}}}
    (tmp_path / "p.json").write_text(json.dumps(given))
    assert run("space", "policy", "main", "--file", "p.json").json == wanted
    with Memory(tmp_path) as memory:
        assert memory.space_policy("main", unset=["quota.openai", "pii_redaction"]) == {}
        assert memory.space_policy("main", set=given) == wanted
    named = [act["policy"]["fields"] for act in acts(run) if act["action"] == "govern"]
    assert named[:3] == [["retention", "ttl_days"], ["retention", "ttl_days"], ["pii_redaction", "quota", "retention"]]


def test_a_private_space_is_recalled_by_name_and_not_exported(run: Run) -> None:
    run("remember", "The salary of the text.", "--space", "hr", "--path", "fact/salary")
    policy(run, "visibility=private", space="hr")
    assert "fact/salary" not in run("recall", "salary of the text", "--all-spaces", "--json").out
    assert "fact/salary" in run("recall", "salary of the text", "--space", "hr", "--json").out
    assert wrong(run, [("export hr --out -", 5, "policy.visibility")]) == ""


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
    """Which lines these are is tested in tests/codec/test_audit.py."""
    fill(run, "log/a", "log/b")
    checked = run("store", "audit", "--verify", "--json").json
    assert (checked["acts"], checked["torn"], checked["unchecked"], checked["head"][:2]) == (2, [], 0, "3:")
    log = tmp_path / ".memory" / "local" / "audit" / "main.jsonl"
    data = log.read_bytes()
    for changed, code, message in (
        (data[:-40], 0, "main.jsonl:2: this line was cut short"),
        (data.replace(b'"log/b"', b'"log/c"'), 6, "audit/main.jsonl:2: it does not match its hash"),
        (data + b"x\n", 6, "it cannot be read (the 2 entries before it are intact; do not rely on the rest)"),
    ):
        log.write_bytes(changed)
        done = run("store", "audit", "--verify")
        assert (done.code, message in done.err) == (code, True), done.err


def test_a_log_of_a_development_version_is_not_called_tampered(run: Run, tmp_path: Path) -> None:
    run("init")
    log = Path(Layout(str(tmp_path / ".memory")).audit("main.jsonl"))
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes((ROOT / "golden" / "codec" / "audit" / "1.jsonl").read_bytes())
    message = "all 2 entries were written by an earlier development version: their hashes cannot be checked"
    checked = run("store", "audit", "--verify")
    assert (checked.code, message in checked.err, checked.out.startswith("0 entries verified")) == (0, True, True)
    assert run("store", "audit", "--verify", "--json").json["unchecked"] == 2
    sound = run("check", "store")
    assert (sound.code, message in sound.out) == (0, True)
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
