"""Facts that are stated in a conversation: a linear model classifies each sentence by its cues, its mood, its position and
its neighbours. `tools/fit.py facts` fits the weights in `facts.json`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import exp

from memcli.conversation.cues import ACCEPTS, CUES, DID, KEEP, NOTED, OFFERS_WORK, PROPOSES, TAKES_BACK
from memcli.conversation.statements import ASKED, OFFERED, TalkStatement, statements
from memcli.model.conversation import Message
from memcli.model.memory import Json
from memcli.record import NamedTuple, Record, replace
from memcli.regex import regex
from memcli.safety.patterns import read_json
from memcli.text.languages import UNSPACED, plain_kind
from memcli.text.words import terms

KINDS = ("decision", "preference", "constraint", "goal", "procedure", "correction", "negative", "fact")
_RULES = ("decision", "preference", "constraint", "correction", "negative")
"""Kinds of rules for the work. They resemble each other, so `_judge` first decides between these and the other kinds."""
_LEAST = 0.45
"""The least probability of a fact that is reported."""
_MOST_SURE = 0.99


class Fact(Record):
    """A statement worth storing. `text` is the text of message number `message` at `span`, a pair of offsets in characters, with
    white space collapsed; `confidence` is the probability, 0 to 1, that it is a fact."""

    kind: str
    text: str
    message: int
    confidence: float
    span: tuple[int, int]

    def to_json(self) -> dict[str, Json]:
        """The fields that are printed."""
        return {"kind": self.kind, "text": self.text, "message": self.message, "confidence": self.confidence}


class FactCandidate(NamedTuple):
    """A sentence, a list item, or a list of steps with the sentence that introduces it."""

    statement: TalkStatement
    span: tuple[int, int]
    bare: str
    """The text that cues are matched against: the sentence, preceded by the one that introduces its list."""


Weights = Mapping[str, Mapping[str, float]]
"""For each feature, its weight for each kind, relative to the class of no fact."""


def extract(messages: Sequence[Message], weights: Weights | None = None) -> list[Fact]:
    """The facts that are stated in `messages` and still hold at their end, in order, each text once; by default with
    the weights in `facts.json`."""
    weights = weights or read_json(__package__, "facts.json")
    numbered = [one if one.number else replace(one, number=place) for place, one in enumerate(messages, 1)]
    found: list[Fact] = []
    for message, candidates in zip(numbered, judged(numbered), strict=True):
        for one, features in candidates:
            found[-_RECENT:] = _without_taken_back(found[-_RECENT:], one)
            kind, confidence = _judge(features, weights)
            back = TAKES_BACK.search(one.bare)
            # The sentence retracts its own beginning, or has too few terms besides the retraction to state a fact.
            is_gone = back is not None and (back.start() > 0 or len(terms(one.bare[back.end() :])) <= _NAMED)
            if confidence >= _LEAST and not is_gone:
                fact = _fact(kind, message, one.span, confidence)
                found[-_RECENT:] = [*_without_superseded(found[-_RECENT:], fact), fact]
    once: dict[str, Fact] = {}
    for fact in sorted(found, key=lambda fact: (fact.message, fact.span)):
        once.setdefault(fact.text.casefold(), fact)
    return list(once.values())


_LEAD = regex(
    r"(?i)(?:(?:actually,? no|no|nope|yes|yep|ok(?:ay)?|hmm?|oh|well|right|fine|good|great|nice|also|so)[,.:!]\s+|(?:btw|by the way|fyi)\b[,.:!]?\s+)+(?=\S)"
)
_MARKS = " ,;:"


def _fact(kind: str, message: Message, span: tuple[int, int], confidence: float) -> Fact:
    """The fact at `span` of a message, without words of reply (`Yes, `) before it."""
    start, end = span
    lead = _LEAD.match(message.text, start, end)
    start = lead.end() if lead else start
    text = " ".join(message.text[start:end].replace("**", "").split()).rstrip(_MARKS)
    return Fact(kind, text, message.number, confidence, (start, end))


def judged(messages: Sequence[Message]) -> Iterator[list[tuple[FactCandidate, dict[str, float]]]]:
    """For each message, its candidates with their features; of an assistant only those that a user accepts or asks to save."""
    read = [candidates(message) for message in messages]
    nothing: list[FactCandidate] = []
    for n, (message, own) in enumerate(zip(messages, read, strict=True)):
        before = read[n - 1] if n and messages[n - 1].role != message.role else nothing
        after = read[n + 1] if n + 1 < len(read) and messages[n + 1].role != message.role else nothing
        if message.role == "assistant":
            yield [(one, found) for one in own if (found := _of_assistant(one, before, after))]
        else:
            yield [(one, _of_user(at, own, before, after)) for at, one in enumerate(own)]


def _of_sentence(one: FactCandidate) -> dict[str, float]:
    # Vectors of sentences are no features: they added nothing once more labelled sentences were there.
    # Cues instead of clauses: a grammar of these found half as many of the facts in unseen conversations.
    found = dict.fromkeys([name for name, cue in CUES.items() if cue.search(one.bare)], 1.0)
    found |= dict.fromkeys(_AS.get(plain_kind(one.bare), ()), 1.0)
    count = len(UNSPACED.sub(lambda run: " " + "x " * (len(run[0]) // _CHARACTERS), one.statement.bare).split())
    found[f"is {one.statement.mood}"] = 1.0
    found["words"] = min(count, _LONG) / _LONG
    found |= dict.fromkeys([f"at most {most} words" for most in (2, 4, 8, 14) if count <= most], 1.0)
    if any(c.isupper() for c in one.statement.text[2:]):
        found["a name"] = 1.0
    return found


_AS = {
    "decision": ("chooses", "we", "says so plainly"),
    "negative": ("never", "forbids", "must not", "says so plainly"),
    "constraint": ("must", "must not", "always", "says so plainly"),
    "preference": ("prefers", "prefers it so", "I", "says so plainly"),
}
"""The cues of a kind, for plain sentences in other languages, in which the cues' patterns do not match."""
_CHARACTERS = 2
"""The characters of a script without spaces that count as one word."""
_LONG = 30
"""More words than this count as this many."""


def _of_user(
    at: int, own: Sequence[FactCandidate], before: Sequence[FactCandidate], after: Sequence[FactCandidate]
) -> dict[str, float]:
    """The features of the sentence `own[at]` of a user; `before` and `after` are the assistant's messages around it."""
    shown = {
        "first": at == 0,
        "last": at == len(own) - 1,
        "after a question": at > 0 and own[at - 1].statement.mood == ASKED,
        "before a question": at + 1 < len(own) and own[at + 1].statement.mood == ASKED,
    }
    if after:
        is_noted, is_done = NOTED.match(after[0].bare), DID.match(after[0].bare)
        shown["noted"] = is_noted is not None
        shown["done"] = is_noted is None and is_done is not None
        shown["asked back"] = not (is_noted or is_done) and after[-1].statement.mood in (ASKED, OFFERED)
    if before and at == 0:
        # Only the first sentence of the user may answer the assistant's message.
        questions = [each.bare for each in before if each.statement.mood == ASKED]
        is_choice = any(" or " in question for question in questions)
        options = {term for each in before for term in terms(each.statement.text)}
        last = before[-1]
        shown |= {
            "answers a question": bool(questions),
            "answers a choice": is_choice,
            "names an option": is_choice and not options.isdisjoint(terms(own[0].statement.text)),
            "answers an open question": not is_choice
            and last.statement.mood == ASKED
            and not OFFERS_WORK.match(last.bare),
            "after an offer": any(each.statement.mood == OFFERED or PROPOSES.search(each.bare) for each in before),
        }
    return _of_sentence(own[at]) | {name: 1.0 for name, is_so in shown.items() if is_so}


def _of_assistant(
    one: FactCandidate, before: Sequence[FactCandidate], after: Sequence[FactCandidate]
) -> dict[str, float]:
    """The features of a sentence of an assistant, if the user asks to save it or accepts it; otherwise none."""
    is_wanted_after = any(KEEP.search(each.bare) for each in after)
    is_accepted = bool(after) and after[0].statement.mood != ASKED and ACCEPTS.match(after[0].bare) is not None
    is_proposal = PROPOSES.search(one.bare) is not None
    is_wanted_before = any(KEEP.search(each.bare) for each in before)
    if not is_wanted_after and not (is_accepted and (is_proposal or is_wanted_before)):
        return {}
    shown = {"assistant": True, "user keeps it": is_wanted_after, "proposal accepted": is_accepted and is_proposal}
    return _of_sentence(one) | {name: 1.0 for name, is_so in shown.items() if is_so}


def _judge(features: Mapping[str, float], weights: Weights) -> tuple[str, float]:
    """The likeliest kind of the likelier group, rules or the others, and the probability that the sentence is a fact."""
    scores = dict.fromkeys(KINDS, 0.0)
    for name, value in {"bias": 1.0, **features}.items():
        for kind, weight in weights.get(name, {}).items():
            scores[kind] += weight * value
    # Bounded, as `exp` overflows for large scores.
    parts = {kind: exp(min(score, 50.0)) for kind, score in scores.items()}
    whole = sum(parts.values())
    rules = sum(parts[kind] for kind in _RULES)
    others = max((parts[kind], kind) for kind in KINDS if kind not in _RULES)
    kind = max((parts[kind], kind) for kind in _RULES)[1] if rules > others[0] else others[1]
    return kind, min(round(whole / (1 + whole), 2), _MOST_SURE)


_STEP = regex(r"(?:^|\n)[ \t]*\(?(?:\d{1,3}|[a-z])[.)][ \t]+\Z")
_ITEM = regex(r"(?:^|\n)[ \t]*[-*+•–][ \t]+(?:\[[ xX]\][ \t]+)?\Z")
_MOST_SENTENCES = 300
"""Only the first sentences of a message are read: a longer message is pasted text."""
_MARK = 12
"""The most characters of a list marker."""


def candidates(message: Message) -> list[FactCandidate]:
    """The parts of a message that may state a fact; a list of numbered steps is one, with the sentence that introduces it."""
    found: list[FactCandidate] = []
    lead: FactCandidate | None = None
    for sentence, (start, end) in _located(message):
        mark = message.text[max(0, start - _MARK) : start]
        is_step, is_item = _STEP.search(mark) is not None, _ITEM.search(mark) is not None
        if lead and is_step:
            whole = lead.span[0], end
            lead = FactCandidate(lead.statement, whole, f"{lead.bare} {sentence.bare}")
            found[-1] = lead
            continue
        if not (is_item or is_step):
            lead = None
        found.append(FactCandidate(sentence, (start, end), f"{lead.bare} {sentence.bare}" if lead else sentence.bare))
        if sentence.text.endswith(":"):
            lead = found[-1]
    return found


def _located(message: Message) -> Iterator[tuple[TalkStatement, tuple[int, int]]]:
    """The sentences of a message with their spans in its text."""
    words = [(match.start(), match[0]) for match in re.finditer(r"\S+", message.text)]
    flat = " ".join(word for _, word in words)
    starts = [0]
    for _, word in words:
        starts.append(starts[-1] + len(word) + 1)
    at = 0
    for sentence in statements(message)[:_MOST_SENTENCES]:
        at = flat.find(sentence.text, at)
        if at < 0:
            return
        place = []
        for where in (at, at + len(sentence.text) - 1):
            n = bisect_right(starts, where) - 1
            place.append(words[n][0] + where - starts[n])
        at += len(sentence.text)
        yield sentence, (place[0], place[1] + 1)


_REACH = 2
"""A retraction that names nothing concerns a fact at most so many messages before it."""
_RECENT = 24
"""A new sentence is compared with so many of the last facts."""
_NAMED = 2
"""The least terms in common by which a sentence names a fact."""
_SAME = 0.6
"""The share of the terms of the shorter of two decisions from which on they are about the same matter."""


def _without_taken_back(recent: Sequence[Fact], one: FactCandidate) -> list[Fact]:
    """The recent facts without the one that a sentence retracts: the one that it names, or else the last."""
    sentence = one.statement
    if not TAKES_BACK.search(one.bare) or sentence.mood == ASKED:
        return list(recent)
    named = frozenset(terms(sentence.text))
    shared = {id(fact): len(named.intersection(terms(fact.text))) for fact in recent}
    near = [fact for fact in recent if sentence.number - fact.message <= _REACH or shared[id(fact)] >= _NAMED]
    gone = max(near, key=lambda fact: (shared[id(fact)], fact.message, fact.span), default=None)
    return [fact for fact in recent if fact is not gone]


def _without_superseded(recent: Sequence[Fact], new: Fact) -> list[Fact]:
    """The recent facts without the decisions or corrections of earlier messages that a new one replaces."""
    if new.kind not in ("decision", "correction"):
        return list(recent)
    own = frozenset(terms(new.text))
    remaining = []
    for old in recent:
        before = frozenset(terms(old.text))
        is_near = len(before & own) >= max(_NAMED, _SAME * min(len(before), len(own)))
        if old.kind != new.kind or old.message >= new.message or not is_near:
            remaining.append(old)
    return remaining


_MOST = 3
"""The most consecutive sentences that state one fact."""


def point(kind: str, text: str, confidence: float, message: Message, known: Sequence[Fact]) -> Fact | None:
    """The fact that a language model worded as `text`, in the words of the fewest sentences of the message that have all of its
    terms; None if no sentences do, or one is a question. If a fact of `known`, which were found without a model, is in the same
    sentence, its span and text are used, so that the same fact is stored with and without a model."""
    wanted = frozenset(terms(text))
    run = _place(wanted, message) if wanted else []
    if not run:
        return None
    span = run[0].span[0], run[-1].span[1]
    near = [one for one in known if one.message == message.number and one.span[0] < span[1] and span[0] < one.span[1]]
    shared = [len(wanted.intersection(terms(one.text))) for one in near]
    if near and (len(run) == 1 or max(shared) == len(wanted)):
        return replace(near[shared.index(max(shared))], kind=kind, confidence=confidence)
    is_question = any(one.statement.mood == ASKED for one in run)
    return None if is_question else _fact(kind, message, span, confidence)


def _place(wanted: frozenset[str], message: Message) -> Sequence[FactCandidate]:
    """The first shortest run of sentences on one line that together have all terms of `wanted`; empty if there is none."""
    parts = candidates(message)
    found = [frozenset(terms(message.text[one.span[0] : one.span[1]])) for one in parts]
    for count in range(1, _MOST + 1):
        for n in range(len(parts) - count + 1):
            run = parts[n : n + count]
            is_line = "\n" not in message.text[run[0].span[1] : run[-1].span[0]]
            if is_line and wanted.issubset(frozenset().union(*found[n : n + count])):
                return run
    return []
