"""Judges: whether what a pattern found is a secret, or only looks like one. Pure, and strict: a false hit costs knowledge."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Mapping

from memcli.safety.secrets import named
from memcli.safety.secrets.labels import Label, label_of
from memcli.safety.secrets.named import CLOSING, OPENING, QUOTES, is_made_of_both, is_token, reads
from memcli.safety.secrets.passwords import (
    MARKUP,
    STRING_ENDS,
    entropy,
    is_common,
    is_given_password,
    is_pass_phrase,
    is_reference,
    is_spoken_password,
    is_stand_in,
)
from memcli.safety.secrets.rule import SecretRule

Judge = Callable[[str, str, str], bool]
"""Told the value, what stands before it (at most 80 characters), and the character after it."""
_WEAK = frozenset(
    "pass password passwd pwd secret user username postgres mysql root admin guest test tests token key none null true "
    "false undefined required optional string str text hidden empty default app api db redis rabbitmq "
    "minio minioadmin elastic mongo sa demo foo bar baz pw mypassword secretpassword supersecret mysecret mysecretpassword changeit".split()
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
_PORT = re.compile(r"(?:[\d.]+:)*\d{1,5}(?::\d{1,5})?(?:/(?:tcp|udp))?\Z")
_JOINED = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)+\Z")
_FUNCTION_WORDS = frozenset(
    "the and for are was with from into they them their which were have has should would".split()
)
_LONG_BASE64 = re.compile(r"[A-Za-z0-9+/=]{32,}")


_LOGIN_IN_A_NAME = re.compile(r"(?:log-?in|log-?on|sign-?in|creds?|credentials?)[.-]\w[\w.+-]*/\Z")


def is_prose_password(value: str, before: str, after: str) -> bool:
    """Whether the word after `the password is` is one: it has digits or signs among its letters, and is no term."""
    is_quoted = before[-1:] in QUOTES
    if MARKUP.search(value) or (is_quoted and STRING_ENDS.match(value)):
        return False
    return after != "(" and not is_reference(value) and is_spoken_password(value.strip("*_"), is_quoted=is_quoted)


def is_word_beside(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the word right after `password` is one: what has no digits or signs may be any other word."""
    bare = value.strip("*_.,;:!?)")
    has_signs = any(c.isdigit() or c in "!@#$%^&*" for c in bare)
    return (has_signs or is_common(bare)) and is_prose_password(value, "", after)


def is_account_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether what follows `admin:` or `root/` is a password and not the next part of a name or path."""
    digits = sum(c.isdigit() for c in value)
    return (is_common(value) or (digits > 1 and any(c.isalpha() for c in value))) and is_prose_password(
        value, "", after
    )


def is_login_password(value: str, before: str, after: str) -> bool:
    """Whether what follows a user's name and a sign is a password; addresses and paths have such signs too, such as
    `slow-login-9f2c/6-decision`."""
    is_name = _LOGIN_IN_A_NAME.search(before.lower()) is not None
    return "/" not in value and "::" not in value and not is_name and is_prose_password(value, "", after)


def is_pin(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a number that is said to be one is a PIN."""
    return len(set(value)) > 1


def is_phrase(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether some words are a pass phrase."""
    return is_pass_phrase(value)


def is_netrc_password(value: str, before: str, after: str) -> bool:
    """Whether the word after `password` in a netrc file is one; in prose it is a word."""
    return is_typed_password(value, before, after) or (
        not is_reference(value) and is_given_password(value, is_quoted=False, is_config=True)
    )


def is_url_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the password in an address is one that somebody could use, and not the user's name once more."""
    user = before.rstrip(":").rpartition("/")[2]
    return (
        bool(value)
        and value != user
        and value.lower() not in _WEAK
        and not (_JOINED.match(value) and label_of(value))
        and value[0] not in "${<%*["
        and len(value) >= (8 if value.isalpha() and value.islower() else 4)
    )


def is_typed_password(value: str, before: str, after: str) -> bool:
    """Whether a password on a command line is one."""
    is_quoted = before[-1:] in QUOTES
    value = value if is_quoted else value.rstrip(CLOSING)
    if after in OPENING or value.startswith(("-", "$")) or is_reference(value):
        return False
    return is_given_password(value, is_quoted=is_quoted, is_config=is_quoted or any(c.isdigit() for c in value))


def is_basic_credentials(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value is `user:password` in base 64, with a password that is one."""
    try:
        user, colon, password = b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon) and user.isprintable() and password.isprintable() and is_url_password(password, f"{user}:", "")


def is_bearer(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a bearer token is one."""
    return is_made_of_both(value) and entropy(value) >= 3.2 and not reads(value)


def is_mixed(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether letters and digits stand together, as in what a machine made."""
    return is_made_of_both(value) and not reads(value)


def is_key_material(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether there is a key between the lines that frame one, and not prose that tells of them."""
    body = value.replace("\\n", "\n").replace("\\r", "")
    if entropy(body) < 4:  # not of repeats: headers of real keys have long runs of A
        return False
    return _LONG_BASE64.search(body) is not None or len(_ARMOUR_TEXT.findall(body)) > 8


def is_email(value: str, before: str, after: str) -> bool:
    """Whether it is somebody's address: not an example's, a robot's, a login on a host, a file's or a package's name, or a call."""
    line = before.rpartition("\n")[2]
    return not (_DULL_MAIL.match(value) or _LOGIN.search(line) or (after in ":/@(" and after))


def is_flag_password(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether what stands after the flag that a program takes its password by is one."""
    value = value if before[-1:] in QUOTES else value.rstrip(CLOSING)
    if value.startswith(("-", "$", "/", "%", "{")) or is_reference(value) or _PORT.match(value):
        return False
    return is_given_password(value, is_quoted=True, is_config=True) and (
        not value.isalpha() or is_common(value) or len(value) >= 8
    )


def is_flag_token(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether what stands after a flag such as `--api-key` is a key; files and names stand there, too."""
    return not value.startswith(("-", "/", "./")) and is_assigned_token(value.rstrip(CLOSING))


def is_argument(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a quoted argument in the place of a password is one."""
    value = value.strip()
    if is_reference(value) or value.lower() in _WEAK:
        return False
    return is_given_password(value, is_quoted=True, is_config=False) and not (
        value.isalpha() and value.islower() and len(value) < 10
    )


def is_login_pair(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether what stands after `user: ... pass:` is a password: nearly everything is that is no word of a sentence."""
    bare = value.rstrip(CLOSING + ".")
    has_digits = any(c.isdigit() for c in bare) and any(c.isalpha() for c in bare)
    return (
        after not in OPENING
        and not is_reference(bare)
        and bare.lower() not in _WEAK
        and (has_digits or is_common(bare))
        and "(" not in bare
    )


def is_setting(value: str, before: str, after: str) -> bool:
    """Whether the last word of a line of settings is a password or a shared key; words that name a mode are not."""
    has_digits = any(c.isdigit() for c in value) or any(c in "!@#$%^&*" for c in value)
    return (has_digits or is_common(value)) and is_flag_password(value, before, after)


def is_below(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a word alone on the line below its label is what the label says."""
    if is_reference(value) or (not any(c.isdigit() for c in value) and not is_common(value)):
        return False
    head = before.rstrip("\"'`*#>-/ \t\r\n:").lower()
    if head.endswith(("token", "secret", "key")):
        return is_assigned_token(value)
    return is_spoken_password(value, is_quoted=False) and not value.endswith((":", ",", "{", "(", ";"))


def is_seed_phrase(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether many words are the seed of a wallet: none of grammar, and hardly one twice."""
    words = re.findall(r"[a-z]{3,8}", value)
    return len(words) >= 12 and len(set(words)) >= len(words) - 2 and _FUNCTION_WORDS.isdisjoint(words)


def is_code_list(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether what follows `recovery codes` are codes: every part has digits."""
    parts = re.findall(r"[0-9A-Za-z]{4,}(?:-[0-9A-Za-z]{4,})*", value)
    return bool(parts) and all(any(c.isdigit() for c in part) for part in parts) and entropy(value) > 2.5


def is_assigned_token(value: str) -> bool:
    """Whether a value in the place of a key was made by a machine."""
    return not is_reference(value) and is_token(value, Label.KEY)


JUDGES: Mapping[str, Judge] = {
    "assigned": named.is_assigned_secret,
    "paired": named.is_paired_secret,
    "prose": is_prose_password,
    "spoken": is_prose_password,
    "beside": is_word_beside,
    "login": is_login_password,
    "account": is_account_password,
    "pin": is_pin,
    "phrase": is_phrase,
    "said_token": named.is_said_token,
    "foreign": named.is_foreign_secret,
    "spaced": named.is_spaced_secret,
    "paired_value": named.is_paired_value,
    "netrc": is_netrc_password,
    "token": named.is_header_token,
    "cookie": named.is_session,
    "url": is_url_password,
    "flag": is_flag_password,
    "flag_token": is_flag_token,
    "argument": is_argument,
    "login_pair": is_login_pair,
    "setting": is_setting,
    "below": is_below,
    "seed": is_seed_phrase,
    "codes": is_code_list,
    "typed": is_typed_password,
    "basic": is_basic_credentials,
    "bearer": is_bearer,
    "mixed": is_mixed,
    "key": is_key_material,
    "email": is_email,
}


def is_secret(rule: SecretRule, value: str, before: str, after: str) -> bool:
    """What the checks of the rule say of a value; one that fails has not cleared it."""
    try:
        return (
            (not rule.entropy or entropy(value) >= rule.entropy)
            and (rule.judge in ("key", "email") or not is_stand_in(value))
            and (not rule.judge or JUDGES[rule.judge](value, before, after))
        )
    except Exception:  # noqa: BLE001 - no text may stop a command, and none may leave unchecked
        return True
