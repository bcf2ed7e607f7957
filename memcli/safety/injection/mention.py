"""Use and mention: whether words that would be an order are forbidden, reported, quoted or named instead."""

from __future__ import annotations

import re
from functools import cache

from memcli.safety.injection.rule import MARKUP, Rule
from memcli.safety.injection.rules import DISCUSSED, OBEYED

_CLAUSE = 80
_NEAR = 300
_OPENED, _CLOSED = 40, 80
_CUT = r".*(?:[.!?;:\n]|, | and | but | then | just | simply | instead |--| - |—)"
_FORBIDDEN = (
    r"\b(?:never|not|cannot|avoid|refuses? to|forbidden to|no (?:agent|assistant|model|bot|user|one)s?)\b|n't\b"
)
_NOT_FORBIDDEN = r"\bwhy (?:not|don't)|\bnot (?:only|hesitate|forget|be afraid|fail|wait)|\b(?:isn't|wouldn't) (?:it|this|that)\b|n't (?:hesitate|forget|be afraid|wait|you)\b|\b(?:if|or) not\b"
_READERS = r"(?:models|agents|llms|assistants|(?:chat)?bots|attackers|users|prompts|people|they|inputs?|injections?)"
_AGENT = r"(?:it|them|(?:the|a|an|our|your|any|that|some|small|other|an? ai) ?(?:\w{1,12} )?(?:models?|agents?|llms?|assistants?|(?:chat)?bots?|ai|parsers?|users?|system))"
_REPORTED = (
    rf"(?:\b{_READERS} (?:(?:\w{{1,12}}ly|sometimes|often|may|might|could|can|still|would|should not|that|to) )*"
    rf"|\b(?:mak|ask|tell|told|trick|caus|instruct|order|get|got|convinc|persuad|lead|let|allow|want|forc)\w{{0,4}} {_AGENT} (?:to |into )?"
    r"|\b(?:attempts?|tries|try|trying|told|tricked|meant|designed|instructed|asked|able) (?:\w{1,12} )?to )\Z"
)
_ELSEWHERE = (
    r" (?:in|of|for|from|at|on|about|when|if you use) "
    r"(?!(?:the |our |a |an |this |your |that )?(?:users?|system|developers?|operators?|maintainers?|humans?|owners?|session|conversation|prompt|chat|"
    r"context|messages?|memor\w{1,3}|now|here|claude|agents?|makers?|models?|you|your|admins?|administrators?|file|anthropic|openai|all|any|me|my|good|ever|"
    r"team|moment|while|task|answer|reply|purposes?|reason)\b)\w"
)
_WHOLE = r"\byour \b|\b(?:all|any|every|each)\b"
"""Says that no order is left standing, so that a place named after it is no other place."""
_REFUSALS = ("not ", "don't ", "never ", "no longer ")
_IF = r"\b(?:if|when|who|that|which|because)(?: \w{1,12})?(?: do| does| did)? \Z"
_NAMED = r"[`'\"]?,? ?(?:(?:user|system|assistant|model|role)\b[`'\"]? ?)?(?:[.,;)](?: |\Z|\n)|\Z|(?:and|or|around|marks?|opens?|closes?|tokens?|markers?|tags?|blocks?|messages?|role|is|are|as|for|parts?|turns?|yourself|before)\b)"
_OPEN = r"[\"“”«„`]|(?<!\w)['‘]"
_CLOSE = r"[\"“”»`]|['’](?!\w)"


def is_mentioned(rule: Rule, text: str, match: re.Match[str]) -> bool:
    """Whether the match of `rule` in `text` is no order to the reader."""
    start, end = match.span()
    act = match.start("act") if "act" in match.re.groupindex else start
    if rule.forbids and (_is_forbidden(text, start) or (act != start and _is_forbidden(text, act))):
        return True
    if match[0].startswith(_REFUSALS) and _compiled(_IF).search(text, max(0, start - _CLAUSE), start):
        return True
    if rule.is_local and not _compiled(_WHOLE).search(match[0]) and _compiled(_ELSEWHERE).match(text, end):
        return True
    if _is_obeyed(text, start, end):
        return False
    if rule.reason == MARKUP:
        return _is_named(text, start, end) or _is_quoted(text, start, end)
    return _is_reported(text, start) or _is_quoted(text, start, end)


def _is_forbidden(text: str, start: int) -> bool:
    """Whether the clause before `start` says that what follows must not be done."""
    before = text[max(0, start - _CLAUSE) : start]
    cut = _compiled(_CUT).match(before)
    clause = before[cut.end() :] if cut else before
    return bool(_compiled(_FORBIDDEN).search(clause)) and not _compiled(_NOT_FORBIDDEN).search(clause)


def _is_reported(text: str, start: int) -> bool:
    """Whether what follows is said of others: "models ignore ...", "it tricks the agent into ..."."""
    return bool(_compiled(_REPORTED).search(text, max(0, start - _CLAUSE), start))


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Whether the match stands in quotation marks in a text that speaks about such things."""
    if not _compiled(_OPEN).search(text[max(0, start - _OPENED) : start + 1]):
        return False
    if not _compiled(_CLOSE).search(text[end - 1 : end + _CLOSED]):
        return False
    around = text[max(0, start - _NEAR) : start] + text[end : end + _NEAR]
    return any(word in around for word in DISCUSSED)


def _is_named(text: str, start: int, end: int) -> bool:
    """Whether markup is spoken of within a sentence, or is a short piece of code in one."""
    line = text[max(0, text.rfind("\n", 0, start) + 1, start - _NEAR) : start]
    if " " in text[start:end].strip() or not line.strip(" -*#>\"'`"):
        return False
    is_code = line.count("`") % 2 == 1 and "`" in text[end : end + 20]
    return is_code or bool(_compiled(_NAMED).match(text, end))


def _is_obeyed(text: str, start: int, end: int) -> bool:
    """Whether the reader is asked, near the match, to do what is quoted."""
    for part in (text[max(0, start - _NEAR) : start], text[end : end + _NEAR]):
        for match in _compiled(OBEYED).finditer(part):
            if not _is_forbidden(part, match.start()):
                return True
    return False


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
