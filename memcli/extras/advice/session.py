"""The summary and the facts of a session by a language model, and the topics of unanswered questions.

A model is called only by a command that the user waits for, before any lock is taken. Hooks, and commands that finish what a
crash interrupted, use the local layer, or an answer that is stored already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate

from memcli.app.session_end import Yield, by_rules
from memcli.app.workspace import Workspace
from memcli.conversation.facts import Fact, point
from memcli.conversation.summary import SIZE, Chunk, fold
from memcli.errors import ProviderError, RefusedError, UsageError
from memcli.extras.advice.consult import QUESTION, TEXT, consult, stored_answer
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
    messages: Sequence[Message],
    *,
    may_fall_back: bool = True,
    within: float | None = None,
) -> Yield:
    """The summary and facts of numbered messages by the language model of the workspace; by the local layer if the model
    fails and `may_fall_back`. `within` is the time limit in seconds, by default WITHIN_SECONDS.

    Raises UsageError if no model is configured; unless `may_fall_back`, ProviderError, RefusedError.
    """
    local = by_rules(messages)
    if not messages:
        return local
    seconds = WITHIN_SECONDS if within is None else within
    question, read = _question(title, messages, local.facts)
    try:
        answer, _ = consult(workspace, question, read, within=seconds, keep=TEXT, may_wait=True)
    except (ProviderError, RefusedError) as error:
        if not may_fall_back:
            raise
        workspace.warn(f"{error.message}; the local layer stands in")
        return local
    return Yield(messages, *answer, workspace.model)


def facts_by_model(workspace: Workspace, talks: Iterable[tuple[str, Sequence[Message]]]) -> Iterator[Fact]:
    """The facts of conversations, each a title and its messages, by a language model, in WITHIN_SECONDS altogether. From the
    first failure on, they are found by the local layer. Raises UsageError if no model is configured."""
    ends = time.monotonic() + WITHIN_SECONDS
    uses_model = True
    for title, messages in talks:
        seconds = ends - time.monotonic()
        if uses_model and seconds <= 0:
            workspace.warn(f"{WITHIN_SECONDS:g} s are over; the local layer finds the facts of the rest")
        uses_model = uses_model and seconds > 0
        found = by_model(workspace, title, messages, within=seconds) if uses_model else by_rules(messages)
        # A model that failed would fail for the rest, too, and each failure takes its time.
        uses_model = uses_model and (bool(found.model) or not messages)
        yield from found.facts


def already(workspace: Workspace, title: str, messages: Sequence[Message]) -> Yield:
    """The summary and facts of a session by a stored answer of the language model, else by the local layer."""
    local = by_rules(messages)
    if not messages or not workspace.model:
        return local
    question, read = _question(title, messages, local.facts)
    return next(
        (Yield(messages, *answer, workspace.model) for answer in stored_answer(workspace, question, read)), local
    )


_Answer = tuple[str, Sequence[Fact]]
"""The summary, a sentence in each line, and the facts."""


def _question(
    title: str, messages: Sequence[Message], local: Sequence[Fact]
) -> tuple[Prompt, Callable[[Json], _Answer]]:
    """The prompt about a session, and the reader of its answer, which compares it with the messages. It raises ValueError."""
    chunks, latest, ends = excerpt(messages)
    question = prompt.make(
        title,
        [{"messages": list(chunk.turns), "text": chunk.summary} for chunk in chunks],
        [{"number": one.number, "role": one.role, "text": one.text} for one in latest],
    )
    texts = [title, *(chunk.summary for chunk in chunks), *(one.text for one in latest)]
    numbers = {number for text in texts for number in _NUMBER.findall(text)}

    def read(data: Json) -> _Answer:
        summary, claims = prompt.read(data)
        # A number that the session does not contain is the plainest sign of an invented sentence.
        borne_out = [one for one in summary if numbers.issuperset(_NUMBER.findall(one))]
        if not borne_out:
            raise ValueError("summary has numbers that the session has not")
        sentences = [one for one in borne_out if not find_reasons(one)]
        if not sentences:
            raise ValueError("summary contains instructions")
        return "\n".join(sentences), _facts(claims, messages, ends, local)

    return question, read


def _facts(
    claims: Sequence[prompt.ReportedFact], messages: Sequence[Message], ends: Mapping[int, int], local: Sequence[Fact]
) -> list[Fact]:
    """The claims of the model that a sent message states, in the words of that message, and the facts that the local layer
    found in the parts that were not sent; each text once. `ends` has the length in characters to which each sent message was
    cut, by its number."""
    by_number = {message.number: message for message in messages}
    found = [one for one in local if one.span[0] >= ends.get(one.message, 0)]
    for claim in claims:
        if claim.message not in ends:
            continue
        # In the words of the message that states it: nothing is invented, and other words for one fact make no second one.
        fact = point(claim.kind, claim.text, round(claim.confidence, 2), by_number[claim.message], local)
        if fact is not None and fact.span[0] < ends[fact.message]:
            found.append(fact)
    once: dict[str, Fact] = {}
    for fact in sorted(found, key=lambda fact: (fact.message, fact.span)):
        once.setdefault(fact.text.casefold(), fact)
    return list(once.values())


_MOST = 12_000
"""The most tokens of all messages together."""
# The rest of a longer message is mostly pasted text.
_MOST_TOOL, _MOST_OTHERS = 80, 800
"""The most tokens of one message of a tool, and of another."""
_MOST_CHUNKS = 20
_MOST_SUMMARY = 150
"""The most summaries, and the most tokens of each."""


def excerpt(messages: Sequence[Message]) -> tuple[list[Chunk], list[Message], dict[int, int]]:
    """The excerpt of a conversation of numbered messages: chunks with summaries of the older messages, the latest messages,
    each cut to a length, and by number the length in characters of each of these."""
    most = [_MOST_TOOL if message.role == "tool" else _MOST_OTHERS for message in messages]
    cut = [replace(one, text=cut_tokens(one.text, limit)) for one, limit in zip(messages, most, strict=True)]
    totals = accumulate(count_tokens(message.text) for message in reversed(cut))
    old = len(cut) - sum(total <= _MOST for total in totals)
    older = min(len(cut) // SIZE, -(-old // SIZE)) * SIZE  # rounded up, since only whole chunks are summed up
    chunks, _ = fold(messages[:older], recent=0, most=_MOST_CHUNKS)
    return (
        [replace(chunk, summary=cut_tokens(chunk.summary, _MOST_SUMMARY)) for chunk in chunks if chunk.summary],
        cut[older:],
        {message.number: end_of_tokens(message.text, most[n]) for n, message in enumerate(messages) if n >= older},
    )


def topics_of(workspace: Workspace, gaps: Sequence[Gap]) -> list[GapTopic]:
    """The topics of unanswered questions, by a model; empty, with a warning, if it fails."""
    # A question that contains instructions is not sent.
    gaps = [gap for gap in gaps if not find_reasons(gap.topic)][: prompt.MOST_QUESTIONS]
    if not gaps:
        return []
    question = prompt.make_gaps([gap.topic for gap in gaps])
    try:
        read = partial(prompt.read_topics, len(gaps))
        found, _ = consult(workspace, question, read, within=WITHIN_SECONDS, keep=QUESTION)
    except (ProviderError, RefusedError, UsageError) as error:
        workspace.warn(f"{error.message}; named locally")
        return []
    return [(name, tuple(gaps[number - 1] for number in sorted(numbers))) for name, numbers in found]
