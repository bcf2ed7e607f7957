"""Labels: names that announce a secret, in several languages, and words that change their meaning."""

from __future__ import annotations

from enum import Enum

from memcli.regex import regex
from memcli.safety.patterns import read_json


class Label(Enum):
    """The kind of secret that the name of a value announces."""

    PASSWORD = 1
    KEY = 2  # a name for secrets alone: api_key, client_secret
    TOKEN = 3  # a secret, or another thing that is called token or key


_WORDS = read_json(__package__, "words.json")
_FOREIGN = read_json(__package__, "foreign.json")
PASSWORD_WORDS = (*_WORDS["password_words"], *_FOREIGN["password_words"])
SECRET_WORDS = (*_WORDS["secret_words"], *_FOREIGN["secret_words"])
FOREIGN = (*_FOREIGN["password_words"], *_FOREIGN["secret_words"])
FOREIGN_PHRASES = tuple(_FOREIGN["phrases"])
_SHORT_WORDS = frozenset(_WORDS["short_words"])
_PASSWORD_ENDS = ("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "wachtwoord")
_PASSWORD_PAIRS = ("pass word", "pass phrase", "pass code", "shared key", "preshared key", "wpa key", "wifi key")
_OWNERS = frozenset(_WORDS["owners"])
_PASSES = frozenset(_WORDS["passes"])
_JOINED_ENDS = regex(rf"(?:{'|'.join(sorted(_OWNERS))})(?:pass|pwd|pw|psk)\Z")
_KEY_QUALIFIERS = frozenset(_WORDS["key_qualifiers"])
_KEY_ENDS = tuple(f"{word}key" for word in sorted(_KEY_QUALIFIERS - {"sign", "app", "bot"}))
_TOKEN_ENDS = ("token", "secret", "jwt")
_STRONG_ENDS = ("secret", "secretkey", "accesskey", "privatekey", "apikey")
_MODIFIERS = frozenset(_WORDS["modifiers"])
_NOT_TOKENS = frozenset(_WORDS["not_tokens"])
_CAMEL = regex(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?(?:[a-z]|[^\x00-\x7f])+|[A-Z]+|\d+")
KEY = rf"(?:(?:{'|'.join(sorted(_KEY_QUALIFIERS))})[_. -]?key|(?-i:[A-Z0-9]_KEY))"
"""The RE2 pattern, for any case, of `key` with a word that makes it a secret."""
TAIL = rf"(?:[_.-]?(?:{'|'.join(sorted(_MODIFIERS, key=lambda w: (-len(w), w)))}|\d{{1,4}})){{0,2}}"
"""The pattern of words that may follow a label in its name."""
_PUBLIC = frozenset(_WORDS["public"])


def label_of(name: str) -> Label | None:
    """The label of a value with this name; None for no secret. The last words decide: `password_hasher` is no password."""
    words = [word.lower() for word in _CAMEL.findall(name)]
    while len(words) > 1 and (words[-1] in _MODIFIERS or words[-1].isdigit()):
        words.pop()
    if not words or not _PUBLIC.isdisjoint(words[-3:]):
        return None
    last = words[-1]
    if last == "pass" and len(words) > 1:
        # `db_pass` is a password and `second_pass` is not; a variable in capitals mostly is one.
        owner = words[-2]
        if owner not in _OWNERS and not (name.isupper() and owner not in _PASSES):
            return None
    if last in _SHORT_WORDS or last in PASSWORD_WORDS or last.endswith(_PASSWORD_ENDS) or _JOINED_ENDS.search(last):
        return Label.PASSWORD
    if " ".join(words[-2:]) in _PASSWORD_PAIRS or " ".join(words[-3:]).endswith(FOREIGN_PHRASES):
        return Label.PASSWORD
    if not _NOT_TOKENS.isdisjoint(words[-2:-1]):
        return None
    if (
        last.endswith(_STRONG_ENDS)
        or (last == "key" and not _KEY_QUALIFIERS.isdisjoint(words[-3:-1]))
        or last.endswith(_KEY_ENDS)
    ):
        return Label.KEY
    if words[-2:] == ["secret", "id"]:
        return Label.KEY
    if last in SECRET_WORDS or last.endswith((*_TOKEN_ENDS, *(w for w in SECRET_WORDS if not w.isascii()))):
        return Label.TOKEN
    if last in ("auth", "cookie", "bearer") or (last == "key" and name.isupper() and len(words) > 1):
        return Label.TOKEN
    return None
