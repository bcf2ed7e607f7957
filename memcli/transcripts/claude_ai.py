"""Conversations of a Claude.ai export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.transcripts import reasons
from memcli.transcripts.blocks import Content, split
from memcli.transcripts.times import moment
from memcli.transcripts.tools import OpenCalls, shortened
from memcli.transcripts.transcript import ConversationInfo, Said, digest
from memcli.transcripts.values import dict_of, list_of, text_of

SOURCE = "claude-ai"
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_PARENT = "parent_message_uuid"


def is_claude_ai(one: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a conversation."""
    return isinstance(one.get("chat_messages"), list)


def about_claude_ai(one: Mapping[str, Any]) -> ConversationInfo:
    """What a conversation says of itself."""
    title, created = text_of(one.get("name")), text_of(one.get("created_at"))
    return ConversationInfo(text_of(one.get("uuid")) or digest(title, created), title, moment(created))


def read_claude_ai(one: Mapping[str, Any], skipped: Counter[str]) -> Iterator[Said]:
    """What was said in a conversation."""
    calls = OpenCalls(skipped)
    for message in _line(one, skipped):
        role = _ROLES.get(text_of(message.get("sender")))
        if role is None:
            skipped[reasons.ROLE] += 1
            continue
        content = _content(message, skipped)
        at, key = message.get("created_at"), text_of(message.get("uuid"))
        text = "\n\n".join(part for part in (content.text, *_attached(message, skipped)) if part)
        if text or not content.calls:
            yield from calls.flush()
            yield Said(role, text, at, key=key)
        for number, (name, what) in enumerate(content.calls):
            yield from calls.begin(name or f"{key}-{number}", what, at)
        for result in content.results:
            calls.finish(result.key, result.output, failed=result.failed)
    yield from calls.flush()


def _line(one: Mapping[str, Any], skipped: Counter[str]) -> list[dict[str, Any]]:
    """The messages in order; of those that answer the same one, where newer exports say so, the line to the last."""
    messages = [message for message in list_of(one.get("chat_messages")) if isinstance(message, dict)]
    if broken := len(list_of(one.get("chat_messages"))) - len(messages):
        skipped[reasons.MALFORMED] += broken
    by_key = {text_of(message.get("uuid")): message for message in messages}
    parents = [parent for message in messages if (parent := text_of(message.get(_PARENT))) in by_key]
    if len(parents) == len(set(parents)):
        return messages
    chain: dict[str, dict[str, Any]] = {}
    message: dict[str, Any] | None = messages[-1]
    while message is not None and text_of(message.get("uuid")) not in chain:
        chain[text_of(message.get("uuid"))] = message
        message = by_key.get(text_of(message.get(_PARENT)))
    skipped[reasons.BRANCH] += len(messages) - len(chain)
    return [*reversed(chain.values())]


def _content(message: Mapping[str, Any], skipped: Counter[str]) -> Content:
    """What the blocks hold; older exports, and some messages of newer ones, have only the text."""
    content = split(list_of(message.get("content")), skipped)
    return content if content.text else content._replace(text=text_of(message.get("text")))


def _attached(message: Mapping[str, Any], skipped: Counter[str]) -> Iterator[str]:
    """A line for each attached text: its name and how it begins."""
    for attachment in list_of(message.get("attachments")):
        values = dict_of(attachment)
        if text := shortened(text_of(values.get("extracted_content"))):
            yield f"[attached {text_of(values.get('file_name')) or 'text'}: {text}]"
        else:
            skipped[reasons.ATTACHMENT] += 1
    if files := len(list_of(message.get("files"))):
        skipped[reasons.ATTACHMENT] += files
