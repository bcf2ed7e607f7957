"""Describe a note: where it belongs, what kind it is, tags, three summaries, and how much it matters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.names import check_path, slug
from memcli.model.prompt import Prompt
from memcli.model.shapes import RELEVANCES, problem
from memcli.model.tokens import cut_tokens
from memcli.prompts.fence import RULE, fenced

VERSION = 1
MAX_TOKENS = 1_200
_MOST_TEXT = 6_000
"""Tokens of the note that are sent."""
_MOST_TAGS = 8
_DEEPEST = 6
_LONGEST = {"summary_micro": 400, "summary_short": 1_600, "summary_long": 6_000}
_KINDS = (
    "decision", "fact", "guide", "procedure", "preference", "constraint", "negative", "correction", "goal", "config",
    "log", "code", "entity", "custom",
)  # fmt: skip

SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "kind": {"type": "string", "enum": list(_KINDS)},
        "tags": {"type": "array", "items": {"type": "string"}},
        **{name: {"type": "string", "minLength": 1} for name in _LONGEST},
        "relevance": {"type": "string", "enum": list(RELEVANCES)},
        "auto_pin": {"type": "boolean"},
    },
    "required": ["path", "kind", "tags", *_LONGEST, "relevance", "auto_pin"],
    "additionalProperties": False,
}

SYSTEM = f"""\
You file one note in the memory of a software project, so that it is found again and understood without its source.
{RULE}

Answer with JSON:
- path: project/module/topic in lowercase slugs, 2 to 4 parts, the last one a heading for the note. Keep to the
  suggested path and begin with the project, where these are given.
- kind: decision (what was chosen, and why), fact, guide (how something works), procedure (steps to follow), preference,
  constraint (what must hold), negative (what must never be done), correction (of an error), goal, config, log (what
  happened), code, entity (a person, team, system or product), or custom when none fits.
- tags: 2 to 6 lowercase slugs that somebody would search for.
- summary_micro: one or two sentences. summary_short: one paragraph or a few bullets. summary_long: an abstract. Each in
  the language of the note, with its names, numbers and versions unchanged, and nothing that the note does not say. A
  note that is short already may be repeated.
- relevance: high only for what everybody on the project must respect, low for what soon no longer matters.
- auto_pin: true only when the note must be read before any work on the project. This is rare."""


def make(
    text: str, hints: Mapping[str, Json], *, temperature: float | None = None, max_tokens: int | None = None
) -> Prompt:
    """Asks about a note; `hints` is what its author said of it already."""
    note = {"note": cut_tokens(text, _MOST_TEXT), **{name: value for name, value in hints.items() if value}}
    return Prompt(
        task=f"describe/{VERSION}",
        system=SYSTEM,
        text=f"File this note.\n{fenced(note)}",
        schema=SCHEMA,
        max_tokens=max_tokens or MAX_TOKENS,
        temperature=temperature,
    )


def read(data: Json) -> dict[str, Any]:
    """The fields of a memory in the answer, with `auto_pin`. Raises ValueError."""
    if wrong := problem(data, SCHEMA, "answer"):
        raise ValueError(wrong)
    summaries = {name: _summary(name, data[name]) for name in _LONGEST}
    tags = tuple(dict.fromkeys(tag for text in data["tags"] if (tag := slug(text))))[:_MOST_TAGS]
    told = {name: data[name] for name in ("kind", "relevance", "auto_pin")}
    return {**told, **summaries, "path": _path(data["path"]), "tags": tags}


def _summary(name: str, text: str) -> str:
    stripped = text.strip()
    if not stripped:
        raise ValueError(f"{name} is empty")
    if len(stripped) > _LONGEST[name]:
        raise ValueError(f"{name} is longer than {_LONGEST[name]} characters")
    return stripped


def _path(text: str) -> str:
    parts = [part for segment in text.split("/") if (part := slug(segment))]
    if not 1 < len(parts) <= _DEEPEST:
        raise ValueError(f"path must have 2 to {_DEEPEST} parts such as project/module/topic, not {text[:80]!a}")
    try:
        return check_path("/".join(parts))
    except UsageError as error:
        raise ValueError(error.message) from None
