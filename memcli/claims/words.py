"""The words of a sentence: as written, in lower case, and by their stems."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from memcli.claims.choices import CASED, LONGEST, NAMES, PLAIN
from memcli.claims.lexicon import GENERIC, SAME_WORDS

_TOKEN = re.compile(
    r"`[^`\n]{1,80}`|\d{1,2}:\d\d(?::\d\d)?|v?\d+(?:,\d{3})*(?:\.\d+)*(?:e-?\d+)?(?:x\d+)?%?(?![\w])|"
    r"[^\W\d_](?:[\w+#]|[-/.'’](?=\w))*[+#]*|--[a-z][\w-]*|[.,;:!?()=<>≤≥|%°/+-]"
)
_CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cannot|can not)\b", re.IGNORECASE), "can not"), (re.compile(r"\bwon't\b", re.IGNORECASE), "will not"),
    (re.compile(r"n't\b", re.IGNORECASE), " not"), (re.compile(r"\b(do|does|is|are|must|should|did)nt\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\bpull request", re.IGNORECASE), "pr"), (re.compile(r"\btim(?:e|es|ed|ing) out\b|\btime-?outs?\b", re.IGNORECASE), "timeout"),
    (re.compile(r"\bgiv(?:e|es|ing) up (?:on )?", re.IGNORECASE), "timeout "), (re.compile(r"\blogged[ -]in\b|\bsigned[ -]in\b", re.IGNORECASE), "logged-in"),
    (re.compile(r"\bnot any ?more\b|\bno more\b", re.IGNORECASE), "no longer"), (re.compile(r"\bso that\b", re.IGNORECASE), "because"),
    (re.compile(r"\bfrom scratch\b", re.IGNORECASE), "fully"), (re.compile(r"\bby hand\b", re.IGNORECASE), "manually"),
    (re.compile(r"\blocal (time)\b", re.IGNORECASE), "local-time"), (re.compile(r"\bforce[ -]?push(?:es|ed|ing)?\b", re.IGNORECASE), "force-push"),
    (re.compile(r"\b(unit|integration) tests\b", re.IGNORECASE), r"\1-test tests"), (re.compile(r"\bover the air\b", re.IGNORECASE), "ota"),
    (re.compile(r"\b(debug|release|nightly) (builds?)\b", re.IGNORECASE), r"\1-\2"), (re.compile(r"\bup to\b", re.IGNORECASE), "≤"),
    (re.compile(r"\b([a-z][\w-]*):(v?\d[\w.]*)", re.IGNORECASE), r"\1 \2"),
    (re.compile(r"\b(?:gave up on|moved off|moved away from|got rid of|said goodbye to)\b", re.IGNORECASE), "dropped"),
    (re.compile(r"\bset[ -]?up\b", re.IGNORECASE), "setup"), (re.compile(r"\bstart[ -]up\b", re.IGNORECASE), "startup"),
    (re.compile(r"\b(?:(?:may|must|can|should|shall|do|does|will) not exceed|exceed(?:s|ing)?|(?:not?|never) (?:more|larger|longer|bigger) than)\b", re.IGNORECASE), "≤"),
    (re.compile(r"\bas well\b|\bin order\b|\bat once\b", re.IGNORECASE), ""), (re.compile(r"\brolled out\b", re.IGNORECASE), "deployed"),
    (re.compile(r"\b(?:turned|switched) (on|off)\b", re.IGNORECASE), r"\1"), (re.compile(r"\bat (least|most)[ -]once\b", re.IGNORECASE), r"at-\1-once"),
    (re.compile(r"\bexactly[ -]once\b", re.IGNORECASE), "exactly-once"),
)  # fmt: skip
_APOSTROPHES = str.maketrans("’‘“”–—\u00a0", "''\"\"-- ")
_stemmer = Stemmer.Stemmer("english", 0)


class Word(NamedTuple):
    """One token: as written, in lower case, its stem (empty for marks), and whether it is a name by its form."""

    text: str
    low: str
    stem: str
    is_name: bool


def read(sentence: str) -> list[Word]:
    """The words of a sentence, contractions written out; known names of several words joined by hyphens."""
    text = sentence.translate(_APOSTROPHES)
    for pattern, written in _CONTRACTIONS:
        text = pattern.sub(written, text)
    found: list[Word] = []
    for token in _TOKEN.findall(text):
        found.append(_word(token, not found or found[-1].text in ".:!?;"))
    return _joined(found)


def choice_of(word: Word) -> tuple[str, str] | None:
    """The class of names that a word is one of, and the name."""
    known = NAMES.get(word.low)
    if known is None or word.low in PLAIN:
        return None
    if word.low in CASED and not (word.text[0].isupper() or word.text[0] == "`"):
        return None
    return known


def is_content(word: Word) -> bool:
    """Whether the word says something of what a claim is about."""
    return bool(word.stem) and word.stem not in GENERIC


@lru_cache(maxsize=50_000)
def _stem(low: str) -> str:
    known = _stemmer.stemWord(low)
    return SAME_WORDS.get(known, known)


def _word(token: str, is_first: bool) -> Word:
    if token[0] == "`":
        inner = token.strip("`").strip()
        return Word(token, inner.lower(), inner.lower(), True)
    low = token.lower()
    if not token[0].isalpha():
        return Word(token, low, "", False)
    low = low.removesuffix("'s")
    is_name = (token[0].isupper() and not is_first) or any(c.isupper() or c.isdigit() or c in "_./" for c in token[1:])
    return Word(token, low, _stem(low), is_name)


def _joined(words: list[Word]) -> list[Word]:
    """The words, with those that are one name together as one."""
    found: list[Word] = []
    at = 0
    while at < len(words):
        for length in range(min(LONGEST, len(words) - at), 1, -1):
            part = words[at : at + length]
            name = "-".join(word.low for word in part)
            if name in NAMES and name not in PLAIN:
                found.append(Word(name, name, name, True))
                at += length
                break
        else:
            found.append(words[at])
            at += 1
    return found
