"""What an assistant proposes, and which of it the user's next message accepts."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.conversation.facts import lexicon, moods
from memcli.conversation.facts.clauses import FactSentence
from memcli.conversation.facts.kinds import FAIR, FactMatch
from memcli.conversation.facts.statements import DECISION, ITEM, STEP
from memcli.regex import regex
from memcli.text.words import terms

_LEAD = regex(
    r"(?i)(?:\W*(?:so|then|also|or|and|alternatively|instead|personally|in that case|if you (?:like|want|prefer)|for \w+(?: \w+){0,3}|great|okay|ok)\b[,:]?\s+)*"
    r"(?:(?:i['’]d|i would|i)\s+(?:also\s+|personally\s+|strongly\s+)?(?:suggest|recommend|propose|advise|go (?=with)|lean towards?|pick|vote for|opt for|prefer|use|keep|choose)\s*(?:that|to(?! \w+ing))?\s*"
    r"|(?:my|the) (?:recommendation|suggestion|advice|proposal|preference|pick)(?: here)? (?:would be|is)(?: to)?:?\s*"
    r"|(?:we|you|i) (?:could|might(?: want to)?|can|should)(?: probably| also| just| instead)*\s+"
    r"|(?:shall|should) (?:i|we)\s+|(?:do you )?want me to\s+|would you like me to\s+|do you want (?:me )?to\s+|may i\s+"
    r"|(?:how|what) about\s+(?:we\s+)?|what if we\s+|why don['’]t we\s+|why not\s+|let['’]s\s+|can we agree (?:on|to)\s+|should\s+)"
)
_TASKS = frozenset(
    "run look check show explain start begin go proceed open find try investigate commit push continue delete help tell walk draft send search have clear restart see do consider".split()
)
_ACCEPTED = regex(
    r"^ (?:hm+ ,? )?(?:(?:yes|yep|yup|yeah|ya|okay|sure|agreed|exactly|perfect|absolutely|definitely|correct|right|fine|deal|alright|great|cool|nice|makes sense|sounds? (?:good|great|fine|right|reasonable)|good (?:idea|call|point|plan)|great (?:idea|plan)|i agree|i like (?:it|that)|love it|works for me|fine (?:by|with) me"
    r"|do (?:it|that|so)|please do|please|go ahead|go for it|let us do (?:it|that|this)|let us go with (?:that|it|this)|make it so|ship it|\+ ?1|lgtm|👍|approved|accepted|why not|of course|by all means|that works)\b ?[,.!;—-]* ?)+"
)
_REFUSED = regex(r"\b(?:no|not|nope|nah|but|however|wait|instead|rather|later|never|hold on|except|unless|lol)\b")
_CHOSEN = regex(
    r"^ (?:(?:okay|yes|sure|hm+|let us|i would|i will|we will|go|going|take|do|use|pick|choose|with|for|the|option|number|variant|approach|prefer|say|then|definitely|probably|please) ,? ?)*"
    r"(?P<which>a|b|c|d|\d|first|second|third|fourth|last|former|latter|one|two|three)(?: (?:one|option|approach|variant))?(?: (?:it is|please|then|sounds (?:good|better)|looks (?:good|better)|wins))? ?[.!,]"
)
_PLACES = {
    "a": 0, "1": 0, "first": 0, "former": 0, "one": 0, "b": 1, "2": 1, "second": 1, "latter": 1, "two": 1,
    "c": 2, "3": 2, "third": 2, "three": 2, "d": 3, "4": 3, "fourth": 3, "last": -1,
}  # fmt: skip
_INLINE = regex(r"\(?\b(?:[A-Da-d]|[1-4])\)\s+([^;.?\n]{3,200})")
_OFFERED = regex(r"\b(?:or|which|should|shall|prefer|want|would you|what would|what (?:should|do))\b")
_OPEN = regex(
    r"\bwhat (?:would|should|do) (?:you|we) (?:use|prefer|call|name|pick|choose|like to use|want to use)\b|\bwhich\b.* (?:would|should|do) (?:you|we|i)\b|\bwhere should\b"
)
_LONGEST_ANSWER = 14


def accepted(proposing: Sequence[FactSentence], text: str, answer: Sequence[FactSentence]) -> list[FactMatch]:
    """The proposals of a message (whose text is `text`) that the first sentence of the answer accepts, if any."""
    if not answer or not proposing or moods.is_question(answer[0]) or moods.is_ironic(answer[0]):
        return []
    low = answer[0].low.rstrip() + (" ." if answer[0].words[-1:] not in ((".",), ("!",)) else "")
    if chosen := _CHOSEN.match(f"{low} "):
        return _option(proposing, text, _PLACES.get(chosen["which"], 0))
    agreed = _ACCEPTED.match(f"{low} ")
    if agreed is None or _is_limited(low[agreed.end() :]):
        return []
    made = [found for sentence in proposing if (found := _proposal(sentence))]
    return made[-1:]


def _is_limited(rest: str) -> bool:
    """Whether what follows the agreement takes it back. `10 though` only adds to it."""
    return _REFUSED.search(rest[:40]) is not None


def _proposal(sentence: FactSentence) -> FactMatch | None:
    lead = _LEAD.match(sentence.statement.text)
    if lead is None:
        return None
    rest = sentence.statement.text[lead.end() :]
    first = [word.strip("`,.") for word in rest.lower().split()[:3] if word not in lexicon.ADVERBS]
    if (
        len(rest.split()) < 2
        or not first
        or first[0] in _TASKS
        or (first[0] in ("we", "you") and first[1:2] and first[1] in _TASKS)
    ):
        return None
    if " or " in rest and sentence.statement.text.rstrip().endswith("?"):
        return None  # A question between two is not answered by yes.
    end = sentence.statement.start + len(sentence.statement.text.rstrip("? "))
    start = sentence.statement.start + (lead.end() if moods.is_question(sentence) else 0)
    return FactMatch(DECISION, start, end, FAIR)


def _option(proposing: Sequence[FactSentence], text: str, place: int) -> list[FactMatch]:
    """The option of a list at a place."""
    listed = [s.statement for s in proposing if s.statement.role in (STEP, ITEM)]
    blocks = {s.block: s for s in reversed(listed)}
    spans = [(s.start, s.start + len(s.text)) for _, s in sorted(blocks.items())]
    if len(spans) < 2:
        spans = [m.span(1) for m in _INLINE.finditer(text[:4000])]
    if len(spans) < 2 or not -len(spans) <= place < len(spans):
        return []
    return [FactMatch(DECISION, *spans[place], FAIR)]


def answered(proposing: Sequence[FactSentence], answer: Sequence[FactSentence]) -> list[FactMatch]:
    """The first sentence of the answer, when it names one of the things that the last sentence of a message asks about."""
    if not proposing or not answer or not moods.is_question(proposing[-1]) or moods.is_question(answer[0]):
        return []
    first = answer[0]
    if len(first.words) > _LONGEST_ANSWER or first.words[0] in ("no", "nope", "not", "nah", "i", "what", "neither"):
        return []
    if any(moods.is_unsure(clause) or moods.is_momentary(clause) for clause in first.clauses) or moods.is_report(first):
        return []
    if not _OFFERED.search(proposing[-1].low) or _ACCEPTED.match(first.low.replace("okay ", "", 1)):
        return []
    if _OPEN.search(proposing[-1].low) and len(first.words) <= 5 and not any(clause.verb for clause in first.clauses):
        return [_stated(first)]
    asked = {term for sentence in proposing for term in terms(sentence.statement.text)}
    if asked.isdisjoint(terms(first.statement.text)):
        return []
    return [_stated(first)]


def _stated(sentence: FactSentence) -> FactMatch:
    start = sentence.statement.start
    return FactMatch(DECISION, start, start + len(sentence.statement.text), FAIR)
