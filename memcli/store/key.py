"""The keys of this machine: that of the user, which seals files, and that of each store, which makes digests of words.

A file is sealed that must have been written here, by this user: git can track what it ignores, and an archive can hold
anything. A sealed file names the inode of its folder, has a time of change that is an even second to the nanosecond, which
a checkout practically never leaves, and bears a digest by the key of the user. Where only the digest is right, the file was
moved or copied by the same user.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

from memcli.codec.canonical import encode, encode_line
from memcli.digests import blake2b
from memcli.errors import StoreError, UsageError
from memcli.model.memory import Json
from memcli.store.atomic import create_file, make_folder, write_file
from memcli.store.layout import Layout
from memcli.store.lock import locked
from memcli.store.reading import read_regular, read_stored

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
