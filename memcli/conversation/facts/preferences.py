"""Preferences: what the user likes, and how they want things done."""

from __future__ import annotations

from memcli.conversation.facts import lexicon, moods
from memcli.conversation.facts.clauses import FactClause
from memcli.conversation.facts.lexicon import BASE, PAST, WE, YOU, I
from memcli.conversation.facts.sentence import FactSentence
from memcli.conversation.facts.words import is_word
from memcli.regex import regex

_STYLE = regex(
    r"\b(?:short|brief|concise|simple|terse|small|minimal|clean|consistent|readable|plain|formal|informal|casual|verbose|detailed|step by step|to the point"
    r"|bullet points?|bullets|in (?:english|german|french|spanish|markdown|plain \w+)|one-liners?|no (?:essays|fluff|emojis?|jargon|smalltalk)|full (?:file|code|sentences?)"
    r"|imperative|lower ?case|upper ?case|snake_case|camelcase|kebab-case|comments?|type hints|indent\w*|tabs|spaces|quotes|semicolons?)\b"
)
_STANDING = regex(
    r"\b(?:always|from now on|going forward|in (?:the )?future|by default|whenever|every time|each time|everywhere|for everything|in general"
    r"|as a rule|at all times|in all|all the time|in every|for every|for all|throughout|where possible|when possible|if possible|in this (?:project|repo|codebase))\b"
)
_CONTRAST = regex(r"\b(?:instead of|rather than|over)\b|, (?:not|never|no)\b|\bnot\b")
_FAVOURITE = regex(
    r"\b(?:my|our) (?:favourite|preferred|preference|pet peeve|go-to)\b|\bfan of\b|\bi (?:can not|could not) stand\b|\bi am (?:more )?(?:used to|into|partial to|allergic to)\b|\bi am (?:more )?(?:of )?an? \w+ (?:person|guy|girl|kind)\b|\b(?:bugs|annoys|bothers|irritates) me\b|\bi am (?:not )?(?:a )?(?:big )?fan\b|\bi would (?:really )?appreciate (?:it )?if\b|\bi am (?:more |most )?(?:(?:comfortable|happier|at home) with|picky about|allergic to|keen on|big on)\b|\bi care (?:a lot |deeply )?about\b|\bdrives me (?:crazy|nuts|mad|insane)\b"
)
_KEPT = frozenset(
    "use prefer keep write answer reply respond explain stick favour speak name call format indent give make put comment describe "
    "return be show wrap limit".split()
)
_ASKS = frozenset("ask tell show warn consult check notify remind".split())
_HABITS_OF_ALL = frozenset(
    "forget get have see know understand think remember feel hear be need find lose miss say".split()
)
_DEFINITE = frozenset("the this that it them my a an both one me".split())
_WHEN = frozenset("before after when unless never not only until".split())
_POINTING = frozenset("it that this them these those where how what to the when if you him her your".split())


def is_preference(clause: FactClause, sentence: FactSentence) -> bool:
    """Whether the user says what they like, or how they want things done."""
    if clause.is_order:
        return _is_habit(clause, sentence)
    if clause.modal in ("could", "can", "would", "will") and clause.person == YOU:
        return "always" in clause.words or "avoid" in clause.words or "stop" in clause.words
    if _FAVOURITE.search(clause.low) and clause.subject and clause.form != PAST:
        return True
    if (
        clause.person in (I, WE)
        and (clause.verb in lexicon.LIKE or (clause.verb == "tend" and clause.person == I))
        and not clause.is_past
    ):
        return _is_liking(clause)
    if (
        not clause.verb
        and clause.words[:1] in (("less",), ("more",), ("fewer",), ("no",))
        and "please" in sentence.words
    ):
        return len(clause.words) <= 8
    if clause.person == I and clause.verb == "want" and clause.form == BASE and not clause.complement:
        return _is_wanted(clause)
    if clause.person == I and clause.verb == "want" and clause.is_negated:
        return clause.complement not in lexicon.PROCESS and len(clause.rest) > 3
    if clause.person == I and clause.form == BASE and not clause.modal and not clause.auxiliaries:
        return (
            bool({"always", "usually", "never", "generally"}.intersection(clause.subject + clause.words[:4]))
            and len(clause.rest) > 1
            and clause.verb not in _HABITS_OF_ALL
        )
    return (
        "rather" in clause.words
        and {"say", "answer", "talk", "discuss", "wait"}.isdisjoint(clause.words)
        and clause.person == I
        and clause.modal == "would"
    )


def _is_liking(clause: FactClause) -> bool:
    if clause.modal == "would" and clause.verb in ("like", "love", "hate"):
        return clause.rest[:1] == ("you",) and _STANDING.search(" ".join(clause.rest)) is not None
    if not clause.rest or clause.rest[0] in "!.,":
        return False
    if clause.complement:
        return clause.complement not in ("answer", "see", "say", "think") and not clause.is_negated
    if clause.rest[0] in ("when", "how", "if", "the", "to", "your", "that"):
        return clause.verb in ("hate", "prefer", "dislike") or (clause.rest[0] == "when" and len(clause.rest) > 3)
    return clause.rest[0] not in _POINTING and clause.modal in ("", "would", "will")


def _is_wanted(clause: FactClause) -> bool:
    first = clause.rest[0] if clause.rest else ""
    if first == "you":
        return _STANDING.search(" ".join(clause.rest)) is not None or not _WHEN.isdisjoint(clause.rest)
    return (
        len(clause.rest) > 1
        and first not in ("a", "an", "to", "it", "this", "that", "some", "out", "one", "more")
        and is_word(first)
    )


def _is_habit(clause: FactClause, sentence: FactSentence) -> bool:
    """Whether an order holds from now on rather than for the task at hand."""
    if clause.is_negated or clause.verb in ("let", "remember", "note", "wait"):
        return False
    if clause.verb == "call" and clause.rest[:1] == ("me",):
        return len(clause.rest) > 1 and clause.rest[1] not in ("when", "if", "back", "later", "at")
    if clause.verb == "stop":
        return any(word.endswith("ing") for word in clause.rest[:2])
    if moods.is_momentary(clause):
        return False
    if clause.verb in ("give", "show", "send", "tell") and "just" in clause.words[:2]:
        return True
    if clause.verb in _ASKS and clause.rest[:1] == ("me",):
        return not {"before", "whenever", "always", "every", "first"}.isdisjoint(clause.words)
    is_kept = clause.verb in _KEPT
    if _STANDING.search(sentence.low) or clause.verb == "prefer":
        return (clause.verb not in lexicon.RUN or clause.verb == "commit" or is_kept) and clause.rest[:1] != ("us",)
    if "only" in clause.words[:2]:
        return True
    pointed = bool(clause.rest) and clause.rest[0] in _DEFINITE
    if not is_kept:
        return False
    if clause.verb == "use" and not pointed:
        return "please" in sentence.words or _CONTRAST.search(clause.low) is not None
    return (
        _STYLE.search(clause.low) is not None
        and (not pointed or clause.verb in ("keep", "answer", "explain", "write", "name", "give"))
        and not any(w.isdigit() for w in clause.rest)
    )
