"""Redaction of a whole memory: the fields that are text, those that are names, and those without text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memcli.errors import UsageError
from memcli.model.memory import Json, Memory
from memcli.record import Record, defaults, replace
from memcli.regex import regex
from memcli.safety.secrets.detector import Detector
from memcli.safety.secrets.rules import EMAIL, RULES, WITH_FORMAT, SecretHit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FLAGS = "pii_flags"
_NAMES = frozenset(["id", "path", "path_hint", "project", "tags", "superseded_by"])
_NAMED = regex(r"links\[\d+\]\.to\Z|metadata\.(?:source|was)\Z|provenance\.files\[\d+\]\Z|anchors\[\d+\]\.file\Z")
"""Nested fields that are names: ids and files."""
_CHUNK = regex(r"chunks\[\d+\]\.text\Z")
_NO_TEXT = frozenset(["relevance", "scope", "created_at", "updated_at", "valid_from", "valid_until"])
_MACHINE_MADE: Mapping[str, frozenset[str]] = {
    "metadata": frozenset(["hash", FLAGS]),
    "provenance": frozenset(["commit"]),
    "anchors": frozenset(["hash", "commit"]),
    "links": frozenset(["created_at"]),
}
_MAX_FILES = 100
_SHORTEST_FORM, _LONGEST_FORM = 12, 100
"""The number of characters at which a part of a secret reveals it, and the most that are searched."""
_DIGEST = regex(r"(?:sha256:)?[0-9a-f]{6,64}\Z|\d{4}-\d\d-\d\d[0-9T:.Z+-]*\Z")
_MARK_SIZE = 8
_FLAG = regex(r"[a-z0-9_]{1,64}:(?:[0-9a-f]{8}|[1-9]\d{0,6})\Z")
_MAX_DEPTH = 200
# Empty lines, so that no view joins two fields: a hash and the name of the next field looked like one wrapped word.
_APART = " \n\n\n"
_NAME_IN_JSON = regex(r'"([^"\s]*@[^"\s]*)"')
_FEW_PATHS = 100
_HEX = frozenset("0123456789abcdefABCDEF")
_FIELDS = tuple(defaults(Memory))


class Redacted(Record):
    """Fields without secrets. `kinds` counts the redacted secrets by kind; `flags` are these counts as `kind:count`, and with
    a shared key also `kind:mark`, a keyed hash of 8 hex digits."""

    fields: dict[str, Json]
    flags: tuple[str, ...] = ()
    kinds: Mapping[str, int] = {}


def redact_fields(detector: Detector, given: Mapping[str, Json]) -> Redacted:
    """The fields of a memory from a user or a source, without secrets."""
    walk = _walk(detector, given)
    if walk is None:
        return Redacted(dict(given))
    replaced, in_names = walk.with_names(given)
    clean = walk.fields(replaced)
    hits = [hit for _, found in walk.found for hit in found]
    # The old name of a file may be in no field that is searched after it was replaced.
    counted = {hit.value for hit in hits}
    hits += [hit for value, hit in in_names.items() if value not in counted]
    clean = _without_forms(detector, clean, hits)
    kinds = Counter(hit.kind for hit in hits)
    flags = [f"{kind}:{count}" for kind, count in kinds.items()]
    # Only a key that a team shares: with their own keys, two machines would write different flags for one memory.
    if detector.has_shared_key:
        flags += {f"{hit.kind}:{detector.sign(hit.value)}" for hit in hits}
    if isinstance(clean.get("metadata"), Mapping) or flags:
        metadata = clean.get("metadata", {})
        if isinstance(metadata, Mapping):
            clean["metadata"] = with_flags(metadata, flags)
    return Redacted(clean, tuple(sorted(flags)), dict(kinds))


def redact_text(detector: Detector, text: str) -> tuple[str, Mapping[str, int]]:
    """A text without secrets and with the same number of lines, to be cut into several memories, and how many secrets of each
    kind it had."""
    # The parts are redacted again, but a part alone may lack what makes a line a secret: the header of a key.
    narrow = detector.narrowed(text)
    clean, hits = narrow.redact(text, keeps_lines=True) if narrow else (text, ())
    return clean, Counter(hit.kind for hit in hits)


def _without_forms(detector: Detector, fields: Mapping[str, Json], hits: Sequence[SecretHit]) -> dict[str, Json]:
    """The fields without names made from a secret before it was found: a path, a tag or a title of its words, with any
    separators, and cut at the end of a path segment. Secrets that may be ordinary words, such as passwords, are not
    searched."""
    clean = dict(fields)
    for hit in {hit.value: hit for hit in hits}.values():
        value = hit.value.decode("utf-8", "replace")
        parts = [re.escape(char) for char in re.sub(r"[\W_]+", " ", value).strip()[:_LONGEST_FORM]]
        atoms = [r"[\W_]+" if part == r"\ " else part for part in parts]
        least = len(re.sub(r"[\W_]+", " ", value.partition("@")[0])) + 2 if hit.kind == EMAIL else _SHORTEST_FORM
        if len(atoms) < least or (hit.kind != EMAIL and hit.rank in range(WITH_FORMAT, len(RULES))):
            continue
        cut = "|".join("".join(atoms[:length]) for length in range(len(atoms) - 1, least - 1, -1))
        ends = rf"{''.join(atoms)}(?![^\W_])" + (rf"|(?:{cut})(?=[/~]|\Z)" if cut else "")
        form = re.compile(rf"(?<![^\W_])(?:{ends})", re.IGNORECASE)
        for name, given in clean.items():
            mark = detector.mark(hit, as_name=name in _NAMES)
            if isinstance(given, str):
                clean[name] = form.sub(mark, given)
            elif name == "tags" and isinstance(given, list | tuple):
                clean[name] = [form.sub(mark, tag) if isinstance(tag, str) else tag for tag in given]
    return clean


def with_flags(metadata: Mapping[str, Json], flags: Iterable[str]) -> dict[str, Json]:
    """`metadata` with `flags` added to its `pii_flags`: of each kind the highest count, and every mark."""
    known = metadata.get(FLAGS)
    before = [flag for flag in known if isinstance(flag, str)] if isinstance(known, list | tuple) else []
    counts: dict[str, int] = {}
    marks: set[str] = set()
    for flag in filter(_FLAG.match, [*before, *flags]):
        kind, _, detail = flag.partition(":")
        if len(detail) == _MARK_SIZE:
            marks.add(flag)
        else:
            counts[kind] = max(int(detail), counts.get(kind, 0))
    merged = sorted([*marks, *(f"{kind}:{count}" for kind, count in counts.items())])
    rest = {name: value for name, value in metadata.items() if name != FLAGS}
    return {**rest, FLAGS: merged} if merged else rest


def clean_memories(detector: Detector, memories: Sequence[Memory], only: Sequence[str] = ()) -> Sequence[Memory]:
    """The memories without secrets, which hand-edited files may have. Checks the fields `only`, or all.

    One fast check of all memories together mostly finds nothing to redact.
    """
    names = only or _FIELDS
    looked_at = [{name: getattr(memory, name) for name in names} for memory in memories]
    if not detector.is_suspect(_all_text([_text_of(data) for data in looked_at])):
        return memories
    cleaned = []
    for memory, data in zip(memories, looked_at, strict=True):
        changed: dict[str, Any] = {}
        # A command reads a memory several times: for the index, for its vectors and to show it.
        if (mark := hash(repr(data))) in detector.clean:
            cleaned.append(memory)
            continue
        for name, value in clean_values(detector, data).items():
            clean = tuple(value) if isinstance(data[name], tuple) else value
            if clean != data[name]:
                changed[name] = clean
        if not changed:
            detector.clean.add(mark)
        cleaned.append(replace(memory, **changed) if changed else memory)
    return cleaned


def clean_field(detector: Detector, name: str, value: Json) -> Json:
    """The value of a field, or of a key of `metadata` or `policy` as in `metadata.note`, without secrets."""
    top, _, key = name.partition(".")
    clean = clean_values(detector, {top: {key: value} if key else value})[top]
    return next(iter(clean.values()), None) if key and isinstance(clean, Mapping) else clean


def clean_values(detector: Detector, data: Mapping[str, Json]) -> dict[str, Json]:
    """Named values, such as the metadata of a space, without secrets."""
    walk = _walk(detector, data)
    return walk.fields(data) if walk else dict(data)


def clean_paths(detector: Detector, paths: Sequence[str]) -> list[str]:
    """Paths without secrets. A fast check of all, then of halves, finds the few that must be searched."""
    if not detector.is_suspect("\n".join([f"path: {path}" for path in paths])):
        return list(paths)
    if len(paths) > _FEW_PATHS:
        half = len(paths) // 2
        return clean_paths(detector, paths[:half]) + clean_paths(detector, paths[half:])
    return [str(clean_values(detector, {"path": path})["path"]) for path in paths]


def redacted_file(data: bytes) -> bytes:
    """The bytes of a space file, which may be damaged, without secrets from an edit by hand."""
    detector = Detector({}, lambda _: "0" * 8)
    text, _ = detector.redact(data.decode("utf-8", "surrogateescape"))
    walk = _Walk(detector)
    clean = _NAME_IN_JSON.sub(lambda match: f'"{walk.clean_name(match[1])[0]}"', text)
    return clean.encode("utf-8", "surrogateescape")


def find_in_memory(detector: Detector, data: Mapping[str, Json]) -> list[tuple[str, str, str]]:
    """The secrets in the fields of a stored memory, in order of field: the field, the kind and the mark, never the secret."""
    walk = _walk(detector, data)
    if walk is None:
        return []
    walk.fields(data)
    return [(name, hit.kind, detector.sign(hit.value)) for name, hits in walk.found for hit in hits]


def _walk(detector: Detector, data: Mapping[str, Json]) -> _Walk | None:
    """A pass over the fields with only the rules that may find something in them; None when there are none."""
    narrow = detector.narrowed(_all_text(_text_of(data)))
    return _Walk(narrow) if narrow else None


def _text_of(data: Mapping[str, Json]) -> dict[str, Json]:
    """The fields that may have text, without digests and times, so that these need no check."""
    rest = {name: value for name, value in data.items() if name not in _NO_TEXT}
    metadata = rest.get("metadata")
    if isinstance(metadata, Mapping):
        rest["metadata"] = {
            name: value for name, value in metadata.items() if not _is_machine_made("metadata", name, value)
        }
    return rest


def _is_machine_made(owner: str, name: str, value: Json) -> bool:
    """Whether the value under `name` is a digest, a time or a flag as memcli makes it. Its form is checked too, because anybody
    may write such a field."""
    if name not in _MACHINE_MADE.get(owner, ()):
        return False
    parts = value if isinstance(value, list | tuple) and name == FLAGS else [value]
    pattern = _FLAG if name == FLAGS else _DIGEST
    return all(isinstance(part, str) and pattern.match(part) for part in parts)


def _all_text(value: Json) -> str:
    """Every text in `value` after its name, as `name: text`, so that one check finds secrets by either. No rule's view joins
    texts over the lines between them."""
    texts: list[str] = []
    stack: list[tuple[str, Json]] = [("", value)]
    while stack:
        name, item = stack.pop()
        if isinstance(item, str):
            texts.append(f"{name}: {item}")
            if _HEX.issuperset(item[:12].lstrip()[:4]):  # a dump is known by the beginnings of its lines
                texts.append(item)
        elif isinstance(item, Mapping):
            texts += [str(key) for key, inner in item.items() if not isinstance(inner, str)]
            stack += [(str(key), inner) for key, inner in item.items()]
        elif isinstance(item, list | tuple):
            stack += [(name, inner) for inner in item]
    return _APART.join(texts)


class _Walk:
    """A pass over the fields of a memory; `found` has the redacted secrets, by field."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self.found: list[tuple[str, list[SecretHit]]] = []

    def fields(self, given: Mapping[str, Json]) -> dict[str, Json]:
        """The redacted fields of the top level. Values without text are unchanged. The name after `x_` is the user's text."""
        clean = {}
        for name, value in given.items():
            own = f"x_{self._text(name[2:], name, is_name=True)}" if name.startswith("x_") else name
            holds_text = name not in _NO_TEXT
            if holds_text and not isinstance(value, str):
                holds_text = self._detector.is_suspect(_all_text(_text_of({name: value})))
            if not holds_text:
                clean[own] = value
            elif name == "tags" and isinstance(value, list | tuple):
                clean[own] = [self._text(tag, name, is_name=True) if isinstance(tag, str) else tag for tag in value]
            else:
                clean[own] = self._value(value, name, name, 0)
        return clean

    def with_names(self, given: Mapping[str, Json]) -> tuple[Mapping[str, Json], Mapping[bytes, SecretHit]]:
        """The fields with the names of the memory's files redacted everywhere, and the secrets of these names by their values. In
        a text alone, the rules do not take an address before an extension or a slash for one."""
        metadata, provenance = given.get("metadata"), given.get("provenance")
        named = [metadata.get("source"), metadata.get("was")] if isinstance(metadata, Mapping) else []
        files = provenance.get("files") if isinstance(provenance, Mapping) else ()
        named += files[:_MAX_FILES] if isinstance(files, list | tuple) else ()
        cleaned = {name: self.clean_name(name) for name in named if isinstance(name, str)}
        names = {name: clean for name, (clean, _) in cleaned.items() if clean != name}
        if not names:
            return given, {}
        pattern = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))

        def replaced(value: Json) -> Json:
            return pattern.sub(lambda match: names[match[0]], value) if isinstance(value, str) else value

        inner = {k: replaced(value) for k, value in metadata.items()} if isinstance(metadata, Mapping) else metadata
        outer = {name: replaced(value) for name, value in given.items() if name != "path"}
        clean = {**given, **outer, **({"metadata": inner} if "metadata" in given else {})}
        return clean, {hit.value: hit for _, hits in cleaned.values() for hit in hits}

    def _value(self, value: Json, name: str, where: str, depth: int) -> Json:
        if isinstance(value, str):
            return self._named(value, name, where) if depth else self._text(value, where, is_name=name in _NAMES)
        if depth > _MAX_DEPTH:
            raise UsageError(f"{where[:60]} is nested deeper than {_MAX_DEPTH}", "flatten it, or store it as text")
        if isinstance(value, list | tuple):
            return [self._value(item, name, f"{where}[{n}]", depth + 1) for n, item in enumerate(value)]
        if not isinstance(value, Mapping):
            return value
        clean: dict[str, Json] = {}
        owner = where.partition("[")[0]
        for own, inner in value.items():
            if _is_machine_made(owner, own, inner):
                clean[own] = inner
                continue
            is_plain = isinstance(inner, str) and not self._detector.is_suspect(f"{own}: {inner}")
            key = own if is_plain else self._text(own, where)
            while key in clean:  # two secret keys have equal marks, and no value may be lost
                key += "~"
            clean[key] = inner if is_plain else self._value(inner, own, f"{where}.{key}", depth + 1)
        return clean

    def _named(self, value: str, name: str, where: str) -> str:
        """The redacted text of a named value: in `{"password": "..."}` the name makes it a secret."""
        if _NAMED.match(where):
            return self._text(value, where, is_name=True)
        clean = self._text(value, where)
        if _CHUNK.match(where):
            return clean
        head = f"{name}: "
        redacted, hits = self._detector.redact(head + clean)
        if hits and redacted.startswith(head):
            self.found.append((where, hits))
            return redacted[len(head) :]
        return clean

    def _text(self, text: str, where: str, *, is_name: bool = False) -> str:
        clean, hits = self.clean_name(text) if is_name else self._detector.redact(text)
        if hits:
            self.found.append((where, hits))
        return clean

    def clean_name(self, name: str) -> tuple[str, list[SecretHit]]:
        """A path, an id or a tag without secrets, and the secrets. Each segment is searched for addresses by itself and without
        its extension: in a text, the rules do not take an address beside a slash or an extension for one."""
        clean, found = self._detector.redact(name, as_name=True)
        if "@" not in clean:
            return clean, found
        parts = []
        for part in clean.split("/"):
            stem, dot, suffix = part.rpartition(".")
            redacted, hits = self._detector.redact(part, as_name=True)
            if not hits and stem:
                redacted, hits = self._detector.redact(stem, as_name=True)
                redacted += dot + suffix
            parts.append(redacted)
            found = [*found, *hits]
        return "/".join(parts), found
