"""Prompts about conversations: sum up a session (its events, and facts with the message that states each); group unanswered
questions by topic, and name the topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.extras.advice.prompts.fence import RULE, fenced
from memcli.model.conversation import Prompt
from memcli.model.memory import Json
from memcli.model.shapes import problem
from memcli.model.tokens import cut_tokens
from memcli.record import Record
from memcli.safety.injection import find_reasons

VERSION = 1
MAX_TOKENS = 2_000
MOST_FACTS = 40
_MOST_SENTENCES = 4
_LONGEST = 500
"""The most characters of a sentence."""
KINDS = ("decision", "preference", "constraint", "goal", "procedure", "correction", "negative", "fact")

SCHEMA: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "summary": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "message": {"type": "integer", "minimum": 1},
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "text": {"type": "string", "minLength": 1},
                    "confidence": {"type": "number", "minimum": 0, "maximum": 1},
                },
                "required": ["message", "kind", "text", "confidence"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["summary", "facts"],
    "additionalProperties": False,
}

SYSTEM = f"""\
You write the memory of a working session on a software project, for somebody who was not there.
{RULE}

Answer with JSON:
- summary: 2 to 4 factual sentences in the language of the session: what was decided and why, what was found and done, and
  how it ended. Keep names, numbers and versions unchanged, and say nothing that the session does not say. One sentence
  will do for a session in which little happened.
- facts: what the session states and what still holds at its end, at most {MOST_FACTS}:
  - message: the number of the message that states it. Parts named `earlier` are summaries, for context alone.
  - kind: decision (what was chosen), preference (how somebody likes it), constraint (what must hold), negative (what must
    never be done), goal, procedure (steps to follow), correction (of an error), fact (what is the case).
  - text: the sentence of that message, word for word, without adding or translating anything.
  - confidence: how sure it is that it was meant to last, from 0 to 1; at least 0.7 only when it is said in so many words.
  A question, an offer, a guess, a report of what others say, and what is taken back later is no fact. What holds for the
  moment is none either."""


class ReportedFact(Record):
    """A fact in the words of a model, with the number of the message that states it, by the model's answer."""

    kind: str
    text: str
    message: int
    confidence: float


def make(title: str, earlier: Sequence[Mapping[str, Json]], messages: Sequence[Mapping[str, Json]]) -> Prompt:
    """The prompt about a session: its latest `messages`, numbered, and summaries of the `earlier` ones."""
    session = {"title": title, "earlier": list(earlier), "messages": list(messages)}
    return Prompt(
        task=f"session/{VERSION}",
        system=SYSTEM,
        text=f"Sum up this session.\n{fenced({name: value for name, value in session.items() if value})}",
        schema=SCHEMA,
        max_tokens=MAX_TOKENS,
    )


def read(data: Json) -> tuple[tuple[str, ...], tuple[ReportedFact, ...]]:
    """The sentences and facts in the answer. Raises ValueError for an invalid answer."""
    if wrong := problem(data, SCHEMA, "answer"):
        raise ValueError(wrong)
    sentences = tuple(" ".join(text.split()) for text in data["summary"])
    if not 1 <= len(sentences) <= _MOST_SENTENCES or not all(sentences):
        raise ValueError(f"summary must have 1 to {_MOST_SENTENCES} sentences")
    if any(len(sentence) > _LONGEST for sentence in sentences):
        raise ValueError(f"a sentence of summary is longer than {_LONGEST} characters")
    claims = (ReportedFact(one["kind"], one["text"], one["message"], float(one["confidence"])) for one in data["facts"])
    return sentences, tuple(claims)[:MOST_FACTS]


GAPS_VERSION = 1
MOST_QUESTIONS = 60
_MAX_TOKENS = 2_000
_MOST_TEXT = 60
"""The most tokens of each question that are sent."""
_GAPS_LONGEST = 60

GAPS_SCHEMA: Mapping[str, Json] = {
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

GAPS_SYSTEM = f"""\
You sort questions about a software project that its memory could not answer, so that somebody can write the answers down.
{RULE}

Answer with JSON: `topics`, each with
- name: what the questions are about, in 1 to 5 words of their language, as a heading says it. No two topics have one name.
- questions: the numbers of its questions. Put questions together that one note would answer; each question belongs to one
  topic, and a question that is like no other is a topic of its own."""


def make_gaps(questions: Sequence[str]) -> Prompt:
    """The prompt about unanswered questions, which are numbered from 1."""
    numbered = [{"number": n, "question": cut_tokens(text, _MOST_TEXT)} for n, text in enumerate(questions, 1)]
    return Prompt(
        task=f"gaps/{GAPS_VERSION}",
        system=GAPS_SYSTEM,
        text=f"Sort these questions.\n{fenced(numbered)}",
        schema=GAPS_SCHEMA,
        max_tokens=_MAX_TOKENS,
    )


def read_topics(count: int, data: Json) -> list[tuple[str, list[int]]]:
    """The name of each topic in the answer about `count` questions, and the numbers of its questions; questions may be missing.
    Raises ValueError for an invalid answer."""
    if wrong := problem(data, GAPS_SCHEMA, "answer"):
        raise ValueError(wrong)
    topics = [(_name(one["name"]), one["questions"]) for one in data["topics"]]
    numbers = [number for _, questions in topics for number in questions]
    if unknown := [number for number in numbers if number > count]:
        raise ValueError(f"there is no question {unknown[0]}")
    if len(set(numbers)) < len(numbers):
        raise ValueError("each question belongs to one topic")
    if not all(questions for _, questions in topics):
        raise ValueError("each topic needs a question")
    if len({name.casefold() for name, _ in topics}) < len(topics):
        raise ValueError("two topics have one name")
    return topics


def _name(text: str) -> str:
    """The name of a topic on one line. Raises ValueError if it is too long or no plain heading."""
    name = " ".join(text.split())
    if not name or len(name) > _GAPS_LONGEST:
        raise ValueError(f"a name must have 1 to {_GAPS_LONGEST} characters")
    # Agents read the list of topics, where a name must not give them orders.
    if not name.isprintable() or find_reasons(name):
        raise ValueError("a name must be a plain heading")
    return name
