"""Passwords: whether a value is one, chosen by a person or generated, or only a placeholder such as `<your-key>`."""

from __future__ import annotations

import math
import re
from collections import Counter

from memcli.safety.patterns import read_json

_WORDS = read_json(__package__, "words.json")
_COMMON = frozenset(_WORDS["common"])
_WORDS_OF_PASSWORDS: list[str] = _WORDS["words_of_passwords"]
_CHOSEN = frozenset(_WORDS_OF_PASSWORDS)
_RUN = re.compile(rf"(?:{'|'.join(sorted(set(_WORDS_OF_PASSWORDS), key=lambda w: (-len(w), w)))}){{2,}}\Z")
_NOT_PASSWORDS = frozenset(_WORDS["not_passwords"])
_LABELS_WITHIN = re.compile(
    r"pass(?:w|phrase|code|_|$)|pwd|token|secret|credential|user|login|auth|input|value|param|string|field|config|setting|option|hash|crypt|"
    r"valid|confirm|request|response|form|prompt|default|manager|service|provider|handler|helper|factory|model|class|type|name|kennwort|passwort|"
    r"example|test|dummy|fake|mock|sample|placeholder|(?<!mon)(?<!don)(?<!tur)key(?!board)|column|label|text|error|message",
    re.IGNORECASE,
)
_CODE_BASE = re.compile(
    r"(?:pw|pwd|p|pass|password|passwd|passphrase|arg|args|param|val|value|v|var|str|s|string|text|txt|tmp|temp|data|result|res|ret|line|name|n|"
    r"user|u|test|foo|bar|baz|field|item|obj|self|this|x|y|z|a|b|c|i|j|k|key|token|tok|secret|cred|sha|md|utf|base|py|http|ec|oauth|pbkdf|argon|"
    r"blake|bcrypt|ipv|v|cfg|config|option|opt|input|sub|group|part|step|version|level|type|no|num|id|col|row|prop|attr|ctx|req|resp|buf|"
    r"rand|random|hash|digest|node|expr|stmt|ident|db|app|step|phase|section|chapter|table|figure|item|page|line)_?\Z",
    re.IGNORECASE,
)
_SUFFIXES = tuple(_WORDS["suffixes"])
_SIGNS = frozenset("!@#$%^&*+=?~|")
_MEASURE = re.compile(
    r"\d+(?:[.,:/x-]\d+)*(?:st|nd|rd|th|x|[a-zA-Zµ%°]{1,10}|[-–]\w+)?\Z|v?\d+(?:\.\d+)+\S*\Z|\d{4}-\d\d-\d\d.*\Z|#\d+\Z|[A-Z]{1,6}-\d+\Z|\$\d[\d.,]*[kKmM]?\Z"
)
_TERM = re.compile(
    r"(?:base\d\d|sha-?\d|md5|bcrypt|argon2|pbkdf2|scrypt|utf-?\d|rot13|ascii|oauth|https?:|ed25519|x509|aes-?\d|rsa-?\d|rfc\d|ntlm|kerberos|s3://|"
    r"2fa|mfa|i18n|l10n|k8s|ipv\d|tls|1password|log4j|ec2|http/?\d|p\d\d\b|c\+\+|os/?2|web\d|python\d|postgres\d|es\d)",
    re.IGNORECASE,
)
# Only one `=` and a bounded value: else a long text that repeats "password=" would be searched from each of them to its end.
ARGUMENT = re.compile(r"(?:[a-z]{2,}(?:[_-][a-z]+)*|[A-Z]{2,}(?:_[A-Z]+)*)=(?=[^=]{1,200}={0,2}\Z)")
_BRACKETED = re.compile(r"[*&!-]{0,2}[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*[(\[{<]")
_ODD = re.compile(r"[a-z][A-Z](?![a-z]{2})|[A-Z][a-z](?=[A-Z])|\d(?=[A-Za-z])")
_ACRONYM = re.compile(r"[A-Z]{2,6}-?\d{0,4}\Z")
_HYPHENATED = re.compile(r"[A-Za-z]+(?:[-/'’][A-Za-z]+)+\Z")


def is_common(value: str) -> bool:
    """Whether `value` is a frequent password, or several words of passwords joined."""
    low = value.lower()
    return low in _COMMON or _RUN.match(low) is not None


def is_pass_phrase(value: str) -> bool:
    """Whether words with blanks or hyphens between them are a pass phrase: at least three, half of them frequent in passwords, and
    no words of grammar."""
    words = re.split(r"[ -]", value.lower())
    return len(words) >= 3 and sum(word in _CHOSEN for word in words) * 2 >= len(words) and _GRAMMAR.isdisjoint(words)


def is_spoken_password(value: str, *, is_quoted: bool) -> bool:
    """Whether a word of a sentence is a password: a frequent one, several words joined, or one with digits or signs inside."""
    bare = value.rstrip(".,;:!?)") if not is_quoted else value
    low = bare.lower()
    if is_common(bare) or is_pass_phrase(bare):
        return True
    if len(bare) < 5 or low in _NOT_PASSWORDS or _MEASURE.match(bare) or _TERM.search(bare) or _is_code(bare):
        return False
    letters = sum(char.isalpha() for char in bare)
    if letters < 2 or _HYPHENATED.match(bare) or _ACRONYM.match(bare):
        return False
    if any(char.isdigit() for char in bare):
        return not _is_numbered(bare)
    if any(char in _SIGNS for char in bare[1:-1]):
        return bare.isascii()
    return _is_shuffled(bare) or _is_word(bare, is_given=is_quoted)


def is_given_password(value: str, *, is_quoted: bool, is_config: bool) -> bool:
    """Whether the value assigned to a password's name is a password. `is_config`: it is in settings, where a bare word is a value."""
    low = value.lower()
    if is_common(value) or is_pass_phrase(value):
        return True
    if low in _NOT_PASSWORDS or len(value) < 4 or len(set(value)) < 3 or _is_code(value):
        return False
    if value.isdigit():
        return is_quoted or is_config
    letters = sum(char.isalpha() for char in value)
    if not letters:
        return is_quoted and len(value) >= 6 and any(char.isdigit() for char in value)
    if " " in value:  # a phrase, and not a sentence
        words = value.split(" ")
        are_plain = all(word.isalpha() and word.islower() and 3 <= len(word) <= 10 for word in words)
        return is_quoted and 4 <= len(words) <= 8 and are_plain and _GRAMMAR.isdisjoint(words)
    if any(char.isdigit() for char in value):
        is_named = (
            _CODE_BASE.match(value.rstrip("0123456789")) if is_config and value.isalnum() else _is_numbered(value)
        )
        return (
            len(value) >= 5
            and not is_named
            and not re.match(r"[A-Za-z_]+\d?(?:\.[A-Za-z_]+\d?)+\Z|\d+(?:\.\d+)+\Z", value)
            and not _MEASURE.match(value)
        )
    if any(char in _SIGNS for char in value) and value.isascii():
        return len(value) >= 6 and (is_quoted or is_config or _is_shuffled(value))
    return _is_shuffled(value) or _is_word(value, is_given=is_quoted or is_config)


def entropy(value: str) -> float:
    """The Shannon entropy of the characters of `value`, in bits a character."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def _is_code(value: str) -> bool:
    """Whether `value` is a call, a path, an attribute, a type or a named argument."""
    return (
        ARGUMENT.match(value) is not None
        or _names_before_bracket(_BRACKETED.match(value))
        or re.match(r"[*&]?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+;?\Z", value) is not None
        or re.match(r"(?:\.{0,2}|~)/(?:[\w.-]+/?)*\Z", value) is not None
        or re.match(r"[a-z]+\d?(?:/[a-z]+\d?)+\Z", value) is not None
        or re.match(r"https?://|arn:|urn:|sha\d+[:-]|data:", value) is not None
    )


def _names_before_bracket(found: re.Match[str] | None) -> bool:
    """Whether the text before a bracket is a name in code: a password has changes of case and digits in odd places."""
    return found is not None and len(_ODD.findall(found[0])) < 2


def _is_numbered(value: str) -> bool:
    """Whether `value` is a name in code with a number at its end, or words joined by `_` and `-` as in names."""
    base = value.rstrip("0123456789")
    if _CODE_BASE.match(base) or (base.endswith(("_", "-", ".")) and _LABELS_WITHIN.search(base)):
        return True
    parts = re.split(r"[-_./:]+", value)
    if len(parts) > 2 or (len(parts) == 2 and parts[1].isdigit() and len(parts[1]) < 2):
        return (
            all(re.match(r"(?:[A-Za-z]+\d{0,2}|\d{1,4})\Z", part) for part in parts if part)
            and _LABELS_WITHIN.search(value) is not None
        ) or (
            len(parts) > 2
            and all(re.match(r"(?:\d?[a-z]+\d{0,2}|[A-Z]+\d?|\d{1,4})\Z", part) for part in parts if part)
        )
    return _LABELS_WITHIN.search(value) is not None and re.match(r"[A-Za-z_]+\d{0,2}[A-Za-z_]*\Z", value) is not None


_GRAMMAR = frozenset(_WORDS["grammar"])


def _is_word(value: str, *, is_given: bool) -> bool:
    """Whether letters alone may be a password, and are not a type, a state or a label of a form: one word where it `is_given` as
    a value, else several words joined, which are longer than most words."""
    return (
        value.isascii()
        and value.isalpha()
        and (
            (len(value) >= 14 and value.islower())
            or (is_given and len(value) >= 6 and (value.islower() or value.istitle()))
        )
        and not _LABELS_WITHIN.search(value)
        and not value.lower().endswith(_SUFFIXES)
    )


def _is_shuffled(value: str) -> bool:
    """Whether capital and small letters alternate as in no name."""
    return len(value) >= 8 and len(re.findall(r"[a-z][A-Z](?![a-z]{2})|[A-Z][a-z](?=[A-Z])", value)) >= 2


_STAND_INS = tuple(_WORDS["stand_ins"])
_HELD_PLACE = re.compile(
    "|".join(re.escape(form) for word in _STAND_INS for form in dict.fromkeys([word, word.upper(), word.capitalize()]))
)
_REPEATED = re.compile("0123456789|1234567890|abcdefgh|deadbeef", re.IGNORECASE)
_LEAST_RANDOM = 20
"""With so many random characters beside a keyboard run, a value is a token: a real one may have such a run by chance."""
_REFERENCE = re.compile(
    r"[$%#]?\{\{?|\$\(|\$[A-Z_][A-Z0-9_]*\Z|\$[a-z_]+(?:[A-Z][a-z]+|->\w+|\[|\d)*\Z|%[A-Za-z_]+%|<[^<>]*>|\[[A-Za-z_ -]+\]|(?:process\.env|os\.environ|os\.getenv|getenv|env|"
    r"ENV|secrets?|vars?|config|settings|params?|self|this|args?|opts?|options|ctx|req|request|data|module|local)[.\[(:]"
)
_SAME = re.compile(r"(.)\1{4}")
_MADE_UP = 3.0
"""A value with five equal characters in a row is made up below so many bits a character; real tokens have more."""
_PLAIN_STARTS = tuple(_WORDS["plain_starts"])
_PATH = re.compile(r"(?:\.{0,2}|~)/(?:[\w.-]+/)*[\w.-]*\Z|[A-Za-z]:\\|>[-+]?\Z|[|<{,>\\]\Z")
_CALL = re.compile(r"[A-Za-z_]\w*(?:[(\[{]|<(?=[A-Za-z]))|<[A-Za-z]|\w\)\.|\(\)")
MARKUP = re.compile(r"&(?:quot|#x?[0-9A-Fa-f]+)\b|^<|</")
STRING_ENDS = re.compile(r"[\s,;)%+\]][\s)]|\s|\)")
"""The text after a quote that ended a string in code."""


def is_stand_in(value: str) -> bool:
    """Whether the value is a placeholder: `<your-key>`, `xxxx`, `$TOKEN`, `${{ secrets.X }}`, `process.env.X`."""
    if _HELD_PLACE.search(value) or _REFERENCE.match(value):
        return True
    rest = _REPEATED.sub("", value)
    if rest != value and (len(rest) < _LEAST_RANDOM or entropy(rest) < _MADE_UP):
        return True
    return _SAME.search(value) is not None and entropy(value) < _MADE_UP


def is_reference(value: str) -> bool:
    """Whether the value refers to something else: a placeholder, a path, an address, the name of a digest."""
    return (
        is_stand_in(value)
        or value.lstrip("\"'`:：").startswith(_PLAIN_STARTS)
        or _PATH.match(value) is not None
        or "a-z" in value.lower()
    )


def has_brackets(value: str) -> bool:
    """Whether an unquoted value is code: a call, an index, a type."""
    return _names_before_bracket(_CALL.search(value)) or value[:1] in "([{"
