"""Prompts about memories: describe a note (path, kind, tags, three summaries, relevance); make room in a full space (which
memories to delete or merge); verify the candidates of a recall (which ones answer the question).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memcli.errors import UsageError
from memcli.extras.advice.prompts.fence import RULE, fenced
from memcli.model.conversation import Prompt
from memcli.model.memory import Json
from memcli.model.names import check_path, slug
from memcli.model.shapes import RELEVANCES, problem
from memcli.model.tokens import cut_tokens
from memcli.record import Record

VERSION = 1
MAX_TOKENS = 1_200
_MOST_TEXT = 6_000
"""The most tokens of a note that are sent."""
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
    """The prompt about a note; `hints` are the fields that its author gave."""
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
    """The fields of a memory in the answer, with `auto_pin`. Raises ValueError for an invalid answer."""
    if wrong := problem(data, SCHEMA, "answer"):
        raise ValueError(wrong)
    summaries = {name: data[name].strip() for name in _LONGEST}
    for name, text in summaries.items():
        if not text:
            raise ValueError(f"{name} is empty")
        if len(text) > _LONGEST[name]:
            raise ValueError(f"{name} is longer than {_LONGEST[name]} characters")
    tags = tuple(dict.fromkeys(tag for text in data["tags"] if (tag := slug(text))))[:_MOST_TAGS]
    others = {name: data[name] for name in ("kind", "relevance", "auto_pin")}
    given = data["path"]
    parts = [part for segment in given.split("/") if (part := slug(segment))]
    if not 1 < len(parts) <= _DEEPEST:
        raise ValueError(f"path must have 2 to {_DEEPEST} parts such as project/module/topic, not {given[:80]!a}")
    try:
        path = check_path("/".join(parts))
    except UsageError as error:
        raise ValueError(error.message) from None
    return {**others, **summaries, "path": path, "tags": tags}


COMPACT_VERSION = 2
# A longer memory is not merged: what was not sent of it would be lost.
MOST_TEXT = 200
"""The most tokens of each memory that are sent."""
_MOST_NEW = 5
_TOKENS_EACH = 600
_COMPACT_LONGEST = 2_000
DELETE, MERGE = "delete", "merge"
# Fixed words, since the audit log repeats them: its lines are bound to each other and must quote no memory.
REASONS = ("repeated", "outdated", "finished", "trivial", "too specific")

COMPACT_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": [DELETE, MERGE]},
                    "target": {"type": "integer", "minimum": 1},
                    "into": {"type": "integer", "minimum": 0},
                    "text": {"type": "string"},
                    "reason": {"type": "string", "enum": list(REASONS)},
                },
                "required": ["action", "target", "into", "text", "reason"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["decisions"],
    "additionalProperties": False,
}

COMPACT_SYSTEM = f"""\
You keep the memory of a software project within its limit. New memories are to be stored, and there is no room for them.
{RULE}

Answer with JSON: `decisions` lists what is to be done with the stored memories, the best decision first, at most as many as
are asked for. Each has
- action: delete (the memory goes), or merge (it goes, and its content becomes part of another stored memory).
- target: the number of the memory that goes.
- into: with merge, the number of the memory that takes it in; else 0. Both must be mergeable, each may occur once, and it
  must not be one that goes.
- text: with merge, the whole new text of that memory. It says what both said, once, in their language, with all names,
  numbers and versions unchanged, and nothing that neither said. Else empty.
- reason: repeated (another memory says it), outdated (no longer true), finished (of work that is done), trivial (nobody
  needs it), or too specific.

Delete what is least useful to somebody who works on the project from now on. Keep decisions, constraints and what must never
be done, unless another memory replaces them. Merge only what speaks of the same thing, and a constraint or a negative only
with one of its kind."""


class Decision(Record):
    """The decision to delete the candidate `target` (a number from 1) for `reason`, or, unless `into` is 0, to merge it into
    that candidate, whose new text is `text`."""

    target: int
    into: int
    text: str
    reason: str


def make_compact(new: Sequence[str], candidates: Sequence[Mapping[str, Json]], most: int) -> Prompt:
    """The prompt for up to `most` decisions about candidates, which are numbered from 1, so that `new` texts can be stored."""
    numbered = [
        {"number": n, **one, "text": cut_tokens(str(one["text"]), MOST_TEXT)} for n, one in enumerate(candidates, 1)
    ]
    texts = {"new": [cut_tokens(text, MOST_TEXT) for text in new[:_MOST_NEW]], "stored": numbered}
    count = "1 decision" if most == 1 else f"up to {most} decisions"
    return Prompt(
        task=f"compact/{COMPACT_VERSION}",
        system=COMPACT_SYSTEM,
        text=f"Give {count}.\n{fenced(texts)}",
        schema=COMPACT_SCHEMA,
        max_tokens=_TOKENS_EACH * most,
    )


def read_decisions(count: int, mergeable: Collection[int], most: int, data: Json) -> tuple[Decision, ...]:
    """The decisions in the answer about `count` candidates, of which those with the numbers `mergeable` may be merged. Raises
    ValueError for an invalid answer, and for more than `most` decisions."""
    if wrong := problem(data, COMPACT_SCHEMA, "answer"):
        raise ValueError(wrong)
    found = []
    for each in data["decisions"]:
        text = each["text"].strip()
        if each["action"] == DELETE:
            found.append(Decision(each["target"], 0, "", each["reason"]))
            continue
        if not each["into"]:
            raise ValueError("merge needs the number of the memory that takes the other in")
        if not text:
            raise ValueError("merge needs the new text")
        if len(text) > _COMPACT_LONGEST:
            raise ValueError(f"the new text is longer than {_COMPACT_LONGEST} characters")
        found.append(Decision(each["target"], each["into"], text, each["reason"]))
    if not 0 < len(found) <= most:
        raise ValueError(f"there must be 1 to {most} decisions, not {len(found)}")
    named = [number for one in found for number in (one.target, one.into) if number]
    if unknown := [number for number in named if number > count]:
        raise ValueError(f"there is no stored memory {unknown[0]}")
    if len(set(named)) < len(named):
        raise ValueError("each stored memory may occur once")
    merged = [number for one in found if one.into for number in (one.target, one.into)]
    if fixed := [number for number in merged if number not in mergeable]:
        raise ValueError(f"stored memory {fixed[0]} is not mergeable")
    return tuple(found)


VERIFY_VERSION = 1
_MAX_TOKENS = 200
_MOST_QUESTION = 400
_VERIFY_MOST_TEXT = 200
"""The most tokens of the question, and of each candidate, that are sent."""

VERIFY_SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"relevant": {"type": "array", "items": {"type": "integer", "minimum": 1}}},
    "required": ["relevant"],
    "additionalProperties": False,
}

VERIFY_SYSTEM = f"""\
You check what a search in the memory of a software project has found.
{RULE}

Answer with JSON: `relevant` lists the numbers of the candidates that help to answer the question, or that must be known
before acting on it. Leave out those that only share words with it. When in doubt, list a candidate. An empty list says
that none is relevant."""


def make_verify(question: str, candidates: Sequence[Mapping[str, str]]) -> Prompt:
    """The prompt about the candidates for a question, which are numbered from 1."""
    numbered = [
        {"number": n, **one, "text": cut_tokens(one["text"], _VERIFY_MOST_TEXT)} for n, one in enumerate(candidates, 1)
    ]
    texts = {"question": cut_tokens(question, _MOST_QUESTION), "candidates": numbered}
    return Prompt(
        task=f"verify/{VERIFY_VERSION}",
        system=VERIFY_SYSTEM,
        text=f"Which candidates are relevant?\n{fenced(texts)}",
        schema=VERIFY_SCHEMA,
        max_tokens=_MAX_TOKENS,
    )


def read_verdict(count: int, data: Json) -> frozenset[int]:
    """The numbers of the relevant ones among `count` candidates in the answer. Raises ValueError for an invalid answer."""
    if wrong := problem(data, VERIFY_SCHEMA, "answer"):
        raise ValueError(wrong)
    numbers = frozenset(data["relevant"])
    if unknown := sorted(n for n in numbers if n > count):
        raise ValueError(f"there is no candidate {unknown[0]}")
    return numbers
