"""The sentences of a text without Markdown, and the words of a sentence with their classes, from which phrases are formed."""

from __future__ import annotations

import re
from functools import lru_cache

from memcli.model.names import slug
from memcli.record import NamedTuple
from memcli.regex import regex
from memcli.summarize.lexicon import ACTIONS, NOUN_CUES, PRODUCTS, VAGUE, VERB_CUES, is_adverb, is_generic, is_gerund
from memcli.text.languages import FUNCTION_WORDS
from memcli.text.passages import HEADING, ITEM, PROSE, ROW, STEP, read_blocks, read_sentences

# All repetitions are bounded: the time must stay linear in the text, whatever it contains.
_IMAGE = r"!\[[^\[\]\n]{0,300}\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])?"
_LINK = r"\[([^\[\]\n]{1,300})\](?:\([^()\n]{0,500}\)|\[[^\[\]\n]{0,100}\])"
_STARS = r"(?<![^\s(\"'\[])(\*{1,3})(?=[\w`\"'(])([^*\n]{1,300})(?<=[\w`.!?:;,)\"'])\1(?![\w*])"
_UNDERLINES = r"(?<![^\s(\"'\[])(_{1,2})(?=\w[^_\n ]{0,80} )([^_\n]{1,300})(?<=[\w.!?:;,)])\1(?!\w)"
_RST = r"`([^`<>\n]{1,200}?)\s*(?:<[^`<>\n]{1,300}>)?`__?(?![\w`])|(?::\w{1,20}:`|``)([^`\n]{1,300})`{1,2}"
_REFERENCE = r"(?<![\w`./])([A-Za-z][A-Za-z0-9-]{2,40})_(?![\w`/(])"
_TAG = (
    r"</?(?:a|b|i|em|strong|br|p|code|kbd|sup|sub|img|span|div|details|summary|h[1-6]|center|table|thead|tbody|t[rdh]|"
    r"ul|ol|li|picture|source|font|u|s|small|pre|blockquote)\b[^<>\n]{0,300}>"
)


def inline(text: str) -> str:
    """One block of text without the markup of links, emphasis and tags, its white space collapsed."""
    if "`" in text:
        text = re.sub(_RST, lambda match: match[1] or f"`{match[2]}`", text)
    if "[" in text:
        text = re.sub(_LINK, r"\1", re.sub(_IMAGE, "", text))
    if "*" in text:
        text = re.sub(_STARS, r"\2", re.sub(_STARS, r"\2", text))
    if "_" in text:
        text = re.sub(_UNDERLINES, r"\2", text)
        text = re.sub(_REFERENCE, r"\1", text)
    if "<" in text:
        text = re.sub(_TAG, " ", text)
    return " ".join(text.split())


MAX_SENTENCES = 200
_TITLE_CHARACTERS = 100


class Sentence(NamedTuple):
    """A sentence, list item, table row or heading."""

    text: str
    role: str
    """One of the roles of `text.passages.read_blocks`."""


def split(text: str, limit: int = MAX_SENTENCES) -> list[Sentence]:
    """The first sentences of `text`, at most `limit`, without Markdown. List items and headings are not split."""
    found: list[Sentence] = []
    for role, block in read_blocks(text, with_commands=True):
        if role == ROW:
            block = " | ".join(cell.strip() for cell in block.strip().strip("|").split("|") if cell.strip(" -:"))  # noqa: PLW2901
        plain = inline(block)
        if role == PROSE:
            found.extend([Sentence(part, role) for _, part in read_sentences(plain)])
        elif any(c.isalnum() for c in plain):
            found.append(Sentence(plain, role))
        if len(found) >= limit:
            break
    # A short line before a list heads it even without the markup of a heading.
    if len(found) > 1 and found[0].role == PROSE and found[1].role in (ITEM, STEP):
        first = found[0].text
        if len(first) <= _TITLE_CHARACTERS and first[-1] not in ".!?…。！？":
            found[0] = Sentence(first, HEADING)
    return found[:limit]


(
    BREAK, VERB_CUE, NOUN_CUE,
    COMMON, GERUND, VAGUE_WORD, ACTION, PROPER, NAME, ACRONYM, PARTICIPLE, VERB, PRODUCT,
) = range(13)  # fmt: skip
"""The classes of words. Only those from COMMON on may be part of a phrase."""

_MAX_WORD = 40
_LONGEST = 120
"""Longer tokens are treated as breaks, so that they do not fill the cache."""
_LONGEST_PATH = 400
_TOKEN = regex(r"`\w[\w.:/-]*(?:\(\))?`|[Cc]\+\+|[CF]#|\w+(?:[-.'’/]\w+)*|[^\w\s]")
_NOISE = (
    r"(?<=[A-Z0-9_])=\S+|\b[a-zA-Z][\w+.-]{1,20}://\S+|[\w.+-]{1,64}@[\w-]+\.[\w.-]+"
    r"|<[^<>\s]{1,80}>|\[REDACTED:[^\]]{0,40}\]"
)
_AMOUNT = regex(
    r"(?:\d{4}-\d\d\S*|v?\d[\d.,:/x-]*[a-z]{0,3}|\d+(?:st|nd|rd|th|mins?|secs?|hours?|days?)|q[1-4]|h[12]|fy\d+)\Z"
)
_AMOUNT_START = frozenset("0123456789vqhf")
_HASH = regex(r"(?=[a-f]*\d)[0-9a-f]{7,64}\Z")
_FILE = regex(r"(?:[\w.-]+/)*[\w.-]*?(\w[\w-]*)\.[a-z][a-z0-9]{0,8}\Z")
_CJK = r"[\u3040-\u30ff\u3400-\u9fff]"
_CJK_BREAKS = (
    r"[\u3041-\u309f]+|(?<=[\u30a0-\u30ff\u3400-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u30a0-\u30ff\u3400-\u9fff])"
    r"|我们|他们|因为|所以|使用|选择|决定|不要|必须|需要|可以|以及|如果|但是|没有|什么|这个|那个|[的了是和在与及或而不把被对将从到为也都就]"
)
_SPELLED = {"c++": "cpp", "c#": "csharp", "f#": "fsharp"}
"""Names whose slug would lose their last characters."""
_NAMELESS_WORDS = """
    index main mod init lib app apps src docs doc test tests spec specs utils util helpers common core readme package
    internal pkg cmd base home local usr var tmp opt etc bin packages modules components services dist
    config configs settings claude agents gemini contributing
"""
_NAMELESS = frozenset(_NAMELESS_WORDS.split())


def split_tokens(text: str) -> list[str]:
    """The words and punctuation of a sentence; addresses, redacted text and overlong words become full stops."""
    if "@" in text or "://" in text or "<" in text or "[" in text or "=" in text:
        text = re.sub(_NOISE, " . ", text)
    if not text.isascii() and re.search(_CJK, text):
        text = re.sub(_CJK_BREAKS, " . ", text)
    return [token if len(token) <= _LONGEST else "." for token in _TOKEN.findall(text)]


@lru_cache(maxsize=50_000)
def classify(token: str) -> tuple[int, str]:
    """The class of a token, and its form in a phrase; BREAK and an empty form if it cannot be part of one."""
    if token[0] == "`":
        quoted = token.strip("`()")
        sort, word = classify(quoted) if quoted else (BREAK, "")
        if sort in (COMMON, GERUND, ACTION, PROPER):
            return NAME, word  # in backticks even a common word is an identifier
        return ACRONYM if sort == VAGUE_WORD else sort, word
    if not (token[0].isalnum() or token[0] == "_"):
        return BREAK, ""
    low = token.lower().replace("’", "'").removesuffix("'s")
    if low in VERB_CUES:
        return VERB_CUE, ""
    if low in NOUN_CUES:
        return NOUN_CUE, ""
    if low in _SPELLED:
        return ACRONYM, _SPELLED[low]
    if low in PRODUCTS and token[0].isupper():
        return PRODUCT, low
    if (
        is_generic(low)
        or (low in FUNCTION_WORDS and not token.isupper())
        or len(low) < 2
        or len(low) > _MAX_WORD
        or "'" in low
    ):
        return BREAK, ""
    if (low[0] in _AMOUNT_START and _AMOUNT.match(low)) or _HASH.match(low):
        return BREAK, ""
    return _classify_word(token, low)


def path_words(path: str) -> list[str]:
    """At most three informative words of a path, the last first: `tokens` and `auth` of `src/auth/tokens.py`.

    A vague name is joined to its folder: `http-client` for `src/http/client.py`.
    """
    parts = path[-_LONGEST_PATH:].strip("/").split("/")
    match = _FILE.match(parts[-1].lower())
    if match:
        parts[-1] = match[1]
    found = [word for part in reversed(parts) if len(word := slug(part)) > 1 and word not in _NAMELESS]
    if len(found) > 1 and found[0] in VAGUE and not _is_uninformative(found[1]):
        found[:2] = [f"{found[1]}-{found[0]}"]
    return [word for word in found if not _is_uninformative(word)][:3]


def _is_uninformative(word: str) -> bool:
    return is_generic(word) or word in VAGUE or bool(_AMOUNT.match(word))


def _classify_word(token: str, low: str) -> tuple[int, str]:
    if not low.isascii():
        # There are no lists of common words for other scripts: only the length counts.
        word = slug(low)
        if re.match(_CJK, low):
            return (COMMON, word) if 2 <= len(word) <= 8 else (BREAK, "")
        if token[0].isupper() and len(word) > 1:
            return PROPER, word
        return (COMMON, word) if len(word) > 4 else (BREAK, "")
    if "/" in low or "." in low:
        # `CI/CD` and `read/write` are words; a path is replaced by its most informative part.
        if low.count("/") == 1 and "." not in low and not _is_uninformative(low.partition("/")[0]):
            return ACRONYM, slug(low)
        telling = path_words(low)
        word = telling[0] if telling else slug(low.rpartition("/")[2])
        return (NAME, word) if len(word) > 1 else (BREAK, "")
    if "_" in low:
        word = slug(low)
        return (NAME, word) if len(word) > 1 and not is_generic(word) else (BREAK, "")
    if low in VAGUE:
        return VAGUE_WORD, low
    if low in ACTIONS:
        return ACTION, low
    is_in_capitals = token.removesuffix("s").isupper() and len(token) > 1
    if is_in_capitals or any(c.isdigit() for c in low):
        return ACRONYM, low
    if is_adverb(low):
        return BREAK, ""
    if low.endswith("ed") and len(low) > 4 and not low.endswith("eed"):
        return PARTICIPLE, low
    if token.islower():
        return GERUND if is_gerund(low) else COMMON, low
    return PROPER, low
