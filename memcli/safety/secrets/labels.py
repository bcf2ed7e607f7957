"""Labels: the words that introduce a secret, in the languages that people write, and those that turn them into something else."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from memcli.regex import regex
from memcli.safety.rule_file import read_words


class Label(Enum):
    """What the name of a value says about it."""

    PASSWORD = 1
    KEY = 2  # named as nothing but a secret is: api_key, client_secret
    TOKEN = 3  # a secret, or one of the many other things called token or key


_WORDS = read_words(__package__)
PASSWORD_WORDS = tuple(_WORDS["password_words"])
SECRET_WORDS = tuple(_WORDS["secret_words"])
FOREIGN = tuple(word for word in (*PASSWORD_WORDS, *SECRET_WORDS) if not word.isascii() or word in (
    "passwort", "kennwort", "wachtwoord", "senha", "contrasena", "mdp", "motdepasse", "haslo", "heslo", "losenord", "adgangskode",
    "passord", "salasana", "jelszo", "parola", "sifre", "kodeord", "clave", "jeton", "geheimnis", "schluessel", "llave", "chave", "klucz",
))  # fmt: skip
FOREIGN_PHRASES = tuple(_WORDS["foreign_phrases"])
_SHORT_WORDS = frozenset(_WORDS["short_words"])
_PASSWORD_ENDS = ("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "wachtwoord")
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
"""What `key` must stand with to be a secret, for RE2 in any case."""
TAIL = rf"(?:[_.-]?(?:{'|'.join(sorted(_MODIFIERS, key=lambda w: (-len(w), w)))}|\d{{1,4}})){{0,2}}"
"""What may follow a label within its name."""
_PUBLIC = frozenset(_WORDS["public"])


def label_of(name: str) -> Label | None:
    """What `name` says about the value it is given: its last words decide, so that `password_hasher` is no password."""
    words = [word.lower() for word in _CAMEL.findall(name)]
    while len(words) > 1 and (words[-1] in _MODIFIERS or words[-1].isdigit()):
        words.pop()
    if not words or not _PUBLIC.isdisjoint(words[-3:]):
        return None
    return _label(words, name)


def _is_pass_of_owner(owner: str, name: str) -> bool:
    """Whether `pass` is somebody's, and not the second pass of a compiler."""
    return owner in _OWNERS or (name.isupper() and owner not in _PASSES)


def _label(words: Sequence[str], name: str) -> Label | None:
    last = words[-1]
    if last == "pass" and len(words) > 1 and not _is_pass_of_owner(words[-2], name):
        return None
    if last in _SHORT_WORDS or last in PASSWORD_WORDS or last.endswith(_PASSWORD_ENDS) or _JOINED_ENDS.search(last):
        return Label.PASSWORD
    if words[-2:] in (
        ["pass", "word"],
        ["pass", "phrase"],
        ["pass", "code"],
        ["shared", "key"],
        ["preshared", "key"],
        ["wpa", "key"],
        ["wifi", "key"],
    ) or " ".join(words[-3:]).endswith(FOREIGN_PHRASES):
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
