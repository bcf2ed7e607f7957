"""Names that users choose (spaces, paths, tags), checked here for every kind of input; and ids, which are digests."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Container, Sequence

from memcli.digests import sha256
from memcli.errors import UsageError
from memcli.regex import regex
from memcli.settings import OWN_JOURNAL, meant_by

MEMORY_MARK = "mem_"
"""The prefix of the ids that memcli gives to memories."""
SHORTEST = 4
"""The fewest characters after the mark that may stand for a whole id."""


def beginnings(ref: str) -> tuple[str, ...]:
    """The prefixes of ids that a reference may stand for: itself, and with the mark, which it may omit; none if it is empty."""
    return (ref, MEMORY_MARK + ref) if _SHORT.match(ref) else (ref,) if ref else ()


def ids_of(ref: str, ids_with_prefix: Callable[[str], Sequence[str]]) -> list[str]:
    """The ids of memories that a reference may be the beginning of."""
    return [name for beginning in beginnings(ref) for name in ids_with_prefix(beginning)]


def memory_id(space: str, path: str, number: int = 1) -> str:
    """The id of a memory made at `path`: `mem_` and 60 bits of SHA-256 over space and path, in base 32.

    From 2 on, `number` is part of the digest: it distinguishes memories that were made at one path after the earlier ones
    had moved.
    """
    # Made of the path, so that what is stored at a path again meets the same memory in every clone.
    return MEMORY_MARK + _digest(space, path, number)


SESSION_MARK = "ses_"
"""The prefix of the ids of sessions."""


def session_id(space: str, *parts: str, number: int = 1) -> str:
    """The id of a session: `ses_` and a digest, as that of a memory, of its space and `parts` that identify it: its start and
    title, or the source of an import and its id there."""
    return SESSION_MARK + _digest(space, "\0".join(parts), number)


def is_session_id(name: str) -> bool:
    """Whether `name` can be the id of a session, and so the name of its file."""
    return _SESSION.match(name) is not None


def _digest(space: str, text: str, number: int) -> str:
    import base64

    name = f"{space}\0{text}" if number == 1 else f"{space}\0{text}\0{number}"
    digest = sha256(name.encode("utf-8", "replace")).digest()
    return base64.b32encode(digest[:8]).decode("ascii").lower()[:12]


def text_hash(raw: str, content: bytes = b"") -> str:
    """`sha256:<hex>` over a memory's text and, where it has one, the canonical bytes of its content."""
    digest = sha256(raw.strip().encode("utf-8", "surrogatepass"))
    if content:
        digest.update(b"\0" + content)
    return f"sha256:{digest.hexdigest()}"


def short_digest(text: str, length: int = 6) -> str:
    """The first hex digits of SHA-256 over `text`, to make a name unique."""
    return sha256(text.encode()).hexdigest()[:length]


MAX_PATH = 240
MAX_ID = 128
MAX_TAG = 64

_BEFORE_MARK = 200  # leaves room for the longest mark
# In lower case alone, since some file systems take names that differ in case for one.
_SPACE = regex(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))]
)
# A slash inside, since other tools number the parts of an id behind one; each part is checked, so that it is no path.
_ID = regex(r"[A-Za-z0-9_][A-Za-z0-9_.:+@-]*(?:/[A-Za-z0-9_][A-Za-z0-9_.:+@-]*)*\Z")
_SHORT = regex(rf"[a-z0-9]{{{SHORTEST},60}}\Z")
_SESSION = regex(r"ses_[a-z0-9]{1,60}\Z")
_NOT_SLUG = regex(r"[\W_]+")
_DIGITS = regex(r"\d+")


def check_space(name: str) -> str:
    """Returns `name` if a space can have it on every file system: a name that a user may choose, or the journal of such a
    space. Raises UsageError."""
    # A name is that of a file: Windows drops a trailing dot, and opens a device for some names.
    own = name.removeprefix(OWN_JOURNAL)
    is_odd = own != name and meant_by(own)[-1] != name
    if is_odd or not _SPACE.match(own) or ".." in own or own.endswith(".") or is_device(own):
        raise UsageError(
            f"not a space name: {show(name)}",
            "use 1 to 64 characters of a-z 0-9 . _ -, the first a letter or digit",
        )
    return name


def check_path(path: str) -> str:
    """Returns `path` in NFC if it is a relative path of plain segments. Raises UsageError."""
    path = unicodedata.normalize("NFC", path)
    problem = _path_problem(path)
    if problem:
        raise UsageError(f"not a memory path: {show(path)} ({problem})", "use a path such as project/module/topic")
    return path


def is_id(name: str) -> bool:
    """Whether `name` is valid as an id: safe in a file name, on a command line and in a citation."""
    return len(name) <= MAX_ID and _ID.match(name) is not None and ".." not in name


def check_id(name: str) -> str:
    """Returns `name` if it is a valid id. Raises UsageError."""
    if not is_id(name):
        raise UsageError(
            f"not an id: {show(name)}",
            f"use 1 to {MAX_ID} characters of A-Z a-z 0-9 _ . : + @ - /, each part starting with a letter or digit",
        )
    return name


def check_tag(text: str) -> str:
    """`text` as a tag: a lowercase slug. Raises UsageError when the slug is empty."""
    tag = slug(text)
    if not tag:
        raise UsageError(f"not a tag: {show(text)}", "use letters and digits")
    return tag


def safe_path(text: str) -> str:
    """The nearest valid path to `text`, for names that come from files rather than from a user."""
    segments = []
    for segment in unicodedata.normalize("NFC", text).split("/"):
        plain = segment if segment.isprintable() else "".join(c for c in segment if c.isprintable())
        clean = plain.strip().lstrip("-")
        if clean not in ("", ".", ".."):
            segments.append(f"{clean}_" if clean.lower() in _DEVICES else clean)
    path = "/".join(segments) or "unnamed"
    if len(path) > MAX_PATH:  # cut at the front: the end of a path is more specific
        path = "/".join(s for s in path[-MAX_PATH:].split("/")[1:] if s) or path[-MAX_PATH:]
    return "unnamed" if _path_problem(path) else path


def slug(text: str, limit: int = MAX_TAG) -> str:
    """Lowercase words joined by `-`; empty when `text` has no letter or digit."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return _NOT_SLUG.sub("-", folded).strip("-")[:limit].rstrip("-")


def marked(path: str, mark: str, sign: str = "-") -> str:
    """`path`, cut if necessary, with `sign` and `mark` after it, to make it unique."""
    # A cut may end at a slash, and the mark would begin a segment with a dash, which no path may have.
    return f"{path[:_BEFORE_MARK].rstrip('/')}{sign}{mark}"


def free_path(path: str, seed: str, taken: Container[str], sign: str = "-") -> str:
    """`path`, or where that is taken, `path` marked with the first digest derived from `seed` that makes it free."""
    free = path
    while free in taken:
        seed = short_digest(seed, 8)
        free = marked(path, seed, sign)
    return free


def natural_order(text: str) -> str:
    """A key that sorts `D1:2` before `D1:10`: numbers are padded, so that they compare as numbers."""
    return _DIGITS.sub(lambda m: m[0].zfill(12), text)


def readable(file: str) -> str:
    """The name of a file as text on one line: invalid UTF-8 and control characters become U+FFFD."""
    text = file.encode("utf-8", "surrogateescape").decode("utf-8", errors="replace")
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def show(text: str) -> str:
    """`text` quoted for a message: in ASCII with escapes, at most 60 characters of it."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


def is_device(segment: str) -> bool:
    """Whether Windows treats a file of this name as a device."""
    return segment.split(".", maxsplit=1)[0].lower() in _DEVICES


def _path_problem(path: str) -> str:
    if not path:
        return "it is empty"
    if len(path) > MAX_PATH:
        return f"longer than {MAX_PATH} characters"
    if path.startswith("-"):
        return "starts with a dash"
    if not path.isprintable():
        return "contains control characters"
    for segment in path.split("/"):
        if not segment.strip():
            return "has an empty segment"
        if segment in (".", ".."):
            return f"has the segment {segment!r}"
        if segment.lower() in _DEVICES:
            return f"{segment!r} is reserved on some systems"
    return ""


def listed_spaces(names: Sequence[str]) -> str:
    """Names of spaces for a message: `space 'main'`, or `spaces 'main' and 'repo'`."""
    return f"{'space' if len(names) == 1 else 'spaces'} {' and '.join(map(repr, names))}"


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: `1 memory`, `2 memories`; without `many` the plural ends in s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
