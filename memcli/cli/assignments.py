"""Parse `--set field=value` options."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from memcli.codec.canonical import decode_argument
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.shapes import MEMORY_FIELDS, Shape, part_of

_OTHER_NAMES = {
    "text": "raw",
    "body": "raw",
    "type": "kind",
    "title": "path",
    "summary": "summary_short",
    "expires": "valid_until",
}
_PLAIN = ("number", "integer", "boolean")


Pairs = list[str] | Mapping[str, Json] | None
"""`name=value` arguments; a mapping of names to values, if a program gives them."""


def assignments(pairs: Pairs, fields: Mapping[str, Shape] | None = None) -> dict[str, Json]:
    """Parses `field=value` arguments: text fields as text, other fields as JSON. `field=null` resets to the default.

    If `fields` is given, `field.part=value` sets one part of an object field. The values of a mapping are taken as they are.
    Raises UsageError if a value that must be JSON is not.
    """
    shapes = MEMORY_FIELDS if fields is None else fields
    given = split_pairs(pairs, "--set")
    for name in given:
        if name not in shapes and (fields is None or name.partition(".")[0] not in shapes):
            raise no_field(name, shapes)
    if isinstance(pairs, Mapping):
        return given
    return {name: _value(name, value, part_of(name, shapes)[1]) for name, value in given.items()}


def no_field(name: str, known: Collection[str], where: str = "") -> UsageError:
    """What to raise for a field that is none of those that are `known`."""
    from difflib import get_close_matches

    meant = _OTHER_NAMES.get(name) or next(iter(get_close_matches(name, sorted(known), 1)), "")
    hint = f"did you mean {meant!r}?" if meant in known else f"fields: {', '.join(sorted(known))}"
    return UsageError(f"{where}no field {name!r}", hint)


def _value(name: str, value: str, shape: Shape) -> Json:
    if value == "null":
        return None
    if shape.get("type") == "string":
        return value
    if name in ("anchors", "triggers") and not value.lstrip().startswith("["):
        return [value]
    if name == "tags" and not value.lstrip().startswith("["):
        return [tag for tag in value.split(",") if tag.strip()]
    try:
        return decode_argument(value, f"--set {name}")
    except UsageError:
        if shape.get("type") in _PLAIN or (not shape.get("type") and value[:1].isalpha()):
            return value  # text, which is right where any JSON is, and else is refused by the field's name
        raise


def split_pairs(pairs: Pairs, option: str) -> dict[str, Any]:
    """Splits `name=value` arguments into a mapping. Raises UsageError if `=` is missing."""
    if isinstance(pairs, Mapping):
        return dict(pairs)
    found = {}
    for pair in pairs or []:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise UsageError(f"{option} {pair!r} is not name=value", f"write {option} name=value")
        found[name.strip()] = value
    return found
