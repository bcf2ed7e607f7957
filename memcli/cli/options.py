"""Options as data: each verb declares them once; all parsers, the help and the completions read the declarations.

    class GcOptions(Options):
        space: str | None = argument("[SPACE]", "The space [default: the current one].")
        dry_run: bool = DRY_RUN

The flag of a field is derived from its attribute: `dry_run` becomes `--dry-run`.

Also the parser of command lines. Typer takes as long to import as a short command runs, so it is imported only for help,
completions and command lines that this parser does not accept. Both read the same fields; a test compares them option by option.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence

from memcli.errors import UsageError

# Modules of short commands import `typing` for type checkers alone: with its named tuples it took a fifth of a `memcli list`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

REQUIRED: Any = object()
"""The default of an argument that must be given."""
LARGEST = (1 << 53) - 1
"""The largest whole number that an option without another limit accepts: every JSON parser reads it exactly."""


TEXT, CHOICE, NUMBER, TIME, FILE, FOLDER = "text", "choice", "number", "time", "file", "folder"
MEMORY, LINK, PATH, SPACE, SESSION, TAG, KIND = "memory", "link", "path", "space", "session", "tag", "kind"
JSON, ASSIGNMENT, PAIRS, WEIGHTS = "json", "assignment", "pairs", "weights"
_OF_METAVAR = {
    **dict.fromkeys(("0..1", "0..2", "MS", "N", "PORT", "SECONDS", "TOKENS", "X"), NUMBER),
    **dict.fromkeys(("DAY", "TIME"), TIME),
    **dict.fromkeys(("DIR", "FROM", "TO", "URL"), FOLDER),
    **dict.fromkeys(("FIELD=JSON", "FIELD=VALUE"), ASSIGNMENT),
    **dict.fromkeys(("ID|PATH", "ID|PATH|NUMBER"), MEMORY),
    **dict.fromkeys(
        (
            "AGENT", "ARGUMENT", "COMMAND", "CURRENT", "DIGEST", "FACT", "FIELD", "FORMAT", "HOOK", "ID", "NAME", "PATTERN",
            "PREVIOUS", "PROVIDER:MODEL", "QUERY", "RANGE", "REV", "RUN", "SEASON", "SOURCE", "TASK", "TEXT", "TOPIC",
            "TOPIC|NUMBER", "TRIGGER", "token ACTION",
        ),
        TEXT,
    ),
    "FILE": FILE, "JSON": JSON, "KIND": KIND, "NAME=VALUE": PAIRS, "NAME=X": WEIGHTS, "PATH": PATH, "RELATION:ID": LINK,
    "SESSION": SESSION, "SPACE": SPACE, "SPACE|FILE": SPACE, "TAG": TAG,
}  # fmt: skip


def kind_of(metavar: str) -> str:
    """The kind of a value by its name in the help, such as FILE or PORT. Raises LookupError for an unknown name."""
    name = metavar.strip("[].")
    found = _OF_METAVAR.get(name) or (CHOICE if "|" in name or name.islower() else "")
    if not found:
        raise LookupError(f"add {name!r} to the kinds of options, or declare the option with kind=")
    return found


class Field:
    """An option, or an argument, which has no flags.

    `type` is str, int, float or bool (a flag without a value); with `many` the value is a list. `kind` is the kind of the value,
    such as a file, a memory or a time, by default that of `metavar`, its name in the help. `low` and `high` limit numbers;
    `read` converts each word. `bare` is the value if the flag has none. With `is_harmless`, the configuration of a clone that
    the user has not accepted may set it: it names no file, program or model, hides only memories of the clone, and disables no
    protection.
    """

    __slots__ = (
        "bare", "default", "flags", "help", "high", "is_argument", "is_harmless", "kind", "low", "many", "metavar", "name",
        "read", "type",
    )  # fmt: skip

    def __init__(
        self, flags: tuple[str, ...] = (), type: type = str, default: Any = None, many: bool = False,  # noqa: A002
        metavar: str = "", help: str = "", low: float | None = None, high: float | None = None,  # noqa: A002
        is_argument: bool = False, read: Callable[[str], str] | None = None, bare: str = "",
        is_harmless: bool = False, kind: str = "",
    ) -> None:  # fmt: skip
        self.name = ""
        self.flags, self.type, self.default, self.many = flags, type, default, many
        self.metavar, self.help, self.low, self.high = metavar, help, low, high
        self.is_argument, self.read, self.bare, self.is_harmless = is_argument, read, bare, is_harmless
        self.kind = "" if type is bool else kind or kind_of(metavar)

    def __set_name__(self, owner: type, name: str) -> None:
        # A declaration that two classes share must have the same attribute in both: it has one name.
        assert self.name in ("", name), f"{name} shares the declaration of {self.name}"
        self.name = name
        if not self.flags and not self.is_argument:
            self.flags = ("--" + name.rstrip("_").replace("_", "-"),)

    @property
    def unset(self) -> Any:
        """The value of an option that is not given."""
        return [] if self.many else self.default

    def value_of(self, given: Any) -> Any:
        """The value of the field, converted by `read`. Raises UsageError for a number out of range."""
        if self.read is not None:
            return [self.read(word) for word in given] if self.many else self.read(given)
        low, high = self.low, self.high
        if low is None or given is None:
            return given
        most = LARGEST if high is None and isinstance(given, int) else high
        if given >= low and (most is None or given <= most):
            return given
        allowed = f"at least {low}" if most is None or (high is None and given < low) else f"between {low} and {most}"
        raise UsageError(f"{self.flags[0]} must be {allowed}, not {given}")


class Options:
    """The options of a verb: a value for each field of the class, by default the field's default.

    `given` are the names of those that the caller set, `configured` of those that the configuration set.
    """

    FIELDS: ClassVar[dict[str, Field]] = {}

    def __init_subclass__(cls) -> None:
        cls.FIELDS = {**cls.FIELDS, **{name: f for name, f in vars(cls).items() if isinstance(f, Field)}}

    def __init__(self, **values: Any) -> None:
        """Raises TypeError for an unknown name, UsageError for a number out of range."""
        self.given: frozenset[str] = frozenset(values)
        self.configured: frozenset[str] = frozenset()
        for name, field in self.FIELDS.items():
            if name in values:
                value = field.value_of(values.pop(name))
            elif field.default is REQUIRED:
                raise TypeError(f"{name} is required")
            else:
                value = field.unset
            setattr(self, name, value)
        if values:
            raise TypeError(f"no such option: {', '.join(values)}")


def fill_bare(args: Sequence[str], fields: Mapping[str, Field]) -> list[str]:
    """The command line with values added to flags that need none: `--context` becomes `--context=1000`, unless a number follows."""
    bare = {flag: field.bare for field in fields.values() if field.bare for flag in field.flags}
    end = args.index("--") if "--" in args else len(args)
    return [
        f"{word}={bare[word]}" if n < end and word in bare and not "".join(args[n + 1 : n + 2]).isdigit() else word
        for n, word in enumerate(args)
    ]


def option(*flags: str, metavar: str, help: str = "", **more: Any) -> Any:  # noqa: A002
    """An option with a value; the default flag is derived from the attribute. `more` is passed to `Field`."""
    return Field(flags, metavar=metavar, help=help, **more)


def flag(*flags: str, help: str, default: bool = False, is_harmless: bool = False) -> Any:  # noqa: A002
    """An option without a value. `--git/--no-git` declares a flag that sets it and one that clears it."""
    return Field(flags, bool, default, help=help, is_harmless=is_harmless)


def argument(metavar: str, help: str = "", **more: Any) -> Any:  # noqa: A002
    """A positional argument."""
    return Field(metavar=metavar, help=help, is_argument=True, **more)


def normalized(ref: str) -> str:
    """`ref` in NFC, as paths are stored; some terminals and file systems decompose characters."""
    return ref if ref.isascii() else unicodedata.normalize("NFC", ref)


# The declarations that several verbs share.

REFS: Any = argument(
    "ID|PATH...", "Memories, by id, unique id prefix or path.", many=True, default=REQUIRED, read=normalized
)
KIND_FILTER: Any = option(
    "--kind", "-k", metavar="KIND", help="Only memories of this kind; a,b matches either.", many=True
)
TAG_FILTER: Any = option(
    "--tag", "-t", metavar="TAG", help="Only memories with this tag; a,b requires both.", many=True
)
UNDER: Any = option("--under", metavar="PATH", help="Only memories at or below this path.", default="")
REVISION: Any = option("--rev", metavar="REV", help="Read the store as of this commit.")
IF_DIGEST: Any = option(
    "--if-digest", metavar="DIGEST", help="Fail if the memory has another digest than `get --digest` printed."
)
NO_USAGE: Any = flag("--no-usage", help="Do not count this as usage, or a question without an answer as a gap.")
DRY_RUN: Any = flag("--dry-run", "-n", help="Show what would be done without doing it.")


def check_one(refs: Sequence[str], digest: str | None) -> None:
    """Raises UsageError when one digest is given for several memories."""
    if digest is not None and len(refs) > 1:
        raise UsageError("--if-digest takes one memory", "name one by id or path")


class CommonOptions(Options):
    """The options of every verb."""

    space: str | None = option(
        "--space",
        "-s",
        metavar="NAME",
        kind=SPACE,
        help="The space to use [default: main; readers also ask repo and journal].",
    )
    root: str | None = option(metavar="DIR", help="The store, or the folder that contains it.")
    json: bool = flag(help="Print the result as JSON.")
    quiet: bool = flag("--quiet", "-q", help="Print only results and errors.")
    offline: bool = flag(help="Ask no language model: nothing leaves this machine.")
    freeze_clock: str | None = option(metavar="TIME", help="Use TIME (RFC 3339) as the current time.")
    color: str | None = option(metavar="auto|always|never", help="Use colours [default: auto].")
    no_pager: bool = flag(help="Do not show long output through a pager.")


def parse(
    args: Sequence[str], fields: Mapping[str, Field], negations: Mapping[str, Field] = {}
) -> dict[str, Any] | None:
    """The values in `args` by field name; None for a command line that is left to Typer: one with an error, with grouped short
    flags, or with an option both set and reset."""
    by_flag = {flag.partition("/")[0]: field for field in fields.values() for flag in field.flags}
    pairs = [(flag.partition("/")[2], field) for field in fields.values() for flag in field.flags if "/" in flag]
    resets = {**negations, **dict(pairs)}
    arguments = [field for field in fields.values() if field.is_argument]
    values: dict[str, Any] = {}
    negated: set[str] = set()
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word == "--":
            if not _assign(rest, arguments, values):
                return None
            break
        if word == "-" or not word.startswith("-"):
            if not _assign([word], arguments, values):
                return None
        elif (reset := resets.get(word)) is not None and reset.name not in values:
            values[reset.name] = reset.unset if word in negations else False
            negated.add(reset.name)
        else:
            flag, sign, value = word.partition("=")
            field = by_flag.get(flag)
            # Typer reports an unknown option, and decides about one that is given twice, or both set and reset.
            if field is None or field.name in negated or (field.name in values and not field.many):
                return None
            if not _set(field, value if sign else None, rest, values):
                return None
    is_whole = all(field.name in values for field in fields.values() if field.default is REQUIRED)
    return values if is_whole else None


def _set(field: Field, value: str | None, rest: list[str], values: dict[str, Any]) -> bool:
    """Stores the value of an option, by default the next word, which it takes from `rest`. Returns whether there is one."""
    if field.type is bool:
        values[field.name] = True
        return value is None
    if value is None:
        # A word with a dash is more likely the next option than a value, which may be missing; `--since=-3` passes one.
        if not rest or (rest[0].startswith("-") and rest[0] != "-"):
            return False
        value = rest.pop(0)
    return _add(value, field, values)


def _assign(words: Sequence[str], arguments: list[Field], values: dict[str, Any]) -> bool:
    """Assigns words to the next arguments. Returns whether each word had an argument and its type."""
    for word in words:
        field = next((field for field in arguments if field.many or field.name not in values), None)
        if field is None or not _add(word, field, values):
            return False
    return True


def _add(word: str, field: Field, values: dict[str, Any]) -> bool:
    """Stores a value. Returns whether it has the field's type."""
    try:
        value = field.type(word)
    except ValueError:
        return False
    values[field.name] = [*values.get(field.name, []), value] if field.many else value
    return True
