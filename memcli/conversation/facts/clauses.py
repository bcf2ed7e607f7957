"""The grammar of a sentence, as far as facts need it: its clauses, each with subject, modality, negation, tense and verb.

One sentence of a message with its words and clauses, as the rules read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memcli.conversation.facts import lexicon, openings
from memcli.conversation.facts.lexicon import BASE, GERUND, IT, NONE, NOUN, PARTICIPLE, PAST, THEY, THIRD, WE, YOU, I
from memcli.conversation.facts.openings import FactWord, is_word
from memcli.conversation.facts.statements import FactStatement

LET = "let"
"""The subject of `let's`."""
_MAX_SUBJECT = 14
_MAX_PLACE = 7
_DETERMINERS = frozenset(
    "the a an my our your his her its their no some any this that these those each every one".split()
)
_PREPOSITIONS = frozenset(
    "to of for in on at by with from into over under as than per via about between without".split()
)
_CATENATIVES = frozenset(
    "want need plan like love hope try intend aim decide agree prefer wish opt choose strive look".split()
)
_STOPS = frozenset(";—–")
_JOINTS = frozenset("and but so because since or yet otherwise".split())
_STARTS = frozenset("i we you it they he she there that this everyone nobody".split())
_FINITE = lexicon.MODALS | lexicon.BE | lexicon.HAVE | lexicon.DO


class FactClause(NamedTuple):
    words: tuple[str, ...]
    openers: tuple[str, ...]
    subject: tuple[str, ...]
    person: str
    modal: str
    is_negated: bool
    auxiliaries: tuple[str, ...]
    verb: str
    form: str
    complement: str
    """The verb of the infinitive that follows, as in `want to keep`."""
    rest: tuple[str, ...]
    start: int
    end: int

    @property
    def low(self) -> str:
        """Its words, joined by blanks."""
        return " ".join(self.words)

    @property
    def is_order(self) -> bool:
        """Whether it is an imperative."""
        return self.person == NONE and self.form == BASE and not self.modal and not set(self.auxiliaries) - lexicon.DO

    @property
    def is_past(self) -> bool:
        """Whether it says what was or has been done."""
        return (self.form == PAST and not self.auxiliaries) or (
            self.form == PARTICIPLE and not lexicon.HAVE.isdisjoint(self.auxiliaries)
        )

    @property
    def is_future(self) -> bool:
        """Whether it says what will be done: `will`, `going to`, or the progressive."""
        return (self.modal == "will" and self.form == BASE) or (
            self.form == GERUND and (bool(lexicon.BE.intersection(self.auxiliaries)) or self.person == NONE)
        )

    @property
    def is_ours(self) -> bool:
        """Whether the speaker, or those they speak for, is the subject."""
        return self.person in (I, WE, LET) or (self.person == NOUN and "team" in self.subject)


def split(words: Sequence[FactWord]) -> list[list[FactWord]]:
    """The words of a sentence by clauses."""
    cuts = [0]
    for at in range(1, len(words)):
        if _begins(words, at, cuts[-1]):
            cuts.append(at)
    return [list(words[a:b]) for a, b in zip(cuts, [*cuts[1:], len(words)], strict=True) if a < b]


def _begins(words: Sequence[FactWord], at: int, since: int) -> bool:
    """Whether a clause of its own begins at a word."""
    before, word = words[at - 1].text, words[at].text
    if word == "let" and at + 1 < len(words) and words[at + 1].start == words[at].start:
        return True  # `let's`
    if at - since < 2:
        return False
    if before in _STOPS or (before in ("-", "--", ":") and words[at - 1].start < words[at].start - 1):
        return True
    if before == "," and (_is_start(words, at) or (word in _JOINTS and _is_start(words, at + 1)) or word == "so"):
        return True
    if before in (")", "("):
        return before == "(" and _is_start(words, at)
    return before != "," and word in ("and", "but", "so", "because", "since") and _is_start(words, at + 1)


def _is_start(words: Sequence[FactWord], at: int) -> bool:
    texts = [word.text for word in words[at : at + 5]]
    while texts and texts[0] in ("also", "then", "please", "just", "now", "so"):
        texts = texts[1:]
    if not texts:
        return False
    first, rest = texts[0], texts[1:]
    if texts[:2] in (["let", "us"], ["do", "not"], ["no", "more"]) or first in ("never", "always"):
        return True
    if first in _STARTS:
        return any(_is_finite(text) for text in rest[:3])
    return first[0].isalpha() and any(text in lexicon.MODALS for text in rest[: 4 if first in _DETERMINERS else 2])


def _is_finite(text: str) -> bool:
    return text in _FINITE or any(form in (BASE, THIRD, PAST) for _, form in lexicon.verbs().get(text, ()))


def parse(words: Sequence[FactWord]) -> FactClause:
    """One clause. A part that is not found is empty."""
    words = openings.without_fillers(words)
    texts = tuple(word.text for word in words)
    first = _skip_place(texts, openings.end(texts))
    verb_at, person = _find_verb(texts, first)
    while verb_at > first and texts[verb_at - 1] in lexicon.ADVERBS | lexicon.NEGATIONS:
        verb_at -= 1
    group = _read_group(texts, verb_at, person)
    begin = min(first, len(words) - 1)
    return FactClause(
        texts[first:], texts[:first], texts[first:verb_at], person, *group[:-1], texts[group[-1] :],
        words[begin].start, words[-1].end,
    )  # fmt: skip


def _skip_place(texts: Sequence[str], first: int) -> int:
    """Where an order begins that a phrase such as `for logging,` leads up to."""
    if (
        texts[first : first + 1]
        and texts[first] in ("for", "in", "on", "at", "with", "instead")
        and "," in texts[first : first + _MAX_PLACE]
    ):
        at = texts.index(",", first) + 1
        if at < len(texts) and (texts[at] in ("do", "never", "always", "please") or _imperative(texts, at) == BASE):
            return at
    return first


def _find_verb(texts: Sequence[str], first: int) -> tuple[int, str]:
    """Where the verb group begins, and the person of its subject; the end when there is none."""
    if texts[first : first + 2] == ("let", "us"):
        return first + 2, LET
    if (
        texts[first : first + 1] == ("that",)
        and first + 1 < len(texts)
        and texts[first + 1] in ("the", "we", "our", "all")
    ):
        first += 1
    at = first
    while at < len(texts) and texts[at] in (lexicon.ADVERBS | lexicon.NEGATIONS):
        at += 1
    if at < len(texts) and (form := _imperative(texts, at)):
        return first, NONE if form else NOUN
    for at in range(first, min(len(texts), first + _MAX_SUBJECT)):
        if at > first and texts[at] in ";:":
            break
        if _is_verb_here(texts, first, at):
            if at - first >= 2 and texts[at] not in _FINITE and texts[at + 1 : at + 2] and texts[at + 1] in lexicon.BE:
                continue  # A relative clause: `everything we use is ...`
            return at, _person(texts[first:at])
    return len(texts), NOUN


def _imperative(texts: Sequence[str], at: int) -> str:
    """The form of a verb that stands without a subject, if one does."""
    text = texts[at]
    if text == "do" and texts[at + 1 : at + 2] == ("not",):
        return BASE
    forms = lexicon.verbs().get(text, ())
    if not forms or any(
        word in lexicon.MODALS | {"is", "are", "has", "was", "were"} for word in texts[at + 1 : at + 3]
    ):
        return ""
    return forms[0][1]


def _is_verb_here(texts: Sequence[str], first: int, at: int) -> bool:
    text = texts[at]
    if text in _FINITE:
        return not (text == "will" and at > first and texts[at - 1] in _DETERMINERS)
    forms = {form for _, form in lexicon.verbs().get(text, ())}
    before = next((t for t in reversed(texts[first:at]) if t not in lexicon.ADVERBS and t not in lexicon.NEGATIONS), "")
    if not forms or not before or before in _DETERMINERS - {"this", "that", "one"} or before in _PREPOSITIONS:
        return False
    person = lexicon.PERSONS.get(before, NOUN)
    if person in (I, WE, YOU, THEY) and not forms.isdisjoint((BASE, PAST)):
        return True
    if not forms.isdisjoint((THIRD, PAST)) and is_word(before):
        return True
    return BASE in forms and before.endswith("s") and not before.endswith("ss")


def _person(subject: Sequence[str]) -> str:
    heads = [
        text for text in subject if text not in lexicon.ADVERBS and text not in lexicon.NEGATIONS and is_word(text)
    ]
    return lexicon.PERSONS.get(heads[-1], NOUN) if heads else NONE


def _read_group(texts: Sequence[str], at: int, person: str) -> tuple[str, bool, tuple[str, ...], str, str, str, int]:
    """Modal, negation, auxiliaries, verb, its form, complement, and where the rest begins."""
    modal, is_negated, auxiliaries = "", False, list[str]()
    while at < len(texts):
        text = texts[at]
        if text in lexicon.MODALS:
            modal = modal or text
        elif text in lexicon.NEGATIONS:
            is_negated = True
        elif text in ("have", "has", "need", "needs", "had") and texts[at + 1 : at + 2] == ("to",) and not auxiliaries:
            modal, at = "must" if text != "had" else "had to", at + 1
        elif text == "going" and texts[at + 1 : at + 2] == ("to",) and auxiliaries:
            modal, at, auxiliaries = "will", at + 1, []
        elif text in lexicon.BE or text in lexicon.HAVE or text in lexicon.DO:
            auxiliaries.append(text)
        elif text not in lexicon.ADVERBS:
            break
        at += 1
    verb, form = _verb(texts, at, modal, auxiliaries, person)
    if not verb:
        return modal, is_negated, tuple(auxiliaries[:-1]), *_auxiliary_verb(auxiliaries, modal), "", at
    at += 1
    return modal, is_negated, tuple(auxiliaries), verb, form, _complement(texts, at, verb), at


def _verb(texts: Sequence[str], at: int, modal: str, auxiliaries: Sequence[str], person: str) -> tuple[str, str]:
    if at >= len(texts) or texts[at] in lexicon.PERSONS:
        return "", ""
    forms = lexicon.verbs().get(texts[at], ())
    wanted: tuple[str, ...]
    if (modal or (auxiliaries and auxiliaries[-1] in lexicon.DO)) and not {*auxiliaries} & lexicon.BE:
        wanted = (PARTICIPLE,) if {*auxiliaries} & lexicon.HAVE else (BASE,)
        if not forms and wanted == (BASE,) and texts[at].isalpha():
            return texts[at], BASE
    elif auxiliaries:
        wanted = (PARTICIPLE,) if auxiliaries[-1] in lexicon.HAVE else (GERUND, PARTICIPLE)
    elif person == LET:
        return texts[at], BASE
    else:
        wanted = (BASE, THIRD, PAST, GERUND, PARTICIPLE)
        if person in (NOUN, IT):
            wanted = (THIRD, PAST, BASE)
    return next(((verb, form) for want in wanted for verb, form in forms if form == want), ("", ""))


def _auxiliary_verb(auxiliaries: Sequence[str], modal: str) -> tuple[str, str]:
    """The verb when an auxiliary is the main verb: `is`, `has`."""
    if not auxiliaries:
        return "", ""
    last = auxiliaries[-1]
    verb = "be" if last in lexicon.BE else "have" if last in lexicon.HAVE else "do"
    return verb, BASE if modal or last == "do" else PAST if last in lexicon.PAST_AUXILIARIES else THIRD


def _complement(texts: Sequence[str], at: int, verb: str) -> str:
    if verb not in _CATENATIVES:
        return ""
    while at < len(texts) and (texts[at] in lexicon.ADVERBS or texts[at] in lexicon.NEGATIONS):
        at += 1
    if texts[at : at + 1] != ("to",):
        return ""
    at += 1
    while at < len(texts) and (texts[at] in lexicon.ADVERBS or texts[at] in lexicon.NEGATIONS):
        at += 1
    return texts[at] if at < len(texts) else ""


USER, ASSISTANT = "user", "assistant"


class FactSentence(NamedTuple):
    statement: FactStatement
    role: str
    words: tuple[str, ...]
    low: str
    """The words, joined by blanks, with one before and one after."""
    clauses: tuple[FactClause, ...]

    @property
    def is_users(self) -> bool:
        """Whether the user said it."""
        return self.role == USER


def read(statement: FactStatement, role: str) -> FactSentence:
    """The grammar of one sentence."""
    found = openings.read(statement.text)
    texts = tuple(word.text for word in found)
    parsed = tuple(parse(part) for part in split(found))
    return FactSentence(statement, role, texts, f" {' '.join(texts)} ", parsed)
