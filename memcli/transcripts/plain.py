"""Messages with `role` and `content`, one a line or in one array, as many programs write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from memcli.transcripts import reasons
from memcli.transcripts.content import Content, OpenCalls, described, is_own, plain, says_failed, shortened, split
from memcli.transcripts.files import stem_of
from memcli.transcripts.transcript import ParsedTranscript, Said, digest
from memcli.transcripts.values import dict_of, list_of, moment, text_of

SOURCE = "jsonl"
_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant",
    "bot": "assistant", "tool": "tool", "function": "tool", "system": "", "developer": "",
}  # fmt: skip
_TIMES = ("timestamp", "created_at", "create_time", "time", "ts", "at", "date")
_KEYS = ("id", "uuid", "message_id")
_SESSIONS = ("session_id", "sessionId", "conversation_id", "thread_id")

Objects = Callable[[Counter[str]], Iterator[dict[str, Any]]]
"""Reads the objects of a file, and counts what is none."""


def is_plain(line: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a message."""
    return isinstance(line.get("role"), str) and ("content" in line or "tool_calls" in line)


def read_plain(path: str, objects: Objects) -> ParsedTranscript:
    """The conversation that all messages of a file make. Raises what `objects` raises.

    Its key, where no field gives one, is the name of the file with a digest of the first message: a file that grew
    has the same.
    """

    first = next((one for one in objects(Counter()) if is_plain(one)), {})
    key = _first(first, _SESSIONS) or f"{stem_of(path)}-{digest(str(first.get('role')), plain(first.get('content')))}"
    return ParsedTranscript(SOURCE, key, partial(_read, objects), started_at=moment(_time(first)))


def _read(objects: Objects, skipped: Counter[str]) -> Iterator[Said]:
    calls = OpenCalls(skipped)
    for one in objects(skipped):
        if not is_plain(one):
            skipped[reasons.META] += 1
            continue
        role = _ROLES.get(one["role"].lower())
        content = split("" if one.get("content") is None else one.get("content"), skipped)
        for result in content.results:
            calls.finish(result.key, result.output, failed=result.failed)
        if not role:
            skipped[reasons.ROLE if role is None else reasons.SYSTEM] += 1
        elif role == "tool":
            yield from _of_tool(one, content, calls)
        elif content.text or not (content.calls or content.results or one.get("tool_calls")):
            yield from calls.flush()
            yield Said(role, content.text, _time(one), text_of(one.get("name")), _first(one, _KEYS))
        for key, what in (*content.calls, *_tool_calls(one)):
            yield from calls.begin(key, what, _time(one))
    yield from calls.flush()


def _of_tool(one: Mapping[str, Any], content: Content, calls: OpenCalls) -> Iterator[Said]:
    """What a tool said: the result of a call, or else a line of its own."""
    key = text_of(one.get("tool_call_id"))
    failed = one.get("is_error") is True or says_failed(content.text)
    if calls.is_open(key):
        calls.finish(key, content.text, failed=failed)
    elif content.text and not content.results:
        yield from calls.flush()
        name, text = shortened(text_of(one.get("name"))), shortened(content.text)
        line = f"ran: {name}" if is_own(name) else f"ran: {name}: {text}" if name else text
        yield Said("tool", line, _time(one), key=_first(one, _KEYS))


def _tool_calls(one: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The calls in the field that chat completions have for them."""
    for call in list_of(one.get("tool_calls")):
        function = dict_of(dict_of(call).get("function"))
        yield text_of(dict_of(call).get("id")), described(text_of(function.get("name")), function.get("arguments"))


def _time(one: Mapping[str, Any]) -> object:
    return next((one[name] for name in _TIMES if one.get(name)), None)


def _first(one: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of the fields that holds an id: a text or a number."""
    return next((str(one[name]) for name in names if isinstance(one.get(name), str | int) and one[name] != ""), "")
