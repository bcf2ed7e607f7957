"""Values for shell completion: spaces, paths, tags, kinds and ids, found in files without parsing them, or in a large space by
its index.

Shells call this on every press of the tab key, so it imports as little as possible and never fails.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress

from memcli import beneath
from memcli.store.atomic import fingerprint_of
from memcli.store.layout import FOLDER, Layout, check_root, find_root

# Shells ask before they show more than this. Then a path is offered up to its next segment, as a folder of files is.
_MANY = 100
_FIELDS = {"paths": "path", "ids": "id", "kinds": "kind", "tags": "tags"}
# As `codec.space.of_memory` has them, whose import takes as long as the search.
MARKS = {name: f'\n      "{name}": '.encode() for name in ("id", "kind", "path", "tags")}
"""The bytes before the value of a field of a memory."""
_BLOCK = 1 << 16
"""The bytes that are read at a time: a large file as a whole would take its pages from the system first."""
_LARGE = 2_000_000
"""The index of a space whose file has more bytes is asked: of a smaller file, the search takes less time than SQLite to load."""
_MOST_STEPS = 1 << 22
"""The most steps of a statement of SQLite: a hostile file may have endless views."""
# As the store does, links are refused; a pipe in place of the file must not make the shell wait.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def complete(arguments: Sequence[str]) -> None:
    """`__complete KIND [PREFIX [SPACE [ROOT]]]`: prints the values of KIND that start with PREFIX, one per line."""
    kind, prefix, space, root = [*arguments, "", "", "", ""][:4]
    found: list[str] = []
    # Whatever goes wrong, the line being typed must not be disturbed.
    with suppress(Exception):
        found = values(kind, prefix, space, root or os.environ.get("MEMCLI_ROOT", ""))
    with suppress(Exception):
        if kind == "kinds":
            from memcli.model.shapes import KINDS

            found = sorted({*found, *_matching(KINDS, prefix)})
        # Past Python's buffer, which would complain at the exit when the shell has stopped reading.
        rest = memoryview("".join(f"{line}\n" for line in found).encode())
        while rest:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]


def values(kind: str, prefix: str, space: str, root: str) -> list[str]:
    """The values of `kind` (spaces, sessions, paths, tags, kinds, ids, refs) in the store at `root`, or here, that start with `prefix`.

    Raises OSError and MemcliError if the store cannot be read.
    """
    if root:
        root = os.path.abspath(root)
        found: str | None = check_root(root if os.path.basename(root) == FOLDER else os.path.join(root, FOLDER))
    else:
        found = find_root(os.getcwd(), os.path.expanduser("~"))
    if found is None:
        return []
    layout, config = Layout(found), b""
    with suppress(OSError):
        config = b"".join(_blocks(layout.config))
    if kind != "sessions" and (os.environ.get("MEMCLI_STORE") or b"store" in config):
        from memcli.extras.completion.shells import served

        there = served(kind, prefix, space, root)
        if there is not None:
            return _chosen(kind, prefix, there)
    if kind == "spaces":
        names = (name for name in layout.space_names() if name.endswith(".json") and not name.startswith("."))
        return _matching((name.removesuffix(".json") for name in names), prefix)
    space = space or os.environ.get("MEMCLI_SPACE", "")
    if not space and b"space" in config:
        import tomllib

        space = str(tomllib.loads(config.decode()).get("space", ""))
    space = space or "main"
    if os.path.basename(space) != space:
        return []
    if kind == "sessions":
        folders = (layout.sessions(space), layout.sessions(space, shared=True))
        files = {file for folder in folders if os.path.isdir(folder) for file in os.listdir(folder)}
        return _matching((file.removesuffix(".jsonl") for file in files), prefix or "ses_")
    if kind == "refs":
        ids, paths = (_matching(_texts(layout, space, field, prefix), prefix) for field in ("id", "path"))
        return _headings(paths, prefix) + (ids if prefix or len(ids) <= _MANY else [])
    return _chosen(kind, prefix, _texts(layout, space, _FIELDS[kind], prefix)) if kind in _FIELDS else []


def _chosen(kind: str, prefix: str, found: Iterable[str]) -> list[str]:
    """The values that begin with `prefix`, sorted; of more than _MANY paths only their next segments."""
    matching = _matching(found, prefix)
    return _headings(matching, prefix) if kind in ("paths", "refs") else matching


def _blocks(path: str) -> Iterator[bytes]:
    """The blocks of a regular file; none of another one. Raises OSError."""
    fd = os.open(path, _FLAGS)
    try:
        while stat.S_ISREG(os.fstat(fd).st_mode) and (block := os.read(fd, _BLOCK)):
            yield block
    finally:
        os.close(fd)


def _matching(found: Iterable[str], prefix: str) -> list[str]:
    # A value with a line break or an escape sequence would break the list, or act on the terminal.
    return sorted({value for value in found if value and value.startswith(prefix) and value.isprintable()})


def _headings(paths: list[str], prefix: str) -> list[str]:
    """The paths or, if there are more than _MANY, what they have up to the first slash behind `prefix`."""
    if len(paths) <= _MANY:
        return paths
    ends = ((path, path.find("/", len(prefix)) + 1) for path in paths)
    return sorted({path[:end] if end else path for path, end in ends})


def _texts(layout: Layout, space: str, field: str, prefix: str) -> Iterable[str]:
    """The values of a field of all memories, or those that begin with `prefix`, each once. Raises OSError."""
    file = layout.space(space)
    with suppress(Exception):  # an index that is missing, behind, damaged or of another version
        if os.path.getsize(file) > _LARGE:
            return _indexed(layout.index(space), fingerprint_of(os.lstat(file)), field, prefix)
    # The file is searched for the lines that the store writes: parsing it would take too long between two keys.
    if field == "tags":  # the end is on this line or on another; no tag has a bracket or a comma
        groups = _between(file, MARKS["tags"] + b"[", b"]")
        return (_plain(tag) for tags in groups for tag in tags.split(b","))
    # In a canonical file a field of a memory begins a line, and no line ends within a text.
    return map(_plain, _between(file, MARKS[field], b"\n"))


def _indexed(path: str, fingerprint: str, field: str, prefix: str) -> set[str]:
    """The values of a field that begin with `prefix`, from the index of a space. Raises an exception unless it is the index of the
    file with this fingerprint, and nobody writes it."""
    state = _state(path)
    # Immutable: no lock is waited for, and no other file is opened or made.
    with closing(beneath.open_database(path, 0, "mode=ro&immutable=1")) as connection:
        connection.set_progress_handler(lambda: True, _MOST_STEPS)
        ((known,),) = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'")
        select = f"SELECT DISTINCT {field} FROM memory WHERE {field} >= ? AND {field} < ?"
        given = [prefix, f"{prefix}\U0010ffff"]
        if field == "tags":  # between blanks
            select, given = "SELECT tags FROM memory WHERE instr(tags, ?)", [f" {prefix}"]
        found = {text for (text,) in connection.execute(select, given)}
    if known != fingerprint or _state(path) != state:
        raise LookupError(path)
    return {tag for tags in found for tag in tags.split()} if field == "tags" else found


def _state(path: str) -> str:
    """A text that differs after any change of the database at `path`. Raises LookupError during a change."""
    if any(os.path.lexists(path + side) for side in ("-journal", "-wal", "-shm")):
        raise LookupError(path)
    return fingerprint_of(os.lstat(path))


def _between(file: str, mark: bytes, end: bytes) -> set[bytes]:
    """The different parts of a file between a mark and the next `end`. Raises OSError."""
    found, data = set[bytes](), b""
    for block in _blocks(file):
        *parts, last = (data + block).split(mark)
        found |= {part.partition(end)[0] for part in parts[1:]}
        is_open = bool(parts) and end not in last
        if parts and not is_open:
            found.add(last.partition(end)[0])
        data = mark + last if is_open else last[1 - len(mark) :]
    return found


def _plain(part: bytes) -> str:
    """The text in a part of the file; empty if it is damaged, for example by an unfinished merge."""
    text = part.strip().removesuffix(b",")
    try:
        if b"\\" not in text:
            return text[1:-1].decode() if text[:1] == text[-1:] == b'"' else ""
        import json

        return str(json.loads(text))
    except ValueError:
        return ""
