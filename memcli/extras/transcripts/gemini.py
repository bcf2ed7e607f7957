"""Sessions of Gemini CLI: a log in which a message is written again, whole, whenever it changes.

`$set` with `messages` replaces the context of the model, as with a summary after a compaction; it neither adds to the
conversation nor removes from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import call_message, described, split, without_reminders
from memcli.extras.transcripts.files import head_lines, object_on, open_file, read_lines, stem_of
from memcli.extras.transcripts.transcript import RawMessage, Transcript, number_of, parsed
from memcli.extras.transcripts.values import MAX_BYTES, dict_of, list_of, moment, text_of

SOURCE = "gemini"
_ROLES = {"user": "user", "gemini": "assistant"}
TYPES = (*_ROLES, "info", "warning", "error")
# Each takes some 170 bytes in memory until the file is read to its end.
_MOST_MESSAGES = 200_000
"""The most messages that are read."""


def read_gemini(path: str) -> Transcript:
    """The session in a file. Raises what `open_file` raises."""
    head = gemini_head(path)
    return parsed(
        SOURCE,
        text_of(head.get("sessionId")) or stem_of(path),
        partial(_read, path),
        started_at=moment(head.get("startTime")),
    )


def gemini_head(path: str) -> dict[str, Any]:
    """The fields of a session: `sessionId`, `projectHash`, `startTime`. Raises what `open_file` raises."""
    return next((line for line in head_lines(path) if "projectHash" in line), {})


def _read(path: str, skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a session, each in its last version."""
    # The offset of the last version of each message, in the order of their first versions, without those that were rewound.
    found: dict[int, int] = {}
    for offset, line in read_lines(path, skipped):
        key, rewound = text_of(line.get("id")), text_of(line.get("$rewindTo"))
        if rewound:  # removes this message and all behind it; an unknown id removes nothing
            before = len(found)
            while number_of(rewound) in found:
                found.popitem()
            skipped[reasons.BRANCH] += before - len(found)
        elif not key or text_of(line.get("type")) not in _ROLES:
            skipped[reasons.META] += 1
        elif (number := number_of(key)) in found or len(found) < _MOST_MESSAGES:
            skipped[reasons.REPEATED] += number in found
            found[number] = offset
        else:
            skipped[reasons.TOO_LONG] += 1
    with open_file(path) as file:
        for offset in found.values():
            file.seek(offset)
            message = object_on(file.readline(MAX_BYTES + 1), skipped, is_first=offset == 0)
            if message is not None:
                yield from _message(message, skipped)


def _message(line: Mapping[str, Any], skipped: Counter[str]) -> Iterator[RawMessage]:
    """A message and its calls."""
    # `displayContent` is a prompt as the user typed it; `content` has the files in it that the prompt names.
    role, at = _ROLES.get(text_of(line.get("type")), "user"), line.get("timestamp")
    content = (line.get("displayContent") if role == "user" else None) or line.get("content")
    parts = (
        [part for part in content if dict_of(part).get("thought") is not True] if isinstance(content, list) else content
    )
    whole = split(parts, skipped).text
    text = without_reminders(whole).strip() if role == "user" else whole
    if text:
        yield RawMessage(role, text, at, key=text_of(line.get("id")))
    elif whole:
        skipped[reasons.INJECTED] += 1
    for call in map(dict_of, list_of(line.get("toolCalls"))):
        what = described(text_of(call.get("name")), call.get("args"))
        failure = _error(call) if call.get("status") == "error" else None
        yield call_message(what, call.get("timestamp") or at, text_of(call.get("id")), failure)


def _error(call: Mapping[str, Any]) -> str:
    """The output of a call that failed."""
    for part in list_of(call.get("result")):
        response = dict_of(dict_of(dict_of(part).get("functionResponse")).get("response"))
        if error := text_of(response.get("error")) or text_of(response.get("output")):
            return error
    return text_of(call.get("resultDisplay"))
