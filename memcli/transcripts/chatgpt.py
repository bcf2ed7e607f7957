"""Conversations of a ChatGPT export: a tree of nodes, of which the line to the current one is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from memcli.transcripts import reasons
from memcli.transcripts.times import moment
from memcli.transcripts.tools import OpenCalls, described
from memcli.transcripts.transcript import ConversationInfo, Said, digest
from memcli.transcripts.values import dict_of, list_of, text_of

SOURCE = "chatgpt"
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
    for node, message in _line(one, skipped):
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


def _line(one: Mapping[str, Any], skipped: Counter[str]) -> Iterator[tuple[str, dict[str, Any]]]:
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
