"""The JSON Schemas of what memcli stores and prints, built from the tables of fields that validate it."""

from __future__ import annotations

from collections.abc import Mapping

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
from memcli.model.shapes import CORE_FIELDS, COUNT, FLAG, MEMORY_FIELDS, POLICY_FIELDS, TEXT, TEXTS, TIME

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NUMBER = {"type": "number"}
_HASH = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_SECTION_FIELDS = (
    "id", "path", "kind", "summary_micro", "summary_short", "summary_long", "relevance", "pinned", "tags", "metadata",
    "created_at", "updated_at",
)  # fmt: skip


def _object(fields: Mapping[str, Json], required: tuple[str, ...]) -> dict[str, Json]:
    return {"type": "object", "properties": dict(fields), "required": list(required)}


def _space(version: int, required: tuple[str, ...]) -> dict[str, Json]:
    fields = {
        "format": {"const": SPACE_FORMAT}, "version": {"const": version}, "space": TEXT,
        "metadata": {"type": "object"}, "policy": _object(POLICY_FIELDS, ()), "updated_at": TEXT,
        "objects": {"type": "array", "items": _object(MEMORY_FIELDS, required)},
    }  # fmt: skip
    return _object(fields, tuple(fields))


_SECTIONS = {
    "type": "array",
    "items": _object(
        {
            **{name: MEMORY_FIELDS[name] for name in _SECTION_FIELDS}, "space": TEXT, "score": _NUMBER, "confidence": _NUMBER,
            "why": {"type": "object", "additionalProperties": _NUMBER}, "triggered": FLAG,
            "matched_by": {"enum": [TRIGGER, ANCHOR, BY_TEXT]}, "procedure": MEMORY_FIELDS["procedure"], "content": {},
        },
        ("id", "path", "kind", "summary_micro"),
    ),
}  # fmt: skip
_RAW = _object({"path": TEXT, "raw": TEXT, "kind": TEXT, "content": {}}, ("path", "raw", "kind"))
_BUNDLE = {
    "space": TEXT, "topic": TEXT, "generated_at": TIME, "global_summary": TEXT, "limit": COUNT, "matched": COUNT,
    "sections": _SECTIONS, "always": _SECTIONS, "raw": {"type": "array", "items": _RAW}, "degraded": FLAG, "withheld": COUNT,
    "withheld_pins": COUNT, "withheld_untrusted": COUNT, "confidence": _NUMBER, "weak": FLAG,
    "period": _object({"name": TEXT, "since": TIME, "until": TIME}, ("name",)),
    "verified": _object({"asked": COUNT, "rejected": COUNT, "model": TEXT, "failure": TEXT}, ("asked",)),
    "reason": {"enum": [NO_MATCH, BELOW_FLOOR, EMPTY_SPACE, ALL_FILTERED, EMPTY_DIFF, BUDGET_TOO_SMALL, ALL_REJECTED]},
}  # fmt: skip
_EXPORT = {
    "format": {"const": EXPORT_FORMAT}, "version": {"const": EXPORT_VERSION}, "space": TEXT,
    "counts": _object({"objects": COUNT, "active": COUNT, "pinned": COUNT}, ("objects", "active", "pinned")),
    "hash": _HASH, "content": _space(FULL_VERSION, CORE_FIELDS), "signature": TEXT,
    "part": _object({"kind": TEXTS, "tag": TEXTS, "under": TEXTS}, ()),
}  # fmt: skip
_SESSION_LINES = [
    _object(
        {**SESSION_FIELDS, "format": {"const": SESSION_FORMAT}, "version": {"const": SESSION_VERSION}},
        ("format", "version", "id", "space"),
    ),
    _object(MESSAGE_FIELDS, ("number", "role", "text")),
    _object(STATE_FIELDS, ("state",)),
]
_TITLED: Mapping[str, tuple[str, Mapping[str, Json]]] = {
    "space": ("A space file", _space(SPACE_VERSION, REQUIRED)),
    # The file leaves out fields with their defaults; every output has all of CORE_FIELDS.
    "object": ("A memory", _object(MEMORY_FIELDS, CORE_FIELDS)),
    "policy": ("The policy of a space", _object(POLICY_FIELDS, ())),
    "bundle": ("A recalled bundle", _object(_BUNDLE, ("space", "sections", "matched"))),
    "export": ("An export", _object(_EXPORT, tuple(name for name in _EXPORT if name not in ("signature", "part")))),
    "session": ("A line of the file of a session", {"oneOf": _SESSION_LINES}),
}
SCHEMAS: Mapping[str, Mapping[str, Json]] = {
    name: {"$schema": _DIALECT, "title": title, **shape} for name, (title, shape) in _TITLED.items()
}
"""The schemas by the names that `memcli schema` takes. A line of a session's file is its header, a message, or a change of
state."""
