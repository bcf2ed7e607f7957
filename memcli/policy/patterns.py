"""Patterns that users write: RE2 alone, which takes linear time whatever the pattern and the text."""

from __future__ import annotations

from functools import cache
from typing import Any

from memcli.errors import UsageError

MAX_PATTERN = 1000
_MAX_MEMORY = 8 << 20


@cache
def compile_pattern(text: str, at: str) -> Any:
    """`text` compiled. Raises UsageError naming the field `at` for what RE2 does not take."""
    import re2

    if len(text) > MAX_PATTERN:
        raise UsageError(f"{at} has {len(text)} characters; at most {MAX_PATTERN} are allowed", "make it shorter")
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise UsageError(
            f"{at} is no RE2 expression: {reason}", "RE2 has no look-around and no back-references"
        ) from None
