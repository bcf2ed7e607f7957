"""Sessions of GitHub Copilot CLI: a log of events."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import OpenCalls, described, plain, without_reminders
from memcli.extras.transcripts.files import head_lines, read_lines
from memcli.extras.transcripts.transcript import ParsedTranscript, Said
from memcli.extras.transcripts.values import dict_of, list_of, moment, text_of
from memcli.model.names import readable

SOURCE = "copilot"
_START = "session.start"
_REASONS = {
    "system.message": reasons.SYSTEM, "session.compaction_complete": reasons.COMPACTION,
    "assistant.reasoning": reasons.THINKING, "tool.execution_start": reasons.REPEATED,
}  # fmt: skip


def is_copilot(line: Mapping[str, Any]) -> bool:
    """Whether the keys are those of an event of Copilot CLI."""
    return "." in text_of(line.get("type")) and isinstance(line.get("data"), dict) and "parentId" in line


def read_copilot(path: str) -> ParsedTranscript:
    """The session in a file, which is named as all are, in a folder named by its id. Raises what `open_file` raises."""
    head = next((dict_of(line.get("data")) for line in head_lines(path) if line.get("type") == _START), {})
    key = text_of(head.get("sessionId")) or readable(os.path.basename(os.path.dirname(os.path.abspath(path))))
    cwd = text_of(dict_of(head.get("context")).get("cwd"))
    return ParsedTranscript(SOURCE, key, partial(_read, path), started_at=moment(head.get("startTime")), cwd=cwd)


def _read(path: str, skipped: Counter[str]) -> Iterator[Said]:
    calls = OpenCalls(skipped)
    for _, line in read_lines(path, skipped):
        kind, data = text_of(line.get("type")), dict_of(line.get("data"))
        if line.get("agentId") or data.get("parentToolCallId"):
            skipped[reasons.SIDE] += 1
        elif kind == "user.message":
            yield from _prompt(line, data, calls, skipped)
        elif kind == "assistant.message":
            yield from _answer(line, data, calls)
        elif kind == "tool.execution_complete":
            failed = data.get("success") is False
            output = dict_of(data.get("error")).get("message") or data.get("result")
            calls.finish(text_of(data.get("toolCallId")), plain(output) if failed else "", failed=failed)
        else:
            skipped[_REASONS.get(kind, reasons.META)] += 1
    yield from calls.flush()


def _prompt(
    line: Mapping[str, Any], data: Mapping[str, Any], calls: OpenCalls, skipped: Counter[str]
) -> Iterator[Said]:
    """What the user wrote; what a skill or another part of the program wrote has a source."""
    text = without_reminders(text_of(data.get("content"))).strip()
    if data.get("source") not in (None, "", "user") or not text:
        skipped[reasons.INJECTED] += 1
        return
    yield from calls.flush()
    yield Said("user", text, line.get("timestamp"), key=text_of(line.get("id")))


def _answer(line: Mapping[str, Any], data: Mapping[str, Any], calls: OpenCalls) -> Iterator[Said]:
    """What the model said, and its calls."""
    at = line.get("timestamp")
    if text := text_of(data.get("content")):
        yield from calls.flush()
        yield Said("assistant", text, at, key=text_of(line.get("id")))
    for call in map(dict_of, list_of(data.get("toolRequests"))):
        what = described(text_of(call.get("name")), call.get("arguments"))
        yield from calls.begin(text_of(call.get("toolCallId")), what, at)
