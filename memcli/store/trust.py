"""The decisions of this user about a store: keys and seals, trust, and whether memory is off.

A seal proves that a file was written here, by this user; git can track an ignored file, and an archive can contain anything.
A sealed file has the inode of its folder, a modification time that is an even second to the nanosecond, which a checkout
practically never produces, and a digest by the key of the user. If only the digest is right, the same user moved or copied
the file. The key of a store, a different one, is for digests of texts.

`trust.json` of the private state, a sealed file, records for all work trees of a repository that the store was accepted here,
and the spaces with imported memories that were not accepted yet. A store that the same user moved or copied stays trusted.
One case cannot be detected: an archive of the user's own private state that somebody else changed and the user unpacks.

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
from memcli.safety import VERSION
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
_UNREAD: list[str] = []  # recognized by identity, since None means that the store was not accepted


class FileTrust:
    """The trust in the store at `layout` and its memories. Each file is read once."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._path = layout.private("trust.json")
        self._spaces: list[str] | None = _UNREAD
        self._ids: dict[str, frozenset[str]] = {}

    @property
    def is_accepted(self) -> bool:
        """Whether the store was created here, or was cloned and accepted here."""
        return self._unreviewed is not None

    def is_reviewed(self, space: str, name: str) -> bool:
        """Whether the store is accepted and the memory of this id does not wait for review."""
        return self.is_accepted and name not in self.waiting(space)

    def waiting(self, space: str) -> frozenset[str]:
        """The ids of the memories of a space that were imported and not accepted yet."""
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
        """Revokes the acceptance of the store."""
        remove_quietly(self._path)
        self._forget()

    def bring(self, space: str, ids: Iterable[str]) -> None:
        """Records that memories of these ids were imported and wait for review. Raises StoreError, LockedError."""
        self._change(space, lambda known: known | frozenset(ids))

    def accept_memories(self, space: str, ids: Iterable[str] | None = None) -> int:
        """Accepts all imported memories of a space, or those of these ids; returns how many. Raises StoreError, LockedError."""
        before = self.waiting(space)
        if before:
            gone = before if ids is None else frozenset(ids)
            self._change(space, lambda known: known - gone)
        return len(before - self.waiting(space))

    def _change(self, space: str, change: Callable[[frozenset[str]], frozenset[str]]) -> None:
        if not self.is_accepted:
            return  # no memory of the store is trusted, and accepting the store accepts all of them
        with self._locked():
            self._forget()
            ids = change(self.waiting(space))
            path = self._layout.private(os.path.join("unreviewed", f"{space}.json"))
            if ids:  # before the sealed file names the space, since a missing list counts as empty
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
        """The spaces with memories that wait for review; None if the store was not accepted."""
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
_VETTED = b"memcli/vetted/1"
_EVEN = 2_000_000_000
"""The modification time of a sealed file is a multiple of this, in nanoseconds."""
_MAX_SEALED = 64 << 20


def signer(layout: Layout, environ: Mapping[str, str]) -> Callable[[bytes], str]:
    """A function from a secret to the mark that replaces it: 8 hex digits of HMAC-SHA256 by MEMCLI_REDACTION_KEY or the key of
    the store. The key is read, or created, at the first call.

    The function raises UsageError for a key in the environment that is too short, StoreError, LockedError.
    """
    keys: list[bytes] = []

    def sign(secret: bytes) -> str:
        import hashlib  # here, since it loads OpenSSL, and few commands find a secret
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
    """A function from a text to its digest by the key of the store, 16 hex digits: equal for equal texts, and of no use for
    guessing the text without the key. Digests with different `person` cannot be compared.

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
    """The key of this store, which is created if there is none. Raises StoreError, LockedError."""
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
    """The value of `fact` in the sealed file at `path` of the format `form`, and whether it was sealed in this very folder.
    None if there is no such file, or this user did not seal it.
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
    """Writes the value of `fact` to a sealed file of the format `form`. If the key of the user cannot be stored, the file has
    no digest and is valid only in this folder. Raises StoreError.
    """
    folder = os.stat(os.path.dirname(path))
    facts: dict[str, Json] = {"format": form, "version": 1, fact: value}
    key = _read_user_key()
    if key is None:
        with suppress(OSError, StoreError):
            make_folder(os.path.dirname(_user_key_path()))
            create_file(_user_key_path(), os.urandom(_KEY_BYTES))
        key = _read_user_key()  # another process may have created the file first
    data = {**facts, "folder": folder.st_ino, "seal": _seal(key, facts) if key else ""}
    even = folder.st_mtime_ns // _EVEN * _EVEN
    write_file(path, encode(data) + b"\n", 0o600, alone=True, changed_ns=even)


def _seal(key: bytes, facts: Mapping[str, Json]) -> str:
    return blake2b(encode_line(dict(facts)), digest_size=32, key=key, person=_PERSON).hexdigest()


def sealer() -> Callable[[bytes], bytes] | None:
    """A function from bytes that were found plain to their digest, 16 bytes, by the key of the user, which nobody else can make,
    and the version of the rules; None without a key."""
    key = _read_user_key()
    if key is None:
        return None
    rules = VERSION.to_bytes(16, "big")
    return lambda data: blake2b(data, digest_size=16, key=key, salt=rules, person=_VETTED).digest()


def _user_key_path() -> str:
    system = sys.platform
    if system == "linux":  # the same folder as `wiring/roots.py`; platformdirs takes long to import
        home = os.environ.get("XDG_DATA_HOME", "").strip()
        # A relative folder, which the standard forbids, would be in a work tree, and its key that of a stranger.
        home = home if os.path.isabs(home) else os.path.expanduser("~/.local/share")
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
    """Whether memory is off for the store at `root`: by `memcli off` in this clone, or by MEMCLI_OFF."""
    return is_on(environ, "MEMCLI_OFF") or os.path.lexists(Layout(root).private(_OFF))


def switch(root: str, *, on: bool) -> bool:
    """Switches memory on or off in this clone; returns whether it was the other way. Raises StoreError."""
    path = Layout(root).private(_OFF)
    if os.path.lexists(path) != on:
        return False
    if on:
        remove_file(path)
    else:
        make_folder(os.path.dirname(path))
        write_file(path, b"", 0o600)
    return True
