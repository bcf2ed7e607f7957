"""`--set field=value`: one way to write a field on the command line."""

from __future__ import annotations

from memcli.codec.canonical import decode_argument
from memcli.errors import UsageError
from memcli.model.memory import Json
from memcli.model.shapes import MEMORY_FIELDS, Shape


def assignments(pairs: list[str] | None, fields: dict[str, Shape] | None = None) -> dict[str, Json]:
    """`field=value` arguments as JSON: text where the field is text, else JSON. `field=null` takes the default.

    Raises UsageError for a value that is no JSON where it must be.
    """
    shapes = MEMORY_FIELDS if fields is None else fields
    given = split_pairs(pairs, "--set")
    for name in given:
        if name not in shapes:
            raise UsageError(f"no field {name!r}", f"fields: {', '.join(sorted(shapes))}")
    return {name: _value(name, value, shapes[name]) for name, value in given.items()}


def _value(name: str, value: str, shape: Shape) -> Json:
    if value == "null":
        return None
    if shape.get("type") == "string":
        return value
    if name == "tags" and not value.lstrip().startswith("["):
        return [tag for tag in value.split(",") if tag.strip()]
    try:
        return decode_argument(value, f"--set {name}")
    except UsageError:
        if not shape.get("type") and value[:1].isalpha():  # any JSON: a bare word is text
            return value
        raise


def split_pairs(pairs: list[str] | None, option: str) -> dict[str, str]:
    """`name=value` arguments as a mapping. Raises UsageError for what has no `=`."""
    found = {}
    for pair in pairs or []:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise UsageError(f"{option} {pair!r} is not name=value", f"write {option} name=value")
        found[name.strip()] = value
    return found
