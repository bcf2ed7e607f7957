"""What a sentence states, and of what kind: the rules in the order in which they are tried.

Procedures: what to do for a purpose, on an occasion, or in an order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memcli.conversation.facts import choices, constraints, lexicon, moods, repairs
from memcli.conversation.facts.clauses import FactClause, FactSentence
from memcli.conversation.facts.lexicon import BASE, NOUN, WE, YOU
from memcli.conversation.facts.openings import CODE
from memcli.conversation.facts.statements import CONSTRAINT, CORRECTION, DECISION, GOAL, NEGATIVE, PREFERENCE, PROCEDURE
from memcli.regex import regex

_PURPOSE = regex(
    r"^ (?:(?:so|and|but|okay|btw|also|fyi|note|in order|reminder|remember) [,:]? ?)*to (?!be\b|me\b|my\b|us\b|answer\b|clarify\b|summari|recap\b|some\b|date\b|the\b|your\b|this\b|that\b|make sure\b)\w+"
)
_OCCASION = regex(
    r"^ (?:(?:so|and|but|okay|btw|also|fyi|note|in general) ,? ?)*(?:when|whenever|every \w+|each \w+|any time|before|after|once|if|on|in case)\b"
)
_LABEL = regex(
    r"^ (?:(?:our|the|my|here is the|here are the|this is) )?(?:\w+ ){0,3}(?:steps|procedure|runbook|checklist|recipe|workflow|process|routine|sequence)(?: (?:for|to|of|when|after) [^:]{1,60})?(?: is| are)? ?:"
    r"|^ (?:this is |here is |that is )?how (?:we|you|to|i) \w+[^?]{0,80}?:"
    r"|^ (?:the way (?:we|you|to|i) [^:]{1,60}|\w+ing (?:\w+ ){0,3}(?:goes|works|is done) [^:]{0,20}) :"
    r"|\b(?:is|are|gets?) \w+ed by (?:running|calling|executing|pressing|editing|going)\b"
    r"|^ (?:the |our )?(?:\w+ ){0,2}(?:procedure|process|workflow|steps) (?:is|are) "
)
_ORDERED = regex(r"\b(?:then|and then|after that|afterwards|next|finally|only after|followed by|and only)\b")
_MEANS = regex(
    r"\byou (?:can )?(?:get|do|build|run|start|deploy|make|create|generate|reset|rebuild|install|restart|need to|have to|must)\b"
)
_ONCE = regex(
    r"^ \w+ you (?:are (?:\w+ )?(?:done|finished|ready|back|at it|there)|go|leave|finish|have (?:done|finished|time|a)|get)\b"
)
_DUTY = regex(r"\b(?:you|we|one) (?:must|have to|need to|should|always|first)\b")


def is_procedure(sentence: FactSentence, *, is_asked: bool) -> bool:
    """Whether it says how something is done. `is_asked` says that it answers the question how."""
    low = sentence.low
    orders = _orders(sentence)
    has_code = CODE in sentence.words
    if _LABEL.search(low):
        return True
    if _PURPOSE.match(low):
        return _after_purpose(sentence) and not moods.is_unsure(sentence.clauses[0])
    if _OCCASION.match(low):
        return _after_occasion(sentence, orders, has_code=has_code)
    first = sentence.clauses[0]
    if first.is_order and ((orders >= 1 and " first , then " in low) or _is_duty(first)):
        return True
    if sentence.words[:1] == ("first",) and (orders >= 3 or has_code) and _ORDERED.search(low):
        return True
    if has_code and _MEANS.search(low) and sentence.is_users and orders + low.count(" then ") >= 1:
        return True
    if is_asked and orders >= 1 and has_code:
        return sentence.clauses[0].is_order and sentence.clauses[0].verb in lexicon.RUN | {"use", "set", "add", "put"}
    return (
        orders >= 1
        and _ORDERED.search(low) is not None
        and has_code
        and sentence.clauses[0].is_order
        and low.count(",") >= 1
    )


def _is_duty(clause: FactClause) -> bool:
    """Whether something is always to be run on an occasion."""
    is_bound = not {"before", "after", "when", "whenever"}.isdisjoint(clause.words)
    return "always" in clause.words[:2] and clause.verb in lexicon.RUN and is_bound


def _orders(sentence: FactSentence) -> int:
    """How many verbs give an order: at the beginning, and after a stop or a conjunction."""
    count = 0
    texts = sentence.words
    for at, word in enumerate(texts):
        before = texts[at - 1] if at else ","
        if before in (",", ":", "and", "then", ";", "just", "first", "please", "always") and any(
            form == BASE for _, form in lexicon.verbs().get(word, ())
        ):
            count += 1
    return count


def _after_purpose(sentence: FactSentence) -> bool:
    texts = sentence.words
    for at, word in enumerate(texts[2:], 2):
        if word in (",", ":", "—", "-") or (word in ("just", "simply") and at > 2):
            following = [
                t for t in texts[at + 1 : at + 5] if t not in lexicon.ADVERBS and t not in ("first", "just", "please")
            ]
            if following[:1] and (
                following[0] in ("you", CODE, "we") or any(f == BASE for _, f in lexicon.verbs().get(following[0], ()))
            ):
                return True
        if (
            at > 2
            and word in ("run", "use", "call", "execute")
            and texts[at - 1] not in ("to", "and", "or", "the", "a")
        ):
            return True
        if at > 2 and word in ("you", "we") and at + 1 < len(texts) and texts[at + 1] in lexicon.verbs():
            return sentence.low.count(" , ") >= 1
    return False


def _after_occasion(sentence: FactSentence, orders: int, *, has_code: bool) -> bool:
    rest = sentence.low.partition(" , ")[2] or sentence.low.partition(" : ")[2]
    if any(moods.is_unsure(clause) for clause in sentence.clauses):
        return False
    duty = any(
        clause.person in (YOU, WE, NOUN)
        and clause.modal in ("must", "should")
        and clause.verb in lexicon.RUN | lexicon.MAKE
        for clause in sentence.clauses
    )
    is_general = (
        sentence.words[0] in ("whenever", "every", "each", "before", "after", "when", "in", "any") or orders >= 2
    )
    if moods.is_momentary(sentence.clauses[0]) or _ONCE.match(sentence.low):
        return False
    if not rest:
        return duty and _DUTY.search(sentence.low) is not None
    return (orders >= 1 and (is_general or has_code) and (has_code or orders >= 2 or sentence.words[0] != "if")) or (
        duty and is_general
    )


_MAX_WORDS = 60

# About the share that was right of what these rules found in excerpts that they were not made with, rather too low than
# too high: what the user states by a firm rule, and by a looser one; requests, and what is accepted; what an assistant states.
SURE, LIKELY, FAIR, ASSISTANT = 0.9, 0.85, 0.75, 0.65


class FactMatch(NamedTuple):
    kind: str
    start: int
    """Where it begins in the message."""
    end: int
    confidence: float


class _FactRule(NamedTuple):
    kind: str
    holds: Callable[[FactClause, FactSentence], bool]
    confidence: float
    is_lasting: bool
    """Whether words such as `now` and `today` rule it out."""


_NO_LONGER = regex(r"\bno longer\b|\bany ?more\b")
_RULES: Sequence[_FactRule] = (
    _FactRule(
        CORRECTION,
        lambda c, _: bool(_NO_LONGER.search(c.low)) and repairs.is_correction(c, is_denied=False),
        SURE,
        False,
    ),
    _FactRule(NEGATIVE, constraints.is_negative, SURE, True),
    _FactRule(DECISION, choices.is_decision, SURE, False),
    _FactRule(PREFERENCE, constraints.is_preference, SURE, True),
    _FactRule(GOAL, choices.is_goal, SURE, False),
)
_LABELS = (
    (DECISION, regex(r"^ (?:the |our |my )?(?:final )?(?:decision|decided|verdict|answer|call|resolution|conclusion)(?: \w+){0,3} ?: \S|^(?: \w+| ,){0,4} (?:settled|agreed|fixed|decided|final|consensus)(?: then| now)? : \S")),
    (GOAL, regex(r"^ (?:the |our |my |main |overall |\w+ )?(?:goals?|aims?|objectives?|target|milestone|mission|okr)(?: (?:for|this|of|is)(?: \w+){1,3})? ?: \S")),
    (CORRECTION, regex(r"^ (?:correction|erratum|errata|typo) ?: \S")),
    (CORRECTION, regex(r"^ (?:the )?(?:root cause|cause|reason|fix|bug) ?: \S")),
    (CONSTRAINT, regex(r"^ (?:the |our |hard |one )?(?:\w+ ){0,2}(?:requirements?|constraints?|limits?|limitations?|must-haves?|budget|rules?) ?: \S")),
    (PREFERENCE, regex(r"^ (?:my |our )?(?:preferences?|style) ?: \S")),
)  # fmt: skip
_DONE_LABEL = regex(r"^ (?:the )?(?:fix(?:ed)?|solution|decision|approach|change)(?: is| was)? ?: \S")
_REQUEST = regex(
    r"^ (?:(?:okay|so|and|also|hey|but) ,? ?)*(?:could|can|would|will) you (?:please )?"
    r"(?:(?:always|avoid|stop|not|never)\b|.*\b(?:from now on|in (?:the )?future|always|every time|going forward)\b)"
)


def of_user(sentence: FactSentence, *, is_denied: bool) -> list[FactMatch]:
    """What the user states in a sentence. `is_denied` says that something was called wrong just before."""
    if (
        len(sentence.words) < 2
        or len(sentence.words) > 2 * _MAX_WORDS
        or moods.is_ironic(sentence)
        or moods.is_foreign(sentence)
    ):
        return []
    if moods.is_question(sentence):
        return [_whole(sentence, PREFERENCE, FAIR)] if _REQUEST.match(sentence.low) else []
    if moods.is_report(sentence):
        return []
    if is_procedure(sentence, is_asked=False):
        return [_whole(sentence, PROCEDURE, LIKELY)]
    if moods.is_supposed(sentence):
        return []
    if repairs.is_contrast(sentence) and not moods.is_unsure(sentence.clauses[0]):
        return [_whole(sentence, CORRECTION, LIKELY)]
    for kind, label in _LABELS:
        if label.match(sentence.low):
            return [_whole(sentence, kind, SURE)]
    return _joined(sentence, _of_clauses(sentence, is_denied=is_denied))


def _of_clauses(sentence: FactSentence, *, is_denied: bool) -> list[tuple[str, float]]:
    found, is_anothers = [], False
    for clause in sentence.clauses:
        is_anothers = moods.is_view(clause) or (is_anothers and not moods.concludes(clause))
        found.append(("", 0.0) if is_anothers else _of_clause(clause, sentence, is_denied=is_denied))
        is_denied = is_denied or repairs.denies(clause)
    return found


def _of_clause(clause: FactClause, sentence: FactSentence, *, is_denied: bool) -> tuple[str, float]:
    if moods.is_unsure(clause) or moods.is_offer(clause):
        return "", 0
    is_momentary = moods.is_momentary(clause)
    for rule in _RULES:
        if not (rule.is_lasting and is_momentary) and rule.holds(clause, sentence):
            return rule.kind, rule.confidence
    if repairs.is_correction(clause, is_denied=is_denied):
        return CORRECTION, LIKELY
    if not is_momentary and constraints.is_constraint(clause):
        return CONSTRAINT, LIKELY
    return "", 0


def of_assistant(sentence: FactSentence, *, is_asked: bool) -> list[FactMatch]:
    """What an assistant states that it has done or found out. `is_asked` says that it answers the question how."""
    if len(sentence.words) < 4 or len(sentence.words) > 2 * _MAX_WORDS:
        return []
    if moods.is_question(sentence) or moods.is_supposed(sentence):
        return []
    if is_asked and is_procedure(sentence, is_asked=True):
        return [_whole(sentence, PROCEDURE, ASSISTANT)]
    if any(moods.is_unsure(clause) or moods.is_offer(clause) for clause in sentence.clauses):
        return []
    if repairs.is_cause(sentence):
        return [_whole(sentence, CORRECTION, ASSISTANT)]
    if _DONE_LABEL.match(sentence.low):
        return [_whole(sentence, DECISION, ASSISTANT)]
    if is_procedure(sentence, is_asked=False) and "`" in sentence.statement.text:
        return [_whole(sentence, PROCEDURE, ASSISTANT)]
    found = [
        (DECISION, ASSISTANT) if choices.is_report_of_choice(clause, sentence) else ("", 0.0)
        for clause in sentence.clauses
    ]
    return _joined(sentence, found)


def _whole(sentence: FactSentence, kind: str, confidence: float) -> FactMatch:
    start = sentence.clauses[0].start if sentence.clauses else 0
    return FactMatch(
        kind, sentence.statement.start + start, sentence.statement.start + len(sentence.statement.text), confidence
    )


_SHORT = 5
"""A clause of fewer words says little without the one before it."""
_POINTERS = frozenset("it this that they these those them".split())


def _joined(sentence: FactSentence, kinds: Sequence[tuple[str, float]]) -> list[FactMatch]:
    """The findings of the clauses: those of one kind in a row are one, and the clause behind one belongs to it."""
    found: list[FactMatch] = []
    base, tail, last_end = sentence.statement.start, False, 0
    for at, (kind, confidence) in enumerate(kinds):
        clause = sentence.clauses[at]
        begin, end = base + clause.start, base + clause.end
        if found and tail and (not kind or kind == found[-1].kind):
            found[-1] = found[-1]._replace(end=end)
        elif kind:
            if (
                at
                and not found
                and len(sentence.clauses[at - 1].words) > 2
                and (_points(clause) or len(clause.words) < _SHORT)
            ):
                begin = base + sentence.clauses[at - 1].start
            found.append(FactMatch(kind, begin, end, confidence))
        tail = bool(found) and end - found[-1].start < 200 and (bool(kind) or last_end != at)
        last_end = at
    return found


def _points(clause: FactClause) -> bool:
    """Whether its subject stands for something said before, and it says little else."""
    if clause.is_order:
        return clause.rest[:1] != () and clause.rest[0] in _POINTERS and len(clause.rest) <= 3
    return clause.subject[:1] != () and clause.subject[0] in _POINTERS and len(clause.rest) <= 4
