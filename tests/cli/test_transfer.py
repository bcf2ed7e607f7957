"""Export and import as a user meets them."""

from __future__ import annotations

import json
import os
import shutil
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from memcli.codec import signature
from memcli.codec.bundle import FORMATS
from tests.cli.conftest import wrong
from tests.conftest import Run
from tests.safety.secrets_corpus import secret

SAMPLES = Path(__file__).parent.parent / "ingest" / "samples"


@pytest.fixture
def space(run: Run, tmp_path: Path) -> Path:
    """The file of a space with a policy and three memories."""
    run("remember", "We chose PostgreSQL.\r\n\n# because\n> of JSONB", "--path", "db", "--kind", "decision", "--pin")
    run("remember", "Never log passwords.", "--path", "rules/log", "--tag", "security")
    run("remember", "--object", '{"raw": "Never force-push.", "path": "rules/push", "x_mine": {"deep": [1.5, null]}}')
    run("forget", "rules/push")
    run("space", "policy", "main", "--set", "ttl_days=9")
    return tmp_path / ".memory" / "spaces" / "main.json"


@pytest.fixture
def key(tmp_path: Path) -> str:
    """The fingerprint of the key in `key` and `key.pub`; `other.pub` is of another."""
    names = []
    for name, seed in (("key", 1), ("other", 2)):
        private = Ed25519PrivateKey.from_private_bytes(bytes([seed] * 32))
        form = (serialization.PrivateFormat.OpenSSH, serialization.NoEncryption())
        (tmp_path / name).write_bytes(private.private_bytes(serialization.Encoding.PEM, *form))
        (tmp_path / name).chmod(0o600)
        public = private.public_key()
        names.append(signature.fingerprint(public.public_bytes_raw()))
        line = public.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        (tmp_path / f"{name}.pub").write_bytes(line)
    return names[0]


@pytest.mark.parametrize("form", FORMATS)
def test_there_and_back(run: Run, space: Path, tmp_path: Path, form: str) -> None:
    before = space.read_bytes()
    assert run("export", "--format", form, "--out", "one").code == 0
    assert run("export", "--out", f"two.{form}").code == 0
    assert run("export", "--format", form).code == 0
    data = (tmp_path / "one").read_bytes()
    assert (tmp_path / f"two.{form}").read_bytes() == data
    assert (tmp_path / ".memory" / "exports" / f"main.{form}").read_bytes() == data
    assert run("export", "--format", form, "--out", "-").out.encode() == data
    space.unlink()
    done = run("import", "-", stdin=data)
    assert done.out == "imported into space main, with its policy: 3 created (unsigned)\n"
    assert space.read_bytes() == before
    assert run("export", "--format", form, "--out", "-").out.encode() == data
    assert run("import", "one").out == "imported into space main: 3 unchanged (unsigned)\n"
    assert space.read_bytes() == before


def test_an_export_replaces_nothing_but_an_export(run: Run, space: Path, tmp_path: Path) -> None:
    session = run("session", "start").out.strip()
    run("session", "add", session, "--role", "user", "Which queue?")
    private = str(tmp_path.parent / f"{tmp_path.name}.private")
    lines = [("export", "--format", form, "--out", "out") for form in FORMATS]
    lines += [("session", "export", session, "--out", "out"), ("export", "--private", "--out", private)]
    for line in lines:
        target = tmp_path / line[-1]
        target.write_text("")
        assert [run(*line).code, run(*line).code] == [0, 0]
        before = target.read_bytes()
        target.write_text("My notes.")
        told = run(*line)
        assert (told.code, told.out, target.read_text()) == (8, "", "My notes.")
        assert "is not an export and will not be overwritten" in told.err
        target.write_bytes(before)
    assert run("export", "--out", "/dev/null").code == 0


def test_a_part_of_a_space(run: Run, space: Path) -> None:
    assert "exported 2 memories" in run("export", "--under", "rules", "--out", "rules.jsonl").out
    assert "exported 1 memory" in run("export", "--kind", "decision", "--out", "decisions.json").out
    assert "--out" in run("export", "--kind", "decision").err
    assert "exported 1 memory" in run("export", "--tag", "security", "--out", "security.md").out
    refused = run("import", "rules.jsonl", "--mode", "replace")
    assert (refused.code, "a part of space 'main' (under rules)" in refused.err) == (2, True)
    assert run("import", "rules.jsonl", "-s", "other").out.startswith("imported into space other, with its policy: 2")
    assert run("import", "decisions.json", "-s", "other").out == "imported into space other: 1 created (unsigned)\n"


def test_a_dry_run_changes_nothing(run: Run, space: Path, tmp_path: Path) -> None:
    run("export", "--out", "x.json")
    run("edit", "db", "--set", "raw=We chose SQLite.", "--freeze-clock", "2025-01-01")
    before = space.read_bytes()
    told = run("import", "x.json", "--dry-run")
    assert told.out == "would import into space main: 1 updated, 2 unchanged (unsigned)\n"
    answer = run("import", "x.json", "-n", "--json", "-s", "new").json
    assert (answer["created"], answer["dry_run"], answer["policy"]) == (3, True, "taken")
    assert space.read_bytes() == before
    assert not (tmp_path / ".memory" / "spaces" / "new.json").exists()
    run("import", "x.json", "--freeze-clock", "2027-01-01")
    assert run("import", "x.json", "--json").json["unchanged"] == 3


def test_what_replacing_would_delete_is_refused(run: Run, space: Path) -> None:
    run("export", "--out", "x.json")
    run("remember", "One more.", "--path", "more")
    before = space.read_bytes()
    refused = run("import", "x.json", "--mode", "replace")
    assert (refused.code, "allow_delete" in refused.err, space.read_bytes()) == (5, True, before)
    assert run("import", "x.json", "--mode", "replace", "--dry-run").code == 5
    run("space", "policy", "main", "--set", "allow_delete=true")
    assert "1 removed" in run("import", "x.json", "--mode", "replace").out


@pytest.mark.parametrize("form", FORMATS)
def test_signed(run: Run, space: Path, key: str, tmp_path: Path, form: str) -> None:
    file = tmp_path / f"x.{form}"
    assert run("export", "--sign", "key", "--out", file.name).out.endswith(f", signed by {key}\n")
    assert f"(signed by {key})" in run("import", file.name).out
    assert run("import", file.name, "--trusted-key", "key.pub").code == 0
    wrong = run("import", file.name, "--trusted-key", "other.pub")
    assert (wrong.code, f"signed by {key}, which is not a trusted key" in wrong.err) == (6, True)
    data = file.read_text()
    run("export", "--sign", "other", "--out", f"y.{form}")
    other = (tmp_path / f"y.{form}").read_text()
    at = data.index("SSH SIGNATURE") + 40
    while data[at] == other[at]:
        at += 1
    file.write_text(data[:at] + other[at] + data[at + 1 :])
    assert run("import", file.name).code == 6
    run("export", "--out", f"plain.{form}")
    plain = run("import", f"plain.{form}", "--trusted-key", "key.pub")
    assert (plain.code, "is not signed" in plain.err) == (6, True)


def test_a_key_that_others_may_read_is_refused(run: Run, space: Path, key: str, tmp_path: Path) -> None:
    lines = ("export --sign key --out x.json", "export --private --sign key --out ../x")
    for mode in (0o640, 0o604, 0o620, 0o644):
        (tmp_path / "key").chmod(mode)
        assert wrong(run, [(line, 2, f"{mode:04o}") for line in lines]) == ""
    assert not (tmp_path / "x.json").exists()


def test_keys_that_are_none(run: Run, space: Path, key: str) -> None:
    assert run("export", "--sign", "nowhere").code == 3
    assert "not a private key" in run("export", "--sign", "key.pub").err
    run("export", "--sign", "key", "--out", "x.json")
    assert "is a private key" in run("import", "x.json", "--trusted-key", "key").err
    assert run("import", "x.json", "--trusted-key", "nowhere").code == 3


def test_without_the_library(run: Run, space: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run("export", "--sign", "key", "--out", "x.json")
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    assert "pip install" in run("export", "--sign", "key").err
    assert "signed, not checked: install the extra `sign`" in run("import", "x.json").out
    refused = run("import", "x.json", "--trusted-key", "key.pub")
    assert (refused.code, "pip install" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "form", "created"),
    [("vault", "markdown", 5), ("adr", "adr", 6), ("agents", "agents", 11), ("mcp/memory.jsonl", "mcp", 3)],
)
def test_what_other_tools_remember(run: Run, tmp_path: Path, name: str, form: str, created: int) -> None:
    os.symlink(SAMPLES, tmp_path / "samples")
    would = json.loads(run("init", "-q").out or "{}") or run("import", f"samples/{name}", "-n", "--json").json
    done = run("import", f"samples/{name}", "--json").json
    assert {**would, "dry_run": False} == done
    assert (done["created"], done["updated"], done["unchanged"]) == (created, 0, 0)
    assert form in done["found"]
    file = tmp_path / ".memory" / "spaces" / "main.json"
    before = file.read_bytes()
    again = run("import", f"samples/{name}", "--json", "--freeze-clock", "2027-01-01").json
    assert (again["unchanged"], file.read_bytes()) == (created, before)
    sources = {m["provenance"]["source"] for m in json.loads(before)["objects"]}
    assert sources == {"imported"}
    run("export", "--out", "x.json")
    assert run("import", "x.json", "-s", "copy").code == 0


def test_links_lead_to_memories(run: Run, tmp_path: Path) -> None:
    run("init", "-q")
    for name in ("adr", "vault", "mcp/memory.jsonl"):
        assert run("import", str(SAMPLES / name)).code == 0
    found = {m["path"]: m for m in json.loads((tmp_path / ".memory" / "spaces" / "main.json").read_text())["objects"]}
    ids = {m["id"]: path for path, m in found.items()}

    def links(path: str) -> list[tuple[str, str]]:
        return [(link["relation"], ids[link["to"]]) for link in found[path].get("links", [])]

    old = found["adr/0002-use-mysql"]
    assert ids[old["superseded_by"]] == "adr/0004-use-postgresql"
    assert "active" not in old
    assert links("adr/0004-use-postgresql") == [("supersedes", "adr/0002-use-mysql")]
    assert [found[f"adr/{name}"]["active"] for name in ("0003-use-xml", "0005-build-with-make")] == [False, False]
    assert links("vault/Caching") == [("relates_to", "vault/Deploy"), ("relates_to", "vault/Projects/Shop")]
    assert links("entities/orders-service") == [("depends_on", "entities/PostgreSQL")]


def test_an_import_leaves_alone_what_came_from_elsewhere(run: Run, tmp_path: Path) -> None:
    run("remember", "Mine.", "--path", "notes/a")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Theirs. [[b]]")
    (tmp_path / "notes" / "b.md").write_text("See [a](a.md).")
    assert run("import", "notes").out == "imported into space main: 2 created (read 2 files as markdown)\n"
    assert run("import", "notes").out == "imported into space main: 2 unchanged (read 2 files as markdown)\n"
    assert run("get", "notes/a", "--json").json["raw"] == "Mine."
    (tmp_path / "notes" / "a.md").write_text("Theirs, changed.")
    assert "1 updated, 1 unchanged" in run("import", "notes", "--dry-run").out
    assert "1 updated, 1 unchanged" in run("import", "notes").out
    (tmp_path / "notes" / "a.mdx").write_text("Another a.")
    assert "1 created, 2 unchanged" in run("import", "notes").out
    assert "3 unchanged" in run("import", "notes").out


def test_wrong_use_is_named(run: Run, tmp_path: Path) -> None:
    run("init")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("A note.")
    table = [
        ("import notes --mode replace", 2, "not an export of memcli"), ("import notes --trusted-key x", 2, "not an export of memcli"),
        ("import notes --from memcli", 2, "has no memcli.json"), ("import notes --from evernote", 2, "no format 'evernote'"),
        ("import notes/a.md --from mcp", 6, "line 1"), ("import nowhere", 3, "nowhere"), ("export --format yaml", 2, "no format 'yaml'"),
    ]  # fmt: skip
    assert wrong(run, table) == ""


@pytest.mark.parametrize("grace", ["14", "0"])
def test_what_an_import_replaces_can_be_restored(run: Run, grace: str) -> None:
    run("remember", "What the bundle says.", "--path", "a/b")
    run("remember", "What stays the same.", "--path", "a/c")
    run("export", "--out", "x.json")
    run("edit", "a/b", "--set", "raw=What was here.")
    before = run("get", "a/b", "--json").out
    run("space", "policy", "main", "--set", f"grace_days={grace}")
    done = run("import", "x.json", "--mode", "replace")
    assert (done.code, "1 memory is in the trash" in done.err) == (0, grace == "14")
    assert run("get", "a/b", "--field", "raw").out == "What the bundle says.\n"
    assert run("check", "store").code == 0
    if grace == "0":
        assert run("restore", "--list", "--json").json == []
        return
    for text in ("What was here.", "What the bundle says.", "What was here."):  # one takes the place of the other
        assert run("restore", "a/b").code == 0
        assert run("get", "a/b", "--field", "raw").out == f"{text}\n"
        assert run("check", "store").code == 0
    assert run("get", "a/b", "--json").out == before
    assert len(run("restore", "--list", "--json").json) == 1


def test_a_folder_of_markdown_is_read_back_and_only_its_own_files_are_replaced(run: Run, tmp_path: Path) -> None:
    run("remember", "We use tabs.", "--path", "style/tabs")
    run("remember", "Hooks.", "--path", ".git/hooks/x")
    run("space", "policy", "main", "--set", "ttl_days=30", "--set", "allow_delete=true")
    space = tmp_path / ".memory" / "spaces" / "main.json"
    done = run("export", "--format", "md", "--out", "notes/", "--json").json
    notes = tmp_path / "notes"
    files = {path.relative_to(notes).as_posix(): path.read_bytes() for path in notes.rglob("*") if path.is_file()}
    assert (done["path"], done["bytes"], len(files)) == ("notes/", sum(map(len, files.values())), 3)
    assert {"style/tabs.md", "memcli.json"} < files.keys()
    assert not (notes / ".git").exists()
    before = space.read_bytes()
    shutil.rmtree(tmp_path / ".memory")
    run("init")
    assert run("import", "notes").out == "imported into space main, with its policy: 2 created (unsigned)\n"
    assert space.read_bytes() == before
    assert run("import", "notes/").out == "imported into space main: 2 unchanged (unsigned)\n"

    (notes / "style" / "own.md").write_text("mine")
    (notes / "ops").mkdir()
    (notes / "ops" / "memcli.json").write_text("{}")
    (notes / "ops" / "of.md").write_bytes(files["style/tabs.md"])  # of another export
    (notes / "style" / "gone.md").write_bytes(files["style/tabs.md"])
    run("forget", ".git/hooks/x", "--purge", "--yes")
    assert run("export", "--format", "md", "--out", "notes").code == 0
    left = {path.relative_to(notes).as_posix() for path in notes.rglob("*") if path.is_file()}
    assert left == {"memcli.json", "style/tabs.md", "style/own.md", "ops/memcli.json", "ops/of.md"}
    assert run("import", "notes", "-s", "copy").out.startswith("imported into space copy, with its policy: 1 created")


def test_a_folder_of_markdown_goes_through_no_link_and_over_no_other_file(run: Run, tmp_path: Path) -> None:
    run("remember", "We use tabs.", "--path", "style/tabs")
    outside, notes = tmp_path / "outside", tmp_path / "notes"
    outside.mkdir()
    export = ("export", "--format", "md", "--out", "notes/")
    for name, make in {
        "style": lambda place: place.symlink_to(outside),
        "style/tabs.md": lambda place: place.write_text("mine"),
        "memcli.json": lambda place: place.symlink_to(outside / "x"),
        "memcli.json/": lambda place: place.mkdir(),
    }.items():
        shutil.rmtree(notes, ignore_errors=True)
        (notes / name).parent.mkdir(parents=True)
        make(notes / name)
        kept = sorted(path.relative_to(notes) for path in notes.rglob("*"))
        refused = run(*export)
        assert (refused.code in (5, 8), refused.err.count("\n")) == (True, 1)
        assert sorted(path.relative_to(notes) for path in notes.rglob("*")) == kept
        assert list(outside.iterdir()) == []
    shutil.rmtree(notes)
    assert run(*export).code == 0
    (notes / "link.md").symlink_to(notes / "style" / "tabs.md")
    assert run("import", "notes").code == 0  # links are not read
    run("space", "create", "ops")
    assert "is not of an export of space 'ops'" in run("export", "ops", "--format", "md", "--out", "notes/").err
    (notes / "style" / "tabs.md").write_bytes((notes / "style" / "tabs.md").read_bytes().replace(b"tabs.", b"none."))
    assert run("import", "notes").code == 6


def test_what_was_purged_is_not_imported_again(run: Run, tmp_path: Path) -> None:
    run("remember", "The staging host is called blue-falcon.", "--path", "hosts/staging")
    run("remember", "We use uv.", "--path", "tools/uv")
    run("export", "--out", str(tmp_path / "out.json"))
    run("forget", "hosts/staging", "--purge", "--now", "--yes")
    run("forget", "tools/uv", "--purge", "--yes")  # which the trash still has
    for more in (("--dry-run",), (), ("--mode", "replace"), ("-s", "other")):
        done = run("import", str(tmp_path / "out.json"), *more)
        assert (done.code, "1 memory that was purged here left out: 'hosts/staging'" in done.err) == (0, True)
        assert "tools/uv" not in done.err
    texts = [file.read_text() for file in (tmp_path / ".memory" / "spaces").glob("*.json")]
    assert not any("blue-falcon" in text for text in texts)
    assert run("get", "tools/uv").code == 0
    run("remember", "The staging host is called blue-falcon.", "--path", "hosts/staging")
    assert "purged" not in run("import", str(tmp_path / "out.json")).err


def test_an_export_of_mem0_is_taken_in_once_and_updated_by_a_later_one(run: Run) -> None:
    _, token, _ = secret("github_token")
    first = {"id": "0b1f", "memory": f"Alice prefers tabs, with {token}.", "user_id": "alice@corp.net", "hash": "9e"}
    other = {"id": "2", "memory": "Bob deploys on Tuesdays.", "user_id": "bob"}
    tree = {"results": [first, other], "relations": [{"source": "alice", "relationship": "knows", "target": "bob"}]}
    Path("a.json").write_text(json.dumps(tree))
    run("init")
    assert run("import", "a.json", "--dry-run").out.startswith(
        "would import into space main: 3 created (read 1 file as mem0)"
    )
    assert "3 created" in run("import", "a.json").out
    stored = Path(".memory/spaces/main.json").read_bytes()
    assert not any(word in stored for word in (token.encode(), b"alice@corp.net"))
    Path("b.json").write_text(json.dumps([first, other]))
    for file in ("a.json", "b.json"):
        assert "unchanged" in run("import", file).out
        assert Path(".memory/spaces/main.json").read_bytes() == stored
    Path("b.json").write_text(json.dumps({"memories": [first, {**other, "memory": "Bob deploys on Fridays."}]}))
    assert "1 updated, 1 unchanged" in run("import", "b.json").out
    Path("c.json").write_text('[{"id": "1", "memory": "A text.", "user_id": "a"}, 3]')
    refused = run("import", "c.json")
    assert (refused.code, refused.err) == (6, "memcli: c.json: memory 2 is not an object (use a JSON export of mem0)\n")
    assert run("import", "a.json", "--mode", "replace").code == 2


HEAD = "# {n}. {title}\n\n## Status\n\n{status}\n\n## Context\n\nWe need one.\n\n## Decision\n\nWe use {title}.\n"
RECORDS = {
    "0001-mysql.md": HEAD.format(n=1, title="MySQL", status="Accepted"),
    "0002-postgresql.md": HEAD.format(n=2, title="PostgreSQL", status="Accepted\n\nSupersedes 1"),
    "0003-redis.md": HEAD.format(n=3, title="Redis", status="Superseded by [Valkey](0004-valkey.md)"),
    "0004-valkey.md": HEAD.format(n=4, title="Valkey", status="Accepted"),
}


def states(run: Run) -> dict[str, tuple[str | None, bool, list[str]]]:
    """By path: what it is superseded by, whether it is active, and what it supersedes."""
    found: list[dict[str, Any]] = json.loads(Path(".memory/spaces/main.json").read_text())["objects"]
    paths = {m["id"]: m["path"].rpartition("/")[2][:4] for m in found}
    return {
        paths[m["id"]]: (
            paths.get(m.get("superseded_by") or ""),
            m.get("active", True),
            [paths[link["to"]] for link in m.get("links", []) if link["relation"] == "supersedes"],
        )
        for m in found
    }


WANTED = {
    "0001": ("0002", True, []), "0002": (None, True, ["0001"]),
    "0003": ("0004", True, []), "0004": (None, True, ["0003"]),
}  # fmt: skip


@pytest.fixture
def records(run: Run, tmp_path: Path) -> Path:
    run("init")
    folder = tmp_path / "docs" / "adr"
    folder.mkdir(parents=True)
    for name, text in RECORDS.items():
        (folder / name).write_text(text)
    return folder


def test_all_at_once(run: Run, records: Path) -> None:
    assert run("import", "docs/adr").code == 0
    assert states(run) == WANTED
    assert "4 unchanged" in run("import", "docs/adr").out
    assert states(run) == WANTED


@pytest.mark.parametrize("order", list(permutations(range(4)))[::5])
def test_one_after_the_other(run: Run, records: Path, order: tuple[int, ...]) -> None:
    for n in order:
        assert run("import", f"docs/adr/{sorted(RECORDS)[n]}").code == 0
    assert states(run) == WANTED
    assert run("check", "store").code == 0
    run("import", "docs/adr")
    assert states(run) == WANTED
