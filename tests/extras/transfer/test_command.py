"""`export` and `import`: files, folders, signatures, and what is printed of them."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from memcli.codec.bundle import FORMATS
from memcli.extras.transfer import signature
from tests.cli.conftest import wrong
from tests.conftest import Run


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
    assert "exported 3 memories of space main" in run("export", "--format", form, "--out", "one").out
    assert run("export", "--out", f"two.{form}").code == run("export", "--format", form).code == 0
    data = (tmp_path / "one").read_bytes()
    assert (tmp_path / f"two.{form}").read_bytes() == data
    assert (tmp_path / ".memory" / "exports" / f"main.{form}").read_bytes() == data
    assert run("export", "--format", form, "--out", "-").out.encode() == data
    space.unlink()
    assert run("import", "-", stdin=data).out == "imported into space main, with its policy: 3 created (unsigned)\n"
    assert (space.read_bytes(), run("export", "--format", form, "--out", "-").out.encode()) == (before, data)
    assert run("import", "one").out == "imported into space main: 3 unchanged (unsigned)\n"
    assert run("import", "one", "-n").out == "would import into space main: 3 unchanged (unsigned)\n"
    (tmp_path / "one").write_bytes(data.replace(b"PostgreSQL", b"MySQL"))
    assert (run("import", "one").code, space.read_bytes()) == (6, before)


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
        assert wrong(run, [(list(line), 8, "is not an export and will not be overwritten")]) == ""
        assert target.read_text() == "My notes."
        target.write_bytes(before)
    assert run("export", "--out", "/dev/null").code == 0


def test_a_part_of_a_space(run: Run, space: Path) -> None:
    assert "exported 2 memories" in run("export", "--under", "rules", "--out", "rules.jsonl").out
    assert "exported 1 memory" in run("export", "--kind", "decision", "--out", "decisions.json").out
    assert "exported 1 memory" in run("export", "--tag", "security", "--out", "security.md").out
    assert (
        wrong(run, [("export --kind decision", 2, "--out"), ("import rules.jsonl --mode replace", 2, "under rules")])
        == ""
    )
    assert run("import", "rules.jsonl", "-s", "other").out.startswith("imported into space other, with its policy: 2")
    assert run("import", "decisions.json", "-s", "other").out == "imported into space other: 1 created (unsigned)\n"


@pytest.mark.parametrize("form", FORMATS)
def test_signed(run: Run, space: Path, key: str, tmp_path: Path, form: str) -> None:
    file = tmp_path / f"x.{form}"
    assert run("export", "--sign", "key", "--out", file.name).out.endswith(f", signed by {key}\n")
    assert f"(signed by {key})" in run("import", file.name).out
    assert run("import", file.name, "--trusted-key", "key.pub").code == 0
    refused = (f"import {file.name} --trusted-key other.pub", 6, f"signed by {key}, which is not a trusted key")
    assert wrong(run, [refused]) == ""
    data = file.read_text()
    run("export", "--sign", "other", "--out", f"y.{form}")
    other = (tmp_path / f"y.{form}").read_text()
    at = data.index("SSH SIGNATURE") + 40
    while data[at] == other[at]:
        at += 1
    file.write_text(data[:at] + other[at] + data[at + 1 :])
    assert run("import", file.name).code == 6
    run("export", "--out", f"plain.{form}")
    assert wrong(run, [(f"import plain.{form} --trusted-key key.pub", 6, "is not signed")]) == ""


def test_keys_that_are_refused(
    run: Run, space: Path, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("export", "--sign", "key", "--out", "x.json")
    table = [
        ("export --sign nowhere", 3, ""), ("export --sign key.pub", 2, "not a private key"),
        ("import x.json --trusted-key key", 2, "is a private key"), ("import x.json --trusted-key nowhere", 3, ""),
    ]  # fmt: skip
    assert wrong(run, table) == ""
    for mode in (0o640, 0o604, 0o620, 0o644):
        (tmp_path / "key").chmod(mode)
        lines = ("export --sign key --out y.json", "export --private --sign key --out ../x")
        assert wrong(run, [(line, 2, f"{mode:04o}") for line in lines]) == ""
    assert not (tmp_path / "y.json").exists()
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    assert "signed, not checked: install the extra `sign`" in run("import", "x.json").out
    (tmp_path / "key").chmod(0o600)
    lines = ("export --sign key", "import x.json --trusted-key key.pub")
    assert wrong(run, [(line, 2, "pip install") for line in lines]) == ""


def test_what_is_read_of_other_tools_is_told_and_wrong_use_is_named(run: Run, tmp_path: Path) -> None:
    run("init")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("A note.")
    assert run("import", "notes").out == "imported into space main: 1 created (read 1 file as markdown)\n"
    (tmp_path / "m.json").write_text('[{"id": "1", "memory": "A text.", "user_id": "a"}, 3]')
    table = [
        ("import notes --mode replace", 2, "not an export of memcli"), ("import notes --trusted-key x", 2, "not an export of memcli"),
        ("import notes --from memcli", 2, "has no memcli.json"), ("import notes --from evernote", 2, "no format 'evernote'"),
        ("import notes/a.md --from mcp", 6, "line 1"), ("import nowhere", 3, "nowhere"), ("export --format yaml", 2, "no format 'yaml'"),
        ("import m.json", 6, "m.json: memory 2 is not an object (use a JSON export of mem0)"), ("import m.json --mode replace", 2, ""),
    ]  # fmt: skip
    assert wrong(run, table) == ""


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
