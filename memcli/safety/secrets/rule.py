"""What one kind of secret looks like, as data."""

from __future__ import annotations

from typing import NamedTuple

EMAIL = "email"
LONG_WORD = r"[0-9a-z_+/-]{20}"


class Rule(NamedTuple):
    """One way to find one kind of secret. `pattern` is RE2; its first group, where it has one, is what is secret.

    A text in which none of `keywords` occurs is not looked at: one in lower case is looked for in any case, any other
    as it stands; in words of at least 20 characters alone, as any token is, unless `is_apart` says that keyword and
    secret may stand apart. Where keywords are common, `probe`, a plain and linear `re` pattern, must be found in the
    lower-case text too, so that RE2 need not be loaded. `entropy` is the least, in bits a character, that the secret must have.
    `judge` names a check in `judges.py` that has the last word. `is_table`: the pattern finds the head of a table, and what
    is secret stands below it.
    """

    kind: str
    keywords: tuple[str, ...]
    pattern: str
    entropy: float = 0.0
    judge: str = ""
    probe: str = ""
    is_apart: bool = False
    is_table: bool = False
