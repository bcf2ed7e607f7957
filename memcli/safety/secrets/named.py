"""Judges of values that have a name: whether what a label is given is the secret that the label promises."""

from __future__ import annotations

import re

from memcli.safety.secrets.labels import FOREIGN, FOREIGN_PHRASES, PASSWORD_WORDS, Label, is_token, label_of
from memcli.safety.secrets.passwords import (
    STRING_ENDS,
    has_brackets,
    is_given_password,
    is_reference,
    is_spoken_password,
)

OPENING = ("(", "[")
CLOSING = ")]}>,;"
QUOTES = ('"', "'", "`")
_SIGN = re.compile(
    r"[\\\"'`\])*_]{0,6}[\t ]{0,8}(?:=>|:=|->|[:=,|：]|→|is|was)\*{0,2}\s{0,40}(?:[|>][+-]?\d?[\t ]*\n\s{0,40})?\*{0,2}(?:[brfuBRFU]{0,2}\\{0,3}[\"'`]|)\Z"
)
_LONGEST_NAME = 60
_NAME = re.compile(r"(?:[^\W\d_][\w-]* ){0,2}[\w.'-]+\Z")
_LONG_NAME = re.compile(r"[\w.-]{3,80}")
_TYPED = re.compile(r"([\w.-]+)\s*:\s*[\w\[\]| .]+[\t ]*=\s*(?:[brfuBRFU]{0,2}\\?[\"'`]|)\Z")
_DIGEST_LIKE = re.compile(r"[0-9a-f]{7,12}\Z|[0-9a-f]{40}\Z")
_ARN = re.compile(r"\barn:\S*\Z")


def is_assigned_secret(value: str, before: str, after: str) -> bool:
    """Whether a value that a name such as `api_key` or `password` is given is more than a word, a name or a digest."""
    if after in OPENING:
        return False
    is_quoted = before[-1:] in QUOTES
    sign = _SIGN.search(before, max(0, len(before) - _LONGEST_NAME))
    head = before[: sign.start()] if sign else before
    if _ARN.search(head) or (is_quoted and STRING_ENDS.match(value)):
        return False
    label = label_of(_name(head, before))
    value = value.strip() if is_quoted else value.rstrip(CLOSING)
    if label is None or is_reference(value) or (not is_quoted and has_brackets(value)):
        return False
    if label is not Label.PASSWORD:
        return is_token(value, label)
    if sign and sign[0].strip("\\\"'`brf \t") == ",":  # words of a list may stand there, and bare words name things
        return any(c.isdigit() for c in value) and is_given_password(value, is_quoted=True, is_config=True)
    return is_given_password(value, is_quoted=is_quoted, is_config=is_quoted or _is_config(head, before, after))


def is_paired_secret(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value beside a name, as in `{"name": "DB_PASSWORD", "value": ...}`, is what the name says."""
    names = [label for word in _LONG_NAME.findall(before)[-6:] if (label := label_of(word))]
    value = value.strip()
    if not names or is_reference(value):
        return False
    if names[-1] is Label.PASSWORD:
        return is_given_password(value, is_quoted=True, is_config=True)
    return is_token(value, names[-1])


def is_said_token(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether what a sentence says a key or token is was made by a machine."""
    value = value.strip("*_")
    return (
        after not in OPENING
        and not is_reference(value)
        and is_token(value, Label.TOKEN)
        and not _DIGEST_LIKE.match(value)
    )


def is_foreign_secret(value: str, before: str, after: str) -> bool:
    """Whether what stands after the word for a password or a key in another language is one."""
    is_quoted = before[-1:] in (*QUOTES, "“", "„", "«", "「", "『")
    low = before.lower()
    label = max(
        (low.rfind(word), word in PASSWORD_WORDS or " " in word or "-" in word) for word in (*FOREIGN, *FOREIGN_PHRASES)
    )
    sign = before.rstrip("\"'`*_ \t　「『“„«")[-1:]
    is_torn = after.isalpha() and after < "\u2e80"  # a word goes on with a letter that is not ASCII
    if after in OPENING or is_torn or is_reference(value) or (not is_quoted and has_brackets(value)):
        return False
    if not label[1]:
        return is_token(value, Label.KEY if sign in ":=：" else Label.TOKEN)
    if sign in ":=：":
        return is_given_password(value, is_quoted=is_quoted, is_config=True)
    return is_spoken_password(value, is_quoted=is_quoted)


def is_spaced_secret(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value after a name and blanks, as in `ENV DB_PASSWORD x`, is what the name says."""
    words = before.rstrip("\"'` \t").split()
    label = (
        Label.PASSWORD
        if words and words[-1] in ("requirepass", "masterauth", "rootpw")
        else label_of(words[-1] if words else "")
    )
    if label is None or is_reference(value):
        return False
    if label is Label.PASSWORD:
        return is_given_password(value, is_quoted=before[-1:] in QUOTES, is_config=True)
    return is_token(value, label)


def is_paired_value(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether a quoted password is one."""
    return not is_reference(value) and is_given_password(value, is_quoted=True, is_config=True)


def is_header_token(value: str, before: str, after: str) -> bool:  # noqa: ARG001
    """Whether the value of a header or a cookie is a token."""
    return not is_reference(value) and is_token(value, Label.TOKEN)


def _name(head: str, before: str) -> str:
    """What the value is given to: the name right before the sign, or the one before that one's type."""
    name = _last_name(head)
    if label_of(name) is None and (typed := _TYPED.search(before[-_LONGEST_NAME:])):
        return _last_name(typed[1])
    return name


def _last_name(text: str) -> str:
    """The last words of a line, as far as they can be one name."""
    found = _NAME.search(text[-_LONGEST_NAME:].rstrip("\\\"'`])}*_ \t"))
    return found[0] if found else ""


def _is_config(head: str, before: str, after: str) -> bool:
    """Whether a value without quotes stands in settings, a shell or a note, and not in code."""
    line = head.rpartition("\n")[2]
    sign = before[len(head) :].strip()
    name = _last_name(head)
    is_alone = after in ("", "\n", "\r", " ", "|", "&", ";", "<", "\\") and after != ";"
    starts_line = line.strip(" \t+->*#_`|\"'") == name.strip() or line.lstrip("+- \t").startswith(
        ("export ", "ENV ", "ARG ", "$env:")
    )
    if name.rpartition(".")[2].replace("_", "").isupper():
        return "=" in sign or starts_line
    return is_alone and starts_line and (sign != "=" or before[-1:] == "=" or "." in name)
