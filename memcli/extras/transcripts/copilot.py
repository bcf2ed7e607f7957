"""Sessions of GitHub Copilot CLI: a log of events."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import partial

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import OpenCalls, described, plain, without_reminders
from memcli.extras.transcripts.files import head_lines, read_lines
from memcli.extras.transcripts.transcript import RawMessage, Transcript, parsed
from memcli.extras.transcripts.values import dict_of, list_of, moment, text_of
from memcli.model.names import readable

SOURCE = "copilot"
_START = "session.start"
_REASONS = {
    "system.message": reasons.SYSTEM, "session.compaction_complete": reasons.COMPACTION,
    "assistant.reasoning": reasons.THINKING, "tool.execution_start": reasons.REPEATED,
}  # fmt: skip


def read_copilot(path: str) -> Transcript:
    """The session in a file, which is named as all are, in a folder named by its id. Raises what `open_file` raises."""
    head = next((dict_of(line.get("data")) for line in head_lines(path) if line.get("type") == _START), {})
    key = text_of(head.get("sessionId")) or readable(os.path.basename(os.path.dirname(os.path.abspath(path))))
    cwd = text_of(dict_of(head.get("context")).get("cwd"))
    return parsed(SOURCE, key, partial(_read, path), started_at=moment(head.get("startTime")), cwd=cwd)


def _read(path: str, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a session, without those of subagents."""
    calls = OpenCalls(skipped)
    for _, line in read_lines(path, skipped):
        kind, data = text_of(line.get("type")), dict_of(line.get("data"))
        at, key = line.get("timestamp"), text_of(line.get("id"))
        if line.get("agentId") or data.get("parentToolCallId"):
            skipped[reasons.SIDE] += 1
        elif kind == "user.message":
            text = without_reminders(text_of(data.get("content"))).strip()
            # A message of a skill or another part of the program has a source.
            if data.get("source") not in (None, "", "user") or not text:
                skipped[reasons.INJECTED] += 1
                continue
            yield from calls.flush()
            yield RawMessage("user", text, at, key=key)
        elif kind == "assistant.message":
            if text := text_of(data.get("content")):
                yield from calls.flush()
                yield RawMessage("assistant", text, at, key=key)
            for call in map(dict_of, list_of(data.get("toolRequests"))):
                what = described(text_of(call.get("name")), call.get("arguments"))
                # The event at the start of a call says the same again, and is counted as repeated.
                yield from calls.begin(text_of(call.get("toolCallId")), what, at)
        elif kind == "tool.execution_complete":
            failed = data.get("success") is False
            output = dict_of(data.get("error")).get("message") or data.get("result")
            calls.finish(text_of(data.get("toolCallId")), plain(output) if failed else "", failed=failed)
        else:
            skipped[_REASONS.get(kind, reasons.META)] += 1
    yield from calls.flush()
