from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from memcli.app.remember import prepare, remember
from memcli.app.workspace import Workspace
from memcli.codec.space import encode_full
from memcli.extras.check.repair import check_store, format_space
from memcli.model.space import Change
from memcli.ports import Shelf
from memcli.store.atomic import TEMP_MARK, read_regular
from memcli.store.journal import Journal
from memcli.store.layout import Layout
from tests.conftest import NOW, Run, memory, rewrite


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    remember(workspace, [prepare(workspace, {"raw": f"Fact {n} is known."}) for n in range(3)])
    return workspace


def space_file(workspace: Workspace, name: str = "main") -> Path:
    return Path(workspace.root, "spaces", f"{name}.json")


def check(workspace: Workspace, repair: bool = False) -> list[tuple[str, str, bool]]:
    store = workspace.store
    found = check_store(Layout(workspace.root), lambda name: store.update(name, _nothing), repair)
    return [(finding.file, finding.kind, mended) for finding, mended in found]


def _nothing(_: Shelf) -> Change:
    return Change()


def aside(workspace: Workspace) -> list[bytes]:
    folder = Path(workspace.root, "local", "quarantine")
    return [f.read_bytes() for f in sorted(folder.iterdir())] if folder.exists() else []


def test_what_is_mended_is_put_aside_first(filled: Workspace) -> None:
    assert check(filled) == []
    whole = space_file(filled).read_bytes()
    torn = whole[: len(whole) * 2 // 3]
    space_file(filled).write_bytes(torn)
    assert check(filled) == [("spaces/main.json", "torn", False)]
    assert space_file(filled).read_bytes() == torn
    assert check(filled, repair=True) == [("spaces/main.json", "torn", True)]
    assert aside(filled) == [torn]
    assert check(filled) == []
    assert len(filled.store.open("main").load().objects) == 2
    remember(filled, [prepare(filled, {"raw": "And on it goes."})])


def test_what_is_only_untidy_is_put_in_order_in_its_place(filled: Workspace) -> None:
    whole = space_file(filled).read_bytes()
    space_file(filled).write_bytes(whole.replace(b"\n", b"\r\n"))
    assert check(filled, repair=True) == [("spaces/main.json", "format", True)]
    assert space_file(filled).read_bytes() == whole
    assert aside(filled) == []


def test_where_nothing_is_left_the_file_goes_aside(filled: Workspace) -> None:
    space_file(filled).write_bytes(b"\0" * 4096)
    assert check(filled, repair=True) == [("spaces/main.json", "torn", True)]
    assert not space_file(filled).exists()
    assert aside(filled) == [b"\0" * 4096]


def test_leftovers_of_crashes(filled: Workspace) -> None:
    spaces = Path(filled.root, "spaces")
    (spaces / f".main.json{TEMP_MARK}").write_bytes(b"half")
    (spaces / f".main.json{TEMP_MARK}999999999").write_bytes(b"quarter")
    (spaces / f".main.json{TEMP_MARK}{os.getpid()}").write_bytes(b"at work")
    journal = Journal(os.path.join(filled.root, "local", "journal", "main"), "")
    made = prepare(filled, {"raw": "From the dead."})
    candidate = {"given": made.given, "derived": made.derived, "hash": made.hash}
    journal.place({"now": NOW, "candidates": [candidate], "supersedes": None})
    expected = [
        (f"spaces/.main.json{TEMP_MARK}", "leftover"),
        (f"spaces/.main.json{TEMP_MARK}999999999", "leftover"),
        ("local/journal/main", "leftover"),
    ]
    assert check(filled) == [(*one, False) for one in expected]
    assert check(filled, repair=True) == [(*one, True) for one in expected]
    assert check(filled) == []
    assert sorted(aside(filled)) == [b"half", b"quarter"]
    assert "From the dead." in {m.raw for m in filled.store.open("main").load().objects}


def test_what_does_not_belong_there_is_told(filled: Workspace, tmp_path: Path) -> None:
    spaces = Path(filled.root, "spaces")
    (spaces / "notes.txt").touch()
    (spaces / "link.json").symlink_to(tmp_path / "elsewhere")
    (spaces / "Two Words.json").write_text("{}")
    (spaces / "folder.json").mkdir()
    os.mkfifo(spaces / "pipe.json")
    assert check(filled, repair=True) == [
        (f"spaces/{name}", "unreadable" if name in ("folder.json", "link.json", "pipe.json") else "strange", False)
        for name in ("Two Words.json", "folder.json", "link.json", "notes.txt", "pipe.json")
    ]


def test_what_may_not_be_read_is_not_called_damaged(
    filled: Workspace, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: str, *rest: Any) -> bytes | None:
        if path.endswith("main.json"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return read_regular(path, *rest)

    monkeypatch.setattr("memcli.extras.check.repair.read_regular", denied)
    done = run("check", "store", "--root", filled.root)
    expected = "memcli: cannot read spaces/main.json: Permission denied (check its permissions)\n"
    assert (done.code, done.err) == (8, expected)
    Path(filled.root, "spaces", "team.json").write_text("{")
    done = run("check", "store", "--root", filled.root)
    assert (done.code, "1 damaged" in done.err, "--repair" in done.err) == (6, True, True)


def test_a_tampered_export_is_told(filled: Workspace, run: Run) -> None:
    assert run("export", "--root", filled.root).code == 0
    path = Path(filled.root, "exports", "main.json")
    path.write_text(path.read_text().replace("known", "unknown", 1))
    assert check(filled) == [("exports/main.json", "export", False)]


def test_a_damaged_record_is_told(filled: Workspace, run: Run) -> None:
    run("space", "policy", "main", "--set", "allow_delete=true", "--root", filled.root)
    run("forget", "--purge", "--yes", filled.store.open("main").load().objects[0].id, "--root", filled.root)
    log = Path(filled.root, "local", "audit", "main.jsonl")
    log.write_bytes(log.read_bytes().replace(b"created", b"credited", 1).replace(b'"n":1', b'"n":7', 1))
    (trash,) = Path(filled.root, "local", "trash").iterdir()
    trash.write_bytes(trash.read_bytes()[:-20])
    where = f"local/trash/{trash.name}"
    assert check(filled, repair=True) == [(where, "trash", False), ("audit/main.jsonl", "audit", False)]


def test_a_link_may_lead_into_another_space(filled: Workspace) -> None:
    link = {"to": filled.store.open("main").load().objects[0].id, "relation": "relates_to"}
    rewrite(filled.store, lambda space: space.put([memory("far", links=(link,))], NOW), "other")
    assert check(filled) == []


def test_a_file_of_version_1_is_no_damage_and_is_formatted(filled: Workspace, run: Run) -> None:
    whole = space_file(filled).read_bytes()
    space_file(filled).write_bytes(encode_full(filled.store.open("main").load()))
    found = run("check", "store", "--root", filled.root)
    assert (found.code, "it is in format 1" in found.out) == (0, True)
    assert check(filled) == [("spaces/main.json", "outdated", False)]
    assert run("store", "fmt", "--check", "--root", filled.root).code == 6
    assert not format_space(Layout(filled.root), "main", check=False)
    assert space_file(filled).read_bytes() == whole


def test_the_commands(filled: Workspace, run: Run) -> None:
    root = filled.root
    assert run("check", "store", "--root", root).err == "memcli: no damage found\n"
    assert run("store", "fmt", "--check", "--root", root).code == 0
    whole = space_file(filled).read_bytes()
    space_file(filled).write_bytes(whole.replace(b"Fact 1", b"Fact 7"))
    found = run("check", "store", "--root", root)
    assert found.code == 6
    assert "edited by hand?" in found.out
    assert found.err == "memcli: 1 damaged (`memcli check store --repair` repairs it)\n"
    assert run("check", "store", "--repair", "--root", root).code == 0
    space_file(filled).write_bytes(whole + b" ")
    checked = run("store", "fmt", "--check", str(space_file(filled)), "--root", root)
    assert (checked.code, checked.out) == (6, "not canonical spaces/main.json\n")
    assert run("store", "fmt", "--root", root).out == "wrote spaces/main.json\n"
    assert run("store", "fmt", "nosuch", "--root", root).code == 2
    assert run("check", "store", "--json", "--root", root).out == '{\n  "damaged": 0,\n  "findings": []\n}\n'


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_a_space_that_cannot_be_opened_is_damage(filled: Workspace, run: Run, tmp_path: Path, kind: str) -> None:
    file, elsewhere = space_file(filled), tmp_path / "elsewhere.json"
    file.rename(elsewhere)
    {"link": lambda path: path.symlink_to(elsewhere), "folder": os.mkdir, "fifo": os.mkfifo}[kind](file)
    result = run("check", "store", "--json")
    assert (result.code, json.loads(result.out.split("\n}\n")[0] + "\n}")["damaged"]) == (6, 1)


def test_a_store_without_a_lock_file_is_only_looked_at(filled: Workspace) -> None:
    lock = Path(Layout(filled.root).lock("main"))
    lock.unlink()
    assert list(check_store(Layout(filled.root), lambda _: None, repair=False)) == []
    assert not lock.exists()


@pytest.mark.parametrize(
    "name", ["local/journal/main/.1.request.tmp-", "local/.main.hooks.json.tmp-4194305", "cache/.x.tmp-"]
)
def test_what_killed_writers_left_is_found_everywhere(filled: Workspace, run: Run, name: str) -> None:
    left = Path(filled.root, name)
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_text("{")
    assert name in run("check", "store").out
    run("check", "store", "--repair")
    assert not left.exists()
    assert "no damage" in run("check", "store").err
