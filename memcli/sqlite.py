"""SQLite, from the module behind `sqlite3`, which itself imports `datetime` for conversions that nothing here uses: that takes as
long as a query."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import *  # noqa: F403
else:
    try:
        from _sqlite3 import *  # noqa: F403
    except ImportError:  # another interpreter
        from sqlite3 import *  # noqa: F403
