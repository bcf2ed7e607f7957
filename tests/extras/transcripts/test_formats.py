"""Whatever the format and the noise: what was said is read in order, once; what is no transcript gives one clear line."""

from __future__ import annotations

import copy
import io
import json
import os
import struct
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.errors import CorruptError, MemcliError, NotFoundError, UsageError
from memcli.extras.transcripts import files
from memcli.extras.transcripts.formats import EXPORTS, LINES, conversations
from memcli.model.conversation import Message
from tests.extras.transcripts import writers
from tests.extras.transcripts.conftest import read, read_bytes
from tests.extras.transcripts.writers import Turn
from tests.strategies import words

TALK = [
    Turn("user", "Why does the total differ?"), Turn("assistant", "Let me look:\n```python\nx = {'a': [1]}\n```"),
    Turn("tool", "pytest -q", "1 failed in 0.12s"), Turn("tool", "git diff"), Turn("assistant", 'It rounds "twice" \\ 😀'),
    Turn("user", "Then use cents."), Turn("assistant", "Done."),
]  # fmt: skip
SAID = [turn.expected for turn in TALK]
JUNK = (b"{broken\n", b"\xff\xfe{}\n", b"[1, 2]\n", b'"text"\n', b"null\n", b"\n", b'{"a": "\xc3\n', b"{}{}\n", b"\r\n")

texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Co"], include_characters="\n\t"), min_size=1, max_size=60
)
own_texts = texts.map(str.strip).filter(bool)
commands = st.lists(words, min_size=1, max_size=4).map(" ".join)
turns = st.lists(
    st.builds(Turn, st.sampled_from(["user", "assistant"]), own_texts)
    | st.builds(Turn, st.just("tool"), commands, st.just("") | commands),
    min_size=1,
    max_size=12,
)


@given(st.data())
def test_lines_are_read_in_order_once_whatever_stands_between_them(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from(sorted(writers.LINES)))
    write, noise = writers.LINES[source]
    talk = data.draw(turns)
    lines = list(write(talk))
    for number in range(data.draw(st.integers(0, 6))):
        between = b"".join(noise(number)) if data.draw(st.booleans()) else data.draw(st.sampled_from(JUNK))
        lines.insert(data.draw(st.integers(1, len(lines))), between)
    found = read_bytes(tmp_path_factory.mktemp("lines"), lines)
    assert [one.source for one in found.transcripts] == [source]
    assert found.said == [turn.expected for turn in talk]


@given(st.sampled_from(sorted(writers.EXPORTS)), st.lists(turns, min_size=1, max_size=3), st.data())
def test_exports_are_read_in_order_once(
    tmp_path_factory: pytest.TempPathFactory, source: str, talks: list[list[Turn]], data: st.DataObject
) -> None:
    chats: list[object] = [writers.EXPORTS[source](talk, f"k{number}") for number, talk in enumerate(talks)]
    for other in data.draw(st.lists(st.sampled_from([{}, None, 3, "a{b", [], {"title": "[}"}]), max_size=3)):
        chats.insert(data.draw(st.integers(0, len(chats))), other)
    indent = data.draw(st.sampled_from([None, 2]))
    found = read_bytes(tmp_path_factory.mktemp("export"), json.dumps(chats, indent=indent).encode())
    assert [one.key for one in found.transcripts] == [f"k{number}" for number in range(len(talks))]
    expected = [[turn.expected for turn in talk] for talk in talks]
    assert [[(one.role, one.text) for one in messages] for messages in found.messages] == expected


def test_every_format_has_a_writer_and_is_read(tmp_path: Path) -> None:
    """Again with the same counts; a file that grew gives the same keys again."""
    assert {*writers.LINES, *writers.EXPORTS} == {*LINES, *EXPORTS}
    for source in (*LINES, *EXPORTS):
        found = read_bytes(tmp_path, file_of(source))
        (one,), (messages,) = found.transcripts, found.messages
        assert (one.source, found.said) == (source, SAID)
        assert [message.number for message in messages] == [*range(1, len(TALK) + 1)]
        assert (one.started_at[:10], bool(one.key)) == (writers.DAY, True)
        counts = dict(one.skipped)
        assert (list(one.messages()), dict(one.skipped)) == (messages, counts)
        if source in writers.LINES:
            before = read_bytes(tmp_path, writers.LINES[source][0](TALK[:4]))
            assert before.transcripts[0].key == one.key
            assert [m.key for m in messages][:4] == [m.key for m in before.messages[0]]
            assert len({m.key for m in messages}) == len(TALK)
    for write, said in ((writers.codex_flat, SAID), (writers.codex_events, [one for one in SAID if one[0] != "tool"])):
        found = read_bytes(tmp_path, write(TALK))
        assert (found.transcripts[0].source, found.said) == ("codex", said)


def test_a_file_cut_anywhere_gives_what_stands_before(tmp_path: Path) -> None:
    for source in writers.LINES:
        data = file_of(source)
        first = data.index(b"\n") + 1 if source != "codex" else data.index(b"\n", data.index(b"\n") + 1) + 1
        for end in {*range(first, len(data), 389), *(place + 1 for place in range(len(data)) if data[place] == 0xF0)}:
            said = read_bytes(tmp_path, data[:end]).said
            assert (source, [_begun(one) for one in said]) == (source, [_begun(one) for one in SAID[: len(said)]])
    for source in writers.EXPORTS:
        chats = json.dumps([writers.EXPORTS[source](TALK, key) for key in ("k1", "k2")]).encode()
        found = read_bytes(tmp_path, chats[: len(chats) * 3 // 4])
        assert (source, [one.key for one in found.transcripts], found.skipped["cut off"]) == (source, ["k1"], 1)


def test_a_damaged_conversation_does_not_hide_the_others(tmp_path: Path) -> None:
    one = json.dumps(writers.chatgpt(TALK, "k1")).encode()
    found = read_bytes(tmp_path, b"[" + one + b', {"mapping": {nothing}},' + one.replace(b"k1", b"k2") + b"]")
    assert [one.key for one in found.transcripts] == ["k1", "k2"]
    assert found.skipped["malformed conversation"] == 1


def test_one_conversation_or_an_array_of_messages_is_a_file_too(tmp_path: Path) -> None:
    pretty = json.dumps(writers.chatgpt(TALK), indent=1).encode()
    assert read_bytes(tmp_path, b"\xef\xbb\xbf" + pretty).said == SAID
    assert read_bytes(tmp_path, writers.line(writers.claude_ai(TALK))).said == SAID
    array = b"[" + b",".join(line.rstrip() for line in writers.plain(TALK)) + b"]"
    assert read_bytes(tmp_path, array).said == SAID


def test_an_export_is_read_from_its_archive(tmp_path: Path) -> None:
    files = {
        "user.json": {"id": "u"},
        "Export/conversations-001.json": [writers.chatgpt(TALK, "k2")],
        "Export/conversations-000.json": [writers.chatgpt(TALK, "k1")],
        "shared_conversations.json": [{"id": "x", "conversation_id": "k1", "title": "Shared"}],
    }
    found = read_bytes(tmp_path, writers.archive(files), "export.zip")
    assert [one.key for one in found.transcripts] == ["k1", "k2"]
    assert [len(messages) for messages in found.messages] == [len(TALK)] * 2
    files = {"projects.json": [{"uuid": "p", "docs": []}], "conversations.json": [writers.claude_ai(TALK, "c")]}
    assert read_bytes(tmp_path, writers.archive(files)).said == SAID


FOREIGN: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("the file is empty", (b"", b" \n\n")),
    ("not a transcript", (b"# Notes\n\nWe {agreed} on [cents].\n", b"Hello, world.", b'{"name": "shop", "version": 1}\n', b"[1, 2, 3]",
                          b'"' * 1000, b"[" * 100_000)),
    ("not a transcript, but a binary file", (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", '{"role": "user", "content": "hi"}'.encode("utf-16"))),
    ("compressed with zstd", (b"\x28\xb5\x2f\xfd\x00",)), ("compressed with gzip", (b"\x1f\x8b\x08\x00",)),
    ("not a transcript, but memories", (b'{\n  "format": "memcli/space",\n  "objects": []\n}\n',
                                        b'{"type":"entity","name":"a","entityType":"b","observations":[]}\n')),
    ("cut off before the end of the first conversation", (b'[{"mapping": {"a": {"id": "a"',)),
    ("cut off before", (b'{"role": "user", "content": ' + b"[" * 100_000 + b"\n",)),
)  # fmt: skip


def test_what_is_no_transcript_gives_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for message, data in ((message, data) for message, of in FOREIGN for data in of):
        with pytest.raises(UsageError) as raised:
            read_bytes(Path(), data)
        told, hint = raised.value.message, raised.value.hint
        assert (message, data, told.partition(": ")[2].startswith(message), bool(hint)) == (message, data, True, True)
        assert ("t.jsonl" in told, "\n" in told + hint) == (True, False)
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path / "none", NotFoundError), (tmp_path, UsageError), (tmp_path / "pipe", UsageError)):
        with pytest.raises(kind, match="no such file" if kind is NotFoundError else "not a regular file"):
            read(path)


def test_a_hostile_archive_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    chats = [writers.chatgpt(TALK)]
    good = writers.archive({"conversations.json": chats})
    damaged = bytearray(good)
    damaged[60] ^= 0xFF
    encrypted = bytearray(good)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.index(mark) + place] |= 1
    cases = {
        "damaged archive": (bytes(damaged), CorruptError),
        "damaged archive: ": (good[: len(good) // 2], CorruptError),
        "the archive is encrypted": (bytes(encrypted), UsageError),
        "unsafe name in the archive: '../conv": (writers.archive({"../conversations.json": chats}), CorruptError),
        "unsafe name in the archive": (writers.archive({"/etc/conversations.json": chats}), CorruptError),
        "holds another archive": (_zip({"inner.zip": good}), UsageError),
        "no conversations in the archive": (_zip({"a.txt": b"x", "b.json": b"[]"}), UsageError),
        "more than 500 times its size": (_zip({"conversations.json": b"[" + b" " * (80 << 20)}), CorruptError),
    }
    for message, (data, kind) in cases.items():
        with pytest.raises(kind) as raised:
            read_bytes(tmp_path, data, "export.zip")
        assert message in raised.value.message
        assert raised.value.hint


def test_an_archive_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(writers.archive({"conversations.json": [writers.chatgpt(TALK)]}))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<I", 0xF0000000)
    monkeypatch.setattr(files, "MAX_UNPACKED", 1 << 30)
    with pytest.raises(CorruptError, match="unpacks to more than 1 GiB"):
        read_bytes(tmp_path, bytes(data))
    monkeypatch.setattr(files, "MAX_DIRECTORY", 100)
    with pytest.raises(CorruptError, match="too many files"):
        read_bytes(tmp_path, _zip({f"{n}.txt": b"" for n in range(9)}))


def test_what_is_too_long_is_counted_and_the_rest_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.transcripts.files.MAX_BYTES", 20_000)
    long = Turn("user", "a\\" * 40_000)
    found = read_bytes(tmp_path, writers.plain([TALK[0], long, TALK[1]]))
    assert (found.said, found.skipped["too long"]) == ([SAID[0], SAID[1]], 1)
    chats = [writers.chatgpt(talk, f"k{number}") for number, talk in enumerate((TALK, [long], TALK))]
    found = read_bytes(tmp_path, json.dumps(chats).encode())
    assert ([one.key for one in found.transcripts], found.skipped["too long"]) == (["k0", "k2"], 1)


def test_a_first_line_that_is_too_long_is_counted_and_the_rest_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.extras.transcripts.files.MAX_BYTES", 20_000)
    monkeypatch.setattr("memcli.extras.transcripts.formats._REACH", 50_000)
    first = writers.line({"role": "user", "content": "x" * 60_000})
    for source in writers.LINES:
        found = read_bytes(tmp_path, [first, first, file_of(source)])
        assert ([one.source for one in found.transcripts], found.said) == ([source], SAID)
        assert found.skipped["too long"] == 2
    with pytest.raises(UsageError, match="has lines or conversations above"):
        read_bytes(tmp_path, first)


def test_what_has_too_many_values_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.extras.transcripts.values.MAX_CONTAINERS", 1_000)
    many = {"role": "user", "content": [{}] * 1_100}
    found = read_bytes(tmp_path, [*writers.plain(TALK), writers.line(many)])
    assert (found.said, found.skipped["too long"]) == (SAID, 1)


STARTS = (
    "", '{"role":"user","content":', '[{"mapping":', '{"sessionId":"s","type":"user","uuid":', '{"type":"response_item","payload":',
    '{"projectHash":"0a","id":"u","type":"user","content":', '{"parentId":null,"type":"user.message","data":',
    '{"sessionId":"s","agent":"lead","messages":', "SQLite format 3\0",
)  # fmt: skip


@given(st.binary(max_size=400), st.sampled_from(STARTS))
def test_no_bytes_raise_anything_but_an_error_of_ours(tmp_path_factory: Any, data: bytes, start: str) -> None:
    path = tmp_path_factory.mktemp("any") / "t"
    path.write_bytes(start.encode() + data)
    _read_anything(path)


@given(st.sampled_from([*writers.LINES, *writers.EXPORTS]), st.data())
def test_no_values_raise_anything_but_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, source: str, data: st.DataObject
) -> None:
    """Any value of a file replaced by another one."""
    odd = st.sampled_from(
        [None, 0, -1, 1e308, True, "", "x", [], {}, [None], [[]], {"a": None}, [{"type": []}], "\ud800"]
    )
    values = [json.loads(line) for line in file_of(source).splitlines()]
    values[0] = values[0][0] if isinstance(values[0], list) else values[0]
    for _ in range(data.draw(st.integers(1, 4))):
        where = values[data.draw(st.integers(0, len(values) - 1))]
        while True:
            name = data.draw(st.sampled_from(sorted(where) if isinstance(where, dict) else [*range(len(where))]))
            if isinstance(where[name], dict | list) and where[name] and data.draw(st.booleans()):
                where = where[name]
                continue
            where[name] = copy.deepcopy(data.draw(odd))
            break
    path = tmp_path_factory.mktemp("odd") / "t"
    path.write_text("\n".join(json.dumps(value) for value in values))
    _read_anything(path)


def _begun(said: tuple[str, str]) -> tuple[str, str]:
    """A message without the outcome of a call, which may be cut off."""
    return said[0], said[1].partition(" (failed)")[0]


def _read_anything(path: Path) -> None:
    with suppress(MemcliError):
        for transcript in conversations(str(path)):
            for message in transcript.messages():
                assert isinstance(message, Message)
                assert message.role in ("user", "assistant", "tool")
                assert message.text.strip()
                (message.text + message.key + message.speaker).encode()


def file_of(source: str) -> bytes:
    """The talk in a file of a format."""
    if source in writers.LINES:
        return b"".join(writers.LINES[source][0](TALK))
    return json.dumps([writers.EXPORTS[source](TALK, "k1")], ensure_ascii=False).encode()


def _zip(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return data.getvalue()
