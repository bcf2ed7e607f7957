"""How a hidden instruction is described: the data that `injection.py` reads.

A rule is tried only where each of its groups of literals has one in the text, so plain text compiles nothing.
The first group is tried by the beginnings of words, so what begins with a letter must stand at the beginning of one.
Gaps in patterns are bounded, which keeps every search linear.
"""

from __future__ import annotations

from typing import NamedTuple

INSTRUCTIONS = "instructions"
MARKUP = "markup"
HIDDEN = "hidden"
ESCAPES = "escapes"
EXFILTRATION = "exfiltration"


class InjectionRule(NamedTuple):
    """A pattern over lower-case text on one line. `needs`: of each group one literal must stand in the text.

    `forbids`: a "never" before it, or before its group `act`, makes it harmless. `is_local`: so does a place after it,
    as in "ignore the previous instructions in the old wiki".
    """

    reason: str
    needs: tuple[tuple[str, ...], ...]
    pattern: str
    forbids: bool = True
    is_local: bool = False


class Near(NamedTuple):
    """Stems of one language that must stand within `within` characters of each other, one of each group."""

    groups: tuple[tuple[str, ...], ...]
    within: int = 60


ORDERS = r"(?:instructions?|prompts?|directions|directives?|commands|orders|guidelines|guidance|programming|guardrails|safeguards|system messages?)"  # fmt: skip
BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|original|initial|existing|former|past|system|developers?|safety|hidden|other|old|current)"  # fmt: skip
SECRETS = (
    r"(?:secrets?\b|passwords?|credentials|(?:api|access|deploy|signing|ssh|private|secret|encryption)[ -]keys?|"
    r"(?:environment|env) (?:variables|vars)|\.env\b|id_rsa|id_ed25519|~/\.(?:ssh|aws|netrc|npmrc|kube|gnupg)|/etc/(?:passwd|shadow)|"
    r"system prompt|(?:chat|conversation) (?:history|log|transcript)|(?:whole|entire|full|this|our) conversation|"
    r"session (?:token|cookie)s?|all (?:the |of your |your |stored )?(?:memories|files|notes|keys)|"
    r"user(?:'s|s')? (?:data|messages?|e-?mails?)|customer (?:data|list|records)|database (?:dump|backup)|"
    r"contents? of (?:the |your )?(?:file|repo|memory|vault|keychain|\.env|~/))"
)
