"""The last topic of a session: what is kept of it, and what a prompt makes of it."""

from __future__ import annotations

from memcli.conversation.topic import Sign, Trace, compare_to, cosine
from memcli.record import Record, replace

_MOST = 200
"""How many terms are kept."""


class LastTopic(Record):
    """A topic: the trace of its prompts, and the vector of the first of them, of the model named; empty without one."""

    trace: Trace
    model: str = ""
    vector: bytes = b""


def next_topic(last: LastTopic | None, prompt: str, own: LastTopic, sign: Sign) -> tuple[LastTopic, bool]:
    """The topic after a prompt, of which `own` is what is to be kept, and whether it is another one than the last.

    A prompt that cannot be understood alone adds its words to the topic: `why?` is none that the next could change.
    """
    if last is None:
        return own, False
    topic = compare_to(last.trace, prompt, _similarity(last, own), sign)
    return (_joined(last, own) if topic.follows else own), topic.changed


def _similarity(last: LastTopic, own: LastTopic) -> float | None:
    return cosine(last.vector, own.vector) if last.vector and last.model == own.model else None


def _joined(last: LastTopic, own: LastTopic) -> LastTopic:
    before, new = last.trace, own.trace
    if len(before.terms | new.terms) > _MOST:
        return last
    share = len(new.terms - before.terms) / max(1, len(new.terms))  # a hash does not say what its word weighs
    joined = Trace(before.terms | new.terms, before.names | new.names, before.weight + share * new.weight)
    return replace(last, trace=joined)
