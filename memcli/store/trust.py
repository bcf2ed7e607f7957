"""What is this user's and what this user decided: keys and seals, trust in a store, and the switch of memory.

A file is sealed that must have been written here, by this user: git can track what it ignores, and an archive can hold
anything. A sealed file names the inode of its folder, has a time of change that is an even second to the nanosecond, which
a checkout practically never leaves, and bears a digest by the key of the user. Where only the digest is right, the file was
moved or copied by the same user. The key of a store makes digests of words.

`trust.json` of the private state, which is sealed, says for all work trees of the repository whether somebody here has accepted
the store, and which memories came from elsewhere and were not accepted yet. A store that was moved stays trusted, and so does a
copy by the same user. What cannot be distinguished: an archive that holds the user's own private state, changed by somebody
else and unpacked again.

While memory is off, hooks, watches and agents record and inject nothing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress

from memcli.codec.canonical import encode, encode_line
from memcli.digests import blake2b
from memcli.errors import StoreError, UsageError
from memcli.model.memory import Json
from memcli.settings import is_on
from memcli.store.atomic import (
    create_file,
    make_folder,
    read_regular,
    read_stored,
    remove_file,
    remove_quietly,
    write_file,
)
from memcli.store.layout import Layout
from memcli.store.lock import locked

_FORMAT, _FACT = "memcli/trust", "unreviewed"
_MAX_UNREVIEWED = 64 << 20
_UNREAD: list[str] = []


class FileTrust:
    """What the private state knows of trust. Read once for each command; one file when nothing waits to be reviewed."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = layout.private("trust.json")
        self._spaces: list[str] | None = _UNREAD
        self._ids: dict[str, frozenset[str]] = {}

    @property
    def is_accepted(self) -> bool:
        """Whether the store was made here, or came with a clone that was accepted here."""
        return self._unreviewed is not None

    def is_reviewed(self, space: str, name: str) -> bool:
        """Whether the memory of this id is neither of a store nor of an import that waits to be accepted."""
        return self.is_accepted and name not in self.waiting(space)

    def waiting(self, space: str) -> frozenset[str]:
        """The ids that were imported and not accepted."""
        if space not in self._ids:
            ids: list[object] = []
            if space in (self._unreviewed or ()):
                with suppress(
                    OSError, ValueError, AttributeError
                ):  # a list that cannot be read passes for an empty one
                    path = self._layout.private(os.path.join("unreviewed", f"{space}.json"))
                    ids = json.loads(read_regular(path, _MAX_UNREVIEWED) or b"{}").get("ids", [])
            self._ids[space] = frozenset(name for name in ids if isinstance(name, str))
        return self._ids[space]

    def accept(self) -> None:
        """Accepts the store. Raises StoreError, LockedError."""
        make_folder(os.path.dirname(self._path))
        with self._locked():
            self._write(self._unreviewed or ())

    def revoke(self) -> None:
        """Takes it back."""
        remove_quietly(self._path)
        self._forget()

    def bring(self, space: str, ids: Iterable[str]) -> None:
        """Memories of these ids came from elsewhere. Raises StoreError, LockedError."""
        self._change(space, lambda known: known | frozenset(ids))

    def accept_memories(self, space: str, ids: Iterable[str] | None = None) -> int:
        """Accepts what was imported, or of it these ids; returns how many. Raises StoreError, LockedError."""
        before = self.waiting(space)
        if before:
            gone = before if ids is None else frozenset(ids)
            self._change(space, lambda known: known - gone)
        return len(before - self.waiting(space))

    def _change(self, space: str, change: Callable[[frozenset[str]], frozenset[str]]) -> None:
        if not self.is_accepted:
            return  # all of it is unreviewed anyway, and accepting the store means to accept all of it
        with self._locked():
            self._forget()
            ids = change(self.waiting(space))
            path = self._layout.private(os.path.join("unreviewed", f"{space}.json"))
            if ids:  # before the seal names the space: a list that is missing passes for an empty one
                make_folder(os.path.dirname(path))
                write_file(path, encode({"ids": sorted(ids)}) + b"\n", 0o600, alone=True)
            others = {*(self._unreviewed or ())} - {space}
            self._write({*others, space} if ids else others)
            if not ids:
                remove_quietly(path)

    def _locked(self) -> AbstractContextManager[object]:
        make_folder(os.path.dirname(self._path))
        return locked(self._layout.private("trust.lock"), "the trust of this store")

    @property
    def _unreviewed(self) -> list[str] | None:
        """The spaces that have unreviewed memories; None where nobody has accepted the store."""
        if self._spaces is _UNREAD:
            found, is_here = read_sealed(self._path, _FORMAT, _FACT)
            names = [name for name in found if isinstance(name, str)] if isinstance(found, list) else []
            self._spaces = names if is_here or found is not None else None
        return self._spaces

    def _write(self, spaces: Iterable[str]) -> None:
        write_sealed(self._path, _FORMAT, _FACT, sorted(spaces))
        self._forget()

    def _forget(self) -> None:
        self._spaces = _UNREAD
        self._ids = {}


VARIABLE = "MEMCLI_REDACTION_KEY"
_FILE = "redaction.key"
_KEY_BYTES = 32
_LEAST_CHARACTERS = 16
_DOMAIN = b"memcli/redaction/1\0"  # keeps these marks apart from any other use of a team's key
_DIGEST_BYTES = 8

_USER_FILE = "machine.key"
_PERSON = b"memcli/seal/1"
_EVEN = 2_000_000_000
"""The time of change of a sealed file is a multiple of this, in nanoseconds."""
_MAX_SEALED = 64 << 20


def signer(layout: Layout, environ: Mapping[str, str]) -> Callable[[bytes], str]:
    """A function from a secret to its mark: 8 hex digits of HMAC-SHA256. The key is read, or made, when it is first used.

    The function raises UsageError for a key in the environment that is too short, StoreError.
    """
    keys: list[bytes] = []

    def sign(secret: bytes) -> str:
        import hashlib
        import hmac

        if not keys:
            text = environ.get(VARIABLE, "")
            if text and len(text) < _LEAST_CHARACTERS:
                raise UsageError(
                    f"{VARIABLE} is shorter than {_LEAST_CHARACTERS} characters",
                    "use a longer one: `openssl rand -hex 32`",
                )
            keys.append(text.encode("utf-8", "surrogateescape") or own_key(layout))
        return hmac.new(keys[0], _DOMAIN + secret, hashlib.sha256).hexdigest()[:8]

    return sign


def digester(layout: Layout, person: bytes) -> Callable[[str], str]:
    """A function from a text to its digest by the key of the store, in 16 hex digits: equal for equal texts, and nobody
    without the key can guess the text. `person` keeps digests for one use apart from those for others.

    The function raises StoreError, LockedError.
    """
    keys: list[bytes] = []

    def digest(text: str) -> str:
        if not keys:
            keys.append(own_key(layout))
        data = text.encode("utf-8", "replace")
        return blake2b(data, key=keys[0], digest_size=_DIGEST_BYTES, person=person).hexdigest()

    return digest


def own_key(layout: Layout) -> bytes:
    """The key of this store, which is made if there is none. Raises StoreError, LockedError."""
    path = layout.private(_FILE)
    key = _read_key(path)
    if key is not None:
        return key
    make_folder(os.path.dirname(path))
    with locked(layout.lock("redaction"), "the redaction key"):
        key = _read_key(path)
        if key is None:
            key = os.urandom(_KEY_BYTES)
            write_file(path, key, 0o600)
    return key


def _read_key(path: str) -> bytes | None:
    key = read_stored(path, "replace it with a regular file that you own", _KEY_BYTES + 1)
    if key is not None and len(key) != _KEY_BYTES:
        raise StoreError(
            f"{path} is not a key ({len(key)} bytes)", "delete it; memcli creates a new one, which changes the marks"
        )
    return key


def read_sealed(path: str, form: str, fact: str) -> tuple[Json, bool]:
    """The value of `fact` in the sealed file at `path`, whose format is `form`, and whether it was sealed in this very
    folder. None where there is no such file, or this user did not seal it.
    """
    try:
        folder = os.stat(os.path.dirname(path)).st_ino
        changed = os.lstat(path).st_mtime_ns
        found = json.loads(read_regular(path, _MAX_SEALED) or b"null")
    except (OSError, ValueError, RecursionError):
        return None, False
    if not isinstance(found, dict) or found.get("format") != form:
        return None, False
    value = found.get(fact)
    if found.get("folder") == folder and changed % _EVEN == 0:
        return value, True
    facts = {"format": form, "version": found.get("version"), fact: value}
    key = _read_user_key() if found.get("seal") else None
    return (value if key is not None and _seal(key, facts) == found["seal"] else None), False


def write_sealed(path: str, form: str, fact: str, value: Json) -> None:
    """Writes the value of `fact` to a sealed file. Without a place for the key of the user, only this folder vouches for it.
    Raises StoreError.
    """
    folder = os.stat(os.path.dirname(path))
    facts: dict[str, Json] = {"format": form, "version": 1, fact: value}
    key = _read_user_key()
    if key is None:
        with suppress(OSError, StoreError):
            make_folder(os.path.dirname(_user_key_path()))
            create_file(_user_key_path(), os.urandom(_KEY_BYTES))
        key = _read_user_key()  # that of another process, where one made it meanwhile
    data = {**facts, "folder": folder.st_ino, "seal": _seal(key, facts) if key else ""}
    even = folder.st_mtime_ns // _EVEN * _EVEN
    write_file(path, encode(data) + b"\n", 0o600, alone=True, changed_ns=even)


def _seal(key: bytes, facts: Mapping[str, Json]) -> str:
    return blake2b(encode_line(dict(facts)), digest_size=32, key=key, person=_PERSON).hexdigest()


def _user_key_path() -> str:
    system = sys.platform
    if system == "linux":  # as `wiring/roots.py` finds the user-wide store; platformdirs takes longer to import
        home = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
        return os.path.join(home, "memcli", _USER_FILE)
    import platformdirs

    return os.path.join(platformdirs.user_data_dir("memcli", appauthor=False), _USER_FILE)


def _read_user_key() -> bytes | None:
    try:
        key = read_regular(_user_key_path(), _KEY_BYTES + 1)
    except OSError:
        return None
    return key if key is not None and len(key) == _KEY_BYTES else None


_OFF = "off"


def is_off(root: str, environ: Mapping[str, str]) -> bool:
    """Whether memory is off for the store at `root`: switched off in this clone, or by MEMCLI_OFF."""
    return is_on(environ, "MEMCLI_OFF") or os.path.lexists(Layout(root).private(_OFF))


def switch(root: str, *, on: bool) -> bool:
    """Switches memory on or off in this clone. Returns whether that changes anything. Raises StoreError."""
    path = Layout(root).private(_OFF)
    if os.path.lexists(path) != on:
        return False
    if on:
        remove_file(path)
    else:
        make_folder(os.path.dirname(path))
        write_file(path, b"", 0o600)
    return True
