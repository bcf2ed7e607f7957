"""Procedures: what to do for a purpose, on an occasion, or in an order."""

from __future__ import annotations

from memcli.conversation.facts import lexicon, moods
from memcli.conversation.facts.clauses import FactClause
from memcli.conversation.facts.lexicon import BASE, NOUN, WE, YOU
from memcli.conversation.facts.sentence import FactSentence
from memcli.conversation.facts.words import CODE
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
