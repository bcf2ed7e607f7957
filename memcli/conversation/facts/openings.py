"""What opens a sentence without being part of its clauses: interjections, and phrases such as `by the way`.

The words of a sentence, in lowercase, with contractions and chat spellings written out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memcli.conversation.facts import lexicon
from memcli.conversation.facts.lexicon import BASE
from memcli.regex import regex
from memcli.text.words import negated

CODE, QUOTE = "<code>", "<quote>"
_CODE_MARK, _QUOTE_MARK = "\ue000", "\ue001"
_TOKEN = regex(
    rf"{_CODE_MARK}+|{_QUOTE_MARK}+|w/(?=\s)|--?[a-z][\w-]*|[^\W\d_](?:\w|['’](?=\w)|[-./+#](?=\w))*[+#]*|\d(?:\w|[.,:/-](?=\w))*%?|\S"
)
_CODE_SPAN = regex(r"(`+)(?!`)[^`\n]{1,300}\1")
_QUOTED = regex(
    r"“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|\"[^\"\n]{1,400}\"|(?<!\w)'(?=\w)[^'\n]{1,300}'(?!\w)"
)
_NAME_WORDS = 2
"""A quotation of so few words is a name; a longer one is what somebody else said."""

_IRREGULAR = {
    "cannot": "can not", "let's": "let us", "i'm": "i am", "dont": "do not", "cant": "can not", "wont": "will not", "doesnt": "does not",
    "didnt": "did not", "isnt": "is not", "arent": "are not", "wasnt": "was not", "shouldnt": "should not",
    "couldnt": "could not", "wouldnt": "would not", "mustnt": "must not", "im": "i am", "ive": "i have",
    "thats": "that is", "whats": "what is", "youre": "you are", "weve": "we have", "theyre": "they are",
    "pls": "please", "plz": "please", "plse": "please", "u": "you", "ur": "your", "r": "are", "gonna": "going to",
    "wanna": "want to", "gotta": "have to", "gimme": "give me", "w/": "with", "bc": "because", "cuz": "because",
    "cos": "because", "coz": "because", "teh": "the", "definately": "definitely", "nvm": "never mind", "=": "is", "idk": "i do not know",
    "nevermind": "never mind", "thx": "thanks", "ok": "okay", "kk": "okay", "y'all": "you", "imo": "i think",
    "imho": "i think", "iirc": "i think", "tho": "though", "prolly": "probably", "shoulda": "should have", "rn": "now",
    "favorite": "favourite", "favor": "favour", "prefere": "prefer", "allways": "always", "atm": "currently",
}  # fmt: skip
_ENDINGS = {"'ll": "will", "'re": "are", "'ve": "have", "'d": "would", "'m": "am"}
_IS_AFTER = frozenset("it that he she there what who here this where how everything one which".split())


class FactWord(NamedTuple):
    text: str
    start: int
    end: int


def is_word(text: str) -> bool:
    """Whether it is a word, or what stands for code or a quotation, rather than a mark."""
    return text[0].isalnum() or text in (CODE, QUOTE)


def mask(sentence: str) -> str:
    """`sentence` with inline code and quoted statements replaced by marks of the same length."""
    if "`" in sentence:
        sentence = _CODE_SPAN.sub(lambda m: _CODE_MARK * len(m[0]), sentence)
    if "**" in sentence:
        sentence = sentence.replace("**", "  ")
    return _QUOTED.sub(_mask_quote, sentence)


def _mask_quote(match: object) -> str:
    text: str = match[0]  # type: ignore[index]
    return _QUOTE_MARK * len(text) if len(text.split()) > _NAME_WORDS else text


def read(sentence: str) -> list[FactWord]:
    """The words and marks of `sentence`; the words of a contraction share their place."""
    found: list[FactWord] = []
    for match in _TOKEN.finditer(mask(sentence)):
        texts = _written_out(match[0])
        if found and found[-1].text == "lets" and BASE in {form for _, form in lexicon.verbs().get(texts[0], ())}:
            _, *place = found.pop()
            found += [FactWord("let", *place), FactWord("us", *place)]
        found += [FactWord(text, match.start(), match.end()) for text in texts]
    return found


def _written_out(token: str) -> list[str]:
    if token[0] == _CODE_MARK:
        return [CODE]
    if token[0] == _QUOTE_MARK:
        return [QUOTE]
    low = token.lower().replace("’", "'")
    if low in _IRREGULAR:
        return _IRREGULAR[low].split()
    if "'" not in low:
        return [low]
    if verb := negated(low):
        return [verb, "not"]
    stem, _, ending = low.rpartition("'")
    if f"'{ending}" in _ENDINGS:
        return [stem, _ENDINGS[f"'{ending}"]]
    return [stem, "is"] if ending == "s" and stem in _IS_AFTER else [low]


_NOUN_LEADS = frozenset(
    "no first second again finally good great correct important update edit listen look remember note fine right nice thank "
    "reminder rule as which true warning release".split()
)


def without_fillers(words: Sequence[FactWord]) -> Sequence[FactWord]:
    """The words of a clause without the phrases that change nothing in what it states."""
    texts = [word.text for word in words]
    for phrase in lexicon.FILLERS:
        if phrase[0] not in texts:
            continue
        at = texts.index(phrase[0])
        if tuple(texts[at : at + len(phrase)]) == phrase and len(texts) > len(phrase) and at < 6:
            words = [*words[:at], *words[at + len(phrase) :]]
            texts = [word.text for word in words]
    return words


def end(texts: Sequence[str]) -> int:
    """Where the clause proper begins."""
    at = 0
    while at < len(texts):
        if is_word(texts[at]) and (texts[at] not in lexicon.OPENERS or _is_determiner(texts, at)):
            break
        at += 1
    return at


def _is_determiner(texts: Sequence[str], at: int) -> bool:
    """Whether `no` or an adjective belongs to the noun behind it, rather than opening the sentence."""
    text, following = texts[at], texts[at + 1] if at + 1 < len(texts) else ""
    if text not in _NOUN_LEADS:
        return False
    if text in ("note", "remember") and following in ("that", "to"):
        return following == "to"
    is_order = text == "first" and following in lexicon.verbs()
    return bool(following) and is_word(following) and following not in lexicon.PERSONS and not is_order
