"""Conversations of the exports of ChatGPT, a tree of nodes of which the line to the current one is read, and of Claude.ai."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.extras.transcripts import reasons
from memcli.extras.transcripts.content import Content, OpenCalls, described, shortened, split
from memcli.extras.transcripts.transcript import ConversationInfo, Said, digest
from memcli.extras.transcripts.values import dict_of, list_of, moment, text_of

CHATGPT = "chatgpt"
_THOUGHTS = ("thoughts", "reasoning_recap")
_CONTEXTS = ("user_editable_context", "model_editable_context")
_CITATION = re.compile("\ue200[^\ue201]*\ue201")
_TRACE = "Traceback (most recent call last)"


def is_chatgpt(one: Mapping[str, Any]) -> bool:
    """Whether the keys are those of a conversation."""
    return isinstance(one.get("mapping"), dict)


def about_chatgpt(one: Mapping[str, Any]) -> ConversationInfo:
    """What a conversation says of itself."""
    title, created = text_of(one.get("title")), one.get("create_time")
    key = text_of(one.get("conversation_id")) or text_of(one.get("id"))
    return ConversationInfo(key or digest(title, str(created), *dict_of(one.get("mapping"))), title, moment(created))


def read_chatgpt(one: Mapping[str, Any], skipped: Counter[str]) -> Iterator[Said]:
    """What was said in a conversation."""
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
            calls.finish(latest, text, failed=_has_failed(message, text))
        elif role == "assistant" and (recipient := text_of(message.get("recipient")) or "all") != "all":
            yield from calls.begin(latest := key, described(recipient, {"code": text}), at)
        elif text:
            yield from calls.flush()
            speaker = name if role == "user" else ""
            yield Said(role, text, at, speaker, key)
    yield from calls.flush()


def _chatgpt_line(one: Mapping[str, Any], skipped: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages from the root to the current node; in a broken tree all of them, by time."""
    mapping = {key: dict_of(node) for key, node in dict_of(one.get("mapping")).items()}
    said = {key: message for key, node in mapping.items() if (message := dict_of(node.get("message")))}
    chain = _chain(mapping, text_of(one.get("current_node")) or _last_leaf(mapping, said))
    if chain is None:
        skipped[reasons.ORDER] += 1
        chain = _by_time(said)
    elif left_out := len(said) - sum(key in said for key in chain):
        skipped[reasons.BRANCH] += left_out
    for key in chain:
        if key in said:
            yield key, said[key]


def _chain(mapping: Mapping[str, Mapping[str, Any]], leaf: str) -> list[str] | None:
    """The keys from the root to the leaf, or None where a node is missing or there is a circle."""
    chain: dict[str, None] = {}
    key = leaf
    while key:
        if key in chain or key not in mapping:
            return None
        chain[key] = None
        key = text_of(mapping[key].get("parent"))
    return [*reversed(chain)] if chain or not mapping else None


def _last_leaf(mapping: Mapping[str, Mapping[str, Any]], said: Mapping[str, Mapping[str, Any]]) -> str:
    """The latest of the messages that no other one follows."""
    followed = {text_of(node.get("parent")) for node in mapping.values()}
    leaves = [key for key in _by_time(said) if key not in followed]
    return leaves[-1] if leaves else ""


def _by_time(said: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The messages by time; one without a time stays behind the one before it in the file."""
    times: dict[str, float] = {}
    latest = 0.0
    for key, message in said.items():
        at = message.get("create_time")
        latest = times[key] = float(at) if isinstance(at, int | float) else latest
    return sorted(said, key=lambda key: times[key])


def _reason(message: Mapping[str, Any]) -> str:
    """Why a message is none of the conversation."""
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
    content = dict_of(message.get("content"))
    texts = [part for part in (_part(part, skipped) for part in list_of(content.get("parts"))) if part]
    text = "\n\n".join(texts) or text_of(content.get("text")) or text_of(content.get("result"))
    if content.get("content_type") == "code" and text and message.get("recipient", "all") == "all":
        language = text_of(content.get("language")).replace("unknown", "")
        return f"```{language}\n{text}\n```"
    return _CITATION.sub("", text)


def _part(part: Any, skipped: Counter[str]) -> str:
    if isinstance(part, str):
        return part
    values = dict_of(part)
    if text := text_of(values.get("text")):  # what was spoken, written down
        return text
    kind = text_of(values.get("content_type"))
    skipped[reasons.IMAGE if "image" in kind else reasons.ATTACHMENT if kind else reasons.EMPTY] += 1
    return ""


def _has_failed(message: Mapping[str, Any], text: str) -> bool:
    content = dict_of(message.get("content"))
    result = dict_of(dict_of(message.get("metadata")).get("aggregate_result"))
    return (
        content.get("content_type") == "system_error"
        or text_of(result.get("status")).startswith("failed")
        or (content.get("content_type") == "execution_output" and _TRACE in text)
    )


CLAUDE_AI = "claude-ai"
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
    for message in _claude_ai_line(one, skipped):
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


def _claude_ai_line(one: Mapping[str, Any], skipped: Counter[str]) -> list[dict[str, Any]]:
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
