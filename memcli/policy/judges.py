"""Judges: whether what a pattern found is a secret, or only looks like one. Pure, and strict: a false hit costs knowledge."""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping

Judge = Callable[[str, str, str], bool]
"""Told the value, what stands before it (at most 80 characters), and the character after it."""

_STAND_INS = (
    "example", "placeholder", "changeme", "change-me", "change_me", "redacted", "dummy", "xxxx", "your-", "your_",
    "yourkey", "yoursecret", "yourtoken", "yourpass", "my-password", "my_password", "mypassword", "insert", "replace", "foobar", "notreal", "not-a-real", "not_a_",
    "sample", "****", "...", "0123456789", "1234567890", "abcdefgh", "deadbeef", "lorem", "todo", "SflKxwRJSMeKKF2QT",
)  # fmt: skip
_REFERENCE = re.compile(
    r"[$%#]?\{\{?|\$\(|\$[A-Za-z_]|%[A-Za-z_]+%|<[^<>]*>|\[[A-Za-z_ -]+\]|(?:process\.env|os\.environ|os\.getenv|getenv|env|"
    r"ENV|secrets?|vars?|config|settings|params?|self|this|args?|opts?|options|ctx|req|request|data|module|local)[.\[(:]"
)
_SAME = re.compile(r"(.)\1{4}")
_OPENING = ("(", "[")
_BRACKETS = "()[]{}<>"
_CLOSING = ")]}>,;"
_QUOTES = ('"', "'", "`")
_LONGEST_PASSWORD = 80
_PLAIN_STARTS = (
    "/", "./", "../", "~/", "http", "-----", "data:", "arn:", "urn:", "sha256:", "sha512-", "sha1-", "sha384-",
    "sha256-", ">", "<", "{", ",", "\\",
)  # fmt: skip
_CODE = re.compile(
    r"[*&!-]{0,2}(?:[A-Za-z_][\w-]*[.:/>(\\]+)*[A-Za-z_]\w*(?:[(\[].*)\Z|[*&!]{0,2}(?:[A-Za-z_][A-Za-z_-]*\d{0,2}[A-Za-z_]*(?:[.:/]|->|::))*"
    r"[A-Za-z_]+\d{0,2}\Z|[a-z_]+=[a-z_.]+\d{0,2}\Z"
)
_SECRET_NAME = re.compile(
    r"token|secret|passw|pwd|_pass$|passphrase|credential|(?:^|[_-])auth$|(?-i:[A-Z0-9]_KEY$)|(?:api|access|private|auth|encryption|encrypt|signing|master|"
    r"account|storage|service|session|client|app|application|consumer|shared|subscription|license|admin|deploy|webhook|hmac|"
    r"aes|jwt|crypto|cipher|server|root|write)[_-]?key$",
    re.IGNORECASE,
)
_SIGN = r"\s*(?:=>|:=|[:=]|,)\s*(?:[brfuBRFU]{0,2}\\?[\"'`]|)\s*\Z"
_GIVEN_TO = re.compile(r"([\w.-]+)[\\\"'`\])]*" + _SIGN)
_TYPED = re.compile(r"([\w.-]+)\s*:\s*[\w\[\]| .]+" + _SIGN)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_WORDS = re.compile(r"[A-Za-z]{3,}")
_DIGEST = re.compile(r"(?:sha\d*|md5|blake\d?\w*|crc\d*|sri|etag|rev|commit)\W*\Z", re.IGNORECASE)
_NOT_SECRET_NAMES = re.compile(
    r"public|pub_?key|key_?(?:id|name|path|file|type|size|len|vault|ring|word|board|code|frame|space|map|error|func)"
    r"|token_?(?:type|id|url|uri|name|path|file|count|len|limit|class|kind|expir|ize|endpoint|budget|count|usage|prefix)"
    r"|secret_?(?:name|id|path|file|ref|arn|manager|version|length|type)|tokens\b|(?:hash|digest|checksum|sha\d*|md5|"
    r"fingerprint|thumbprint|integrity|etag|hint|policy|regex|pattern|field|label|prompt|column|prefix|suffix|url|uri|"
    r"endpoint|file|path|dir|name|length|min|max|format|alias|resource|version|expiry|expires|ttl|type|"
    r"id|cache_?key|primary_?key|foreign_?key|sort_?key|partition_?key|group_?key|translation_?key|i18n_?key)$",
    re.IGNORECASE,
)
_STRONG_NAMES = re.compile(r"api_?key|secret|private_?key|access_?key", re.IGNORECASE)
_PASSWORD_NAMES = re.compile(r"passw|pwd|passphrase|\bpass\b|_pass\b|passcode", re.IGNORECASE)
_WEAK = frozenset(
    "pass password passwd pwd secret user username postgres mysql root admin guest test tests token key none null true "
    "false undefined required optional string str text hidden empty hunter2 letmein default app api db redis rabbitmq "
    "minio minioadmin elastic mongo sa demo foo bar baz qwerty pw pass123 password1 password123 p4ssw0rd s3cret "
    "mypassword secretpassword supersecret mysecret mysecretpassword passw0rd admin123 test123 changeit".split()
)
_TECHNICAL = re.compile(
    r"(?:^|[^0-9A-Za-z])(?:base\d\d|sha-?\d|md5|bcrypt|argon2|pbkdf2|scrypt|utf-?\d|rot13|ascii|oauth|https?:|ed25519|x509|aes-?\d|rsa-?\d|rfc\d"
    r"|ntlm|kerberos|\d+\s*-?(?:char|day|minute|hour|bit|byte|digit|time|sec|min|x\b)|v\d+(?:\.\d+)*\b|s3://|2fa|i18n|ipv\d)",
    re.IGNORECASE,
)
_DULL_MAIL = re.compile(
    r"(?:git|hg|svn|noreply|no-reply|no_reply|donotreply|do-not-reply|root|[\w.+-]*\+?noreply)@|"
    r"[^@]+@(?:[\w-]+\.)*(?:example(?:\.(?:com|org|net|edu))?|noreply\.github\.com|noreply\.gitlab\.com|[\w-]*noreply[\w.-]*)\Z|"
    r"[^@]+@(?:[\w-]+\.)+(?:test|invalid|localhost|local|example|internal|lan|localdomain|png|jpe?g|gif|svg|webp|ico|pdf|py|pyc|js|mjs|"
    r"cjs|ts|tsx|jsx|css|scss|html?|xml|json|ya?ml|toml|md|rst|txt|csv|log|lock|rs|go|rb|java|kt|c|h|cc|cpp|sh|zip|gz|tgz|tar|"
    r"whl|service|socket|timer|target|mount|slice|setter|getter|deleter|cache|property|fixture|mark)\Z",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"(?:\b(?:ssh|scp|rsync|sftp|mosh|ssh-copy-id)\b[^\n]*|//\S*|@)\Z")
_ARMOUR_TEXT = re.compile(r"(?:[A-Za-z0-9+/=]{24,}|\\n|[\r\n])")
_ODD_CASE = re.compile(r"[A-Z][a-z](?=[A-Z])|[a-z][A-Z]{2}(?=[a-z])")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")
_LONG_BASE64 = re.compile(r"[A-Za-z0-9+/=]{32,}")


def is_stand_in(value: str) -> bool:
    """Whether the value only holds the place of one: `<your-key>`, `xxxx`, `$TOKEN`, `${{ secrets.X }}`, `process.env.X`."""
    return (
        any(word in value or word.upper() in value or word.capitalize() in value for word in _STAND_INS)
        or _REFERENCE.match(value) is not None
        or _SAME.search(value) is not None
    )


def entropy(value: str) -> float:
    """Shannon's, in bits a character, of the characters of the value."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


def is_assigned_secret(value: str, before: str, after: str) -> bool:
    """Whether a value that a name such as `api_key` or `password` is given is more than a word, a name or a digest."""
    name = _name(before)
    if after in _OPENING or not name or _NOT_SECRET_NAMES.search(name):
        return False
    is_quoted = before[-1:] in _QUOTES
    value = value.strip() if is_quoted else value.rstrip(_CLOSING)
    if _is_plain(value) or (not is_quoted and any(c in value for c in _BRACKETS)):
        return False
    if _PASSWORD_NAMES.search(name):
        return len(value) <= _LONGEST_PASSWORD and _is_password(value)
    if " " in value or len(value) < 16:
        return False
    if _UUID.match(value):
        return _STRONG_NAMES.search(name) is not None
    if _HEX.match(value):  # forty hex digits are a commit, unless the name knows better
        return (
            len(value) >= 32 and entropy(value) > 2.8 and (len(value) != 40 or _STRONG_NAMES.search(name) is not None)
        )
    return _is_mixed(value) and entropy(value) >= 3.4 and not _reads(value)


def is_prose_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the word after `the password is` is one: it has digits or signs among its letters, and is no term."""
    value = value.strip("`'\".,;:!?()*")
    return (
        len(value) >= 6
        and any(c.isdigit() for c in value)
        and not _is_plain(value)
        and not _TECHNICAL.search(value)
        and after != "("
        and _is_password(value)
    )


def is_url_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the password in an address is one that somebody could use, and not the user's name once more."""
    user = before.rstrip(":").rpartition("/")[2]
    return (
        value != user
        and value.lower() not in _WEAK
        and value[0] not in "${<%*["
        and len(value) >= (8 if value.isalpha() and value.islower() else 4)
    )


def is_typed_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a password on a command line is one."""
    return value.lower() not in _WEAK and not _is_plain(value) and _is_password(value)


def is_basic_credentials(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value is `user:password` in base 64, with a password that is one."""
    try:
        user, colon, password = b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon) and user.isprintable() and password.isprintable() and is_url_password(password, f"{user}:", "")


def is_bearer(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a bearer token is one."""
    return _is_mixed(value) and entropy(value) >= 3.2 and not _reads(value)


def is_mixed(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether letters and digits stand together, as in what a machine made."""
    return _is_mixed(value) and not _reads(value)


def is_key_material(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether there is a key between the lines that frame one, and not prose that tells of them."""
    body = value.replace("\\n", "\n").replace("\\r", "")
    if entropy(body) < 4:  # not of repeats: headers of real keys have long runs of A
        return False
    return _LONG_BASE64.search(body) is not None or len(_ARMOUR_TEXT.findall(body)) > 8


def is_email(value: str, before: str, after: str) -> bool:
    """Whether it is somebody's address: not an example's, a robot's, a login on a host, a file's or a package's name."""
    return not (_DULL_MAIL.match(value) or _LOGIN.search(before) or (after in ":/@" and after))


def _name(before: str) -> str:
    """What the value is given to: the name right before the sign, or the one before that one's type."""
    for pattern in (_GIVEN_TO, _TYPED):
        found = pattern.search(before)
        if found and _SECRET_NAME.search(name := found[1].rpartition(".")[2]):
            return name
    return ""


def _is_plain(value: str) -> bool:
    """Whether the value refers to something: a placeholder, a call, a path, a name in code."""
    return (
        is_stand_in(value)
        or value.lower() in _WEAK
        or value.startswith(_PLAIN_STARTS)
        or _CODE.match(value) is not None
        or "a-z" in value.lower()
    )


def _is_password(value: str) -> bool:
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    signs = any(c in "!@#$%^&*+=?~|" for c in value)
    if not letters or len(value) < 6 or len(set(value)) < 5:
        return False
    if len(value) < 8 and not (digits and signs):
        return False
    return (digits or signs) and not _is_made_of_words(value) and entropy(value) >= 2.5


def _is_mixed(value: str) -> bool:
    """Whether there are digits among letters, or letters in such cases as no name has."""
    return any(c.isalpha() for c in value) and (any(c.isdigit() for c in value) or len(_ODD_CASE.findall(value)) > 1)


def _is_made_of_words(value: str) -> bool:
    """Whether it reads: joined words with at most a number at an end of one, as names and headings are."""
    parts = re.split(r"[-_./:\\ ]+", value)
    if len(parts) > 1 and all(re.match(r"(?:[A-Za-z]+\d{0,4}|\d{1,4}|v\d+)\Z", p) for p in parts if p):
        return sum(_looks_spoken(p) for p in parts) * 2 >= len(parts)
    return re.match(r"[a-z]+(?:[A-Z][a-z]+)+\d{0,2}\Z|(?:[A-Z][a-z]+)+\d{0,2}\Z", value) is not None


def _looks_spoken(part: str) -> bool:
    letters = part.rstrip("0123456789").lower()
    return not letters or (
        len(letters) <= 12
        and (sum(c in "aeiouy" for c in letters) * 5 >= len(letters) or len(letters) <= 4)
        and (part.islower() or part.isupper() or part.istitle() or len(letters) < 3)
    )


def _reads(value: str) -> bool:
    """Whether most of its letters are words that can be spoken, whatever joins them: names of things, not tokens."""
    letters = sum(c.isalpha() for c in value)
    spoken = [word for word in _CAMEL.findall(value) if len(word) >= 3 and _VOWEL.search(word)]
    return sum(map(len, spoken)) * 4 >= letters * 3 and sum(c.isdigit() for c in value) * 4 <= len(value)


JUDGES: Mapping[str, Judge] = {
    "assigned": is_assigned_secret,
    "prose": is_prose_password,
    "url": is_url_password,
    "typed": is_typed_password,
    "basic": is_basic_credentials,
    "bearer": is_bearer,
    "mixed": is_mixed,
    "key": is_key_material,
    "email": is_email,
}
