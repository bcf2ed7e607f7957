"""Constraints: what must hold, and what is not possible."""

from __future__ import annotations

from memcli.conversation.facts import lexicon
from memcli.conversation.facts.clauses import LET, FactClause
from memcli.conversation.facts.lexicon import BASE, GERUND, HAVE, IT, NONE, NOUN, PAST, THEY, THIRD, WE, YOU, I
from memcli.regex import regex

_LIMIT = regex(
    r"\b(?:max|maximum|minimum|min|at most|at least|no more than|no longer than|no later than|not exceed|exceed|limit(?:ed)?|capped?|budget|up to|oldest|deadline|below|under|within|hard limit|ceiling|tops? out|maxes out|newest|latest|cap|threshold|quota|never (?:take|exceed|be))\b"
)
_DEMANDED = regex(
    r"\b(?:is|are|be|am) (?:\w+ ){0,2}?(?:mandatory|required(?! \w+ing\b)|compulsory|limited to|restricted to|(?:not|only) (?:\w+ )?(?:allowed|permitted)|capped|obligatory|non-negotiable|not negotiable|not an option|not possible|set in stone|out of (?:scope|the question))\b"
    r"|\bstuck (?:on|with)\b|\b(?:may|can|are|is|must) only\b|\bonly (?:\w+ )?(?:allowed|supported|supports|has access)\b|\bno \w+(?: \w+)? (?:allowed|permitted)\b|\bnobody (?:but|except|merges|may|can)\b|\bno one (?:but|except|may|can)\b"
    r"|\bnon-negotiable\b|\ba must\b|\bmust-have\b|\bdeal ?breaker\b|\bhard requirement\b|\bonly (?:have|has|get|gets|got) \w|\bblocks everything\b|\bno internet\b|\bair-?gapped\b"
)
_HERE = regex(
    r"\b(?:in|for|of|across) (?:this|our|the) (?:project|repo|repository|codebase|code base|team|company|org|house)\b"
)
_RULED = frozenset("be have use go live start end get need return follow run belong".split())
_CONDITIONS = frozenset(
    "green red failing passing done fine okay up down there here in gone set good ready empty broken wrong missing".split()
)
_GUESSED = frozenset(
    "noted said mentioned wrong right broken true cached crazy kidding down dead correct something".split()
)
_NUMBERS = frozenset("one two three four five six seven eight nine ten twelve twenty hundred thousand".split())
_BOUNDED = frozenset("be have take allow accept cost need exceed expire last fit cap hold keep stay limit".split()) | {
    ""
}
_ALLOWING = frozenset("may can must should shall".split())
_SUPPORTS = frozenset("support accept allow run work have use take handle expose provide offer permit".split())
_PASSING = frozenset(
    "work pass finish start load end come respond happen reach stop fail help get seem show return like do learn listen".split()
)
_UNABLE = frozenset(
    "find see reproduce figure tell say know understand remember believe seem connect open start think decide imagine recall explain get help hear read login log agree beat believe complain stress".split()
)
_REMEDIES = frozenset("fix help work do solve cover take look suffice happen explain make".split())
_SPEAKER_STATES = (
    frozenset("be able".split()) | lexicon.STATE | frozenset("store encrypt keep ship avoid ensure guarantee".split())
)


def is_constraint(clause: FactClause) -> bool:
    """Whether it says what must hold, or what is not possible."""
    if (
        clause.person in (THEY, LET)
        or (clause.is_order and not _LIMIT.search(clause.low))
        or ({*clause.auxiliaries} & HAVE and clause.modal)
    ):
        return False
    if (
        clause.subject[:1]
        and clause.subject[0] in ("nothing", "nobody", "none", "neither", "no")
        and clause.modal in _ALLOWING
    ):
        return True
    if _DEMANDED.search(clause.low):
        return clause.form != PAST and not (clause.person == I and "have" in clause.words)
    if clause.modal == "must" or (clause.modal in ("should", "shall") and clause.person in (IT, NOUN)):
        return _is_must(clause)
    if clause.modal == "can" and clause.is_negated:
        return (
            clause.verb not in _UNABLE
            and clause.person in (WE, NOUN, IT)
            and (clause.person == NOUN or len(clause.rest) > 1)
        )
    if clause.modal == "may" and clause.is_negated:
        return clause.person in (NOUN, IT)
    if _LIMIT.search(clause.low) and any(word[0].isdigit() or word in _NUMBERS for word in clause.words):
        return _is_limit(clause)
    if clause.words[-1:] == ("only",) and not clause.verb:
        return 2 <= len(clause.words) <= 5
    return _is_given(clause) or _is_restricted(clause)


def _is_restricted(clause: FactClause) -> bool:
    """Whether it says what only is, never is, or is not supported."""
    if clause.person not in (NOUN, WE) or clause.modal or clause.form not in (BASE, THIRD) or not clause.rest:
        return False
    if clause.is_negated and "never" in clause.words:
        return clause.person == NOUN and clause.verb not in _PASSING and clause.verb not in ("be", "have")
    if clause.is_negated:
        return clause.person == NOUN and clause.verb in ("support", "accept", "allow", "permit")
    return clause.verb in _SUPPORTS and "only" in (
        *clause.subject,
        *clause.words[: len(clause.words) - len(clause.rest)],
    )


def _is_must(clause: FactClause) -> bool:
    if clause.person == NONE:
        return (
            clause.modal == "must"
            and clause.verb in ("be", "work", "run", "support", "fit", "have")
            and len(clause.rest) > 1
        )
    if clause.person in (NOUN, IT):
        if clause.person == IT and clause.modal != "must" and clause.verb in _REMEDIES and not clause.is_negated:
            return False
        if clause.verb in ("feel", "seem", "look", "sound", "mean", "suck", "hurt"):
            return False
        if clause.verb == "be" and clause.rest and clause.rest[0] in _GUESSED:
            return False
        if not {"somehow", "somewhere"}.isdisjoint(clause.rest):
            return False
        if clause.verb == "be" and clause.person == IT:
            return clause.rest[:1] not in (
                ("the",),
                ("a",),
                ("an",),
                ("why",),
                ("it",),
                ("because",),
                ("some",),
                ("something",),
                ("fine",),
                ("okay",),
                ("good",),
                ("enough",),
                ("easy",),
                ("there",),
                ("possible",),
            ) or (clause.modal in ("must", "should") and clause.rest[:2] == ("possible", "to"))
        return bool(clause.verb)
    if clause.person in (WE, YOU):
        if (
            clause.verb == "be"
            and clause.rest[:1] != ("able",)
            and not any(word in lexicon.verbs() for word in clause.rest[:2])
        ):
            return False
        return (
            clause.modal == "must"
            and clause.verb in _SPEAKER_STATES
            and clause.verb not in ("go", "start", "finish", "build", "parse", "complete", "mention", "read")
            and len(clause.rest) > 1
        )
    return False


def _is_limit(clause: FactClause) -> bool:
    if clause.person == I or clause.is_past or clause.form == GERUND:
        return False
    return clause.verb in _BOUNDED or clause.modal in ("can", "must", "may")


def _is_given(clause: FactClause) -> bool:
    """Whether it says what all of a kind are, what is missing for good, or what is the custom here."""
    if clause.form in (PAST, GERUND) or clause.person in (I, YOU):
        return False
    if clause.subject[:1] in (("all",), ("every",), ("each",)) and not clause.is_negated and not clause.is_past:
        is_state = clause.verb == "be" and (not clause.rest or clause.rest[0] in _CONDITIONS)
        return len(clause.subject) > 1 and clause.verb in _RULED and not is_state
    if _HERE.search(clause.low) and clause.person in (NOUN, WE) and clause.form in (BASE, THIRD):
        return bool(clause.verb)
    if clause.verb == "have" and clause.person in (WE, NOUN):
        return clause.rest[:1] == ("no",) or (clause.is_negated and clause.person == NOUN)
    if (
        clause.verb == "need"
        and clause.person == NOUN
        and not clause.is_negated
        and clause.rest[:1] not in (("to",), ("help",), ("fixing",))
    ):
        return clause.form in (BASE, THIRD) and len(clause.rest) > 1
    return (
        clause.verb in ("require", "forbid", "prohibit", "disallow") and clause.person == NOUN and clause.form == THIRD
    )
