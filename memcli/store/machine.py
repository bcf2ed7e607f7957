"""The key of this user on this machine: what a clone or an archive from somebody else cannot have been sealed with."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from memcli.codec.canonical import encode_line
from memcli.errors import StoreError
from memcli.model.memory import Json
from memcli.store.atomic import create_file, make_folder
from memcli.store.reading import read_regular

_NAME = "machine.key"
_BYTES = 32
_PERSON = b"memcli/seal/1"


def seal(facts: Mapping[str, Json]) -> str:
    """A digest of `facts` that only this user can make; empty where no key can be kept. The key is made at first need."""
    key = _read() or _make()
    return _digest(key, facts) if key else ""


def is_sealed(facts: Mapping[str, Json], digest: object) -> bool:
    """Whether `digest` is what `seal` gave for these facts."""
    key = _read() if digest else None
    return key is not None and _digest(key, facts) == digest


def _digest(key: bytes, facts: Mapping[str, Json]) -> str:
    return hashlib.blake2b(encode_line(dict(facts)), digest_size=32, key=key, person=_PERSON).hexdigest()


def _path() -> str:
    system = sys.platform
    if system == "linux":  # as `wiring/roots.py` finds the user-wide store
        home = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")
        return os.path.join(home, "memcli", _NAME)
    import platformdirs

    return os.path.join(platformdirs.user_data_dir("memcli", appauthor=False), _NAME)


def _read() -> bytes | None:
    try:
        key = read_regular(_path(), _BYTES + 1)
    except OSError:
        return None
    return key if key is not None and len(key) == _BYTES else None


def _make() -> bytes | None:
    """A new key, or the one that another process made meanwhile; None where there is no place for one."""
    with suppress(OSError, StoreError):
        make_folder(os.path.dirname(_path()))
        create_file(_path(), os.urandom(_BYTES))
    return _read()
