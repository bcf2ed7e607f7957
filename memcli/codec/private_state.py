"""The file that carries private state to another clone, as JSON Lines: a head with a SHA-256 over all below it, then the parts.

    {"format": "memcli/private", "hash": "sha256:...", "version": 1}
    {"name": "sessions/main/ses_...", "text": "..."}
    {"name": "spaces/journal", "text": "..."}

The text of a part is that of a file of its own, and its name says which (see `app/private_state.py`); no name is ever used
as a path. Parts are sorted by name.

An export as a folder of Markdown: a file for each memory, its fields as front matter, and the head in `memcli.json`.

The names of the files follow the paths of the memories, for people and other tools; read back are only the contents, which
differ from what the export gives if they were changed. A field is JSON on one line, which is YAML too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memcli.codec.bundle import ASK_AGAIN, HEAD, MAX_BYTES, UNQUOTABLE, Export, unseal, with_objects
from memcli.codec.bundle import FORMAT as FOLDER_FORMAT
from memcli.codec.canonical import decode, encode, encode_line
from memcli.codec.memory import memory_to_json
from memcli.codec.space import header_to_json
from memcli.digests import sha256
from memcli.errors import CorruptError, RefusedError, UsageError
from memcli.model.memory import Json, Memory
from memcli.model.names import is_device, safe_path, short_digest
from memcli.record import Record
from memcli.regex import regex

FORMAT = "memcli/private"
VERSION = 1
_PREFIX = b"memcli/private/1\0"  # keeps this digest apart from any other over the same bytes


class Sealed(Record):
    """The texts of all parts by name, with the digest over them, and the signature over that, empty when there is none."""

    parts: Mapping[str, str]
    hash: str
    signature: str = ""


def is_private_state(data: bytes) -> bool:
    """Whether a file begins as one with private state does."""
    try:
        head = decode(data.partition(b"\n")[0], "")
    except CorruptError:
        return False
    return isinstance(head, dict) and head.get("format") == FORMAT


def encode_private_state(parts: Mapping[str, str], sign: Callable[[bytes], str] | None = None) -> tuple[bytes, str]:
    """The file with these parts, signed where there is one who can `sign`; and its digest.

    Raises UsageError for more than can be imported.
    """
    body = b"".join(encode_line({"name": name, "text": parts[name]}) + b"\n" for name in sorted(parts))
    digest = _digest(body)
    data = encode_line(_head(digest, sign(digest.encode()) if sign else "")) + b"\n" + body
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"the private state takes more than {MAX_BYTES >> 20} MiB",
            "delete sessions that nobody needs, or export them one by one with `memcli session export`",
        )
    return data, digest


def decode_private_state(data: bytes, where: str) -> Sealed:
    """The parts in a file. Raises CorruptError when it is newer, or was changed."""
    if len(data) > MAX_BYTES:
        raise CorruptError(f"{where}: longer than {MAX_BYTES >> 20} MiB", ASK_AGAIN)
    if not is_private_state(data):
        raise CorruptError(
            f'{where}: no private state (no "format": "{FORMAT}")', "`memcli export --private` makes one"
        )
    first, _, body = data.partition(b"\n")
    head: Any = decode(first, where, ASK_AGAIN)
    version = head.get("version")
    if version != VERSION or isinstance(version, bool):
        raise CorruptError(
            f"{where}: version {version!r} of the private state; this memcli reads version {VERSION}", "upgrade memcli"
        )
    digest, signature = head.get("hash"), head.get("signature", "")
    if digest != _digest(body) or not isinstance(signature, str) or encode_line(_head(digest, signature)) != first:
        raise CorruptError(f"{where}: the content does not match its hash", ASK_AGAIN)
    parts: dict[str, str] = {}
    last = ""
    for number, line in enumerate(body.splitlines(keepends=True), 2):
        name, text = _part(line, f"{where}: line {number}")
        if name <= last:
            raise CorruptError(f"{where}: line {number}: the parts are not in order, each once", ASK_AGAIN)
        parts[name] = text
        last = name
    return Sealed(parts, digest, signature)


def _part(line: bytes, where: str) -> tuple[str, str]:
    part: Any = decode(line, where, ASK_AGAIN)
    if (
        not isinstance(part, dict)
        or part.keys() != {"name", "text"}
        or not all(isinstance(v, str) for v in part.values())
    ):
        raise CorruptError(f"{where}: not a part with a name and a text", ASK_AGAIN)
    if encode_line(part) + b"\n" != line:
        raise CorruptError(f"{where}: not written by memcli", ASK_AGAIN)
    return part["name"], part["text"]


def _head(digest: str, signature: str) -> dict[str, Json]:
    head: dict[str, Json] = {"format": FORMAT, "version": VERSION, "hash": digest}
    return {**head, "signature": signature} if signature else head


def _digest(body: bytes) -> str:
    return f"sha256:{sha256(_PREFIX + body).hexdigest()}"


_SUFFIX = ".md"
_FRAME = "---"
_PLAIN = regex(r"[^\W_](?:[\w .+@()-]{0,98}[\w+@()-])?\Z")
"""A segment of a path that is a name on every file system, and hidden on none."""
_FIELD = regex(r'([A-Za-z_]\w*|"(?:[^"\\]|\\.)*"): (.*)\Z')
_DULL = regex(r"[^\w]+")
_LONGEST = 60


def encode_folder(export: Export) -> Iterator[tuple[str, bytes]]:
    """The name and the content of each file; that of the head comes last."""
    names = _names(export.space.objects)
    for memory in export.space.objects:
        yield names[memory.id], _file(export.space.name, memory)
    yield HEAD, encode({**export.head(), "content": header_to_json(export.space)}) + b"\n"


def decode_folder(head: bytes, files: Sequence[tuple[str, bytes]], where: str) -> Export:
    """The export of a head and the files that `is_of_export` takes for its own. Raises CorruptError."""
    tree = decode(head, f"{where}/{HEAD}", "create an export with `memcli export`")
    objects = sorted((_fields(data, f"{where}/{name}") for name, data in files), key=_order)
    export = unseal(with_objects(tree, objects, where), where)
    written = sorted(data for name, data in encode_folder(export) if name != HEAD)
    if written != sorted(_normal(data).encode() for _, data in files):
        raise CorruptError(f"{where}: a file has more than its memory", ASK_AGAIN)
    return export


def is_of_export(data: bytes, space: str) -> bool:
    """Whether a file that begins so was written for a memory by an export of the space."""
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").startswith(_beginning(space).encode())


def _beginning(space: str) -> str:
    return f"{_FRAME}\nmemcli: {encode_line(space).decode()}\n"


def space_of(head: bytes, where: str) -> str:
    """The space that the head of a folder names. Raises CorruptError."""
    tree = decode(head, f"{where}/{HEAD}", "create an export with `memcli export`")
    return str(tree.get("space")) if isinstance(tree, dict) else ""


def check_head(data: bytes, space: str, where: str) -> None:
    """Raises RefusedError when the folder `where` has the head `data`, and it is not of an export of this space."""
    try:
        head = decode(data, where)
    except CorruptError:
        head = None
    if not isinstance(head, dict) or (head.get("format"), head.get("space")) != (FOLDER_FORMAT, space):
        raise RefusedError(f"{where}/{HEAD} is not of an export of space {space!r}", "export to a folder of its own")


def _order(fields: Mapping[str, Any]) -> tuple[str, str]:
    """The place in a space, of what may not be fit for one."""
    return str(fields.get("updated_at")), str(fields.get("id"))


def _file(space: str, memory: Memory) -> bytes:
    fields = memory_to_json(memory)
    body = ""
    if memory.raw and not UNQUOTABLE.search(memory.raw):
        body = f"\n{fields.pop('raw')}\n"
    lines = [f"{_name(name)}: {encode_line(value).decode()}\n" for name, value in sorted(fields.items())]
    return f"{_beginning(space)}{''.join(lines)}{_FRAME}\n{body}".encode()


def _name(field: str) -> str:
    """The name of a field as YAML reads it."""
    return field if field.isidentifier() and field.isascii() else encode_line(field).decode()


def _fields(data: bytes, where: str) -> dict[str, Any]:
    """The memory in a file. Raises CorruptError."""
    front, end, body = _normal(data, where).removeprefix(f"{_FRAME}\n").partition(f"\n{_FRAME}\n")
    if not end:
        raise CorruptError(f"{where}: no end of the front matter", ASK_AGAIN)
    fields: dict[str, Any] = {}
    for number, line in enumerate(front.split("\n")[1:], 3):
        at = f"{where}: line {number}"
        match = _FIELD.match(line)
        if not match:
            raise CorruptError(f"{at}: not a field", ASK_AGAIN)
        name = str(decode(match[1].encode(), at, ASK_AGAIN)) if line.startswith('"') else match[1]
        fields[name] = decode(match[2].encode(), at, ASK_AGAIN)
    if body:
        fields["raw"] = body.removeprefix("\n").removesuffix("\n")
    return fields


def _normal(data: bytes, where: str = "") -> str:
    """The text with the line ends and the beginning that it was written with. Raises CorruptError."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise CorruptError(f"{where}: not valid UTF-8 (byte {error.start})", ASK_AGAIN) from None


def _names(memories: Sequence[Memory]) -> dict[str, str]:
    """The name of the file of each memory by its id: no two are one on a file system that knows no capitals."""
    taken: set[str] = set()
    names: dict[str, str] = {}
    for memory in sorted(memories, key=lambda memory: (memory.path, memory.id)):
        name = _plain(memory.path)
        if _folded(name) in taken:
            name = f"{name}~{short_digest(memory.id, 8)}"
        taken.add(_folded(name))
        names[memory.id] = name + _SUFFIX
    return names


def _plain(path: str) -> str:
    segments = path.split("/")
    is_plain = safe_path(path) == path and all(
        _PLAIN.match(one) and len(one.encode()) <= 200 and not (one.lower().endswith(_SUFFIX) or is_device(one))
        for one in segments
    )
    if is_plain:
        return path
    dull = [_DULL.sub("-", one).strip("-_")[:_LONGEST] or "x" for one in segments]
    dull = [f"{one}_" if is_device(one) else one for one in dull]
    return f"{'/'.join(dull)}~{short_digest(path, 8)}"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
