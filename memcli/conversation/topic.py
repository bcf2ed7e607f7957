"""Whether a prompt changes the topic of the one before: by what it says of itself, by its form, by meaning and by words.

The last topic of a session: what is kept of it, and what a prompt makes of it.

What was said last in a conversation: the question, the choice, the offer and the statement that an answer may belong to.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

from memcli.conversation.moments import CHOICE, Moment
from memcli.conversation.statements import ASKED, OFFERED, STATED, TalkStatement
from memcli.model.memory import Json
from memcli.record import Record, replace
from memcli.regex import regex
from memcli.text.words import STOP_WORDS, exact_terms, query_terms, terms

MAX_CHARACTERS = 4000
"""How much of a prompt is looked at."""


class TopicChange(Record):
    """Whether the topic has changed, how similar the two prompts are (0 to 1), and why it is taken to have changed or not.
    `follows`: the second prompt cannot be understood alone."""

    changed: bool
    similarity: float
    why: str
    follows: bool = False

    def to_json(self) -> dict[str, Json]:
        """What is printed of it."""
        return {"changed": self.changed, "similarity": self.similarity, "why": self.why}


class Trace(Record):
    """What `compare_to` needs of an earlier prompt: its terms and names, hashed if its text must not be stored, and the sum of
    the weights of its terms."""

    terms: frozenset[str]
    names: frozenset[str]
    weight: float


Sign = Callable[[str], str]
"""What a trace has in the place of a word."""


_BREAK = regex(
    r"^(?:(?:ok(?:ay)?|thanks?|thank you|thx|great|cool|nice|perfect|good|alright|all right|right|now|so|and|well|hm+|oh|hey|done|fine|anyway|works?)\b[\s,.!:;-]*)*"
    r"(?:(?:on to |let'?s (?:move|go) on to |moving on(?: to)?|moving to )?(?:a |the |one |some)?(?:new|next|another|other|different|unrelated|separate|completely different|totally different|quick unrelated)"
    r" (?:topic|task|subject|question|issue|thing|item|problem|project|ticket|feature|story|request)\b(?! is| of| about it)(?=\s*[:,.!?;—–-]|\s+(?:now|please|for)|\s*$)"
    r"|next up\b|up next\b|(?:something|anything) (?:else|different|completely different|unrelated)\b|(?:totally |completely |quite )?(?:unrelated|off[- ]topic|change of (?:topic|subject|plans?))\b|not related\b"
    r"|(?:let'?s |can we |we can |i'?d like to )?(?:switch(?:ing)? (?:gears|topics?|subjects?|over|to the|to another)|chang(?:e|ing) (?:the )?(?:topic|subject)|mov(?:e|ing) on\b(?! with)|leave (?:that|this|it)|park (?:that|this|it)|put (?:that|this|it) aside)"
    r"|forget (?:that|about that|it|about it|this)\b|never ?mind (?:that|the|this|about)\b|enough of (?:that|this)|done with (?:that|this|it)|that'?s (?:done|it for|all for)|on (?:a|an) (?:different|other|another|unrelated|completely different) (?:note|topic|subject)"
    r"|themenwechsel|anderes thema|etwas anderes|was anderes|autre chose|changeons de sujet|otra cosa|cambiando de tema|cambio de tema)"
)
_ASIDE = regex(
    r"^(?:(?:oh|ah|and|ok(?:ay)?|hey)[\s,]+)*(?:by the way|btw|apropos|übrigens|au fait|por cierto|while (?:you'?re|we'?re|i'?m) at it|before i forget|side note|aside)\b"
)
_FILLER = regex(
    r"^(?:(?:ok(?:ay)?|thanks?(?: a lot| so much)?|thank you(?: so much)?|thx|great|cool|nice|perfect|good|awesome|excellent|alright|all right|hey|hi|hello|well|please|pls|now|next|so|then|that works|it works|works|looks good|lgtm|done|good job|well done)\b[\s,.!:;—-]*)+"
)
_JOINED = regex(
    r"^(?:and|but|also|or|plus|because|since|then|still|again|same|instead|except|unless|with|without|including|und|aber|auch|oder|et|mais|aussi|y|pero|también|o)\b"
    r"|^(?:what|how) about\b|^was ist mit\b|^et (?:pour|les?|la)\b|^(?:yes|yep|yeah|no|nope|nah|ja|nein|oui|non|sí|exactly|correct|right|wrong|sure|actually|hm+|wait|sorry|maybe)\b"
    r"|^(?:why|how|how so|why not|when|where|really|what|which one|who)\s*\??$|^(?:did|have|are|were|do) you\b|^(?:you|your)\b|^(?:go with|go ahead|do (?:it|that|the same)|try|continue|go on|keep going|carry on|proceed|next(?! task| topic))\b"
    r"|^next (?:question|one)\b(?! ?:)|^(?:shorter|longer|more|less|fewer|better|faster|bigger|smaller|simpler|another one|one more|compared|only|just|not|use|same)\b"
)
_NEXT = regex(r"^next (?:question|one)\b(?! ?:)")
_LINKED = regex(
    r"\b(?:too|as well|instead|again|the same|the other(?: one)?s?|the (?:first|second|third|last|next|previous|former|latter|rest)(?: one)?|the above|that one|this one|those|these ones?|which ones?|sounds (?:good|great)"
    r"|step by step|like before|as before|as above|earlier|in that case|the others|both of them|so far|still|left|auf (?:deutsch|englisch)|in (?:english|german|french|spanish)|en (?:français|anglais|español|inglés))\b"
)
_POINTER = regex(
    r"\b(?:it|its|that|this|they|them|their|those|these|one|ones|there|he|she|his|her|something|es|das|dies|ça|cela|eso|esto)\b(?!['’]?s (?:go|move|talk|build|write|look)\b)"
)
_FAILURE = regex(
    r"traceback \(most recent|\b\w*(?:error|exception)\b\s*(?:\[\w+\])?\s*:|\berror\[\w+\]|^\s*at [\w.$<>]+ ?\(|\bexit (?:code|status) \d|\bcommand not found\b|\bno such file\b|\bsegmentation fault\b|\bundefined reference\b|\bpanic:|\bstack ?trace\b|npm err!|\bfatal:"
)
_CODE_BLOCK = regex(r"```[^`]{0,20000}(?:```|\Z)")
_CODE_MARKS = frozenset("{}();=<>[]|&$\\/")
_REQUEST = regex(
    r"^(?:(?:can|could|would|will) you\b|i (?:need|want|would like|'?d like|have|am|'?m)\b|help me\b|we (?:need|want|have|should)\b|let'?s\b|let us\b|how\b|what\b|why\b|who\b|where\b|when\b|which\b|is\b|are\b|does\b|do\b|can\b|could\b|should\b|my\b"
    r"|(?:add|write|create|make|fix|explain|build|implement|set|design|draft|draw|generate|find|translate|plan|suggest|review|refactor|debug|update|upgrade|move|document|improve|optimi[sz]e|configure|deploy|encrypt|profile|rewrite|convert|migrate|install|describe|summari[sz]e|compare|compute|calculate|prepare|test|check|investigate|look|tell|give|show|clean|split|port|rename|remove|delete|integrate|extract|analy[sz]e|list|book|order|recommend|proofread|read|schedule|organi[sz]e|teach|solve|prove|run|search|bump|release|publish|send|enable|disable|merge|rebase|reduce|speed|tune|benchmark|scaffold|bootstrap|wire|hook|render|train|simulate|prototype|model|outline|brainstorm|come up)\b)"
)
_GENERIC = frozenset(
    query_terms(
        "add write create make fix explain build implement set design draft generate find give show tell help need want use using used get put"
        " function file code test tests module class method script page new way work works please thing error bug problem issue update change run"
        " good best better simple small project app list step question example line user data name write need part kind type what"
    )
)
_BEFORE_THAT = frozenset("is was of to for with do does about on in and why revert undo like has can fix use".split())
_ALIKE, _CLOSE, _FOREIGN_CLOSE, _APART = 0.28, 0.2, 0.4, 0.1
_FEW, _MANY = 3, 5
_FOREIGN = frozenset(
    "der die das und ich wir ist ein eine mit für auf den bitte mir wie wird le la les des est un une je et pour el los las en de que por una con qué cómo à".split()
)


def compare(previous: str, current: str, similarity: float | None = None) -> TopicChange:
    """Whether `current` changes the topic of `previous`. `similarity` is the cosine of their vectors, None without vectors."""
    return compare_to(trace(previous), current, similarity)


def trace(text: str, sign: Sign = str) -> Trace:
    """The terms and names of a prompt that the comparison with the next one needs, each as `sign` writes it."""
    text = text[:MAX_CHARACTERS]
    terms = _own_terms(text)
    return Trace(frozenset(map(sign, terms)), frozenset(map(sign, exact_terms(text))), sum(map(_weight, terms)))


def compare_to(previous: Trace, current: str, similarity: float | None = None, sign: Sign = str) -> TopicChange:
    """As `compare`, with a prompt of which only the trace was kept; `sign` is what made it."""
    now = current[:MAX_CHARACTERS].strip()
    words, shared = _in_common(previous, now, sign)
    near = words if similarity is None else max(0.0, min(1.0, max(similarity, 0.8 * similarity + 0.35 * words)))
    low = now.lower().replace("’", "'")
    marker = _BREAK.match(low)
    if marker and not _NEXT.match(low) and (said := _quoted(marker[0])):
        return TopicChange(True, round(near, 3), f'says so: "{said}"')
    if marker := _ASIDE.match(low):
        return TopicChange(near < _ALIKE, round(near, 3), f'begins with "{_quoted(marker[0])}"')
    filler = _FILLER.match(low)
    prose = _CODE_BLOCK.sub(" ", low[filler.end() :] if filler else low).strip()
    if reason := _dependence(prose, is_said_after_filler=filler is not None) if low else "empty":
        return TopicChange(False, round(near, 3), reason, follows=True)
    if shared:
        return TopicChange(False, round(near, 3), f'both name "{shared}"')
    has_vectors = similarity is not None
    if near >= _threshold(prose, has_vectors=has_vectors):
        return TopicChange(False, round(near, 3), "similar in meaning" if has_vectors else "similar in words")
    how = "different in meaning and words" if has_vectors else "in other words"
    return TopicChange(True, round(near, 3), f"a request of its own, {how}")


def cosine(one: bytes, other: bytes) -> float | None:
    """The cosine of two vectors of signed bytes; None when one is all zeros, or they are not of one length."""
    a, b = memoryview(one).cast("b"), memoryview(other).cast("b")
    norm = sqrt(sum(x * x for x in a) * sum(y * y for y in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / norm if norm and len(a) == len(b) else None


def _dependence(prose: str, *, is_said_after_filler: bool) -> str:
    """Why a prompt cannot be understood without the one before it; empty when it can."""
    if not prose:
        return "a short reply" if is_said_after_filler else "code alone"
    if match := _JOINED.match(prose):
        return f'goes on: "{_quoted(match[0])}"'
    if _FAILURE.search(prose) and not _REQUEST.match(prose):
        return "reports an error"
    terms = query_terms(prose)
    if pointer := _points_back(prose):
        return f'refers back: "{pointer}"'
    if (match := _LINKED.search(prose)) and len(terms) < _MANY:
        return f'refers back: "{_quoted(match[0])}"'
    if (
        len(terms) < (_FEW - 1 if _REQUEST.match(prose) else _FEW + 1)
        or sum(term not in _GENERIC for term in terms) < _FEW - 1
    ):
        return "a short reply"
    is_code = sum(c in _CODE_MARKS for c in prose) > len(prose) // 12 and not _REQUEST.match(prose)
    return "code alone" if is_code else ""


def _points_back(prose: str) -> str:
    """The pronoun that stands for something that was not named before it in the prompt."""
    for match in _POINTER.finditer(prose[:200]):
        named = [term for term in query_terms(prose[: match.start()]) if term not in _GENERIC]
        if len(named) >= _FEW - 1:
            return ""
        before, after = prose[: match.start()].split()[-1:], prose[match.end() :].split(maxsplit=1)[:1]
        if not _is_no_pointer(match[0], "".join(before), "".join(after)):
            return match[0]
    return ""


def _is_no_pointer(word: str, before: str, after: str) -> bool:
    """Whether `that` and the like join a clause or belong to a noun: `a tool that`, `this Dockerfile`."""
    if word == "there":
        return after in ("is", "are", "a", "any")
    if word == "that":
        return bool(before) and before not in _BEFORE_THAT
    if word in ("this", "these", "those"):
        terms = query_terms(after)
        return bool(terms) and not after.endswith(("er", "ly")) and _GENERIC.isdisjoint(terms)
    if word == "das":
        return bool(after) and after not in ("auf", "ist", "geht", "noch", "bitte")
    return word in ("es", "his", "her") or (word == "one" and bool(after)) or (word == "something" and not before)


def _threshold(prose: str, *, has_vectors: bool) -> float:
    """How similar two prompts must be to be of one topic, by the form of the second."""
    count = len(query_terms(prose))
    if not has_vectors:
        return _APART if _REQUEST.match(prose) or count > _MANY else 0.0
    found = prose.split()
    foreign = sum(word in _FOREIGN for word in found)
    if foreign > sum(word in STOP_WORDS for word in found) or (foreign == 0 and not prose.isascii()):
        return _FOREIGN_CLOSE
    if _REQUEST.match(prose):
        return _ALIKE if count > _FEW else _CLOSE if count == _FEW else _APART
    return _APART if count >= _MANY else 0.0


def _in_common(before: Trace, now: str, sign: Sign) -> tuple[float, str]:
    """The share of the terms of the shorter that both have, rare ones counting more; and a name that both have."""
    own = _own_terms(now)
    shared = next((name for name in exact_terms(now) if sign(name) in before.names), "")
    if not before.terms or not own:
        return 0.0, shared
    both = sum(_weight(term) for term in own if sign(term) in before.terms)
    return min(1.0, both / min(before.weight, sum(map(_weight, own)))), shared


def _own_terms(text: str) -> list[str]:
    """The terms of a prompt that are not common to prompts."""
    return [term for term in query_terms(text) if term not in _GENERIC]


def _weight(term: str) -> float:
    """Names and long words are rarer than short ones."""
    return 2.0 if not term.isalpha() else 1.0 + min(len(term), 10) / 20


def _quoted(found: str) -> str:
    return " ".join(found.split()).strip(" ,.:;!-—?")[-40:]


_MOST = 200
"""How many terms are kept."""


class LastTopic(Record):
    """A topic: the trace of its prompts, and the vector of the first of them, of the model named; empty without one."""

    trace: Trace
    model: str = ""
    vector: bytes = b""


def next_topic(last: LastTopic | None, prompt: str, own: LastTopic, sign: Sign) -> tuple[LastTopic, bool]:
    """The topic after a prompt, of which `own` is what is to be kept, and whether it is another one than the last.

    A prompt that cannot be understood alone adds its words to the topic: `why?` is none that the next could change.
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
    share = len(new.terms - before.terms) / max(1, len(new.terms))  # a hash does not say what its word weighs
    joined = Trace(before.terms | new.terms, before.names | new.names, before.weight + share * new.weight)
    return replace(last, trace=joined), topic.changed


_RAISED = 6
"""How many messages before a decision the question stands that it answers."""
_OPTION = 4
"""The most words of an answer that only names an option."""


class Latest:
    """`offer` and `statement` are the assistant's."""

    def __init__(self) -> None:
        self.offer: TalkStatement | None = None
        self.statement: TalkStatement | None = None
        self._question: TalkStatement | None = None
        self._choice: TalkStatement | None = None

    def take(self, one: Moment) -> None:
        """Remembers a sentence by its mood."""
        said = one.statement
        if said.mood == ASKED:
            self._question = said
            if CHOICE in one.marks:
                self._choice = said
        elif said.mood == OFFERED:
            self.offer = said
        elif said.role == "assistant" and said.mood == STATED:
            self.statement = said

    def question(self, said: TalkStatement) -> TalkStatement | None:
        """The question that a decision answers."""
        question = self._choice if self._is_about_choice(said) else self._question
        return question if question and said.number - question.number <= _RAISED else None

    def is_answered(self, said: TalkStatement, *, is_chosen: bool) -> bool:
        """Whether a sentence makes the choice that was asked for; `is_chosen`: it sounds like that."""
        return self._is_about_choice(said) and (is_chosen or self._is_option(said))

    def _is_about_choice(self, said: TalkStatement) -> bool:
        choice = self._choice
        return said.role != "assistant" and choice is not None and 0 < said.number - choice.number <= _RAISED

    def _is_option(self, said: TalkStatement) -> bool:
        """Whether a short answer does no more than name one of the things to choose from."""
        options = [one for one in (self._choice, self.statement) if one]
        named = set(terms(said.text))
        return (
            said.mood == STATED
            and 0 < len(said.bare.split()) <= _OPTION
            and any(len(named & set(terms(one.text))) * 2 > len(named) for one in options)
        )
