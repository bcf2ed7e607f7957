"""The content of a message: a text, or blocks of text, calls, results, images and thoughts."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from memcli.transcripts import reasons
from memcli.transcripts.tools import described
from memcli.transcripts.values import text_of

_TEXTS = ("text", "input_text", "output_text")
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning", "thoughts", "summary_text", "reasoning_text")
_IMAGES = ("image", "input_image", "image_url", "output_image")
_ATTACHMENTS = ("document", "file", "input_file", "input_audio", "audio", "container_upload")


class Result(NamedTuple):
    """The result of a call that was made before."""

    key: str
    failed: bool
    output: str


class Content(NamedTuple):
    """What a message holds. The calls are pairs of a key and what was run."""

    text: str
    calls: list[tuple[str, str]]
    results: list[Result]


def split(content: Any, skipped: Counter[str]) -> Content:
    """The content in parts; what is neither text nor call nor result is counted."""
    if isinstance(content, str):
        return Content(content, [], [])
    texts: list[str] = []
    calls: list[tuple[str, str]] = []
    results: list[Result] = []
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, str):
            texts.append(block)
        elif not isinstance(block, dict):
            skipped[reasons.EMPTY if block is None else reasons.UNKNOWN] += 1
        elif (kind := text_of(block.get("type"))) in _TEXTS or (not kind and "text" in block):
            texts.append(text_of(block.get("text")))
        elif kind.endswith("tool_use"):
            calls.append((text_of(block.get("id")), described(text_of(block.get("name")), block.get("input"))))
        elif kind.endswith("tool_result"):
            results.append(_result(block))
        else:
            skipped[_reason(kind)] += 1
    return Content("\n\n".join(text for text in texts if text), calls, results)


def plain(content: Any) -> str:
    """The texts in a content, for what a tool put out."""
    if isinstance(content, dict):
        content = content.get("content", content.get("output", content.get("text")))
    return split(content, Counter()).text


def _result(block: dict[str, Any]) -> Result:
    failed = block.get("is_error") is True
    return Result(text_of(block.get("tool_use_id")), failed, plain(block.get("content")) if failed else "")


def _reason(kind: str) -> str:
    if kind in _THOUGHTS:
        return reasons.THINKING
    if kind in _IMAGES:
        return reasons.IMAGE
    return reasons.ATTACHMENT if kind in _ATTACHMENTS else reasons.UNKNOWN
