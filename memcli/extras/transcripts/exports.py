"""Formats in which one object is a conversation: exports of ChatGPT and Claude.ai, and sessions of Cline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import OpenCalls, described, plain, shortened, split, without_reminders
from memcli.extras.transcripts.transcript import RawMessage, digest
from memcli.extras.transcripts.values import dict_of, list_of, moment, text_of

CHATGPT = "chatgpt"
_THOUGHTS = ("thoughts", "reasoning_recap")
_CONTEXTS = ("user_editable_context", "model_editable_context")
# Citations stand between characters of the private use area, which mean nothing outside of ChatGPT.
_CITATION = re.compile("\ue200[^\ue201]*\ue201")
_TRACE = "Traceback (most recent call last)"


def about_chatgpt(one: Mapping[str, Any]) -> tuple[str, str, str]:
    """The key, the title and the start time of a conversation."""
    title, created = text_of(one.get("title")), one.get("create_time")
    key = text_of(one.get("conversation_id")) or text_of(one.get("id"))
    return key or digest(title, str(created), *dict_of(one.get("mapping"))), title, moment(created)


def read_chatgpt(one: Mapping[str, Any], skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a conversation."""
    calls = OpenCalls(skipped)
    latest = ""
    for node, message in _chatgpt_line(one, skipped):
        key = text_of(message.get("id")) or node
        if reason := _reason(message):
            skipped[reason] += 1
            continue
        author = dict_of(message.get("author"))
        role, name = text_of(author.get("role")), text_of(author.get("name"))
        text = _text(message, skipped)
        at = message.get("create_time")
        if role == "tool":
            if not calls.is_open(latest):
                yield from calls.begin(latest := key, described(name, ""), at)
            kind = dict_of(message.get("content")).get("content_type")
            result = dict_of(dict_of(message.get("metadata")).get("aggregate_result"))
            failed = kind == "system_error" or text_of(result.get("status")).startswith("failed")
            calls.finish(latest, text, failed=failed or (kind == "execution_output" and _TRACE in text))
        # Any recipient but `all` is a tool.
        elif role == "assistant" and (recipient := text_of(message.get("recipient")) or "all") != "all":
            yield from calls.begin(latest := key, described(recipient, {"code": text}), at)
        elif text:
            yield from calls.flush()
            speaker = name if role == "user" else ""
            yield RawMessage(role, text, at, speaker, key)
    yield from calls.flush()


def _chatgpt_line(one: Mapping[str, Any], skipped: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages from the root to the current node; in a broken tree all of them, by time."""
    mapping = {key: dict_of(node) for key, node in dict_of(one.get("mapping")).items()}
    messages = {key: message for key, node in mapping.items() if (message := dict_of(node.get("message")))}
    key = text_of(one.get("current_node"))
    if not key:  # the latest of the messages that no other one follows
        followed = {text_of(node.get("parent")) for node in mapping.values()}
        key = next((leaf for leaf in reversed(_by_time(messages)) if leaf not in followed), "")
    chain: dict[str, None] = {}
    while key and key in mapping and key not in chain:
        chain[key] = None
        key = text_of(mapping[key].get("parent"))
    if key or (mapping and not chain):  # a node is missing, or there is a cycle
        skipped[reasons.ORDER] += 1
        order = _by_time(messages)
    else:
        order = [*reversed(chain)]
        skipped[reasons.BRANCH] += len(messages) - sum(key in messages for key in order)
    for key in order:
        if key in messages:
            yield key, messages[key]


def _by_time(messages: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The keys of the messages by time; one without a time stays behind the one before it in the file."""
    times: dict[str, float] = {}
    latest = 0.0
    for key, message in messages.items():
        at = message.get("create_time")
        latest = times[key] = float(at) if isinstance(at, int | float) else latest
    return sorted(messages, key=lambda key: times[key])


def _reason(message: Mapping[str, Any]) -> str:
    """The reason why a message is skipped; empty for one that belongs to the conversation."""
    role = dict_of(message.get("author")).get("role")
    kind = dict_of(message.get("content")).get("content_type")
    if (
        dict_of(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
        or message.get("weight") == 0
    ):
        return reasons.HIDDEN
    if role not in ("user", "assistant", "tool"):
        return reasons.SYSTEM if role == "system" else reasons.ROLE
    if kind in _CONTEXTS:
        return reasons.INJECTED
    return reasons.THINKING if kind in _THOUGHTS or message.get("channel") == "analysis" else ""


def _text(message: Mapping[str, Any], skipped: Counter[str]) -> str:
    """The text of a message of ChatGPT, without citations; code in a fence. Other parts are counted."""
    content = dict_of(message.get("content"))
    texts = []
    for part in list_of(content.get("parts")):
        values = dict_of(part)
        spoken = text_of(values.get("text"))  # the transcription of a spoken message
        kind = text_of(values.get("content_type"))
        if isinstance(part, str) or spoken:
            texts.append(text_of(part) or spoken)
        else:
            skipped[reasons.IMAGE if "image" in kind else reasons.ATTACHMENT if kind else reasons.EMPTY] += 1
    text = "\n\n".join(filter(None, texts)) or text_of(content.get("text")) or text_of(content.get("result"))
    # Code that is shown: what the model runs has another recipient, and is a call.
    if content.get("content_type") == "code" and text and message.get("recipient", "all") == "all":
        language = text_of(content.get("language")).replace("unknown", "")
        return f"```{language}\n{text}\n```"
    return _CITATION.sub("", text)


CLAUDE_AI = "claude-ai"
_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_PARENT = "parent_message_uuid"


def about_claude_ai(one: Mapping[str, Any]) -> tuple[str, str, str]:
    """The key, the title and the start time of a conversation."""
    title, created = text_of(one.get("name")), text_of(one.get("created_at"))
    return text_of(one.get("uuid")) or digest(title, created), title, moment(created)


def read_claude_ai(one: Mapping[str, Any], skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a conversation."""
    calls = OpenCalls(skipped)
    for message in _claude_ai_line(one, skipped):
        role = _ROLES.get(text_of(message.get("sender")))
        if role is None:
            skipped[reasons.ROLE] += 1
            continue
        content = split(list_of(message.get("content")), skipped)
        at, key = message.get("created_at"), text_of(message.get("uuid"))
        # Older exports, and some messages of newer ones, have only the text.
        parts = [content.text or text_of(message.get("text"))]
        for attachment in map(dict_of, list_of(message.get("attachments"))):
            if begin := shortened(text_of(attachment.get("extracted_content"))):
                parts.append(f"[attached {text_of(attachment.get('file_name')) or 'text'}: {begin}]")
            else:
                skipped[reasons.ATTACHMENT] += 1
        skipped[reasons.ATTACHMENT] += len(list_of(message.get("files")))
        text = "\n\n".join(filter(None, parts))
        if text or not content.calls:
            yield from calls.flush()
            yield RawMessage(role, text, at, key=key)
        for number, (name, what) in enumerate(content.calls):
            yield from calls.begin(name or f"{key}-{number}", what, at)
        for call, output, failed in content.results:
            calls.finish(call, output, failed=failed)
    yield from calls.flush()


def _claude_ai_line(one: Mapping[str, Any], skipped: Counter[str]) -> list[dict[str, Any]]:
    """The messages in order; where several answer the same one, those from the root to the last message."""
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


CLINE = "cline"
_INPUT = re.compile(r"\s*<user_input\b[^<>]*>(.*)</user_input>\s*\Z", re.DOTALL)
# The result is JSON in a text. In a text within it, quotes are escaped, so that a quoted result does not match.
_FAILED = '"success":false'
"""A mark in the result of a tool that failed."""


def about_cline(values: Mapping[str, Any]) -> tuple[str, str, str]:
    """The key, the title and the start time of a session."""
    first = next((dict_of(one) for one in list_of(values.get("messages"))), {})
    return text_of(values.get("sessionId")), "", moment(first.get("ts"))


def read_cline(values: Mapping[str, Any], skipped: Counter[str]) -> Iterator[RawMessage]:
    """The messages of a session."""
    calls = OpenCalls(skipped)
    for one in map(dict_of, list_of(values.get("messages"))):
        role, at, key = text_of(one.get("role")), one.get("ts"), text_of(one.get("id"))
        content = split(one.get("content"), skipped)
        for block in map(dict_of, list_of(one.get("content"))):
            if block.get("type") == "tool_result":
                output = plain(block.get("content"))
                failed = block.get("is_error") is True or _FAILED in output
                calls.finish(text_of(block.get("tool_use_id")), output if failed else "", failed=failed)
        if role not in ("user", "assistant"):
            skipped[reasons.SYSTEM if role == "system" else reasons.ROLE] += 1
            continue
        if dict_of(one.get("metadata")).get("displayRole") == "system":
            skipped[reasons.INJECTED] += 1
            continue
        text = content.text
        if role == "user":  # the program and its hooks wrap the text that the user typed
            own = without_reminders(text)
            found = _INPUT.match(own)
            text = (found[1] if found else own).strip()
        if text:
            yield from calls.flush()
            yield RawMessage(role, text, at, key=key)
        elif content.text:
            skipped[reasons.INJECTED] += 1
        for call, what in content.calls:
            yield from calls.begin(call, what, at)
    yield from calls.flush()
