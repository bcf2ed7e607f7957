"""References: values that only stand for a secret, such as `<your-key>` and `$TOKEN`, or point to where it is kept."""

from __future__ import annotations

import re

from memcli.safety.secrets.passwords import entropy

_STAND_INS = (
    "example", "placeholder", "changeme", "change-me", "change_me", "redacted", "dummy", "xxxx", "your-", "your_",
    "yourkey", "yoursecret", "yourtoken", "yourpass", "my-password", "my_password", "mypassword", "insert", "replace", "foobar", "notreal", "not-a-real", "not_a_",
    "sample", "****", "...", "lorem", "todo", "SflKxwRJSMeKKF2QT",
)  # fmt: skip
_HELD_PLACE = re.compile(
    "|".join(re.escape(form) for word in _STAND_INS for form in dict.fromkeys([word, word.upper(), word.capitalize()]))
)
_RUN = re.compile("0123456789|1234567890|abcdefgh|deadbeef", re.IGNORECASE)
_LEAST_RANDOM = 20
"""Characters beside a run of the keyboard that make a token of a value: a real one may hold such a run by chance."""
_REFERENCE = re.compile(
    r"[$%#]?\{\{?|\$\(|\$[A-Z_][A-Z0-9_]*\Z|\$[a-z_]+(?:[A-Z][a-z]+|->\w+|\[|\d)*\Z|%[A-Za-z_]+%|<[^<>]*>|\[[A-Za-z_ -]+\]|(?:process\.env|os\.environ|os\.getenv|getenv|env|"
    r"ENV|secrets?|vars?|config|settings|params?|self|this|args?|opts?|options|ctx|req|request|data|module|local)[.\[(:]"
)
_SAME = re.compile(r"(.)\1{4}")
_MADE_UP = 3.0
"""Bits a character below which a value with five equal ones in a row is made up; those of real tokens have more."""
_PLAIN_STARTS = (
    "http", "-----", "data:", "arn:", "urn:", "sha256:", "sha512-", "sha1-", "sha384-", "sha256-", "projects/", "$2a$", "$2b$", "$2y$", "$argon2",
    "$pbkdf2", "$scrypt", "$6$", "pbkdf2:", "pbkdf2_", "pbkdf2-", "bcrypt", "scrypt:", "{bcrypt}", "{noop}", "op://", "vault:", "awskms:", "file:", "ssm:", "gcpkms:",
    "ssh-rsa ", "ssh-ed25519 ", "ecdsa-",
)  # fmt: skip
_PATH = re.compile(r"(?:\.{0,2}|~)/(?:[\w.-]+/)*[\w.-]*\Z|[A-Za-z]:\\|>[-+]?\Z|[|<{,>\\]\Z")
_CALL = re.compile(r"[A-Za-z_]\w*[(\[{]|<[A-Za-z]|\w\)\.|\(\)")
MARKUP = re.compile(r"&(?:quot|#x?[0-9A-Fa-f]+)\b|^<|</")
STRING_ENDS = re.compile(r"[\s,;)%+\]][\s)]|\s|\)")
"""How code goes on after a quote that ended a string."""


def is_stand_in(value: str) -> bool:
    """Whether the value only holds the place of one: `<your-key>`, `xxxx`, `$TOKEN`, `${{ secrets.X }}`, `process.env.X`."""
    return (
        _HELD_PLACE.search(value) is not None
        or _REFERENCE.match(value) is not None
        or _is_run(value)
        or (_SAME.search(value) is not None and entropy(value) < _MADE_UP)
    )


def _is_run(value: str) -> bool:
    rest = _RUN.sub("", value)
    return rest != value and (len(rest) < _LEAST_RANDOM or entropy(rest) < _MADE_UP)


def is_reference(value: str) -> bool:
    """Whether the value refers to something: a placeholder, a path, an address, a name of a digest."""
    return (
        is_stand_in(value)
        or value.startswith(_PLAIN_STARTS)
        or _PATH.match(value) is not None
        or "a-z" in value.lower()
    )


def has_brackets(value: str) -> bool:
    """Whether code goes on in a value without quotes: a call, an index, a type."""
    return _CALL.search(value) is not None or value[:1] in "([{"
