"""What must hold between the fields of one memory, however they came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.errors import UsageError
from memcli.model.memory import Memory, default_importance
from memcli.record import replace


def check_validity(fields: Mapping[str, Any]) -> None:
    """Raises UsageError when what `fields` say is valid until a time before it is valid from."""
    start, end = fields.get("valid_from"), fields.get("valid_until")
    if start and end and end < start:
        raise UsageError(f"valid_until {end} is before valid_from {start}", "swap them, or omit one")


def consistent(memory: Memory) -> Memory:
    """`memory` without an importance that its kind has by default. Raises UsageError as `check_validity` does."""
    check_validity({"valid_from": memory.valid_from, "valid_until": memory.valid_until})
    is_default = memory.importance == default_importance(memory.kind)
    return replace(memory, importance=None) if is_default else memory
