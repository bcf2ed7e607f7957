"""Whether a prompt changes the topic of the one before it: a logistic model over the form of the prompt, the words that both
share and the similarity of their vectors; `tools/fit.py topics` fits its weights in `topic.json`. And the stored topic of a
session, which each prompt extends or replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt

from memcli.model.memory import Json
from memcli.record import Record, replace
from memcli.regex import regex
from memcli.safety.patterns import read_json
from memcli.text.languages import STEM
from memcli.text.words import STOP_WORDS, exact_terms, query_terms

MAX_CHARACTERS = 4000
"""Only the first characters of a prompt are read."""


class TopicChange(Record):
    """Whether the topic has changed, how similar the two prompts are (0 to 1), and the feature that weighed most in that.
    `follows`: the form of the second prompt shows that it needs the first."""

    changed: bool
    similarity: float
    why: str
    follows: bool = False

    def to_json(self) -> dict[str, Json]:
        """The fields that are printed."""
        return {"changed": self.changed, "similarity": self.similarity, "why": self.why}


class Trace(Record):
    """The data of an earlier prompt that `compare_to` needs: its terms and names, hashed if its text must not be stored, and the
    sum of the weights of its terms."""

    terms: frozenset[str]
    names: frozenset[str]
    weight: float


Sign = Callable[[str], str]
"""Maps a word to its form in a trace: the word, or its hash."""

_FILLER = regex(
    r"(?:(?:ok(?:ay)?|thanks?(?: a lot| so much)?|thank you(?: so much)?|thx|great|cool|nice|perfect|good|awesome|excellent|alright|all right|hey|hi|hello|well|please|pls|so|done|good job|well done|(?:that |it |this |this one )?(?:works?|worked|passes|helps|looks good)|lgtm|merged|got it|makes sense|fixed)\b[\s,.!:;—-]*)+"
)
_CODE_BLOCK = regex(r"```[^`]{0,20000}(?:```|\Z)")
_CODE_MARKS = frozenset("{}();=<>[]|&$\\/")
# A short follow-up shares neither words nor meaning with the prompt before it, so its form has to show what it is.
CUES = {
    "says so": regex(
        r"^(?:(?:now|next|and|on)\b[\s,:]*)*(?:(?:to |let'?s |can we |we can |i'?d like to )*(?:(?:a |the |one |some)?(?:new|next|another|other|different|unrelated|separate)(?: \w+)?? (?:topic|task|subject|question|issue|thing|item|problem|project|ticket|feature|story|request)\b(?! (?:is|of|about) )"
        r"|(?:something|anything) (?:\w+ )?(?:else|different|unrelated)\b|(?:\w+ )?(?:unrelated|off[- ]topic|change of (?:topic|subject|plans?))\b|not related\b"
        r"|switch(?:ing)? (?:gears|topics?|subjects?|over|to)\b|chang(?:e|ing) (?:the )?(?:topic|subject)|mov(?:e|ing) on\b(?! with)|(?:leave|park|forget(?: about)?|never ?mind|enough of|done with) (?:that|this|it)\b|continue with the\b"
        r"|on (?:a|an) (?:\w+ )?(?:different|other|another|unrelated) (?:note|topic|subject))|next (?:up\b|:)"
        r"|themenwechsel|anderes thema|(?:etwas|was) anderes|autre chose|changeons de sujet|otra cosa|cambi(?:o|ando) de tema)"
    ),
    "aside": regex(
        r"^(?:(?:oh|ah|and|hey)[\s,]+)*(?:by the way|btw|apropos|übrigens|au fait|por cierto|while (?:you|we|i|ci|it|that)\b|before i forget|side note|aside)"
    ),
    "then now": regex(r"^(?:now|next)\b"),
    "joins": regex(
        r"^(?:and|but|also|or|plus|because|since|then|still|again|same|instead|except|unless|with|without|including|even|only|just|not|as|for|in|on|at|from|und|aber|auch|oder|et|mais|aussi|y|pero|también|o)\b"
    ),
    "answers": regex(
        r"^(?:yes|yep|yeah|no|nope|nah|ja|nein|oui|non|sí|exactly|correct|right|wrong|sure|actually|hm+|wait|sorry|maybe|neither|both|either|none)\b"
    ),
    "what about": regex(
        r"^(?:what|how) about\b|^was ist mit\b|^et (?:pour|les?|la)\b|^(?:what|how|why) (?:if|else|not|so)\b"
    ),
    "goes on": regex(
        r"^(?:go (?:with|ahead|on)|do (?:it|that|the same)|try|continue|keep|carry on|proceed|use|make (?:it|that|them)|put (?:it|that|them)|shorter|longer|more|less|fewer|better|faster|bigger|smaller|simpler|another one|one more|mention|limit|raise|shorten|extend|skip|leave|undo|revert)\b"
    ),
    "refers back": regex(
        r"\b(?:it|its|they|them|their|those|these|ones?|he|she|his|her|es|ça|cela|eso|esto)\b(?!['’]?s (?:go|move|talk|build|write|look)\b)"
    ),
    "refers there": regex(r"\b(?:this|that)\b(?! \w+ing\b)|\bthere\b(?! (?:is|are|a|any)\b)|\bdas\b"),
    "links back": regex(
        r"\b(?:too|as well|instead|again|the same|the other(?: one)?s?|the (?:first|second|third|last|previous|former|latter|rest|old|new)(?: ones?)?|the above|(?:this|that|which) ones?|sounds (?:good|great|better)"
        r"|step by step|like before|as (?:before|above)|earlier|in that case|both of them|so far|still|left|then\W*$|now\W*$|missing|auf (?:deutsch|englisch)|in (?:english|german|french|spanish)|en (?:français|anglais|español|inglés))"
    ),
    "compares": regex(
        r"\b\w+ or \w+\W*$|\b(?:better|worse|faster|slower|cheaper|shorter|longer|bigger|smaller|enough|than)\b"
    ),
    "asks": regex(
        r"^(?:how|what|what's|why|who|where|when|which|is|are|does|do|did|can|could|should|would|will|has|have|was|were|any)\b|\?\W*$"
    ),
    "asks for a way": regex(
        r"^(?:how (?:do|can|would|should|to)|what(?:'s| is| are| does)|is there|explain|compare|why (?:does|is|do|are))\b"
    ),
    "asks for work": regex(
        r"^(?:(?:can|could|would|will) (?:you|we)(?: \w+)?? |please |let'?s |let us |help me |(?:i|we) (?:also )?(?:need|want|would like|'?d like)(?: to)? |we should |now )*"
        r"(?:add|write|create|fix|explain|build|implement|set ?up|design|draft|draw|generate|find|translate|plan|suggest|review|refactor|debug|update|upgrade|move|document|improve|optimi[sz]e|configure|deploy|encrypt|profile|rewrite|convert|migrate|install|describe|summari[sz]e|compare|calculate|prepare|test|check|investigate|look|clean|split|port|rename|remove|delete|integrate|extract|analy[sz]e|list|book|order|recommend|proofread|schedule|organi[sz]e|bump|release|publish|enable|merge|rebase|tune|benchmark|scaffold|prototype|outline|brainstorm|turn|sort|cancel|renew|rotate|validate|change|show|let users)\b"
    ),
    "wants a thing": regex(
        r"^(?:i|we|our|my)\b.{0,20}\b(?:need|needs|want|wants|would like|'d like|should|have to|must)\b"
    ),
    "new thing": regex(
        r"^(?:\w+ ){0,4}?(?:add|write|create|make|build|implement|set up|design|draft|draw|need|want|find|is there) (?:me )?(?:an?|some|another)\b"
    ),
    "known thing": regex(r"^the\b"),
    "names a thing": regex(r"\bthe \w+"),
    "of ours": regex(r"\b(?:our|my)\b"),
    "of you": regex(r"^(?:did|have|are|were|do) you\b|^you(?:r|'ve)?\b|\bi (?:meant|addressed|mean)\b"),
    "rules": regex(r"\b(?:should|must|needs? to|has to|have to|may not|don't|never|always|ought to)\b"),
    "fails": regex(
        r"\b(?:fails?|failed|broken|wrong|doesn't|does not|can't|cannot|isn't|crash(?:es)?|missing|blank|complains?|stuck|keeps|lost|twice|slow|blurry)\b"
    ),
    "shows an error": regex(
        r"traceback \(most recent|\b\w*(?:error|exception)\b\s*(?:\[\w+\])?\s*:|\berror\[\w+\]|^\s*at [\w.$<>]+ ?\(|\bexit (?:code|status) \d|\bcommand not found\b|\bno such file\b|\bsegmentation fault\b|\bundefined reference\b|\bpanic:|\bstack ?trace\b|npm err!|\bfatal:|\bsays [\"'`“]"
    ),
    "is or has": regex(r"\b(?:is|are|was|were|has|have|it's|that's)\b"),
    "counts": regex(r"\b\d"),
    "two sentences": regex(r"[.!?:] +\w"),
}
"""Cues, matched against a prompt in lowercase with straight quotes, without code blocks and the thanks before its matter."""
_GENERIC = frozenset(
    query_terms(
        "add write create make fix explain build implement set design draft generate find give show tell help need want use using used get put"
        " function file code test tests module class method script page new way work works please thing error bug problem issue update change run"
        " good best better simple small project app list step question example line user data name write need part kind type what"
    )
)
_FOREIGN = frozenset(
    "der die das und ich wir ist ein eine mit für auf den bitte mir wie wird le la les des est un une je et pour el los las en de que por una con qué cómo à".split()
)
_LONG = 12
"""More terms than this count as this many."""
_NEAR = 0.25
"""A cosine from which on two prompts are near."""
_MOST_WORDS = 0.4
"""A share of the terms from which on two prompts have most words in common."""
_NOTHING = "says nothing"
_FEW = 3
"""A prompt with fewer terms needs the one before it."""
_NEEDS = ("joins", "answers", "what about", "refers back", "links back")
"""Cues of a prompt that needs the one before it."""
_WITH_VECTORS, _WITHOUT = "vectors", "words"


def features(previous: Trace, current: str, similarity: float | None = None, sign: Sign = str) -> dict[str, float]:
    """The features of a prompt after another one, each from 0 to 1: the form of the prompt, the words that both share and, given
    the cosine of their vectors, their similarity in meaning. A feature that is left out is 0."""
    text = current[:MAX_CHARACTERS]
    low = text.strip().lower().replace("’", "'")
    filler = _FILLER.match(low)
    prose = _CODE_BLOCK.sub(" ", low[filler.end() :] if filler else low).strip()
    # A short follow-up shares neither words nor meaning with the prompt before it, so its form counts.
    found = dict.fromkeys([name for name, cue in CUES.items() if cue.search(prose)], 1.0)
    words, terms = prose.split(), _words_of(prose)
    own = [term for term in terms if term not in _GENERIC]
    overlap = _overlap(previous, text, sign)
    is_foreign = not prose.isascii() or sum(word in _FOREIGN for word in words) > sum(
        word in STOP_WORDS for word in words
    )
    found |= {
        "begins with thanks": float(filler is not None),
        _NOTHING: float(not words),
        "many words": min(len(terms), _LONG) / _LONG,
        "words of its own": min(len(own), _LONG) / _LONG,
        "one word": float(len(terms) <= 1),
        "two words": float(len(terms) == 2),
        "three words": float(len(terms) == 3),
        "long": min(len(words), 2 * _LONG) / (2 * _LONG),
        "code": float(sum(c in _CODE_MARKS for c in prose) > len(prose) // _LONG),
        "another language": float(is_foreign),
        "words of the one before": min(len(previous.terms), _LONG) / _LONG,
        "words in common": overlap,
        "a word in common": float(overlap > 0),
        "mostly the same words": max(0.0, overlap - _MOST_WORDS),
        "a name in common": float(any(sign(name) in previous.names for name in exact_terms(text))),
    }
    if similarity is not None:
        cosine = max(0.0, min(1.0, similarity))
        found |= {
            "similar in meaning": cosine,
            "near in meaning": max(0.0, cosine - _NEAR),
            "a request similar in meaning": cosine * found.get("asks for work", 0.0),
            "a reply similar in meaning": cosine * (len(terms) <= _FEW),
            "similar in meaning and words": cosine * overlap,
        }
    return {name: value for name, value in found.items() if value}


def compare(previous: str, current: str, similarity: float | None = None) -> TopicChange:
    """Whether `current` changes the topic of `previous`. `similarity` is the cosine of their vectors, None without vectors."""
    return compare_to(trace(previous), current, similarity)


def trace(text: str, sign: Sign = str) -> Trace:
    """The trace of a prompt, its terms and names mapped by `sign`."""
    text = text[:MAX_CHARACTERS]
    terms = _own_terms(text)
    return Trace(frozenset(map(sign, terms)), frozenset(map(sign, exact_terms(text))), sum(map(_weight, terms)))


def compare_to(previous: Trace, current: str, similarity: float | None = None, sign: Sign = str) -> TopicChange:
    """As `compare`, with an earlier prompt of which only the trace is stored, made with `sign`."""
    found = features(previous, current, similarity, sign)
    used = _WITHOUT if similarity is None else _WITH_VECTORS
    weights: Mapping[str, float] = read_json(__package__, "topic.json")[used]
    parts = {name: round(weights.get(name, 0.0) * value, 6) for name, value in found.items()}
    changed = weights["bias"] + sum(parts.values()) > 0
    strongest = max(parts, key=lambda name: (parts[name] if changed else -parts[name], name), default=_NOTHING)
    needs = len(_words_of(current[:MAX_CHARACTERS])) < _FEW or not found.keys().isdisjoint(_NEEDS)
    near = found.get("similar in meaning" if similarity is not None else "words in common", 0.0)
    return TopicChange(changed, round(near, 3), strongest, follows=needs and not changed)


def cosine(one: bytes, other: bytes) -> float | None:
    """The cosine of two vectors of signed bytes; None when one is all zeros, or they are not of one length."""
    a, b = memoryview(one).cast("b"), memoryview(other).cast("b")
    norm = sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / norm if norm and len(a) == len(b) else None


def _overlap(before: Trace, now: str, sign: Sign) -> float:
    """The share of the terms of the shorter prompt that both have, rare ones counting more."""
    own = _own_terms(now)
    if not before.terms or not own:
        return 0.0
    both = sum(_weight(term) for term in own if sign(term) in before.terms)
    return min(1.0, both / min(before.weight, sum(map(_weight, own))))


def _words_of(text: str) -> list[str]:
    """The terms of a prompt, one for each word: without the stems that words of some languages have besides."""
    return [term for term in query_terms(text) if not term.endswith(STEM)]


def _own_terms(text: str) -> list[str]:
    """The terms of a prompt without those that are frequent in all prompts."""
    return [term for term in query_terms(text) if term not in _GENERIC]


def _weight(term: str) -> float:
    """An estimate of the rarity of a term, for lack of counts: names and long words are rarer than short words."""
    return 2.0 if not term.isalpha() else 1.0 + min(len(term), 10) / 20


_MOST = 200
"""The most terms of a stored topic."""


class LastTopic(Record):
    """A topic: the trace of its prompts, and the vector of the first of them, made by `model`; empty without an embedder."""

    trace: Trace
    model: str = ""
    vector: bytes = b""


def next_topic(last: LastTopic | None, prompt: str, own: LastTopic, sign: Sign) -> tuple[LastTopic, bool]:
    """The topic after a prompt whose own topic is `own`, and whether it differs from `last`.

    A prompt that cannot be understood alone, as `why?`, extends the topic instead of replacing it.
    """
    if last is None:
        return own, False
    similarity = cosine(last.vector, own.vector) if last.vector and last.model == own.model else None
    topic = compare_to(last.trace, prompt, similarity, sign)
    if not topic.follows:
        return own, topic.changed
    before, new = last.trace, own.trace
    if len(before.terms | new.terms) > _MOST:
        return last, topic.changed
    # Terms may be hashes, which cannot be weighed: new ones get their share of the weight of the whole prompt.
    share = len(new.terms - before.terms) / max(1, len(new.terms))
    joined = Trace(before.terms | new.terms, before.names | new.names, before.weight + share * new.weight)
    return replace(last, trace=joined), topic.changed
