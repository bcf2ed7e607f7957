"""Name what questions without an answer are about, and put those together that are about the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.model.memory import Json
from memcli.model.prompt import Prompt
from memcli.model.shapes import problem
from memcli.model.tokens import cut_tokens
from memcli.prompts.fence import RULE, fenced
from memcli.record import Record
from memcli.safety.injection.reasons import find_reasons

VERSION = 1
MOST_QUESTIONS = 60
_MAX_TOKENS = 2_000
_MOST_TEXT = 60
"""Tokens of each question that are sent."""
_LONGEST = 60

SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "topics": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "questions": {"type": "array", "items": {"type": "integer", "minimum": 1}},
                },
                "required": ["name", "questions"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["topics"],
    "additionalProperties": False,
}

SYSTEM = f"""\
You sort questions about a software project that its memory could not answer, so that somebody can write the answers down.
{RULE}

Answer with JSON: `topics`, each with
- name: what the questions are about, in 1 to 5 words of their language, as a heading says it. No two topics have one name.
- questions: the numbers of its questions. Put questions together that one note would answer; each question belongs to one
  topic, and a question that is like no other is a topic of its own."""


class GapName(Record):
    """A name for questions, by their numbers."""

    name: str
    numbers: tuple[int, ...]


def make(questions: Sequence[str]) -> Prompt:
    """Asks about questions, which are numbered from 1."""
    numbered = [{"number": n, "question": cut_tokens(text, _MOST_TEXT)} for n, text in enumerate(questions, 1)]
    return Prompt(
        task=f"gaps/{VERSION}",
        system=SYSTEM,
        text=f"Sort these questions.\n{fenced(numbered)}",
        schema=SCHEMA,
        max_tokens=_MAX_TOKENS,
    )


def reader(count: int) -> Callable[[Json], tuple[GapName, ...]]:
    """Reads an answer about so many questions; it may leave some out. It raises ValueError."""

    def read(data: Json) -> tuple[GapName, ...]:
        if wrong := problem(data, SCHEMA, "answer"):
            raise ValueError(wrong)
        topics = tuple(GapName(_name(one["name"]), tuple(one["questions"])) for one in data["topics"])
        numbers = [number for topic in topics for number in topic.numbers]
        if unknown := [number for number in numbers if number > count]:
            raise ValueError(f"there is no question {unknown[0]}")
        if len(set(numbers)) < len(numbers):
            raise ValueError("each question belongs to one topic")
        if not all(topic.numbers for topic in topics):
            raise ValueError("each topic needs a question")
        if len({topic.name.casefold() for topic in topics}) < len(topics):
            raise ValueError("two topics have one name")
        return topics

    return read


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not name or len(name) > _LONGEST:
        raise ValueError(f"a name must have 1 to {_LONGEST} characters")
    if not name.isprintable() or find_reasons(name):
        raise ValueError("a name must be a plain heading")
    return name
