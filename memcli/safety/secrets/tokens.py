"""Tokens: whether a value was made by a machine, and is no name in code, digest or word."""

from __future__ import annotations

import re

from memcli.safety.secrets.labels import Label
from memcli.safety.secrets.passwords import entropy, is_given_password

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
