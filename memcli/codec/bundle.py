"""The export: a space, or a part of it, in one file or folder for other stores, with counts and a digest.

The digest is computed over the head and the canonical bytes of the content, in every format: the same export as JSON, JSON
Lines or Markdown has the same digest, and one signature is valid for all three. Without a signature by a trusted key, the
digest proves that a file is complete, not who made it.

Formats: JSON, JSON Lines, Markdown. To add one, write its functions and list them in ENCODERS and DECODERS.

JSON Lines has the head on the first line, then one memory a line. A Markdown document has a section for each memory, with its
text as a quotation and the other fields as JSON, and the head at the end. A quotation preserves every line of a text, and
keeps its headings and fences out of the outline of the document. A text with a character that some readers take for a line
end stays in the JSON. Headings are for people: only quotations and JSON are parsed, and a document that differs from the one
that they encode to is refused as changed.

A folder of Markdown has a file for each memory, with its fields as front matter, and the head in `memcli.json`. File names
follow the paths of the memories, for people and other tools; only the contents are parsed, and a folder that differs from the
one that they encode to is refused. A field is JSON on one line, which is also YAML.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence

from memcli.codec.canonical import decode, encode, encode_line
from memcli.codec.memory import AT_ITS_SOURCE, check_memories, memory_to_json
from memcli.codec.space import check_names_once, check_writable, encode_full, header_to_json, space_from_json
from memcli.errors import CorruptError, RefusedError, UsageError, from_elsewhere
from memcli.model.memory import Json, Memory
from memcli.model.names import check_space, is_device, safe_path, short_digest, show
from memcli.model.shapes import TEXTS, problem
from memcli.model.space import Space
from memcli.record import Record, field, replace
from memcli.regex import regex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_OBJECTS = 100_000
MAX_DEPTH = 64
"""The deepest nesting in a bundle: that of a memory, and the levels around it."""
FORMAT = "memcli/export"
VERSION = 1
ASK_AGAIN = "it was modified after the export; get a new copy"
_PREFIX = b"memcli/export/1\0"  # keeps this digest apart from any other over the same bytes
_PLACE = b'\n  "content": {}'
_PART = {"type": "object", "additionalProperties": TEXTS}
_UNDIGESTED = ("hash", "signature", "content")
_DEEP = re.compile(rb"\n {%d}" % (2 * MAX_DEPTH + 2))


class Export(Record):
    """An exported space. `part`: the filters by which its memories were selected; empty for a whole space."""

    space: Space
    part: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hash: str = ""
    signature: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)

    def head(self) -> dict[str, Json]:
        """The fields of the export without its content."""
        head = {**self.extra, "format": FORMAT, "version": VERSION, "space": self.space.name, "counts": self.counts()}
        if self.part:
            head["part"] = self.part
        head["hash"] = self.hash
        return {**head, "signature": self.signature} if self.signature else head

    def counts(self) -> dict[str, int]:
        """The numbers of all memories, of active and of pinned ones."""
        objects = self.space.objects
        return {
            "objects": len(objects),
            "active": sum(m.active for m in objects),
            "pinned": sum(m.pinned for m in objects),
        }


def seal(
    space: Space,
    part: Mapping[str, Sequence[str]] | None = None,
    sign: Callable[[bytes], str] | None = None,
) -> Export:
    """The export of `space`, with its digest and, with `sign`, the signature over the digest.

    Raises UsageError for more memories than a bundle may hold.
    """
    check_size(space.name, len(space.objects))
    open_ = Export(space, part or {})
    sealed = replace(open_, hash=_digest(open_.head(), encode_full(space)))
    return replace(sealed, signature=sign(sealed.hash.encode())) if sign else sealed


def check_size(name: str, count: int) -> None:
    """Raises UsageError when a space has more memories than a bundle may hold."""
    if count > MAX_OBJECTS:
        raise UsageError(
            f"space {name!r} has {count} memories; a bundle holds at most {MAX_OBJECTS}",
            "export it in parts with --under, --kind or --tag",
        )


def unseal(tree: Json, where: str) -> Export:
    """The export in `tree`. Raises CorruptError when it is not an export, has a newer version, was changed, or is not valid."""
    if not isinstance(tree, dict) or tree.get("format") != FORMAT or not isinstance(tree.get("content"), dict):
        raise CorruptError(
            f'{where}: not an export of memcli (no "format": "{FORMAT}")', "create one with `memcli export`"
        )
    if tree.get("version") != VERSION or isinstance(tree["version"], bool):  # True equals 1
        raise CorruptError(
            f"{where}: export version {tree.get('version')!r}; this memcli reads version {VERSION}", "upgrade memcli"
        )
    content = _content(tree["content"], where)
    if tree.get("hash") != _digest(tree, content):
        raise CorruptError(f"{where}: the content does not match its hash", ASK_AGAIN)
    # Old exports may have texts that do not match their hash; they can be read and verified, and `import` refuses them.
    space = _fit_space(tree["content"], where, with_hashes=False)
    part, signature = tree.get("part", {}), tree.get("signature", "")
    if not isinstance(part, dict) or problem(part, _PART, "part"):
        raise CorruptError(f"{where}: part must be an object of lists of strings", ASK_AGAIN)
    if not isinstance(signature, str):
        raise CorruptError(f"{where}: signature must be text", ASK_AGAIN)
    known = {"format", "version", "space", "counts", "part", *_UNDIGESTED}
    extra = {k: v for k, v in tree.items() if k not in known}
    export = Export(space, part, tree["hash"], signature, extra)
    if tree.get("space") != space.name or tree.get("counts") != export.counts():
        raise CorruptError(f"{where}: the name or counts do not match the content", ASK_AGAIN)
    return export


def read_space(data: bytes, where: str, *, with_hashes: bool = True) -> Space:
    """The space in a file from another store. Raises CorruptError when it has a newer version, is not valid, or, with
    `with_hashes`, when a text does not match its hash."""
    tree = decode(data, where, ASK_AGAIN)
    _content(tree, where)
    return _fit_space(tree, where, with_hashes=with_hashes)


def _fit_space(tree: Json, where: str, *, with_hashes: bool = True) -> Space:
    """The space in the JSON of another store. Raises CorruptError naming `where` and the fault."""
    with from_elsewhere(AT_ITS_SOURCE):
        space = space_from_json(tree, where)
        check_writable(space, where)
    if len(space.objects) > MAX_OBJECTS:
        raise CorruptError(
            f"{where}: {len(space.objects)} memories; a bundle holds at most {MAX_OBJECTS}", "export it in parts"
        )
    try:
        check_space(space.name)
    except UsageError as error:
        raise CorruptError(f"{where}: {error.message}", error.hint) from None
    check_memories(space.objects, where, with_hashes=with_hashes)
    return space


def encode_bundle(export: Export) -> Iterator[bytes]:
    """The export as one canonical JSON document."""
    frame = encode({**export.head(), "content": {}})
    content = encode_full(export.space).rstrip(b"\n").replace(b"\n", b"\n  ")
    yield frame.replace(_PLACE, b'\n  "content": ' + content, 1) + b"\n"


def decode_bundle(data: bytes, where: str) -> Export:
    """The export in a JSON document. Raises CorruptError."""
    tree = decode(data, where, "create an export with `memcli export`")
    export = unseal(tree, where)
    # A new layout is harmless; a name twice in one object is not, since readers differ in which of the two counts.
    if b"".join(encode_bundle(export)) != data:
        check_names_once(data, where, ASK_AGAIN)
    return export


def _content(tree: Json, where: str) -> bytes:
    """The canonical bytes of the content. Raises CorruptError where it is nested too deep, by the indentation of its lines."""
    try:
        content = encode(tree) + b"\n"
    except UsageError:  # parsed JSON can only fail to encode by its depth
        content = b""
    if not content or _DEEP.search(content):
        raise CorruptError(
            f"{where}: nested deeper than {MAX_DEPTH}", "this is not an export of memcli; get a new copy"
        )
    return content


def _digest(head: Mapping[str, Json], content: bytes) -> str:
    import hashlib  # here, since it loads OpenSSL

    fields = encode({name: value for name, value in head.items() if name not in _UNDIGESTED})
    return f"sha256:{hashlib.sha256(_PREFIX + fields + bytes(1) + content).hexdigest()}"


def encode_lines(export: Export) -> Iterator[bytes]:
    """The lines of the export as JSON Lines, each with its newline."""
    yield encode_line({**export.head(), "content": header_to_json(export.space)}) + b"\n"
    for memory in export.space.objects:
        yield encode_line(memory_to_json(memory)) + b"\n"


def decode_lines(data: bytes, where: str) -> Export:
    """The export in JSON Lines. Raises CorruptError naming the line."""
    first, *rest = data.split(b"\n")
    head = decode(first, where, "create an export with `memcli export --format jsonl`")
    objects = [decode(line, f"{where}: line {n}", ASK_AGAIN) for n, line in enumerate(rest, 2) if line.strip()]
    export = unseal(with_objects(head, objects, where), where)
    if b"".join(encode_lines(export)) != data:
        for n, line in enumerate([first, *rest], 1):
            if line.strip():
                check_names_once(line, f"{where}: line {n}", ASK_AGAIN)
    return export


def with_objects(head: Any, objects: list[Any], where: str) -> Any:
    """The tree of an export from its separate head and memories. Raises CorruptError when the head has memories too."""
    if not isinstance(head, dict) or not isinstance(head.get("content"), dict):
        return head  # `unseal` raises the error
    if "objects" in head["content"]:
        raise CorruptError(f"{where}: memories in the header", ASK_AGAIN)
    return {**head, "content": {**head["content"], "objects": objects}}


HEAD = "memcli.json"
"""The name of the file with the head, in an export to a folder."""
_TITLE = "# Memory of "
_BEGIN = re.compile(rb"(?:\xef\xbb\xbf)?# Memory of [^\r\n]*\r?\n\r?\nMemories: \d")
_MARK = b'\n  "format": "memcli/export",'
_TAIL = 1 << 16
"""The number of bytes at the end of a document in which its head is searched."""
_OPEN = "```json"
_CLOSE = "```"
UNQUOTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|&])")


def is_document(data: bytes) -> bool:
    """Whether `data` begins or ends as an export in Markdown does, so that a damaged one is not read as plain Markdown."""
    return _BEGIN.match(data) is not None or _MARK in data[-_TAIL:].replace(b"\r\n", b"\n")


def encode_document(export: Export) -> Iterator[bytes]:
    """The export as a Markdown document, in pieces, one a section."""
    counts = export.counts()
    totals = f"Memories: {counts['objects']}, active: {counts['active']}, pinned: {counts['pinned']}."
    yield f"{_TITLE}{_heading(export.space.name)}\n\n{totals}\n".encode()
    for memory in export.space.objects:
        text, fields = _parted(memory)
        quotation = "".join(f"> {line}\n" if line else ">\n" for line in text.split("\n")) + "\n" if text else ""
        yield f"\n## {_heading(memory.path)}\n\n{quotation}{_block(fields)}".encode()
    head = {**export.head(), "content": header_to_json(export.space)}
    yield f"\n---\n\n{_block(head)}".encode()


def decode_document(data: bytes, where: str) -> Export:
    """The export in a Markdown document. Raises CorruptError."""
    text = _normal(data, where).rstrip() + "\n"
    values: list[Any] = []
    quoted: list[str] = []
    within: list[str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if within is None:
            if line == _OPEN:
                within = []
            elif line.startswith(">"):
                quoted.append(line[2:])
        elif line != _CLOSE:
            within.append(line)
        else:
            value = decode("\n".join(within).encode(), f"{where}: the block that ends on line {number}", ASK_AGAIN)
            # The quotation above a block is its text.
            values.append({**value, "raw": "\n".join(quoted)} if quoted and isinstance(value, dict) else value)
            quoted, within = [], None
    *objects, head = values or [None]
    export = unseal(with_objects(head, objects, where), where)
    if b"".join(encode_document(export)).decode() != text:
        raise CorruptError(f"{where}: the text around the memories does not match them", ASK_AGAIN)
    return export


def _parted(memory: Memory) -> tuple[str, dict[str, Json]]:
    """The text to write as Markdown, empty where it must stay in the JSON, and all other fields."""
    fields = memory_to_json(memory)
    is_text = bool(memory.raw) and not UNQUOTABLE.search(memory.raw)
    return (fields.pop("raw") if is_text else ""), fields


def _block(value: Mapping[str, Json]) -> str:
    return f"{_OPEN}\n{encode(value).decode()}\n{_CLOSE}\n"


def _heading(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text if text.isprintable() else show(text))


MAX_BYTES = 256 << 20


ENCODERS: Mapping[str, Callable[[Export], Iterator[bytes]]] = {
    "json": encode_bundle, "jsonl": encode_lines, "md": encode_document,
}  # fmt: skip
"""By format, the function that encodes an export, in pieces."""
DECODERS: Mapping[str, Callable[[bytes, str], Export]] = {
    "json": decode_bundle, "jsonl": decode_lines, "md": decode_document,
}  # fmt: skip
"""By format, the function that decodes an export and raises CorruptError."""
FORMATS = tuple(ENCODERS)
DEFAULT_FORMAT = "json"


def format_of(data: bytes) -> str:
    """The format of an export, by its first line; `json` for anything else."""
    try:
        head = decode(data.partition(b"\n")[0], "")
    except CorruptError:
        return "md" if not data.lstrip().startswith(b"{") and is_document(data) else "json"
    content = head.get("content") if isinstance(head, dict) else None
    return "jsonl" if isinstance(content, dict) and "objects" not in content else "json"


def read_export(data: bytes, where: str) -> Export:
    """The export in `data`, in any format. Raises CorruptError when it is not an export, or was changed."""
    if len(data) > MAX_BYTES:
        raise CorruptError(f"{where}: longer than {MAX_BYTES >> 20} MiB", "export it in parts")
    return DECODERS[format_of(data)](data, where)


_SUFFIX = ".md"
_FRAME = "---"
_PLAIN = regex(r"[^\W_](?:[\w .+@()-]{0,98}[\w+@()-])?\Z")
"""A path segment that is a valid file name on every file system, and hidden on none."""
_FIELD = regex(r'([A-Za-z_]\w*|"(?:[^"\\]|\\.)*"): (.*)\Z')
_DULL = regex(r"[^\w]+")
_LONGEST = 60
"""The most characters of a path segment in the name of a file that differs from its path."""


def encode_folder(export: Export) -> Iterator[tuple[str, bytes]]:
    """The name and content of each file; the head is the last. All names differ also on case-insensitive file systems."""
    taken: set[str] = set()
    names: dict[str, str] = {}
    # By path and not by time, so that an edit of a memory changes no name of another file.
    for memory in sorted(export.space.objects, key=lambda memory: (memory.path, memory.id)):
        name = _file_name(memory.path)
        if unicodedata.normalize("NFKC", name).casefold() in taken:
            name = f"{name}~{short_digest(memory.id, 8)}"
        taken.add(unicodedata.normalize("NFKC", name).casefold())
        names[memory.id] = name + _SUFFIX
    for memory in export.space.objects:
        text, fields = _parted(memory)
        keys = {name: name if name.isidentifier() and name.isascii() else encode_line(name).decode() for name in fields}
        lines = [f"{keys[name]}: {encode_line(value).decode()}\n" for name, value in sorted(fields.items())]
        body = f"\n{text}\n" if text else ""
        yield names[memory.id], f"{_beginning(export.space.name)}{''.join(lines)}{_FRAME}\n{body}".encode()
    yield HEAD, encode({**export.head(), "content": header_to_json(export.space)}) + b"\n"


def decode_folder(head: bytes, files: Sequence[tuple[str, bytes]], where: str) -> Export:
    """The export in a folder, from its head and the files that `is_of_export` accepts. Raises CorruptError."""
    tree = decode(head, f"{where}/{HEAD}", "create an export with `memcli export`")
    texts = [(f"{where}/{name}", _normal(data, f"{where}/{name}")) for name, data in files]
    objects: list[dict[str, Any]] = []
    for place, text in texts:
        front, end, body = text.removeprefix(f"{_FRAME}\n").partition(f"\n{_FRAME}\n")
        if not end:
            raise CorruptError(f"{place}: no end of the front matter", ASK_AGAIN)
        fields: dict[str, Any] = {}
        for number, line in enumerate(front.split("\n")[1:], 3):
            at = f"{place}: line {number}"
            match = _FIELD.match(line)
            if not match:
                raise CorruptError(f"{at}: not a field", ASK_AGAIN)
            name = str(decode(match[1].encode(), at, ASK_AGAIN)) if line.startswith('"') else match[1]
            fields[name] = decode(match[2].encode(), at, ASK_AGAIN)
        objects.append({**fields, "raw": body.removeprefix("\n").removesuffix("\n")} if body else fields)
    # The digest is over the memories in the order of the space, and the files are in that of their names.
    objects.sort(key=lambda fields: (str(fields.get("updated_at")), str(fields.get("id"))))
    export = unseal(with_objects(tree, objects, where), where)
    written = sorted(data for name, data in encode_folder(export) if name != HEAD)
    if written != sorted(text.encode() for _, text in texts):
        raise CorruptError(f"{where}: a file has more than its memory", ASK_AGAIN)
    return export


def is_of_export(data: bytes, space: str) -> bool:
    """Whether the first bytes of a file are those of a memory exported from the space."""
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").startswith(_beginning(space).encode())


def _beginning(space: str) -> str:
    return f"{_FRAME}\nmemcli: {encode_line(space).decode()}\n"


def space_of(head: bytes, where: str) -> str:
    """The space that the head of a folder names. Raises CorruptError."""
    tree = decode(head, f"{where}/{HEAD}", "create an export with `memcli export`")
    return str(tree.get("space")) if isinstance(tree, dict) else ""


def check_head(data: bytes, space: str, where: str) -> None:
    """Raises RefusedError when `data`, the head in the folder `where`, is not of an export of this space."""
    try:
        head = decode(data, where)
    except CorruptError:
        head = None
    if not isinstance(head, dict) or (head.get("format"), head.get("space")) != (FORMAT, space):
        raise RefusedError(f"{where}/{HEAD} is not of an export of space {space!r}", "export to a folder of its own")


def _normal(data: bytes, where: str) -> str:
    """`data` as text, without a byte order mark and with `\\n` as line end, which editors change. Raises CorruptError."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise CorruptError(f"{where}: not valid UTF-8 (byte {error.start})", ASK_AGAIN) from None


def _file_name(path: str) -> str:
    segments = path.split("/")
    # Most file systems allow 255 bytes for a name, to which a digest and the suffix are added.
    is_plain = safe_path(path) == path and all(
        _PLAIN.match(one) and len(one.encode()) <= 200 and not (one.lower().endswith(_SUFFIX) or is_device(one))
        for one in segments
    )
    if is_plain:
        return path
    dull = [_DULL.sub("-", one).strip("-_")[:_LONGEST] or "x" for one in segments]
    dull = [f"{one}_" if is_device(one) else one for one in dull]
    return f"{'/'.join(dull)}~{short_digest(path, 8)}"
