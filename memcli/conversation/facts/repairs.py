"""Corrections: what is so, other than was said or thought; and what caused a fault."""

from __future__ import annotations

from memcli.conversation.facts import moods
from memcli.conversation.facts.clauses import FactClause
from memcli.conversation.facts.lexicon import BASE, GERUND, IT, NOUN, PARTICIPLE, PAST, THEY, THIRD, WE, YOU, I
from memcli.conversation.facts.sentence import FactSentence
from memcli.conversation.facts.words import is_word
from memcli.regex import regex

DENIAL = regex(
    r"(?:\b(?:is|are|was) (?:wrong|outdated|out of date|obsolete|incorrect)\b|\bthe wrong \w+|\b(?:that|this|it|which) (?:is|was) (?:wrong|not (?:right|correct|true|quite right|what i said|how)|incorrect|outdated|false|a typo)\b|\bi (?:misspoke|was wrong|mistyped|was mistaken|made a mistake|mixed (?:that|it|them|this|those) up|got (?:that|it) wrong|confused)\b"
    r"|\byou (?:had|got|have) (?:it|that|this) (?:wrong|backwards|mixed up|the wrong way)\b|\bi meant\b(?! to\b)|^ (?:correction|erratum)\b|\bmy (?:bad|mistake)\b|\byou (?:put|are wrong|are mistaken|misunderstood|mixed)\b|\bnot quite\b|\bwrong ,)"
)
_NOT_THIS = regex(
    r"\b(?:it|that|this) is not (?!\w+ing\b|just|only).{1,80} ,(?: but)? (?:it|that|this) is\b|\b(?:it|that|this) is not (?!just|only|that|so|bad|too).{1,80} but\b"
)
_ASSUMED = regex(
    r"^ (?:(?:no|hm+|wait|sorry|well) ,? ?)*you (?:have )?(?:assumed|used|wrote|put|called|named|thought|picked|set|assume|think|treat|treated|hardcoded) .* but (?:it|that|they|this|(?:the|our) \w+|we) (?:is|are|was|were|should|has|have|use|uses|run|runs)\b"
)
_SHOULD_BE = regex(r"\bshould (?:be|have been|read|say|go) .*\b(?:instead of|rather than|, not|and not)\b")
_NOT_BUT = regex(r"^not (?:the|an?|on|in|at|from|with) \w[^,]{1,40} , (?:but )?(?:the|an?|on|in|at|from|with)\b")
_MEANT = regex(r"\bi (?:meant|actually meant)\b(?! to\b)")
_NO_LONGER = regex(r"\bno longer\b|\bnot\b.{1,60}\bany ?more\b")
_CHANGED = regex(
    r"\b(?:have|has) (?:since|now) (?:been )?(?:renamed|moved|replaced|changed|switched|dropped|removed)\b|\b(?:is|are) now (?:called|named|in|at|on|under)\b|\b(?:is|are|was|were) (?:actually|in fact)\b|\bused to be\b.*\bnow\b"
)
_CONTRAST = regex(
    r"(?:,| and| —| –| -|\() not (?!only\b|yet\b|just\b|sure\b|because\b|that\b|so\b|again\b|to\b|bad\b)\S"
)
_CAUSE = regex(
    r"\b(?:root cause|culprit|actual (?:cause|problem|bug|issue)|real (?:cause|problem|bug|issue|reason)) (?:was|is|turned out)\b"
    r"|\b(?:bug|issue|problem) (?:is|was) (?:now )?fixed [:—;]|\bturns out\b|\b(?:the )?(?:bug|issue|problem|failure|error|crash|leak|off-by-one|cause|reason) (?:was|came from|is caused by|was caused by|stemmed from|comes from) (?!fixed|solved|gone|resolved|that\b.{0,5}$)"
    r"|\b(?:is|was|were|are) (?:caused by|due to)\b"
)
_SHORTEST = 3
_RUNNING = frozenset("work run compile happen fail start load open care know".split())
_FINE = frozenset("red green still there broken fixed done working fine ready slow fast".split())
_DENYING = frozenset("no nope nah wrong actually correction".split())


def is_correction(clause: FactClause, *, is_denied: bool) -> bool:
    """Whether the user sets something right. `is_denied` says that something was called wrong just before."""
    if (denied := DENIAL.search(f" {clause.low} ")) and _says_more(f" {clause.low} "[denied.end() :]):
        return True
    if _MEANT.search(clause.low):
        return any(is_word(word) for word in clause.rest)
    if _NO_LONGER.search(clause.low) and clause.person != THEY and clause.form not in (PAST, GERUND):
        return clause.person != I and {"he", "she"}.isdisjoint(clause.words) and clause.verb not in _RUNNING
    if _NOT_BUT.match(clause.low):
        return True
    is_declared = _is_declared(clause)
    if _CHANGED.search(clause.low) and (is_declared or clause.person == WE):
        return not _is_comment(clause)
    if is_declared and _CONTRAST.search(clause.low) and clause.form in (BASE, THIRD, PARTICIPLE):
        return clause.person in (NOUN, IT, WE) and _FINE.isdisjoint(clause.rest)
    if clause.is_negated and clause.person == IT and clause.verb == "be" and "," in clause.rest:
        return False
    opens = (
        bool(_DENYING.intersection(clause.openers))
        or "actually" in clause.words[:4]
        or clause.words[-1:] == ("actually",)
    )
    if (opens or is_denied) and not moods.is_momentary(clause):
        return (is_declared and clause.person in (NOUN, IT) and not _is_comment(clause)) or _is_fragment(
            clause, opens=opens
        )
    return False


def _says_more(rest: str) -> bool:
    """Whether a denial goes on to say what is right."""
    return rest.lstrip()[:1] in tuple(",:;—-") and len(rest.split()) > _SHORTEST


def _is_declared(clause: FactClause) -> bool:
    return (
        bool(clause.verb)
        and clause.form in (BASE, THIRD, PAST, PARTICIPLE)
        and clause.modal in ("", "must", "should")
        and clause.person not in (YOU, THEY, "")
    )


def _is_comment(clause: FactClause) -> bool:
    """Whether it only judges: `that's fine`."""
    content = [word for word in clause.rest if is_word(word)]
    return (clause.person == IT and (len(content) <= 1 and not any(word[0].isdigit() or word[0] == "<" for word in content))) or content[:1] in (
        ["wrong"], ["fine"], ["not"], ["good"], ["right"], ["great"], ["nice"], ["weird"], ["better"], ["it"], ["enough"], ["funny"], ["interesting"],
    )  # fmt: skip


def _is_fragment(clause: FactClause, *, opens: bool) -> bool:
    """Whether it is a value said against another: `every 15 min actually`."""
    return opens and not clause.verb and 2 <= len(clause.words) <= 8 and any(word[0].isdigit() for word in clause.words)


def denies(clause: FactClause) -> bool:
    """Whether it calls something wrong without saying what is right."""
    return bool(DENIAL.search(f" {clause.low} ")) or (not clause.verb and not _DENYING.isdisjoint(clause.openers))


def is_contrast(sentence: FactSentence) -> bool:
    """Whether it says that something is not this but that."""
    return any(pattern.search(sentence.low) for pattern in (_NOT_THIS, _ASSUMED, _SHOULD_BE))


def is_cause(sentence: FactSentence) -> bool:
    """Whether it says what a fault came from."""
    return _CAUSE.search(sentence.low) is not None
