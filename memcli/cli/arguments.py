"""Reads and validates what users give to commands: text, files, diffs, `field=value` pairs, kinds, tags, paths, sessions."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from memcli.cli.output import ask, can_ask, has_input, read_input
from memcli.cli.verb import CommandContext
from memcli.codec.canonical import decode_argument
from memcli.errors import NotFoundError, UsageError
from memcli.model.names import slug
from memcli.model.shapes import KINDS, MEMORY_FIELDS, Shape, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memcli.app.workspace import Workspace
    from memcli.cli.options import Options
    from memcli.codec.window import ByteWindow
    from memcli.model.anchors import FileEdit
    from memcli.model.conversation import Session
    from memcli.model.memory import Json

MAX_BYTES = 256 << 20
"""The most bytes that are read of a file or standard input: reading an endless pipe must end."""


def read_text(argument: str | None, file: str | None, limit: int = MAX_BYTES) -> str:
    """The text of a command: `argument`, the file `file`, or standard input (`-`, or a pipe if neither is given).

    Raises UsageError if there is none, or if it is binary or not UTF-8; NotFoundError for a missing file.
    """
    if argument is not None and argument != "-":
        if file is not None:
            raise UsageError("a text cannot be used with --file", "use one of them")
        # As the bytes that were given: Python decodes those of arguments that are not UTF-8 to surrogates.
        return decode(argument.encode("utf-8", "surrogateescape"), "the argument")
    if file is not None and file != "-":
        return decode(read_file(file, limit), file)
    if file is None and argument is None and not has_input():
        raise UsageError("nothing to read", "give a text, use --file FILE, or pipe the text in")
    return decode(read_stdin(limit), "standard input")


def read_file(path: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a file. Raises NotFoundError, UsageError."""
    try:
        with open(path, "rb") as file:
            return _bounded(file.read(limit + 1), limit, path)
    except FileNotFoundError:
        raise NotFoundError(f"no file {path!r}", "check the name") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from None


@contextmanager
def open_file(path: str) -> Iterator[ByteWindow]:
    """A window over the bytes of a file; a large file is read only as needed. Raises NotFoundError, UsageError."""
    from memcli.codec.window import HELD, ByteWindow

    # The merge driver opens three versions of a space at once, which may be large.
    if not os.path.isfile(path) or os.path.getsize(path) <= HELD:
        data = read_file(path)
        yield ByteWindow(lambda start, length: data[start : start + length], len(data))
        return
    with open(path, "rb") as file:

        def read(start: int, length: int) -> bytes:
            file.seek(start)
            found = file.read(length)
            if len(found) < length:
                raise UsageError(f"{path!r} changed while it was being read", "run the command again")
            return found

        yield ByteWindow(read, os.fstat(file.fileno()).st_size)


def read_stdin(limit: int = MAX_BYTES) -> bytes:
    """The bytes of standard input. Raises UsageError."""
    return _bounded(read_input(limit + 1), limit, "standard input")


def decode(data: bytes, where: str) -> str:
    """`data` as text, with `\\n` line ends. Raises UsageError if it is binary or not UTF-8."""
    if b"\0" in data:
        raise UsageError(f"{where} is binary (it contains NUL bytes)", "give text")
    try:
        # Editors on Windows write a byte order mark, which is no part of the text.
        return data.removeprefix(b"\xef\xbb\xbf").decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{where} is not valid UTF-8 (byte {error.start})", "convert it to UTF-8, for example with iconv"
        ) from None


def _bounded(data: bytes, limit: int, where: str) -> bytes:
    """`data`. Raises UsageError if it is longer than `limit`, as reading one byte more than that shows."""
    if len(data) > limit:
        raise UsageError(f"{where} is longer than {limit >> 20} MiB", "split it into parts")
    return data


def read_edits(*, diff: str | None = None, changed: str | None = None) -> list[FileEdit]:
    """The edits in the diff file `diff` (`-`: standard input), or those since the revision `changed`, else the staged ones.

    Raises NotFoundError, ProviderError, UsageError.
    """
    from memcli.ingest.patch import MAX_BYTES, change_diff, read_diff

    if diff is not None:
        data = read_stdin(MAX_BYTES) if diff == "-" else read_file(diff, MAX_BYTES)
        return read_diff(data, "standard input" if diff == "-" else diff)
    from memcli.git.repository import find_repository

    repository = find_repository(os.getcwd())
    return read_diff(change_diff(repository, changed), "the change")


_SIMILAR = 0.75
"""The similarity of words (`difflib`, 0..1) from which on an unknown kind counts as a slip of a known one."""


def kinds(session: CommandContext, values: Iterable[str] | None) -> tuple[str, ...]:
    """The kinds in the values of `--kind`. Warns of likely typing errors; raises UsageError for an empty one."""
    found = tuple(map(plain_kind, _separated(values, "--kind")))
    note_similar(session, found)
    return found


def tags(values: Iterable[str] | None, option: str = "--tag") -> tuple[str, ...]:
    """The tags in the values of `option`, as they are stored."""
    return tuple(slug(tag) or tag for tag in _separated(values, option))


def path(value: str, option: str) -> str:
    """`value` in NFC, as paths are stored. Raises UsageError if it is not UTF-8."""
    return unicodedata.normalize("NFC", decode(os.fsencode(value), option))


def plain_kind(name: str) -> str:
    """The kind that a word names: a known one in any case, `negative` for `warning`, else the word unchanged."""
    word = name.strip().casefold()
    return _KINDS_BY_OTHER_NAMES.get(word, word if word in KINDS else name)


def similar_kind(name: str) -> str:
    """The known kind that an unknown one is probably a slip of; empty if there is none."""
    if name in KINDS:
        return ""
    from difflib import get_close_matches

    word = name.strip().casefold()
    close = get_close_matches(word, KINDS, 1, _SIMILAR)
    # `customer` is a word of its own rather than a `custom` with a slip.
    is_slip = close and not (word.startswith(close[0]) and len(word) > len(close[0]) + 1)
    return close[0] if is_slip else ""


def chosen_kind(name: str, *, is_new: bool) -> str:
    """The kind to store. Unless it `is_new` on purpose, an unknown kind that resembles a known one needs confirmation by the
    user; raises UsageError without a terminal."""
    name = plain_kind(name)
    if is_new or not (close := similar_kind(name)):
        return name
    if can_ask():
        return close if ask(f"There is no kind {name!r} yet. Did you mean {close!r}?", default=True) else name
    raise UsageError(f"unknown kind {name!r}", f"did you mean {close!r}? --kind-new stores it as it is")


def note_similar(session: CommandContext, names: Iterable[str]) -> None:
    """Warns of each unknown kind that resembles a known one."""
    for name in dict.fromkeys(names):
        # JSON may have anything as a kind, which fails later.
        if isinstance(name, str) and (close := similar_kind(name)):
            session.output.note(f"unknown kind {name!r}; did you mean {close!r}?")


def split_commas(values: Iterable[str]) -> list[str]:
    """The values, split at commas."""
    # A blank value stays, so that its reader can reject it.
    return [part for value in values for part in ([p for p in value.split(",") if p.strip()] or [value])]


def _separated(values: Iterable[str] | None, option: str) -> Iterator[str]:
    """The values, split at commas, as text. Raises UsageError for an empty one."""
    for part in split_commas(values or ()):
        # An empty value, such as that of an unset variable in a script, must not choose everything.
        if not part.strip(" ,"):
            raise UsageError(f"{option} is empty", "omit it to match all")
        yield decode(os.fsencode(part.strip()), option)


def check_known(what: str, name: str, known: Collection[str]) -> None:
    """Raises UsageError with the `known` names if `name` is not one of them."""
    if name not in known:
        raise UsageError(f"no {what} {name!r}", f"choose one of {', '.join(known)}")


_KINDS_BY_OTHER_NAMES = {"warning": "negative"}
_OTHER_NAMES = {
    "text": "raw",
    "body": "raw",
    "type": "kind",
    "title": "path",
    "summary": "summary_short",
    "expires": "valid_until",
}
"""Names of fields in other tools, by which no_field suggests the field of a memory."""


def assignments(
    pairs: list[str] | Mapping[str, Json] | None, fields: Mapping[str, Shape] | None = None
) -> dict[str, Json]:
    """The values of `field=value` arguments: text fields as text, other fields as JSON. `field=null` resets to the default.

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
    return {name: _json_value(name, value, part_of(name, shapes)[1]) for name, value in given.items()}


def no_field(name: str, known: Collection[str], where: str = "") -> UsageError:
    """The error for an unknown field, with the `known` one that may be meant."""
    from difflib import get_close_matches

    meant = _OTHER_NAMES.get(name) or next(iter(get_close_matches(name, sorted(known), 1)), "")
    hint = f"did you mean {meant!r}?" if meant in known else f"fields: {', '.join(sorted(known))}"
    return UsageError(f"{where}no field {name!r}", hint)


def _json_value(name: str, value: str, shape: Shape) -> Json:
    """The value of a field as JSON; lists of texts can be written without brackets."""
    kind = shape.get("type")
    if value == "null":
        return None
    if kind == "string":
        return value
    if name in ("anchors", "tags", "triggers") and not value.lstrip().startswith("["):
        with suppress(UsageError):
            # Only a text is an item: a check of the field reports any other JSON.
            if not isinstance(given := decode_argument(value, name), str):
                return given
        return [tag for tag in value.split(",") if tag.strip()] if name == "tags" else [value]
    try:
        return decode_argument(value, f"--set {name}")
    except UsageError:
        if kind in ("number", "integer", "boolean") or (not kind and value[:1].isalpha()):
            # As text: valid where any JSON is; elsewhere its validation raises an error that names the field.
            return value
        raise


def split_pairs(pairs: list[str] | Mapping[str, Json] | None, option: str) -> dict[str, Any]:
    """`name=value` arguments as a mapping. Raises UsageError if `=` is missing."""
    if isinstance(pairs, Mapping):
        return dict(pairs)
    found = {}
    for pair in pairs or []:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise UsageError(f"{option} {pair!r} is not name=value", f"write {option} name=value")
        found[name.strip()] = value
    return found


def asks_model(workspace: Workspace, options: Options) -> bool:
    """Whether a language model is used, by --semantic or the configuration.

    Raises UsageError for an invalid name of a model, and for options of a model that is not used.
    """
    from memcli.summarize import LLM

    if workspace.semantic == LLM:
        if workspace.model:
            from memcli.model.conversation import model_name

            model_name(workspace.model)
        return True
    for name in ("model", "temperature", "max_tokens", "fallback"):
        # Set in the configuration, these do no harm without a model: only the caller's own are a mistake.
        if name in options.given:
            raise UsageError(f"--{name.replace('_', '-')} needs --semantic llm", "add it, or leave the option out")
    return False


VARIABLE = "MEMCLI_SESSION"
CURRENT = f"[default: {VARIABLE}, or the session started last]"


def chosen_session(workspace: Workspace, name: str | None, *states: str) -> Session:
    """The session of this name; else that of MEMCLI_SESSION; else the session started last in one of these states, the first
    state first. Raises NotFoundError."""
    from memcli.app.session import current, find

    finish_endings(workspace)
    ref = name or os.environ.get(VARIABLE)
    return find(workspace, ref) if ref else current(workspace, *states)


def finish_endings(workspace: Workspace) -> None:
    """Completes the ends of sessions that were interrupted."""
    if workspace.sessions.marked(workspace.space, "ending"):
        from memcli.app.session_end import finish_all

        with workspace.behind_the_write("finishing the end of an earlier session"):
            finish_all(workspace)
