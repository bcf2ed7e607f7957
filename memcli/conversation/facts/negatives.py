"""Negatives: what must not be done, and what was tried in vain."""

from __future__ import annotations

from memcli.conversation.facts import lexicon
from memcli.conversation.facts.clauses import FactClause
from memcli.conversation.facts.lexicon import BASE, HAVE, IT, NOUN, PAST, WE, YOU, I
from memcli.conversation.facts.sentence import FactSentence
from memcli.conversation.facts.words import is_word
from memcli.regex import regex

_IDLE = frozenset(
    "worry forget know think hesitate bother mind get wait panic see feel hurry care sweat understand look be stress apologize have miss let say".split()
)
_STATES = frozenset(
    "need know have think want understand see get care mind remember like expect believe trust agree say seem look mean hear feel wait".split()
)
_FORBIDDEN = regex(
    r"\b(?:forbidden|banned|prohibited|off limits|off-limits|under no circumstances|not under any circumstances|stay away from"
    r"|keep (?:your )?(?:hands|away) (?:off|from)|hands off|make sure (?:you )?(?:do )?not(?: to)?|be careful not to|take care not to|refrain from|leave \w+(?: \w+){0,2} (?:alone|as is|untouched|as it is)|dead end|never again|is a no-go|are a no-go|was a mistake|not again)\b"
)
_NO_NOUN = regex(
    r"^no (?!(?:prob|probs|problem|idea|worries|way|need|rush|thanks|one|clue|conclusion|luck|longer|more|big|doubt|matter|changes?|error|errors|result|results|offen[cs]e|pressure|hurry|questions?|response|answer|difference|wonder|comment|no|not|hard|such|sane)\b)(?!new (?:error|result|message|idea)s?\b)[\w<]\S* [\w<]"
)
_CIRCUMSTANCES = frozenset("with when on for in under if".split())
_FAILED = regex(
    r"\b(?:fail|failed|fails|deadlock\w*|broke|breaks|crash\w*|overfit\w*|too slow|not again|never again|mistake|did not (?:work|help|scale|fit)"
    r"|does not (?:work|help|scale)|blew up|disaster|nightmare|corrupt\w*|leak\w*|unusable|regret\w*|painful|terrible|horrible|burned|backfired|dead end|choked|fell over|times? out|timed out)\b"
)


def is_negative(clause: FactClause, sentence: FactSentence) -> bool:
    """Whether it says what must not be done, or what was tried in vain."""
    if _FORBIDDEN.search(clause.low) and clause.person != I:
        return True
    if clause.is_order:
        return _is_prohibition(clause, sentence)
    if clause.person == I and clause.verb == "want" and clause.is_negated:
        return "any" in clause.rest[:4]
    if clause.modal in ("must", "should", "shall") and clause.is_negated and not {*clause.auxiliaries} & HAVE:
        if clause.person == IT or (clause.person == NOUN and clause.form == BASE and "never" not in clause.words):
            return False  # What a thing must not do is a constraint.
        return clause.verb not in ("need", "exceed", "take", "worry", "cost", "be", "matter") or "never" in clause.words
    if _is_attempt(clause):
        return _FAILED.search(sentence.low) is not None
    if clause.person == WE and clause.is_negated and clause.auxiliaries == ("do",) and clause.form == BASE:
        return clause.verb not in _STATES and bool(clause.rest)
    if clause.person in (WE, YOU) and clause.is_negated and "never" in clause.words and clause.form == BASE:
        return clause.verb not in lexicon.PROCESS
    if clause.words[:1] == ("no",) and not clause.modal and not clause.auxiliaries and len(clause.words) <= 12:
        return _NO_NOUN.match(clause.low) is not None
    return _is_defect(clause)


def _is_attempt(clause: FactClause) -> bool:
    """Whether it says what was done: `doing that broke`, `we tried`."""
    if clause.verb == "try" and clause.is_past and clause.is_ours:
        return bool(clause.rest) and clause.rest[0] not in ("it", "that", "this", "to")
    is_gerund = (
        clause.subject[:1] != () and clause.subject[0].endswith("ing") and len(clause.subject[0]) > len("thing") - 1
    )
    return is_gerund and (clause.form == PAST or "did" in clause.auxiliaries)


def _is_prohibition(clause: FactClause, sentence: FactSentence) -> bool:
    if clause.verb == "stop":
        return clause.rest[:1] == ("using",)
    if clause.verb == "avoid" or (clause.verb == "stay" and clause.rest[:1] == ("away",)):
        return True
    if not clause.is_negated or clause.verb in _IDLE:
        return False
    if clause.rest[:1] and not (clause.rest[0][0].isalnum() or clause.rest[0][0] in "</.-"):
        return False
    pointed = [word for word in clause.rest if is_word(word)]
    if pointed[:1] == ["up"]:
        return False
    return bool(pointed) and (pointed[0] not in ("that", "so", "it") or len(sentence.clauses) > 1 or len(pointed) > 2)


def _is_defect(clause: FactClause) -> bool:
    """Whether something does not work under certain circumstances, said as a rule."""
    if clause.verb != "work" or not clause.is_negated or clause.person != NOUN or clause.form != BASE:
        return False
    return len(clause.rest) > 3 and clause.rest[0] in _CIRCUMSTANCES
