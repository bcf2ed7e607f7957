"""Exports of mem0, in the forms that its library, its platform and OpenMemory write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memcli.errors import MemcliError
from memcli.extras.transfer.foreign import detect, is_mem0, read_mem0
from memcli.model.names import check_path
from tests.ingest.conftest import CASES

MEM0 = CASES["mem0"]
LIBRARY, PLATFORM, BACKUP = MEM0["library"], MEM0["platform"], MEM0["backup"]


def read(tree: Any) -> dict[str, dict[str, Any]]:
    return {str(fields["path"]): dict(fields) for fields in read_mem0(json.dumps(tree).encode(), "out.json")}


def test_what_the_library_returns() -> None:
    found = read(LIBRARY)
    assert list(found) == ["mem0/alice/0b1f", "mem0/ci/7c2d", "entities/alice"]
    tabs = found["mem0/alice/0b1f"]
    assert (tabs["raw"], tabs["tags"], tabs["created_at"]) == ("Alice prefers tabs.", ["style"], "2024-07-01T16:00:00Z")
    assert tabs["metadata"] == {
        "source": "mem0:0b1f",
        "mem0": {"id": "0b1f", "hash": "9e10", "metadata": {"category": "style"}, "user_id": "alice", "role": "user"},
    }
    assert tabs["provenance"] == {"source": "imported"}
    assert found["mem0/ci/7c2d"]["metadata"]["speaker"] == "bob"
    alice = found["entities/alice"]
    assert (alice["kind"], alice["provenance"]) == ("entity", {"source": "imported"})
    assert alice["raw"] == "alice (entity)\n- alice works on bolt\n- alice knows bob"
    assert read(LIBRARY["results"]).keys() == {"mem0/alice/0b1f", "mem0/ci/7c2d"}


def test_what_the_platform_returns() -> None:
    (found,) = read(PLATFORM).values()
    assert (found["kind"], found["tags"]) == ("constraint", ["work", "release-plan"])
    assert found["valid_until"].startswith("2026-12-31")


def test_a_backup_of_openmemory() -> None:
    found = read(BACKUP)
    assert list(found) == ["mem0/u1/1", "mem0/u1/2"]
    assert (found["mem0/u1/1"]["tags"], found["mem0/u1/2"]["tags"]) == (["food"], ["work"])
    assert ("active" in found["mem0/u1/1"], found["mem0/u1/2"]["active"]) == (False, False)


def test_what_stands_there_twice_is_there_once() -> None:
    twice = [{"id": "1", "memory": "Old.", "user_id": "a"}, {"id": "1", "memory": "New.", "user_id": "a"}]
    assert [fields["raw"] for fields in read(twice).values()] == ["New."]


def test_it_is_detected_and_other_json_is_not() -> None:
    for tree in (LIBRARY, LIBRARY["results"], PLATFORM, BACKUP, {"memories": LIBRARY["results"]}):
        assert detect("export.json", json.dumps(tree, indent=2).encode()) == "mem0"
    assert [text for text in [*CASES["no_mem0"], "[" * 100_000] if is_mem0(text.encode())] == []


def test_what_is_wrong_is_named() -> None:
    for text, said in [*CASES["wrong_mem0"], ("[" * 100_000, "invalid JSON")]:
        with pytest.raises(MemcliError, match=said) as raised:
            list(read_mem0(text.encode("latin-1"), "x.json"))
        assert "\n" not in raised.value.message
    assert list(read_mem0(b'[{"id": {}, "memory": "a"}]', "x.json"))


def test_a_strange_id_is_a_path_all_the_same() -> None:
    for name in ("../../etc/passwd", "a/b", "", "..", "CON", "x" * 5000, "\u202egnp", 7, None):
        for path in read([{"id": name, "memory": "A text.", "user_id": name}]):
            assert check_path(path) == path
            assert path.startswith("mem0/")
