"""The JSON Schemas of what memcli stores and prints, made of the tables that check it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.codec.bundle import FORMAT as EXPORT_FORMAT
from memcli.codec.bundle import VERSION as EXPORT_VERSION
from memcli.codec.memory import REQUIRED
from memcli.codec.session import FORMAT as SESSION_FORMAT
from memcli.codec.session import VERSION as SESSION_VERSION
from memcli.codec.space import FORMAT as SPACE_FORMAT
from memcli.codec.space import FULL_VERSION
from memcli.codec.space import VERSION as SPACE_VERSION
from memcli.model.conversation import MESSAGE_FIELDS, SESSION_FIELDS, STATE_FIELDS
from memcli.model.memory import Json
from memcli.model.recall import (
    ALL_FILTERED,
    ALL_REJECTED,
    ANCHOR,
    BELOW_FLOOR,
    BUDGET_TOO_SMALL,
    EMPTY_DIFF,
    EMPTY_SPACE,
    NO_MATCH,
    TRIGGER,
)
from memcli.model.recall import TEXT as BY_TEXT
from memcli.model.shapes import (
    CORE_FIELDS,
    COUNT,
    FLAG,
    MEMORY_FIELDS,
    POLICY_FIELDS,
    TEXT,
    TEXTS,
    TIME,
)

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = {"type": "number"}
_HASH = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_SECTION_FIELDS = (
    "id", "path", "kind", "summary_micro", "summary_short", "summary_long", "relevance", "pinned", "tags", "metadata",
    "created_at", "updated_at",
)  # fmt: skip


def memory_schema() -> dict[str, Json]:
    """A memory, as every output has it."""
    return _document("A memory", _object(MEMORY_FIELDS, CORE_FIELDS))


def policy_schema() -> dict[str, Json]:
    """The policy of a space."""
    return _document("The policy of a space", _object(POLICY_FIELDS, ()))


def space_schema() -> dict[str, Json]:
    """A space file."""
    return _document("A space file", _space(SPACE_VERSION, REQUIRED))


def bundle_schema() -> dict[str, Json]:
    """The answer of `memcli recall --json`."""
    section = {name: MEMORY_FIELDS[name] for name in _SECTION_FIELDS}
    explained = {
        **section, "space": TEXT, "score": _NUMBER, "confidence": _NUMBER, "why": {"type": "object", "additionalProperties": _NUMBER},
        "triggered": FLAG, "matched_by": {"enum": [TRIGGER, ANCHOR, BY_TEXT]},
        "procedure": MEMORY_FIELDS["procedure"], "content": {},
    }  # fmt: skip
    sections = _list(_object(explained, ("id", "path", "kind", "summary_micro")))
    raw = _object({"path": TEXT, "raw": TEXT, "kind": TEXT, "content": {}}, ("path", "raw", "kind"))
    fields = {
        "space": TEXT, "topic": TEXT, "generated_at": TIME, "global_summary": TEXT, "limit": COUNT, "matched": COUNT,
        "sections": sections, "always": sections, "raw": _list(raw), "degraded": FLAG, "withheld": COUNT,
        "withheld_pins": COUNT, "withheld_untrusted": COUNT, "confidence": _NUMBER, "weak": FLAG,
        "period": _object({"name": TEXT, "since": TIME, "until": TIME}, ("name",)),
        "verified": _object({"asked": COUNT, "rejected": COUNT, "model": TEXT, "failure": TEXT}, ("asked",)),
        "reason": {"enum": [NO_MATCH, BELOW_FLOOR, EMPTY_SPACE, ALL_FILTERED, EMPTY_DIFF, BUDGET_TOO_SMALL, ALL_REJECTED]},
    }  # fmt: skip
    return _document("A recalled bundle", _object(fields, ("space", "sections", "matched")))


def export_schema() -> dict[str, Json]:
    """A bundle made by `memcli export`."""
    counts = _object({"objects": COUNT, "active": COUNT, "pinned": COUNT}, ("objects", "active", "pinned"))
    fields = {
        "format": {"const": EXPORT_FORMAT}, "version": {"const": EXPORT_VERSION}, "space": TEXT, "counts": counts,
        "hash": _HASH, "content": _space(FULL_VERSION, CORE_FIELDS), "signature": TEXT,
        "part": _object({"kind": TEXTS, "tag": TEXTS, "under": TEXTS}, ()),
    }  # fmt: skip
    required = tuple(name for name in fields if name not in ("signature", "part"))
    return _document("An export", _object(fields, required))


def session_schema() -> dict[str, Json]:
    """A line of the file of a session: the first, a message, or a change of state."""
    fields = {**SESSION_FIELDS, "format": {"const": SESSION_FORMAT}, "version": {"const": SESSION_VERSION}}
    lines = [
        _object(fields, ("format", "version", "id", "space")),
        _object(MESSAGE_FIELDS, ("number", "role", "text")),
        _object(STATE_FIELDS, ("state",)),
    ]
    return _document("A line of the file of a session", {"oneOf": lines})


SCHEMAS: Mapping[str, Callable[[], dict[str, Json]]] = {
    "space": space_schema,
    "object": memory_schema,
    "policy": policy_schema,
    "bundle": bundle_schema,
    "export": export_schema,
    "session": session_schema,
}


def _space(version: int, required: tuple[str, ...]) -> dict[str, Json]:
    fields = {
        "format": {"const": SPACE_FORMAT}, "version": {"const": version}, "space": TEXT,
        "metadata": {"type": "object"}, "policy": _object(POLICY_FIELDS, ()), "updated_at": TEXT,
        "objects": _list(_object(MEMORY_FIELDS, required)),
    }  # fmt: skip
    return _object(fields, tuple(fields))


def _document(title: str, shape: Mapping[str, Json]) -> dict[str, Json]:
    return {"$schema": _DIALECT, "title": title, **shape}


def _object(fields: Mapping[str, Json], required: tuple[str, ...]) -> dict[str, Json]:
    return {"type": "object", "properties": dict(fields), "required": list(required)}


def _list(items: Json) -> dict[str, Json]:
    return {"type": "array", "items": items}
