"""Constraints: what must hold, and what is not possible.

Negatives: what must not be done, and what was tried in vain.

Preferences: what the user likes, and how they want things done.
"""

from __future__ import annotations

from memcli.conversation.facts import lexicon, moods
from memcli.conversation.facts.clauses import LET, FactClause, FactSentence
from memcli.conversation.facts.lexicon import BASE, GERUND, HAVE, IT, NONE, NOUN, PAST, THEY, THIRD, WE, YOU, I
from memcli.conversation.facts.openings import is_word
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
