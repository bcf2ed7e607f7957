"""Facts that a language model points at: each in the words of the message that it names, or none at all."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.conversation.facts.fact import Fact
from memcli.conversation.facts.statements import FactStatement, read
from memcli.conversation.statements import ASKED, bared, mood_of
from memcli.model.analysis import terms
from memcli.model.conversation import Message
from memcli.record import replace

_MOST = 3
"""How many sentences in a row may state one fact."""


def point(kind: str, text: str, confidence: float, message: Message, known: Sequence[Fact]) -> Fact | None:
    """The fact that `text` means, in the words of the sentences of the message that have all of its own; None where the
    message does not say so, or asks. `known` are the facts that the local layer found: of the same sentence, its words are
    taken, which are those that an end of the session without a model keeps."""
    wanted = frozenset(terms(text))
    run = _place(wanted, message.text) if wanted and message.role != "tool" else []
    if not run:
        return None
    start, end = run[0].start, run[-1].start + len(run[-1].text)
    near = [one for one in known if one.message == message.number and one.span[0] < end and start < one.span[1]]
    shared = [len(wanted.intersection(terms(one.text))) for one in near]
    if near and (len(run) == 1 or max(shared) == len(wanted)):
        return replace(near[shared.index(max(shared))], kind=kind, confidence=confidence)
    words = " ".join(message.text[start:end].replace("**", "").split()).rstrip(" ,;:")
    is_asked = any(mood_of(one.text, bared(one.text)) == ASKED for one in run)
    return None if is_asked else Fact(kind, words, message.number, confidence, (start, end))


def _place(wanted: frozenset[str], text: str) -> Sequence[FactStatement]:
    """The fewest sentences in a row that have all terms that are wanted, the first of these; none if there are none."""
    said = read(text)
    found = [frozenset(terms(one.text)) for one in said]
    for count in range(1, _MOST + 1):
        for n in range(len(said) - count + 1):
            run = said[n : n + count]
            if wanted.issubset(frozenset().union(*found[n : n + count])) and run[0].block == run[-1].block:
                return run
    return []
