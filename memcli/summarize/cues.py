"""The words that show what kind of memory a sentence is. Data, and the one function that reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

_CHARACTERS = 400
"""How much of a sentence is looked at."""

# Where an order begins: with the sentence, after a stop, after a word that leads up to it.
_START = r"(?:^|[.:;,!(—–-]\s*|\b(?:please|so|and|but|then|just)\s+)"
_WE = r"\b(?:we|i|they|team|everyone|[a-z]+ and i)(?:'ve|'ll|'re| have| had| all| finally| then| just| also| now)*\s+"
_IF = r"^(?:before|after|when|whenever|if|once)\b.{1,120}?,\s*(?:please\s+|first\s+|always\s+|then\s+)*"
_ORDERS = (
    r"(?:run|re-?run|execute|restart|rebuild|regenerate|restore|scale|check|open|call|page|roll|delete|clear|flush|disable|"
    r"enable|kill|drain|bump|increase|revoke|rotate|wait|ask|contact|notify|escalate|start|stop|retry|reset|switch|set|use|"
    r"add|create|update|merge|tag|push|deploy|verify|install)\b"
)
_TO = r"^(?:in order )?to\s+(?!(?:be|our|my|the|this|that|date|sum|summari[sz]e|recap|me|us|them|some|clarify)\b)\w[^.!?]{0,100}?"
_SUBJECTS = r"(?<!\bwe )(?<!\byou )(?<!\bi )(?<!\bthey )(?<!\bto )(?<!\band )(?<!\bor )(?<!\bnot )(?<!\bcan )"
_NOT_AN_ORDER = (
    r"(?!(?:the|a|an|we|it|this|that|these|our|my|you|i|they|there|he|she|each|every|all|no|some|most|use of)\b)"
)
_SHIPPED = r"(?:released|deployed|shipped|published|rolled (?:back|out)|reverted)"
_THINGS = (
    r"(?:team|squad|(?:micro)?service|person|people|customer|client|company|vendor|supplier|engineer|developer|manager|lead|"
    r"owner|maintainer|designer|library|framework|package|tool|product|repository|repo|application|app|platform|component|"
    r"partner|contractor|user|stakeholder|database|cluster|daemon|worker|bot|department|organi[sz]ation|gateway|consultant|"
    r"architect|analyst|administrator|cto|ceo|sre|pm)s?"
)
_AFTER_THING = (
    r"(?=\W*$|[,.;:(]|\s(?:on|at|in|for|that|which|who|whose|and|of|with|owned|from|behind|used|written|built|responsible|"
    r"by|maintained|running|to|based)\b)"
)


class Cue(NamedTuple):
    kind: str
    words: frozenset[str]
    """One of these must be in the sentence for the pattern to be tried: it keeps most patterns from most sentences."""
    pattern: str
    """Searched for in one sentence, in lowercase, with straight quotes."""
    is_opening: bool
    """Whether it counts in the first sentence only, because elsewhere it is said in passing."""


def _cue(kind: str, words: str, *patterns: str, is_opening: bool = False) -> Cue:
    return Cue(kind, frozenset(words.split()), "|".join(patterns), is_opening)


# The first sentence that has a cue decides; within a sentence, the first cue of this table:
# - what a text calls itself (`Correction:`, `Goal:`, `Decision:`) comes before what it sounds like;
# - what forbids comes next, because a `negative` can fail a commit;
# - `we chose X because we must` is a decision, so decisions come before constraints;
# - what is common in any text, settings and `X is a Y`, comes last.
CUES: Sequence[Cue] = (
    _cue(
        "correction", "correction erratum errata actually",
        r"^(?:correction|errata|erratum)\b",
        r"^(?:no, )?actually\b",
    ),
    _cue(
        "goal", "goal goals objective objectives okr okrs",
        r"^(?:(?:our|the|my|main|project|q[1-4]|\w+'s) )*(?:goals?|objectives?|okrs?)\b(?: (?:is|are|for)\b|\s*[:—–-])",
    ),
    _cue(
        "goal", "next todo milestone",
        r"^(?:next steps?|up next|to-?do|milestones?)\s*[:—–-]",
        r"^(?:the|our) next step is to\b",
    ),
    _cue(
        "decision", "decision decided adr agreed",
        r"^(?:decision|decided|agreed|adr)\b[^.]{0,30}?[:—–]",
        r"^adr[- ]?\d+",
    ),
    _cue(
        "negative", "never",
        rf"{_START}never\s+(?!mind\b|\w+s\b|\w+ed\b|saw\b|had\b|was\b|got\b)\w",
        r"\b(?:must|should|shall|to)\s+never\b",
        r"\b(?:we|you)\s+never\s+(?!\w+ed\b|saw\b|had\b|were\b|got\b|found\b|knew\b|see\b)",
    ),
    _cue(
        "negative", "don't do dont",
        rf"{_START}(?:do not|don't|dont)\s+(?!know\b|see\b|think\b|have\b|forget\b|hesitate\b)\w",
        r"\bwe (?:do not|don't) (?:use|allow|want|ship|merge|commit|deploy|push)\b",
    ),
    _cue(
        "negative", "avoid",
        rf"{_START}avoid\b",
        r"\bavoid\b.{1,120}\bat all costs?\b",
    ),
    _cue(
        "negative", "forbidden banned prohibited",
        r"\b(?:is|are) (?:strictly )?(?:forbidden|banned|prohibited)\b",
    ),
    _cue(
        "decision", "decided agreed opted settled chose chosen picked selected adopted adopting adopt went going",
        r"\b(?:decided|agreed)\s+(?:to|on|that|against|for|not)\b",
        rf"{_WE}(?:chose|decided|agreed|picked|selected|adopted|adopt|opted|settled)\b",
        rf"{_WE}(?:are )?(?:went|going) (?:with|for)\b",
        r"^(?:chose|picked|adopted|adopting|selected|going with|went with)\b",
        r"\b(?:was|were|has been|have been) (?:chosen|adopted)\b",
    ),
    _cue(
        "decision", "we we'll we're we've switched moved migrated",
        r"\bwe(?:'ll| will| shall|'re going to| are going to) (?:use|adopt|go|move|migrate|switch|keep|stay|stick|"
        r"drop|replace|build|ship|standardi[sz]e|support|not|split|store|deprecate)\b",
        r"\bwe(?:'ve| have)? (?:switched|moved|migrated|standardi[sz]ed|dropped|replaced|split|consolidated)\b",
        r"^(?:switched|moved|migrated) (?:\w+ ){0,3}from\b",
        r"\bwe (?:now )?(?:use|keep|store|run|build|deploy)\b.{1,120}\b(?:instead of|rather than|over|because)\b",
    ),
    _cue(
        "procedure", "to in how steps runbook procedure checklist recipe",
        rf"{_TO}:",
        rf"{_TO} {_SUBJECTS}(?:run|use|execute|start|call|tag|set|bump|install|type|press|open)\b\s+\S",
        rf"{_TO},\s*(?:first\s+|just\s+)?{_NOT_AN_ORDER}\w+(?<!ing)\b",
        r"^(?:\d+[.)]\s*)?how (?:to\b|do (?:i|we|you)\b|we\b.{0,80}:)",
        r"^(?:the )?(?:\w+ ){0,3}(?:steps|runbook|procedure|checklist|recipe)\b[^.]{0,60}?(?:[:—–-]|$|to\b|for\b)",
        r"\bfollow these steps\b",
    ),
    _cue(
        "procedure", "before after when whenever if once",
        rf"{_IF}{_ORDERS}",
        is_opening=True,
    ),
    _cue(
        "procedure", "run rerun re execute restart rebuild regenerate first",
        r"^(?:run|re-?run|execute|restart|rebuild|regenerate)\b",
        r"^first,?\s.*\bthen\b",
        is_opening=True,
    ),
    _cue(
        "preference", "prefer prefers preferred preference dislike dislikes favour favor favours favors",
        r"\b(?:prefer|prefers|preferred|preference|dislikes?|favou?rs?)\b(?! ?to be )",
    ),
    _cue(
        "preference", "like likes hate hates love loves rather",
        r"\b[a-z]+ (?:really )?(?:likes|hates?|loves?)\b",
        r"\b(?:i|we|they) (?:really |do not |don't )?like\b",
        r"^(?:please )?(?:use|write|keep|pick|take|put|call|name|return|raise|choose|make)\b.{1,100}\brather than\b",
        r"(?:\b(?:i|we|they|would)|'d) rather\b",
    ),
    _cue(
        "preference", "want wants always",
        r"^i (?:always |really |just )*want\b",
        r"^(?:the )?user (?:always |really )*wants\b",
        r"^i always (?:use|write|put|keep)\b",
    ),
    _cue("preference", "use please", r"^(?:use|please)\b", is_opening=True),
    _cue(
        "correction", "longer anymore wrong incorrect outdated mistaken previously formerly out",
        r"\bno longer\b",
        r"(?:\bnot|n't)\b.{1,60}\banymore\b",
        r"\b(?:is|was|are|were) (?:wrong|incorrect|outdated|mistaken|out of date)\b",
        r"\b(?:previously|formerly)\b.{1,80}\bnow\b",
    ),
    _cue(
        "goal", "goal aim aims aiming objective mission want target plan",
        r"\b(?:our|the) (?:goal|objective|aim|mission)\b.{0,40}\b(?:is|are)\b",
        r"\bwe (?:want|target|plan to)\b",
        r"\b(?:aim|aims|aiming) (?:to|for|at)\b",
        r"^target:",
    ),
    _cue(
        "log", "released deployed shipped published rolled reverted hotfixed incident outage postmortem post",
        rf"^(?:\w+ )?(?:re)?(?:{_SHIPPED}|hotfixed)\b",
        rf"\b(?:was|were|has been|got) {_SHIPPED}\b.{{0,60}}\b(?:on|at|in|to|yesterday|today)\b",
        r"\bv?\d+\.\d+\S* (?:was )?(?:released|shipped|published)\b",
        r"^(?:incident|outage|post-?mortem)\b",
    ),
    _cue("config", "set", r"^set\s+\S+\s+to\b", is_opening=True),
    _cue(
        "constraint", "must mustn't shall mandatory least most required requires limit limits limited more always",
        r"\b(?:must|mustn't|shall|mandatory)\b",
        r"\b(?:at (?:least|most)|no more than) \w",
        r"\b(?:is|are) (?:required|limited)\b",
        r"\brequired (?:to|for|by)\b",
        r"\brequires (?:at|python|node|java|go|a minimum|version|admin|approval)\b",
        r"\blimit(?:ed|s)? (?:to|is|are|of|at)\b",
        r"^always\b",
    ),
    _cue(
        "constraint", "only maximum minimum max min cannot exceed",
        r"^only\b.*\b(?:may|can|are|is)\b",
        r"\b(?:may|can|are|is) only\b",
        r"\bonly .{1,60}\b(?:may|can)\b",
        r"\bonly (?:allowed|supported|supports)\b",
        r"(?<![-\w])(?:maximum|minimum|max|min)\b(?![-_]).{0,40}(?:\bis\b|\bof\b|:|\d)",
        r"\b(?:cannot|can't|may not|not) exceed\b",
    ),
    _cue(
        "correction", "not",
        r"\b(?:is|are|was|were|uses?|runs?|goes|go|lives?|listens?|returns?|means|expires|belongs|works)\b"
        r"(?:[^.;]|\.(?=\w)){1,80}(?:,| and| —| –| -) not\s+(?!only\b|yet\b|just\b)[\w/`\"'.]",
        r"\bit is not\b.{1,60}\b(?:but|it is)\b",
    ),
    _cue(
        "config", "set port env environment default defaults configured timeout is controls sets",
        r"\bset `?[a-z]+[_.][\w.]+`?(?: to\b|=)",
        r"\bport (?:is |= ?)?\d{2,5}\b",
        r"\benv(?:ironment)? var(?:iable)?s? \S*_",
        r"\bdefaults? to\b",
        r"\b(?:is|are) configured (?:in|by|via|with|through)\b",
        r"\btimeout is\b",
        r"\b[a-z]+(?:_[a-z0-9]+)+`? (?:is|controls|sets)\b",
        is_opening=True,
    ),
    _cue(
        "entity", "is are",
        r"^(?!(?:this|that|it|there|here|which|what|these|the (?:reason|point|problem|way))\b)[^,;:]{2,60}? (?:is|are) "
        rf"(?:a|an|the|our|my|one of our|one of the)\s+(?:[\w/&.'-]+\s+){{0,5}}?{_THINGS}\b{_AFTER_THING}",
        is_opening=True,
    ),
    _cue(
        "entity", "owned maintained run owns maintains",
        r"\b(?:is|are) (?:owned|maintained|run) by\b",
        r"^[\w .-]{2,40} (?:owns|maintains) \w",
        is_opening=True,
    ),
)  # fmt: skip

_WORDS = re.compile(r"[a-z']+")
_SETTING = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]*_[A-Z0-9_]+=\S|^[A-Z][A-Z0-9_]{2,}=\S")
_COMMIT = re.compile(r"(?:feat|fix|chore|docs|refactor|perf|ci|build|revert|style|test)(?:\([\w ./,-]{1,40}\))?!?: \S")
# What may stand before the sentence proper: a date, and a word such as `Note:`.
_LEAD = re.compile(
    r"(?:[\[(]?\d{4}-\d\d-\d\d[\])]?[:,\s–—-]*)?\W{0,6}"
    r"(?:(?:important|critical|warning|must[ -]read|danger|minor|nit|nitpick|trivial|fyi|note|tip|reminder|gotcha|"
    r"remember|caution|careful|beware|pitfall|watch out|heads[- ]up|ps|p\.s)\W{0,4}?[:!]\W*)?"
)


_WARNING = re.compile(
    r"\W{0,6}(?:(?:careful|gotcha|warning|caution|beware|pitfall|watch out|danger|heads[- ]up)\W{0,4}?[:!,]|(?:beware of|watch out for)\b)"
)


def cue_of(sentence: str, *, is_opening: bool = True) -> str:
    """The kind that one sentence shows, or empty. `is_opening` says that it is the first of its text."""
    return _cue_of(sentence[:_CHARACTERS], is_opening)


@lru_cache(maxsize=1024)
def _cue_of(sentence: str, is_opening: bool) -> str:
    low = sentence.lower().replace("’", "'")
    kind = _kind_of(sentence, low, is_opening)
    return "constraint" if _WARNING.match(low) and kind != "negative" else kind


def _kind_of(sentence: str, low: str, is_opening: bool) -> str:
    if lead := _LEAD.match(low):
        low = low[lead.end() :]
    present = frozenset(_WORDS.findall(low))
    for cue in CUES:
        if not cue.words.isdisjoint(present) and (is_opening or not cue.is_opening) and re.search(cue.pattern, low):
            return cue.kind
    if is_opening and (_COMMIT.match(low) or ("=" in sentence and _SETTING.search(sentence))):
        return "log" if _COMMIT.match(low) else "config"
    return ""
