"""One gate: every way into a store refuses the same memories for the same reasons, and `fsck` finds them in what is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import anyio
from mcp import Client

from memcli import Memory as Api
from memcli.cli.calls import Calls
from memcli.codec.bundle import ENCODERS, seal
from memcli.codec.merge import merge_versions
from memcli.codec.space import encode_space
from memcli.errors import MemcliError
from memcli.extras.check.soundness import examine
from memcli.extras.mcp.offer import make_offer
from memcli.extras.mcp.server import sdk_server
from memcli.extras.transfer.private_form import encode_private_state
from memcli.model.memory import Memory
from memcli.model.names import text_hash
from memcli.model.space import Policy, Space
from memcli.record import replace
from memcli.wiring.roots import make_store
from tests.conftest import NOW, memory, nested
from tests.extras.mcp.conftest import text
from tests.extras.serve.conftest import Server

TEXT = "The staging host is rebuilt on Mondays."
OTHER = memory("other", raw="Another.", metadata={"hash": text_hash("Another.")})
GOOD = memory("x", path="notes/x", raw=TEXT, metadata={"hash": text_hash(TEXT)})


CORPUS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "climbing path": ({"path": "../../etc/x"}, "has the segment '..'"),
    "absolute path": ({"path": "/etc/passwd"}, "has an empty segment"),
    "escape in a path": ({"path": "a/\x1b[31mred"}, "contains control characters"),
    "line end in a path": ({"path": "a/red\nline"}, "contains control characters"),
    "long path": ({"path": "a/" + "b" * 300}, "longer than 240 characters"),
    "decomposed path": ({"path": "notes/e\u0301"}, "not in Unicode normal form C"),
    "path of another": ({"path": OTHER.path}, f"path '{OTHER.path}' belongs to"),
    "climbing id": ({"id": "../../x"}, "not an id: '../../x'"),
    "id of another": ({"id": OTHER.id}, "another memory has the same id"),
    "wrong hash": ({"metadata": {"hash": text_hash("x")}}, "its hash does not match its text"),
    "NUL": ({"raw": "a\0b"}, "contains NUL"),
    "text of 2 MB": ({"raw": "ab " * 700_000}, "the text is 2.1 MB; a text of a memory holds at most 1 MiB"),
    "summary of 2 MB": ({"summary_long": "ab " * 700_000}, "summary_long is 2.1 MB; a text of a memory holds at most"),
    "content of 17 MB": ({"content": ["ab " * 5_666_667]}, "the memory is 17.0 MB; one holds at most 16 MiB"),
    "nested content": ({"content": nested(61)}, "is nested deeper than 60"),
    "relation": ({"links": [{"to": OTHER.id, "relation": "likes"}]}, "links[0].relation must be one of"),
    "strength past 2^53": ({"strength": 2**53}, "strength must be at most 9007199254740991"),
    "version near 2^64": ({"version": 2**64 - 1}, "version must be at most 9007199254740991"),
    "hash is no text": ({"metadata": {"hash": [1]}}, "metadata.hash must be text, not a list"),
    "flags are no list": ({"metadata": {"pii_flags": "email"}}, "metadata.pii_flags must be a list, not text"),
    "ends before it begins": ({"valid_from": "2026-02-01T00:00:00Z", "valid_until": NOW}, "is before valid_from"),
}
"""What is wrong with a memory, beside one that is sound, and what is said of it."""

EXPECTED = """
                        json    jsonl   md      private sync    copy    merge   fsck    object  batch   edit    mcp     http
climbing path           no      no      no      no      no      no      no      no      no      no      no      no      no
absolute path           no      no      no      no      no      no      no      no      no      no      no      no      no
escape in a path        no      no      no      no      no      no      no      no      no      no      no      no      no
line end in a path      no      no      no      no      no      no      no      no      no      no      no      no      no
long path               no      no      no      no      no      no      no      no      no      no      no      no      no
decomposed path         no      no      no      no      no      no      no      no      taken   taken   taken   taken   taken
path of another         no      no      no      no      no      no      no      no      taken   taken   no      taken   taken
climbing id             no      no      no      no      no      no      no      no      no      no      -       -       no
id of another           no      no      no      no      no      no      no      no      taken   taken   -       -       taken
wrong hash              no      no      no      no      no      no      taken   no      taken   taken   taken   -       taken
NUL                     no      no      no      no      no      no      no      no      no      no      no      no      no
text of 2 MB            no      no      no      no      no      no      no      no      no      no      no      no      size
summary of 2 MB         no      no      no      no      no      no      no      no      no      no      no      -       size
content of 17 MB        no      no      no      no      no      no      no      no      no      no      no      no      size
nested content          no      no      no      no      no      no      no      no      no      no      no      no      no
relation                no      no      no      no      no      no      no      no      no      no      no      -       no
strength past 2^53      no      no      no      no      no      no      no      no      no      no      no      -       no
version near 2^64       no      no      no      no      no      no      no      no      no      no      -       -       no
hash is no text         no      no      no      no      no      no      no      no      no      no      no      -       no
flags are no list       no      no      no      no      no      no      no      no      no      no      no      -       no
ends before it begins   no      no      no      no      no      no      no      no      no      no      no      -       no
"""
"""Git merges what a hand changed; `fsck` finds it. Who gives fields has the path brought into normal form and the hash made, and changes the memory that has the path or the id."""


def stored(name: str) -> Space:
    """A space with a sound memory and one of the corpus, as a hand or a server could have it."""
    fields = CORPUS[name][0]
    hashed = {"metadata": {"hash": text_hash(fields["raw"])}} if "raw" in fields else {}
    hostile = replace(GOOD, **{**hashed, **fields})
    return Space("main", tuple(sorted((OTHER, hostile), key=lambda one: one.order)), updated_at=NOW)


Way = Callable[[Path, str], str]
"""A way in: given an empty folder and a name of the corpus, it tries; what it says where it refuses."""


def said(work: Callable[[], object]) -> str:
    """What `work` raises; empty where it does its work."""
    try:
        work()
    except MemcliError as error:
        return error.message
    return ""


def exported(form: str) -> Way:
    def way(folder: Path, name: str) -> str:
        file = folder / f"export.{form}"
        file.write_bytes(b"".join(ENCODERS[form](seal(stored(name)))))
        return said(lambda: store(folder / "here").import_(str(file)))

    return way


def carried(folder: Path, name: str) -> str:
    """The private state of another clone."""
    space = replace(stored(name), policy=Policy(visibility="private"))
    file = folder / "state.json"
    data, _ = encode_private_state({"spaces/main": encode_space(space).decode()})
    file.write_bytes(data)
    return said(lambda: store(folder / "here").import_(str(file)))


def store(folder: Path, *memories: Memory) -> Api:
    """The store in a folder, with a space that a hand wrote where there are memories."""
    make_store({"root": str(folder)}, {})
    if memories:
        ordered = tuple(sorted(memories, key=lambda one: one.order))
        file = folder / ".memory" / "spaces" / "main.json"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(encode_space(Space("main", ordered, updated_at=NOW)))
    return Api(str(folder))


def synced(folder: Path, name: str) -> str:
    store(folder / "there", *stored(name).objects)
    return said(lambda: store(folder / "here", OTHER).store_sync("main", with_=str(folder / "there")))


def copied(folder: Path, name: str) -> str:
    store(folder / "there", *stored(name).objects)
    return said(lambda: store(folder / "here").store_copy(str(folder / "there"), str(folder / "here")))


def merged(_: Path, name: str) -> str:
    base = encode_space(Space("main", (OTHER,), updated_at=NOW))
    return said(lambda: merge_versions(base, base, encode_space(stored(name))))


def found(_: Path, name: str) -> str:
    """What `fsck` finds in the file of a space."""
    data = encode_space(stored(name))
    return "; ".join(one.message for one in examine(data, "main", "main.json", {}, mend=False).findings)


def given(name: str) -> dict[str, Any]:
    """The fields of a memory of the corpus, as a user gives them."""
    return {"raw": TEXT, "path": "notes/x", **CORPUS[name][0]}


def as_object(folder: Path, name: str) -> str:
    return said(lambda: store(folder, OTHER).remember(object=given(name)))


def as_batch(folder: Path, name: str) -> str:
    return said(lambda: store(folder, OTHER).remember(batch=[{"raw": "Sound."}, given(name)]))


def as_edit(folder: Path, name: str) -> str:
    return said(lambda: store(folder, OTHER, GOOD).edit("notes/x", set=CORPUS[name][0]))


def over_mcp(folder: Path, name: str) -> str:
    """What the tool `remember` answers; it takes no other fields."""
    if unknown := CORPUS[name][0].keys() - {"raw", "path", "content"}:
        return f"no parameter {unknown.pop()}"
    store(folder, OTHER)
    fields = given(name)
    arguments = {"text": fields.pop("raw"), **fields}
    if "content" in arguments:
        del arguments["text"]

    async def work() -> str:
        calls = Calls({"root": str(folder)}, lambda _: None)
        async with Client(sdk_server(make_offer(calls, "default", None))) as client:
            answer = await client.call_tool("remember", arguments)
            calls.close()
            return text(answer) if answer.is_error else ""

    return anyio.run(work)


class OverHttp:
    """Requests to one server."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __call__(self, _: Path, name: str) -> str:
        try:
            answer = self._server.ask("POST", f"/apps/s{list(CORPUS).index(name)}/memories", given(name))
        except OSError:  # it does not read so much to its end
            return "the body is larger"
        return "" if answer.status < 300 else str(answer.json)


STORED: Mapping[str, Way] = {
    "json": exported("json"), "jsonl": exported("jsonl"), "md": exported("md"), "private": carried, "sync": synced,
    "copy": copied, "merge": merged, "fsck": found,
}  # fmt: skip
GIVEN: Mapping[str, Way] = {"object": as_object, "batch": as_batch, "edit": as_edit, "mcp": over_mcp}


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_way_in_refuses_the_same_for_the_same_reasons(tmp_path: Path, is_whole: bool) -> None:
    """The rows of megabytes are slow."""
    chosen = {name: reason for name, (_, reason) in CORPUS.items() if is_whole or " MB" not in name}
    (tmp_path / "served").mkdir()
    make_store({"root": str(tmp_path / "served")}, {})
    server = Server(tmp_path / "served")
    ways = {**STORED, **GIVEN, "http": OverHttp(server)}
    try:
        lines = [f"{'':24}" + "".join(f"{way:8}" for way in ways)]
        for number, (name, reason) in enumerate(chosen.items()):
            cells = []
            for way, enter in ways.items():
                folder = tmp_path / f"{number}-{way}"
                folder.mkdir()
                cells.append(cell(enter(folder, name), reason))
            lines.append(f"{name:24}" + "".join(f"{one:8}" for one in cells))
    finally:
        server.close()
    table = "\n".join(line.rstrip() for line in lines)
    print(table)
    head, *rows = EXPECTED.strip("\n").splitlines()
    assert table == "\n".join([head, *(row for row in rows if row[:24].strip() in chosen)])


def cell(told: str, reason: str) -> str:
    """`no` for the reason, `-` where a way cannot carry it, `size` where a way takes less, and what was said otherwise."""
    if reason in told:
        return "no"
    if "no parameter" in told or "cannot be set" in told:
        return "-"
    return "size" if "the body is larger" in told else told or "taken"
