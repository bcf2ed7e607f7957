"""The readings of a text: its meaning for a person or a model after look-alikes, encodings and odd spellings are resolved.

Ordinary text has one reading. Every step takes linear time; decoded text is decoded again at most twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain

from memcli.model.characters import INVISIBLE, MISPLACED, is_plain
from memcli.safety.patterns import compiled, pattern, read_json

_WORDS = read_json(__package__, "words.json")
_LOOKALIKES: dict[str, str] = _WORDS["lookalikes"]
_TO_LATIN = str.maketrans({char: latin for latin, chars in _LOOKALIKES.items() for char in chars})
_MARKS = ((0x300, 0x36F), (0x483, 0x489), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F))
_SKELETON = str.maketrans("l1!|0@43$576982+", "iiiioaaesstgabzt"[:16])
"""Maps letters and the signs used in their place to one character each."""
_KEY_WORDS = frozenset(_WORDS["key_words"])
_SKELETONS: dict[str, str] = {word.translate(_SKELETON): word for word in _KEY_WORDS}
_LONG = 12
"""The least characters of a word that may be several words in a name, or an encoded text."""
_BETWEEN = 4
"""A run has more words of one letter between blanks, beside its first letter."""
_SINGLES = r"\b" + r"\w[ ._*|-]+" * (_BETWEEN + 2)
_ORDERED = tuple(_WORDS["ordered"])
_OBJECTS = tuple(_WORDS["objects"])
_TELLING = 3
"""A name with at least so many key words is read as a sentence."""
_Telling = tuple[Sequence[str], Sequence[str]]
_NOTHING: _Telling = ((), ())
_LONGEST_KNOWN = 100
"""The most characters of a word whose names are cached."""
_DEPTH = 2
_MOST = 1 << 20
"""The most characters of base64 from several words that are decoded together."""
_SANDWICH = r"[a-z][0-9@$!|+][a-z]"
_LONGEST_LEET = 40
_LEET = rf"[a-z0-9@$!|+]{{2,{_LONGEST_LEET}}}"
_LEET_BYTES = bytes(n if n in b"abcdefghijklmnopqrstuvwxyz0123456789@$!|+" else ord(" ") for n in range(256))
"""Maps bytes that are no part of such a spelling to blanks."""
_TWO_SANDWICHES = rf"{_SANDWICH}[\s\S]*?{_SANDWICH}"
_CODED = r"&(?:#\d|#x[\da-f]|[a-z]{2,8};)|%[2-7][\da-f]|\\(?:u00|x)[2-7][\da-f]|\\u\{"
_ESCAPED = r"\\u\{?([\da-fA-F]{4,6})\}?|\\x([\da-fA-F]{2})"
_JOINTS = str.maketrans("-_./+~:", " " * 7)
_PARTS = r"(?<![^\W_])[^\W_]+(?:[-_./+~:]+[^\W_]+){2,}"
_HUMPS = r"(?<![A-Za-z])[A-Z]?[a-z]+(?:[A-Z][a-z]+){2,}"
_BASE64 = r"[A-Za-z0-9+/_-]{16,}={0,2}"
_HEX = r"(?:[0-9a-fA-F]{2}){12,}\Z"
_TORN = tuple(_WORDS["torn"])
_TORN_WORDS = "|".join(
    rf"(?<!\w){' ?'.join(word)}(?!\w)" for word in sorted(_KEY_WORDS, key=len, reverse=True) if len(word) > 4
)
_SPELLED = r"(?<!\w)(?:[\w:/][ ._*|-]{1,3}){9,}\w(?!\w)"


def readings(text: str, depth: int = _DEPTH) -> Iterator[tuple[str, bool]]:
    """Yields the text itself, then its hidden readings, in lower case and with single blanks; line ends are preserved. The flag
    beside each is true for a list of names, such as those of files and tags, one a line."""
    plain = text
    if not text.isascii():
        plain = without_accents(text if is_plain(text) else MISPLACED().sub("", INVISIBLE().sub("", text)))
        # Characters are compared one by one, since compiling a pattern of these ranges takes milliseconds.
        if any("\u036f" < c < "\u2000" or "\u2e7f" < c < "\ufb00" for c in set(plain)):
            plain = compiled(r"\w+").sub(_in_latin, plain)
    lines = _by_line(plain)
    low = _folded(lines)
    yield low, False
    words = dict.fromkeys(chain.from_iterable(lines))
    long = [word for word in words if len(word) >= _LONG]
    if long and (names := _names(long)):
        yield names, True
        if leet := _from_leet(names, names.split()):
            yield leet, True
    if leet := _from_leet(low, words):
        yield leet, False
    # Words spelled out, as in `i g n o r e` and `i-g-n-o-r-e`, one run a line.
    may_spell = any(sign in plain for sign in "._*|-") or sum([len(w) == 1 for line in lines for w in line]) > _BETWEEN
    if may_spell and pattern(_SINGLES).occurs(plain):
        spelled = "\n".join([fold(_joined(run)) for run in compiled(_SPELLED).findall(plain)])
        if spelled:
            yield spelled, False
    if torn := _mended(low):
        yield torn, False
    if "snoitcur" in low or "erongi" in low:  # "ructions" and "ignore" backwards
        yield low[::-1], False
    if "vafgehp" in low or "vtaber" in low:  # "instruc" and "ignore" in rot13
        import codecs

        yield codecs.encode(low, "rot13"), False
    if depth:
        for decoded in _decoded(plain, low, "\n".join(long)):
            yield from readings(decoded, depth - 1)


def fold(text: str) -> str:
    """`text` in lower case and with single blanks; line ends are preserved."""
    return _folded(_by_line(text))


def _by_line(text: str) -> list[list[str]]:
    """The words of each line."""
    return [line.split() for line in text.splitlines()] if "\n" in text else [text.split()]


def _folded(lines: Iterable[Sequence[str]]) -> str:
    return "\n".join(map(" ".join, lines)).lower().replace("’", "'")


def without_accents(text: str) -> str:
    """`text` without accents, in compatibility forms (NFKD), and with every variant of a Latin letter as that letter."""
    import unicodedata

    return unicodedata.normalize("NFC", "".join(map(_plain_letter, unicodedata.normalize("NFKD", text))))


@cache
def _plain_letter(char: str) -> str:
    """The plain letter of a variant of a Latin letter, in lower case; empty for a combining mark; else the character."""
    if char.isascii():
        return char
    if any(first <= ord(char) <= last for first, last in _MARKS):
        return ""
    import unicodedata

    match = re.match(r"(?:.* )?(?:LATIN|REGIONAL) .*\b([A-Z])(?: WITH .*)?\Z", unicodedata.name(char, ""))
    return match[1].lower() if match else char


def _in_latin(word: re.Match[str]) -> str:
    """A word in Latin letters, if it mixes these with look-alikes, or is a key word of look-alikes alone; else as it is."""
    text = word[0]
    if text.isascii():
        return text
    latin = text.lower().translate(_TO_LATIN)
    is_mixed = any("a" <= c <= "z" or "A" <= c <= "Z" for c in text)
    return latin if is_mixed or (len(latin) > 2 and latin in _KEY_WORDS) else text


def _names(long: Sequence[str]) -> str:
    """The words of names such as `a-b-c`, `a_b_c` and `aBigName`, one name a line, for names with key words only."""
    low = "\n".join(long).lower()
    is_order = any(word in low for word in _ORDERED) and any(word in low for word in _OBJECTS)
    if not is_order and not compiled(_SANDWICH).search(low):
        return ""
    found = [_telling_known(word) if len(word) <= _LONGEST_KNOWN else _telling(word) for word in long]
    told = [one for one in found if one is not _NOTHING]
    names = chain(chain.from_iterable(parts for parts, _ in told), chain.from_iterable(humps for _, humps in told))
    return "\n".join([re.sub(r"\bto (https?) ", r"to \1://", name) for name in names])


def _telling(word: str) -> _Telling:
    """The names with key words in a word: those of parts, as in `a-b-c`, and those as in `aBigName`, as words in lower case."""
    parts = [" ".join(name.translate(_JOINTS).split()).lower() for name in compiled(_PARTS).findall(word)]
    humps = [] if word.islower() else compiled(_HUMPS).findall(word)
    humps = [re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower() for name in humps]
    found = list(filter(_is_telling, parts)), list(filter(_is_telling, humps))
    return found if any(found) else _NOTHING


def _is_telling(name: str) -> bool:
    return len(_KEY_WORDS.intersection(name.split())) >= _TELLING or bool(compiled(_SANDWICH).search(name))


_telling_known = lru_cache(1 << 15)(_telling)
"""The same, as the texts of a project have the same names again and again."""


def _from_leet(low: str, words: Iterable[str]) -> str:
    """`low` with key words in place of their spellings with digits and signs; empty for fewer than two of them. `words` are
    those of the text, in any case."""
    odd = "\n".join([word for word in words if not word.isalpha()]).lower()
    signs = odd.encode("utf-8", "surrogatepass").translate(_LEET_BYTES).decode().split()
    # Most texts have no such word beside their numbers, and each is looked up once.
    if not any(len(word) > _LONGEST_LEET or _key_word(word) for word in set(signs) if not word.isalpha()):
        return ""
    if not pattern(_TWO_SANDWICHES).occurs(low):
        return ""
    count = 0

    def key_word(match: re.Match[str]) -> str:
        nonlocal count
        word = match[0]
        found = "" if word.isalpha() else _key_word(word)
        count += bool(found)
        return found or word

    read = compiled(_LEET).sub(key_word, low)
    return read if count > 1 else ""


def _key_word(word: str) -> str:
    """The key word that a word with digits or signs spells; empty for none."""
    return _SKELETONS.get(word.translate(_SKELETON)) or _SKELETONS.get(word.rstrip("!+|").translate(_SKELETON), "")


def _mended(low: str) -> str:
    """`low` without the blanks inside key words; empty for fewer than two of them."""
    squeezed = low.replace(" ", "")
    if not any(stem in squeezed and squeezed.count(stem) > low.count(stem) for stem in _TORN):
        return ""
    read, count = compiled(_TORN_WORDS).subn(lambda match: match[0].replace(" ", ""), low)
    return fold(read) if count > 1 and read != low else ""


def _joined(run: str) -> str:
    """A spelled-out run as words: where one sign joins the letters, any other separator ends a word."""
    signs = [sign for sign in "-.*|_" if run.count(sign) * 2 > len(run.split())]
    separator = re.escape(signs[0]) if signs else "[ ._*|-]"
    return re.sub(rf"([^\W_]|[:/]){separator}(?=[^\W_]|[:/])", r"\1", run)


def _decoded(plain: str, low: str, long: str) -> Iterator[str]:
    if ("&" in low or "%" in low or "\\" in low) and compiled(_CODED).search(low):
        import html
        from urllib.parse import unquote

        text = unquote(html.unescape(plain))
        yield compiled(_ESCAPED).sub(_character, text) if "\\" in text else text
    pieces = []
    for piece in compiled(_BASE64).findall(long) if long else ():
        if piece.isalpha() and piece.islower():
            continue
        if compiled(_HEX).match(piece):
            text = _readable(bytes.fromhex(piece))
        else:
            pieces.append(piece)
            text = _from_base64(piece)
        if text:
            yield text
    if len(pieces) > 1 and (whole := _from_base64("".join(pieces)[:_MOST])):
        yield whole


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else ""


def _from_base64(piece: str) -> str:
    if piece.islower() or piece.isupper() or piece.isdigit():
        return ""
    import base64

    bare = piece.replace("=", "").replace("-", "+").replace("_", "/")
    bare = bare[: len(bare) - (len(bare) % 4 == 1)]
    return _readable(base64.b64decode(bare + "=" * (-len(bare) % 4)))


def _readable(data: bytes) -> str:
    """`data` as text; empty where it is not printable words in UTF-8."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return ""
    return text if " " in text and text.replace("\n", " ").replace("\t", " ").isprintable() else ""
