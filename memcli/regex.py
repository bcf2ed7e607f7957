"""Regular expressions that are compiled when they are first used: a short command uses few of those that its modules define."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr


class _Regex:
    """Stands for a pattern of `re`: compiles it for the first attribute that is read, and stores each attribute it returned."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        import re  # takes as long as ten modules: at the press of a tab key, no pattern is used

        found = getattr(re.compile(self.pattern, self.flags), name)  # `re` caches it
        setattr(self, name, found)
        return found


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but lazy. Call methods of the result: functions of `re`, such as `re.sub`, do not accept it."""
    stand_in: Any = _Regex(pattern, flags)
    return stand_in  # type: ignore[no-any-return]
