"""Options as data: each verb declares its own once, and every parser, the help and the completions read them.

    class GcOptions(Options):
        space: str | None = argument("[SPACE]", "The space [default: the current one].")
        dry_run: bool = dry_run()

A field is called what its attribute is called: `dry_run` is `--dry-run`. Nothing here imports a parser, so that the
commands that are called many times a minute start without one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any, ClassVar

from memcli.errors import UsageError

REQUIRED: Any = object()
"""The default of an argument that must be given."""


class Field:
    """One option, or an argument, which has no flags.

    `type` is str, int, float or bool (a flag without a value); with `many` the value is a list. `low` and `high` are
    the least and the greatest number allowed; `read` makes the value of each word.
    """

    __slots__ = ("default", "flags", "help", "high", "is_argument", "low", "many", "metavar", "name", "read", "type")

    def __init__(
        self, flags: tuple[str, ...] = (), type: type = str, default: Any = None, many: bool = False,  # noqa: A002
        metavar: str = "", help: str = "", low: float | None = None, high: float | None = None,  # noqa: A002
        is_argument: bool = False, read: Callable[[str], str] | None = None,
    ) -> None:  # fmt: skip
        self.name = ""
        self.flags, self.type, self.default, self.many = flags, type, default, many
        self.metavar, self.help, self.low, self.high = metavar, help, low, high
        self.is_argument, self.read = is_argument, read

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        if not self.flags and not self.is_argument:
            self.flags = ("--" + name.rstrip("_").replace("_", "-"),)

    def value_of(self, given: Any) -> Any:
        """What the field is, given this. Raises UsageError for a number out of range."""
        if self.read is not None:
            return [self.read(word) for word in given] if self.many else self.read(given)
        if self.low is not None and given is not None:
            self._check_range(given, self.low, self.high)
        return given

    def _check_range(self, value: float, low: float, high: float | None) -> None:
        if value >= low and (high is None or value <= high):
            return
        allowed = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
        raise UsageError(f"{self.flags[0]} must be {allowed}, not {value}")


class Options:
    """What a verb was given: a value for each field of its class, the default where none was given."""

    FIELDS: ClassVar[dict[str, Field]] = {}

    def __init_subclass__(cls) -> None:
        cls.FIELDS = {**cls.FIELDS, **{name: f for name, f in vars(cls).items() if isinstance(f, Field)}}

    def __init__(self, **values: Any) -> None:
        """Raises TypeError for a name that is no field, UsageError for a number out of range."""
        for name, field in self.FIELDS.items():
            if name in values:
                value = field.value_of(values.pop(name))
            elif field.default is REQUIRED:
                raise TypeError(f"{name} is required")
            else:
                value = [] if field.many else field.default
            setattr(self, name, value)
        if values:
            raise TypeError(f"no such option: {', '.join(values)}")


def option(*flags: str, metavar: str, help: str = "", **more: Any) -> Any:  # noqa: A002
    """An option with a value; without `flags`, it is `--` and its name. `more` is what `Field` takes."""
    return Field(flags, metavar=metavar, help=help, **more)


def flag(*flags: str, help: str, default: bool = False) -> Any:  # noqa: A002
    """An option without a value. `--git/--no-git` names the one that sets it and the one that clears it."""
    return Field(flags, bool, default, help=help)


def argument(metavar: str, help: str = "", **more: Any) -> Any:  # noqa: A002
    """A word of the command line by its place."""
    return Field(metavar=metavar, help=help, is_argument=True, **more)


def refs_argument() -> Any:
    """Memories, one at least."""
    help_ = "Memories by id, by the beginning of an id, or by path."
    return argument("ID|PATH...", help_, many=True, default=REQUIRED, read=_normalized)


def ref_argument() -> Any:
    """One memory."""
    return argument("ID|PATH", "A memory, as in `memcli get`.", default=REQUIRED, read=_normalized)


def kinds_option() -> Any:
    """The kinds to choose."""
    return option("--kind", "-k", metavar="KIND", help="Only memories of this kind; a,b for any of several.", many=True)


def tags_option() -> Any:
    """The tags to choose."""
    return option("--tag", "-t", metavar="TAG", help="Only memories with this tag; a,b for all of several.", many=True)


def under_option() -> Any:
    """The path to choose."""
    return option(metavar="PATH", help="Only at this path and below it.", default="")


def rev_option() -> Any:
    """An earlier state of the store."""
    return option(metavar="REV", help="As the store was at this commit.")


def dry_run_option() -> Any:
    """Whether to change nothing."""
    return flag("--dry-run", "-n", help="Say what would be done, and do nothing.")


def _normalized(ref: str) -> str:
    """`ref` as paths are stored, in NFC; some terminals and file systems give them decomposed."""
    return ref if ref.isascii() else unicodedata.normalize("NFC", ref)


class CommonOptions(Options):
    """What every verb takes."""

    space: str | None = option("--space", "-s", metavar="NAME", help="The space to work in [default: main].")
    root: str | None = option(metavar="DIR", help="The store, or the folder it is in.")
    json: bool = flag(help="The answer as JSON on standard output.")
    quiet: bool = flag("--quiet", "-q", help="Say nothing but answers and errors.")
    freeze_clock: str | None = option(metavar="TIME", help="Take TIME (RFC 3339) for now.")
