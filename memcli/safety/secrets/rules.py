"""The rules for secrets, from `formats.jsonl` and `contexts.jsonl`, and an index that finds the rules to try on a text.

A row is a SecretRule, the most specific first: its keywords (a list, or words separated by blanks), and an object with `pattern`
or with `body`. The latter finds words that begin with one of the `prefixes`, case-sensitive, followed by `body`; these are
the keywords, unless they are too frequent alone. `examples` are a text that the rule matches and one that it does not; a bar in them
prevents that scanners report this repository.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache, cached_property, lru_cache

from memcli.record import Record, replace
from memcli.safety.patterns import LONG, Fragments, Literals, pattern, read_json, read_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


EMAIL = "email"
_DISTINCT = 5
"""A prefix of at least so many characters is seldom part of another word."""


class SecretRule:
    """A rule that finds one kind of secret, from a row of the data.

    The rule is tried on texts with one of `keywords`, of which those in lower case match any case. They are searched in words
    of at least 20 characters, the least length of a token, unless with `is_apart`, where the keyword is outside of the secret.
    `entropy` is the least entropy of the secret, in bits a character. `judge` names a check in `secret_checks.py` that decides
    last. `is_table`: the pattern matches the header of a table, which has the secrets in its cells. `rank` is its index among
    all rules.
    """

    kind: str
    is_apart: bool
    entropy: float
    judge: str
    is_table: bool

    # No Record, and all but the keywords at the first use: there are hundreds of rules, and most texts need none.
    def __init__(self, words: str | Sequence[str], row: bytes, rank: int = 0) -> None:
        self.keywords = (_KEYWORDS.get(words) or words.split()) if isinstance(words, str) else words
        self._line = row
        self.rank = rank

    def __getattr__(self, name: str) -> Any:
        if name not in self._row:
            raise AttributeError(name)
        return self._row[name]

    @cached_property
    def _row(self) -> Mapping[str, Any]:
        words, row = json.loads(self._line)
        plain = {"prefixes": words, "entropy": 0.0, "judge": "", "is_apart": "prefixes" in row, "is_table": False}
        return {**plain, **row}

    @cached_property
    def pattern(self) -> str:
        """A pattern of RE2; its first group, if any, is the secret."""
        if "body" not in self._row:
            return _fragments().expanded(self._row["pattern"])
        start = "|".join(map(re.escape, self._row["prefixes"].split()))
        return rf"(?:^|[^0-9A-Za-z-])((?:{start}){_fragments().expanded(self._row['body'])})(?:[^0-9A-Za-z]|$)"

    @cached_property
    def probe(self) -> str:
        """A linear pattern of `re` that must match the text in lower case too, so that RE2 need not be loaded for a frequent
        keyword; empty for none."""
        if "body" not in self._row:
            return _fragments().expanded(self._row.get("probe", ""))
        prefixes = self._row["prefixes"].split()
        if prefixes != self.keywords:
            return _fragments().expanded("{LONG_WORD}")
        start = "|".join(map(re.escape, prefixes)).lower()
        return rf"(?:{start})\S{{16}}" if min(map(len, prefixes)) < _DISTINCT else ""


class SecretHit(Record):
    """A secret at the bytes `start` to `end` of a text; `value` are the bytes that the rule matched.

    Overlapping hits are merged under the kind of the least `rank`, the index of its rule: the most specific come first.
    """

    start: int
    end: int
    kind: str
    value: bytes
    rank: int


def merged(hits: Sequence[SecretHit], marks: Sequence[tuple[int, int]]) -> list[SecretHit]:
    """The hits, with overlapping ones merged under the most specific kind, and without the ranges of `marks`."""
    whole: list[SecretHit] = []
    for hit in sorted(hits, key=lambda h: (h.start, -h.end, h.rank, h.kind)):
        last = whole[-1] if whole else None
        if last and (hit.start < last.end or (hit.start == last.end and hit.kind == last.kind)):
            named = min(last, hit, key=lambda h: h.rank)
            whole[-1] = replace(named, start=last.start, end=max(last.end, hit.end))
        else:
            whole.append(hit)
    parts: list[SecretHit] = []
    for hit in whole:
        start = hit.start
        for begin, end in marks:
            if begin < hit.end and end > start:
                parts += [replace(hit, start=start, end=begin)] if start < begin else []
                start = max(start, end)
        parts += [replace(hit, start=start)] if start < hit.end else []
    return parts


_KEYWORDS = {
    "FOREIGN": tuple([word.lower() for words in read_json(__package__, "foreign.json").values() for word in words])
}


@cache
def _fragments() -> Fragments:
    from memcli.safety.secrets.labels import FOREIGN, FOREIGN_PHRASES, KEY, TAIL  # most texts need no pattern

    words = (*FOREIGN, *FOREIGN_PHRASES)
    parts = {"FOREIGN_WORDS": "|".join([rf"\b{word}" if word.isascii() else word for word in words])}
    return Fragments(__package__, {"KEY": KEY, "TAIL": TAIL, **parts})


_FORMATS = read_rows(__package__, "formats.jsonl")
WITH_FORMAT = len(_FORMATS)
"""The rank of the first rule that finds a secret by the text around it, and not by its format."""
_ROWS = enumerate([*_FORMATS, *read_rows(__package__, "contexts.jsonl")])
# Rules of our own: of two libraries that were tried, one missed a fifth of the secrets, the other most.
RULES = tuple([SecretRule(words, row, rank) for rank, (words, row) in _ROWS])


SHORTEST = 6
TOKEN = 20


class RuleIndex:
    """Rules by their keywords, of which a text must have one; only `words` count, if given."""

    def __init__(self, rules: Sequence[SecretRule], words: Collection[str] | None = None) -> None:
        self._rules = rules
        self._words = words
        self._literals = Literals(low for low, _, _ in self._keywords)

    def __bool__(self) -> bool:
        return bool(self._rules)

    @cached_property
    def formats(self) -> RuleIndex:
        """The index of the rules that find a secret by its format."""
        return RuleIndex([rule for rule in self._rules if rule.rank < WITH_FORMAT], self._words)

    def suspects(self, text: str) -> list[SecretRule]:
        """The rules that may find a secret in `text`, each once."""
        return list(dict.fromkeys(rule for rules in self.by_keyword(text).values() for rule in rules))

    def by_keyword(self, text: str) -> dict[str, list[SecretRule]]:
        """The keywords in `text`, each with the rules that may find a secret."""
        suspects: dict[str, list[SecretRule]] = {}
        if not self._rules or len(text) < SHORTEST:
            return suspects
        low = text.lower()
        probed = {"": True}
        for in_lower, word, rule in self._occurring(low):
            read = low if word == in_lower else text
            if word not in read:
                continue
            if rule.probe not in probed:
                probed[rule.probe] = pattern(rule.probe).occurs(low, is_exact=False)
            if probed[rule.probe] and (rule.is_apart or word in _tokens(read)):
                suspects.setdefault(word, []).append(rule)
        return suspects

    def _occurring(self, low: str) -> list[tuple[str, str, SecretRule]]:
        """Those of the keywords that occur, in any case, in a text in lower case."""
        found = self._literals.at_once(low) if len(low) < LONG else self._literals.within(low)
        if found is None:  # one by one: a table by keyword takes longer to make than a short command searches
            return [keyword for keyword in self._keywords if keyword[0] in low]
        return [self._keywords[n] for n in sorted([n for word in found for n in self._by_keyword[word]])]

    @cached_property
    def _by_keyword(self) -> dict[str, list[int]]:
        """The indexes of `_keywords` by their first items."""
        numbers: dict[str, list[int]] = {}
        for n, (in_lower, _, _) in enumerate(self._keywords):
            numbers.setdefault(in_lower, []).append(n)
        return numbers

    @cached_property
    def _keywords(self) -> list[tuple[str, str, SecretRule]]:
        """Each keyword in lower case, as it is, and its rule."""
        words = self._words
        return [
            (word.lower(), word, rule)
            for rule in self._rules
            for word in rule.keywords
            if words is None or word in words
        ]


@lru_cache(2)
def _tokens(text: str) -> str:
    """The words of `text` that are long enough for a token."""
    return "\n".join([word for word in text.split() if len(word) >= TOKEN])
