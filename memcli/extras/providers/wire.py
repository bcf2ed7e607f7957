"""The two wire formats: the body of a request for a prompt, the reply in the body of a response, and the JSON in its text. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memcli.codec.canonical import refuse_constant
from memcli.extras.providers.table import CHAT, Provider
from memcli.model.conversation import Prompt
from memcli.model.memory import Json
from memcli.model.shapes import problem
from memcli.model.usage import TokenUsage
from memcli.record import Record

Turn = tuple[str, str]
"""A role, `user` or `assistant`, and a text."""
Body = dict[str, Any]

DONE, CUT, REFUSED = "done", "cut", "refused"
_CUT = ("length", "max_tokens", "model_context_window_exceeded")
_REFUSED = ("content_filter", "refusal")
_UNSENT = (
    "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern", "format", "examples", "default",
)  # fmt: skip
_PLACES = ("messages", "system", "input")
TEMPERATURE = "temperature"
_FEATURES = {TEMPERATURE: ("temperature",), "response_format": ("response_format", "json_schema", "output_config")}
"""The optional features of a request, each with words in the complaint of a server that lacks it."""
_PARAMETERS = {TEMPERATURE: ("temperature",), "response_format": ("response_format", "output_config")}


class Reply(Record):
    """A reply: its text, how it ended (DONE, CUT or REFUSED), and its tokens, None if not reported; for texts to embed, their
    vectors."""

    text: str
    ending: str
    usage: TokenUsage | None
    vectors: tuple[tuple[float, ...], ...] = ()


def body(provider: Provider, model: str, prompt: Prompt, turns: Sequence[Turn]) -> Body:
    """The body of the request that continues the conversation `turns` of a prompt."""
    schema = sent_schema(prompt.schema)
    messages = [{"role": role, "content": text} for role, text in turns]
    common = {"model": model, provider.limit: prompt.max_tokens}
    if provider.wire == CHAT:
        # OpenAI takes no other characters in the name of a schema, and at most 64.
        name = re.sub(r"[^A-Za-z0-9_-]", "_", prompt.task)[:64] or "answer"
        shape = {"name": name, "schema": schema, "strict": _is_strict(schema)}
        return {
            **common,
            "temperature": prompt.temperature or 0.0,
            "messages": [{"role": "system", "content": prompt.system}, *messages],
            "response_format": {"type": "json_schema", "json_schema": shape},
        }
    # Newer models of Anthropic refuse any temperature, so none is sent by default.
    tuned = {} if prompt.temperature is None else {"temperature": prompt.temperature}
    return {
        **common,
        **tuned,
        "system": prompt.system,
        "messages": messages,
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    }


def map_texts(request: Body, change: Callable[[str], str]) -> Body:
    """The request with `change` applied to every text of a prompt or an answer in it."""
    return {name: map_strings(value, change) if name in _PLACES else value for name, value in request.items()}


def texts(request: Body) -> Iterator[str]:
    """The texts of a request that count as tokens sent."""
    found: list[str] = []

    def see(text: str) -> str:
        found.append(text)
        return text

    map_texts(request, see)
    yield from found
    yield from (str(request[name]) for name in ("response_format", "output_config") if name in request)


def without(request: Body, feature: str) -> Body:
    """The request without the parameters of a feature."""
    return {name: value for name, value in request.items() if name not in _PARAMETERS[feature]}


def refused_feature(request: Body, complaint: str) -> str:
    """The optional feature of `request` that a server complains about; empty if it complains about anything else."""
    for feature, words in _FEATURES.items():
        if any(word in complaint for word in words) and any(name in request for name in _PARAMETERS[feature]):
            return feature
    return ""


def read_reply(provider: Provider, data: Json) -> Reply | None:
    """The reply in the body of a response; None if the body is not of this format."""
    if not isinstance(data, dict):
        return None
    if provider.wire == CHAT:
        choices = data.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
            return None
        message = choices[0].get("message")
        message = message if isinstance(message, dict) else {}
        text, refusal = message.get("content"), message.get("refusal")
        ending = REFUSED if isinstance(refusal, str) and refusal else _ending(choices[0].get("finish_reason"))
        usage = _usage(data.get("usage"), ("prompt_tokens",), "completion_tokens")
        return Reply(text if isinstance(text, str) else "", ending, usage)
    content = data.get("content")
    if not isinstance(content, list):
        return None
    parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    # Tokens that are written to a cache or read from it are counted apart, and are paid for too.
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    text = "".join(part for part in parts if isinstance(part, str))
    return Reply(text, _ending(data.get("stop_reason")), _usage(data.get("usage"), read, "output_tokens"))


def read_vectors(data: Json) -> Reply | None:
    """The vectors in the body of a response, in the order of the texts; None if the body is not of this format."""
    found = data.get("data") if isinstance(data, dict) else None
    if not isinstance(found, list):
        return None
    try:
        rows = sorted(found, key=lambda row: row["index"])
        vectors = tuple(tuple(float(value) for value in row["embedding"]) for row in rows)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    usage = data.get("usage")
    sent = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return Reply("", DONE, TokenUsage(int(sent), 0) if isinstance(sent, int) and _is_count(sent) else None, vectors)


def _ending(reason: Json) -> str:
    return CUT if reason in _CUT else REFUSED if reason in _REFUSED else DONE


def _usage(data: Json, read: Sequence[str], written: str) -> TokenUsage | None:
    if not isinstance(data, dict) or not _is_count(data.get(read[0])) or not _is_count(data.get(written)):
        return None
    return TokenUsage(sum(data[name] for name in read if _is_count(data.get(name))), data[written])


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40


def sent_schema(schema: Mapping[str, Json]) -> dict[str, Any]:
    """`schema` without the keywords that not all providers support; `parse_answer` checks these limits instead."""
    sent: dict[str, Any] = {name: value for name, value in schema.items() if name not in _UNSENT}
    if "properties" in sent:
        sent["properties"] = {name: sent_schema(part) for name, part in sent["properties"].items()}
        # OpenAI's strict mode and Anthropic want this of every object.
        sent.setdefault("additionalProperties", False)
    if isinstance(sent.get("items"), dict):
        sent["items"] = sent_schema(sent["items"])
    return sent


def _is_strict(schema: Mapping[str, Json]) -> bool:
    """Whether every object requires all its properties and allows no others, as OpenAI's strict mode demands."""
    if schema.get("type") == "object":
        parts = schema.get("properties")
        if not isinstance(parts, dict) or set(schema.get("required", ())) != set(parts):
            return False
        return schema.get("additionalProperties") is False and all(_is_strict(part) for part in parts.values())
    return _is_strict(schema["items"]) if isinstance(schema.get("items"), dict) else True


def map_strings(value: Json, change: Callable[[str], str]) -> Json:
    """The value with `change` applied to every text in it except roles."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [map_strings(item, change) for item in value]
    if isinstance(value, dict):
        return {name: item if name == "role" else map_strings(item, change) for name, item in value.items()}
    return value


_FENCE = re.compile(r"\A```[a-zA-Z]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL)


def parse_answer(text: str, schema: Mapping[str, Json]) -> Json:
    """The JSON value in `text`, which may be in a Markdown fence or among sentences. Raises ValueError if there is none, or it
    does not match `schema`."""
    stripped = text.strip()
    if not stripped:
        raise ValueError("the answer is empty")
    fenced = _FENCE.match(stripped)
    whole = fenced[1].strip() if fenced else stripped
    start, end = whole.find("{"), whole.rfind("}") + 1
    for candidate in (whole, whole[start:end]):
        try:
            data = json.loads(candidate, parse_constant=refuse_constant)
        except (ValueError, RecursionError):
            continue
        if wrong := problem(data, schema, "answer"):
            raise ValueError(wrong)
        return data
    raise ValueError("the answer is not JSON")
