"""What a session yields: what happened in it, and the facts that it states, locally or by a language model.

A model is asked only by a command that the user waits for, before any lock is taken. What a crash left undone, and what
hooks report, is done locally, or by an answer that was paid for already.

And what the questions that nothing answered are about, by a language model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from memcli.app.session_end import Yield, by_rules
from memcli.app.workspace import Workspace
from memcli.conversation.facts import Fact, point
from memcli.conversation.summary import SIZE, Chunk, fold
from memcli.errors import ProviderError, RefusedError, UsageError
from memcli.extras.advice.consult import QUESTION, TEXT, consult, kept
from memcli.extras.advice.prompts import session as prompt
from memcli.model.conversation import Message, Prompt
from memcli.model.memory import Json
from memcli.model.tokens import count_tokens, cut_tokens, end_of_tokens
from memcli.model.usage import Gap, GapTopic
from memcli.record import replace
from memcli.regex import regex
from memcli.safety.injection import find_reasons

WITHIN_SECONDS = 30.0
_NUMBER = regex(r"\d+")


def by_model(
    workspace: Workspace,
    title: str,
    said: Sequence[Message],
    *,
    may_fall_back: bool = True,
    within: float | None = None,
) -> Yield:
    """What a session yields by the language model of the workspace, for messages that are numbered; by the local layer when
    the model fails and it may stand in.

    Raises UsageError when no model is configured; ProviderError, RefusedError where the local layer may not stand in.
    """
    local = by_rules(said)
    if not said:
        return local
    seconds = WITHIN_SECONDS if within is None else within
    question, read = _question(title, said, local.facts)
    try:
        answer, _ = consult(workspace, question, read, within=seconds, keep=TEXT, may_wait=True)
    except (ProviderError, RefusedError) as error:
        if not may_fall_back:
            raise
        workspace.warn(f"{error.message}; the local layer stands in")
        return local
    return _made(workspace, said, answer)


def facts_by_model(workspace: Workspace, talks: Iterable[tuple[str, Sequence[Message]]]) -> Iterator[Fact]:
    """The facts of conversations, each with its title, by a language model: all within WITHIN_SECONDS. From the first failure
    on they are found locally. Raises UsageError when no model is configured."""
    ends = time.monotonic() + WITHIN_SECONDS
    is_asked = True
    for title, said in talks:
        left = ends - time.monotonic()
        if is_asked and left <= 0:
            workspace.warn(f"{WITHIN_SECONDS:g} s are over; the local layer finds the facts of the rest")
        is_asked = is_asked and left > 0
        told = by_model(workspace, title, said, within=left) if is_asked else by_rules(said)
        is_asked = is_asked and (bool(told.model) or not said)
        yield from told.facts


def already(workspace: Workspace, title: str, said: Sequence[Message]) -> Yield:
    """What a session yields by an answer that the language model gave before, or else by the local layer."""
    local = by_rules(said)
    if not said or not workspace.model:
        return local
    question, read = _question(title, said, local.facts)
    return next((_made(workspace, said, answer) for answer in kept(workspace, question, read)), local)


_Answer = tuple[Sequence[str], Sequence[Fact]]


def _made(workspace: Workspace, said: Sequence[Message], answer: _Answer) -> Yield:
    return Yield(said, "\n".join(answer[0]), answer[1], workspace.model)


def _question(title: str, said: Sequence[Message], local: Sequence[Fact]) -> tuple[Prompt, Callable[[Json], _Answer]]:
    """What the model is asked, and how its answer is read: against what was said."""
    chunks, messages, ends = excerpt(said)
    asked = prompt.make(
        title,
        [{"messages": list(chunk.turns), "text": chunk.summary} for chunk in chunks],
        [{"number": one.number, "role": one.role, "text": one.text} for one in messages],
    )
    texts = [title, *(chunk.summary for chunk in chunks), *(one.text for one in messages)]
    numbers = {number for text in texts for number in _NUMBER.findall(text)}

    def read(data: Json) -> _Answer:
        summary, claims = prompt.read(data)
        borne_out = [one for one in summary if numbers.issuperset(_NUMBER.findall(one))]
        if not borne_out:
            raise ValueError("summary has numbers that the session has not")
        sentences = [one for one in borne_out if not find_reasons(one)]
        if not sentences:
            raise ValueError("summary contains instructions")
        return sentences, _facts(claims, said, ends, local)

    return asked, read


def _facts(
    claims: Sequence[prompt.ReportedFact], said: Sequence[Message], ends: Mapping[int, int], local: Sequence[Fact]
) -> list[Fact]:
    """The facts that are borne out by what was sent, each text once, and those that the local layer found elsewhere. `ends`
    says where each message was cut."""
    messages = {message.number: message for message in said}
    found = [one for one in local if one.span[0] >= ends.get(one.message, 0)]
    for claim in claims:
        if claim.message not in ends:
            continue
        fact = point(claim.kind, claim.text, round(claim.confidence, 2), messages[claim.message], local)
        if fact is not None and fact.span[0] < ends[fact.message]:
            found.append(fact)
    once: dict[str, Fact] = {}
    for fact in sorted(found, key=lambda fact: (fact.message, fact.span)):
        once.setdefault(fact.text.casefold(), fact)
    return list(once.values())


_MOST = 12_000
"""Tokens of the messages, together."""
_MOST_TOOL, _MOST_OTHERS = 80, 800
"""Tokens of one message: what runs on is pasted."""
_MOST_CHUNKS = 20
_MOST_SUMMARY = 150
"""How many summaries there are, and the tokens of each."""


def excerpt(messages: Sequence[Message]) -> tuple[list[Chunk], list[Message], dict[int, int]]:
    """The excerpt of a conversation whose messages are numbered: summaries of the older messages, the last ones, cut to some
    length, and where each of these was cut."""
    most = [_MOST_TOOL if message.role == "tool" else _MOST_OTHERS for message in messages]
    cut = [replace(one, text=cut_tokens(one.text, limit)) for one, limit in zip(messages, most, strict=True)]
    totals = accumulate(count_tokens(message.text) for message in reversed(cut))
    old = len(cut) - sum(total <= _MOST for total in totals)
    older = min(len(cut) // SIZE, -(-old // SIZE)) * SIZE  # whole chunks
    chunks, _ = fold(messages[:older], recent=0, most=_MOST_CHUNKS)
    return (
        [replace(chunk, summary=cut_tokens(chunk.summary, _MOST_SUMMARY)) for chunk in chunks if chunk.summary],
        cut[older:],
        {message.number: end_of_tokens(message.text, most[n]) for n, message in enumerate(messages) if n >= older},
    )


def topics_of(workspace: Workspace, gaps: Sequence[Gap]) -> list[GapTopic]:
    """What a model makes of the questions that nothing answered; nothing where it fails."""
    gaps = [gap for gap in gaps if not find_reasons(gap.topic)][: prompt.MOST_QUESTIONS]
    if not gaps:
        return []
    question = prompt.make_gaps([gap.topic for gap in gaps])
    try:
        found, _ = consult(workspace, question, prompt.reader(len(gaps)), within=WITHIN_SECONDS, keep=QUESTION)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; named locally")
        return []
    return [GapTopic(name, tuple(gaps[number - 1] for number in sorted(numbers))) for name, numbers in found]
