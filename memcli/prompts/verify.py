"""Verify candidates: which of the memories that were found answer a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.model.memory import Json
from memcli.model.prompt import Prompt
from memcli.model.shapes import problem
from memcli.model.tokens import cut_tokens
from memcli.prompts.fence import RULE, fenced

VERSION = 1
_MAX_TOKENS = 200
_MOST_QUESTION = 400
_MOST_TEXT = 200
"""Tokens of the question, and of each candidate, that are sent."""

SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {"relevant": {"type": "array", "items": {"type": "integer", "minimum": 1}}},
    "required": ["relevant"],
    "additionalProperties": False,
}

SYSTEM = f"""\
You check what a search in the memory of a software project has found.
{RULE}

Answer with JSON: `relevant` lists the numbers of the candidates that help to answer the question, or that must be known
before acting on it. Leave out those that only share words with it. When in doubt, list a candidate. An empty list says
that none is relevant."""


def make(question: str, candidates: Sequence[Mapping[str, str]]) -> Prompt:
    """Asks about candidates, which are numbered from 1."""
    numbered = [
        {"number": n, **one, "text": cut_tokens(one["text"], _MOST_TEXT)} for n, one in enumerate(candidates, 1)
    ]
    asked = {"question": cut_tokens(question, _MOST_QUESTION), "candidates": numbered}
    return Prompt(
        task=f"verify/{VERSION}",
        system=SYSTEM,
        text=f"Which candidates are relevant?\n{fenced(asked)}",
        schema=SCHEMA,
        max_tokens=_MAX_TOKENS,
    )


def reader(count: int) -> Callable[[Json], frozenset[int]]:
    """Reads an answer about so many candidates: the numbers of those that are relevant. It raises ValueError."""

    def read(data: Json) -> frozenset[int]:
        if wrong := problem(data, SCHEMA, "answer"):
            raise ValueError(wrong)
        numbers = frozenset(data["relevant"])
        if unknown := sorted(n for n in numbers if n > count):
            raise ValueError(f"there is no candidate {unknown[0]}")
        return numbers

    return read
