"""Values for shell completion: spaces, paths, tags, kinds and ids, found in files without parsing them.

Shells call this on every press of the tab key, so it imports as little as possible and never fails.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from memcli.codec.space import of_memory
from memcli.store.layout import FOLDER, Layout, check_root, find_root

# Shells ask before they show more than this. Then a path is offered up to its next segment, as a folder of files is.
_MANY = 100
_FIELDS = {"paths": "path", "ids": "id", "kinds": "kind"}
_TAGS = of_memory("tags") + b"["
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
        config = _read(layout.config)
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
    # The file is searched for the lines that the store writes: parsing a large one would take too long between two keys.
    data = _read(layout.space(space))
    if kind == "tags":
        return _matching(_tags(data), prefix)
    if kind == "refs":
        ids = _matching(_texts(data, "ids"), prefix)
        paths = _matching(_texts(data, "paths"), prefix)
        return _headings(paths, prefix) + (ids if prefix or len(ids) <= _MANY else [])
    return _chosen(kind, prefix, _texts(data, kind)) if kind in _FIELDS else []


def _chosen(kind: str, prefix: str, found: Iterable[str]) -> list[str]:
    """The values that begin with `prefix`, sorted; of more than _MANY paths only their next segments."""
    matching = _matching(found, prefix)
    return _headings(matching, prefix) if kind in ("paths", "refs") else matching


def _read(path: str) -> bytes:
    fd = os.open(path, _FLAGS)
    with open(fd, "rb") as file:
        return file.read() if stat.S_ISREG(os.fstat(fd).st_mode) else b""


def _matching(found: Iterable[str], prefix: str) -> list[str]:
    # A value with a line break or an escape sequence would break the list, or act on the terminal.
    return sorted({value for value in found if value and value.startswith(prefix) and value.isprintable()})


def _headings(paths: list[str], prefix: str) -> list[str]:
    """The paths or, if there are more than _MANY, what they have up to the first slash behind `prefix`."""
    if len(paths) <= _MANY:
        return paths
    ends = ((path, path.find("/", len(prefix)) + 1) for path in paths)
    return sorted({path[:end] if end else path for path, end in ends})


def _texts(data: bytes, kind: str) -> Iterator[str]:
    """The values of a field of each memory in a space file."""
    # In a canonical file a field of a memory begins a line, and no line ends within a text.
    mark = of_memory(_FIELDS[kind]) + b'"'
    start = data.find(mark)
    while start >= 0:
        start += len(mark) - 1
        end = data.find(b"\n", start)
        yield _plain(data[start:end] if end >= 0 else data[start:])
        start = data.find(mark, end) if end >= 0 else -1


def _tags(data: bytes) -> Iterator[str]:
    start = data.find(_TAGS)
    while start >= 0:
        start += len(_TAGS)
        end = data.find(b"]", start)  # on this line or on another; no tag has a bracket or a comma
        for tag in data[start:end].split(b",") if end >= 0 else []:
            yield _plain(tag)
        start = data.find(_TAGS, end) if end >= 0 else -1


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
