"""Languages other than English: the language of a text, its stems and function words, and pairs of characters in scripts
without spaces.

German and Spanish have the stemmers of Snowball. Chinese, Japanese, Korean and Thai are compared by every two characters of
one script (Manning, Raghavan, Schütze: "Introduction to Information Retrieval", 2008, section 2.2.1), without those that
carry grammar alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import Stemmer

from memcli.regex import regex

STEM = "_"
"""The last character of a stem of another language than English; no other term ends with it."""

_OWN = {
    "german": frozenset(
        """
        aber alle auch auf aus bei beim bis dann das dass dem denn der diese dieser dieses durch ein eine einem einen einer eines
        für gegen gibt haben hier ich ihr ihre immer ist jede jeder jedes kann kein keine keinen können mit muss müssen nach nicht nie
        niemals noch nur oder ohne sein seit sich sie sind soll sollen sollte sowie um und uns unser unsere unserem unserer vom von vor
        wann warum weil welche welchem welchen welcher welches wenn wer werden weshalb wie wieso wir wird wo wurde wurden wozu zu zum zur
        zwischen über
        """.split()
    ),
    "spanish": frozenset(
        """
        al cada como con cuando cuál cuáles cuándo cuánto cuántos cómo debe deben desde donde dónde el ella ellos entre esa ese esta
        estamos estas este esto estos está están hacemos hace hacer hasta hay las lo los más nada ni nuestra nuestras nuestro nuestros
        nunca para pero por porque puede pueden que quien quién qué se ser siempre sin sobre son su sus también tenemos todas todo todos
        una unas unos usamos vez ya
        """.split()
    ),
}
"""Function words that occur in this language only, not in English."""
_SHARED = {
    "german": frozenset("als am an den des die er es hat in man so war was".split()),
    "spanish": frozenset("a de del e en es la le no o si un y".split()),
}
"""Function words that other languages have too, or that have a meaning in code."""
FUNCTION_WORDS = frozenset[str]().union(*_OWN.values())
MEANINGLESS = {language: own | _SHARED[language] for language, own in _OWN.items()}
"""All function words in lower case, by language."""
_MARKS = {"german": "äöüß", "spanish": "¿¡ñ"}
_ANY = frozenset(form for words in _OWN.values() for word in words for form in (word, word.capitalize()))
_LEAST = 2
_STEMMERS = {language: Stemmer.Stemmer(language, 0).stemWord for language in _OWN}


def language_of(text: str, words: Sequence[str], english: frozenset[str]) -> str:
    """The language of `text`, a key of `MEANINGLESS`; empty for English, or if it is unclear. `words` are those of the text.

    A text is clearly in a language if it has two of its function words, or one and a letter that English lacks, at least one of
    them in no other language, and fewer words of `english`.
    """
    distinct = frozenset(words)
    if distinct.isdisjoint(_ANY):
        return ""
    low = {word.lower() for word in distinct}
    best, most = "", 0
    for language, own in _OWN.items():
        found = low & own
        count = len(found) + len(low & _SHARED[language]) + any(mark in text for mark in _MARKS[language])
        if found and count >= _LEAST and count > max(most, len(low & english - _SHARED[language])):
            best, most = language, count
    return best


@lru_cache(maxsize=20_000)
def stem_in(language: str, word: str) -> str:
    """The stem of a word in lower case in a language, followed by `STEM`."""
    return f"{_STEMMERS[language](word)}{STEM}"


def without_accents(word: str) -> str:
    """The word without accents and umlauts, as many people type it: `grosse` for `große`."""
    parts = unicodedata.normalize("NFKD", word.replace("ß", "ss"))
    return "".join(c for c in parts if not unicodedata.combining(c))


_SCRIPTS = {
    "thai": "\u0e01-\u0e5b",
    "han": "\u3005-\u3007\u3400-\u9fff\U00020000-\U0003ffff",
    "hiragana": "\u3041-\u309f",
    "katakana": "\u30a1-\u30fa\u30fc-\u30ff",
    "hangul": "\uac00-\ud7a3",
}
UNSPACED = regex(f"[{''.join(_SCRIPTS.values())}]+")
"""A run of characters in scripts without spaces."""
_ONE_SCRIPT = regex("|".join(f"(?P<{script}>[{characters}]+)" for script, characters in _SCRIPTS.items()))
"""A run of characters of one script, which is the name of the group."""
HIRAGANA = regex("[\u3041-\u309f]+\\Z")
"""A run of the script of Japanese grammar."""
_GRAMMAR = regex(
    "什么|怎么|怎样|如何|我们|你们|他们|咱们|可以|需要|应该|这个|那个|哪个|哪些|哪里|为何|为什|没有|以及|或者|一个|因为|所以|是否|必须|多少|"
    "不要|我要|我想|一张|一下|一些|[的了吗呢吧么着过和与在把被就都也很从到对给让是请]|습니다?|합니다?|입니다?|하는|에서|으로|까지|나요"
)
"""Words and endings of grammar, or that occur in any text."""
_LONG_VOWEL = "ー"
_COMMON = "何今私方事時中前後上下内用人"
"""Characters that are too common to be a term alone."""


def pairs(run: str) -> list[str]:
    """The terms of a run of UNSPACED: every two characters of one script, or the only one.

    Hiragana next to other scripts, which is Japanese grammar, has no terms.
    """
    found: list[str] = []
    scripts = [(match.lastgroup, match[0]) for match in _ONE_SCRIPT.finditer(run)]
    for script, text in scripts:
        # Pairs with grammar in them occur in any text, and would make all texts alike.
        if script == "hiragana" and len(scripts) > 1:
            continue
        for part in _GRAMMAR.split(text) if script in ("han", "hangul") else [text]:
            two = ["".join(both) for both in pairwise(part)] or ([part] if part not in _COMMON else [])
            found += [term for term in two if not term.startswith(_LONG_VOWEL)]
    return found


# Without these patterns nothing that was said in these languages was a fact.
_PLAIN: Sequence[tuple[str, re.Pattern[str]]] = (
    (
        "decision",
        regex(
            r"\b(?:wir haben (?:uns )?(?:\S+ ){0,12}?(?:entschieden|geeinigt|beschlossen)|wir entscheiden uns|die wahl fiel auf"
            r"|(?:hemos|se ha) (?:decidido|acordado|elegido)|decidimos|acordamos|elegimos|nos quedamos con)\b"
            r"|に決め(?:た|ました)|ことに(?:した|しました|なった|なりました|決め)|を採用(?:した|しました|する)|(?:我们|团队|最终)(?:已经)?(?:决定|选定|选择|采用)"
        ),
    ),
    (
        "negative",
        regex(
            r"\b(?:niemals|nie wieder|auf keinen fall|unter keinen umständen|nunca|jamás|bajo ningún concepto)\b"
            r"|絶対に.{1,40}(?:ない|禁止)|決して.{1,40}ない|绝(?:对|不)(?:不|要|能|可|用|使)|千万(?:不要|别)|切勿|严禁"
        ),
    ),
    (
        "constraint",
        regex(
            r"\b(?:(?:darf|dürfen) (?:\S+ ){0,8}?(?:nicht|nichts|kein\w*|nur)|(?:muss|müssen) (?:\S+ ){0,2}?(?:immer|stets|vor|mindestens|höchstens)"
            r"|verboten|nicht erlaubt|ist pflicht|no se (?:debe|puede|permite)|está prohibido|se prohíbe|es obligatorio|debe(?:n)? \w+r)\b"
            r"|禁止|してはいけない|しないこと|必ず|なければならない|不得|不允许|必须|务必|只能"
        ),
    ),
    (
        "preference",
        regex(
            r"\b(?:(?:ich|wir) (?:bevorzuge|ziehe)n?|(?:ich|wir) \w+ lieber|am liebsten|prefiero|preferimos|me gusta más)\b"
            r"|方が(?:いい|良い|好き)|を好む|我(?:们)?(?:更)?(?:喜欢|偏好|倾向)|优先使用"
        ),
    ),
)


def plain_kind(sentence: str) -> str:
    """The kind of memory that a sentence in lower case clearly is, in German, Spanish, Japanese or Chinese; otherwise empty."""
    return next((kind for kind, pattern in _PLAIN if pattern.search(sentence)), "")
