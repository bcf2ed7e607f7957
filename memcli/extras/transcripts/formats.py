"""The formats: detect the format of a file by its keys, and read the conversations in it.

To add a format, write a reader in a file of its own, add its keys to `formats_of`, and one line to LINES if a file is one
conversation, or to EXPORTS if each object of a file is one. The database of opencode is a case of its own.

The plain format is here too: messages with `role` and `content`, one a line or in one array, as many programs write them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import IO, Any

from memcli.errors import UsageError
from memcli.extras.transcripts import claude_code, codex, copilot, exports, files, gemini, opencode, reasons
from memcli.extras.transcripts.content import OpenCalls, described, is_own, plain, says_failed, shortened, split
from memcli.extras.transcripts.files import BLOCK, elements, open_file, part_of, read_lines, stem_of
from memcli.extras.transcripts.transcript import RawMessage, Transcript, digest, parsed
from memcli.extras.transcripts.values import MAX_BYTES, dict_of, list_of, moment, object_in, parse, text_of
from memcli.model.names import show

SOURCE = "jsonl"
_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant",
    "bot": "assistant", "tool": "tool", "function": "tool", "system": "", "developer": "",
}  # fmt: skip
_TIMES = ("timestamp", "created_at", "create_time", "time", "ts", "at", "date")
_KEYS = ("id", "uuid", "message_id")
_SESSIONS = ("session_id", "sessionId", "conversation_id", "thread_id")

Objects = Callable[[Counter[str]], Iterator[dict[str, Any]]]
"""Reads the JSON objects of a file, and counts the values that are no objects."""


def is_plain(line: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a message."""
    return isinstance(line.get("role"), str) and ("content" in line or "tool_calls" in line)


def read_plain(path: str, objects: Objects) -> Transcript:
    """The conversation of all messages of a file. Raises what `objects` raises."""
    # Without an id, the key has a digest of the first message only, so that a file that grew has the same key.
    first = next((one for one in objects(Counter()) if is_plain(one)), {})
    key = _first(first, _SESSIONS) or f"{stem_of(path)}-{digest(str(first.get('role')), plain(first.get('content')))}"
    return parsed(SOURCE, key, partial(_read, objects), started_at=moment(_time(first)))


def _read(objects: Objects, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a file in the plain format, with calls in blocks or in the field of chat completions."""
    calls = OpenCalls(skipped)
    for one in objects(skipped):
        if not is_plain(one):
            skipped[reasons.META] += 1
            continue
        role = _ROLES.get(one["role"].lower())
        content = split("" if one.get("content") is None else one.get("content"), skipped)
        for call, output, failed in content.results:
            calls.finish(call, output, failed=failed)
        if not role:
            skipped[reasons.ROLE if role is None else reasons.SYSTEM] += 1
        elif role == "tool":
            key = text_of(one.get("tool_call_id"))
            failed = one.get("is_error") is True or says_failed(content.text)
            if calls.is_open(key):
                calls.finish(key, content.text, failed=failed)
            elif content.text and not content.results:  # no call is known, so the result gets a message of its own
                yield from calls.flush()
                name, text = shortened(text_of(one.get("name"))), shortened(content.text)
                line = f"ran: {name}" if is_own(name) else f"ran: {name}: {text}" if name else text
                yield RawMessage("tool", line, _time(one), key=_first(one, _KEYS))
        elif content.text or not (content.calls or content.results or one.get("tool_calls")):
            yield from calls.flush()
            yield RawMessage(role, content.text, _time(one), text_of(one.get("name")), _first(one, _KEYS))
        for key, what in content.calls:
            yield from calls.begin(key, what, _time(one))
        for made in map(dict_of, list_of(one.get("tool_calls"))):  # the field of chat completions
            function = dict_of(made.get("function"))
            what = described(text_of(function.get("name")), function.get("arguments"))
            yield from calls.begin(text_of(made.get("id")), what, _time(one))
    yield from calls.flush()


def _time(one: Mapping[str, Any]) -> object:
    return next((one[name] for name in _TIMES if one.get(name)), None)


def _first(one: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of the fields that holds an id: a text or a number."""
    return next((str(one[name]) for name in names if isinstance(one.get(name), str | int) and one[name] != ""), "")


Values = Mapping[str, Any]
LINES: Mapping[str, Callable[[str], Transcript]] = {
    claude_code.SOURCE: claude_code.read_claude_code,
    codex.SOURCE: codex.read_codex,
    gemini.SOURCE: gemini.read_gemini,
    copilot.SOURCE: copilot.read_copilot,
    SOURCE: lambda path: read_plain(path, lambda skipped: _lines(path, skipped)),
}
"""The reader of each format in which a file is one conversation."""
About = Callable[[Values], tuple[str, str, str]]
"""Gives the key, the title and the start time of a conversation."""
ReadExport = Callable[[Values, Counter[str]], Iterator[RawMessage]]
EXPORTS: Mapping[str, tuple[About, ReadExport]] = {
    exports.CHATGPT: (exports.about_chatgpt, exports.read_chatgpt),
    exports.CLAUDE_AI: (exports.about_claude_ai, exports.read_claude_ai),
    exports.CLINE: (exports.about_cline, exports.read_cline),
}
"""The readers of each format in which an object is a conversation."""


def formats_of(values: Values) -> Iterator[str]:
    """The formats whose keys an object or a line has, the likeliest first."""
    kind = values.get("type")
    is_node = "parentUuid" in values or "leafUuid" in values or ("sessionId" in values and "type" in values)
    if is_node and "role" not in values:
        yield claude_code.SOURCE
    if codex.is_codex(values):
        yield codex.SOURCE
    is_message = kind in gemini.TYPES and "id" in values and "content" in values and "role" not in values
    if is_message or "projectHash" in values or isinstance(values.get("$set"), dict):
        yield gemini.SOURCE
    if "." in text_of(kind) and isinstance(values.get("data"), dict) and "parentId" in values:
        yield copilot.SOURCE
    if is_plain(values):
        yield SOURCE
    if isinstance(values.get("mapping"), dict):
        yield exports.CHATGPT
    if isinstance(values.get("chat_messages"), list):
        yield exports.CLAUDE_AI
    if isinstance(values.get("messages"), list) and "sessionId" in values and "agent" in values:
        yield exports.CLINE


_COMPRESSED = {
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -d"), b"\x1f\x8b": ("gzip", "gunzip"), b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ": ("xz", "unxz"),
}  # fmt: skip
_ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OURS = (b'"memcli/', b'"schema_version"', b'"type":"entity"', b'"type": "entity"', b"# Memory of ")
_HEAD = 1 << 13
_REACH = 32 << 20
_MOST_TRIED = 1_000
"""The bytes and objects of a file that are read to detect its format."""
_HINT = (
    "use JSON Lines with `role` and `content`, a session of Claude Code, Codex, Gemini CLI, Copilot CLI, Cline or opencode, or "
    "an export of ChatGPT or Claude.ai"
)


def conversations(path: str, skipped: Counter[str] | None = None) -> Iterator[Transcript]:
    """The conversations in a transcript or an export; `skipped` counts, by reason, the parts that belong to none of them.

    The file is opened for the first one. Raises NotFoundError, StoreError, UsageError for a file that is no transcript, and
    CorruptError for an archive that is damaged or made to do harm.
    """
    skipped = Counter() if skipped is None else skipped
    path, only = part_of(path)
    where = show(path)
    with open_file(path) as file:
        head = file.read(_HEAD)
        file.seek(0)
        if head.startswith(opencode.MARK):
            yield from opencode.read_opencode(path, only, skipped)
            return
        if head.startswith(_ARCHIVES):
            yield from _in_archive(file, path, skipped)
            return
        if not head.strip():
            raise UsageError(f"{where}: the file is empty", "name a transcript or an export")
        for mark, (name, command) in _COMPRESSED.items():
            if head.startswith(mark):
                raise UsageError(f"{where}: compressed with {name}", f"unpack it first: {command} FILE")
        if b"\0" in head:
            raise UsageError(f"{where}: not a transcript, but a binary file", _HINT)
        first = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        tried: Counter[str] = Counter()
        if first != b"[" and (source := _source({*LINES, *EXPORTS}, _lines(path, tried, _REACH))) in LINES:
            yield LINES[source](path)
        elif first in (b"[", b"{") and (source := _source(EXPORTS.keys(), _objects(path, tried))):
            yield from _exported(source, file, skipped)
        elif first == b"[" and _source({SOURCE}, _objects(path, tried)):
            yield read_plain(path, lambda skipped: _objects(path, skipped))
        else:
            raise _foreign(where, head, tried)


def _foreign(where: str, head: bytes, tried: Counter[str]) -> UsageError:
    """The error for a file without conversations, by its first bytes and the counts of a failed detection."""
    if any(mark in head for mark in _OURS):
        return UsageError(f"{where}: not a transcript, but memories", "use `memcli import`")
    if tried[reasons.TOO_LONG]:
        return UsageError(f"{where}: has lines or conversations above {MAX_BYTES >> 20} MiB", "split it")
    if tried[reasons.CUT] and head.lstrip().startswith((b"{", b"[")):
        return UsageError(f"{where}: cut off before the end of the first conversation", "export it again")
    return UsageError(f"{where}: not a transcript", _HINT)


def _in_archive(file: IO[bytes], path: str, skipped: Counter[str]) -> Iterator[Transcript]:
    """The conversations in all files of an archive. Raises UsageError if there are none."""
    # All files are read to their ends first, where the check sum shows damage: nothing is imported from a damaged archive.
    sources = {}
    with files.open_archive(file, path) as (content, members):
        # ChatGPT spreads a large export over several files.
        for member in members:
            with files.damage_reported(path), content.open(member) as part:
                if source := _source(EXPORTS.keys(), _values(part, Counter())):
                    sources[member] = source
                    while part.read(BLOCK):
                        pass
        if not sources:
            raise UsageError(f"{show(path)}: no conversations in the archive", _HINT)
        for member, source in sources.items():
            with files.damage_reported(path), content.open(member) as part:
                yield from _exported(source, part, skipped)


def _exported(source: str, file: IO[bytes], skipped: Counter[str]) -> Iterator[Transcript]:
    """The conversations of a format among the objects of a file; other objects are counted."""
    # Each is held as bytes and parsed again for its messages: its values take ten times as much memory.
    about, read = EXPORTS[source]
    for data in elements(file, skipped):
        values = object_in(data, skipped, reasons.CONVERSATION)
        if values is not None and source not in formats_of(values):
            skipped[reasons.CONVERSATION] += 1
        elif values is not None:
            key, title, started_at = about(values)
            again = partial(_read_again, read, data)
            yield parsed(source, key, again, title=title, started_at=started_at)


def _read_again(read: ReadExport, data: bytes, skipped: Counter[str]) -> Iterator[RawMessage]:
    return read(parse(data), skipped)


def _source(formats: Collection[str], objects: Iterable[Values]) -> str:
    """The format of the first object that has one of `formats`, or ""."""
    for _, values in zip(range(_MOST_TRIED), objects, strict=False):
        for name in formats_of(values):
            if name in formats:
                return name
    return ""


def _lines(path: str, skipped: Counter[str], reach: int | None = None) -> Iterator[dict[str, Any]]:
    return (values for _, values in read_lines(path, skipped, reach))


def _objects(path: str, skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    with open_file(path) as file:
        yield from _values(file, skipped)


def _values(file: IO[bytes], skipped: Counter[str]) -> Iterator[dict[str, Any]]:
    for data in elements(file, skipped):
        value = object_in(data, skipped, reasons.MALFORMED)
        if value is not None:
            yield value
