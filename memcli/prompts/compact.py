"""Make room in a space that is full: which memories go, and which are merged into another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from memcli.model.memory import Json
from memcli.model.prompt import Prompt
from memcli.model.shapes import problem
from memcli.model.tokens import cut_tokens
from memcli.prompts.fence import RULE, fenced
from memcli.record import Record

VERSION = 2
MOST_TEXT = 200
"""Tokens of each memory that are sent. One that is longer is not merged: what was not sent would be lost."""
_MOST_NEW = 5
_TOKENS_EACH = 600
_LONGEST = 2_000
DELETE, MERGE = "delete", "merge"
REASONS = ("repeated", "outdated", "finished", "trivial", "too specific")

SCHEMA: Mapping[str, Json] = {
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

SYSTEM = f"""\
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
    """The candidate `target` goes, for `reason`; its content becomes part of the candidate `into`, whose text is then `text`,
    unless that is 0."""

    target: int
    into: int
    text: str
    reason: str


def make(new: Sequence[str], candidates: Sequence[Mapping[str, Json]], most: int) -> Prompt:
    """Asks for up to `most` decisions about candidates, which are numbered from 1, so that `new` texts can be stored."""
    numbered = [
        {"number": n, **one, "text": cut_tokens(str(one["text"]), MOST_TEXT)} for n, one in enumerate(candidates, 1)
    ]
    told = {"new": [cut_tokens(text, MOST_TEXT) for text in new[:_MOST_NEW]], "stored": numbered}
    count = "1 decision" if most == 1 else f"up to {most} decisions"
    return Prompt(
        task=f"compact/{VERSION}",
        system=SYSTEM,
        text=f"Give {count}.\n{fenced(told)}",
        schema=SCHEMA,
        max_tokens=_TOKENS_EACH * most,
    )


def reader(count: int, mergeable: Collection[int], most: int) -> Callable[[Json], tuple[Decision, ...]]:
    """Reads an answer about `count` candidates, of which those of the numbers `mergeable` may be merged. It raises
    ValueError."""

    def read(data: Json) -> tuple[Decision, ...]:
        if wrong := problem(data, SCHEMA, "answer"):
            raise ValueError(wrong)
        found = tuple(_decision(each) for each in data["decisions"])
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
        return found

    return read


def _decision(data: Mapping[str, Json]) -> Decision:
    if data["action"] == DELETE:
        return Decision(data["target"], 0, "", data["reason"])
    text = data["text"].strip()
    if not data["into"]:
        raise ValueError("merge needs the number of the memory that takes the other in")
    if not text:
        raise ValueError("merge needs the new text")
    if len(text) > _LONGEST:
        raise ValueError(f"the new text is longer than {_LONGEST} characters")
    return Decision(data["target"], data["into"], text, data["reason"])
