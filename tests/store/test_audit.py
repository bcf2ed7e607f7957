"""The audit log of a space in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.codec.audit import entries, verify
from memcli.errors import StoreError
from memcli.model.space import Touched
from memcli.store.audit import AuditLog, Author
from memcli.store.layout import Layout, make_root
from tests.conftest import NOW
from tests.store.conftest import at_once


def open_log(folder: Path, told: list[str] | None = None) -> AuditLog:
    make_root(str(folder / ".memory"))
    warn = (told if told is not None else []).append
    return AuditLog(Layout(str(folder / ".memory")), Author(lambda: NOW, lambda: "ann", "pin"), warn)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / ".memory" / "local" / "audit" / "main.jsonl"


def new(*names: str) -> list[Touched]:
    return [Touched(f"mem_{name}", f"notes/{name}", "", "0" * 64) for name in names]


def test_each_act_is_one_line(tmp_path: Path, file: Path) -> None:
    log = open_log(tmp_path)
    log.record("main", "create", new("a"))
    log.record("main", "govern", [], {"before": "", "after": "x", "fields": ["ttl_days"]})
    first, second = entries(log.read("main"))
    assert (first["user"], first["command"], first["time"], first["n"]) == ("ann", "pin", NOW, 1)
    assert (first["changes"][0]["path"], second["policy"]["fields"]) == ("notes/a", ["ttl_days"])
    assert (second["prev"], verify(log.read("main")).broken) == (first["hash"], 0)
    assert file.stat().st_mode & 0o777 == 0o600
    assert log.read("other") == b""


def test_many_new_memories_are_counted_and_all_others_listed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    changed = [Touched("mem_x", "notes/x", "1" * 64, "2" * 64), Touched("mem_y", "notes/y", "1" * 64, "")]
    log.record("main", "update", [*changed, *new(*(f"m{n}" for n in range(51)))])
    (act,) = entries(log.read("main"))
    assert ([c["id"] for c in act["changes"]], act["created"]["count"]) == (["mem_x", "mem_y"], 51)
    log.record("main", "delete", [Touched(f"mem_{n}", "p", "1" * 64, "") for n in range(2000)])
    assert len(list(entries(log.read("main")))[1]["changes"]) == 2000
    log.record("main", "create", new("a"))  # behind a line longer than what is read of the tail at first
    assert (verify(log.read("main")).entries, verify(log.read("main")).broken) == (3, 0)


def test_a_secret_that_an_editor_put_into_a_name_is_not_logged(tmp_path: Path, file: Path) -> None:
    log = open_log(tmp_path)
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    log.record("main", "update", [Touched("mem_x", f"notes/{key}", "1" * 64, "2" * 64), *new("a")])
    log.record("main", "create", new(*(f"{key}/{n}" for n in range(51))))
    assert key.encode() not in file.read_bytes()
    listed, counted = entries(log.read("main"))
    assert ([c["id"] for c in listed["changes"]], counted["created"]["count"]) == (["mem_x", "mem_a"], 51)


def test_a_torn_line_is_told_once_and_gone_on_after(tmp_path: Path, file: Path) -> None:
    told: list[str] = []
    log = open_log(tmp_path, told)
    log.record("main", "create", new("a"))
    whole = file.read_bytes()
    log.record("main", "create", new("b"))
    file.write_bytes(file.read_bytes()[:-30])
    assert file.read_bytes().startswith(whole)
    log.record("main", "create", new("c"))
    log.record("main", "create", new("d"))
    found = verify(log.read("main"))
    assert (found.entries, found.broken, found.torn, len(told)) == (3, 0, (2,), 1)
    assert "incomplete line" in told[0]


@pytest.mark.parametrize("obstacle", ["folder", "link"])
def test_what_cannot_be_written_is_told_and_can_be_known_before(tmp_path: Path, file: Path, obstacle: str) -> None:
    told: list[str] = []
    log = open_log(tmp_path, told)
    file.parent.mkdir(parents=True)
    if obstacle == "folder":
        file.mkdir()
    else:
        file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="audit log"):
        log.check("main")
    log.record("main", "create", new("a"))
    (warning,) = told
    assert "done, but not recorded in the audit log" in warning
    assert not (tmp_path / "elsewhere").exists()
    with pytest.raises(StoreError):
        log.read("main")


def _append_many(folder: str, worker: int) -> None:
    log = open_log(Path(folder))
    for n in range(50):
        log.record("main", "create", new(f"{worker}-{n}"))


def test_processes_that_append_at_once_make_one_chain(tmp_path: Path) -> None:
    at_once(_append_many, [(str(tmp_path), n) for n in range(3)])
    log = open_log(tmp_path)
    found = verify(log.read("main"))
    assert (found.entries, found.broken, found.torn) == (150, 0, ())
    assert len({act["changes"][0]["id"] for act in entries(log.read("main"))}) == 150
