"""What one kind of secret looks like, as data; where one was found, and what to do about findings that overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

EMAIL = "email"
LONG_WORD = r"[0-9a-z_+/-]{20}"


class SecretRule(NamedTuple):
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


class SecretHit(NamedTuple):
    """Something secret at the bytes `start` to `end` of a text; `value` is what the rule alone found.

    Of overlapping hits the one of least `rank` gives its name: the order of the rules, the most particular first.
    """

    start: int
    end: int
    kind: str
    value: bytes
    rank: int


def merged(hits: Sequence[SecretHit], marks: Sequence[tuple[int, int]]) -> list[SecretHit]:
    """The hits, those that overlap as one under the name of the most particular, without the marks among them."""
    whole: list[SecretHit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end, h.rank, h.kind)):
        last = whole[-1] if whole else None
        if last and (hit.start < last.end or (hit.start == last.end and hit.kind == last.kind)):
            named = min(last, hit, key=lambda h: h.rank)
            whole[-1] = named._replace(start=last.start, end=max(last.end, hit.end))
        else:
            whole.append(hit)
    return [part for hit in whole for part in _without(hit, marks)] if marks else whole


def _without(hit: SecretHit, marks: Sequence[tuple[int, int]]) -> Iterator[SecretHit]:
    start = hit.start
    for begin, end in marks:
        if begin < hit.end and end > start:
            if start < begin:
                yield hit._replace(start=start, end=begin)
            start = max(start, end)
    if start < hit.end:
        yield hit._replace(start=start)


def replaced(text: str, hits: Sequence[SecretHit], mark: Callable[[SecretHit], str]) -> str:
    data = text.encode("utf-8", "surrogatepass")
    parts, position = [], 0
    for hit in hits:
        parts += [data[position : hit.start], mark(hit).encode()]
        position = hit.end
    return b"".join([*parts, data[position:]]).decode("utf-8", "surrogatepass")


def text_mark(hit: SecretHit) -> str:
    return f"[REDACTED:{hit.kind}]"
