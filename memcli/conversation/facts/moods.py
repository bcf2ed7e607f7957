"""What is said without being stated: questions, hypotheses, offers, reports of others, irony, what holds just now."""

from __future__ import annotations

from memcli.conversation.facts import lexicon
from memcli.conversation.facts.clauses import FactClause, FactSentence
from memcli.conversation.facts.lexicon import NOUN, THEY, WE, I
from memcli.regex import regex
from memcli.text.words import STOP_WORDS

_INVERTED = regex(
    r" (?:(?:okay|so|and|but|hey|hi|hm+|well|wait|also|btw) (?:, )?)*"
    r"(?:(?:do|does|did|can|could|would|should|shall|will|is|are|was|were|has|have|may|might) (?:not )?"
    r"(?:i|you|we|they|it|he|she|there|this|that|anyone|someone|the|my|our)\b"
    r"|(?:what|why|how|who|where|when|which|whose)(?: come| about| long| much| many| else| the heck)?"
    r" (?:is|are|was|were|do|does|did|can|could|would|should|shall|will|if|has|have|might)\b"
    r"|(?:how|what) about\b|how come\b|any (?:idea|chance|thoughts)\b|wondering\b|why not\b|i (?:was|am) (?:just )?wondering\b)"
)
_SUPPOSED = regex(
    r" (?:(?:okay|so|and|but|hey|hm+|well|also|then) (?:, )?)*"
    r"(?:if|unless|suppose|supposing|imagine|assume|assuming|say we|let us say|let us assume|let us pretend|in case|pretend"
    r"|what if|had (?:we|i|you|they|it)|were (?:we|i) to|should we|in theory|hypothetically|theoretically|ideally)\b"
)
_UNSURE = regex(
    r"\b(?:maybe|perhaps|possibly|might|i guess|i suppose|i wonder|wondering|i wish|not sure|unsure|no idea|i do not know"
    r"|not convinced|tempted|thinking (?:about|of)|think about|considering|toying with|leaning towards?|debating|undecided"
    r"|could imagine|(?:decide|know|sure|discussed|ask|asked|unclear|question is|see|tell) whether|whether (?:we|i|to)|i doubt|do not think|would be (?:nice|cool|great|good|easier|better|trivial)"
    r"|not saying|one (?:option|approach|way|possibility|idea)|another (?:option|approach|way|is)|no conclusion|could also"
    r"|seems? like|not decided|to decide|will decide|could be|may or may not|if only|supposedly|allegedly"
    r"|would have|should have|could have|would you|if you (?:want|like|prefer|wish))\b"
)
_IRONY = regex(
    r"(?:what could (?:possibly )?go wrong|famous last words|\U0001f644|\U0001f643|(?:^| )/ ?s $|you must be (?:joking|kidding)|lol no|yeah right"
    r"| (?:oh|ah|yeah|yep) ,? ?(?:great|wonderful|fantastic|brilliant|lovely|perfect|sure|joy|good|super|awesome) ,"
    r"|^ (?:wow|oh|ah|ha) ,? ?(?:great|wonderful|fantastic|brilliant|lovely|perfect|genius|cool)\b"
    r"|^ (?:great|wonderful|fantastic|brilliant|lovely|perfect) , (?:another|yet another|just what|more|now)\b"
    r"|^ (?:yeah |oh |sure |right )+,? ?(?:sure |right )?,? ?(?:let us (?:just|also|all)|because|why not|just)\b"
    r"|^ (?:sure|right|yeah) , because\b|because what we really need|while we are at it (?:[.!] )?$|exactly what (?:we|i) needed|how (?:hard|bad) can it"
    r"|who needs\b|\bha ,|would make a great|genius move|what a (?:great|brilliant) idea|because (?:that|this) (?:always|never|worked|went))"
)
_REPORT = regex(
    r"(?:\baccording to\b|\b(?:i|we) (?:just )?(?:read|heard|saw|was told|were told|have read|have heard|told)\b|\byou (?:said|wrote|told|mentioned|suggested|claimed|are saying|recommended)\b"
    r"|\b(?:the|this|that|its|their) (?:docs?|documentation|readme|manual|article|book|blog|ticket|issue|spec|comment|error|message|tutorial|post|video|guide|linter|compiler|reviewer|log|review)s? "
    r"(?:is |was |also |still )?(?:say|says|said|state|states|claims?|reads?|suggests?|recommends?|complains?|tells?|mentions?|asks?|wants?|warns?|insists?|thinks?)\b"
    r"|\b(?:some |most |many |other )?(?:people|folks|devs|developers|blogs) (?:say|think|claim|prefer|recommend|like|use|swear)\b|\b(?:asserts|expects|says|states|claims|checks|shows|implies|assumes|complains|reads|thinks) that\b|\bin the interview\b|\bthe (?:\w+ ){0,3}was :|\bthey asked\b|(?::|is|was|says?|said|asked|asks|wrote|reads|like|called|means|mean) ,? ?<quote>|^ (?:\w+ ){0,3}<quote>|^ (?:translate|summari[sz]e|proofread|rephrase|paraphrase|reword)\b)"
)
_SPOKEN = frozenset(
    "say think claim suggest recommend insist argue believe propose complain prefer want like hate love ask tell".split()
)
_MOMENT = regex(
    r"\b(?:right now|at the moment|for the moment|for now|currently|today|tonight|tomorrow|this (?:time|one|once|morning|afternoon|evening)"
    r"|yet|in (?:\w+ ){1,2}(?:sec|secs|second|seconds|min|minute|minutes|hour|hours)|(?:one|a) sec|brb|in a (?:sec|bit|minute|moment|while)|later"
    r"|temporarily|meanwhile|just once|(?<!from )now)\b"
)


_FOREIGN = frozenset(
    "der das und nicht ich wir ist ein eine mit für auf den zu bitte kein keine immer nur el la los las en de que y un una con para por "
    "este esta le les est pas nous je et une dans pour sur ne se es lo mais ou avec il faut toujours uses siempre nunca da nie du wird muss".split()
)


def is_foreign(sentence: FactSentence) -> bool:
    """Whether the sentence is in a language whose grammar is not read."""
    foreign = sum(word in _FOREIGN for word in sentence.words)
    return foreign >= 2 and foreign > sum(word in STOP_WORDS for word in sentence.words)


def is_question(sentence: FactSentence) -> bool:
    """Whether the sentence asks."""
    return sentence.statement.text.rstrip("\"')*_ ").endswith("?") or _INVERTED.match(sentence.low) is not None


def is_supposed(sentence: FactSentence) -> bool:
    """Whether the sentence begins with a condition or a supposition."""
    return _SUPPOSED.match(sentence.low) is not None


def is_ironic(sentence: FactSentence) -> bool:
    """Whether the sentence says the opposite of what is meant."""
    return _IRONY.search(sentence.low) is not None


def is_report(sentence: FactSentence) -> bool:
    """Whether the sentence repeats what somebody else says or writes."""
    return _REPORT.search(sentence.low) is not None


def is_view(clause: FactClause) -> bool:
    """Whether it says what somebody else thinks or wants."""
    is_other = clause.person == THEY or (
        clause.person == NOUN and bool(clause.subject) and "team" not in clause.subject
    )
    return is_other and clause.verb in _SPOKEN


def concludes(clause: FactClause) -> bool:
    """Whether it draws the speaker's own conclusion from the clause before."""
    return not {"so", "but", "therefore", "hence"}.isdisjoint(clause.openers) or clause.person in (I, WE)


def is_unsure(clause: FactClause) -> bool:
    """Whether the speaker leaves open whether it holds."""
    low = f" {clause.low} "
    if _UNSURE.search(low):
        return True
    return clause.modal in ("could", "might") or (clause.modal == "would" and not _is_wish(clause))


def _is_wish(clause: FactClause) -> bool:
    return clause.verb in lexicon.LIKE or clause.verb == "appreciate" or "rather" in clause.words


def is_offer(clause: FactClause) -> bool:
    """Whether the speaker offers to do something."""
    return clause.person == I and clause.modal in ("can", "could", "shall", "may") and not clause.is_negated


def is_momentary(clause: FactClause) -> bool:
    """Whether it holds just now only."""
    return _MOMENT.search(f" {clause.low} ") is not None
