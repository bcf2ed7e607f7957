"""What reads by the index answers as if it had read the file, to the byte."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memcli.app.catalogue import FileCatalogue
from tests.conftest import Result, Run

COMMANDS = (
    ("get", "auth/tokens"), ("get", "auth/tokens", "mem_b1", "auth/"), ("get", "mem_b"), ("get", "mem_c"), ("get", "nothing"),
    ("get", "old/way"), ("get", ""), ("get", "auth/tokens", "--field", "raw"), ("get", "repo/only"), ("get", "mem_r", "-s", "repo"),
    ("list",), ("list", "--all"), ("list", "--limit", "2"), ("list", "--limit", "2", "--offset", "1"), ("list", "--offset", "99"),
    ("list", "auth"), ("list", "auth/"), ("list", "au"), ("list", "nowhere"), ("list", "old"), ("list", "old", "--all"),
    ("list", "--kind", "fact"), ("list", "--kind", "fact,decision", "--limit", "1"), ("list", "--tag", "a"),
    ("list", "--tag", "a,b"), ("list", "--tag", "a b"), ("list", "-s", "repo"), ("list", "-s", "main", "auth", "--tag", "a", "--all"),
    ("tree",), ("list", "--tree", "--depth", "1"), ("list", "--tree", "--depth", "2"), ("list", "--tree", "--depth", "9"), ("list", "--tree", "auth", "--depth", "1"),
    ("list", "--tree", "auth/tokens"), ("tree", "nowhere"), ("list", "--tree", "-s", "repo", "--depth", "1"), ("status", "--stats"), ("status", "--stats", "-s", "repo"),
)  # fmt: skip


def _memory(name: str, path: str, n: int, **more: Any) -> dict[str, Any]:
    time = f"2024-01-{n:02d}T00:00:00Z"
    return {
        "id": f"mem_{name}", "path": path, "kind": "fact", "raw": f"Text {name}.", "created_at": time,
        "updated_at": time, **more,
    }  # fmt: skip


MEMORIES = (
    _memory("a1", "auth/tokens", 1, tags=["a", "b"], pinned=True),
    _memory("b1", "auth/tokens/life", 2, kind="decision", tags=["a"]), _memory("b2", "auth-old/x", 3, tags=["b"]),
    _memory("c1", "auth/passwords/rules/long", 4, summary_micro="Mail jo@example.com about ünïcode"),
    _memory("c2", "auth/passwords/rules/short", 5, relevance="high"), _memory("d1", "old/way", 6, active=False),
    _memory("d2", "old/road/x", 7, superseded_by="mem_a1", tags=["a"]),
    _memory("e1", "auth/passwords", 8, raw="ghp_" + "a1B2" * 9), _memory("e2", "Ünï/日本", 9),
)  # fmt: skip
REPO = (_memory("r1", "auth/tokens", 10), _memory("r2", "repo/only", 11, kind="diff"))


@pytest.fixture
def store(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A store with two spaces, whose files are canonical."""
    monkeypatch.setenv("MEMCLI_EMBEDDER", "off")
    run("init")
    _write(tmp_path, "main", MEMORIES)
    _write(tmp_path, "repo", REPO)
    assert run("store", "fmt").code == 0
    return run


def _write(folder: Path, space: str, memories: Any) -> None:
    data = {"format": "memcli/space", "version": 1, "space": space, "objects": list(memories), "policy": {}}
    folder.joinpath(".memory", "spaces", f"{space}.json").write_text(json.dumps(data), encoding="utf-8")


def _lines(*, is_whole: bool) -> list[tuple[str, ...]]:
    """The command lines that are compared; after damage as JSON alone, which has all that the others have."""
    forms: tuple[tuple[str, ...], ...] = ((), ("--json",), ("--quiet",)) if is_whole else (("--json",),)
    return [(*command, *form) for command in COMMANDS for form in forms]


def _compare(
    run: Run, folder: Path, prepare: Callable[[Path], object] = lambda _: None, *, is_whole: bool = False
) -> None:
    """By the index, then by the index with what `prepare` makes of it, then without one."""
    cache = folder / ".memory" / "cache"
    run("recall", "text", "-s", "main")
    run("recall", "text", "-s", "repo")
    prepare(cache)
    lines = _lines(is_whole=is_whole)
    found = [run(*line) for line in lines]
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir()
    for line, with_index in zip(lines, found, strict=True):
        assert _without_sizes(with_index) == _without_sizes(run(*line)), line
    assert not list(cache.glob("*.index"))


def _without_sizes(result: Result) -> Result:
    """Of `stats`, the size of the cache is another without one."""
    return replace(result, out=re.sub(r'(bytes .*cache|"cache":) \d+', "", result.out))


def _refuse(*_: object) -> None:
    raise AssertionError("the file was read whole")


def test_the_index_answers_as_the_file_does(store: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store("recall", "text")
    with monkeypatch.context() as patch:
        patch.setattr(FileCatalogue, "__init__", _refuse)
        assert not any("file was read" in store(*command).err for command in COMMANDS)
    _compare(store, tmp_path, is_whole=True)


def test_after_a_write_the_index_is_brought_up_to_date(
    store: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store("recall", "text")
    store("remember", "A new fact about auth.", "--path", "auth/new/fact", "--tag", "a")
    store("forget", "auth-old/x")
    with monkeypatch.context() as patch:
        patch.setattr(FileCatalogue, "__init__", _refuse)
        assert "auth/new/fact" in store("list").out
        assert "auth-old" not in store("list", "--tree", "--depth", "1").out
    _compare(store, tmp_path)


def _truncate(cache: Path) -> None:
    for path in cache.glob("*.index"):
        path.write_bytes(path.read_bytes()[:5000])


def _garble(cache: Path) -> None:
    """Leaves the first page as it is, which says what tables there are."""
    for path in cache.glob("*.index"):
        data = bytearray(path.read_bytes())
        for at in range(3 * 4096, len(data), 4096):
            data[at : at + 64] = b"\xff" * 64
        path.write_bytes(data)


def _change(statement: str) -> Callable[[Path], None]:
    def act(cache: Path) -> None:
        for path in cache.glob("*.index"):
            with closing(sqlite3.connect(path)) as db:
                db.execute(statement)
                db.commit()

    return act


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut off": _truncate, "garbled": _garble, "misplaced": _change("UPDATE memory SET start = start + 7"),
    "no table": _change("DROP TABLE memory"), "version": _change("UPDATE meta SET value = '0' WHERE key = 'version'"),
    "gone": shutil.rmtree,
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_changes_no_answer(store: Run, tmp_path: Path, damage: str) -> None:
    _compare(store, tmp_path, DAMAGE[damage])


BY_HAND: dict[str, tuple[Any, ...]] = {
    "order": MEMORIES[::-1],
    "same memory twice": (*MEMORIES, MEMORIES[0]),
    "same id twice": (*MEMORIES, {**MEMORIES[0], "raw": "Another."}),
    "same path twice": (*MEMORIES, _memory("z", "auth/tokens", 1)),
    "tag of two words": (*MEMORIES, _memory("z", "odd/tag", 1, tags=["a b", "a", "a"])),
    "superseded by nothing": (*MEMORIES, _memory("z", "odd/end", 1, superseded_by="")),
    "paths": (*MEMORIES, _memory("z", "/odd//path/", 1), _memory("y", "", 1)),
    "damaged memory": (*MEMORIES, {"id": "mem_z"}),
    "empty": (),
}


@pytest.mark.parametrize(("name", "is_canonical"), [(name, n % 2 == 0) for n, name in enumerate(BY_HAND)])
def test_a_file_changed_by_hand_changes_the_answers(store: Run, tmp_path: Path, name: str, is_canonical: bool) -> None:
    store("recall", "text")
    path = tmp_path / ".memory" / "spaces" / "main.json"
    _write(tmp_path, "main", BY_HAND[name])
    if is_canonical:  # in form, though not in order
        tree = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    _compare(store, tmp_path)


def test_a_long_list_is_printed_as_one_canonical_array(store: Run) -> None:
    lines = "".join(json.dumps(_memory(f"n{n}", f"many/n{n:03d}", 1)) + "\n" for n in range(130))
    assert store("remember", "--batch", "-", stdin=lines).code == 0
    store("recall", "text")
    printed = store("list", "--json").out
    assert printed == json.dumps(json.loads(printed), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert len(json.loads(printed)) > 130
    assert store("list", "--tag", "none-has-it", "--json").out == "[]\n"
    pages = [store("list", "--json", "--limit", "50", "--offset", str(n)).json for n in range(0, 200, 50)]
    assert [m for page in pages for m in page] == json.loads(printed)


@pytest.mark.parametrize("command", ["list", "browse"])
def test_lines_are_printed_as_soon_as_they_are_read(store: Run, tmp_path: Path, command: str) -> None:
    """The oldest memory cannot be read: those before it are printed."""
    lines = "".join(json.dumps(_memory(f"n{n}", f"many/n{n:03d}", 1)) + "\n" for n in range(130))
    assert store("remember", "--batch", "-", stdin=lines).code == 0
    store("recall", "text")
    oldest = store("list").out.splitlines()[-1].split("\t")[0]
    path = tmp_path / ".memory" / "spaces" / "main.json"
    before, data = path.stat(), path.read_text(encoding="utf-8")
    path.write_text(data.replace(f'"id": "{oldest}"', f'"id": x{oldest}"'), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # so that the index is of this file
    result = store(command)
    assert (result.code, result.out.count("\n"), "invalid JSON" in result.err) == (6, 100, True)
