"""Sessions of Claude Code: a tree of lines, each with one block of a message; the main line of it is read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from memcli.record import Record
from memcli.transcripts import reasons
from memcli.transcripts.blocks import Content, split
from memcli.transcripts.files import object_on, open_file, read_lines, stem_of
from memcli.transcripts.injected import is_command, without_reminders
from memcli.transcripts.main_line import BETWEEN, MESSAGE, QUIET_RESULTS, RESULTS, SIDE, Nodes
from memcli.transcripts.times import moment
from memcli.transcripts.tools import OpenCalls
from memcli.transcripts.transcript import ParsedTranscript, Said
from memcli.transcripts.values import MAX_BYTES, dict_of, list_of, text_of

SOURCE = "claude-code"
_TITLES = {"custom-title": "customTitle", "agent-name": "agentName", "ai-title": "aiTitle", "summary": "summary"}
"""The lines with a title and its field, the best first."""
_LOST = "lost"
"""The parent that a line has where it has one that is not known."""


def is_claude_code(line: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a line of Claude Code."""
    return "role" not in line and (
        "parentUuid" in line or "leafUuid" in line or ("sessionId" in line and "type" in line)
    )


def read_claude_code(path: str) -> ParsedTranscript:
    """The session in a file. Raises what `open_file` raises."""
    survey = _survey(path)

    def read(skipped: Counter[str]) -> Iterator[Said]:
        skipped.update(survey.skipped)
        return _read(path, survey.nodes, skipped)

    title = next((survey.titles[name] for name in _TITLES if survey.titles.get(name)), "")
    return ParsedTranscript(
        SOURCE, survey.session or stem_of(path), read, title=title, started_at=survey.started_at, cwd=survey.cwd
    )


class _Survey(Record, frozen=False):
    """What the first pass over a file found."""

    nodes: Nodes
    skipped: Counter[str]
    titles: dict[str, str]
    session: str = ""
    started_at: str = ""
    cwd: str = ""


def _survey(path: str) -> _Survey:
    survey = _Survey(nodes=Nodes(), skipped=Counter(), titles={})
    for offset, line in read_lines(path, survey.skipped):
        line_type = text_of(line.get("type"))
        if title := text_of(line.get(_TITLES.get(line_type, ""))):
            survey.titles[line_type] = title
        key = text_of(line.get("uuid"))
        if not key:
            survey.skipped[reasons.META] += 1
            continue
        kind, reason = _kind(line)
        if reason:
            survey.skipped[reason] += 1
        if kind != SIDE:
            survey.session = text_of(line.get("sessionId")) or survey.session
            survey.cwd = survey.cwd or text_of(line.get("cwd"))
            survey.started_at = survey.started_at or moment(line.get("timestamp"))
        group = text_of(dict_of(line.get("message")).get("id")) if line_type == "assistant" else ""
        survey.nodes.add(offset, kind, key, _parent(line), group)
    if files := _subagents(path):
        survey.skipped[reasons.SUBAGENT] += files
    return survey


def _parent(line: Mapping[str, Any]) -> str:
    """The id of the line before. After a compaction there may be none, though something was said before."""
    parent = text_of(line.get("parentUuid")) or text_of(line.get("logicalParentUuid"))
    is_compaction = line.get("subtype") == "compact_boundary" or line.get("isCompactSummary") is True
    return parent or (_LOST if is_compaction else "")


def _kind(line: Mapping[str, Any]) -> tuple[int, str]:
    """What a line is to the tree, and why it gives no message."""
    kind = line.get("type")
    if line.get("isSidechain") is True:
        return SIDE, ""
    if kind == "attachment":
        return (MESSAGE, "") if _queued(line) is not None else (BETWEEN, reasons.INJECTED)
    if kind not in ("user", "assistant"):
        return BETWEEN, reasons.META
    content = dict_of(line.get("message")).get("content")
    results = [block for block in list_of(content) if dict_of(block).get("type") == "tool_result"]
    if kind == "assistant" or not results:
        return MESSAGE, ""
    if len(results) < len(list_of(content)) or any(block.get("is_error") is True for block in results):
        return RESULTS, ""
    return QUIET_RESULTS, ""


def _queued(line: Mapping[str, Any]) -> Any:
    """What the user wrote while the model was at work, which is noted as an attachment; None for other ones."""
    attachment = dict_of(line.get("attachment"))
    if attachment.get("type") != "queued_command" or attachment.get("commandMode", "prompt") != "prompt":
        return None
    return attachment.get("prompt") if _is_human(attachment) and attachment.get("isMeta") is not True else None


def _is_human(values: Mapping[str, Any]) -> bool:
    """Whether a person wrote it, as far as newer versions say."""
    return dict_of(values.get("origin")).get("kind", "human") == "human" and values.get("promptSource") != "system"


def _subagents(path: str) -> int:
    """The files with sessions of subagents beside that of their main session."""
    with suppress(OSError):
        names = os.listdir(os.path.join(os.path.splitext(path)[0], "subagents"))
        return sum(name.startswith("agent-") and name.endswith(".jsonl") for name in names)
    return 0


def _read(path: str, nodes: Nodes, skipped: Counter[str]) -> Iterator[Said]:
    calls = OpenCalls(skipped)
    with open_file(path) as file:
        for offsets in nodes.main_line(skipped):
            lines = []
            for offset in offsets:
                file.seek(offset)
                line = object_on(file.readline(MAX_BYTES + 1), skipped, is_first=offset == 0)
                if line is not None:
                    lines.append(line)
            if lines:
                is_answer = lines[0].get("type") == "assistant"
                yield from (_answer if is_answer else _prompt)(lines, calls, skipped)
    yield from calls.flush()


def _answer(lines: list[dict[str, Any]], calls: OpenCalls, skipped: Counter[str]) -> Iterator[Said]:
    """The lines of one message of the model, and its calls."""
    first = lines[0]
    if first.get("isApiErrorMessage") is True or dict_of(first.get("message")).get("model") == "<synthetic>":
        skipped[reasons.COMMAND] += len(lines)
        return
    contents = [split(dict_of(line.get("message")).get("content"), skipped) for line in lines]
    # Some versions write a block again when the next one arrives.
    texts = list(dict.fromkeys(content.text for content in contents if content.text))
    if texts:
        yield from calls.flush()
        yield Said("assistant", "\n\n".join(texts), first.get("timestamp"), key=text_of(first.get("uuid")))
    for line, content in zip(lines, contents, strict=True):
        for key, what in content.calls:
            yield from calls.begin(key, what, line.get("timestamp"))


def _prompt(lines: list[dict[str, Any]], calls: OpenCalls, skipped: Counter[str]) -> Iterator[Said]:
    """A line of the user: what was said, or results of tools."""
    (line,) = lines
    queued = _queued(line) if line.get("type") == "attachment" else None
    content = split(dict_of(line.get("message")).get("content") if queued is None else queued, skipped)
    for result in content.results:
        calls.finish(result.key, result.output, failed=result.failed)
    if reason := _reason(line, content):
        skipped[reason] += 1
        return
    if text := without_reminders(content.text).strip():
        yield from calls.flush()
        yield Said("user", text, line.get("timestamp"), key=text_of(line.get("uuid")))
    elif content.text:
        skipped[reasons.INJECTED] += 1


def _reason(line: Mapping[str, Any], content: Content) -> str:
    """Why a line of the user is none."""
    if line.get("isCompactSummary") is True:
        return reasons.COMPACTION
    if line.get("isMeta") is True or not _is_human(line):
        return reasons.INJECTED
    return reasons.COMMAND if is_command(content.text) else ""
