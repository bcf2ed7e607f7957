"""Named values: whether what a label is given is the secret that it promises, and no name in code, digest or word."""

from __future__ import annotations

import re

from memcli.safety.secrets.labels import FOREIGN, FOREIGN_PHRASES, PASSWORD_WORDS, Label, label_of
from memcli.safety.secrets.passwords import (
    ARGUMENT,
    STRING_ENDS,
    entropy,
    has_brackets,
    is_given_password,
    is_reference,
    is_spoken_password,
)

_CODE = re.compile(
    r"[*&!-]{0,2}(?:[A-Za-z_][\w-]*[.:/>(\\]+)*[A-Za-z_]\w*(?:[(\[].*)\Z|[*&!]{0,2}(?:[A-Za-z_][A-Za-z_-]*\d{0,2}[A-Za-z_]*(?:[.:/-]|->|::))*"
    r"[A-Za-z_]+\d{0,2}\Z|[a-z_]+=[a-z_.]+\d{0,2}\Z"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F]+\Z")
_ODD_CASE = re.compile(r"[A-Z][a-z](?=[A-Z])|[a-z][A-Z]{2}(?=[a-z])")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CONSONANTS = re.compile(r"[BCDFGHJKLMNPQRSTVWXZ]{5}")
_CHOSEN = re.compile(r"[A-Za-z]{6,}\d{2,4}\Z")
_VOWEL = re.compile(r"[aeiouyAEIOUY]")


def is_token(value: str, label: Label) -> bool:
    """Whether what the name of a token or key is given was made by a machine."""
    if " " in value or len(value) < (10 if label is Label.KEY else 16):
        return False
    if _UUID.match(value) or _is_unspoken(value):
        return True
    if _HEX.match(value):
        return len(value) >= 20 and not value.isdigit() and entropy(value) > 2.8
    if _is_code_name(value):
        return (
            label is Label.KEY
            and _CHOSEN.match(value) is not None
            and is_given_password(value, is_quoted=False, is_config=False)
        )
    if label is Label.KEY and value.isalnum() and sum(c.isdigit() for c in value) > 1:
        return is_given_password(value, is_quoted=True, is_config=True)
    least = 3.4 if len(value) >= 24 else 3.0 if label is Label.TOKEN else 2.7
    return is_made_of_both(value) and entropy(value) >= least and not reads(value)


def _is_unspoken(value: str) -> bool:
    """Whether letters alone stand in an order that no language has: consonants in long runs, in one case."""
    return (
        value.isascii()
        and value.isalpha()
        and value.isupper()
        and len(value) >= 16
        and entropy(value) >= 3.0
        and _CONSONANTS.search(value) is not None
    )


def _is_code_name(value: str) -> bool:
    """Whether it is a name in code or of a resource: words joined by dots, dashes, slashes, with few digits."""
    return _CODE.match(value) is not None and not _is_shuffled(value)


def _is_shuffled(value: str) -> bool:
    return sum(c.isdigit() for c in value) >= 3 or len(_ODD_CASE.findall(value)) > 2


def is_made_of_both(value: str) -> bool:
    """Whether there are digits among letters, or letters in such cases as no name has."""
    return any(c.isalpha() for c in value) and (any(c.isdigit() for c in value) or len(_ODD_CASE.findall(value)) > 1)


def reads(value: str) -> bool:
    """Whether most of its letters are words that can be spoken, whatever joins them: names of things, not tokens."""
    letters = sum(c.isalpha() for c in value)
    spoken = [word for word in _CAMEL.findall(value) if len(word) >= 3 and _VOWEL.search(word)]
    digits = sum(c.isdigit() for c in value)
    has_all_cases = re.search(r"[A-Z]{2}", value) is not None and re.search(r"[a-z]{2}", value) is not None
    return sum(map(len, spoken)) * 4 >= letters * 3 and digits * 4 <= len(value) and not (has_all_cases and digits > 2)


OPENING = ("(", "[")
CLOSING = ")]}>,;"
QUOTES = ('"', "'", "`")
_SIGN = re.compile(
    r"[\\\"'`\])*_]{0,6}[\t ]{0,8}(?:=>|:=|->|[:=,|：]|→|is|was)\*{0,2}\s{0,40}(?:[|>][+-]?\d?[\t ]*\n\s{0,40})?\*{0,2}(?:[brfuBRFU]{0,2}\\{0,3}[\"'`]|)\Z"
)
_SAYS_NAME = re.compile(r"[\"'`][\])]?\s*\Z|:\w+\s*\Z|\b[A-Z][A-Z0-9_.]+\s*\Z")
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
        named = ARGUMENT.match(value)
        return is_token(value[named.end() :] if named else value, label)
    if sign and "," in sign[0]:  # words of a list may stand there, and bare words name things
        if not _SAYS_NAME.search(before[: sign.start() + sign[0].index(",")]):
            return False  # the password itself is an argument, in a variable
        return any(c.isdigit() for c in value) and is_given_password(value, is_quoted=True, is_config=True)
    is_prose = after == " " and value.isalpha() and sign is not None and sign[0].lstrip("\\\"'`])*_").startswith(":")
    is_config = is_quoted or (_is_config(head, before, after) and not is_prose)
    return is_given_password(value, is_quoted=is_quoted, is_config=is_config)


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


def is_session(value: str, before: str, after: str) -> bool:
    """Whether the value of a session's cookie is its id, which may be shorter and plainer than a token."""
    is_mixed = value.isalnum() and sum(c.isdigit() for c in value) > 1 and not value.isdigit() and entropy(value) >= 3.2
    return is_header_token(value, before, after) or (is_mixed and not is_reference(value))


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
