"""Rollouts of Codex, in the current format and in the flat format of the first versions."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import OpenCalls, codex_request, described, plain, says_failed, split
from memcli.extras.transcripts.files import head_lines, open_file, read_lines, stem_of
from memcli.extras.transcripts.transcript import RawMessage, Transcript, parsed
from memcli.extras.transcripts.values import dict_of, list_of, moment, parse, text_of

SOURCE = "codex"
_ITEM = "response_item"
_EVENT = "event_msg"
_WRAPPED = ("session_meta", "turn_context", _ITEM, _EVENT, "compacted", "world_state")
_MESSAGE_EVENTS = ("user_message", "agent_message")
_FLAT_PARTS = ("input_text", "output_text")
_FOLDER = re.compile(r"<cwd>([^<]+)</cwd>|Current working directory: ([^\n]+)")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def is_codex(line: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a line of Codex, in the current format or in that of the first versions."""
    if "payload" in line:
        return line.get("type") in _WRAPPED
    if "record_type" in line or ("instructions" in line and "timestamp" in line and "role" not in line):
        return True
    return any(dict_of(part).get("type") in _FLAT_PARTS for part in list_of(line.get("content")))


def read_codex(path: str) -> Transcript:
    """The session in a file. Raises what `open_file` raises."""
    head = head_of(path)
    stem = stem_of(path)
    found = _ID.search(stem)
    key = text_of(head.get("id")) or text_of(head.get("session_id")) or (found[0] if found else stem)
    cwd = text_of(head.get("cwd"))
    return parsed(SOURCE, key, partial(_read, path), started_at=moment(head.get("timestamp")), cwd=cwd)


def head_of(path: str) -> dict[str, Any]:
    """The fields of the session in the first lines: `id`, `timestamp`, `cwd`, `source`. Raises what `open_file` raises."""
    head: dict[str, Any] = {}
    for line in head_lines(path):
        if line.get("type") == "session_meta":
            return {"timestamp": line.get("timestamp"), **dict_of(line.get("payload"))}
        if "payload" not in line and "id" in line and not head:
            head = {**line}
        # The first versions name the folder in a message to the model alone.
        found = _FOLDER.search(plain(_payload(line).get("content")))
        if found and "cwd" not in head:
            head["cwd"] = (found[1] or found[2]).strip()
    return head


def _read(path: str, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a rollout, without the parts that were rolled back."""
    calls = OpenCalls(skipped)
    has_items = _has_items(path)
    take = _item if has_items else _event
    begins, ends = _taken_back(path, has_items=has_items)
    for offset, line in read_lines(path, skipped):
        place = bisect_right(begins, offset) - 1
        if place >= 0 and offset < ends[place]:
            skipped[reasons.BRANCH] += 1
            continue
        payload = _payload(line)
        kind = line.get("type") if "payload" in line else _ITEM
        at = line.get("timestamp")
        if kind == "compacted":
            skipped[reasons.COMPACTION] += 1
        elif kind in (_ITEM, _EVENT):
            yield from take(text_of(kind), payload, at, calls, skipped)
        else:
            skipped[reasons.META] += 1
    yield from calls.flush()


def _payload(line: Mapping[str, Any]) -> Mapping[str, Any]:
    return dict_of(line["payload"]) if "payload" in line else line


def _has_items(path: str) -> bool:
    """Whether the messages are to be read from items, and not from events."""
    # Events repeat the items, but some files have nothing else.
    has_events = False
    for _, line in read_lines(path, Counter()):
        payload = _payload(line)
        is_item = line.get("type") == _ITEM or "payload" not in line
        if is_item and payload.get("role") in ("user", "assistant") and _text(payload, Counter()):
            return True
        has_events = has_events or payload.get("type") in _MESSAGE_EVENTS
    return not has_events


def _item(
    kind: str, payload: Mapping[str, Any], at: object, calls: OpenCalls, skipped: Counter[str]
) -> Iterator[RawMessage]:
    """The messages of one line in a file whose items are read."""
    name = text_of(payload.get("type"))
    key = text_of(payload.get("call_id")) or text_of(payload.get("id"))
    if kind == _EVENT:
        skipped[reasons.REPEATED] += 1
        _note_end(name, payload, calls)
    elif "role" in payload:
        role = payload.get("role")
        if role not in ("user", "assistant"):
            skipped[reasons.SYSTEM if role in ("developer", "system") else reasons.ROLE] += 1
        elif text := _text(payload, skipped):
            yield from calls.flush()
            yield RawMessage(text_of(role), text, at)
    # By its end, since each kind of tool has types of its own, such as `function_call` and `custom_tool_call`.
    elif name.endswith("_output"):
        output = payload.get("output")
        if isinstance(output, str) and output.startswith("{"):  # older versions write it as JSON in a text
            with suppress(ValueError):
                output = dict_of(parse(output.encode("utf-8", "replace"))) or output
        text, values = plain(output), dict_of(output)
        failed = values.get("success") is False or says_failed(text)
        calls.finish(key, text, failed=failed or dict_of(values.get("metadata")).get("exit_code") not in (0, None))
    elif name.endswith("_call"):
        # Of a tool of an MCP server, the name of the server is in a field of its own.
        tool = text_of(payload.get("namespace")) + (text_of(payload.get("name")) or name.removesuffix("_call"))
        arguments = payload.get("arguments") or payload.get("input") or payload.get("action")
        yield from calls.begin(key, described(tool, arguments), at)
        if text_of(payload.get("status")) == "failed":
            calls.finish(key, "", failed=True)
    else:
        skipped[reasons.THINKING if name == "reasoning" else reasons.META] += 1


def _text(payload: Mapping[str, Any], skipped: Counter[str]) -> str:
    """The text of a message, without the blocks that Codex wrote in the name of the user."""
    text = split(payload.get("content"), skipped).text
    if payload.get("role") == "user" and text:
        content = payload.get("content")
        parts = content if isinstance(content, list) else [content]
        blocks = [codex_request(split([part], Counter()).text) for part in parts]
        text = "\n\n".join(block for block in blocks if block)
        if not text:
            skipped[reasons.INJECTED] += 1
    return text


def _event(
    kind: str, payload: Mapping[str, Any], at: object, calls: OpenCalls, skipped: Counter[str]
) -> Iterator[RawMessage]:
    """The messages of one line in a file that has only events."""
    name = text_of(payload.get("type"))
    if kind == _EVENT and name in _MESSAGE_EVENTS:
        is_user = name == "user_message"
        text = text_of(payload.get("message"))
        yield from calls.flush()
        yield RawMessage("user" if is_user else "assistant", codex_request(text) if is_user else text, at)
    elif kind == _EVENT and name == "exec_command_end":
        yield from calls.begin(
            text_of(payload.get("call_id")), described("shell", {"command": payload.get("command")}), at
        )
        _note_end(name, payload, calls)
    else:
        skipped[reasons.THINKING if name.startswith("agent_reasoning") else reasons.META] += 1


def _note_end(name: str, payload: Mapping[str, Any], calls: OpenCalls) -> None:
    """Adds the result of a call from the event at its end."""
    # The output of a call does not always show that it failed; the event does.
    key = text_of(payload.get("call_id"))
    if name.endswith("_end") and calls.is_open(key):
        failed = payload.get("exit_code") not in (0, None) or payload.get("success") is False
        output = text_of(payload.get("aggregated_output")) or text_of(payload.get("stderr"))
        calls.finish(key, output, failed=failed)


_ROLLED_BACK = "thread_rolled_back"


def _taken_back(path: str, *, has_items: bool) -> tuple[list[int], list[int]]:
    """The start and end offsets of the parts of a file that were rolled back, each from a prompt to the line that removes it.
    The parts are disjoint and in order."""
    begins, ends = list[int](), list[int]()
    if not _has_rollback(path):
        return begins, ends
    turns = array("Q")
    for offset, line in read_lines(path, Counter()):
        payload = _payload(line)
        kind = line.get("type") if "payload" in line else _ITEM
        is_prompt = kind == _EVENT and payload.get("type") == "user_message"
        if has_items:
            is_prompt = kind == _ITEM and payload.get("role") == "user" and bool(_text(payload, Counter()))
        if is_prompt:
            turns.append(offset)
        elif "payload" in line and payload.get("type") == _ROLLED_BACK and turns:
            number = payload.get("num_turns")
            number = min(number, len(turns)) if isinstance(number, int) and number > 0 else 0
            if number:
                # This part ends behind all before it, so it contains those that start behind its start.
                while begins and begins[-1] >= turns[-number]:
                    begins.pop()
                    ends.pop()
                begins.append(turns[-number])
                ends.append(offset)
                del turns[-number:]
    return begins, ends


def _has_rollback(path: str) -> bool:
    """Whether the file may have a line that rolls back turns, by a search in its bytes without parsing any line."""
    mark = _ROLLED_BACK.encode()
    with open_file(path) as file:
        rest = b""
        while block := file.read(1 << 20):
            if mark in rest + block:
                return True
            rest = block[-len(mark) :]
    return False
