"""Regular expressions that are compiled when they are first used: a short command uses few of those that its modules have."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, AnyStr


class _Regex:
    """Stands for a pattern of `re`, whose methods it takes over one by one."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self.flags), name)  # `re` keeps what it compiled
        setattr(self, name, found)
        return found


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`pattern` as `re.compile` gives it. For the methods of a pattern alone: functions of `re` do not take it."""
    stand_in: Any = _Regex(pattern, flags)
    return stand_in  # type: ignore[no-any-return]
