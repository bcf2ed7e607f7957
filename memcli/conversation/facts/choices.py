"""Decisions and goals: what is chosen, and what is aimed at."""

from __future__ import annotations

from memcli.conversation.facts import lexicon, moods
from memcli.conversation.facts.clauses import LET, FactClause, FactSentence
from memcli.conversation.facts.lexicon import BASE, GERUND, IT, NONE, NOUN, PAST, WE, I
from memcli.conversation.facts.openings import is_word
from memcli.regex import regex
from memcli.text.words import STOP_WORDS

_PARTICLES = {
    "go": frozenset(["with", "for"]), "stick": frozenset(["with", "to"]), "stay": frozenset(["with", "on", "at"]),
    "default": frozenset(["to"]), "settle": frozenset(["on", "for"]), "vote": frozenset(["for", "to"]),
    "commit": frozenset(["to"]), "agree": frozenset(["to", "on", "that", "we"]), "opt": frozenset(["for", "to", "not", "against", "out", "in"]),
}  # fmt: skip
_DIRECTIONS = frozenset("to from off away over into back".split())
_PICKED = regex(r"^ ?(?:option|variant|approach|plan) (?:\d|[a-d])\b|^(?:the )?(?:\w+ ){1,3}wins? ?[.!]?$")
_POINTING = frozenset("the this that it them my your our his her their both one a an another".split())
_IDLE = lexicon.PROCESS | frozenset(
    "be have need get take do run work send go fix fail crash lose end win break hang hit happen become cause miss".split()
)
_MOVES = frozenset("switch move migrate".split())
_KEEPS = frozenset("keep stick stay".split())
_DROPS = frozenset("ditch scrap switch stick stay standardize standardise abandon".split())
_REASON = regex(
    r"(?:\b(?:because|since|so that|so the|so we|so it|instead of|rather than|to avoid|to keep|to prevent|to make|as it|as the|as we|as they|in favou?r of|over|due to|which avoids|(?:was|is|were|are) (?:just |way |far )?too)\b| ; | — )"
)
_SETTLED = regex(
    r"\bit is(?: then)? [.!]? ?$|(?:, |^ )(?:it is )?(?:decided|settled|that is settled|that is final|period) [.!]? ?$|\b(?:that is|it is|this is) (?:now |all )?(?:agreed|decided|settled|final)\b"
)
_NOT_SETTLED = frozenset("what how who as here there where that so because why love like know if than".split())
_CLOSED = regex(
    r"^ ?(?:no more (?!.*\b(?:left|available)\b)(?!than\b|questions?\b|time\b|ideas?\b)\w+|(?:was|were|is|are|has been|have been) (?:chosen|dropped|rejected) )"
)
_PASSIVE = regex(
    r"\b(?:was|were|has been|have been) (?:chosen|selected|adopted|ruled out|decided|agreed|voted|deprecated in|replaced (?:by|with))\b|\bended up (?:with|using|going|choosing|doing)\b"
)
_SUFFICES = regex(r"\b(?:will do|is enough|are enough|suffices|is plenty|does the job|will suffice|is overkill)\b")
_ONWARD = regex(r"\b(?:going forward|from now on|as of (?:now|today)|starting (?:now|today))\b")
_AIM_NOUN = regex(
    r"\b(?:goals?|aims?|objectives?|idea|point|purpose|mission|target|vision|ambition|end game|okrs?|north star|success|dream)\b"
)
_WHAT = regex(
    r"^ ?what (?:i|we) (?:am|are|want|need|would)\b.*\bis\b|^ ?what (?:i|we) (?:am|are) (?:after|aiming for|going for)\b"
)
_SOMEDAY = regex(r"\b(?:eventually|in the long run|long term|long-term|one day|ultimately|down the road|someday)\b")
_DEADLINE = regex(
    r"\b(?:by|before|until) (?:the )?(?:end of|q[1-4]|january|february|march|april|may|june|july|august|september|october|november|december|next|summer|spring|autumn|fall|winter|christmas|black friday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|the (?:summer|holidays|conference|demo|release|deadline|move|wedding|exam)|the series|the launch|launch|20\d\d|eoy|eom)\b"
)
_STUCK = regex(r"\b(?:but|error|errors|fails?|failed|keeps?|stuck|does not work|without success|get|gets|getting)\b")
_NOT_AIMS = lexicon.PROCESS | frozenset(
    "make go have be do use see run install get send open print call work take".split()
)
_JUDGED = frozenset(
    "good great that fine wrong nice unclear clear reached met missing vague ambitious off broken behind done realistic unrealistic not almost near here ,".split()
)
_WISHES = frozenset("like love".split())
_QUANTITY = regex(r"\bmake it \d")


def is_decision(clause: FactClause, sentence: FactSentence) -> bool:
    """Whether the user says what is chosen."""
    if _SETTLED.search(f" {clause.low} ") and (_NOT_SETTLED.isdisjoint(clause.words) or clause.words[:1] == ("that",)):
        return len(clause.words) >= 3 and (clause.words[-1:] != ("is",) or clause.verb == "be")
    if clause.person == LET:
        return _is_joint(clause)
    if clause.person in (I, WE) and _is_wish_to_use(clause):
        return True
    if clause.is_ours and (_is_choice(clause) or _is_resolve(clause) or _is_practice(clause, sentence)):
        return True
    if clause.person == NONE and clause.form in (GERUND, PAST) and clause.verb in (lexicon.SWITCH | lexicon.DECIDE):
        return _has_particle(clause) and _has_object(clause) and not moods.is_momentary(clause)
    if clause.is_order and not clause.is_negated:
        return _is_ordered(clause)
    return _is_closed(clause)


def _is_wish_to_use(clause: FactClause) -> bool:
    """Whether the wish is a choice: `I want to use`, `we'd like to go with`."""
    if clause.verb not in ("want", "like", "love", "prefer") or clause.is_negated or clause.form == PAST:
        return False
    if clause.verb in _WISHES and clause.modal != "would":
        return False
    return (
        (clause.complement == "use" and len(clause.rest) > 2)
        or "to go with" in clause.low
        or "to stick with" in clause.low
    )


def _is_closed(clause: FactClause) -> bool:
    if clause.verb in ("approve", "greenlight") and clause.is_past and _has_object(clause):
        return True
    if _PICKED.match(clause.low) or _CLOSED.match(clause.low) or (_PASSIVE.search(clause.low) and clause.person != IT):
        return True
    if clause.person == WE and clause.is_negated and clause.verb == "need":
        return _SUFFICES.search(clause.low) is not None
    return _ONWARD.search(clause.low) is not None and clause.person in (NOUN, WE) and bool(clause.verb)


_JOINT = (lexicon.DECIDE | lexicon.SWITCH | lexicon.MAKE | lexicon.STATE | {"not", "do", "add"}) - frozenset(
    "have take be start finish meet go come open run work fix remain open close".split()
) | {"go"}


def _is_joint(clause: FactClause) -> bool:
    """Whether `let's` goes before a choice rather than before the next step of work."""
    if clause.verb in lexicon.PROCESS or clause.verb not in _JOINT:
        return False
    if clause.rest[:1] and (
        clause.rest[0] in ("sure", "up")
        or clause.rest[0].endswith("ing")
        or clause.rest[:2] == ("it", "happen")
        or clause.rest[:3] == ("it", "a", "day")
    ):
        return False
    if clause.verb == "do" and (not clause.rest or clause.rest[0] in lexicon.PERSONS):
        return False
    return _has_particle(clause) and _has_object(clause)


def _is_choice(clause: FactClause) -> bool:
    """Whether a verb of choosing says what was chosen."""
    if clause.verb not in lexicon.DECIDE or clause.is_negated or not _has_object(clause):
        return False
    if clause.complement in lexicon.PROCESS | {"go", "take"}:
        return False
    return (
        (clause.is_past and "had" not in clause.auxiliaries)
        or (clause.is_future and clause.verb not in ("decide", "agree", "vote"))
    ) and _has_particle(clause)


def _is_resolve(clause: FactClause) -> bool:
    """Whether something is changed or made from now on, or has been changed."""
    if not _has_object(clause) or (clause.modal not in ("", "will") or (clause.is_negated and clause.is_past)):
        return False
    if (
        clause.modal == "will"
        and clause.person == WE
        and clause.form == BASE
        and clause.verb in lexicon.verbs().keys() - _IDLE
    ):
        return len(clause.rest) > 1 and not moods.is_momentary(clause)
    if clause.verb in lexicon.SWITCH and _has_particle(clause):
        if clause.verb == "keep" and (
            clause.rest[0].endswith("ing") or clause.rest[0] in ("on", "busy", "up", "each", "you", "us", "in")
        ):
            return False
        return clause.is_future or clause.is_past or (clause.verb in _KEEPS and clause.form == BASE)
    if clause.verb in lexicon.MAKE and clause.is_future and clause.modal == "will":
        return clause.person != I or clause.verb == "use"
    if clause.person == WE and clause.is_negated and clause.form == GERUND and not moods.is_momentary(clause):
        return clause.verb in lexicon.MAKE or clause.verb in ("do", "buy", "take")
    return (
        clause.verb in ("use", "drop", "adopt")
        and clause.form == GERUND
        and clause.person == WE
        and not moods.is_momentary(clause)
    )


def _is_practice(clause: FactClause, sentence: FactSentence) -> bool:
    """Whether it gives the reason for what is done, or what is done instead of it."""
    return (
        clause.person == WE
        and clause.verb in ("use", "keep", "store", "run", "build", "deploy")
        and clause.form == BASE
        and not clause.modal
        and not clause.is_negated
        and _REASON.search(sentence.low) is not None
    )


def _is_ordered(clause: FactClause) -> bool:
    if clause.verb in _DROPS or clause.verb == "go":
        return _has_particle(clause) and _has_object(clause)
    if clause.verb == "use" and clause.rest:
        return ("instead" in clause.words and " instead of " not in clause.low) or (
            clause.rest[0] not in _POINTING and ("for" in clause.rest[1:6] or clause.openers[:1] == ("for",))
        )
    return _QUANTITY.search(clause.low) is not None


def _has_particle(clause: FactClause) -> bool:
    rest = [word for word in clause.rest if word not in lexicon.ADVERBS]
    if clause.verb == "move" and clause.person == I and rest[:1] and rest[0] in _DIRECTIONS:
        return False
    if clause.verb in _MOVES:
        return not _DIRECTIONS.isdisjoint(rest[:8]) and rest[:1] != ["on"]
    wanted = _PARTICLES.get(clause.verb)
    if (clause.verb == "go" and rest[:2] in (["for", "a"], ["with", "my"])) or (
        clause.verb == "drop" and rest[:1] in (["off"], ["by"], ["in"])
    ):
        return False
    if clause.verb == "go" and rest[:1] == ["for"] and clause.form == GERUND and clause.person != WE:
        return False
    if clause.verb == "go" and rest[1:2] == ["the"] and rest[2:3] in (["kids"], ["family"]):
        return False
    return wanted is None or rest[:1] == [] or rest[0] in wanted


def _has_object(clause: FactClause) -> bool:
    """Whether it names something, rather than pointing at it."""
    return any(word not in STOP_WORDS and word not in lexicon.ADVERBS and is_word(word) for word in clause.rest)


_CHOSEN = lexicon.DECIDE | lexicon.SWITCH | lexicon.MAKE
_PLAINLY = lexicon.DECIDE | frozenset("go stick stay keep opt skip".split())
_PLANNED = frozenset("use go stick keep stay choose pick opt switch skip leave default store name call put".split())


def is_report_of_choice(clause: FactClause, sentence: FactSentence) -> bool:
    """Whether an assistant says what it chose, made or changed, and why."""
    if clause.person not in (I, WE, NONE) or (clause.is_negated and clause.verb != "opt") or not _has_object(clause):
        return False
    if clause.is_past and clause.verb in _CHOSEN and _has_particle(clause):
        return clause.verb in _PLAINLY or _REASON.search(sentence.low) is not None
    if clause.person != NONE and clause.modal == "will" and clause.verb in _CHOSEN | {"add"} and _has_particle(clause):
        return ("then" in clause.openers and clause.verb in _PLANNED) or _REASON.search(sentence.low) is not None
    return False


def is_goal(clause: FactClause, sentence: FactSentence) -> bool:
    """Whether the user says what is aimed at."""
    if _WHAT.match(clause.low) or _is_named(clause):
        return True
    if clause.is_negated or clause.form == PAST or moods.is_momentary(clause):
        return False
    if (
        clause.person in (I, WE)
        and clause.form == GERUND
        and clause.verb in ("build", "create")
        and clause.rest[:1] in (("a",), ("an",))
    ):
        return len(clause.rest) > 3
    if clause.verb == "aim" and clause.rest[:1] in (("for",), ("at",), ("to",)):
        return clause.is_ours or clause.person == NONE
    if _SOMEDAY.search(clause.low) and (clause.modal in ("should", "will", "must") or clause.verb in lexicon.AIM):
        return clause.person != I or bool(clause.complement)
    if clause.person == NONE and clause.form == GERUND and clause.verb in lexicon.AIM and clause.complement:
        return clause.complement not in _NOT_AIMS and not _STUCK.search(sentence.low)
    if clause.person in (I, WE) and clause.verb in lexicon.AIM | _WISHES:
        return _is_aim(clause, sentence)
    return clause.person == WE and clause.modal == "must" and _DEADLINE.search(sentence.low) is not None


def _is_aim(clause: FactClause, sentence: FactSentence) -> bool:
    if (clause.verb in _WISHES and clause.modal != "would") or (clause.verb == "look" and clause.form != GERUND):
        return False
    if clause.verb in _WISHES and not clause.complement:
        return "to" in clause.rest[2:9] and clause.rest[0] not in ("you", "if")
    if clause.complement:
        if clause.verb == "need" and not _DEADLINE.search(sentence.low):
            return False
        if clause.verb == "try" and _STUCK.search(sentence.low):
            return False
        if _DEADLINE.search(sentence.low):
            return True
        is_work = clause.complement in _NOT_AIMS and clause.person != WE
        is_small = clause.complement in lexicon.PROCESS
        return (not is_work and not is_small) or (
            clause.complement in ("be", "get", "have", "run") and clause.verb != "need" and len(clause.rest) > 5
        )
    return (
        clause.person == WE and clause.verb == "want" and len(clause.rest) > 2 and not clause.rest[0].startswith("you")
    )


def _is_named(clause: FactClause) -> bool:
    """Whether the subject is a word such as `goal`."""
    if clause.verb not in ("be", "mean") or clause.modal not in ("", "must"):
        return False
    subject = " ".join(clause.subject)
    if "plan" in clause.subject and clause.rest[:1] == ("to",):
        return True
    if clause.is_negated or clause.form == PAST or clause.subject[:1] in (("no",), ("another",), ("one",)):
        return False
    return _AIM_NOUN.search(subject) is not None and (not clause.rest or clause.rest[0] not in _JUDGED)
