"""Corrections: what is so, other than was said or thought; and what caused a fault.

What is taken back later in the same conversation.

Facts that a language model points at: each in the words of the message that it names, or none at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from memcli.conversation.facts import moods, openings
from memcli.conversation.facts.clauses import FactClause, FactSentence
from memcli.conversation.facts.lexicon import BASE, GERUND, IT, NOUN, PARTICIPLE, PAST, THEY, THIRD, WE, YOU, I
from memcli.conversation.facts.openings import FactWord, is_word
from memcli.conversation.facts.statements import CORRECTION, DECISION, Fact, FactStatement, read
from memcli.conversation.statements import ASKED, bared, mood_of
from memcli.model.conversation import Message
from memcli.record import replace
from memcli.regex import regex
from memcli.text.words import simple_terms, terms

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


_TAKEN_BACK = regex(
    r"\b(?:scratch that|never mind|(?:forget|scrap|ignore|disregard|strike|cancel|undo|revert) (?:that|it|what i (?:just )?said|my last|the last)"
    r"|on second thoughts?|(?:i )?take (?:that|it) back|changed? (?:of plans?|my mind)|change of plans?|no wait|not needed (?:anymore|after all|in)|i was wrong|hold that thought|let us not do that|thinking about it again)\b"
    r"|\b(?:actually|wait|hmm?|sorry) ,? ?no\b"
)
_INSTEAD = regex(r"\binstead\b(?! of)")
_REACH = 2
"""How many messages back something can be taken back without naming it."""
RECENT = 24
"""How many of the last facts a new one is compared with."""
_NAMED = 2
"""How many words of a fact name it."""
_SAME = 0.6


def takes_back(sentence: FactSentence) -> bool:
    """Whether a sentence takes back what was said before."""
    return _TAKEN_BACK.search(sentence.low) is not None


def after(sentence: FactSentence) -> Sequence[FactWord]:
    """The words behind what takes back."""
    match = _TAKEN_BACK.search(sentence.low)
    count = len(sentence.low[: match.end()].split()) if match else 0
    found = openings.read(sentence.statement.text)[count:]
    while (found and not found[0].text[0].isalnum()) or (found and found[0].text in ("then", "okay", "so")):
        found = found[1:]
    return found


def replaces(sentence: FactSentence) -> bool:
    """Whether a sentence puts something in the place of what was said before."""
    return _INSTEAD.search(sentence.low) is not None


def without_last(recent: Sequence[Fact], sentence: FactSentence, message: int) -> list[Fact]:
    """The recent facts without what a sentence of a message takes back: what it names, or else the last one."""
    named = _terms(sentence.statement.text)
    near = [fact for fact in recent if message - fact.message <= _REACH or len(named & _terms(fact.text)) >= _NAMED]
    if not near:
        return list(recent)
    latest = max(fact.message for fact in near)
    chosen = max(near, key=lambda fact: (len(named & _terms(fact.text)), fact.message == latest, fact.span))
    return [fact for fact in recent if fact is not chosen]


def without_superseded(recent: Sequence[Fact], new: Fact) -> list[Fact]:
    """The recent facts without the decisions that a new one makes anew."""
    if new.kind not in (DECISION, CORRECTION):
        return list(recent)
    terms = _terms(new.text)
    return [fact for fact in recent if not _is_same(fact, new, terms)]


@lru_cache(maxsize=256)
def _terms(text: str) -> frozenset[str]:
    return frozenset(simple_terms(text))


def _is_same(old: Fact, new: Fact, terms: frozenset[str]) -> bool:
    if old.kind != new.kind or old.message >= new.message:
        return False
    before = _terms(old.text)
    return len(before & terms) >= max(2, _SAME * min(len(before), len(terms)))


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
