"""The shapes of stored JSON, as JSON Schema, and the check of a value against one.

`memcli schema` prints the same tables by which all input is checked. The check supports only the keywords that the tables
use: type, enum, minimum, maximum, format (date-time), items, properties, additionalProperties, required, minLength.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.clock import normalize_time
from memcli.errors import UsageError
from memcli.model.memory import EXTRACTED, LARGEST, SESSION
from memcli.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

Shape: TypeAlias = "Mapping[str, Any]"

TEXT: Shape = {"type": "string"}
TIME: Shape = {"type": "string", "format": "date-time"}
UNIT: Shape = {"type": "number", "minimum": 0, "maximum": 1}
COUNT: Shape = {"type": "integer", "minimum": 0, "maximum": LARGEST}
ORDINAL: Shape = {**COUNT, "minimum": 1}
DAYS: Shape = {"type": "number", "minimum": 0}
FLAG: Shape = {"type": "boolean"}
ANY: Shape = {}
TEXTS: Shape = {"type": "array", "items": TEXT}
RANGE: Shape = {"type": "array", "items": COUNT}

KINDS = (
    "guide", "config", "decision", "log", "code", "diff", "fact", "preference", "procedure", "correction",
    "negative", "entity", "constraint", "goal", "episode", "inferred", "custom",
)  # fmt: skip
RELEVANCES = ("high", "medium", "low")
SCOPES = ("project", "global", SESSION)
OBSERVED = "observed"
"""The source of memories that were read from files and commits, not stored by a user or an agent."""
READ_SOURCES = (OBSERVED, "imported")
"""The sources of memories that are read again and again: finding one unchanged does not confirm it."""
SOURCES = ("user_stated", "user_corrected", OBSERVED, "inferred", EXTRACTED, "imported")
LLM = "llm"
COMPACTIONS = ("fifo", "value", LLM)
VISIBILITIES = ("project", "private", "derived")
PROMOTIONS = ("manual", "auto")
UPKEEPS = ("manual", "auto")
DENY = "deny"
ENFORCEMENTS = ("warn", DENY)
RELATIONS = ("relates_to", "supersedes", "contradicts", "derived_from", "depends_on")


def _object(required: list[str] | None = None, **properties: Shape) -> Shape:
    shape: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        shape["required"] = required
    return shape


def _list(item: Shape) -> Shape:
    return {"type": "array", "items": item}


def _whole(least: int, most: int) -> Shape:
    return {"type": "integer", "minimum": least, "maximum": most}


QUOTA: Shape = {**_object(tokens_per_day=COUNT, usd_per_day=DAYS), "additionalProperties": False}
"""The limits of a provider."""

EDITED, ADDED, BY_KEY, OF_TEXT = "edited", "added", "by key", "of text"
"""How a merge makes one value of two versions of a field: EDITED takes that of the side that changed it; ADDED keeps the items
of the base and those that either side added; BY_KEY merges an object key by key; OF_TEXT takes that of the side whose text is
taken."""


class FieldRow(Record):
    """The properties of a field of a memory, for the schema, the codec, the check of input and the merge.

    `is_core`: the field is in every memory of version 1 of the space file; version 2 omits it where it has its default or the
    value of the field `like`.
    """

    shape: Shape
    merging: str = EDITED
    is_core: bool = False
    like: str = ""


FIELDS: Mapping[str, FieldRow] = {
    "id": FieldRow({**TEXT, "minLength": 1}, is_core=True),
    "path": FieldRow({**TEXT, "minLength": 1}, is_core=True),
    # Not an enumeration: any word is a kind, and these are those that memcli knows more of.
    "kind": FieldRow({**TEXT, "minLength": 1, "examples": list(KINDS)}, is_core=True),
    "raw": FieldRow(TEXT, is_core=True),
    "summary_micro": FieldRow(TEXT, OF_TEXT, is_core=True, like="raw"),
    "summary_short": FieldRow(TEXT, OF_TEXT, is_core=True, like="summary_micro"),
    "summary_long": FieldRow(TEXT, OF_TEXT, is_core=True, like="summary_short"),
    "tags": FieldRow(TEXTS, ADDED, is_core=True),
    "metadata": FieldRow(
        _object(
            hash=TEXT, space=TEXT, pii_flags={"type": "array"}, untrusted=TEXTS, accepted=TEXT,
            conflicts={"type": "array"},
        ),
        BY_KEY, is_core=True,
    ),
    "relevance": FieldRow({**TEXT, "enum": list(RELEVANCES)}, is_core=True),
    "pinned": FieldRow(FLAG, is_core=True),
    "created_at": FieldRow(TIME, is_core=True),
    "updated_at": FieldRow(TIME, is_core=True),
    "content": FieldRow(ANY),
    "importance": FieldRow(UNIT),
    "confidence": FieldRow(UNIT),
    "trust": FieldRow(UNIT),
    "strength": FieldRow(COUNT),
    "version": FieldRow(ORDINAL),
    "active": FieldRow(FLAG),
    "superseded_by": FieldRow(TEXT),
    "valid_from": FieldRow(TIME),
    "valid_until": FieldRow(TIME),
    "season": FieldRow({**TEXT, "minLength": 1}),
    "scope": FieldRow({**TEXT, "enum": list(SCOPES)}),
    "provenance": FieldRow(
        _object(
            source={**TEXT, "enum": list(SOURCES)},
            session=TEXT, messages=RANGE, files=TEXTS, commit=TEXT, snippet=TEXT, reason=TEXT,
        ),
        BY_KEY,
    ),
    "links": FieldRow(
        _list(
            _object(
                ["to", "relation"],
                to=TEXT, relation={**TEXT, "enum": list(RELATIONS)}, weight=UNIT, created_at=TIME,
                by=TEXT, accepted=FLAG, holds=FLAG,
            )
        ),
        ADDED,
    ),
    "triggers": FieldRow(TEXTS, ADDED),
    "enforce": FieldRow(FLAG),
    "procedure": FieldRow(_object(trigger=TEXT, steps=TEXTS, prerequisites=TEXTS, warnings=TEXTS), BY_KEY),
    "episode": FieldRow(
        _object(
            title=TEXT, context=TEXT, participants=TEXTS, outcome=TEXT,
            valence={"type": "number", "minimum": -1, "maximum": 1}, significance=UNIT, turns=RANGE,
        ),
        BY_KEY,
    ),
    "chunks": FieldRow(_list(_object(["chunk_id", "text"], chunk_id=TEXT, text=TEXT)), OF_TEXT),
    "context": FieldRow(_list(_object(["text"], source=TEXT, role=TEXT, text=TEXT, similarity={"type": "number"})), ADDED),
    "anchors": FieldRow(_list(_object(["file"], file=TEXT, lines=RANGE, symbol=TEXT, hash=TEXT, commit=TEXT)), ADDED),
}  # fmt: skip
"""The fields of a memory, in the order in which they are printed."""
MEMORY_FIELDS: Mapping[str, Shape] = {name: row.shape for name, row in FIELDS.items()}
CORE_FIELDS = tuple(name for name, row in FIELDS.items() if row.is_core)
LIST_FIELDS = tuple(name for name, shape in MEMORY_FIELDS.items() if shape.get("type") == "array")

POLICY_FIELDS: Mapping[str, Shape] = {
    "ttl_days": {
        **DAYS,
        "description": "`store gc` deletes what nobody has changed for so many days; pinned memories stay.",
    },
    "retention": {
        "type": "object",
        "additionalProperties": DAYS,
        "description": "`ttl_days` by kind, such as `log=30`.",
    },
    "grace_days": {
        **DAYS,
        "description": "How many days `restore` can bring back what was deleted; 0: none of it is kept.",
    },
    "allow_delete": {**FLAG, "description": "Whether rules, imports and `space delete` may delete memories."},
    "max_objects": {**ORDINAL, "description": "The most memories of the space; beyond it `compaction` makes room."},
    "compaction": {
        **TEXT,
        "enum": list(COMPACTIONS),
        "description": "What makes room: the oldest goes, the least valuable goes, or a language model decides.",
    },
    "auto_pin": {
        **_list(_object(kind=TEXT, tag=TEXT, under=TEXT, pattern=TEXT)),
        "description": "New memories that match all parts of one of these rules are pinned.",
    },
    "pii_redaction": {
        **_object(detectors=TEXTS, patterns=_list(_object(["name", "regex"], name=TEXT, regex=TEXT)), allow=TEXTS),
        "description": "What is redacted. A plain list is read as detectors.",
    },
    "review": {**FLAG, "description": "Whether what is remembered waits in the inbox until somebody accepts it."},
    "visibility": {
        **TEXT,
        "enum": list(VISIBILITIES),
        "description": "Tracked by git, on this machine only, or read from the repository and rebuilt at will.",
    },
    "export_path": {
        **TEXT,
        "minLength": 1,
        "description": "A folder, or a .json file, from the top of the project: where `export` writes without --out.",
    },
    "backend": {**TEXT, "minLength": 1, "description": "How recall ranks, unless `--backend` says otherwise."},
    "promote": {
        **TEXT,
        "enum": list(PROMOTIONS),
        "description": "Whether facts of a session that ends go into the space, or into the inbox.",
    },
    "max_episodes": {
        **ORDINAL,
        "description": "The most episodes that are made from sessions; the least important go first.",
    },
    "seasons": {
        "type": "object",
        "additionalProperties": {**TEXT, "minLength": 1},
        "description": "Periods of the year by name, such as `frost=12-01..02-28`, for memories with a `season`.",
    },
    "gaps": {**FLAG, "description": "Whether questions without an answer are recorded, redacted, for `feedback gaps`."},
    "upkeep": {
        **TEXT,
        "enum": list(UPKEEPS),
        "description": "Whether `store maintain` runs by itself, in the background, or only when asked.",
    },
    "quota": {
        "type": "object",
        "additionalProperties": QUOTA,
        "description": "The most tokens and US dollars a day for each provider of language models.",
    },
    "agents": {
        **_object(enforce={**TEXT, "enum": list(ENFORCEMENTS)}),
        "additionalProperties": False,
        "description": "`enforce`: whether the hooks of agents warn of a tool call that an enforced memory forbids, or deny it.",
    },
    "max_chars": {
        **_whole(40, LARGEST),
        "description": "The most characters that a bundle prints of one memory, unless its full text is asked for.",
    },
    "recent_messages": {
        **_whole(1, 10_000),
        "description": "How many of the last messages of a session stay as they are; older ones form chunks.",
    },
    "chunk_size": {**_whole(2, 1_000), "description": "How many messages form a chunk."},
    "max_chunks": {
        **_whole(2, 10_000),
        "description": "Beyond so many chunks of a session, the oldest two are merged.",
    },
    "promote_confidence": {
        **UNIT,
        "description": "The least confidence of the facts of a session that are promoted, or proposed for it.",
    },
    "archive_below": {**UNIT, "description": "`store maintain` archives what is worth less than this."},
    "archive_days": {**DAYS, "description": "`store maintain` archives nothing that is younger."},
}


def spelled_out(policy: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a policy without short forms: a list as `pii_redaction` is the list of its detectors."""
    given = policy.get("pii_redaction")
    return {**policy, "pii_redaction": {"detectors": given}} if isinstance(given, list) else dict(policy)


_PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list, tuple),
    "object": (dict,),
}


_TYPES: Mapping[str, str] = {
    "boolean": "true or false",  # first: a bool is an int in Python
    "integer": "a whole number",
    "string": "text",
    "number": "a number",
    "array": "a list",
    "object": "an object",
}


def problem(value: Any, shape: Shape, at: str) -> str | None:
    """The error of `value`, the field named `at`, or None when it fits `shape`."""
    wanted = shape.get("type")
    if not isinstance(wanted, str) or wanted not in _PYTHON_TYPES:  # no type, or a list of types, which no table has
        return None
    if not isinstance(value, _PYTHON_TYPES[wanted]) or (wanted in ("integer", "number") and isinstance(value, bool)):
        named = (words for name, words in _TYPES.items() if isinstance(value, _PYTHON_TYPES[name]))
        given = "null" if value is None else next(named, type(value).__name__)
        return f"{at} must be {_TYPES[wanted]}, not {given}"
    check = _CHECKS.get(wanted)
    return check(value, shape, at) if check else None


def check_fields(data: Mapping[str, Any], fields: Mapping[str, Shape]) -> None:
    """Checks those of `data` that are in `fields`. Raises UsageError naming the first invalid one."""
    for name in sorted(data.keys() & fields.keys()):
        wrong = problem(data[name], fields[name], name)
        if wrong:
            raise UsageError(wrong, "see `memcli schema object`")


def part_of(name: str, fields: Mapping[str, Shape]) -> tuple[list[str], Shape]:
    """The keys that lead to a part of a field, such as `quota.openai.usd_per_day`, and the shape of that part.

    Where an object may have any key and its values have no parts, the rest of the name is one key, with its dots. Raises
    UsageError for a part of a field that has none.
    """
    keys: list[str] = []
    shape: Shape = {"type": "object", "properties": fields}
    rest, more = name, "."
    while more:
        known, other = shape.get("properties", {}), shape.get("additionalProperties") or ANY
        key, more, below = rest.partition(".")
        if more and key not in known and other.get("type") != "object":
            key, more, below = rest, "", ""
        if not key or shape.get("type") != "object":
            raise UsageError(f"policy.{'.'.join(keys)} has no key {rest[:40]!a}", "see `memcli schema policy`")
        keys.append(key)
        shape, rest = known.get(key, other), below
    return keys, shape


def _text_problem(value: str, shape: Shape, at: str) -> str | None:
    # JSON and Python allow lone surrogates, which cannot be written as UTF-8.
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"{at} is not valid Unicode"
    if len(value) < shape.get("minLength", 0):
        return f"{at} must not be empty"
    if "enum" in shape and value not in shape["enum"]:
        return f"{at} must be one of {', '.join(shape['enum'])}, not {value[:40]!a}"
    if shape.get("format") == "date-time":
        try:
            normalize_time(value)
        except UsageError:
            return f"{at} must be a time such as 2026-01-31T09:30:00Z, not {value[:40]!a}"
    return None


def _number_problem(value: float, shape: Shape, at: str) -> str | None:
    low, high = shape.get("minimum"), shape.get("maximum")
    # `not (a <= b)` rather than `a > b`, so that NaN is out of every range.
    if (low is not None and not low <= value) or (high is not None and not value <= high):
        least, most = f"at least {low}", f"at most {high}"
        bounds = f"between {low} and {high}" if high not in (None, LARGEST) else most if value > LARGEST else least
        return f"{at} must be {bounds}, not {value}"
    return None


def _object_problem(value: Mapping[str, Any], shape: Shape, at: str) -> str | None:
    for name in shape.get("required", ()):
        if name not in value:
            return f"{at}.{name} is missing"
    properties: Mapping[str, Shape] = shape.get("properties", {})
    others = shape.get("additionalProperties", ANY)
    if others is False and (unknown := sorted(value.keys() - properties.keys())):
        return f"{at} has no part {unknown[0][:40]!a}"
    other: Shape = ANY if isinstance(others, bool) else others
    found = (problem(value[name], properties.get(name, other), f"{at}.{name}") for name in sorted(value))
    return next(filter(None, found), None)


def _list_problem(value: Sequence[Any], shape: Shape, at: str) -> str | None:
    found = (problem(item, shape.get("items", ANY), f"{at}[{n}]") for n, item in enumerate(value))
    return next(filter(None, found), None)


_CHECKS: Mapping[str, Callable[[Any, Shape, str], str | None]] = {
    "string": _text_problem,
    "integer": _number_problem,
    "number": _number_problem,
    "array": _list_problem,
    "object": _object_problem,
}
