"""Redaction: finds secrets in text and puts `[REDACTED:kind]` in their place. Pure; RE2 does the matching.

Nothing is compiled, and RE2 not even imported, for a text in which no rule's keyword occurs. Redacting twice changes
nothing: marks are never part of a hit, and a text is searched again until nothing is found in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import replace
from memcli.safety.patterns import MAX_PATTERN, compile_pattern, re2_pattern
from memcli.safety.secrets import views
from memcli.safety.secrets.rules import (
    EMAIL,
    KINDS,
    RULES,
    SHORTEST,
    WITH_FORMAT,
    RuleIndex,
    SecretHit,
    SecretRule,
    merged,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECRETS = "secrets"
MAX_PATTERNS = 100
_CONTEXT = 200
_DEPTH = 2
_RANKS = {id(rule): rank for rank, rule in enumerate(RULES)}
_ROUNDS = 8
_MARK = r"\[REDACTED:[a-z0-9_]{1,64}\]|redacted-[a-z0-9-]{1,64}-[0-9a-f]{8}"
_MARKS = ("[REDACTED:", "redacted-")

Sign = Callable[[bytes], str]
"""The keyed hash of a secret: 8 hex digits."""


class Detector:
    """The rules that a space's policy leaves in force, and its own patterns beside them."""

    def __init__(self, policy: Mapping[str, Json], sign: Sign, *, has_shared_key: bool = False) -> None:
        """`policy` is the field `pii_redaction`, which `check_policy` has seen. Raises UsageError as that does.

        `has_shared_key`: `sign` gives the same mark on every machine of a team. `ignored` are the names of patterns that
        would take most of an ordinary note.
        """
        self.has_shared_key = has_shared_key
        self._index = _index(_chosen(policy.get("detectors")))
        own = [
            (item["name"], _own_pattern(item["regex"], f"pii_redaction.patterns[{n}].regex"))
            for n, item in enumerate(policy.get("patterns", ()))
        ]
        wide = _too_wide([pattern for _, pattern in own])
        self.ignored = tuple(own[n][0] for n in wide)
        self._own = tuple(one for n, one in enumerate(own) if n not in wide)
        self._allowed = frozenset(policy.get("allow", ()))
        self._wide: Detector = self
        self.sign = cache(sign)

    def suspects(self, text: str) -> list[SecretRule]:
        """The rules that could find something in `text`; cheap."""
        return self._index.suspects(text)

    def narrowed(self, whole: str) -> Detector:
        """A detector that finds in the parts of `whole` what this one would, and tries only the rules that could."""
        narrow = object.__new__(Detector)
        narrow.__dict__.update(self.__dict__)
        narrow._wide = self
        narrow._index = self._index.narrowed("\n".join(_readings(whole, _DEPTH)))
        return narrow

    @property
    def has_rules(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._own) or bool(self._index)

    def is_suspect(self, text: str) -> bool:
        """Whether it is worth looking into `text` at all; cheap."""
        if self._own:
            return True
        for reading in _readings(text, _DEPTH):  # noqa: SIM110 - one frame less in the deepest stack of a write
            if self._index.by_keyword(reading):
                return True
        return False

    def find(self, text: str, depth: int = _DEPTH) -> list[SecretHit]:
        """The secrets in `text` as it stands and as it may be read, with words decoded up to `depth` times; in order, none
        overlapping another."""
        data = text.encode("utf-8", "surrogatepass")
        found = self._find_plain(text, data)
        if depth and len(text) >= SHORTEST:
            found += self._find_in_views(text, data, found)
            for start, end, inner in views.blobs(data):  # words that hold a secret in base 64 or hex
                hits = [hit for hit in self.find(inner, depth - 1) if hit.kind != EMAIL]
                found += [replace(hit, start=start, end=end) for hit in hits[:1]]
        if self._allowed:
            found = [hit for hit in found if self.sign(hit.value) not in self._allowed]
        if not found:
            return []
        marks = re.finditer(_MARK.encode(), data) if any(mark.encode() in data for mark in _MARKS) else ()
        return merged(found, [mark.span() for mark in marks])  # of earlier redactions

    def _find_in_views(self, text: str, data: bytes, known: Sequence[SecretHit]) -> list[SecretHit]:
        """What is found only where the text is read without what interrupts it."""
        found: list[SecretHit] = []
        for view in (views.plain(text, data), views.unescaped(data)):
            if view is not None:
                found += _added(self._find_plain(view.text, view.text.encode()), view, known)
        if (view := views.joined(data)) is not None:
            rules = self._index.formats.suspects(view.text)
            found += _added(chain.from_iterable(_by_rule(rule, view.text.encode()) for rule in rules), view, known)
        return found

    def _find_plain(self, text: str, data: bytes) -> list[SecretHit]:
        """What is secret in `text` as it stands; `data` are its bytes."""
        rules = {id(rule): rule for rules in self._index.by_keyword(text).values() for rule in rules}
        found = [hit for rule in rules.values() for hit in _by_rule(rule, data)]
        for name, pattern in self._own:
            found += _by_pattern(name, pattern, data)
        return found

    def redact(self, text: str, *, as_name: bool = False) -> tuple[str, list[SecretHit]]:
        """`text` without what is secret in it, and what that was. `as_name`: for paths, ids and tags, whose marks
        must be names themselves and tell two secrets apart."""
        taken: list[SecretHit] = []
        for _ in range(_ROUNDS):
            # A mark may bring a keyword along that the whole did not have.
            hits = (self._wide if any(mark in text for mark in _MARKS) else self).find(text)
            if not hits:
                break
            data, parts, position = text.encode("utf-8", "surrogatepass"), list[bytes](), 0
            for hit in hits:
                parts += [data[position : hit.start], self.mark(hit, as_name=as_name).encode()]
                position = hit.end
            text = b"".join([*parts, data[position:]]).decode("utf-8", "surrogatepass")
            taken += hits
        return text, taken

    def mark(self, hit: SecretHit, *, as_name: bool) -> str:
        """What stands in the place of a secret, in a text or in a name."""
        if as_name:
            return f"redacted-{hit.kind.replace('_', '-')}-{self.sign(hit.value)}"
        return f"[REDACTED:{hit.kind}]"


def _readings(text: str, depth: int) -> Iterator[str]:
    """`text` as it stands, and as it may be read: where it is not looked into as such, nothing in it is found."""
    yield text
    if not depth or len(text) < SHORTEST:
        return
    data = text.encode("utf-8", "surrogatepass")
    for view in (views.plain(text, data), views.unescaped(data), views.joined(data)):
        if view is not None:
            yield view.text
    for _, _, inner in views.blobs(data):
        yield from _readings(inner, depth - 1)


def check_policy(policy: Mapping[str, Json]) -> None:
    """Raises UsageError naming the part of `pii_redaction` that cannot be used."""
    for name in policy:
        if name not in ("detectors", "patterns", "allow"):
            raise UsageError(f"no field {name!r} in pii_redaction", "fields: allow, detectors, patterns")
    _chosen(policy.get("detectors"))
    patterns = policy.get("patterns", ())
    if len(patterns) > MAX_PATTERNS:
        raise UsageError(
            f"pii_redaction.patterns has {len(patterns)} patterns", f"at most {MAX_PATTERNS}; join some with |"
        )
    for n, item in enumerate(patterns):
        where = f"pii_redaction.patterns[{n}]"
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", item["name"]) or item["name"] in (*KINDS, SECRETS):
            raise UsageError(
                f"{where}.name {item['name'][:40]!a} is not a valid pattern name, or a detector has this name",
                "use at most 40 characters of a-z, 0-9 and _, the first a letter",
            )
        _own_pattern(item["regex"], f"{where}.regex")
    for n in sorted(_too_wide([_own_pattern(item["regex"], "") for item in patterns])):
        raise UsageError(
            f"pii_redaction.patterns[{n}].regex would redact more than half of an ordinary note",
            "write a pattern of what is secret, and of nothing around it",
        )
    for n, mark in enumerate(policy.get("allow", ())):
        if not re.fullmatch(r"[0-9a-f]{8}", mark):
            raise UsageError(
                f"pii_redaction.allow[{n}] {mark[:40]!a} is not a mark",
                "use 8 hex digits, as `memcli check secrets` prints them",
            )


_GROUPS: Mapping[str, frozenset[str]] = {
    SECRETS: frozenset(KINDS) - {EMAIL},
    **{kind: frozenset([kind]) for kind in KINDS},
}
"""The kinds that each name of the field `detectors` stands for."""


@lru_cache(8)
def _index(kinds: frozenset[str] | None) -> RuleIndex:
    """The index of the rules of these kinds; None for all."""
    return RuleIndex.of(RULES if kinds is None else [rule for rule in RULES if rule.kind in kinds])


def _chosen(detectors: Sequence[str] | None) -> frozenset[str] | None:
    """The kinds that `detectors` leave in force; None for all."""
    if detectors is None:
        return None
    for n, name in enumerate(detectors):
        if name.removeprefix("-") not in _GROUPS:
            raise UsageError(
                f"pii_redaction.detectors[{n}] {name[:40]!a} is not a detector",
                f"use {SECRETS}, {EMAIL} or a kind such as aws_key; a leading - switches it off",
            )
    if not detectors:
        raise UsageError(
            "pii_redaction.detectors is empty", f'use ["-{SECRETS}", "-{EMAIL}"] to switch all detectors off'
        )
    named = [_GROUPS[name] for name in detectors if not name.startswith("-")]
    kinds = frozenset().union(*named) if named else frozenset(KINDS)
    return kinds.difference(*(_GROUPS[name[1:]] for name in detectors if name.startswith("-")))


def _own_pattern(regex: str, where: str) -> Any:
    if not 0 < len(regex) <= MAX_PATTERN:
        raise UsageError(f"{where} must have 1 to {MAX_PATTERN} characters", f"it has {len(regex)}")
    return compile_pattern(regex, where, "see github.com/google/re2/wiki/Syntax; lookaround is not supported")


_NOTES = (
    "We chose PostgreSQL over MySQL for its JSONB columns; the migration of the orders service is planned for May.",
    "Nie direkt auf main pushen: Die Release-Tags hängen daran. Änderungen gehen über einen Pull-Request.",
    "Deploy with `make deploy ENV=staging`, then check https://status.example.com/health and tail /var/log/app.log.",
    "2026-01-31 09:30:12 ERROR worker 4711: timeout after 30000 ms, 3 of 5 retries left, queue length 1250",
    "部署前必须先运行数据库迁移脚本，否则订单服务启动失败。所有配置都在仓库的配置目录里。",
)
"""Notes as projects have them, without a secret."""


def _too_wide(patterns: Sequence[Any]) -> frozenset[int]:
    """The numbers of the patterns which, with those before them, take more than half of what is not blank in a note."""
    wide: set[int] = set()
    for note in _NOTES if patterns else ():
        left = data = note.encode()
        for n, pattern in enumerate(patterns):
            rest = bytearray(left)
            for hit in _by_pattern("", pattern, data):
                rest[hit.start : hit.end] = b" " * (hit.end - hit.start)
            if 2 * len(b"".join(rest.split())) < len(b"".join(data.split())):
                wide.add(n)
            else:
                left = bytes(rest)
    return frozenset(wide)


def _added(hits: Iterable[SecretHit], view: views.TextView, known: Sequence[SecretHit]) -> Iterator[SecretHit]:
    """Those of the hits in a view that say more than the `known` ones of the text, where they stand in it."""
    for hit in hits:
        start, end = view.origin(hit.start, hit.end)
        others = [other for other in known if start < other.end and other.start < end]
        is_more = hit.rank < WITH_FORMAT and all(other.rank >= WITH_FORMAT for other in others)
        if is_more or not others:
            yield replace(hit, start=start, end=end)


def _by_rule(rule: SecretRule, data: bytes) -> Iterator[SecretHit]:
    from memcli.safety.secrets.secret_checks import is_secret

    rank = _RANKS[id(rule)]
    pattern = re2_pattern(rule.pattern)
    position = 0
    if rule.is_table:
        from memcli.safety.secrets.tables import secret_cells

        while (match := pattern.search(data, position)) is not None:
            cells, position = secret_cells(data, data.rfind(b"\n", 0, match.start() + 1) + 1)
            position = max(position, match.end())
            for start, end, _ in cells:
                yield SecretHit(start, end, rule.kind, data[start:end], rank)
        return
    others = range(2, pattern.groups + 1)
    while (match := pattern.search(data, position)) is not None:
        start, end = match.span(1)
        if start < 0:
            start, end = next(span for span in map(match.span, others) if span[0] >= 0)
        value = data[start:end].decode("utf-8", "surrogatepass")
        before = data[max(0, start - _CONTEXT) : start].decode(errors="ignore")
        after = data[end : end + 4].decode(errors="ignore")[:1]
        is_hit = is_secret(rule, value, before, after)
        if is_hit:
            yield SecretHit(start, end, rule.kind, data[start:end], rank)
        # What was taken for a value may be a name with a value of its own.
        position = max(end if is_hit else start, match.start() + 1)


def _by_pattern(name: str, pattern: Any, data: bytes) -> Iterator[SecretHit]:
    for match in pattern.finditer(data):
        start, end = match.span(1) if pattern.groups and match.span(1)[0] >= 0 else match.span()
        if start < end:
            yield SecretHit(start, end, name, data[start:end], len(RULES))
