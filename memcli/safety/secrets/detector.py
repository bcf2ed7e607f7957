"""Redaction: finds secrets in text and replaces them by `[REDACTED:kind]`. Pure; RE2 does the matching.

For a text without a keyword of any rule nothing is compiled, and RE2 is not imported. Redaction is idempotent: marks are never
part of a hit, and a text is searched again until nothing is found. The views of a text (see `views.py`) are searched too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain

from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.record import replace
from memcli.safety.patterns import MAX_PATTERN, compile_pattern, is_worth_re2, re2_pattern, without_assertions
from memcli.safety.secrets import mark_of
from memcli.safety.secrets.rules import (
    EMAIL,
    RULES,
    SHORTEST,
    WITH_FORMAT,
    RuleIndex,
    SecretHit,
    SecretRule,
    merged,
)
from memcli.safety.secrets.views import TextView, armoured, blobs, joined, plain, unescaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SECRETS = "secrets"
MAX_PATTERNS = 100
_CONTEXT = 200
"""The most bytes before a match that its check gets."""
_DEPTH = 2
"""How often decoded text is decoded again."""
_ROUNDS = 8
"""How often a text is searched at most: after each redaction again, until nothing is found."""
_MARK = r"\[REDACTED:[a-z0-9_]{1,64}\]|redacted-[a-z0-9-]{1,64}-[0-9a-f]{8}"
_MARKS = ("[REDACTED:", "redacted-")

Sign = Callable[[bytes], str]
"""A function that returns the keyed hash of a secret, 8 hex digits."""


class Detector:
    """The rules that the policy of a space enables, and the patterns that it adds."""

    def __init__(self, policy: Mapping[str, Json], sign: Sign, *, has_shared_key: bool = False) -> None:
        """`policy` is the field `pii_redaction`, checked by `check_policy`. Raises UsageError as that does.

        `has_shared_key`: `sign` returns the same mark on every machine of a team. `ignored` are the names of patterns that
        would redact most of an ordinary note.
        """
        self.has_shared_key = has_shared_key
        self._index = _index(_chosen(policy.get("detectors")))
        own = [
            (item["name"], _own_pattern(item["regex"], f"pii_redaction.patterns[{n}].regex"))
            for n, item in enumerate(policy.get("patterns", ()))
        ]
        # A pattern such as `.` in the policy of a clone would turn every note into a mark.
        wide = _too_wide([pattern for _, pattern in own])
        self.ignored = tuple(own[n][0] for n in wide)
        self._own = tuple(one for n, one in enumerate(own) if n not in wide)
        self._allowed = frozenset(policy.get("allow", ()))
        self._wide: Detector = self
        self.clean = set[int]()
        """The hashes of memories with a keyword of a rule in which no secret was found."""
        self.sign = cache(sign)

    def narrowed(self, whole: str) -> Detector | None:
        """A detector for the parts of `whole`, with only the rules that may find something there and the same results; None
        where none may.

        A text with a keyword of a rule seldom has a match. So the rules of a process that reads many texts are also searched in
        `whole`, without their assertions about the characters around a match, for a part may begin or end there."""
        # A copy without `__init__`, which would compile the patterns of the policy again.
        narrow = object.__new__(Detector)
        narrow.__dict__.update(self.__dict__)
        narrow._wide = self
        # In all views: a secret in base64 or behind escapes has no keyword in the text itself.
        readings = "\n".join(_readings(whole, _DEPTH))
        suspects = self._index.by_keyword(readings)
        if suspects and is_worth_re2(len(readings)):
            data = readings.encode("utf-8", "surrogatepass")
            suspects = {
                word: left
                for word, rules in suspects.items()
                if (left := [rule for rule in rules if re2_pattern(without_assertions(rule.pattern)).search(data)])
            }
        narrow._index = RuleIndex(list(dict.fromkeys(chain.from_iterable(suspects.values()))), suspects)
        return narrow if self._own or narrow._index else None

    def is_suspect(self, text: str) -> bool:
        """Whether `text` may have a secret; fast."""
        if self._own:
            return True
        for reading in _readings(text, _DEPTH):  # noqa: SIM110 - one frame less in the deepest stack of a write
            if self._index.by_keyword(reading):
                return True
        return False

    def find(self, text: str, depth: int = _DEPTH) -> list[SecretHit]:
        """The secrets in `text` and in its views, with encoded words decoded up to `depth` times; in order and without
        overlaps."""
        data = text.encode("utf-8", "surrogatepass")
        found = self._find_plain(text, data)
        if depth and len(text) >= SHORTEST:
            known = tuple(found)
            for view in (plain(text, data), unescaped(data), armoured(data)):
                if view is not None:
                    found += _added(self._find_plain(view.text, view.text.encode()), view, known)
            if (view := joined(data)) is not None:
                # Only rules by format: a name and a value that are side by side by the join alone mean nothing.
                rules = self._index.formats.suspects(view.text)
                found += _added(chain.from_iterable(_by_rule(rule, view.text.encode()) for rule in rules), view, known)
            for start, end, inner in blobs(data):
                hits = [hit for hit in self.find(inner, depth - 1) if hit.kind != EMAIL]
                # The whole encoded word is redacted, so one secret in it is enough.
                found += [replace(hit, start=start, end=end) for hit in hits[:1]]
        if self._allowed:
            found = [hit for hit in found if self.sign(hit.value) not in self._allowed]
        if not found:
            return []
        marks = re.finditer(_MARK.encode(), data) if any(mark.encode() in data for mark in _MARKS) else ()
        return merged(found, [mark.span() for mark in marks])  # of earlier redactions

    def _find_plain(self, text: str, data: bytes) -> list[SecretHit]:
        """The secrets in `text` itself, without its views; `data` are its bytes."""
        found = [hit for rule in self._index.suspects(text) for hit in _by_rule(rule, data)]
        for name, pattern in self._own:
            found += _by_pattern(name, pattern, data)
        return found

    def redact(self, text: str, *, as_name: bool = False, keeps_lines: bool = False) -> tuple[str, list[SecretHit]]:
        """`text` with marks in place of secrets, and the secrets. `as_name`: for paths, ids and tags, whose marks must be valid
        names and differ for two secrets. `keeps_lines`: the text has as many lines as before."""
        taken: list[SecretHit] = []
        for _ in range(_ROUNDS):
            # A mark may contain a keyword of a rule that `narrowed` left out.
            hits = (self._wide if any(mark in text for mark in _MARKS) else self).find(text)
            if not hits:
                break
            data, parts, position = text.encode("utf-8", "surrogatepass"), list[bytes](), 0
            for hit in hits:
                parts += [data[position : hit.start], self.mark(hit, as_name=as_name).encode()]
                if keeps_lines:
                    parts.append(b"\n" * data.count(b"\n", hit.start, hit.end))
                position = hit.end
            text = b"".join([*parts, data[position:]]).decode("utf-8", "surrogatepass")
            taken += hits
        return text, taken

    def mark(self, hit: SecretHit, *, as_name: bool) -> str:
        """The mark in place of a secret, in a text or in a name."""
        if as_name:
            return f"redacted-{hit.kind.replace('_', '-')}-{self.sign(hit.value)}"
        return mark_of(hit.kind)


def _readings(text: str, depth: int) -> Iterator[str]:
    """`text` and all of its views, as `find` searches them."""
    yield text
    if not depth or len(text) < SHORTEST:
        return
    data = text.encode("utf-8", "surrogatepass")
    for view in (plain(text, data), unescaped(data), armoured(data), joined(data)):
        if view is not None:
            yield view.text
    for _, _, inner in blobs(data):
        yield from _readings(inner, depth - 1)


def check_policy(policy: Mapping[str, Json]) -> None:
    """Raises UsageError naming the invalid part of `pii_redaction`."""
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
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", item["name"]) or item["name"] in _groups():
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


@cache
def _groups() -> Mapping[str, frozenset[str]]:
    """The kinds that each name in the field `detectors` includes."""
    kinds = frozenset(rule.kind for rule in RULES)
    return {SECRETS: kinds - {EMAIL}, **{kind: frozenset([kind]) for kind in kinds}}


@lru_cache(8)
def _index(kinds: frozenset[str] | None) -> RuleIndex:
    """The index of the rules of these kinds; None for all."""
    return RuleIndex(RULES if kinds is None else [rule for rule in RULES if rule.kind in kinds])


def _chosen(detectors: Sequence[str] | None) -> frozenset[str] | None:
    """The kinds that `detectors` enable; None for all. Raises UsageError."""
    if detectors is None:
        return None
    for n, name in enumerate(detectors):
        if name.removeprefix("-") not in _groups():
            raise UsageError(
                f"pii_redaction.detectors[{n}] {name[:40]!a} is not a detector",
                f"use {SECRETS}, {EMAIL} or a kind such as aws_key; a leading - switches it off",
            )
    if not detectors:
        raise UsageError(
            "pii_redaction.detectors is empty", f'use ["-{SECRETS}", "-{EMAIL}"] to switch all detectors off'
        )
    named = [_groups()[name] for name in detectors if not name.startswith("-")]
    kinds = frozenset().union(*named) if named else frozenset(_groups()) - {SECRETS}
    return kinds.difference(*(_groups()[name[1:]] for name in detectors if name.startswith("-")))


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
"""Ordinary notes of projects, without a secret."""


def _too_wide(patterns: Sequence[Any]) -> frozenset[int]:
    """The indexes of patterns that, with those before them, redact more than half of the characters of a note, without blanks."""
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


def _added(hits: Iterable[SecretHit], view: TextView, known: Sequence[SecretHit]) -> Iterator[SecretHit]:
    """The hits in a view, as ranges of the text, that do not overlap `known` ones, or have a format where these have none."""
    for hit in hits:
        start, end = view.origin(hit.start, hit.end)
        others = [other for other in known if start < other.end and other.start < end]
        is_more = hit.rank < WITH_FORMAT and all(other.rank >= WITH_FORMAT for other in others)
        if is_more or not others:
            yield replace(hit, start=start, end=end)


def _by_rule(rule: SecretRule, data: bytes) -> Iterator[SecretHit]:
    # Imported when a rule matches: it compiles many patterns, and most texts have nothing to check.
    from memcli.safety.secrets.secret_checks import is_secret

    pattern = re2_pattern(rule.pattern)
    position = 0
    if rule.is_table:
        from memcli.safety.secrets.tables import secret_cells

        while (match := pattern.search(data, position)) is not None:
            cells, position = secret_cells(data, data.rfind(b"\n", 0, match.start() + 1) + 1)
            position = max(position, match.end())
            for start, end, _ in cells:
                yield SecretHit(start, end, rule.kind, data[start:end], rule.rank)
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
            yield SecretHit(start, end, rule.kind, data[start:end], rule.rank)
        # A rejected value may be a name with a value of its own.
        position = max(end if is_hit else start, match.start() + 1)


def _by_pattern(name: str, pattern: Any, data: bytes) -> Iterator[SecretHit]:
    for match in pattern.finditer(data):
        start, end = match.span(1) if pattern.groups and match.span(1)[0] >= 0 else match.span()
        if start < end:
            yield SecretHit(start, end, name, data[start:end], len(RULES))
