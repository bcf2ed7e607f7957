"""The sentences of messages, verbatim, each with its mood: a statement, question, supposition, offer or plan."""

from __future__ import annotations

from functools import lru_cache

from memcli.model.conversation import Message
from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.text.passages import ITEM, PROSE, STEP, read_blocks, read_sentences

STATED, ASKED, SUPPOSED, OFFERED, PLANNED, PHATIC = "stated", "asked", "supposed", "offered", "planned", "phatic"
"""The moods. A phatic sentence greets, thanks or agrees, and has no other content."""

_CACHED_MESSAGES = 1 << 14
"""The size of the cache of messages: chunks, summary and episodes each read all messages of a conversation."""
_LONGEST = 400
"""Sentences of more characters are skipped: they are logs or data."""
_MOST_CHARACTERS = 20_000
"""Only the first characters of a message are read."""
_LEFT_OUT = regex(r"\s*(?:>|\[[^\]]*\]\s*$|<|\$ |Traceback |File \"|at \w[\w.$]*\()|(?: {4}|\t)")
"""Quotations, notes in brackets, commands, stack traces, and indented code."""
_CLAUSE = 2
"""The least spaces in a clause before a colon; less is a label, as in `Note: `."""
_QUOTED = regex(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|`[^`\n]{1,300}`|(?<!\w)'[^'\n]{4,300}'(?!\w)")

_QUESTION = regex(
    r"(?:(?:and|but|so|or|ok|okay|also|hi|hey|hello|please)[, ]+)*(?:(?:can|could|would|will|do|does|did|is|are|was|were|has|have|should|"
    r"shall|may)(?:n't)? (?:you|we|i|it|this|that|they|there|he|she|the|a|an|our|my|anyone|somebody|someone)\b"
    r"|(?:how|why|who|whose|what's|what is|what are|what do|what does|what would|what about|any idea)\b)"
)
_SUPPOSITION = regex(
    r"^(?:(?:and|but|so|or|ok|okay|hm+),? )*(?:if|suppose|supposing|assuming|assume|imagine|say|what if|unless|in case|provided)\b"
    r"|\b(?:would|might|maybe|perhaps|possibly|presumably|hypothetically|in theory|wouldn't|i guess|i wonder|i suspect|"
    r"i'm not sure|not sure (?:if|whether)|may (?:be|have)|could (?:be|have|become|mean|also|use|try|make|add|switch|move|do|go)"
    r"|should probably|seems? (?:like|as if)|as if|(?:will|'ll) probably|we could|you could|one could|probably)\b"
)
_OFFER = regex(
    r"^(?:(?:so|then|also|if you (?:like|want)),? )*(?:i (?:can|could)(?! (?:reproduce|confirm|see|read|not))|i'd be happy|happy to|"
    r"let me know|feel free|would you|do you want|shall i|should i|just (?:say|tell|ask)|want me to)\b"
)
_PLAN = regex(
    r"\b(?:i'll|we'll|i will|we will|going to|gonna|(?:i|we) (?:want|need|plan|intend|hope|have) to|i'd like|next steps?|next week|"
    r"tomorrow|todo|later|some day|someday|soon|remind me|let me|let's|lets|(?:i|we) should|i'm about to|(?:i am|i'm|we're) \w+ing)\b"
)
_WORD = regex(r"[a-z']+")
_PHATIC = frozenset(
    """
    hi hello hey good morning evening afternoon night job work catch idea point question thanks thank you thx danke cheers great
    perfect nice super cool ok okay alright all right fine sure yes yep yeah no nope agreed noted understood got it exactly awesome
    amazing excellent wonderful lgtm bye welcome you're sounds looks that helps makes sense go ahead problem my pleasure wow
    hooray ouch hm hmm interesting very much so a lot again then there everyone please with me for the your help to absolutely of
    course certainly glad hear this is too oh and
    """.split()
)
"""Words of greetings, thanks and agreement: a sentence of these words alone is phatic."""


class TalkStatement(NamedTuple):
    """A sentence of a message, with its speaker and its mood."""

    number: int
    """The number of the message."""
    role: str
    who: str
    text: str
    """The sentence as it stands in the message, with its white space collapsed."""
    bare: str
    """The sentence in lowercase with straight quotes, without quoted text: patterns are matched against this."""
    mood: str


@lru_cache(maxsize=_CACHED_MESSAGES)
def statements(message: Message) -> tuple[TalkStatement, ...]:
    """The sentences of prose and list items in a message, in order. Code, quotes, tables and headings are left out; a message of a tool has none."""
    if message.role == "tool":
        return ()
    found = []
    blocks = read_blocks(message.text[:_MOST_CHARACTERS], is_left_out=_LEFT_OUT.match)
    for prose in (" ".join(block.split()) for role, block in blocks if role in (PROSE, ITEM, STEP)):
        for _, text in read_sentences(prose):
            if len(text) <= _LONGEST and any(c.isalpha() for c in text):
                bare = bared(text)
                found.append(TalkStatement(message.number, message.role, message.who, text, bare, mood_of(text, bare)))
    return tuple(found)


def bared(text: str) -> str:
    """A sentence in lowercase with straight apostrophes, without quoted text and emphasis."""
    return " ".join(_QUOTED.sub(" … ", text.replace("’", "'")).replace("*", "").lower().split())


def mood_of(text: str, bare: str) -> str:
    """The mood of a sentence, given as it stands and bared."""
    plain = bare.strip(" .,!…:;)(")
    if text.rstrip("\"'”’)*_`」』。 ").endswith(("?", "？", "か", "吗", "呢")) or _QUESTION.match(plain):
        return ASKED
    if _PHATIC.issuperset(_WORD.findall(plain)) and not any(c.isdigit() for c in plain):
        return PHATIC
    if _OFFER.search(plain):
        return OFFERED
    # `We use tabs: spaces might break`: an explanation behind a colon does not make the clause before it a supposition.
    head = plain.partition(": ")[0]
    if _SUPPOSITION.search(head if head.count(" ") >= _CLAUSE else plain):
        return SUPPOSED
    return PLANNED if _PLAN.search(plain) else STATED
